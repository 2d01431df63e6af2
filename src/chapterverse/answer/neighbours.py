"""Neighbours: what a sentence needs around it, and what it would say without that."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chapterverse.answer.bearing import folded, named
from chapterverse.answer.gate import PLAIN
from chapterverse.answer.layout import Layout
from chapterverse.answer.lists import List, unmarked
from chapterverse.answer.questions import content

_LOOK_BACK = 4
"""How many sentences before the answer may name what it speaks of."""
_LABEL = re.compile(r"""["“][^"“”]{1,80}[^"“”.!?,…—–-]["”]\s*[.:]?""")
"""What is said in a tale ends within its quotation marks."""
_PERSONS = frozenset(("he", "she", "they"))
"""Pronouns that always stand for somebody; "it" may stand for nothing."""


def antecedents(sheet: Layout, first: int, last: int, query: str) -> Sequence[int]:
    """The sentence before that names what the answer leaves unnamed, where the question names it too.

    Before one that opens with "he" or "it" also those between: behind another it would speak of something else. In an
    item that begins with a term ("Packer: …") it is the item's first.
    """
    term = sheet.term_of(first)
    if term is not None and term < first:
        return (term,)
    said = sheet.text[slice(*sheet.range(first, last))]
    wanted = named(query) - folded(said)
    earlier = [
        n
        for n in range(first - 1, max(-1, first - 1 - _LOOK_BACK), -1)
        if not sheet.headed(sheet.sentences[n][0], sheet.sentences[first][0])
    ]
    names = next((n for n in earlier if wanted & folded(sheet.sentence(n))), None)
    if not sheet.leans(first):
        return () if names is None else (names,)
    asked = content(query)
    names = next((n for n in earlier if asked & content(sheet.sentence(n))), None) if names is None else names
    firm = next((n for n in earlier if not sheet.leans(n)), None)
    if names is None:
        near = firm is not None and first - firm < PLAIN.sentences and sheet.opening(first) in _PERSONS
        return range(firm, first) if firm is not None and near else ()
    if firm is None or firm <= names:  # all between speak of the same
        return (names,)
    return range(names, first) if first - names < PLAIN.sentences else (firm,)


def named_before(sheet: Layout, found: List, query: str) -> Sequence[int]:
    """The sentence that names what the words that lead into a list call "they"; no step of another list."""
    lead = next(n for n, (start, _) in enumerate(sheet.sentences) if start >= found.start)
    if not sheet.leads(lead) or not sheet.leans(lead):
        return ()
    return [n for n in antecedents(sheet, lead, lead, query) if not sheet.opens_item(n)]


def explanation(sheet: Layout, first: int, last: int, query: str) -> Sequence[int]:
    """What follows a message or a label in quotation marks ("Update failed (U-22)".) that the question names itself.

    It reaches to the end of the paragraph, or to the next label.
    """
    if first != last or not _is_label(sheet.sentence(first)) or not content(sheet.sentence(first)) & content(query):
        return ()
    told = list[int]()
    for n in range(first + 1, min(first + PLAIN.sentences, len(sheet.sentences))):
        between = sheet.text[sheet.sentences[n - 1][1] : sheet.sentences[n][0]]
        if "\n\n" in between or _is_label(sheet.sentence(n)):
            break
        told.append(n)
    return told


def _is_label(text: str) -> bool:
    return _LABEL.fullmatch(unmarked(text)) is not None


def opens_row(sheet: Layout, first: int, last: int) -> bool:
    """Whether it is a sentence that a row begins with: it needs neither the other cells nor the head."""
    start, end = sheet.range(first, last)
    return first == last and first in sheet.prose and sheet.text[end - 1] in ".!?" and start == sheet.line(start)[0]


def says_little(sheet: Layout, i: int, quoted: Sequence[tuple[int, int]]) -> bool:
    """Whether a sentence says nothing, or something else, without what stands around it."""
    start = sheet.sentences[i][0]
    apart = sheet.table_at(start) is not None or is_strange(sheet, i, quoted) or _lacks_term(sheet, i, quoted)
    return apart or sheet.leads(i) or sheet.only_asks(start)


def _lacks_term(sheet: Layout, i: int, quoted: Sequence[tuple[int, int]]) -> bool:
    """Whether a sentence is about the term that its item begins with, and that is not quoted."""
    term = sheet.term_of(i)
    return term is not None and term < i and not any(first <= sheet.sentences[term][0] < end for first, end in quoted)


def is_other_term(sheet: Layout, i: int, quoted: Sequence[tuple[int, int]], query: str) -> bool:
    """Whether a sentence is about another term of a list than one that the question names, and that is quoted."""
    terms = {term for span in quoted for n in sheet.within(*span) if (term := sheet.term_of(n)) is not None}
    asked = content(query)
    named = any(content(unmarked(sheet.sentence(n)).partition(":")[0]) <= asked for n in terms)
    return named and sheet.term_of(i) not in (None, *terms)


def is_strange(sheet: Layout, i: int, quoted: Sequence[tuple[int, int]]) -> bool:
    """Whether a sentence is an item, and the list that is quoted from is another than its own."""
    start = sheet.sentences[i][0]
    lists = [one for one in sheet.lists if any(one.start < end and first < one.end for first, end in quoted)]
    return sheet.opens_item(i) and bool(lists) and not any(one.start <= start < one.end for one in lists)
