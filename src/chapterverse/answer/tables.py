"""Rows of tables that a question points at: by their name, or as the highest or the lowest of all.

The reader sees words beside words. Whose row a number stands in, and which of many is the greatest, is told from the
table itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from chapterverse.answer import facts
from chapterverse.answer.layout import Layout, Table
from chapterverse.answer.questions import content

_COUNTED = re.compile(r"\bhow (?:many|much) (\w+)", re.IGNORECASE)
"""What a question counts: "turns" are in no column that tells of days, whatever other words it shares with it."""
_FEWEST_ROWS = 3
"""Of two rows one would rather ask for the higher."""

_MOST = {
    "most": "", "greatest": "", "largest": "size area population capacity", "biggest": "size area population capacity",
    "highest": "height altitude elevation", "tallest": "height", "longest": "length distance duration",
    "heaviest": "weight mass", "deepest": "depth", "widest": "width", "fastest": "speed", "dearest": "price cost",
    "hottest": "temperature", "farthest": "distance", "furthest": "distance", "newest": "year", "latest": "year date",
    "youngest": "year",
}  # fmt: skip
_LEAST = {
    "fewest": "", "least": "", "smallest": "size area population capacity", "lowest": "height altitude elevation",
    "shortest": "length distance duration height", "lightest": "weight mass", "shallowest": "depth",
    "narrowest": "width", "slowest": "speed", "cheapest": "price cost", "coldest": "temperature",
    "nearest": "distance", "closest": "distance", "oldest": "year", "earliest": "year date",
}  # fmt: skip
_SUPERLATIVE = re.compile(rf"\b(?:(\w+)[ -])?({'|'.join([*_MOST, *_LEAST])})\b(?: (\w+))?", re.IGNORECASE)
_SECOND = re.compile(r"second|third|fourth|fifth|\d+th|2nd|3rd|next|not|at", re.IGNORECASE)
"""Before a superlative: another row is meant, or none."""
_SUM = re.compile(r"(?:grand |sub-?)?total|sum|all|overall|average|mean|median", re.IGNORECASE)
"""The first cell of a row that is none of the things that the others are."""


class Row(NamedTuple):
    """A row of a table, by the number of its sheet and its place there."""

    sheet: int
    start: int
    end: int


def row_asked_for(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The row that a question names, or else the one that has most or least of what it asks for."""
    return _named(query, sheets) or _extreme(query, sheets)


def _tables(sheets: Sequence[Layout]) -> Iterator[tuple[int, Layout, Table, list[frozenset[str]]]]:
    """Every table that has its head, and what each of its columns is about."""
    for n, sheet in enumerate(sheets):
        for table in sheet.tables:
            if table.header:
                yield n, sheet, table, [content(cell) for cell in sheet.cells(table.header)]


def _named(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The row whose first cell and one of whose columns the question names; also what it counts."""
    asked, counted = content(query), content(" ".join(_COUNTED.findall(query)))
    best, most = None, 0
    for n, sheet, table, head in _tables(sheets):
        columns = frozenset().union(*head[1:])
        for row in table.rows if counted <= columns else ():
            first = content(sheet.cells(row)[0])
            named = len((asked - first) & columns)
            if first and first <= asked and named > most:
                best, most = Row(n, *row), named
    return best


def _extreme(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The row with the highest or lowest number of the column meant, in a table of the things that are asked for."""
    found = _SUPERLATIVE.search(query)
    if found is None or _SECOND.fullmatch(found[1] or ""):
        return None
    word, noun = found[2].lower(), content(found[3] or "")
    meant = content(_MOST.get(word) or _LEAST.get(word) or "")
    for n, sheet, table, head in _tables(sheets):
        rows = [row for row in table.rows if not _SUM.match(sheet.cells(row)[0])]
        if len(rows) < _FEWEST_ROWS or not head[0] & content(query):
            continue
        values = _values([sheet.cells(row) for row in rows], _column(head, noun, meant))
        best = (max if word in _MOST else min)(values, default=None)
        if best is not None and values.count(best) == 1:
            return Row(n, *rows[values.index(best)])
    return None


def _column(head: Sequence[frozenset[str]], named: frozenset[str], meant: frozenset[str]) -> int:
    """The one column that the superlative's noun names, or else that it means by itself; 0 for none."""
    for words in (named, meant):
        found = [n for n, cell in enumerate(head) if n and words & cell]
        if len(found) == 1:
            return found[0]
    return 0


def _values(rows: Sequence[Sequence[str]], column: int) -> list[Fraction]:
    """The numbers of a column; none where a cell has another unit, or not just one number."""
    cells = [facts.numbers(row[column]) if 0 < column < len(row) else [] for row in rows]
    if any(len(found) != 1 for found in cells) or len({found[0].unit for found in cells}) != 1:
        return []
    return [found[0].value for found in cells]
