"""One embedded collection: a Qdrant Edge shard in a folder, behind the same calls as a collection on a server."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import qdrant_edge as qdrant

from chapterverse.errors import AstRagIndexError, RetrievalError, StoreUnreachableError
from chapterverse.index.points import (
    DENSE,
    PAYLOAD_INDEXES,
    TERMS,
    Condition,
    Payload,
    RawPoint,
    Where,
    all_of,
    born_after,
    both,
    dead_in,
    dies_after,
    tagged,
    visible_in,
)
from chapterverse.types import Hit, SparseVector

P = ParamSpec("P")
T = TypeVar("T")

# The engine holds the interpreter's lock while it works: small batches keep an event loop beside it responsive.
_BATCH = 64

# Every vector is compared: building a graph would stop the process for minutes.
_NEVER_KB = 10**9

# All are compared by codes of 4 bits a dimension, then four times as many as are asked for by their whole vectors: a
# quarter of the time, and as many of the nearest are found. Indexes that were made before have no codes.
_RESCORED = qdrant.SearchParams(quantization=qdrant.QuantizationSearchParams(rescore=True, oversampling=4))

# The engine writes into mapped files that it allots 32 MB at a time; where the disk cannot back one, the system kills
# the process. So there must be room for all that a step may take, with some left to undo a writer that was refused.
_MB = 1_000_000
_ROOM_TO_CREATE = 128 * _MB
_ROOM_TO_WRITE = 64 * _MB
_ROOM_TO_TIDY = 16 * _MB

# What the system may refuse to whoever opens an index with which nothing is wrong: rights, room, more open files.
_REFUSALS = {
    getattr(errno, name, None)
    for name in ("EACCES", "EPERM", "EROFS", "EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EDQUOT", "EFBIG")
}
_SYSTEM_ERROR = re.compile(r"(?:os error|code:) (\d+)")
"""How the engine tells of an error of the system."""

_SCHEMAS = {"keyword": qdrant.PayloadSchemaType.Keyword, "integer": qdrant.PayloadSchemaType.Integer}


class Shard:
    """A `Collection` in this process. Calls are serialised: the engine would not run two at once anyway."""

    def __init__(self, name: str, path: Path, engine: qdrant.EdgeShard, executor: Executor) -> None:
        self.name = name
        self._path = path
        self._unsettled = True
        """Whether points of more than one generation may be there, so that reads must choose."""
        self._counts_dead = False
        """Whether the engine's term statistics still count points that were deleted since it was loaded."""
        self._engine = engine
        self._executor = executor
        self._lock = threading.Lock()

    @classmethod
    def create(cls, name: str, path: Path, dimensions: int, executor: Executor) -> Shard:
        _check_room(path.parent, _ROOM_TO_CREATE)
        path.mkdir(parents=True)
        config = qdrant.EdgeConfig(
            vectors={
                DENSE: qdrant.EdgeVectorParams(
                    size=dimensions,
                    distance=qdrant.Distance.Cosine,
                    datatype=qdrant.VectorStorageDatatype.Float16,
                    quantization_config=qdrant.TurboQuantQuantizationConfig(bits=qdrant.TurboQuantBitSize.Bits4),
                )
            },
            sparse_vectors={TERMS: qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
            optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=_NEVER_KB),
            # Or the first search that finds a passage would wait for the disk, fifty times over.
            payload_memory=qdrant.Memory.Cached,
        )
        with _engine_errors():
            engine = qdrant.EdgeShard.create(str(path), config)
            for field, schema in PAYLOAD_INDEXES.items():
                engine.update(qdrant.UpdateOperation.create_field_index(field, _SCHEMAS[schema]))
        return cls(name, path, engine, executor)

    @classmethod
    def load(cls, index: str, name: str, path: Path, executor: Executor) -> Shard:
        try:
            with _engine_errors():
                engine = qdrant.EdgeShard.load(str(path))
        except RetrievalError as error:
            raise _unloadable(index, path, error) from error
        return cls(name, path, engine, executor)

    async def upsert(self, points: Sequence[RawPoint]) -> None:
        for start in range(0, len(points), _BATCH):
            await self._run(self._upsert, points[start : start + _BATCH])

    async def set_payload(self, where: Where, payload: dict[str, int]) -> None:
        operation = qdrant.UpdateOperation.set_payload_by_filter(engine_filter(where), payload)
        await self._run(self._write, operation)

    async def query(
        self, generation: int, vector: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        return await self._run(self._query, generation, vector, where, limit)

    async def payloads(self, points: Sequence[str]) -> dict[str, Payload]:
        return await self._run(self._payloads, points)

    async def scroll(
        self, generation: int, where: Where, limit: int, offset: str | None, fields: Sequence[str], with_vectors: bool
    ) -> tuple[list[RawPoint], str | None]:
        return await self._run(self._scroll, generation, where, limit, offset, fields, with_vectors)

    async def count(self, generation: int, where: Where) -> int:
        return await self._run(self._count, generation, where)

    async def size_bytes(self) -> int:
        return await self._run(self._size)

    def begin_after(self, generation: int) -> None:
        """Make ready for a writer of the next generation: from now on there may be points of more than one."""
        _check_room(self._path.parent, _ROOM_TO_WRITE)
        with self._lock:
            self._unsettled = True
        self.undo_after(generation)

    def undo_after(self, generation: int) -> None:
        """Forget what a writer of a later generation has done; on a full disk that waits for the next writer."""
        if not self._can_tidy():
            return
        self._delete(born_after(generation))
        dying = engine_filter(dies_after(generation))
        with self._lock, _engine_errors():
            if self._engine.count(qdrant.CountRequest(filter=dying)):
                self._engine.update(qdrant.UpdateOperation.delete_payload_by_filter(dying, ["died"]))

    def settle_at(self, generation: int) -> None:
        """Delete all but this generation; nobody may read or write another. On a full disk, readers go on choosing."""
        if self._unsettled and self._can_tidy():
            self.undo_after(generation)
            self._delete(dead_in(generation))
            with self._lock:
                self._unsettled = False

    def compact(self) -> None:
        """Give back the space of deleted points, if they are many."""
        if _free(self._path) >= _ROOM_TO_CREATE:
            with self._lock, _engine_errors():
                self._engine.optimize()

    def flush(self) -> None:
        """Make everything written so far durable."""
        with self._lock, _engine_errors():
            self._engine.flush()

    def close(self) -> None:
        with self._lock, _engine_errors():
            self._engine.flush()
            self._engine.close()

    def destroy(self) -> None:
        """Close the collection and remove its folder."""
        with self._lock, _engine_errors():
            self._engine.close()
        shutil.rmtree(self._path)

    def _can_tidy(self) -> bool:
        return _free(self._path) >= _ROOM_TO_TIDY

    def _write(self, operation: qdrant.UpdateOperation) -> None:
        _check_room(self._path.parent, _ROOM_TO_WRITE)
        with self._lock, _engine_errors():
            self._engine.update(operation)

    def _upsert(self, points: Sequence[RawPoint]) -> None:
        self._write(qdrant.UpdateOperation.upsert_points([_to_engine(point) for point in points]))

    def _delete(self, where: Where) -> None:
        with self._lock, _engine_errors():
            dead = engine_filter(where)
            if self._engine.count(qdrant.CountRequest(filter=dead)):
                self._engine.update(qdrant.UpdateOperation.delete_points_by_filter(dead))
                self._counts_dead = True

    def _query(self, generation: int, vector: Sequence[float] | SparseVector, where: Where, limit: int) -> list[Hit]:
        with self._lock, _engine_errors():
            is_lexical = isinstance(vector, SparseVector)
            request = qdrant.QueryRequest(
                limit=limit,
                query=qdrant.Query.Nearest(_to_engine_vector(vector), using=TERMS if is_lexical else DENSE),
                filter=engine_filter(self._visible(generation, where)),
                params=self._term_statistics(generation) if is_lexical else _RESCORED,
                with_payload=False,
                with_vector=False,
            )
            return [Hit(str(point.id), point.score) for point in self._engine.query(request)]

    def _payloads(self, points: Sequence[str]) -> dict[str, Payload]:
        with self._lock, _engine_errors():
            found = self._engine.retrieve(list(points), with_payload=True, with_vector=False)
            return {str(point.id): point.payload or {} for point in found}

    def _term_statistics(self, generation: int) -> qdrant.SearchParams | None:
        """Count terms among the visible chunks only; the engine's own statistics are faster, while they are right."""
        if not (self._counts_dead or self._unsettled):
            return None
        corpus = engine_filter(self._visible(generation, all_of(tagged("kind", "chunk"))))
        return qdrant.SearchParams(idf=qdrant.IdfParams(corpus=corpus))

    def _scroll(
        self, generation: int, where: Where, limit: int, offset: str | None, fields: Sequence[str], with_vectors: bool
    ) -> tuple[list[RawPoint], str | None]:
        with self._lock, _engine_errors():
            request = qdrant.ScrollRequest(
                offset=offset,
                limit=limit,
                filter=engine_filter(self._visible(generation, where)),
                with_payload=list(fields) or True,
                with_vector=with_vectors,
            )
            found, following = self._engine.scroll(request)
        return [_from_engine(point) for point in found], None if following is None else str(following)

    def _count(self, generation: int, where: Where) -> int:
        with self._lock, _engine_errors():
            request = qdrant.CountRequest(filter=engine_filter(self._visible(generation, where)))
            return self._engine.count(request)

    def _visible(self, generation: int, where: Where) -> Where:
        return both(where, visible_in(generation)) if self._unsettled else where

    def _size(self) -> int:
        """What the files occupy: the engine allots far more than it fills."""
        return sum(
            getattr(stat, "st_blocks", 0) * 512 or stat.st_size for stat in map(Path.stat, self._path.rglob("*"))
        )

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, partial(call, *args, **kwargs))


