"""`/books`: what the reading page shows: the shelves, a book's outline, and its text part by part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query

from chapterverse.contracts.errors_map import public_message
from chapterverse.errors import AstRagValidationError
from chapterverse.surfaces.http.dependencies import ADDRESS_READ, TheLibrary, TheService
from chapterverse.surfaces.http.openapi import READING, errors
from chapterverse.types import Block, Document, Page, SourceRecord

router = APIRouter(prefix="/books", tags=["books"], dependencies=[ADDRESS_READ])

Index = Annotated[str, Query(description="The index that holds the book")]
File = Annotated[str, Query(description="The book's file id in that index")]

_PART = 30_000
"""Characters after which a new part begins: as much as is loaded at once."""
_CHAPTER = 3_000
"""From so many on, a part also ends with its chapter."""


@router.get("", responses=errors(400, 503))
async def books(library: TheLibrary, service: TheService) -> dict[str, Any]:
    """Every index with the books in it, and whether books may be added."""
    shelves, troubles = await library.survey()
    return {
        "can_add": not service.read_only,
        "shelves": [
            {
                "index": shelf.record.id,
                "name": shelf.record.name,
                "books": [_book(source) for source in shelf.sources],
            }
            for shelf in shelves
        ],
        "troubles": {index: public_message(error) for index, error in troubles.items()},
    }


@router.get("/outline", responses=READING)
async def outline(library: TheLibrary, index: Index, file: File) -> dict[str, Any]:
    """A book without its text: title, headings, and the parts that its text is loaded in."""
    document = await library.document(file, index)
    shelf = await library.inspect(index)
    return {
        "index": index,
        "books_in_index": len(shelf.sources),
        "file_id": document.file_id,
        "title": document.title,
        "author": document.author,
        "language": document.language,
        "file_name": document.file_name,
        "mime_type": document.mime_type,
        "pages": document.page_count,
        "source_url": document.source_url,
        "headings": list(_headings(document)),
        "parts": [{"start": start, "end": end} for start, end in parts(document)],
    }


@router.get("/text", responses=READING)
async def text(library: TheLibrary, index: Index, file: File, part: Annotated[int, Query(ge=0)]) -> dict[str, Any]:
    """One part of a book: the text as it is stored, what each run of it is, and where pages and slides begin.

    All offsets are characters (Unicode code points) of the document's text, as in citations.
    """
    document = await library.document(file, index)
    there = parts(document)
    if part >= len(there):
        raise AstRagValidationError(f"part: the book has {len(there)} parts, counted from 0; there is no {part}.")
    start, end = there[part]
    return {
        "start": start,
        "end": end,
        "text": document.text[start:end],
        "blocks": [_block(block) for block in document.blocks if start <= block.start < end],
        "marks": [mark for mark in _marks(document) if start <= mark["start"] < end],
    }


def parts(document: Document) -> list[tuple[int, int]]:
    """Where to cut a text so that it can be loaded piece by piece: between blocks, with the chapters if possible."""
    starts = [0]
    chapter: tuple[str, ...] = ()
    for block in document.blocks:
        length = block.start - starts[-1]
        if length >= _PART or (length >= _CHAPTER and block.headings[:1] != chapter):
            starts.append(block.start)
        chapter = block.headings[:1]
    return list(zip(starts, [*starts[1:], len(document.text)], strict=True))


def _headings(document: Document) -> Iterator[dict[str, Any]]:
    """Every place of the outline where it begins, also those that the text itself does not print."""
    before: tuple[str, ...] = ()
    for block in document.blocks:
        path = block.headings
        shared = next((depth for depth, (a, b) in enumerate(zip(path, before, strict=False)) if a != b), None)
        for depth in range(min(len(path), len(before)) if shared is None else shared, len(path)):
            page = document.page_at(block.start)
            yield {"start": block.start, "title": path[depth], "level": depth + 1, "page": page and _label(page)}
        before = path


def _book(source: SourceRecord) -> dict[str, Any]:
    return {
        "file_id": source.file_id,
        "title": source.title,
        "file_name": source.file_name,
        "mime_type": source.mime_type,
        "pages": source.page_count,
        "source_url": source.source_url,
    }


def _block(block: Block) -> dict[str, Any]:
    return {"start": block.start, "end": block.end, "kind": block.kind, "level": len(block.headings)}


def _marks(document: Document) -> Iterator[dict[str, Any]]:
    """Where pages begin, and slides."""
    for mark in document.pages:
        if label := _label(mark.page):
            yield {"start": mark.start, "kind": "page", "label": label}
    slide: int | None = None
    for block in document.blocks:
        if block.slide is not None and block.slide != slide:
            yield {"start": block.start, "kind": "slide", "label": str(block.slide)}
        slide = block.slide


def _label(page: Page) -> str | None:
    """What is printed on a page, or else its number in the file."""
    return page.label or (str(page.number) if page.number is not None else None)
