"""Wholes: what is quoted from its beginning to its end, where a part of it would look like all of it."""

from __future__ import annotations

from chapterverse.answer.entries import answer_below, section_named
from chapterverse.answer.enumerations import asks_for_members, enumeration
from chapterverse.answer.gate import DEFAULT, PLAIN, sentence_count
from chapterverse.answer.layout import Layout, Span
from chapterverse.answer.lists import count_items
from chapterverse.answer.questions import asks_for_list
from chapterverse.answer.validate import Sentences


def most_sentences(query: str) -> int:
    """How many sentences may answer."""
    return DEFAULT.sentences if asks_for_list(query) else PLAIN.sentences


def told_below(query: str, sheet: Layout, best: Span | None, split: Sentences) -> list[Span]:
    """What stands under the question itself, whatever else in the passage the reader likes better.

    Of more than can be quoted the opening, unless the reader's best place is in it: then that is for others to quote.
    """
    entry = answer_below(query, sheet)
    if entry is None:
        return []
    if _fits(sheet.text[entry.start : entry.end], query, split):
        return [(entry.start, entry.end)]
    if best and entry.holds(*best):
        return []
    first = sheet.within(entry.start, entry.end)[0]
    return list(sheet.sentences[first : first + most_sentences(query)])


def whole(query: str, sheet: Layout, best: Span, split: Sentences) -> list[Span]:
    """What the best place is a part of, and may be quoted whole: an enumeration, or what a heading names."""
    entry = section_named(query, sheet)
    if entry and entry.holds(*best) and _fits(sheet.text[entry.start : entry.end], query, split):
        return [(entry.start, entry.end)]
    return _members(query, sheet, best, split)


def _members(query: str, sheet: Layout, best: Span, split: Sentences) -> list[Span]:
    """All members of an enumeration in prose, behind what leads into it if there is room for that too."""
    found = enumeration(sheet, sheet.covering(*best)[0]) if asks_for_members(query) else None
    leading, members = found or (0, [])
    for first in range(leading + 1):
        spans = [sheet.sentences[n] for n in members[first:]]
        if sum(sentence_count(sheet.text[slice(*one)], split) for one in spans) <= most_sentences(query):
            return spans
    return []


def _fits(text: str, query: str, split: Sentences) -> bool:
    """Whether an answer may be so long; a list counts as one sentence."""
    return count_items(text) > 0 or sentence_count(text, split) <= most_sentences(query)
