"""Spans that share a baseline, and the cells that gaps part them into."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from chapterverse.ingest.formats.pdf.model import Span

MIN_GAP = 0.4
"""Columns are at least so many ems apart."""


@dataclass(slots=True)
class Row:
    """Spans of any column that share a baseline."""

    spans: list[Span]
    y: float
    size: float
    furniture: bool = False
    labels: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(span.text for span in sorted(self.spans, key=lambda span: span.left))

    @property
    def slot(self) -> tuple[object, ...]:
        """The height and the look that the rows of a running head have in common."""
        return round(self.y / 4), round(self.size * 2), self.spans[0].bold, self.spans[0].italic

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


def rows_of(spans: list[Span]) -> list[Row]:
    """Spans grouped by baseline, from the top of the page down."""
    rows: list[Row] = []
    for span in sorted(spans, key=lambda span: span.y):
        if rows and span.y - rows[-1].y < 0.45 * max(span.size, rows[-1].size):
            rows[-1].spans.append(span)
            rows[-1].size = max(span.size, rows[-1].size)
        else:
            rows.append(Row([span], span.y, span.size))
    return rows


class Cell(NamedTuple):
    text: str
    left: float
    right: float


def cells_of(row: Row) -> list[Cell]:
    """The words of a row, parted at every gap that is wider than a space."""
    cells: list[Cell] = []
    for span in sorted(row.spans, key=lambda span: span.left):
        start, left = 0, span.left
        for offset, gap_left, gap_right in [*span.gaps, (len(span.text), span.right, 0.0)]:
            text = span.text[start:offset].strip()
            if cells and left - cells[-1].right <= MIN_GAP * span.size:
                cells[-1] = Cell(f"{cells[-1].text} {text}", cells[-1].left, gap_left)
            else:
                cells.append(Cell(text, left, gap_left))
            start, left = offset, gap_right
    return cells
