"""Tables: cells between drawn lines, or columns of cells that align over several rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from chapterverse.ingest.formats.pdf.furniture import Row, rows_of
from chapterverse.ingest.formats.pdf.model import Ruling, Span, Table
from chapterverse.ingest.formats.pdf.words import Words, join

_TOUCH = 3.0
"""Lines closer than this many points meet."""
_MAX_LINES = 250
_CELL_GAP = 1.2
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

    merged: list[Ruling] = []
    for ruling in sorted(rulings, key=key):
        last = merged[-1] if merged else None
        if last and key(last)[0] == key(ruling)[0]:
            reach = ruling.left - last.right if horizontal else ruling.top - last.bottom
            if reach <= _TOUCH:
                far_right, far_bottom = max(last.right, ruling.right), max(last.bottom, ruling.bottom)
                merged[-1] = Ruling(min(last.left, ruling.left), min(last.top, ruling.top), far_right, far_bottom)
                continue
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
    if len(cells) < 2 or len({row for row, _ in cells}) < 2 and len({column for _, column in cells}) < 2:
        return None
    rows = [
        [_cell_text(cells.get((row, column), []), words) for column in range(len(grid.xs) - 1)]
        for row in range(len(grid.ys) - 1)
    ]
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


def _cell_text(spans: list[Span], words: Words) -> str:
    return join(words, (row.text for row in rows_of(spans)))


def cells_of(row: Row) -> list[list[Span]]:
    """The spans of a row, parted where a wide gap is."""
    cells: list[list[Span]] = []
    for span in sorted(row.spans, key=lambda span: span.left):
        if cells and span.left - cells[-1][-1].right <= _CELL_GAP * max(span.size, cells[-1][-1].size):
            cells[-1].append(span)
        else:
            cells.append([span])
    return cells


def aligned_run(rows: list[Row], start: int) -> int:
    """How many rows from `start` on are a table without lines: at least three, their cells in the same columns."""
    columns: list[tuple[float, float]] = []
    grid: list[list[tuple[float, float]]] = []
    for before, row in pairwise([rows[start], *rows[start:]]):
        cells = [(cell[0].left, cell[-1].right) for cell in cells_of(row)]
        if len(cells) < 2 or row.y - before.y > 3 * row.size:
            break
        wider = _union([*columns, *cells])
        if len(wider) < 2 or any(_shared(line, wider) for line in [*grid, cells]):
            break
        columns, grid = wider, [*grid, cells]
    if len(grid) < 3 or all(_MARKER.fullmatch(cells_of(row)[0][0].text) for row in rows[start : start + len(grid)]):
        return 0
    return len(grid) if len(columns) > 2 or _flush([line[-1] for line in grid]) else 0


def _union(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for left, right in sorted(intervals):
        if merged and left < merged[-1][1]:
            merged[-1] = merged[-1][0], max(right, merged[-1][1])
        else:
            merged.append((left, right))
    return merged


def _column(cell: tuple[float, float], columns: list[tuple[float, float]]) -> int:
    return next(i for i, (left, right) in enumerate(columns) if left <= cell[0] <= right)


def _shared(cells: list[tuple[float, float]], columns: list[tuple[float, float]]) -> bool:
    """Whether two cells of a row fall into one column, so that the columns are none."""
    return len({_column(cell, columns) for cell in cells}) < len(cells)


def _flush(cells: list[tuple[float, float]]) -> bool:
    """Whether cells line up on the left or on the right."""
    return any(max(edges) - min(edges) < 2 for edges in zip(*cells, strict=True))


def aligned_table(rows: list[Row]) -> Table:
    """The table of rows that `aligned_run` found."""
    lines = [cells_of(row) for row in rows]
    boxes = [[(cell[0].left, cell[-1].right) for cell in line] for line in lines]
    columns = _union([box for line in boxes for box in line])
    table = [[""] * len(columns) for _ in rows]
    for cells, line, place in zip(lines, boxes, table, strict=True):
        for cell, box in zip(cells, line, strict=True):
            place[_column(box, columns)] = " ".join(span.text for span in cell)
    spans = [span for row in rows for span in row.spans]
    top, bottom = min(span.top for span in spans), max(span.bottom for span in spans)
    return Table(table, columns[0][0], columns[-1][1], top, bottom, min(span.order for span in spans))
