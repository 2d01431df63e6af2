"""Rows of tables that a question points at: by their name, by a range, or as the highest or the lowest of all.

The reader sees words beside words. Whose row a number stands in, and which of many is the greatest, is told from the
table itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, takewhile
from typing import NamedTuple

from chapterverse.answer import facts, ranges
from chapterverse.answer.alike import opposed, otherwise_numbered
from chapterverse.answer.layout import Layout, Table
from chapterverse.answer.questions import content
from chapterverse.answer.units import unit_of

_COUNTED = re.compile(r"\bhow (?:many|much) (\w+)", re.IGNORECASE)
"""What a question counts: "turns" are in no column that tells of days, whatever other words it shares with it."""
_MEASURED = re.compile(r"\bhow ((?:many|much) \w+ )?(high|tall|deep|long|wide|thick|heavy|far)\b", re.IGNORECASE)
_DIMENSIONS = {
    "high": "high height tall altitude elevation", "tall": "high height tall", "deep": "deep depth",
    "long": "long length duration", "wide": "wide width breadth", "thick": "thick thickness",
    "heavy": "heavy weight weigh mass", "far": "far distance",
}  # fmt: skip
"""What the column of "how many feet high" must speak of: feet may be those of a drop."""
_TIME = content("time second minute hour day week month year")
"""What tells how long something is too."""
_IN_UNITS = re.compile(r"\bin ([a-z]{3,})\b", re.IGNORECASE)
_OF_TABLES = content("value number amount figure quantity big large list table row column show accord")
"""Words that a question about any table may have."""
_FEWEST_ROWS = 3
"""Of two rows one would rather ask for the higher."""

_MOST = {
    "most": "", "greatest": "", "largest": "size area population capacity", "biggest": "size area population capacity",
    "highest": "height altitude elevation", "tallest": "height", "longest": "length distance duration",
    "heaviest": "weight mass", "deepest": "depth", "widest": "width", "dearest": "price cost", "latest": "year",
    "hottest": "temperature", "farthest": "distance", "furthest": "distance", "newest": "year", "youngest": "year",
    "most expensive": "price cost", "most costly": "price cost", "priciest": "price cost", "most powerful": "power",
    "fastest": "speed",
}  # fmt: skip
_LEAST = {
    "fewest": "", "least": "", "smallest": "size area population capacity", "lowest": "height altitude elevation",
    "shortest": "length distance duration height", "lightest": "weight mass", "shallowest": "depth",
    "narrowest": "width", "cheapest": "price cost", "coldest": "temperature", "nearest": "distance",
    "closest": "distance", "oldest": "year", "earliest": "year", "least expensive": "price cost",
    "least costly": "price cost", "least powerful": "power", "slowest": "speed",
}  # fmt: skip
_OF_AMOUNTS = ("most", "greatest", "fewest", "least")
_OF_ANYTHING = (*_OF_AMOUNTS, "largest", "biggest", "smallest", "highest", "lowest")
"""Superlatives of whatever column is named; the others are of their own ("the fastest time" is the lowest)."""
_OF_LENGTH = frozenset(
    "tallest longest shortest deepest shallowest widest narrowest farthest furthest nearest closest".split()
)
_LENGTHS = content("mm millimetre cm centimetre metre meter m kilometre kilometer km inch foot feet yard mile")
"""In a column that is named ("the longest drop" of "Drop (feet)") they tell as much as the word "length" would."""
_SUPERLATIVE = re.compile(
    rf"\b(?:the )?({'|'.join({*_MOST, *_LEAST} - {*_OF_AMOUNTS})})\b|\bthe ({'|'.join(_OF_AMOUNTS)})\b", re.IGNORECASE
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
_ASKS_WHICH_ONES = re.compile(
    r"(?:which|what)\s+(?:of\s+the\s+)?(?:[\w-]+\s+){0,2}?([a-z]+[^\W\dsiu]s)\b", re.IGNORECASE
)
_NEGATIVE = re.compile(r"\b(?:not|no|never|cannot|without|\w+n['’]t)\b", re.IGNORECASE)
_FURTHER = re.compile(
    r"\b(?:and|or|but|than|except|other|only|if|when|while|until|before|after|between|under|over|more|less|most|least"
    r"|fewer|without|either|neither|both|once|again)\b",
    re.IGNORECASE,
)
"""Then there is another condition than the value of a cell."""
_ASKS_VALUE = re.compile(r"\b(?:what|which|how (?:many|much|long))\b", re.IGNORECASE)
_ASKS_CELL = re.compile(rf"{_ASKS_VALUE.pattern}|\b(?:who|when|where)\b", re.IGNORECASE)
_HOW_MUCH = re.compile(r"\bhow much (?:is|are|do|does|would|will)\b", re.IGNORECASE)
_PRICE = content("cost costs price fee charge charged rate fare pay paid")
_MONEY = frozenset("£ $ € ¥ penny shilling".split())
_OF_ANYBODY = content("get give given receive entitled due allowed apply applies person people someone employee worker")
"""Words that a question may have for whom a row is."""
_AGE_WORDS = content("old age aged")
_AGED = content("age child children adult junior senior young youth infant baby toddler pupil")
"""What has ages: years are also of service, or of a contract."""
_PER = re.compile(r"\bper\b", re.IGNORECASE)
_LASTS = re.compile(r"\b(?:takes?|took|lasts?|lasted)\b", re.IGNORECASE)
_MOST_ROWS = 8
_NOT_FULL = 600
"""Characters: a passage that is shorter by a row has not been cut off, half of what one may have being left."""


class Row(NamedTuple):
    """A row of a table, by the number of its sheet and its place there."""

    sheet: int
    start: int
    end: int


def row_asked_for(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The row that a question names, or else the one that has most or least of what it asks for."""
    return next(iter(_named(query, sheets)), None) or _extreme(query, sheets)


