"""The owner: a process that holds all indexes of a folder, and serves them to the other processes of this machine.

    root/owner.lock     held while the owner lives, however it dies
         owner.json     how to reach it: a port of the loopback interface, and a secret; for its user alone

One connection is one reader or one writer of another process. When the connection ends, the reader is closed and the
writer undone, so that nothing is left behind by a process that was killed.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from filelock import FileLock, Timeout

from chapterverse.errors import AstRagIndexError
from chapterverse.index.collection import Collection, GenerationReader, GenerationWriter
from chapterverse.index.folder import Holder, this_process
from chapterverse.index.manifest import Manifest, manifest_from_json, manifest_to_json, replace_file
from chapterverse.index.wire import (
    PROTOCOL,
    Message,
    error_to_json,
    point_from_json,
    point_to_json,
    receive,
    send,
    vector_from_json,
)
from chapterverse.types import IndexRecord, to_dict

_LOCK = "owner.lock"
_FILE = "owner.json"
_GREETING = 60.0  # seconds that whoever connects has to say the secret
_PATIENCE = 1.0  # seconds: others hold the lock for an instant, to see whether somebody has it


@dataclass(frozen=True, slots=True)
class OwnerAddress:
    """Where the owner of a folder of indexes is to be found."""

    holder: Holder
    port: int
    token: str = field(repr=False)
    protocol: int = PROTOCOL


class Servable(Protocol):
    """A store whose readers and writers can be handed to another process."""

    async def reader(self, index: str) -> GenerationReader: ...

    async def create(self, record: IndexRecord, *, replace: bool = True) -> GenerationWriter: ...

    async def update(self, index: str) -> GenerationWriter: ...

    async def delete(self, index: str) -> None: ...


class Owner:
    """Serves a store to whoever has read the secret; the folder's lock is held until `close`."""

    def __init__(self, store: Servable, root: Path, lock: FileLock) -> None:
        self._store = store
        self._path = root / _FILE
        self._lock = lock
        self._token = secrets.token_urlsafe(32)
        self._server: asyncio.Server | None = None
        self._sessions: set[asyncio.Task[Any]] = set()

    @classmethod
    async def claim(cls, store: Servable, root: Path) -> Self | None:
        """Become the owner of a folder of indexes; None if another process is."""
        root.mkdir(parents=True, exist_ok=True)
        lock = FileLock(root / _LOCK, timeout=_PATIENCE, thread_local=False)
        try:
            await asyncio.to_thread(lock.acquire)
        except Timeout:
            return None
        owner = cls(store, root, lock)
        try:
            await owner._serve()
        except BaseException:
            lock.release()
            raise
        return owner

    async def _serve(self) -> None:
        self._path.unlink(missing_ok=True)  # of an owner that died
        self._server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        address = OwnerAddress(this_process(), port, self._token)
        replace_file(self._path, json.dumps(to_dict(address)), private=True)

    async def close(self) -> None:
        """Stop serving: readers of other processes are closed, and their writers undone."""
        self._path.unlink(missing_ok=True)
        if self._server is not None:
            self._server.close()
        for session in self._sessions:
            session.cancel()
        await asyncio.gather(*self._sessions, return_exceptions=True)
        self._lock.release()

    async def _converse(self, incoming: asyncio.StreamReader, outgoing: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._sessions.add(task)
        session = _Session(self._store)
        try:
            secret = self._token.encode()
            async with asyncio.timeout(_GREETING):
                said = await incoming.readexactly(len(secret))
            if not hmac.compare_digest(said, secret):
                return
            while True:
                await send(outgoing, await session.answer(await receive(incoming)))
        except (OSError, EOFError, ValueError):
            pass  # whoever it was has gone, or was never one of us
        except asyncio.CancelledError:
            pass  # the owner is closing
        finally:
            with suppress(Exception):
                await session.end()
            outgoing.close()
            self._sessions.discard(task)


class _Session:
    """What one connection has open, and what is asked of it."""

    def __init__(self, store: Servable) -> None:
        self._store = store
        self._open: GenerationReader | GenerationWriter | None = None

    async def answer(self, request: Message) -> Message:
        try:
            return {"ok": await self._do(request)}
        except Exception as error:
            return {"error": error_to_json(error)}

    async def end(self) -> None:
        """Close what is open; a writer that has not committed is undone."""
        opened, self._open = self._open, None
        if isinstance(opened, GenerationReader):
            await opened.close()
        elif opened is not None:
            await opened.abort()

    async def _do(self, request: Message) -> Any:
        match request["do"]:
            case "hello":
                return None
            case "reader":
                reader = self._open = await self._store.reader(request["index"])
                return _opened(reader.record, reader.generation)
            case "create":
                writer = self._open = await self._store.create(_record(request), replace=request["replace"])
                return _opened(writer.record, writer.base)
            case "update":
                writer = self._open = await self._store.update(request["index"])
                return _opened(writer.record, writer.base)
            case "delete":
                return await self._store.delete(request["index"])
            case "end":
                return await self.end()
        if self._open is None:
            raise ValueError("nothing is open")
        if request["do"] == "commit" and isinstance(self._open, GenerationWriter):
            return await self._open.commit(_record(request))
        return await _of_collection(self._open.collection, request)


async def _of_collection(collection: Collection, request: Message) -> Any:
    generation, where = request.get("generation", 0), request.get("where", {})
    match request["do"]:
        case "query":
            vector = vector_from_json(request["vector"])
            hits = await collection.query(generation, vector, where, request["limit"])
            return [(hit.point, hit.score) for hit in hits]
        case "payloads":
            return await collection.payloads(request["points"])
        case "scroll":
            page = [request[name] for name in ("limit", "offset", "fields", "with_vectors")]
            found, offset = await collection.scroll(generation, where, *page)
            return {"points": [point_to_json(point) for point in found], "offset": offset}
        case "count":
            return await collection.count(generation, where)
        case "size_bytes":
            return await collection.size_bytes()
        case "upsert":
            return await collection.upsert([point_from_json(point) for point in request["points"]])
        case "set_payload":
            return await collection.set_payload(where, request["payload"])
    raise ValueError(f"cannot do {request['do']!r}")


def _opened(record: IndexRecord, generation: int) -> Message:
    return manifest_to_json(Manifest(record, "", generation))


def _record(request: Message) -> IndexRecord:
    return manifest_from_json(request["manifest"]["indexId"], request["manifest"]).record


def find_owner(root: Path) -> OwnerAddress | None:
    """The owner of a folder of indexes, if one lives; what one that died has left is removed."""
    path = root / _FILE
    if not path.exists():
        return None
    try:
        with FileLock(root / _LOCK, timeout=0, thread_local=False):
            path.unlink(missing_ok=True)
            return None
    except Timeout:
        return _read_address(path)


def _read_address(path: Path) -> OwnerAddress | None:
    try:
        data = json.loads(path.read_bytes())
        return OwnerAddress(**{**data, "holder": Holder(**data["holder"])})
    except FileNotFoundError:
        return None  # it has just ended
    except (ValueError, TypeError, KeyError) as error:
        message = f"{path} cannot be understood: stop the process that serves the indexes, and delete the file."
        raise AstRagIndexError(message, details={"reason": "locked"}, cause=error) from error