def _unloadable(index: str, path: Path, error: RetrievalError) -> AstRagIndexError | StoreUnreachableError:
    """Why an index cannot be loaded: only one that is damaged is to be removed."""
    if "WouldBlock" in error.message:  # the lock of its folder is free: that one is not inherited
        message = (
            f"The index '{index}' is still open in a process that was forked from one which held it and has ended: "
            "end that process too."
        )
        return AstRagIndexError(message, details={"reason": "locked"}, cause=error.cause, retryable=True)
    found = _SYSTEM_ERROR.search(error.message)
    if found and int(found[1]) in _REFUSALS:
        message = (
            f"The index '{index}' cannot be opened ({os.strerror(int(found[1]))}), and nothing need be wrong with it: "
            f"see that this process may read and write all that is in {path.parent}, and that there is room."
        )
        return StoreUnreachableError(message, cause=error.cause, retryable=False)
    return AstRagIndexError(
        f"The index '{index}' is damaged: `chapterverse remove {index}`, and build it again.",
        details={"reason": "corrupt"},
        cause=error.cause,
    )


def _check_room(path: Path, needed: int) -> None:
    """Raise unless the disk has this much room."""
    if (free := _free(path)) < needed:
        raise StoreUnreachableError(
            f"The disk of {path} has {free // _MB:,} MB left, and {needed // _MB:,} MB are needed to write there: "
            "make room, or keep the indexes elsewhere (set CHAPTERVERSE_HOME). What was there stays as it was.",
            details={"reason": "full", "free": free, "needed": needed},
            retryable=False,
        )


