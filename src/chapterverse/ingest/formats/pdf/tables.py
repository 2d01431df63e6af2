"""Tables: cells between drawn lines, or columns of cells that align over several rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from chapterverse.ingest.formats.pdf.model import Ruling, Span, Table
from chapterverse.ingest.formats.pdf.rows import MIN_GAP, Cell, Row, cells_of, rows_of
from chapterverse.ingest.formats.pdf.words import Words, join

_TOUCH = 3.0
"""Lines closer than this many points meet."""
_MAX_LINES = 250
_CELL_GAP = 1.2
"""Words further apart than so many ems are in different cells."""
_WRAPPED = 1.45
"""The lines of one cell are at most so many ems apart."""
_NEARER = 0.15
"""By so many ems at the least the lines of one cell are nearer to each other than rows are."""
_SAME_SIZE = 0.5
_SAME_LINE = 0.3
_MIN_ROWS = 3
_NUMERIC = re.compile(r"[\d.,:%$€£()+\-–/]+")
_MARKER = re.compile(r"(?:[-–•▪●○◦‣·*]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]+)[.)])")


def cut_ruled_tables(spans: list[Span], rulings: list[Ruling], words: Words) -> tuple[list[Table], list[Span]]:
    """The tables that drawn lines make certain, and the spans outside them."""
    levels = _merged([ruling for ruling in rulings if ruling.horizontal], horizontal=True)
    uprights = _merged([ruling for ruling in rulings if not ruling.horizontal], horizontal=False)
    tables: list[Table] = []
    if len(levels) > _MAX_LINES or len(uprights) > _MAX_LINES:
        return tables, spans
    for grid in _grids(levels, uprights):
        inside = [span for span in spans if _within(span, grid)]
        table = _ruled_table(inside, grid, words)
        if table:
            tables.append(table)
            spans = [span for span in spans if not _within(span, grid)]
    return tables, spans


def _merged(rulings: list[Ruling], horizontal: bool) -> list[Ruling]:
    """Collinear pieces joined; pieces shorter than a cell's side left out."""

    def key(ruling: Ruling) -> tuple[float, float]:
        if horizontal:
            return round((ruling.top + ruling.bottom) / 2 / _TOUCH), ruling.left
        return round((ruling.left + ruling.right) / 2 / _TOUCH), ruling.top

    def reach(last: Ruling, ruling: Ruling) -> float:
        return ruling.left - last.right if horizontal else ruling.top - last.bottom

    merged: list[Ruling] = []
    for ruling in sorted(rulings, key=key):
        last = merged[-1] if merged else None
        if last and key(last)[0] == key(ruling)[0] and reach(last, ruling) <= _TOUCH:
            far_right, far_bottom = max(last.right, ruling.right), max(last.bottom, ruling.bottom)
            merged[-1] = Ruling(min(last.left, ruling.left), min(last.top, ruling.top), far_right, far_bottom)
        else:
            merged.append(ruling)
    return [line for line in merged if max(line.right - line.left, line.bottom - line.top) > 2 * _TOUCH]


class _Grid:
    """Lines that meet each other, as the rows and columns that they draw."""

    def __init__(self, levels: list[Ruling], uprights: list[Ruling]) -> None:
        self.levels, self.uprights = levels, uprights
        self.xs = _distinct([*((line.left + line.right) / 2 for line in uprights), *_ends(levels, "left", "right")])
        self.ys = _distinct([*((line.top + line.bottom) / 2 for line in levels), *_ends(uprights, "top", "bottom")])

    @property
    def tabular(self) -> bool:
        return len(self.xs) >= 3 and len(self.ys) >= 3

    def above(self, row: int, column: int) -> bool:
        """Whether a line is drawn above a cell."""
        x, y = (self.xs[column] + self.xs[column + 1]) / 2, self.ys[row]
        return any(_meets(line, x, y) for line in self.levels)

    def before(self, row: int, column: int) -> bool:
        """Whether a line is drawn to the left of a cell."""
        x, y = self.xs[column], (self.ys[row] + self.ys[row + 1]) / 2
        return any(_meets(line, x, y) for line in self.uprights)


def _ends(lines: list[Ruling], low: str, high: str) -> list[float]:
    return [min(getattr(line, low) for line in lines), max(getattr(line, high) for line in lines)]


def _meets(line: Ruling, x: float, y: float) -> bool:
    return line.left - _TOUCH <= x <= line.right + _TOUCH and line.top - _TOUCH <= y <= line.bottom + _TOUCH


