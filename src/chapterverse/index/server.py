"""The server store: every index a collection on a Qdrant server or cluster, shared by any number of processes.

    alias       <namespace>.<index id>            the current collection: a build is committed by moving it
    collection  <namespace>.<index id>.<token>    chunks, documents, and one point with the manifest

The manifest names the current generation: an update is committed by replacing it. A writer holds a lease on the
manifest that it keeps renewing, so that a second one is refused, and one that died is in nobody's way for long. What
readers elsewhere may still be looking at is deleted a moment after the commit.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
import uuid
from contextlib import suppress

from qdrant_client import models

from chapterverse.errors import AstRagError, AstRagIndexError, RetrievalError
from chapterverse.index.collection import GenerationReader, GenerationWriter
from chapterverse.index.manifest import (
    Manifest,
    check_index_id,
    existing_index,
    manifest_from_json,
    manifest_to_json,
    unknown_index,
)
from chapterverse.index.points import (
    Payload,
    RawPoint,
    Where,
    all_of,
    born_after,
    dead_in,
    dies_after,
    is_any,
    is_within,
    point_id,
    tagged,
)
from chapterverse.index.remote import ClusterSettings, RemoteCollection, Server
from chapterverse.types import IndexRecord

OLDEST_SERVER = (1, 10)
_MANIFEST = all_of(tagged("kind", "manifest"))
_MANIFEST_ID = point_id("manifest")
_LEASE_KEYS = ("lease_token", "lease_until", "lease_holder")


class ServerStore:
    """A `Store` on a Qdrant server."""

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        namespace: str = "chapterverse",
        timeout: int = 10,
        attempts: int = 3,
        lease: int = 60,
        grace: float = 2.0,
        cluster: ClusterSettings | None = None,
    ) -> None:
        self._server = Server(url, api_key, timeout=timeout, attempts=attempts)
        self._namespace = namespace
        self._lease = lease
        self._grace = grace
        self._cluster = cluster or ClusterSettings()
        self._checked = False

    async def indexes(self) -> list[str]:
        return sorted(alias.removeprefix(self._alias("")) for alias in await self._aliases())

    async def record(self, index: str) -> IndexRecord:
        return (await self._current(index)).record

    async def reader(self, index: str) -> GenerationReader:
        manifest = await self._current(index)
        collection = RemoteCollection(self._server, manifest.collection)
        return GenerationReader(collection, manifest.record, manifest.generation, _nothing)

    async def create(self, record: IndexRecord, *, replace: bool = True) -> GenerationWriter:
        check_index_id(record.id)
        collection = RemoteCollection(self._server, f"{self._alias(record.id)}.{uuid.uuid4().hex}")
        await self._check_alone(record.id, collection.name)
        await collection.create(record.embedding.dimensions, self._cluster)
        try:
            lease = await Lease.found(collection, Manifest(record, collection.name, 0), self._lease)
        except AstRagIndexError as error:  # another build has waited for this lease, and dropped the collection
            raise _being_written(record.id, {}) from error

        async def discard() -> None:
            if collection.name in (await self._aliases()).values():
                await lease.release()
            else:
                lease.let_run_out()
                await collection.drop()

        try:
            await collection.make_filterable()
            # Again, now that others can see this one: of two that begin at the same moment, both may give way.
            await self._check_alone(record.id, collection.name)
            await self._replaceable(record.id, replace)
        except BaseException:
            await discard()
            raise

        async def publish(final: IndexRecord) -> None:
            await lease.replace_manifest(Manifest(final, collection.name, 1))
            old = await self._replaceable(final.id, replace)
            await self._change_alias(final.id, old=old, new=collection.name)
            await lease.release()
            if old:
                await asyncio.sleep(self._grace)
                await RemoteCollection(self._server, old).drop()

        return GenerationWriter(collection, record, 0, publish=publish, discard=discard)

    async def update(self, index: str) -> GenerationWriter:
        collection = RemoteCollection(self._server, (await self._current(index)).collection)
        lease = await Lease.take(collection, index, self._lease)
        # Read again: the generation may have moved on before the lease was ours.
        base = await _read_manifest(collection, index)
        await _undo_after(collection, base.generation)
        await collection.delete(dead_in(base.generation))

        async def publish(final: IndexRecord) -> None:
            if (await self._aliases()).get(self._alias(index)) != collection.name:
                raise AstRagIndexError(f"The index '{index}' was built anew or deleted meanwhile.", retryable=True)
            await lease.replace_manifest(Manifest(final, collection.name, base.generation + 1))
            await asyncio.sleep(self._grace)
            await collection.delete(dead_in(base.generation + 1))
            await lease.release()

        async def discard() -> None:
            # Without the lease, what is there is another writer's work.
            if await lease.is_held():
                await _undo_after(collection, (await _read_manifest(collection, index)).generation)
                await lease.release()

        return GenerationWriter(collection, base.record, base.generation, publish=publish, discard=discard)

    async def delete(self, index: str) -> None:
        check_index_id(index)
        old = (await self._aliases()).get(self._alias(index))
        if old is None:
            raise unknown_index(index)
        await self._change_alias(index, old=old, new=None)
        await RemoteCollection(self._server, old).drop()

    async def share(self) -> None:
        """A server takes any number of processes: there is nothing to do."""

    async def close(self) -> None:
        await self._server.client.close()

    async def _current(self, index: str) -> Manifest:
        check_index_id(index)
        await self._check_version()
        return await _read_manifest(RemoteCollection(self._server, self._alias(index)), index)

    def _alias(self, index: str) -> str:
        return f"{self._namespace}.{index}"

    async def _aliases(self) -> dict[str, str]:
        """Our aliases, and the collection that each stands for."""
        await self._check_version()
        found = await self._server.call(self._server.client.get_aliases)
        standing_for = {alias.alias_name: alias.collection_name for alias in found.aliases}
        return {alias: name for alias, name in standing_for.items() if alias.startswith(self._alias(""))}

    async def _change_alias(self, index: str, *, old: str | None, new: str | None) -> None:
        """Let the alias stand for another collection: one request, which the server carries out as a whole."""
        alias = self._alias(index)
        operations: list[models.DeleteAliasOperation | models.CreateAliasOperation] = []
        if old:
            operations.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
        if new:
            creation = models.CreateAlias(collection_name=new, alias_name=alias)
            operations.append(models.CreateAliasOperation(create_alias=creation))
        await self._server.call(lambda: self._server.client.update_collection_aliases(operations))

    async def _replaceable(self, index: str, replace: bool) -> str | None:
        """The collection that a build shall replace, if there is one; an error if it shall not."""
        old = (await self._aliases()).get(self._alias(index))
        if old and not replace:
            raise existing_index(index)
        return old

    async def _check_alone(self, index: str, own: str) -> None:
        """Refuse to build beside another build; what one that crashed has left, with its lease run out, is dropped."""
        current = {own, *(await self._aliases()).values()}
        found = await self._server.call(self._server.client.get_collections)
        for name in (described.name for described in found.collections):
            if name.startswith(f"{self._alias(index)}.") and name not in current:
                collection = RemoteCollection(self._server, name)
                try:
                    payload = await _manifest_payload(collection)
                    if payload is None:  # it was made this instant, or whoever made it died at once
                        await asyncio.sleep(self._grace)
                        payload = await _manifest_payload(collection) or {}
                except AstRagIndexError:  # whoever made it has given way meanwhile
                    continue
                if payload.get("lease_until", 0) >= time.time():
                    raise _being_written(index, payload)
                await collection.drop()

    async def version(self) -> str:
        """The server's version; raises if that is too old, or if the server cannot be asked."""
        version = (await self._server.call(self._server.client.info)).version
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_SERVER:
            oldest = ".".join(map(str, OLDEST_SERVER))
            raise RetrievalError(
                f"The Qdrant server at {self._server.url} is of version {version}; {oldest} or newer is needed.",
                details={"reason": "version", "found": version},
                retryable=False,
            )
        return version

    async def _check_version(self) -> None:
        if not self._checked:
            await self.version()
            self._checked = True


