"""Indexes that another process of this machine owns: the same readers and writers, whose work is done there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from chapterverse.errors import AstRagIndexError, StoreUnreachableError
from chapterverse.index.collection import GenerationReader, GenerationWriter
from chapterverse.index.manifest import Manifest, check_index_id, manifest_from_json, manifest_to_json
from chapterverse.index.owner import OwnerAddress
from chapterverse.index.points import Payload, RawPoint, Where
from chapterverse.index.wire import (
    PROTOCOL,
    error_from_json,
    point_from_json,
    point_to_json,
    receive,
    send,
    vector_to_json,
)
from chapterverse.types import Hit, IndexRecord, SparseVector

_BATCH = 64  # points in a frame: the owner has others to serve
_PATIENCE = 60.0
"""Seconds that the owner has to answer; one that was stopped, or hangs, never would."""
_LONG_PATIENCE = 600.0
"""For what takes the longer the larger an index is: the owner loads, writes out or deletes a whole one."""
_LONG = frozenset({"reader", "create", "update", "commit", "delete", "end"})


class ForwardedIndexes:
    """What a store offers of indexes that somebody else owns; each reader and writer has a connection of its own."""

    def __init__(self, address: OwnerAddress) -> None:
        self._address = address

    async def reader(self, index: str) -> GenerationReader:
        connection, manifest = await self._open("reader", index)
        collection = ForwardedCollection(connection)
        return GenerationReader(collection, manifest.record, manifest.generation, connection.end)

    async def create(self, record: IndexRecord, *, replace: bool = True) -> GenerationWriter:
        check_index_id(record.id)
        return await self._writer("create", record.id, manifest=_manifest(record), replace=replace)

    async def update(self, index: str) -> GenerationWriter:
        return await self._writer("update", index)

    async def delete(self, index: str) -> None:
        connection = await Connection.open(self._address)
        try:
            await connection.call("delete", index=index)
        finally:
            connection.close()

    async def _writer(self, do: str, index: str, **request: Any) -> GenerationWriter:
        connection, manifest = await self._open(do, index, **request)

        async def publish(final: IndexRecord) -> None:
            await connection.call("commit", manifest=_manifest(final))
            connection.close()

        collection = ForwardedCollection(connection)
        return GenerationWriter(
            collection, manifest.record, manifest.generation, publish=publish, discard=connection.end
        )

    async def _open(self, do: str, index: str, **request: Any) -> tuple[Connection, Manifest]:
        connection = await Connection.open(self._address)
        try:
            return connection, manifest_from_json(index, await connection.call(do, index=index, **request))
        except BaseException:
            connection.close()
            raise


class Connection:
    """A conversation with the owner: one question at a time, each answered before the next."""

    def __init__(self, address: OwnerAddress, incoming: asyncio.StreamReader, outgoing: asyncio.StreamWriter) -> None:
        self._address = address
        self._incoming = incoming
        self._outgoing = outgoing
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, address: OwnerAddress) -> Connection:
        if address.protocol != PROTOCOL:
            raise AstRagIndexError(
                f"The indexes are held by {address.holder}, which is of another version of Chapterverse: restart it.",
                details={"reason": "locked"},
            )
        try:
            incoming, outgoing = await asyncio.open_connection("127.0.0.1", address.port)
        except OSError as error:
            _gone(address, error)
        outgoing.write(address.token.encode())
        connection = cls(address, incoming, outgoing)
        await connection.call("hello")  # an owner that lives answers at once, however busy it is
        return connection

    async def call(self, do: str, **request: Any) -> Any:
        """Ask the owner to do something; its errors are raised here."""
        async with self._turn:
            if self._outgoing.is_closing():
                _gone(self._address, None)
            try:
                async with asyncio.timeout(_LONG_PATIENCE if do in _LONG else _PATIENCE):
                    await send(self._outgoing, {"do": do, **request})
                    reply = await receive(self._incoming)
            except (OSError, EOFError, ValueError) as error:
                self.close()
                _gone(self._address, error)
            except BaseException:
                self.close()  # or the next question would get the answer to this one
                raise
        if "error" in reply:
            raise error_from_json(reply["error"])
        return reply["ok"]

    async def end(self) -> None:
        """Have the owner close what was opened here; if it has gone, it did so by that."""
        with suppress(StoreUnreachableError):
            await self.call("end")
        self.close()

    def close(self) -> None:
        self._outgoing.close()


class ForwardedCollection:
    """A `Collection` behind a connection."""

    def __init__(self, connection: Connection) -> None:
        self._call = connection.call

    async def upsert(self, points: Sequence[RawPoint]) -> None:
        for start in range(0, len(points), _BATCH):
            await self._call("upsert", points=[point_to_json(point) for point in points[start : start + _BATCH]])

    async def set_payload(self, where: Where, payload: dict[str, int]) -> None:
        await self._call("set_payload", where=where, payload=payload)

    async def query(
        self, generation: int, vector: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        found = await self._call(
            "query", generation=generation, vector=vector_to_json(vector), where=where, limit=limit
        )
        return [Hit(point, score) for point, score in found]

    async def payloads(self, points: Sequence[str]) -> dict[str, Payload]:
        return dict(await self._call("payloads", points=list(points)))

    async def scroll(
        self, generation: int, where: Where, limit: int, offset: str | None, fields: Sequence[str], with_vectors: bool
    ) -> tuple[list[RawPoint], str | None]:
        page = await self._call(
            "scroll",
            generation=generation,
            where=where,
            limit=limit,
            offset=offset,
            fields=list(fields),
            with_vectors=with_vectors,
        )
        return [point_from_json(point) for point in page["points"]], page["offset"]

    async def count(self, generation: int, where: Where) -> int:
        return int(await self._call("count", generation=generation, where=where))

    async def size_bytes(self) -> int | None:
        size = await self._call("size_bytes")
        return None if size is None else int(size)


def _manifest(record: IndexRecord) -> dict[str, Any]:
    return manifest_to_json(Manifest(record, "", 0))


def _gone(address: OwnerAddress, cause: Exception | None) -> NoReturn:
    raise StoreUnreachableError(
        f"The indexes were held by {address.holder}, which has gone away or does not answer: try again.",
        details={"holder": address.holder.pid},
        cause=cause,
    ) from cause
