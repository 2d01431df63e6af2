"""Small books for the tests of the index, cut into one chunk per paragraph, with vectors that need no model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from chapterverse.index import lexical
from chapterverse.protocols import IndexReader, Store
from chapterverse.types import (
    Block,
    Chunk,
    Document,
    EmbeddingModel,
    Entry,
    Hit,
    IndexRecord,
    Page,
    PageStart,
    Point,
    SourceRecord,
)

DIMENSIONS = 16
AVERAGE_LENGTH = 8.0


def vector(text: str) -> list[float]:
    """A unit vector that depends on the text alone."""
    drawn = np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSIONS)
    return [float(x) for x in drawn / np.linalg.norm(drawn)]


def book(
    file_id: str,
    *paragraphs: str,
    mime_type: str = "text/markdown",
    chapters: tuple[str, ...] = ("One",),
    paged: bool = True,
    slides: bool = False,
    source_url: str | None = None,
) -> Document:
    """One paragraph per page (labelled i, ii, …) and, in turn, one chapter from the list with a section of its own."""
    blocks, pages, text = [], [], ""
    for number, paragraph in enumerate(paragraphs):
        start = len(text)
        text += paragraph + "\n\n"
        chapter = chapters[number * len(chapters) // len(paragraphs)]
        blocks.append(
            Block(
                start,
                start + len(paragraph),
                "paragraph",
                (chapter, f"{chapter}.{number}"),
                slide=number + 1 if slides else None,
            )
        )
        pages.append(PageStart(start, Page(number + 1, "i" * (number + 1))))
    return Document(
        file_id=file_id,
        file_name=file_id.rpartition("/")[2],
        mime_type=mime_type,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        title=f"The book of {file_id}",
        text=text,
        blocks=tuple(blocks),
        pages=tuple(pages) if paged else (),
        source_url=source_url,
    )


def points(document: Document) -> list[Point]:
    made = []
    for ordinal, block in enumerate(document.blocks):
        text = document.text[block.start : block.end]
        chunk = Chunk(
            id=f"{document.file_id}#{crc32(text.encode()):08x}",
            file_id=document.file_id,
            start=block.start,
            end=block.end,
            text=text,
            place=document.place(block.start, block.end),
            sections=block.headings,
        )
        entry = Entry(
            chunk=chunk,
            ordinal=ordinal,
            file_name=document.file_name,
            title=document.title,
            mime_type=document.mime_type,
            sha256=document.sha256,
            embedded=hashlib.sha256(text.encode()).hexdigest(),
            source_url=document.source_url,
        )
        made.append(Point(entry, vector(text), lexical.document_vector(text, AVERAGE_LENGTH)))
    return made


def source(document: Document) -> SourceRecord:
    return SourceRecord(
        source_id="shelf",
        file_id=document.file_id,
        file_name=document.file_name,
        mime_type=document.mime_type,
        fingerprint=document.sha256,
        chunk_count=len(document.blocks),
        title=document.title,
        source_url=document.source_url,
    )


def record(index: str = "shelf", **changes: object) -> IndexRecord:
    fields: dict[str, object] = {
        "id": index,
        "name": "My shelf",
        "embedding": EmbeddingModel("fake", "toy", DIMENSIONS),
        "created_at": "2026-01-01T00:00:00+00:00",
        "updated_at": "2026-01-01T00:00:00+00:00",
        "chunking": {"size": 100},
        "retrieval_defaults": {"topK": 7},
        "source_config": {"folderId": "books"},
        "profile": {"words": ["sea"]},
        "average_length": AVERAGE_LENGTH,
    }
    return IndexRecord(**{**fields, **changes})  # type: ignore[arg-type]


async def build(store: Store, *documents: Document, index: str = "shelf") -> None:
    async with await store.create(record(index)) as writer:
        for document in documents:
            await writer.put(points(document))
            await writer.put_document(document, source(document))
        await writer.commit(record(index))


async def texts(store: Store, index: str = "shelf") -> set[str]:
    """Every chunk's text, and a check that searching finds just the same chunks."""
    async with await store.reader(index) as reader:
        listed = {point.entry.chunk.text async for point in reader.points()}
        found = {
            entry.chunk.text for entry, _ in await held(reader, await reader.search_dense(vector("x"), None, 1000))
        }
    assert found == listed
    return listed


async def held(reader: IndexReader, hits: Sequence[Hit]) -> list[tuple[Entry, float]]:
    """What a search found, in its order: the entries with their scores."""
    entries = await reader.entries([hit.point for hit in hits])
    return [(entries[hit.point], hit.score) for hit in hits]
