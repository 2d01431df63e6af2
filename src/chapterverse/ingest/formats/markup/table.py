"""Tables of markup: cells are read as passages first, then fused into rows unless the table only lays out a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from chapterverse.ingest.composer import Piece
from chapterverse.ingest.formats.markup.passages import NoteRef, Passage, stripped

_SPACES = re.compile(r"\s+")
_WIDEST = 100
_LAYOUT_KINDS = frozenset({"heading", "code"})


@dataclass(slots=True)
class _Cell:
    start: int
    end: int
    columns: int
    rows: int


class Table:
    """An open table: `start` is the index of its first passage, `anchors` that of its first anchor."""

    def __init__(self, start: int, anchors: int, attributes: Mapping[str, str]) -> None:
        self.start = start
        self.anchors = anchors
        self._layout = attributes.get("role") in ("presentation", "none")
        self._rows: list[list[_Cell]] = []

    def open_table(self) -> None:
        """A table stands in a cell of this one, which therefore lays out a page."""
        self._layout = True

    def open_row(self) -> None:
        self._rows.append([])

    def open_cell(self, start: int, attributes: Mapping[str, str]) -> None:
        if not self._rows:
            self._rows.append([])
        self._rows[-1].append(_Cell(start, start, _span(attributes, "colspan"), _span(attributes, "rowspan")))

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
        owned = {index for cell in cells for index in range(cell.start, cell.end)}
        captions = [passages[index] for index in range(self.start, len(passages)) if index not in owned]
        pieces: list[Piece | NoteRef] = []
        for row in self._grid():
            contents = [passages[cell.start : cell.end] if cell else [] for cell in row]
            if any(contents):
                pieces += ["\n", *_line(contents)] if pieces else _line(contents)
        return captions, pieces

    def _grid(self) -> list[list[_Cell | None]]:
        """Rows with a place for each column: a merged cell stands in its first place, the others are empty."""
        grid: list[list[_Cell | None]] = []
        covered: dict[int, int] = {}
        for cells in self._rows:
            row: list[_Cell | None] = []
            taken, covered = covered, {column: rows - 1 for column, rows in covered.items() if rows > 1}
            for cell in cells:
                while len(row) in taken:
                    row.append(None)
                if cell.rows > 1:
                    covered.update(dict.fromkeys(range(len(row), len(row) + cell.columns), cell.rows - 1))
                row += [cell, *[None] * (cell.columns - 1)]
            while row and row[-1] is None:
                row.pop()
            grid.append(row)
        return grid


def _line(cells: list[list[Passage]]) -> list[Piece | NoteRef]:
    """One row as text; its end is bare of spaces, since a page mark may stand between it and the line break."""
    line: list[Piece | NoteRef] = []
    for number, passages in enumerate(cells):
        line += [" | ", *_content(passages)] if number else _content(passages)
    return stripped(line)


def _content(passages: list[Passage]) -> list[Piece | NoteRef]:
    """A cell's passages on one line."""
    content: list[Piece | NoteRef] = []
    for passage in passages:
        content += [" ", passage.marker, *passage.pieces]
    return stripped([_SPACES.sub(" ", piece) if isinstance(piece, str) else piece for piece in content])


def _span(attributes: Mapping[str, str], name: str) -> int:
    text = attributes.get(name, "1").strip()
    return min(max(int(text), 1), _WIDEST) if text.isascii() and text.isdigit() else 1
