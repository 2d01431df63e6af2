"""Documents: a book as one text, its blocks, places and chunks, and how files are read and cut."""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chapterverse.errors import AstRagValidationError

BlockKind = Literal["heading", "paragraph", "list", "table", "caption", "code", "quote", "footnote", "notes"]

KEPT_BREAK = " \n"
"""How a line of verse or of an address ends in a text; lines without the space (rows, items, code) stand alone."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page's number in the file (from 1) and the label printed on it ("iv", "45"); each is None when unknown."""

    number: int | None = None
    label: str | None = None

    @property
    def name(self) -> str | None:
        """What is printed on it, or else its number in the file."""
        return self.label or (str(self.number) if self.number is not None else None)


@dataclass(frozen=True, slots=True)
class PageStart:
    """The offset in the document's text at which a page begins."""

    start: int
    page: Page


@dataclass(frozen=True, slots=True)
class Block:
    """A run of the text with one role and one place in the outline; blocks are ordered and never overlap."""

    start: int
    end: int
    kind: BlockKind
    headings: tuple[str, ...] = ()
    """The outline path in force, chapter first; a heading block's own text is the last entry."""
    slide: int | None = None
    cfi: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Chapter and verse of a slice of a document."""

    headings: tuple[str, ...] = ()
    first_page: Page | None = None
    last_page: Page | None = None
    slide: int | None = None
    cfi: str | None = None

    @property
    def chapter(self) -> str | None:
        return self.headings[0] if self.headings else None

    @property
    def section(self) -> str | None:
        return self.headings[-1] if len(self.headings) > 1 else None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a user should know about a file that was read, or left out: never raised, always reported."""

    file_id: str
    file_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """One file as canonical text, with the blocks and page starts that place every character of it."""

    file_id: str
    file_name: str
    mime_type: str
    sha256: str
    """Of the file's bytes, so that a citation can be checked against the original."""
    title: str
    text: str
    blocks: tuple[Block, ...]
    pages: tuple[PageStart, ...] = ()
    author: str | None = None
    language: str | None = None
    source_url: str | None = None
    modified_time: str | None = None
    page_count: int | None = None
    notices: tuple[Notice, ...] = ()

    def page_at(self, offset: int) -> Page | None:
        """The page that the character at `offset` stands on."""
        found = bisect_right(self.pages, offset, key=lambda mark: mark.start)
        return self.pages[found - 1].page if found else None

    def pages_between(self, start: int, end: int) -> list[Page]:
        """Every page that `text[start:end]` stands on, as far as they are known."""
        first = bisect_right(self.pages, start, key=lambda mark: mark.start) - 1
        return [mark.page for mark in self.pages[max(first, 0) :] if mark.start < end]

    def end_of_page(self, number: int) -> int:
        """Where the pages up to this one of the file end; a page whose number is unknown is none of them."""
        later = (mark.start for mark in self.pages if mark.page.number is None or mark.page.number > number)
        return next(later, len(self.text) if self.pages else 0)

    def block_index(self, offset: int) -> int:
        """The index of the block that holds `offset`, or of the nearest one before it."""
        return max(bisect_right(self.blocks, offset, key=lambda block: block.start) - 1, 0)

    def place(self, start: int, end: int) -> Place:
        """Chapter and verse of `text[start:end]`: the outline at its start, and the pages it runs over."""
        block = self.blocks[self.block_index(start)]
        return Place(
            headings=block.headings,
            first_page=self.page_at(start),
            last_page=self.page_at(max(start, end - 1)),
            slide=block.slide,
            cfi=block.cfi,
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document that is indexed and quoted: `document.text[start:end] == text`, always."""

    id: str
    file_id: str
    start: int
    end: int
    text: str
    place: Place
    sections: tuple[str, ...] = ()
    """Every heading in force somewhere in the chunk, so that a filter finds a chunk that spans two sections."""


@dataclass(frozen=True, slots=True)
class Chunking:
    """How long chunks are, in characters. Invalid settings are refused here, so that nothing else checks them."""

    size: int = 1200
    overlap: int = 200
    minimum: int = 200

    def __post_init__(self) -> None:
        for name, value in (("size", self.size), ("overlap", self.overlap), ("minimum", self.minimum)):
            if type(value) is not int:
                raise AstRagValidationError(f"Chunking {name} must be a whole number of characters, not {value!r}.")
        if self.size < 200:
            raise AstRagValidationError(f"Chunking size is {self.size}; it must be at least 200 characters.")
        if not 0 <= self.overlap < self.size:
            raise AstRagValidationError(f"Chunking overlap is {self.overlap}; it must be 0 to {self.size - 1}.")
        if not 0 <= self.minimum <= self.size:
            raise AstRagValidationError(f"Chunking minimum is {self.minimum}; it must be 0 to {self.size}.")


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file that a source offers, before it is fetched."""

    file_id: str
    file_name: str
    size: int | None = None
    modified_time: str | None = None
    url: str | None = None
    mime_type: str | None = None
    """What the source says; the content decides."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read: a password for encrypted ones, and the limits that keep a hostile one harmless."""

    password: str | None = field(default=None, repr=False)
    max_pages: int = 20_000
    max_seconds: float = 60.0
    max_cpu_seconds: int = 20
    max_memory_mb: int = 1536
    max_unpacked_mb: int = 512


def to_dict(record: Any) -> dict[str, Any]:
    """A record as plain JSON-ready dictionaries and sequences.

    What cannot change is not copied, as `dataclasses.asdict` does: a book has tens of thousands of such fields.
    """
    return {name: _plain(getattr(record, name)) for name in record.__dataclass_fields__}


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _SIMPLE:
        return value
    if dataclasses.is_dataclass(kind):
        return to_dict(value)
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return kind(map(_plain, value)) if kind in (tuple, list) else value


_SIMPLE = frozenset({str, int, float, bool, type(None)})


def document_from_dict(data: Mapping[str, Any]) -> Document:
    """The inverse of `to_dict` for a document."""
    fields = dict(data)
    fields["blocks"] = tuple(Block(**{**b, "headings": tuple(b["headings"])}) for b in data["blocks"])
    fields["pages"] = tuple(PageStart(p["start"], Page(**p["page"])) for p in data["pages"])
    fields["notices"] = tuple(Notice(**n) for n in data["notices"])
    return Document(**fields)
