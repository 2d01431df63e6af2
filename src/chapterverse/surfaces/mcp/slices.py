"""Slices: the part of a book's text that is meant by a chapter, a page or an offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chapterverse.answer.scope import QueryScope, resolve_scope
from chapterverse.errors import AstRagValidationError
from chapterverse.types import Block, Document, Filter

_NAMED = 40
"""How many names a complaint lists at the most."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Some characters of a document, and where to go on reading if what was meant is longer."""

    start: int
    end: int
    next_start: int | None = None


def read_so_far(document: Document, page: int) -> Document:
    """A book as far as it was read: its pages up to this one of the file, and not so much as a heading of the rest."""
    end = document.end_of_page(page)
    if not end:
        raise AstRagValidationError(
            f"read_until: nothing of {document.title} is known to stand on its pages up to {page}."
        )
    return replace(
        document,
        text=document.text[:end],
        blocks=tuple(replace(block, end=min(block.end, end)) for block in document.blocks if block.start < end),
        pages=tuple(mark for mark in document.pages if mark.start < end),
    )


def chapter_slice(document: Document, name: str) -> Slice:
    """A chapter, section or slide, named in full, by its beginning or by its number ("Chapter 3", "slide 7")."""
    outline = list(dict.fromkeys(block.headings for block in document.blocks))
    where = resolve_scope(QueryScope("section-specific", name, name), outline)
    assert where is not None
    first = next((at for at, block in enumerate(document.blocks) if _within(block, where)), None)
    if first is None:
        chapters = list(dict.fromkeys(path[0] for path in outline if path))
        there = f"It has: {_listed(chapters)}." if chapters else "It has no chapters: read it by start instead."
        raise AstRagValidationError(f"chapter: there is no {name!r} in {document.title}. {there}")
    last = first
    while last + 1 < len(document.blocks) and _within(document.blocks[last + 1], where):
        last += 1
    return Slice(document.blocks[first].start, document.blocks[last].end)


def page_slice(document: Document, name: str) -> Slice:
    """A page, by the label that is printed on it, or by its number in the file where none is."""
    names = [mark.page.name for mark in document.pages]
    if name.strip() not in names:
        known = [one for one in names if one]
        there = f"It has pages {known[0]} to {known[-1]}." if known else "Its pages are unknown: read it by chapter."
        raise AstRagValidationError(f"page: there is no page {name!r} in {document.title}. {there}")
    at = names.index(name.strip())
    end = document.pages[at + 1].start if at + 1 < len(document.pages) else len(document.text)
    return Slice(document.pages[at].start, end)


def slice_from(document: Document, start: int) -> Slice:
    """The rest of a book from an offset."""
    if not 0 <= start < len(document.text):
        raise AstRagValidationError(
            f"start: is {start}, but {document.title} has characters 0 to {len(document.text) - 1}."
        )
    return Slice(start, len(document.text))


def limited(document: Document, whole: Slice, length: int) -> Slice:
    """As much of a slice as `length` allows, cut between words."""
    if whole.end - whole.start <= length:
        return whole
    end = whole.start + length
    gaps = (at for at in range(end, whole.start + length // 2, -1) if document.text[at].isspace())
    end = next(gaps, end)
    return Slice(whole.start, end, next_start=end)


def _within(block: Block, where: Filter) -> bool:
    if where.slides is not None:
        return block.slide in where.slides
    if where.chapters is not None:
        return bool(block.headings) and block.headings[0] in where.chapters
    return any(heading in (where.sections or ()) for heading in block.headings)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
