"""Edits of true sentences: some keep what is said, some change one thing of it.

A reader that sees true sentences worded freely and false ones worded freely learns what is told of, and not what one
word does. These edits make pairs that differ in that word alone; and as many that are worded otherwise and say the
same, so that an edit by itself means nothing.

Each edit is a rule of one line where it can be: a pattern, and what stands in its place.
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from perturb import CLOSED, NEGATED, OPPOSITE, edit

Span = tuple[int, int]
FALSE = 0.65
"""Of so many sentences a false one is made: true ones find words to change less often."""


@dataclass(frozen=True)
class Retold:
    """A sentence made from another; `wrong` are the characters that no longer hold, none where all does."""

    text: str
    wrong: tuple[Span, ...] = ()


def difference(before: str, after: str) -> tuple[Span, ...]:
    """The characters of `after` that `before` does not have, word by word; around a gap, the words beside it."""
    old, new = (list(re.finditer(r"\w+|[^\w\s]", text)) for text in (before, after))
    words = [[match.group().lower() for match in side] for side in (old, new)]
    spans = []
    for name, _, _, first, last in difflib.SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        if name == "equal":
            continue
        if first == last:
            first, last = max(0, first - 1), min(len(new), last + 1)
        if first < last:
            spans.append((new[first].start(), new[last - 1].end()))
    return tuple(spans)


SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}
FIGURES = {word: str(number) for number, word in enumerate(SMALL) if number > 1} | {
    word: str(n) for n, word in TENS.items()
}
WORDS = {figure: word for word, figure in FIGURES.items()}

Rules = tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]


def _rules(name: str) -> Rules:
    """A line each: a pattern, and what may stand in its place; `_` is a space, or nothing where it stands alone."""
    lines = Path(__file__).with_name(name).read_text().splitlines()
    pairs = (line.split(" => ") for line in lines if not line.startswith("#"))
    return tuple(
        (re.compile(pattern), tuple("" if one == "_" else one.replace("_", " ") for one in put.split(" | ")))
        for pattern, put in pairs
    )


SAME, OTHER = _rules("retell_same.txt"), _rules("retell_other.txt")
FRAMES = (
    "According to the passage, {}", "The text says that {}", "The book notes that {}", "The passage states that {}",
    "As the text explains, {}", "Yes, {}", "In short, {}", "The author writes that {}",
)  # fmt: skip
SMALL_WORDS = set(
    "The A An It He She They This These If When After Before In On At There Each Every Most Many Some All No".split()
)
_LEADS = "When If After Before Because Although While Since Once Until Unless Whenever".split()
_FINITE = r"(?:is|was|are|were|has|had|can|could|may|might|must|will|would|should|does|did)"
_SUBJECT = re.compile(rf"^((?:The|A|An|This|[A-Z]\w+)(?: [\w'’-]+){{0,5}}?) ({_FINITE}) ")
_NAME = re.compile(r"\b[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")


def retold(sentence: str, rng: random.Random) -> Retold | None:
    """The same in other words: one to three small edits that keep what is said; None if none fits."""
    text, edits = sentence, [_by_rules, _by_rules, _numbers, _turned]
    rng.shuffle(edits)
    for change in edits[: rng.choice((1, 1, 2, 3))]:
        text = change(text, rng) or text
    return Retold(text) if text != sentence else None


def falsified(sentence: str, passage: str, others: Sequence[str], rng: random.Random) -> Retold | None:
    """The sentence with one thing changed; `others` are true sentences about the same passage. None if nothing fits."""
    edits: list[Callable[[], str | None]] = [
        *(lambda: _one(sentence, OTHER, rng) for _ in range(6)),
        lambda: edit(sentence, passage, rng, "e"),
        lambda: edit(sentence, passage, rng, "e"),
        lambda: _swap_names(sentence),
        lambda: _another_subject(sentence, others, rng),
        lambda: _another_end(sentence, others, rng),
        lambda: _opposite(sentence, rng),
        lambda: _denied(sentence, rng),
    ]
    rng.shuffle(edits)
    for change in edits:
        text = change()
        if text and text != sentence:
            text = _tidy(text)
            if wrong := difference(sentence, text):
                return Retold(text, wrong)
    return None


def _one(text: str, rules: Rules, rng: random.Random) -> str | None:
    """One of the rules that fit, at one of its places."""
    places = [(match, options) for pattern, options in rules for match in pattern.finditer(text)]
    if not places:
        return None
    match, options = rng.choice(places)
    choice = rng.choice([option for option in options if option != match.group()])
    return text[: match.start()] + match.expand(choice) + text[match.end() :]


def _by_rules(text: str, rng: random.Random) -> str | None:
    made = _one(text, SAME, rng)
    return _tidy(made) if made else None


def _numbers(text: str, rng: random.Random) -> str | None:
    """One number in figures instead of words, or the other way round."""
    places = [
        m
        for m in re.finditer(r"(?<![\w.,:/-])(\w+)(?![\w/:-]|[.,]\d)", text)
        if m[1].lower() in FIGURES or m[1] in WORDS
    ]
    if not places:
        return None
    match = rng.choice(places)
    put = FIGURES.get(match[1].lower()) or WORDS[match[1]]
    put = put.capitalize() if match[1][:1].isupper() or match.start() == 0 else put
    return text[: match.start()] + put + text[match.end() :]


def _turned(text: str, _rng: random.Random) -> str | None:
    """ "When x, y." as "y when x.", or the other way round."""
    lead = re.fullmatch(rf"({'|'.join(_LEADS)}) ([^,]+), ([^,;]+)\.", text)
    if lead:
        return f"{lead[3][0].upper()}{lead[3][1:]} {lead[1].lower()} {lead[2]}."
    tail = re.fullmatch(
        rf"([^,;]+?),? ({'|'.join(word.lower() for word in _LEADS if word not in ('Before', 'After'))}) ([^,;]+)\.",
        text,
    )
    return f"{tail[2].capitalize()} {tail[3]}, {_lowered(tail[1])}." if tail else None


def _framed(made: Retold, passage: str, rng: random.Random) -> Retold:
    """As assistants begin; true and false ones alike."""
    text = made.text
    if re.search(rf"\b{re.escape(text.split(' ', 1)[0].lower())}\b", passage):  # else it may be a name
        text = text[0].lower() + text[1:]
    frame = rng.choice(FRAMES)
    before = frame.index("{}")
    return Retold(frame.format(text), tuple((start + before, end + before) for start, end in made.wrong))


def _lowered(text: str) -> str:
    """The first word small where it surely is no name."""
    first = text.split(" ", 1)[0]
    return text[0].lower() + text[1:] if first in SMALL_WORDS else text


def _swap_names(text: str) -> str | None:
    """Two names that change places, unless they stand side by side."""
    found = [m for m in _NAME.finditer(text) if m[0].lower() not in CLOSED]
    for first, second in pairwise(found):
        between = text[first.end() : second.start()]
        if (
            len(between.split()) >= 2
            and not re.fullmatch(r"[\s,]*(?:and|or|with|of|the|in|at|,)*\s*", between)
            and first[0] != second[0]
        ):
            if first.start() == 0 and " " not in first[0]:  # any word may have a capital there
                continue
            return text[: first.start()] + second[0] + between + first[0] + text[second.end() :]
    return None


def _another_subject(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    """What is said of one thing, said of another that the passage speaks of."""
    mine = _SUBJECT.match(text)
    if mine is None:
        return None
    words = _content(mine[1])
    found = [
        m[1] for other in others if (m := _SUBJECT.match(other)) and m[2] == mine[2] and not words & _content(m[1])
    ]
    return rng.choice(found) + text[mine.end(1) :] if found and words else None


def _another_end(text: str, others: Sequence[str], rng: random.Random) -> str | None:
    """A reason, purpose, time or place that belongs to something else."""
    ends = r",? (?:because|so that|in order to|until|after|before|when|if|unless|by|for|since|with) [^,;.]{8,70}\.$"
    mine = re.search(ends, text)
    found = [m.group() for other in others if other != text and (m := re.search(ends, other))]
    if not found:
        return None
    end = rng.choice(found)
    return (text[: mine.start()] if mine else text.rstrip(".")) + end


def _content(text: str) -> set[str]:
    return {word.lower().rstrip("s") for word in re.findall(r"\w{3,}", text)} - {"the", "thi", "that", "one", "and"}


def _opposite(text: str, rng: random.Random) -> str | None:
    places = [m for m in re.finditer(r"[a-z]+", text) if m.group() in OPPOSITE]
    if not places:
        return None
    match = rng.choice(places)
    return text[: match.start()] + OPPOSITE[match.group()] + text[match.end() :]


def _denied(text: str, rng: random.Random) -> str | None:
    places = [
        m
        for m in re.finditer(r"\b[a-z]+\b", text)
        if m.group() in NEGATED and not text[m.end() :].startswith((" not", "n't"))
    ]
    if not places:
        return None
    match = rng.choice(places)
    put = rng.choice((NEGATED[match.group()], match.group() + " not"))
    return text[: match.start()] + put + text[match.end() :]


def _tidy(text: str) -> str:
    text = re.sub(r"\s+([,.;:])", r"\1", re.sub(r"\s{2,}", " ", text)).strip(" ,")
    text = re.sub(r"\ba (?=[aeio])", "an ", re.sub(r"\ban (?=[bcdfgjklmnpqrstvwxyz])", "a ", text))
    return text[:1].upper() + text[1:]


def variants(sentence: str, passage: str, others: Sequence[str], rng: random.Random) -> Iterator[Retold]:
    """One that is false, often retold before it is changed, and one that is true, retold; neither always."""
    before = retold(sentence, rng) if rng.random() < 0.4 else None
    start = before.text if before else sentence
    false = falsified(start, passage, others, rng) if rng.random() < FALSE else None
    made = [false, retold(sentence, rng)]
    for one in filter(None, made):
        yield _framed(one, passage, rng) if rng.random() < 0.15 else one