def _distinct(values: Sequence[float]) -> list[float]:
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value - kept[-1] > 1.5 * _TOUCH:
            kept.append(value)
    return kept


def _grids(levels: list[Ruling], uprights: list[Ruling]) -> list[_Grid]:
    """Groups of lines that are connected by crossing or touching."""
    groups: list[tuple[list[Ruling], list[Ruling]]] = []
    for upright in uprights:
        touched = [level for level in levels if _cross(level, upright)]
        if not touched:
            continue
        joined = [group for group in groups if any(level in group[0] for level in touched)]
        groups = [group for group in groups if group not in joined]
        whole = (list(dict.fromkeys([*touched, *(x for group in joined for x in group[0])])),
                 [upright, *(x for group in joined for x in group[1])])  # fmt: skip
        groups.append(whole)
    return [grid for grid in (_Grid(*group) for group in groups) if grid.tabular]


def _cross(level: Ruling, upright: Ruling) -> bool:
    x, y = (upright.left + upright.right) / 2, (level.top + level.bottom) / 2
    return _meets(level, x, y) and _meets(upright, x, y)


def _middle(span: Span) -> tuple[float, float]:
    return (span.left + span.right) / 2, span.y - 0.3 * span.size


def _within(span: Span, grid: _Grid) -> bool:
    x, y = _middle(span)
    return grid.xs[0] < x < grid.xs[-1] and grid.ys[0] < y < grid.ys[-1]


def _ruled_table(spans: list[Span], grid: _Grid, words: Words) -> Table | None:
    """The cells of a grid; a merged cell is written once, where it begins. A frame around one text is no table."""
    begins = _beginnings(grid)
    cells: dict[tuple[int, int], list[Span]] = {}
    for span in spans:
        x, y = _middle(span)
        place = sum(edge < y for edge in grid.ys) - 1, sum(edge < x for edge in grid.xs) - 1
        cells.setdefault(begins[place], []).append(span)
    if len(cells) < 2 or (len({row for row, _ in cells}) < 2 and len({column for _, column in cells}) < 2):
        return None
    rows: list[list[str]] = []
    for row in range(len(grid.ys) - 1):
        rows += _written([rows_of(cells.get((row, column), [])) for column in range(len(grid.xs) - 1)], words)
    rows = [row for row in rows if any(row)]
    if sum(1 for row in rows for cell in row if cell) < 2:
        return None
    order = min(span.order for span in spans)
    return Table(rows, grid.xs[0], grid.xs[-1], grid.ys[0], grid.ys[-1], order)


def _beginnings(grid: _Grid) -> dict[tuple[int, int], tuple[int, int]]:
    """For each cell of the grid, the cell at which the merged cell that it belongs to begins."""
    begins: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(len(grid.ys) - 1):
        for column in range(len(grid.xs) - 1):
            begin = row, column
            if column and not grid.before(row, column):
                begin = begins[row, column - 1]
            elif row and not grid.above(row, column):
                begin = begins[row - 1, column]
            begins[row, column] = begin
    return begins


def _written(cells: list[list[Row]], words: Words) -> list[list[str]]:
    """The cells between two drawn lines as one row; as many, if numbers and names stand line by line in them."""
    names = next((cell for cell in cells if cell), [])
    wraps = len(names) < 2 or any(line.text[0].islower() for line in names)
    numbers = any(len(cell) == len(names) and all(map(_is_number, cell)) for cell in cells)
    if not wraps and numbers and all(_beside(line, names) for cell in cells for line in cell):
        return [[" ".join(line.text for line in cell if _beside(line, [name])) for cell in cells] for name in names]
    return [[join(words, (line.text for line in cell)) for cell in cells]]


def _is_number(line: Row) -> bool:
    """What stands in brackets may belong to the number above it."""
    return bool(_NUMERIC.fullmatch(line.text)) and not line.text.startswith("(")


def _beside(line: Row, others: list[Row]) -> bool:
    return any(abs(line.y - other.y) < _SAME_LINE * line.size for other in others)


