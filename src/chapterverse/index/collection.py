"""Generations of an index in one collection: the reader and the writer that both stores share.

A writer adds points of generation g+1 and marks what they replace as having died in it; readers of g notice neither.
Publishing g+1 is one atomic step of the store's own. What died by then is deleted afterwards, when nobody reads it any
more; what a writer that failed left behind is undone before the next one starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Protocol, Self

from chapterverse.errors import AstRagEmbeddingCapabilityError, AstRagIndexError
from chapterverse.index.finishing import finished
from chapterverse.index.points import (
    Payload,
    RawPoint,
    Where,
    all_of,
    both,
    chunk_point,
    document_of,
    document_points,
    entry_of,
    is_one_of,
    is_within,
    tagged,
    visible_in,
    where_of,
)
from chapterverse.types import (
    Document,
    Entry,
    Filter,
    Hit,
    IndexRecord,
    IndexStats,
    Point,
    SourceRecord,
    SparseVector,
    source_from_dict,
)

_PAGE = 256  # points per scroll


class Collection(Protocol):
    """A Qdrant collection, in the process or on a server. Reads see the generation that they name."""

    async def upsert(self, points: Sequence[RawPoint]) -> None: ...

    async def set_payload(self, where: Where, payload: dict[str, int]) -> None: ...

    async def query(
        self, generation: int, vector: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        """The nearest points, best first, without what they hold: handing that over costs more than finding them."""
        ...

    async def payloads(self, points: Sequence[str]) -> dict[str, Payload]:
        """What these points hold, whatever their generation, in no particular order; one that is gone is left out."""
        ...

    async def scroll(
        self, generation: int, where: Where, limit: int, offset: str | None, fields: Sequence[str], with_vectors: bool
    ) -> tuple[list[RawPoint], str | None]:
        """Some points, and where to go on, if there is more; with these fields, or all of them if none is named."""
        ...

    async def count(self, generation: int, where: Where) -> int: ...

    async def size_bytes(self) -> int | None: ...


class GenerationReader:
    """An `IndexReader` of one generation of a collection."""

    def __init__(
        self, collection: Collection, record: IndexRecord, generation: int, release: Callable[[], Awaitable[None]]
    ) -> None:
        self.record = record
        self.collection = collection
        self.generation = generation
        self._release = release
        self._open = True

    async def search_dense(self, vector: Sequence[float], where: Filter | None, limit: int) -> list[Hit]:
        _check_dimensions(vector, self.record)
        return await self._search(vector, where, limit)

    async def search_lexical(self, terms: SparseVector, where: Filter | None, limit: int) -> list[Hit]:
        return await self._search(terms, where, limit) if terms.indices else []

    async def _search(self, vector: Sequence[float] | SparseVector, where: Filter | None, limit: int) -> list[Hit]:
        return await self.collection.query(self.generation, vector, where_of(where), limit)

    async def score_dense(self, vector: Sequence[float], points: Sequence[str]) -> dict[str, float]:
        _check_dimensions(vector, self.record)
        return await self._score(vector, points)

    async def score_lexical(self, terms: SparseVector, points: Sequence[str]) -> dict[str, float]:
        return await self._score(terms, points) if terms.indices else {}

    async def _score(self, vector: Sequence[float] | SparseVector, points: Sequence[str]) -> dict[str, float]:
        if not points:
            return {}
        found = await self.collection.query(self.generation, vector, all_of(is_one_of(points)), len(points))
        return {hit.point: hit.score for hit in found}

    async def entries(self, points: Sequence[str]) -> dict[str, Entry]:
        """Nobody asks which generation they are of: a search of this one found them, and no later one uses their ids.

        On a server, one that has died since may be gone already.
        """
        found: dict[str, Payload] = {}
        for start in range(0, len(points), _PAGE):
            found |= await self.collection.payloads(points[start : start + _PAGE])
        return {point: entry_of(found[point]) for point in points if point in found}

    async def count(self, where: Filter | None = None) -> int:
        return await self.collection.count(self.generation, both(all_of(tagged("kind", "chunk")), where_of(where)))

    async def fetch(self, chunk_ids: Sequence[str]) -> list[Entry]:
        found = {
            point.payload["chunk_id"]: entry_of(point.payload)
            for start in range(0, len(chunk_ids), _PAGE)
            async for point in self._scroll(all_of(tagged("chunk", *chunk_ids[start : start + _PAGE])))
        }
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    async def window(self, file_id: str, first: int, last: int) -> list[Entry]:
        where = all_of(tagged("kind", "chunk"), tagged("file", file_id), is_within("ordinal", gte=first, lte=last))
        entries = [entry_of(point.payload) async for point in self._scroll(where)]
        return sorted(entries, key=lambda entry: entry.ordinal)

    def points(self, where: Filter | None = None) -> AsyncIterator[Point]:
        return _chunks_of(self.collection, self.generation, where_of(where))

    async def document(self, file_id: str) -> Document:
        where = all_of(tagged("kind", "document", "part"), tagged("file", file_id))
        payloads = [point.payload async for point in self._scroll(where)]
        if not payloads:
            message = f"The index '{self.record.id}' holds no file '{file_id}'."
            raise AstRagIndexError(message, details={"reason": "unknown", "file_id": file_id})
        try:
            return await asyncio.to_thread(document_of, payloads)
        except ValueError as error:
            message = f"The file '{file_id}' in the index '{self.record.id}' is damaged: build the index again."
            raise AstRagIndexError(message, cause=error) from error

    async def sources(self) -> list[SourceRecord]:
        scroll = self._scroll(all_of(tagged("kind", "document")), fields=["source"])
        found = [source_from_dict(point.payload["source"]) async for point in scroll]
        return sorted(found, key=lambda source: source.file_id)

    async def stats(self) -> IndexStats:
        return IndexStats(
            chunks=await self.count(),
            sources=await self.collection.count(self.generation, all_of(tagged("kind", "document"))),
            size_bytes=await self.collection.size_bytes(),
        )

    def _scroll(self, where: Where, *, fields: Sequence[str] = ()) -> AsyncIterator[RawPoint]:
        return _scrolled(self.collection, self.generation, where, fields=fields)

    async def close(self) -> None:
        if self._open:
            self._open = False
            await self._release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class GenerationWriter:
    """A `Writer` of the generation after `base`; a base of 0 is a collection with nothing in it yet."""

    def __init__(
        self,
        collection: Collection,
        record: IndexRecord,
        base: int,
        *,
        publish: Callable[[IndexRecord], Awaitable[None]],
        discard: Callable[[], Awaitable[None]],
    ) -> None:
        self.collection = collection
        self.record = record
        self.base = base
        self._publish = publish
        self._discard = discard
        self._open = True

    async def put(self, points: Sequence[Point]) -> None:
        for point in points:
            _check_dimensions(point.dense, self.record)
        await self.remove(chunk_ids=[point.entry.chunk.id for point in points])
        await self.collection.upsert([chunk_point(point, self.base + 1) for point in points])

    async def put_document(self, document: Document, source: SourceRecord) -> None:
        await self._bury(all_of(tagged("kind", "document", "part"), tagged("file", document.file_id)))
        for part in await asyncio.to_thread(document_points, document, source, self.base + 1):
            await self.collection.upsert([part])

    async def remove(self, *, file_ids: Sequence[str] = (), chunk_ids: Sequence[str] = ()) -> None:
        for name, values in (("file", file_ids), ("chunk", chunk_ids)):
            for start in range(0, len(values), _PAGE):
                await self._bury(all_of(tagged(name, *values[start : start + _PAGE])))

    async def _bury(self, where: Where) -> None:
        if self.base:
            await self.collection.set_payload(both(where, visible_in(self.base)), {"died": self.base + 1})

    def points(self) -> AsyncIterator[Point]:
        return _chunks_of(self.collection, self.base + 1, {})

    async def commit(self, record: IndexRecord) -> None:
        if not self._open:
            raise AstRagIndexError(f"The writer of the index '{self.record.id}' is closed.")
        await finished(self._publish(record))
        self._open = False

    async def abort(self) -> None:
        if self._open:
            self._open = False
            await self._discard()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.abort()


async def _chunks_of(collection: Collection, generation: int, where: Where) -> AsyncIterator[Point]:
    """The chunks of a generation that a filter lets through, with their vectors."""
    chunks = both(all_of(tagged("kind", "chunk")), where)
    async for point in _scrolled(collection, generation, chunks, with_vectors=True):
        yield Point(entry_of(point.payload), point.dense or (), point.terms or SparseVector((), ()))


async def _scrolled(
    collection: Collection, generation: int, where: Where, *, fields: Sequence[str] = (), with_vectors: bool = False
) -> AsyncIterator[RawPoint]:
    offset: str | None = None
    while True:
        found, offset = await collection.scroll(generation, where, _PAGE, offset, fields, with_vectors)
        for point in found:
            yield point
        if offset is None:
            return


def _check_dimensions(vector: Sequence[float], record: IndexRecord) -> None:
    made_with = record.embedding
    if len(vector) != made_with.dimensions:
        raise AstRagEmbeddingCapabilityError(
            f"The index '{record.id}' was built with {made_with.provider}:{made_with.model} "
            f"({made_with.dimensions} dimensions), but this vector has {len(vector)}. "
            "Use that model, or build the index again with the new one.",
            details={"expected": made_with.dimensions, "got": len(vector)},
        )
