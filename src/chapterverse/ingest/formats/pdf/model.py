"""What the steps of the PDF reader hand to each other. Coordinates are points, x to the right and y *down*."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

NOTE_OPEN, NOTE_CLOSE = "\ufdd0", "\ufdd1"
"""Enclose a raised number or sign until it is known whether it refers to a note (Unicode's own non-characters)."""

HYPHEN = "\ufffe"
"""A hyphen at the end of a line, which may or may not belong to the word; PDFium's own mark for it."""


@dataclass(slots=True)
class Span:
    """Words on one baseline without a wide gap between them, in the order in which the file draws them."""

    text: str
    left: float
    right: float
    y: float
    """Of the baseline."""
    size: float
    bold: bool
    italic: bool
    order: int
    gaps: list[tuple[int, float, float]] = field(default_factory=list)
    """Gaps wider than a space, which may part cells: offset in the text, and where the gap begins and ends."""

    @property
    def top(self) -> float:
        return self.y - 0.75 * self.size

    @property
    def bottom(self) -> float:
        return self.y + 0.25 * self.size


class Ruling(NamedTuple):
    """A drawn line, horizontal or vertical. Pages may have thousands, and tuples are quickly made and handed over."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def horizontal(self) -> bool:
        return self.right - self.left >= self.bottom - self.top


@dataclass(slots=True)
class PageContent:
    """What is drawn on a page, as far as it matters for reading."""

    index: int
    spans: list[Span]
    rulings: list[Ruling]
    drawn: bool
    """Anything at all is drawn, so that a page without spans is a picture and not a blank page."""
    label: str | None = None


@dataclass(slots=True)
class Table:
    """Rows of cells, as a part of a page."""

    rows: list[list[str]]
    left: float
    right: float
    top: float
    bottom: float
    order: int
    page: int = 0

    @property
    def text(self) -> str:
        return "\n".join(" | ".join(cells).strip() for cells in self.rows)


@dataclass(slots=True)
class Column:
    """The margins that a run of lines was set between."""

    left: float
    right: float


@dataclass(slots=True)
class Line:
    """A line of print in its column."""

    text: str
    left: float
    right: float
    y: float
    size: float
    bold: bool
    italic: bool
    page: int
    column: Column
    level: int | None = None
    """Of the heading that the bookmarks say this line belongs to."""

    @property
    def width_per_character(self) -> float:
        return (self.right - self.left) / max(len(self.text), 1)


@dataclass(slots=True)
class Note:
    """A footnote: its marker and its lines."""

    marker: str
    lines: list[Line]


@dataclass(slots=True)
class Bookmark:
    """An entry of the file's outline: level from 1, page from 0, and where on the page if it says so."""

    level: int
    title: str
    page: int
    y: float | None


@dataclass(slots=True)
class Passage:
    """A block in the making: lines that read as one, or a table."""

    kind: str
    lines: list[Line] = field(default_factory=list)
    table: Table | None = None
    level: int | None = None
    sections: list[tuple[str, int]] = field(default_factory=list)
    """Bookmarks that open here although their words are not printed here."""

    @property
    def page(self) -> int:
        return self.lines[0].page if self.table is None else self.table.page