class Lease:
    """The right to write to a collection, renewed in the background until it is released."""

    def __init__(self, collection: RemoteCollection, index: str, seconds: int, token: str) -> None:
        self._collection = collection
        self._index = index
        self._seconds = seconds
        self._token = token
        self._renewal = asyncio.create_task(self._renew())

    @classmethod
    async def take(cls, collection: RemoteCollection, index: str, seconds: int) -> Lease:
        """Take the lease unless somebody has it; raises `AstRagIndexError` that says who."""
        free: Where = {**_MANIFEST, "must_not": [is_within("lease_until", gte=int(time.time()))]}
        claim = _lease_claim(seconds)
        await collection.set_payload(free, claim)
        payload = await _manifest_payload(collection) or {}
        if payload.get("lease_token") != claim["lease_token"]:
            raise _being_written(index, payload)
        return cls(collection, index, seconds, claim["lease_token"])

    @classmethod
    async def found(cls, collection: RemoteCollection, manifest: Manifest, seconds: int) -> Lease:
        """Store the manifest of a collection that has none yet, and take the lease with the same write."""
        claim = _lease_claim(seconds)
        payload: Payload = {"tags": ["kind:manifest"], "manifest": manifest_to_json(manifest), **claim}
        await collection.upsert([RawPoint(id=_MANIFEST_ID, payload=payload)])
        return cls(collection, manifest.record.id, seconds, claim["lease_token"])

    @property
    def _mine(self) -> Where:
        return all_of(*_MANIFEST["must"], is_any("lease_token", [self._token]))

    async def is_held(self) -> bool:
        """False also when the whole collection is gone."""
        try:
            payload = await _manifest_payload(self._collection) or {}
        except AstRagIndexError:
            payload = {}
        if payload.get("lease_token") == self._token:
            return True
        self.let_run_out()
        return False

    async def replace_manifest(self, manifest: Manifest) -> None:
        """The commit of an update: one write to one point, and only while the lease is held."""
        data = manifest_to_json(manifest)
        await self._collection.set_payload(self._mine, {"manifest": data})
        payload = await _manifest_payload(self._collection) or {}
        if payload.get("lease_token") != self._token or payload.get("manifest") != data:
            message = f"Another writer has taken over the index '{self._index}': nothing was changed."
            raise AstRagIndexError(message, details={"reason": "locked"}, retryable=True)

    def let_run_out(self) -> None:
        self._renewal.cancel()

    async def release(self) -> None:
        self.let_run_out()
        await self._collection.delete_payload(self._mine, _LEASE_KEYS)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / 4)
            # A renewal that fails is followed by another; if none gets through, the commit finds out.
            with suppress(AstRagError):
                await self._collection.set_payload(self._mine, {"lease_until": int(time.time()) + self._seconds})


