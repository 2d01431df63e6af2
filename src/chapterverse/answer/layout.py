"""Layout: the sentences, lists and tables of a passage, found again in its plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from chapterverse.answer.questions import content

_ITEM = re.compile(r"(?:[-*•–]|\(?(?:[0-9]{1,3}|[A-Za-z]|[ivxlc]{1,6})[.)])\s+\S")
_CELL = " | "
_Test = Callable[[str], bool]
_SHORTEST_PROSE = 4
"""Words that say something; with fewer, a line is a heading or a caption."""


class Table(NamedTuple):
    """A table's first row, if it is in the passage, and where the table ends."""

    header: tuple[int, int] | None
    end: int


class List(NamedTuple):
    """A list with the sentence that leads into it; `items` is where the first item begins."""

    start: int
    items: int
    end: int


@dataclass(frozen=True)
class Layout:
    """A passage and its sentences; a row of a table and an item of a list are sentences of their own."""

    text: str
    sentences: Sequence[tuple[int, int]]

    def sentence(self, n: int) -> str:
        start, end = self.sentences[n]
        return self.text[start:end]

    def covering(self, start: int, end: int) -> tuple[int, int]:
        """First and last of the sentences that these characters touch, or the nearest one."""
        touched = [n for n, (first, last) in enumerate(self.sentences) if first < end and last > start]
        if touched:
            return touched[0], touched[-1]
        nearest = min(range(len(self.sentences)), key=lambda n: abs(self.sentences[n][0] - start))
        return nearest, nearest

    def range(self, first: int, last: int) -> tuple[int, int]:
        return self.sentences[first][0], self.sentences[last][1]

    def table_at(self, offset: int) -> Table | None:
        rows = next((run for run in self._runs(_is_row) if run[0][0] <= offset < run[-1][1]), None)
        if rows is None:
            return None
        first = self.text[slice(*rows[0])]
        # A passage may begin in the middle of a table; heads of columns have no figures.
        cut_off = rows[0][0] == 0 and any(character.isdigit() for character in first)
        return Table(None if cut_off else rows[0], rows[-1][1])

    def list_from(self, first: int, ahead: int) -> List | None:
        """The list that a sentence leads into, or one of the next `ahead`; if any, also one that it stands in."""
        starts = [start for start, _ in self.sentences[first : first + ahead + 1]]
        for run in self._runs(_is_item):
            found = List(self._lead_in(run[0][0]), run[0][0], run[-1][1])
            last = found.end if ahead else found.items
            if len(run) > 1 and any(found.start <= start < last for start in starts):
                return found
        return None

    @cached_property
    def prose(self) -> list[int]:
        """Sentences that are neither rows nor headings."""
        return [
            n
            for n in range(len(self.sentences))
            if _CELL not in self.sentence(n) and len(content(self.sentence(n))) >= _SHORTEST_PROSE
        ]

    def _lead_in(self, items: int) -> int:
        before = [(start, end) for start, end in self.sentences if end <= items]
        return before[-1][0] if before and self.text[before[-1][1] - 1] == ":" else items

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\S[^\n]*", self.text)]

    def _runs(self, belongs: _Test) -> list[list[tuple[int, int]]]:
        """Lines of one kind that follow each other."""
        runs: list[list[tuple[int, int]]] = [[]]
        for start, end in self._lines:
            if belongs(self.text[start:end]):
                runs[-1].append((start, end))
            elif runs[-1]:
                runs.append([])
        return [run for run in runs if run]


def _is_row(line: str) -> bool:
    return _CELL in line


def _is_item(line: str) -> bool:
    return _ITEM.match(line) is not None