def aligned_table(rows: list[Row], start: int, words: Words) -> tuple[Table, int] | None:
    """The table without lines that begins at a row, and how many rows it takes: at least three full ones, whose
    cells stand in the same columns. Rows that hold but the rest of a wrapped cell belong to the row before."""
    lines: list[list[Cell]] = []
    columns: list[tuple[float, float]] = []
    for at, (before, row) in enumerate(pairwise([rows[start], *rows[start:]]), start=start):
        cells = cells_of(row)
        tight = row.y - before.y <= _WRAPPED * row.size
        wraps = len(cells) > 1 or _wraps(cells, columns, tight) or (tight and _hangs(rows, start, at, columns))
        if row.y - before.y > 3 * row.size or not wraps:
            break
        wider = _union([*columns, *((cell.left, cell.right) for cell in cells)], MIN_GAP * row.size)
        if len(wider) < 2 or not all(_in_columns(line, wider, row.size) for line in [*lines, cells]):
            break
        columns = wider
        lines.append(cells)
    table = _arranged(lines, columns, words)
    if len(table) < _MIN_ROWS or all(_MARKER.fullmatch(cells[0]) for cells in table):
        return None
    last = [cells[-1] for cells in lines if len(cells) > 1]
    if len(columns) == 2 and not any(max(edges) - min(edges) < 2 for edges in list(zip(*last, strict=True))[1:]):
        return None
    spans = [span for row in rows[start : start + len(lines)] for span in row.spans]
    top, bottom = min(span.top for span in spans), max(span.bottom for span in spans)
    return Table(table, columns[0][0], columns[-1][1], top, bottom, min(span.order for span in spans)), len(lines)


def _union(intervals: list[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Intervals joined where less than a gap parts them."""
    merged: list[tuple[float, float]] = []
    for left, right in sorted(intervals):
        if merged and left < merged[-1][1] + gap:
            merged[-1] = merged[-1][0], max(right, merged[-1][1])
        else:
            merged.append((left, right))
    return merged


def _column(cell: Cell, columns: list[tuple[float, float]]) -> int:
    return next(i for i, (left, right) in enumerate(columns) if left <= cell.left <= right)


def _in_columns(cells: list[Cell], columns: list[tuple[float, float]], em: float) -> bool:
    """Whether words of a row that fall into one column are near enough to be one cell."""
    return all(
        _column(one, columns) != _column(other, columns) or other.left - one.right <= _CELL_GAP * em
        for one, other in pairwise(cells)
    )


def _wraps(cells: list[Cell], columns: list[tuple[float, float]], tight: bool) -> bool:
    """Whether a row holds only the rest of cells of the row before: words, and none in the first column."""
    if not cells or not columns or not tight or cells[0].left <= columns[0][1] or cells[0].left > columns[-1][1]:
        return False
    return len(cells) <= max((len(columns) - 1) // 2, 1) and not any(_NUMERIC.fullmatch(cell.text) for cell in cells)


def _hangs(rows: list[Row], start: int, at: int, columns: list[tuple[float, float]]) -> bool:
    """Whether a row holds only the rest of the first cell of the row before, and not the name of a group of rows.

    It is nearer to that row than rows of the table are to each other, or goes on in small letters.
    """
    cells, row = cells_of(rows[at]), rows[at]
    if len(cells) != 1 or len(columns) < 2 or abs(row.size - rows[at - 1].size) > _SAME_SIZE:
        return False
    [cell] = cells
    beyond = cell.right >= columns[1][0] - MIN_GAP * row.size
    if beyond or _NUMERIC.fullmatch(cell.text) or _MARKER.match(cell.text):
        return False
    gaps = [here.y - above.y for above, here in pairwise(rows[start:at]) if len(cells_of(here)) > 1]
    for above, below in pairwise(rows[at:]):
        if len(cells_of(below)) > 1 or below.y - above.y > _WRAPPED * below.size:
            gaps += [below.y - above.y] if len(cells_of(below)) > 1 else []
            break
    apart = min(gaps, default=0.0) - (row.y - rows[at - 1].y)
    return apart > _NEARER * row.size or cell.text[:1].islower()


def _arranged(lines: list[list[Cell]], columns: list[tuple[float, float]], words: Words) -> list[list[str]]:
    """Rows with a text for each column; wrapped lines joined to the row that they belong to."""
    table: list[list[str]] = []
    for cells in lines:
        placed = [""] * len(columns)
        for cell in cells:
            column = _column(cell, columns)
            placed[column] = f"{placed[column]} {cell.text}".strip()
        if table and len(cells) == 1:
            table[-1] = [join(words, filter(None, pair)) for pair in zip(table[-1], placed, strict=True)]
        else:
            table.append(placed)
    return table
