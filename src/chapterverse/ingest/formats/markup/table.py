"""Tables of markup: cells are read as passages first, then fused into rows unless the table only lays out a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from chapterverse.ingest.composer import Piece
from chapterverse.ingest.formats.markup.passages import NoteRef, Passage, stripped
from chapterverse.ingest.formats.merged_cells import LONGEST_REPEATED, MOST_HEADS
from chapterverse.types import Page

_SPACES = re.compile(r"\s+")
_WIDEST = 100
_MOST_REPEATED = 10
"""How many times its own length a table may repeat of its merged cells; honest ones stay far below."""
_LONGEST_CELL = 2_000
"""Characters that a cell of data has at most: one of more holds the text of a page."""
_LAYOUT_KINDS = frozenset({"heading", "code"})


@dataclass(slots=True)
class _Cell:
    start: int
    end: int
    columns: int
    rows: int
    is_head: bool
    repeated: bool = False


class Table:
    """An open table: `start` is the index of its first passage, `anchors` that of its first anchor."""

    def __init__(self, start: int, anchors: int, attributes: Mapping[str, str]) -> None:
        self.start = start
        self.anchors = anchors
        self._layout = attributes.get("role") in ("presentation", "none")
        self._rows: list[list[_Cell]] = []
        self._groups: set[int] = set()
        self._heads: list[int] = []

    def open_table(self) -> None:
        """A table stands in a cell of this one, which therefore lays out a page."""
        self._layout = True

    def open_group(self) -> None:
        """A head or body begins with the next row; no cell reaches into it from the one before."""
        self._groups.add(len(self._rows))

    def open_row(self, is_head: bool) -> None:
        if is_head:
            self._heads.append(len(self._rows))
        self._rows.append([])

    def open_cell(self, start: int, attributes: Mapping[str, str], is_head: bool) -> None:
        if not self._rows:
            self._rows.append([])
        cell = _Cell(start, start, _span(attributes, "colspan"), _span(attributes, "rowspan"), is_head)
        self._rows[-1].append(cell)

    def close_cell(self, end: int) -> None:
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].end = end

    def fuse(self, passages: list[Passage]) -> tuple[list[Passage], list[Piece | NoteRef] | None]:
        """The passages outside of cells (captions), and the text of all rows; None if there is no data to fuse."""
        if self._layout or all(len(row) < 2 for row in self._rows):
            return [], None
        cells = [cell for row in self._rows for cell in row]
        inside = [passage for cell in cells for passage in passages[cell.start : cell.end]]
        if not inside or any(passage.kind in _LAYOUT_KINDS for passage in inside):
            return [], None
        if any(sum(len(part.text) for part in passages[cell.start : cell.end]) > _LONGEST_CELL for cell in cells):
            return [], None
        owned = {index for cell in cells for index in range(cell.start, cell.end)}
        captions = [passages[index] for index in range(self.start, len(passages)) if index not in owned]
        return captions, self._written(passages, _MOST_REPEATED * sum(len(passage.text) for passage in inside))

    def _written(self, passages: list[Passage], room: int) -> list[Piece | NoteRef]:
        """The rows as lines; what they repeat takes at most `room` characters."""
        pieces: list[Piece | NoteRef] = []
        for row in self._shown(passages):
            contents: list[list[Piece | NoteRef]] = []
            for place in row:
                contents.append([])
                for cell in place:
                    content = _content(passages, cell)
                    if cell.repeated:
                        room -= sum(len(str(piece)) for piece in content)
                        content = content if room >= 0 else []
                    contents[-1] += [": ", *content] if contents[-1] and content else content
            pieces += ["\n", *_line(contents)] if pieces else _line(contents)
        return pieces

    def _shown(self, passages: list[Passage]) -> list[list[list[_Cell]]]:
        """The rows that say something of their own, by the cells of each place; several rows of heads are one."""
        grid = self._grid(passages)
        heads = [
            number
            for number in self._heads or self._first_heads()
            if sum(cell is not None for cell in grid[number]) > 1 and not _names_group(grid[number])
        ]
        heads = heads if 1 < len(heads) <= MOST_HEADS else []
        shown: list[list[list[_Cell]]] = []
        for number, own in enumerate(self._rows):
            if heads[:1] == [number]:
                shown.append(_folded([grid[head] for head in heads], passages))
            elif number not in heads and any(cell.start < cell.end for cell in own):
                shown.append([[cell] if cell else [] for cell in grid[number]])
        return shown

    def _first_heads(self) -> list[int]:
        """The rows of nothing but heads with which a table begins that does not say which rows are its head."""
        body = next((n for n, row in enumerate(self._rows) if not all(cell.is_head for cell in row)), 0)
        return list(range(body))

    def _grid(self, passages: list[Passage]) -> list[list[_Cell | None]]:
        """Rows with a place for each column: a merged cell stands in the first place of every row that it covers."""
        grid: list[list[_Cell | None]] = []
        covered: dict[int, tuple[_Cell | None, int]] = {}
        for number, cells in enumerate(self._rows):
            row: list[_Cell | None] = []
            taken = {} if number in self._groups else covered
            covered = {column: (above, rows - 1) for column, (above, rows) in taken.items() if rows > 1}
            for cell in cells:
                while len(row) in taken:
                    row.append(taken[len(row)][0])
                if cell.rows > 1:
                    places = range(len(row), min(len(row) + cell.columns, _WIDEST))
                    covered.update(dict.fromkeys(places, (None, cell.rows - 1)))
                    covered.update(dict.fromkeys(places[:1], (_repeated(cell, passages), cell.rows - 1)))
                row += [cell, *[None] * (cell.columns - 1)]
            row += [taken.get(column, (None,))[0] for column in range(len(row), max(taken, default=-1) + 1)]
            while row and row[-1] is None:
                row.pop()
            grid.append(row)
        return grid


def _repeated(cell: _Cell, passages: list[Passage]) -> _Cell | None:
    """A merged cell for the next rows that it covers, unless it holds prose."""
    length = sum(len(passage.text) for passage in passages[cell.start : cell.end])
    return replace(cell, repeated=True) if length <= LONGEST_REPEATED else None


def _folded(rows: list[list[_Cell | None]], passages: list[Passage]) -> list[list[_Cell]]:
    """Rows of heads as one: each column has all that stand above it, also those that span it with others."""
    width = max(len(row) - 1 + (row[-1].columns if row[-1] else 1) for row in rows)
    folded: list[list[_Cell]] = [[] for _ in range(width)]
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell is None or (number and cell.repeated):
                continue
            folded[column].append(cell)
            if again := _repeated(cell, passages):
                for spanned in folded[column + 1 : column + cell.columns]:
                    spanned.append(again)
    return folded


def _line(cells: list[list[Piece | NoteRef]]) -> list[Piece | NoteRef]:
    """One row as text; its end is bare of spaces, since a page mark may stand between it and the line break."""
    line: list[Piece | NoteRef] = []
    for number, content in enumerate(cells):
        line += [" | ", *content] if number else content
    return stripped(line)


def _content(passages: list[Passage], cell: _Cell) -> list[Piece | NoteRef]:
    """A cell's passages on one line; a page begins where the cell stands first."""
    content: list[Piece | NoteRef] = []
    for passage in passages[cell.start : cell.end]:
        content += [" ", passage.marker, *passage.pieces]
    shown = [piece for piece in content if not (cell.repeated and isinstance(piece, Page))]
    return stripped([_SPACES.sub(" ", piece) if isinstance(piece, str) else piece for piece in shown])


def _span(attributes: Mapping[str, str], name: str) -> int:
    text = attributes.get(name, "1").strip()
    return min(max(int(text), 1), _WIDEST) if text.isascii() and text.isdigit() else 1


def _names_group(row: list[_Cell | None]) -> bool:
    """Whether nothing but the first cell of a row says anything: that is of the rows below, not of a column."""
    first, *others = (bool(cell and cell.start < cell.end) for cell in row)
    return first and not any(others)
