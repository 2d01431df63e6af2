"""Building an index: files that have been read and cut go in, a new index comes out, or nothing at all."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

import numpy as np

from chapterverse.errors import AstRagIndexError, AstRagValidationError
from chapterverse.index import lexical
from chapterverse.protocols import Store, Vectors, Writer
from chapterverse.types import Chunk, Document, Entry, IndexRecord, Notice, Point, SourceRecord

Embed = Callable[[Sequence[str]], Awaitable[Vectors]]
"""Turns texts into vectors, one row each."""

Progress = Callable[[int], None]
"""Told how many chunks have been stored so far."""

_PART = "part of "
_BATCH = 256  # chunks that are embedded and stored at a time
_NEAR = 1.25
"""How many times the true mean length of chunks may be the one that their weights were made with, or the reverse."""
_REASONS = 3  # files that are named where none could be indexed


@dataclass(frozen=True, slots=True)
class CutFile:
    """A file that has been read and cut: its chunks, and for each the text that stands for it in the vector space."""

    source_id: str
    document: Document
    chunks: Sequence[Chunk]
    embed_texts: Sequence[str]
    is_whole: bool = True
    """Whether these are all of its chunks."""

    @property
    def source(self) -> SourceRecord:
        document = self.document
        return SourceRecord(
            source_id=self.source_id,
            file_id=document.file_id,
            file_name=document.file_name,
            mime_type=document.mime_type,
            # A part must not pass for the file: whoever syncs without the limit that cut it off reads it again.
            fingerprint=document.sha256 if self.is_whole else f"{_PART}{document.sha256}",
            chunk_count=len(self.chunks),
            title=document.title,
            modified_time=document.modified_time,
            source_url=document.source_url,
            page_count=document.page_count,
            outline=tuple(dict.fromkeys(block.headings for block in document.blocks if block.kind == "heading")),
        )

    async def word_count(self) -> int:
        """How many words its chunks have together."""
        return await asyncio.to_thread(lexical.word_count, [chunk.text for chunk in self.chunks])

    def entries(self) -> Iterator[tuple[Entry, str]]:
        """What the index will hold, each with the text to embed."""
        document = self.document
        for ordinal, (chunk, text) in enumerate(zip(self.chunks, self.embed_texts, strict=True)):
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
            yield entry, text


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build has made."""

    record: IndexRecord
    chunk_count: int
    source_count: int
    warnings: tuple[Notice, ...]
    note: str | None = None
    """That the index has another name than it would have, and why."""


async def build_index(
    store: Store,
    record: IndexRecord,
    files: AsyncIterator[CutFile],
    embed: Embed,
    *,
    replace_old: bool = True,
    max_chunks: int | None = None,
    progress: Progress | None = None,
    left_out: Sequence[Notice] = (),
) -> BuildResult:
    """Build an index from nothing; one with the same id is replaced when the new one is complete, and not before.

    Without `replace_old`, an index of that id is an error. `left_out`, which may grow meanwhile, is why files are not
    among `files`.
    """
    chunk_count = source_count = 0
    warnings: list[Notice] = []
    reading = asyncio.create_task(_next(files))  # the first file is read while the store makes room
    try:
        async with (
            await store.create(record, replace=replace_old) as writer,
            PointWriter(writer, embed, progress=progress) as points,
        ):
            file = await reading
            while file is not None:
                chunk_count += len(file.chunks)
                source_count += 1
                check_chunk_count(chunk_count, max_chunks)
                warnings += file.document.notices
                for entry, text in file.entries():
                    await points.add(entry, text)
                await writer.put_document(file.document, file.source)
                file = await _next(files)
            await points.finish()
            if not chunk_count:
                raise _nothing(left_out)
            mean = lexical.mean_length(points.words, chunk_count)
            average_length = await weighed(writer, points.average_length, mean)
            final = replace(record, updated_at=timestamp(), average_length=average_length, words=points.words)
            await writer.commit(final)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    return BuildResult(final, chunk_count, source_count, tuple(warnings))


async def _next(files: AsyncIterator[CutFile]) -> CutFile | None:
    return await anext(files, None)


def _nothing(left_out: Sequence[Notice]) -> AstRagIndexError:
    """That there is nothing to index, and why, as far as a line can say it."""
    reasons = [f"{notice.file_name}: {notice.reason}" for notice in left_out[:_REASONS]]
    if more := len(left_out) - len(reasons):
        reasons.append(f"{more:,} more were left out.")
    message = " ".join(["There is nothing to index: no file with text was found.", *reasons])
    return AstRagIndexError(message, details={"reason": "empty"})


