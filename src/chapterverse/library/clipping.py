"""Clipping: a chunk may hold the end of one section and all of the next; only what was asked for is answered from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import groupby

from chapterverse.answer.retrieve import Found
from chapterverse.index.points import fold
from chapterverse.ingest.chunk import place_of
from chapterverse.types import Block, Chunk, Document, Entry, Filter

Lookup = Callable[[Entry], Awaitable[Document]]
"""The document that an entry is from."""


async def found_within(found: Sequence[Found], where: Filter | None, document: Lookup) -> list[Found]:
    """Candidates, each as the parts of it that lie within a filter."""
    return [replace(one, entry=part) for one in found for part in await parts_within(one.entry, where, document)]


async def parts_within(entry: Entry, where: Filter | None, document: Lookup) -> list[Entry]:
    """The parts of an entry that lie within a filter; all have its id, for they are of one chunk of the index."""
    if where is None or not _narrows(where):
        return [entry]
    return [replace(entry, chunk=part) for part in clipped(entry.chunk, await document(entry), where)]


def clipped(chunk: Chunk, document: Document, where: Filter) -> list[Chunk]:
    """The parts of a chunk, in whole blocks, that lie within a filter's sections, pages and slides.

    Who has not read on sees none of what follows on the next page, not even the rest of a sentence.
    """
    end = chunk.end if where.read_until is None else min(chunk.end, document.end_of_page(where.read_until))
    first, last = document.block_index(chunk.start), document.block_index(chunk.end - 1)
    runs = groupby(document.blocks[first : last + 1], lambda block: _lies_in(block, document, where))
    kept = [list(run) for inside, run in runs if inside]
    spans = [(max(chunk.start, run[0].start), min(end, run[-1].end)) for run in kept]
    return [_part(chunk, document, *span) for span in spans if document.text[slice(*span)].strip()]


def _narrows(where: Filter) -> bool:
    """Whether a filter names places that a chunk may lie in by a part of it only."""
    places = (where.sections, where.pages, where.page_labels, where.slides, where.read_until)
    return any(condition is not None for condition in places)


def _part(chunk: Chunk, document: Document, start: int, end: int) -> Chunk:
    text = document.text[start:end].rstrip()
    place, sections = place_of(document, start, start + len(text))
    return replace(chunk, start=start, end=start + len(text), text=text, place=place, sections=sections)


def _lies_in(block: Block, document: Document, where: Filter) -> bool:
    pages = document.pages_between(block.start, block.end)
    numbers = [page.number for page in pages if page.number is not None]
    return (
        (where.sections is None or bool({*map(fold, where.sections)} & {*map(fold, block.headings)}))
        and (where.slides is None or block.slide in where.slides)
        and (where.page_labels is None or bool({page.name for page in pages} & {*where.page_labels}))
        and (where.pages is None or bool(numbers and numbers[0] <= where.pages[1] and numbers[-1] >= where.pages[0]))
    )
