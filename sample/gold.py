"""Puts the questions' gold quotes in their place: the book's own characters, and the page they begin on."""

from __future__ import annotations

from typing import Any

from manuscript import Book, Table, Text, typographic
from pages import Page, Pages

_TYPEWRITER = str.maketrans("‘’“”", "''\"\"")

Question = dict[str, Any]


class Gold:
    """Finds passages of the book as a reader types them, with typewriter quotation marks and " | " between cells."""

    def __init__(self, book: Book, pages: Pages) -> None:
        self._pages = pages
        self._lines: list[tuple[str, Text]] = []
        for chapter in book.parts:
            for text in chapter.texts():
                self._lines.append((text.plain, text))
            for block in chapter.all_blocks():
                if isinstance(block, Table):
                    self._lines += [(" | ".join(cell.plain for cell in row), row[0]) for row in block.rows]

    def place(self, question: Question) -> Question:
        """The question with the page of each of its quotes, as a number in the file and as printed."""
        found = [self._find(quote) for quote in question["quotes"]]
        placed = question | {
            "quotes": [quote for quote, _ in found],
            "section": [typographic(title) for title in question["section"]],
            "page": [page.number for _, page in found],
            "page_label": [page.label for _, page in found],
        }
        if "selection" in question:
            placed["selection"] = self._find(question["selection"])[0]
        return placed

    def _find(self, passage: str) -> tuple[str, Page]:
        places = [
            (line[at : at + len(passage)], self._pages.page_of(text, at))
            for line, text in self._lines
            if (at := line.translate(_TYPEWRITER).find(passage)) >= 0
        ]
        if len({page.number for _, page in places}) != 1:
            raise ValueError(f"{len(places)} places, not one, for the passage {passage!r}")
        return places[0]
