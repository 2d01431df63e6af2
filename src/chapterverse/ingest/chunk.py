"""Cuts a document into chunks: whole sentences, never across a chapter or slide, every character in at least one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from chapterverse.ingest.sentences import Span, block_sentences
from chapterverse.types import Block, Chunk, Chunking, Document, Place


class _Atom(NamedTuple):
    """The smallest piece that is not cut: a sentence, or a part of one that is too long."""

    start: int
    end: int
    opens_section: bool


def chunk(document: Document, chunking: Chunking = Chunking()) -> list[Chunk]:
    """The document's chunks in reading order."""
    spans = [span for run in _runs(document, chunking.size) for span in _pack(run, chunking)]
    seen: Counter[str] = Counter()
    return [_chunk(document, span, seen) for span in spans]


def _runs(document: Document, size: int) -> Iterator[list[_Atom]]:
    """Atoms in groups that no chunk may cross: a chapter, or a slide."""
    run: list[_Atom] = []
    before: Block | None = None
    for block in document.blocks:
        if run and before is not None and _parts(before, block):
            yield run
            run = []
        opens = block.kind == "heading"
        # A row means little without the head of its table: a table that fits into a chunk stays whole.
        whole = block.kind == "table" and block.end - block.start <= size
        for sentence in [Span(block.start, block.end)] if whole else block_sentences(document.text, block):
            for start, end in _cut(document.text, sentence, size):
                run.append(_Atom(start, end, opens))
                opens = False
        before = block
    if run:
        yield run


def _parts(before: Block, block: Block) -> bool:
    """Whether a chapter or slide ends between two neighbouring blocks."""
    return (
        before.headings[:1] != block.headings[:1]
        or before.slide != block.slide
        or (block.kind == "heading" and len(block.headings) == 1)
    )


def _cut(text: str, sentence: Span, size: int) -> Iterator[Span]:
    """A sentence longer than a chunk is cut at a word, or in the middle of one that is itself too long."""
    start, end = sentence
    while end - start > size:
        stop = max(text.rfind(" ", start + 1, start + size + 1), text.rfind("\n", start + 1, start + size + 1))
        stop = stop if stop > start else start + size
        yield Span(start, stop)
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield Span(start, end)


def _pack(atoms: list[_Atom], chunking: Chunking) -> list[Span]:
    """Fill chunks sentence by sentence; a new section starts a new chunk unless the current one is still short."""
    spans: list[Span] = []
    first = 0
    for i, atom in enumerate(atoms):
        if i == first:
            continue
        length = atoms[i - 1].end - atoms[first].start
        section_ends = atom.opens_section and length >= chunking.minimum
        if section_ends or atom.end - atoms[first].start > chunking.size:
            spans.append(Span(atoms[first].start, atoms[i - 1].end))
            first = i if section_ends else _overlap(atoms, first, i, chunking)
    return _finish(spans, atoms, first, chunking)


def _overlap(atoms: list[_Atom], first: int, upto: int, chunking: Chunking) -> int:
    """The atom at which the chunk after a full one starts, so that it repeats the last sentences of that one."""
    start = upto
    while (
        start - 1 > first
        and not atoms[start].opens_section
        and atoms[upto - 1].end - atoms[start - 1].start <= chunking.overlap
        and atoms[upto].end - atoms[start - 1].start <= chunking.size
    ):
        start -= 1
    return start


def _finish(spans: list[Span], atoms: list[_Atom], first: int, chunking: Chunking) -> list[Span]:
    """Close the last chunk: a short one joins the one before it, or reaches back for context, or stays as it is."""
    end = atoms[-1].end
    if not spans or end - atoms[first].start >= chunking.minimum:
        return [*spans, Span(atoms[first].start, end)]
    if end - spans[-1].start <= chunking.size:
        return [*spans[:-1], Span(spans[-1].start, end)]
    while not atoms[first].opens_section and end - atoms[first].start < chunking.minimum:
        if first == 0 or end - atoms[first - 1].start > chunking.size:
            break
        first -= 1
    return [*spans, Span(atoms[first].start, end)]


def _chunk(document: Document, span: Span, seen: Counter[str]) -> Chunk:
    text = document.text[span.start : span.end]
    nth = seen[text]
    seen[text] += 1
    place, sections = place_of(document, span.start, span.end)
    return Chunk(
        id=chunk_id(document.file_id, text, nth),
        file_id=document.file_id,
        start=span.start,
        end=span.end,
        text=text,
        place=place,
        sections=sections,
    )


def place_of(document: Document, start: int, end: int) -> tuple[Place, tuple[str, ...]]:
    """Chapter and verse of a chunk, and every heading in force somewhere in it."""
    blocks = document.blocks[document.block_index(start) : document.block_index(end - 1) + 1]
    # A chunk often opens with the headings of its chapter and section: its place is that of the text below them.
    body = next((block for block in blocks if block.kind != "heading"), blocks[0])
    place = replace(document.place(start, end), headings=body.headings)
    return place, tuple(dict.fromkeys(heading for block in blocks for heading in block.headings))


def chunk_id(file_id: str, text: str, nth: int) -> str:
    """Stable across runs and machines, and under edits elsewhere in the file: `nth` counts equal chunks before it."""
    key = "\0".join((file_id, text, str(nth))).encode("utf-8", "surrogatepass")
    return hashlib.sha256(key).hexdigest()[:32]
