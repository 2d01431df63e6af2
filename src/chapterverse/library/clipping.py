"""Clipping: a chunk may hold the end of one section and all of the next; only what was asked for is answered from."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from chapterverse.index.points import fold
from chapterverse.ingest.chunk import place_of
from chapterverse.types import Block, Chunk, Document, Filter


def narrows(where: Filter | None) -> bool:
    """Whether a filter names places that a chunk may lie in by a part of it only."""
    return where is not None and any(
        condition is not None for condition in (where.sections, where.pages, where.page_labels, where.slides)
    )


def clipped(chunk: Chunk, document: Document, where: Filter) -> Chunk:
    """The longest part of a chunk, in whole blocks, that lies within a filter's sections, pages and slides."""
    first, last = document.block_index(chunk.start), document.block_index(chunk.end - 1)
    blocks = document.blocks[first : last + 1]
    runs = [list(run) for inside, run in groupby(blocks, lambda block: _lies_in(block, document, where)) if inside]
    kept = max(runs, key=lambda run: run[-1].end - run[0].start, default=[])
    if not kept or len(kept) == len(blocks):
        return chunk
    start, end = max(chunk.start, kept[0].start), min(chunk.end, kept[-1].end)
    place, sections = place_of(document, start, end)
    return replace(chunk, start=start, end=end, text=document.text[start:end], place=place, sections=sections)


def _lies_in(block: Block, document: Document, where: Filter) -> bool:
    pages = [page for page in (document.page_at(block.start), document.page_at(block.end - 1)) if page]
    numbers = [page.number for page in pages if page.number is not None]
    return (
        (where.sections is None or bool({*map(fold, where.sections)} & {*map(fold, block.headings)}))
        and (where.slides is None or block.slide in where.slides)
        and (where.page_labels is None or bool({page.name for page in pages} & {*where.page_labels}))
        and (where.pages is None or bool(numbers and numbers[0] <= where.pages[1] and numbers[-1] >= where.pages[0]))
    )