def _free(path: Path) -> int:
    return shutil.disk_usage(path).free


def engine_filter(where: Where) -> qdrant.Filter:
    """A filter in the engine's own type."""
    return qdrant.Filter(
        must=[_condition(item) for item in where.get("must", ())],
        must_not=[_condition(item) for item in where.get("must_not", ())],
    )


def _condition(condition: Condition) -> qdrant.FieldCondition | qdrant.HasIdCondition:
    if "has_id" in condition:
        return qdrant.HasIdCondition(set(condition["has_id"]))
    if "range" in condition:
        return qdrant.FieldCondition(condition["key"], range=qdrant.RangeFloat(**condition["range"]))
    return qdrant.FieldCondition(condition["key"], match=qdrant.MatchAny(condition["match"]["any"]))


def _to_engine(point: RawPoint) -> qdrant.Point:
    vectors: dict[str, Any] = {}
    if point.dense is not None:
        vectors[DENSE] = _to_engine_vector(point.dense)
    if point.terms is not None:
        vectors[TERMS] = _to_engine_vector(point.terms)
    return qdrant.Point(point.id, vectors, point.payload)


def _from_engine(point: qdrant.Record) -> RawPoint:
    vectors: dict[str, Any] = point.vector if isinstance(point.vector, dict) else {}
    terms = vectors.get(TERMS)
    return RawPoint(
        id=str(point.id),
        payload=point.payload or {},
        dense=vectors.get(DENSE),
        terms=SparseVector(tuple(terms.indices), tuple(terms.values)) if terms else None,
    )


def _to_engine_vector(vector: Sequence[float] | SparseVector) -> list[float] | qdrant.SparseVector:
    if isinstance(vector, SparseVector):
        return qdrant.SparseVector(list(vector.indices), list(vector.values))
    return list(vector)


@contextmanager
def _engine_errors() -> Iterator[None]:
    """The engine raises bare exceptions, and panics on damaged files: both become ours."""
    try:
        yield
    except BaseException as error:
        if type(error) is Exception or type(error).__name__ == "PanicException":
            raise RetrievalError(f"The embedded index engine failed: {error}", cause=error, retryable=False) from error
        raise
