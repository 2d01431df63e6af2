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
_MEASURED = re.compile(r"\bhow (?:many|much) \w+ (high|tall|deep|long|wide|thick|heavy|far)\b", re.IGNORECASE)
_DIMENSIONS = {
    "high": "high height tall altitude elevation", "tall": "high height tall", "deep": "deep depth",
    "long": "long length duration", "wide": "wide width breadth", "thick": "thick thickness",
    "heavy": "heavy weight weigh mass", "far": "far distance",
}  # fmt: skip
"""What the column of "how many feet high" must speak of: feet may be those of a drop."""
_FEWEST_ROWS = 3
"""Of two rows one would rather ask for the higher."""

_MOST = {
    "most": "", "greatest": "", "largest": "size area population capacity", "biggest": "size area population capacity",
    "highest": "height altitude elevation", "tallest": "height", "longest": "length distance duration",
    "heaviest": "weight mass", "deepest": "depth", "widest": "width", "dearest": "price cost", "latest": "year",
    "hottest": "temperature", "farthest": "distance", "furthest": "distance", "newest": "year", "youngest": "year",
}  # fmt: skip
_LEAST = {
    "fewest": "", "least": "", "smallest": "size area population capacity", "lowest": "height altitude elevation",
    "shortest": "length distance duration height", "lightest": "weight mass", "shallowest": "depth",
    "narrowest": "width", "cheapest": "price cost", "coldest": "temperature", "nearest": "distance",
    "closest": "distance", "oldest": "year", "earliest": "year",
}  # fmt: skip
_OF_AMOUNTS = ("most", "greatest", "fewest", "least")
_OF_ANYTHING = (*_OF_AMOUNTS, "largest", "biggest", "smallest", "highest", "lowest")
"""Superlatives of whatever column is named; the others are of their own ("the fastest time" is the lowest)."""
_SUPERLATIVE = re.compile(
    rf"\bthe ({'|'.join(_OF_AMOUNTS)})\b|\b({'|'.join({*_MOST, *_LEAST} - {*_OF_AMOUNTS})})\b", re.IGNORECASE
)
_ASKS_WHICH = re.compile(r"(?:which|what)\b", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"\b(?:second|third|fourth|fifth|next|not|no|never|except|other|but|than|\w+n['’]t|all|each|every)\b", re.IGNORECASE
)
"""Then another row is meant, or several."""
_RANKED = content("rank ranking priority position place grade class level order number no")
"""Columns in which the lowest number may be the highest."""
_VERBS = content("lie lies lay stand stands stood cost costs take takes took need needs needed carry carries carried")
_SUM = frozenset("total totals subtotal sum average mean median overall".split())
"""First words of rows that are none of the things that the others are."""
_YEAR, _YEARS = content("year"), range(1000, 2101)


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
    measured = _MEASURED.search(query)
    best, most = None, 0
    for n, sheet, table, head in _tables(sheets):
        columns = frozenset().union(*head[1:])
        meant = counted <= columns and (not measured or columns & content(_DIMENSIONS[measured[1].lower()]))
        for row in table.rows if meant else ():
            first = content(sheet.cells(row)[0])
            named = len((asked - first) & columns)
            if first and first <= asked and not first <= head[0] and named > most:
                best, most = Row(n, *row), named
    return best


def _extreme(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The row with the highest or lowest number of the column meant, in the one table of the things that are asked for.

    The question must ask for nothing else: a condition is not looked at. Nor is a table with which its passage ends,
    for it may have been cut off there.
    """
    found = _SUPERLATIVE.search(query)
    if not found or not _ASKS_WHICH.match(query.strip()) or _OTHERWISE.search(query) or facts.numbers(query):
        return None
    word = (found[1] or found[2]).lower()
    asked = content(query) - content(word)
    rows = [
        Row(n, *row)
        for n, sheet, table, head in _tables(sheets)
        if sheet.text[table.end :].strip() and (row := _furthest(word, asked, sheet, table, head))
    ]
    lines = {sheets[row.sheet].text[row.start : row.end].strip() for row in rows}
    return rows[0] if len(lines) == 1 else None


def _furthest(
    word: str, asked: frozenset[str], sheet: Layout, table: Table, head: Sequence[frozenset[str]]
) -> tuple[int, int] | None:
    """The row of a table that has most, or least, of what is asked for."""
    meant = content(_MOST.get(word) or _LEAST.get(word) or "")
    rows = [row for row in table.rows if not _is_sum(sheet.cells(row)[0], head[0])]
    if len(rows) < _FEWEST_ROWS or not head[0] & asked:
        return None
    cells = [sheet.cells(row) for row in rows]
    columns = [_values(cells, n) for n in _columns(word, asked - head[0] - _VERBS, meant, head)]
    columns = [one for one in columns if one and (meant != _YEAR or all(value in _YEARS for value in one))]
    if len(columns) != 1:
        return None
    best = (max if word in _MOST else min)(columns[0])
    return rows[columns[0].index(best)] if columns[0].count(best) == 1 else None


def _columns(word: str, noun: frozenset[str], meant: frozenset[str], head: Sequence[frozenset[str]]) -> list[int]:
    """The columns that the rest of the question names, or that the superlative means by itself."""
    if noun <= meant:
        return [n for n, cell in enumerate(head) if n and meant & cell]
    named = word in _OF_ANYTHING and not noun & _RANKED
    return [n for n, cell in enumerate(head) if n and noun <= cell] if named else []


def _is_sum(first: str, things: frozenset[str]) -> bool:
    """Whether a row sums the others up: "Total", "Grand total", "All villages"."""
    words, about = re.findall(r"[a-z]+", first.lower().removeprefix("grand ")), content(first)
    return (words[:1] == ["all"] and about <= things) or bool(_SUM.intersection(words[:1]))


def _values(rows: Sequence[Sequence[str]], column: int) -> list[Fraction]:
    """The numbers of a column; none where a cell has another unit, or not just one number."""
    cells = [row[column] if column < len(row) else "" for row in rows]
    numbers = [facts.numbers(cell) for cell in cells]
    units = {(one.unit, "%" in cell) for found, cell in zip(numbers, cells, strict=True) for one in found}
    alone = all(len(found) == 1 for found in numbers)
    return [found[0].value for found in numbers] if alone and len(units) == 1 else []