def row_told(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The row that tells what is asked whatever a reader thinks of it, by the range of a number or by its name."""
    return row_in_range(query, sheets) or _surely_named(query, sheets)


def row_in_range(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The one row whose range holds the number of a question for what another column tells.

    A reader takes "12 kg" for none of the words of "5 to 20 kg", so that it is not asked: the question must speak of
    nothing that does not stand in the row or around its table.
    """
    number = ranges.number_in(query)
    if number is None or not _ASKS_VALUE.search(query) or _NEGATIVE.search(query) or _SUPERLATIVE.search(query):
        return None
    rows = [Row(grid.number, *row) for grid in _grids(sheets) for row in _held(grid, query, number)]
    return _only(rows, sheets)


def rows_asked_for(query: str, sheets: Sequence[Layout]) -> tuple[Row, ...]:
    """All rows of one table that a question points at, where they are several and not too many; else none.

    Either they all have the name that it names, or the value: `Which parts are cleaned weekly?`
    """
    named = _named(query, sheets)
    found = named if named or _extreme(query, sheets) else _with_value(query, sheets)
    return found if 1 < len(found) <= _MOST_ROWS else ()


def _with_value(query: str, sheets: Sequence[Layout]) -> tuple[Row, ...]:
    """All rows of the one table whose cells have the value that a question for several things names; else none.

    Of a column that says yes or no, also those of `Which commands need no password?`
    """
    asked = _ASKS_WHICH_ONES.match(query.strip())
    things = content(asked[1]) - _VERBS if asked else frozenset()
    if not things or _FURTHER.search(query) or _SUPERLATIVE.search(query) or facts.numbers(query):
        return ()
    grids = [grid for grid in _grids(sheets) if any(things <= about for about in grid.head) and _is_whole(grid)]
    found = [tuple(Row(grid.number, *row) for row in rows) for grid in grids for rows in _chosen(query, things, grid)]
    lines = {tuple(sheets[row.sheet].text[row.start : row.end].strip() for row in rows) for rows in found}
    return found[0] if len(lines) == 1 else ()


def has_column(asked: str, sheet: Layout, start: int, end: int) -> bool:
    """Whether a row between these characters has something in the columns that a part of a question asks for alone.

    The first is not looked at, for it has the names of all: "How many models?"
    """
    words, table = content(asked), sheet.table_at(start)
    if not words or table is None or table.header is None or not _ASKS_CELL.search(asked) or _NEGATIVE.search(asked):
        return False
    grid = _Grid(0, sheet, table, sheet.cells(table.header))
    columns = [n for n, head in enumerate(grid.head) if n and head & words]
    rows = [grid.cells(row) for row in table.rows if start <= row[0] < end]
    known = words <= frozenset().union(*(grid.head[n] for n in columns))
    return known and any(all(cells[n] for n in columns) for cells in rows)


def _only(rows: Sequence[Row], sheets: Sequence[Layout]) -> Row | None:
    """The row that is found, if it is one; passages may overlap, so that it is found again."""
    lines = {sheets[row.sheet].text[row.start : row.end].strip() for row in rows}
    return rows[0] if len(lines) == 1 else None


@dataclass(frozen=True)
class _Grid:
    """A table that has its head, by the number of its sheet, and what each of its columns is about."""

    number: int
    sheet: Layout
    table: Table
    titles: list[str]

    @cached_property
    def head(self) -> list[frozenset[str]]:
        return [content(title) for title in self.titles]

    def cells(self, row: tuple[int, int]) -> list[str]:
        """The cells of a row, as many as the head has at the least."""
        cells = self.sheet.cells(row)
        return cells + [""] * (len(self.head) - len(cells))

    def name(self, row: tuple[int, int]) -> str:
        return self.cells(row)[0]

    @cached_property
    def setting(self) -> frozenset[str]:
        """The words of the head, of the headings above it, and of the sentence that leads into the table.

        A head of two lines has nothing below what both of them are about.
        """
        sheet, before = self.sheet, self.sheet.text[: self.table.start]
        above = [line[0] for line in re.finditer(r"\S[^\n]*", before) if sheet.is_heading(*line.span())]
        lead = [before[start:end] for start, end in sheet.sentences if end <= len(before) and not before[end:].strip()]
        second = takewhile(lambda cells: not cells[0], map(self.cells, self.table.rows))
        return content(" ".join([*above, *lead, *chain(*second)])).union(*self.head)


def _grids(sheets: Sequence[Layout]) -> Iterator[_Grid]:
    for n, sheet in enumerate(sheets):
        for table in sheet.tables:
            if table.header:
                yield _Grid(n, sheet, table, sheet.cells(table.header))


def _held(grid: _Grid, query: str, number: facts.Number) -> list[tuple[int, int]]:
    """The rows of a table that begin with a range of the number of a question, and tell what it asks.

    Where all are open to one side ("over 5 kg", "over 10 kg"), a row that is not in the passage may be nearer.
    """
    spans = {row: span for row in grid.table.rows if (span := ranges.span_of(grid.cells(row)[0]))}
    if ranges.is_ladder(list(spans.values())) and not _is_whole(grid):
        return []
    rows = [row for row, span in spans.items() if _holds(grid, span, query, number)]
    meant = ranges.narrowest([spans[row] for row in rows])
    return [rows[n] for n in meant if _is_told(grid, rows[n], query, number)]


def _holds(grid: _Grid, span: ranges.Span, query: str, number: facts.Number) -> bool:
    """Whether a range of a table holds the number of a question, and is of nothing that is not meant."""
    meant = content(query) | grid.setting
    return span.words <= meant and ranges.is_held(query, number, span, grid.titles[0])


def _is_told(grid: _Grid, row: tuple[int, int], query: str, number: facts.Number) -> bool:
    """Whether a row tells what a question asks of its number: a column has it, and all other words are known."""
    name, *cells = grid.cells(row)
    rest = f"{query[: number.start]} {query[number.tail :]}"
    said, columns = content(rest), frozenset().union(*grid.head[1:])
    priced = (columns & _PRICE or _is_bare_price(grid, cells, said)) and (said & _PRICE or _HOW_MUCH.search(query))
    aged = number.unit == "year" and _AGED & content(f"{grid.titles[0]} {name}")
    known = (_PRICE if priced else frozenset()) | _OF_ANYBODY | (_AGE_WORDS if aged else frozenset())
    verbs = said & _VERBS - known - grid.setting
    counted = content(" ".join(_COUNTED.findall(query))) <= columns
    return bool(priced or said & columns) and counted and not verbs and _tells(grid, row, rest, known)


def _is_bare_price(grid: _Grid, cells: Sequence[str], said: frozenset[str]) -> bool:
    """Whether a row has money in a column that says no more than what is asked for: no bonus and no prize."""
    plain = said | _OF_TABLES | content(" ".join(_MONEY))
    money = (any(one.unit in _MONEY for one in facts.numbers(cell)) for cell in cells)
    return any(has and head <= plain for has, head in zip(money, grid.head[1:], strict=False))


def _named(query: str, sheets: Sequence[Layout]) -> tuple[Row, ...]:
    """The row whose first cell and most of whose columns the question names, and all of its table that begin alike.

    Those do not in which something does not stand that the question speaks of: it means one of them.
    """
    found = [
        (named, grid, row) for grid in _grids(sheets) for row in grid.table.rows if (named := _names(query, grid, row))
    ]
    most, table, best = max(found, key=lambda one: one[0], default=(0, None, (0, 0)))
    alike = [row for named, grid, row in found if grid is table and named == most and grid.name(row) == grid.name(best)]
    return tuple(Row(table.number, *row) for row in alike) if table else ()


def _surely_named(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The one row that a question names which asks for nothing but a value of it, without any condition."""
    other = any(one.search(query) for one in (_NEGATIVE, _SUPERLATIVE, _FURTHER))
    if other or not _ASKS_VALUE.search(query):
        return None
    rows = [Row(grid.number, *row) for grid in _grids(sheets) for row in grid.table.rows if _names(query, grid, row)]
    return _only(rows, sheets)


def _names(query: str, grid: _Grid, row: tuple[int, int]) -> int:
    """How many words for columns a question has that names a row by its first cell; 0 if it does not, or counts others.

    A verb names a column that says no more: "need" is not asked for by "Needs a password". And the question must not
    speak of what stands neither in the row nor around its table, for that is then what it asks about.
    """
    counted, measured = content(" ".join(_COUNTED.findall(query))), _MEASURED.search(query)
    how_many, measures = (measured[1], content(_DIMENSIONS[measured[2].lower()])) if measured else ("", frozenset())
    said, number = content(query) | measures, ranges.number_in(query)
    columns = frozenset().union(*(cell - _VERBS or cell for cell in grid.head[1:]))
    name, *cells = grid.cells(row)
    first = content(name)
    if not first or not first <= said or first <= grid.head[0]:
        return 0
    if number and (span := ranges.span_of(name)) and not _holds(grid, span, query, number):
        return 0  # "over 20 kg" is not the name of 20 kg
    if opposed(query, name) or otherwise_numbered(query, name):
        return 0
    numbered = counted <= columns or (counted <= first and all(map(facts.numbers, cells)))
    told = numbered and (not how_many or columns & measures) and _tells(grid, row, query)
    asked = [cell for cell, head in zip(cells, grid.head[1:], strict=False) if (said - first) & (head - _VERBS or head)]
    return len((said - first) & columns) if told and any(cell.strip(" —–-?") for cell in asked) else 0


def _tells(grid: _Grid, row: tuple[int, int], query: str, known: frozenset[str] = frozenset()) -> bool:
    """Whether all that a question speaks of stands in a row or around its table, but for words of any such question."""
    known |= content(" ".join(grid.cells(row))) | grid.setting | _OF_TABLES | _VERBS
    known |= content(" ".join(word for word in _IN_UNITS.findall(query) if unit_of(word)))
    measured = _MEASURED.search(query)
    by = measured[2].lower() if measured else ""
    lengths = frozenset() if by == "long" and _LASTS.search(query) else content(_DIMENSIONS.get(by, ""))
    if _PER.search(query) and not any(map(_PER.search, grid.titles)):
        return False
    if by and known & (lengths | (_TIME if by == "long" else frozenset())):
        known |= content(by)
    return content(query) <= known


def _extreme(query: str, sheets: Sequence[Layout]) -> Row | None:
    """The row with the highest or lowest number of the column meant, in the one table of the things that are asked for.

    The question must ask for nothing else: a condition is not looked at.
    """
    found = _SUPERLATIVE.search(query)
    if not found or not _ASKS_WHICH.match(query.strip()) or _OTHERWISE.search(query) or facts.numbers(query):
        return None
    word = (found[1] or found[2]).lower()
    asked = content(query) - content(word)
    rows = [
        Row(grid.number, *row)
        for grid in _grids(sheets)
        if (row := _furthest(word, asked, grid) or _furthest_across(word, asked, grid))
    ]
    return _only(rows, sheets)


def _furthest(word: str, asked: frozenset[str], grid: _Grid) -> tuple[int, int] | None:
    """The row of a table that has most, or least, of what is asked for.

    No table with which its passage ends is looked at: it may have been cut off there.
    """
    cells = {row: grid.cells(row) for row in grid.table.rows}
    rows = [row for row in cells if not _is_sum(cells[row], grid.head)]
    thing = _thing(asked, grid.head, [cells[row] for row in rows])
    if thing is None or not grid.sheet.text[grid.table.end :].strip():
        return None
    columns = _columns(word, asked - grid.head[thing] - _VERBS, grid.head)
    best = _best(word, {n: [cells[row][n] for row in rows] for n in columns if n not in (0, thing)})
    return rows[best[1]] if best else None


def _furthest_across(word: str, asked: frozenset[str], grid: _Grid) -> tuple[int, int] | None:
    """The row that tells which of the columns has most, or least: `Weight | 58 kg | 64 kg | 71 kg`."""
    things = grid.head[1:]
    kind = frozenset.intersection(*things) & asked if things else frozenset()
    cells = [grid.cells(row) for row in grid.table.rows]
    rows = _columns(word, asked - kind - grid.head[0] - _VERBS, [content(row[0]) for row in cells]) if kind else ()
    best = _best(word, {n: cells[n][1:] for n in rows})
    return grid.table.rows[best[0]] if best else None


def _thing(asked: frozenset[str], head: Sequence[frozenset[str]], rows: Sequence[Sequence[str]]) -> int | None:
    """The column of the things that are asked for: the first, or else the one that is named and has a name for each."""
    if head[0] & asked:
        return 0
    columns = {n: {row[n] for row in rows} for n, cell in enumerate(head) if cell & asked}
    named = [n for n, names in columns.items() if len(names - {""}) == len(rows) and not all(map(facts.numbers, names))]
    return named[0] if len(named) == 1 else None


def _columns(word: str, noun: frozenset[str], heads: Sequence[frozenset[str]]) -> list[int]:
    """The columns that the question names, if the superlative can be of them, or that it means by itself."""
    meant = _meant(word)
    if noun <= meant:
        return [n for n, cell in enumerate(heads) if meant & cell]
    suits = meant | (_LENGTHS if word in _OF_LENGTH else frozenset())
    named = [n for n, cell in enumerate(heads) if noun <= cell and (word in _OF_ANYTHING or suits & cell)]
    return [] if noun & _RANKED else named


def _best(word: str, columns: Mapping[int, Sequence[str]]) -> tuple[int, int] | None:
    """The one column that has numbers, and where the highest or lowest of them stands in it."""
    found = {n: values for n, cells in columns.items() if (values := _values(cells))}
    if _meant(word) == _YEAR:
        found = {n: values for n, values in found.items() if all(value in _YEARS for value in values)}
    if len(found) != 1:
        return None
    [(column, values)] = found.items()
    best = (max if word in _MOST else min)(values)
    return (column, values.index(best)) if len(values) >= _FEWEST_ROWS and values.count(best) == 1 else None


def _meant(word: str) -> frozenset[str]:
    """What a superlative is about by itself."""
    return content(_MOST.get(word) or _LEAST.get(word) or "")


def _is_whole(grid: _Grid) -> bool:
    """Whether a table has all of its rows: its passage goes on behind it, or is too short to have been cut off."""
    text, table = grid.sheet.text, grid.table
    longest = max((end - start for start, end in table.rows), default=0)
    return bool(text[table.end :].strip()) or len(text) + longest < _NOT_FULL


def _chosen(query: str, things: frozenset[str], grid: _Grid) -> Iterator[list[tuple[int, int]]]:
    """For each column that a question may mean, the rows that have the value which it names.

    It must speak of nothing else that does not stand around the table, and no cell may say more than that value.
    """
    asked, negative = content(_NEGATIVE.sub(" ", query)) - things, _NEGATIVE.search(query)
    known = grid.setting | _VERBS
    for n, head in enumerate(grid.head):
        column = {row: grid.cells(row)[n] for row in grid.table.rows}
        if things <= head:
            continue
        if {cell.lower() for cell in column.values()} == {"yes", "no"}:
            if asked <= known and asked & (head - _VERBS) and not _NEGATIVE.search(grid.titles[n]):
                yield [row for row, cell in column.items() if cell.lower() == ("no" if negative else "yes")]
            continue
        about = {row: content(cell) for row, cell in column.items()}
        for value in {value for value in about.values() if value and value <= asked <= known | value and not negative}:
            if all(value == one or not value <= one for one in about.values()):
                yield [row for row in about if about[row] == value]


def _is_sum(cells: Sequence[str], head: Sequence[frozenset[str]]) -> bool:
    """Whether a row sums the others up: it begins with "Total", "Grand total", "All villages"."""
    first, things = next(((cell, about) for cell, about in zip(cells, head, strict=False) if cell), ("", frozenset()))
    words, about = re.findall(r"[a-z]+", first.lower().removeprefix("grand ")), content(first)
    return (words[:1] == ["all"] and about <= things) or bool(_SUM.intersection(words[:1]))


def _values(cells: Sequence[str]) -> list[Fraction]:
    """The numbers of a column; none where a cell has another unit, or not just one number."""
    numbers = [facts.numbers(cell) for cell in cells]
    units = {(one.unit, "%" in cell) for found, cell in zip(numbers, cells, strict=True) for one in found}
    alone = all(len(found) == 1 for found in numbers)
    return [found[0].value for found in numbers] if alone and len(units) == 1 else []
