"""Evidence: where a quote stands in its passage, and the sentences that it is part of.

A quote is found whatever its white space, quotation marks and dashes; what is reported is the book's own characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from chapterverse.answer.facts import MONTHS, names
from chapterverse.answer.layout import Layout, Table
from chapterverse.answer.lists import is_item
from chapterverse.answer.validate import Sentences
from chapterverse.answer.wording import PAST_FORMS, REFERRING

_FOLDED = {
    **dict.fromkeys("‘’‚‛′`´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "\u00ad": "",
    "\u200b": "",
    "…": "...",
    "ﬁ": "fi",
    "ﬂ": "fl",
}
_LIST_MARKER = re.compile(r"^(?:\d+|\w)[.)]\s*")
_GAP = re.compile(r"\s*(?:\[\s*)?(?:…|\.\.\.)(?:\s*\])?\s*")
_WORD = re.compile(r"\w+")
_LEAD = 6
"""How many words may stand before a pronoun that is a sentence's subject ("In the winter of that year it …")."""
_CALENDAR = re.compile(rf"(?:{'|'.join(MONTHS)}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)", re.IGNORECASE)
_BACK = 6
"""How many sentences back a pronoun may look for its name."""
_PREDICATE = re.compile(
    r"\b(?:is|are|was|were|has|had|have|do|does|did|will|would|can|could|may|might|must|shall|should|\w{3,}ed"
    rf"|{'|'.join(sorted(PAST_FORMS))})\b"
)
_PERSONAL = re.compile(r"\b(?:he|she|his|her)\b", re.IGNORECASE)
_LEADING = re.compile(
    r"(?:there|when|while|where|as|if|once|after|before|until|since|because|though|although|within|in|on|at|by|for|from"
    r"|with|without|under|over|during)\b",
    re.IGNORECASE,
)
_LOCATING = re.compile(r"\b(?:at|in|of|from|near|to)\s+(?:the\s+)?$", re.IGNORECASE)
"""What stands before the name of a place."""
_SUBJECT_LENGTH = 90
_MOST_PIECES = 8
"""Words picked out one by one are no quote: with them any passage says anything."""
_EQUATION = re.compile(r"\s+(?:is|was|are|were)\s+(?:[A-Z]\w+\s?)+(?=[,;.])")


@dataclass(frozen=True, slots=True)
class Located:
    """A quote at its place in a passage: `passage.text[start:end] == quote`."""

    passage: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that a quote is part of, to be read behind whatever its pronouns refer to."""

    text: str
    context: str = ""
    """The sentence that names what a pronoun of this one stands for."""
    subject: str = ""
    """The part of that sentence that names it."""
    previous: str = ""
    """The sentence right before this one."""


def find(quote: str, text: str) -> list[tuple[int, int]]:
    """Every place where the quote stands, as spans of the text's own characters."""
    wanted, _ = _fold(quote)
    wanted = wanted.strip()
    folded, places = _fold(text)
    spans, at = [], folded.find(wanted) if wanted else -1
    while at >= 0:
        spans.append((places[at], places[at + len(wanted) - 1] + 1))
        at = folded.find(wanted, at + 1)
    return spans


def pieces(quote: str, text: str) -> list[str]:
    """A quote as it is, or, where it is not found so, the parts between its ellipses, if these are few."""
    parts = [quote] if find(quote, text) else [part for part in _GAP.split(quote) if part.strip()]
    return parts if len(parts) <= _MOST_PIECES else [quote]


@lru_cache(maxsize=64)
def _fold(text: str) -> tuple[str, list[int]]:
    """The text with variants of signs and white space made one, and where each of its characters came from."""
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        for one in _FOLDED.get(sign, sign):
            if one.isspace():
                if signs and signs[-1] == " ":
                    continue
                one = " "
            signs.append(one)
            places.append(place)
    return "".join(signs), places


def units(text: str, sentences: Sentences) -> list[tuple[int, int]]:
    """The sentences of a passage; a row of a table is one, however it reads."""
    found: list[tuple[int, int]] = []
    layout = _laid_out(text)
    for start, end in sentences(text):
        if layout.table_at(start):
            start, end = layout.line(start)
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


@lru_cache(maxsize=64)
def _laid_out(text: str) -> Layout:
    """Its lines and tables are looked for once, however many quotes stand there."""
    return Layout(text, ())