class PointWriter:
    """Gives entries their vectors and stores them: one batch is stored and the next embedded while others are added.

    Use it as an async context manager: what is under way when it is left is stopped.
    """

    def __init__(
        self,
        writer: Writer,
        embed: Embed,
        *,
        average_length: float | None = None,
        known: Mapping[str, Vectors] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """`known`: vectors that need not be made again, by the hash of their text."""
        self._writer = writer
        self._embed = embed
        self._average_length = average_length
        self._known = {} if known is None else known
        self._progress = progress
        self._waiting: list[tuple[Entry, str]] = []
        self._embedding: asyncio.Task[list[tuple[Entry, list[float]]]] | None = None
        self._storing: asyncio.Task[None] | None = None
        self._stored = 0
        self.words = 0
        """Of all that has been stored."""

    @property
    def average_length(self) -> float:
        """Words per chunk that the weights are relative to; unless it was given, that of the first batch."""
        return self._average_length or 1.0

    async def add(self, entry: Entry, text: str) -> None:
        self._waiting.append((entry, text))
        if len(self._waiting) >= _BATCH:
            await self._advance()

    async def finish(self) -> None:
        """Store what is still waiting."""
        await self._advance()
        await self._advance()
        if self._storing is not None:
            await self._storing

    async def _advance(self) -> None:
        """Begin to embed what waits, and to store what has been embedded."""
        embedded = await self._embedding if self._embedding is not None else []
        batch, self._waiting = self._waiting, []
        self._embedding = asyncio.create_task(self._vectors(batch))
        if self._storing is not None:
            await self._storing
        self._storing = asyncio.create_task(self._store(embedded))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        under_way = [task for task in (self._embedding, self._storing) if task is not None]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _vectors(self, batch: Sequence[tuple[Entry, str]]) -> list[tuple[Entry, list[float]]]:
        missing = {entry.embedded: text for entry, text in batch if entry.embedded not in self._known}
        made = dict(zip(missing, await self._embed(list(missing.values())), strict=True)) if missing else {}
        found = ((entry, made.get(entry.embedded, self._known.get(entry.embedded))) for entry, _ in batch)
        return [(entry, np.asarray(vector, dtype=np.float32).tolist()) for entry, vector in found]

    async def _store(self, batch: Sequence[tuple[Entry, list[float]]]) -> None:
        points = await asyncio.to_thread(self._points, batch)
        await self._writer.put(points)
        self._stored += len(points)
        if self._progress and points:
            self._progress(self._stored)

    def _points(self, batch: Sequence[tuple[Entry, list[float]]]) -> list[Point]:
        counts = [lexical.counted(entry.chunk.text) for entry, _ in batch]
        words = sum(one.total() for one in counts)
        self.words += words
        if self._average_length is None and batch:
            self._average_length = lexical.mean_length(words, len(batch))
        return [
            Point(entry, vector, lexical.weights(one, self.average_length))
            for (entry, vector), one in zip(batch, counts, strict=True)
        ]


async def weighed(writer: Writer, used: float, mean: float) -> float:
    """The mean length that all weights of a generation are relative to: the one `used`, if the true one is near it.

    Otherwise the weights are made anew, from the texts that are stored: or the first book of an index, if its chunks
    are short, would for ever make those of all others look long.
    """
    if max(used, mean) <= _NEAR * min(used, mean):
        return used
    done: set[str] = set()
    batch: list[Point] = []
    async for point in writer.points():
        if point.entry.chunk.id not in done:
            done.add(point.entry.chunk.id)
            batch.append(point)
        if len(batch) == _BATCH:
            await writer.put(await asyncio.to_thread(_weighed, batch, mean))
            batch = []
    await writer.put(await asyncio.to_thread(_weighed, batch, mean))
    return mean


def _weighed(points: Sequence[Point], mean: float) -> list[Point]:
    return [replace(point, terms=lexical.document_vector(point.entry.chunk.text, mean)) for point in points]


def check_chunk_count(chunks: int, limit: int | None) -> None:
    if limit is not None and chunks > limit:
        raise AstRagValidationError(
            f"There are more than {limit} chunks (maxChunks). Raise the limit, or leave files out: nothing was stored.",
            details={"limit": limit},
        )


def timestamp() -> str:
    """Now, as records write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