def _being_written(index: str, payload: Payload) -> AstRagIndexError:
    message = f"The index '{index}' is being written by {payload.get('lease_holder', 'another process')}."
    return AstRagIndexError(message, details={"reason": "locked"}, retryable=True)


def _lease_claim(seconds: int) -> Payload:
    holder = f"process {os.getpid()} on {socket.gethostname()}"
    return {"lease_token": uuid.uuid4().hex, "lease_until": int(time.time()) + seconds, "lease_holder": holder}


async def _manifest_payload(collection: RemoteCollection) -> Payload | None:
    return (await collection.payloads([_MANIFEST_ID])).get(_MANIFEST_ID)


async def _read_manifest(collection: RemoteCollection, index: str) -> Manifest:
    try:
        payload = await _manifest_payload(collection)
    except AstRagIndexError as error:
        raise unknown_index(index) from error
    if payload is None:
        message = f"The collection {collection.name} is not an index of Chapterverse."
        raise AstRagIndexError(message, details={"reason": "corrupt"})
    return manifest_from_json(index, payload["manifest"])


async def _undo_after(collection: RemoteCollection, generation: int) -> None:
    """Forget what a writer of a later generation has done."""
    await collection.delete(born_after(generation))
    await collection.delete_payload(dies_after(generation), ["died"])


async def _nothing() -> None:
    """Readers of a server hold nothing: what they look at outlives them by the grace period."""
