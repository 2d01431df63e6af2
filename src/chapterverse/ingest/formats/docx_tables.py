"""DOCX tables: rows and cells as they open and close, with spans, deletions, and tables inside cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from chapterverse.ingest.formats.docx_runs import left_out
from chapterverse.ingest.formats.merged_cells import LONGEST_REPEATED, MOST_HEADS, filled_down
from chapterverse.ingest.formats.ooxml import Element, attribute, child, children, switched_on, value, whole
from chapterverse.ingest.formats.ooxml_text import table_text

_MOST_COLUMNS = 63
"""Word's own limit: a wider span is not honest."""


class Grid:
    """Collects the texts of a table's cells; a table inside a cell becomes text of that cell."""

    def __init__(self) -> None:
        self._tables: list[list[list[str | None]]] = [[]]  # the rows of each open table, outermost first
        self._heads: list[list[str | None]] = []  # the rows with which the outermost begins, by what heads each column
        self._cells: list[list[str]] = []  # the texts of each open cell

    @property
    def text(self) -> str:
        return table_text(_with_one_head(list(filled_down(self._tables[0])), self._heads))

    def open(self, name: str, element: Element) -> None:
        if name == "w:tbl":
            self._tables.append([])
        elif name == "w:tr":
            before = [""] * _columns(element, "w:trPr", "w:gridBefore", 0)
            if self._in_head() and switched_on(child(element, "w:trPr", "w:tblHeader")):
                self._heads.append([*before])
            self._tables[-1].append([*before])
        elif name == "w:tc":
            self._cells.append([])

    def close(self, name: str, element: Element) -> None:
        if name == "w:tbl":
            rows = filled_down(self._tables.pop())
            self.add("; ".join(", ".join(filter(None, row)) for row in rows if any(row)))
        elif name == "w:tc":
            text = " ".join(self._cells.pop()).strip()
            goes_on = _continues(element, "w:vMerge") and not _continues(element, "w:hMerge")
            if not _is_deleted(element):
                more = _columns(element, "w:tcPr", "w:gridSpan", 1) - 1
                self._row().extend([None if goes_on else text, *[""] * more])
                if self._in_head() and self._heads:
                    is_short = len(text) <= LONGEST_REPEATED and len(self._heads[-1]) < _MOST_COLUMNS
                    again = text if is_short else ""
                    self._heads[-1].extend([None if goes_on else text, *[again] * more])

    def add(self, text: str) -> None:
        """Text of the cell that is open; outside of any it is a row of its own."""
        if self._cells:
            self._cells[-1].append(text)
        else:
            self._tables[-1].append([text])

    def _in_head(self) -> bool:
        """Whether the outermost table has had nothing but rows of heads so far."""
        return len(self._tables) == 1 and len(self._tables[0]) == len(self._heads)

    def _row(self) -> list[str | None]:
        if not self._tables[-1]:
            self._tables[-1].append([])
        return self._tables[-1][-1]


def _with_one_head(rows: Sequence[list[str]], heads: Sequence[Sequence[str | None]]) -> Iterator[list[str]]:
    """The rows of a table; those of its heads are one, but for one that has a title for all columns."""
    several = [number for number, head in enumerate(heads) if len(set(head)) > 1]
    several = several if 1 < len(several) <= MOST_HEADS and len(heads) < len(rows) else []
    for number, row in enumerate(rows):
        if several[:1] == [number]:
            yield [": ".join(filter(None, column)) for column in zip_longest(*(heads[head] for head in several))]
        elif number not in several:
            yield row


def is_frame(table: Element) -> bool:
    """Whether a table of a single cell merely puts a frame around ordinary text."""
    rows = children(table, "w:tr")
    wrapped = children(table, "w:sdt") + [item for row in rows for item in children(row, "w:sdt")]
    return not wrapped and len(rows) == 1 and len(children(rows[0], "w:tc")) == 1


def is_empty_by_rule(name: str, element: Element) -> bool:
    """Whether a part of a table shows nothing: deleted rows and cells, and cells that a merged one covers."""
    if name == "w:tr":
        return child(element, "w:trPr", "w:del") is not None
    if name == "w:tc":
        return _is_deleted(element) or any(_continues(element, merge) for merge in ("w:vMerge", "w:hMerge"))
    return left_out(name, element)


def _is_deleted(cell: Element) -> bool:
    return child(cell, "w:tcPr", "w:cellDel") is not None


def _continues(cell: Element, merge: str) -> bool:
    found = child(cell, "w:tcPr", merge)
    return found is not None and attribute(found, "w:val") != "restart"


def _columns(element: Element, properties: str, name: str, least: int) -> int:
    return whole(value(element, properties, name), least, least, _MOST_COLUMNS)
