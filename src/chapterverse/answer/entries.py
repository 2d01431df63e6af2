"""Entries: what a book says right under a line that asks the question, or that names what it asks for.

A list of frequent questions asks first and answers below, and under "Safety rules" stand the safety rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from chapterverse.answer.alike import opposed
from chapterverse.answer.layout import Layout, Span, lay_out
from chapterverse.answer.lists import List, clauses, count_items, unmarked
from chapterverse.answer.questions import asks_for_one, asks_for_steps, content, content_asked
from chapterverse.answer.validate import Sentences
from chapterverse.types import KEPT_BREAK, Passage

_ASKED = re.compile(r"(?:Q(?:uestion)?\s*\d*\s*[.:)]\s*)?(?P<asked>[^?\"“”]+\?)(?:\s+|$)", re.IGNORECASE)
"""A question that a line begins with; in quotation marks, somebody asks it."""
_WORD = re.compile(r"[\w’']+")
_TELLING = frozenset(
    "who whom whose what which when where why how not no never without before after until during".split()
)
"""Words that are in every text, and make another question of one: `When can I pay?` is not `How can I pay?`"""
_NAMES_IT = re.compile(
    r"\W*(?:please\s+)?(?:what|which|how\s+(?:do|can|should|to)|define|explain|describe|list|name|give|tell|definition"
    r"|meaning)\b",
    re.IGNORECASE,
)
"""Whoever asks so may be answered by all that stands under the name of it; not whoever asks when or how much."""
_SPEECH = re.compile(r"[\"“‘']")


class Entry(NamedTuple):
    """Where a line begins that asks or names something, and what stands right below it: a list, or a paragraph."""

    head: int
    start: int
    end: int

    def holds(self, start: int, end: int) -> bool:
        """Whether these characters are some of what stands below."""
        return self.start < end and start < self.end


Find = Callable[[str, Layout], Entry | None]


def answer_below(question: str, sheet: Layout) -> Entry | None:
    """What stands under the question itself."""
    heads = (asked for asked in _questions(sheet) if _same(question, sheet.text[slice(*asked)]))
    return _first(sheet, heads)


def section_named(question: str, sheet: Layout) -> Entry | None:
    """What stands under a heading that has all the words for what is asked for, and no others."""
    asked = content_asked(question)
    if not asked or not _NAMES_IT.match(question) or asks_for_one(question):
        return None
    heads = (line for line in _unmarked_lines(sheet) if sheet.is_heading(*line))
    named = (line for line in heads if content(sheet.text[slice(*line)]) == asked)
    return _first(sheet, (line for line in named if not opposed(question, sheet.text[slice(*line)])))


def steps_named(question: str, sheet: Layout, around: str) -> Entry | None:
    """The list under a heading that has half of the words of a question for steps at least, and no others.

    All others must stand in the passage, or in what is known of the place `around` it: another machine has other steps.
    """
    asked = content_asked(question)
    if not asks_for_steps(question) or not asked <= content(f"{around}\n{sheet.text}"):
        return None
    heads = ((line, content(sheet.text[slice(*line)])) for line in _unmarked_lines(sheet) if sheet.is_heading(*line))
    named = (line for line, words in heads if words <= asked and 2 * len(words) >= len(asked))
    entry = _first(sheet, (line for line in named if not opposed(question, sheet.text[slice(*line)])))
    return entry if entry and count_items(sheet.text[entry.start : entry.end]) > 1 else None


def entries(question: str, passages: Sequence[Passage], sentences: Sentences, find: Find) -> list[Passage]:
    """Lines that ask, or name, with what stands below them, as passages of their own."""
    found: list[Passage] = []
    for passage in passages:
        sheet = lay_out(passage.text, sentences(passage.text))
        if entry := find(question, sheet):
            text = passage.text[entry.head : entry.end]
            found.append(replace(passage, id=f"S{len(found) + 1}", text=text, start=passage.start + entry.head))
    return found


def _questions(sheet: Layout) -> Iterator[Span]:
    """The questions that lines begin with."""
    asked = (_ASKED.match(sheet.text, *line) for line in _unmarked_lines(sheet))
    return (one.span("asked") for one in asked if one)


def _unmarked_lines(sheet: Layout) -> Iterator[Span]:
    return ((end - len(unmarked(sheet.text[start:end])), end) for start, end in sheet.lines)


def _first(sheet: Layout, heads: Iterable[Span]) -> Entry | None:
    """The first of these lines that something stands below."""
    return next((Entry(start, *body) for start, end in heads if (body := _body(sheet, end))), None)


def _same(question: str, other: str) -> bool:
    """Whether two questions ask the same in nearly the same words."""
    telling = [{word.lower() for word in _WORD.findall(one)} & _TELLING for one in (question, other)]
    alike = bool(content(question)) and content(question) == content(other)
    return alike and telling[0] == telling[1] and not opposed(question, other)


def _body(sheet: Layout, offset: int) -> Span | None:
    """The list, the clauses or the paragraph right after an offset; none if another heading, or question, follows."""
    first = next((n for n, (start, _) in enumerate(sheet.sentences) if start >= offset), None)
    if first is None:
        return None
    start = sheet.sentences[first][0]
    asked = any(start <= question[0] < sheet.line(start)[1] for question in _questions(sheet))
    if asked or sheet.headed(offset + 1, start) or sheet.table_at(start) or _SPEECH.match(sheet.text, start):
        return None
    if listed := sheet.list_below(start):
        return listed.start, listed.end
    following = [line for line in sheet.lines if line[1] > start]
    count = max(1, clauses([sheet.text[slice(*line)] for line in following]))
    while count < len(following) and sheet.text.endswith(KEPT_BREAK, 0, following[count][0]):
        count += 1  # lines of one paragraph
    end = following[count - 1][1]
    last = max(n for n, one in enumerate(sheet.sentences) if one[0] < end)
    leads = sheet.leads(last) and sheet.list_below(sheet.sentences[last][0])
    return (start, leads.end) if isinstance(leads, List) else (start, sheet.sentences[last][1])