def whole_sentences(span: tuple[int, int], text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a span begins and ends where sentences do, but for punctuation and the marker of a list."""
    numbers = touched(span, spans)
    if not numbers:
        return False
    before, after = text[spans[numbers[0]][0] : span[0]], text[span[1] : spans[numbers[-1]][1]]
    return not re.search(r"\w", _LIST_MARKER.sub("", before)) and not re.search(r"\w", after)


def lead_in(text: str, start: int) -> str:
    """The clause with a colon above the list whose item stands there; empty where it is no item, or there is none."""
    lines = text[:start].split("\n")
    if not is_item((lines[-1] + text[start:]).lstrip()):
        return ""
    above = next((line for line in reversed(lines[:-1]) if line.strip() and not is_item(line.lstrip())), "")
    return re.split(r"[,;.!?]\s", above.strip())[-1] if above.rstrip().endswith(":") else ""


def around(span: tuple[int, int], text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Evidence]:
    """The sentences that a located quote touches."""
    layout = _laid_out(text)
    for number in touched(span, spans):
        start, end = spans[number]
        if table := layout.table_at(start):
            yield Evidence(_row(layout, table, (start, end)))
        else:
            context, subject = _antecedent(number, text, spans)
            previous = text[slice(*spans[number - 1])] if number else ""
            yield Evidence(_LIST_MARKER.sub("", text[start:end]), context, subject, _LIST_MARKER.sub("", previous))


def touched(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> range:
    """The numbers of the sentences, which follow each other, that a place in their text has a part in."""
    first = bisect_right(spans, span[0], key=lambda one: one[1])
    return range(first, max(first, bisect_left(spans, span[1], key=lambda one: one[0])))


def _row(layout: Layout, table: Table, row: tuple[int, int]) -> str:
    """A table's row with each cell behind the heading of its column."""
    heads = layout.cells(table.header) if table.header and table.header != row else []
    cells = layout.cells(row)
    if len(heads) != len(cells):
        return "; ".join(cells)
    return "; ".join(f"{head} {cell}".strip() for head, cell in zip(heads, cells, strict=True))


def _antecedent(number: int, text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """The nearest earlier sentence whose own subject is no pronoun, and that subject; empty where none is needed."""
    sentence = text[slice(*spans[number])]
    if not _begins_with_pronoun(sentence):
        return "", ""
    named = _person if _PERSONAL.search(sentence) else _named
    for back in range(number - 1, max(-1, number - 1 - _BACK), -1):
        earlier = text[slice(*spans[back])]
        if not _begins_with_pronoun(earlier) and (subject := named(earlier)):
            return earlier, subject
    return "", ""


def _begins_with_pronoun(sentence: str) -> bool:
    """Whether a pronoun stands near the beginning, before any name and behind no owner ("Hart's widow gave it")."""
    if re.match(r"\w+['’]s?\s", sentence):
        return False
    pronoun = next((m for m in _WORD.finditer(sentence) if m[0].lower() in REFERRING), None)
    if pronoun is None or len(_WORD.findall(sentence[: pronoun.start()])) > _LEAD:
        return False
    return not any(
        name.start < pronoun.start() and not name.opens and not _CALENDAR.fullmatch(name.text)
        for name in names(sentence)
    )


def _named(sentence: str) -> str:
    """What a sentence is about; of "The last master was Edmund Sallis", both are."""
    subject = subject_of(sentence)
    equation = _EQUATION.match(sentence, len(subject))
    return sentence[: equation.end()] if equation else subject


def _person(sentence: str) -> str:
    """The same for "he" and "she": where a sentence begins with no subject ("When it broke, …"), its only person."""
    subject = _named(sentence)
    if not _LEADING.match(sentence) or names(subject):
        return subject
    persons = {name.text for name in names(sentence) if not _LOCATING.search(sentence[: name.start])}
    return persons.pop() if len(persons) == 1 else ""


def subject_of(sentence: str) -> str:
    """What a sentence names before it says anything: its words up to the first verb that can be told as one."""
    match = _PREDICATE.search(sentence)
    end = match.start() if match else len(sentence)
    return sentence[: min(end, _SUBJECT_LENGTH)].strip()
