"""The embedded store: every index a folder with Qdrant's engine in it, opened by one process at a time.

A process that lives long may `share`: it then owns all indexes of the root, and the other processes reach them through
it (see `owner`).

    root/<index id>/manifest.json       the current collection and generation: replacing this file is the commit
                    lock, holder.json   held while a process has the index open, and by whom
                    c-<token>/          a collection; any that the manifest does not name is left over from a crash

A process may be killed at any moment. Before the manifest is replaced the old generation is current, and opening the
index undoes the rest; after it the new one is, and opening the index deletes what the old one alone needed.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import platformdirs

from chapterverse.errors import AstRagError, AstRagIndexError, StoreUnreachableError
from chapterverse.index.collection import GenerationReader, GenerationWriter
from chapterverse.index.folder import MANIFEST, IndexFolder, abandoned
from chapterverse.index.forwarded import ForwardedIndexes
from chapterverse.index.manifest import (
    Manifest,
    check_index_id,
    existing_index,
    read_manifest,
    unknown_index,
    write_manifest,
)
from chapterverse.index.owner import Owner, find_owner
from chapterverse.index.shard import Shard
from chapterverse.index.threads import ClosedStoreError, Threads
from chapterverse.types import IndexRecord

P = ParamSpec("P")
T = TypeVar("T")
Opened = TypeVar("Opened", GenerationReader, GenerationWriter)


def default_root() -> Path:
    """Where indexes are kept unless a path is given."""
    return platformdirs.user_data_path("chapterverse", appauthor=False) / "indexes"


@dataclass(frozen=True, slots=True)
class _Current:
    """What readers get when they come now."""

    manifest: Manifest
    shard: Shard


@dataclass(slots=True)
class _Held:
    """An index that this process holds."""

    folder: IndexFolder
    committed: bool
    """False before the first commit, and after a deletion."""
    current: _Current | None = None
    """The current generation, once it has been loaded."""
    retired: list[Shard] = field(default_factory=list)
    """Collections that are no longer current but still being read."""
    readers: Counter[tuple[Shard, int]] = field(default_factory=Counter)
    """How many readers each generation of each collection has."""
    writing: bool = False


class EdgeStore:
    """A `Store` in this process. Its state changes under one lock, in worker threads; the event loop never waits."""

    def __init__(self, root: Path | None = None, *, threads: int = 4) -> None:
        self.root = root or default_root()
        self._shares = False
        self._owner: Owner | None = None
        self._claiming = asyncio.Lock()
        self._held: dict[str, _Held] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._mutex = threading.Lock()
        self._executor = Threads(threads)

    async def indexes(self) -> list[str]:
        return await self._run(self._indexes)

    async def record(self, index: str) -> IndexRecord:
        return (await self._run(self._manifest, index)).record

    async def reader(self, index: str) -> GenerationReader:
        if elsewhere := await self._elsewhere(index):
            return await elsewhere.reader(index)
        return await self._open(self._reader, index)

    async def create(self, record: IndexRecord, *, replace: bool = True) -> GenerationWriter:
        if elsewhere := await self._elsewhere(record.id):
            return await elsewhere.create(record, replace=replace)
        return await self._open(self._create, record, replace)

    async def update(self, index: str) -> GenerationWriter:
        if elsewhere := await self._elsewhere(index):
            return await elsewhere.update(index)
        return await self._open(self._update, index)

    async def delete(self, index: str) -> None:
        if elsewhere := await self._elsewhere(index):
            return await elsewhere.delete(index)
        return await self._run(self._delete, index)

    async def share(self) -> None:
        """Own all indexes here, for the other processes too; where one of them does so already, once it has ended."""
        self._shares = True
        await self._elsewhere(None)

    async def close(self) -> None:
        """Let go of all indexes, once what is under way is done; a process that was forked since has none to let go."""
        if not self._executor.are_here:
            return
        owner, self._owner = self._owner, None
        if owner is not None:
            await owner.close()
        await asyncio.gather(*self._closing)
        self._executor.shutdown(wait=False)
        await asyncio.to_thread(self._close)

    async def _elsewhere(self, index: str | None) -> ForwardedIndexes | None:
        """The indexes as another process serves them, if one owns them all; not those that this one holds already."""
        if index in self._held or self._owner is not None:
            return None
        async with self._claiming:
            address = await self._run(find_owner, self.root)
            if address is None and self._shares and self._owner is None:
                with self._folder_errors():
                    self._owner = await Owner.claim(self, self.root)
                address = None if self._owner else await self._run(find_owner, self.root)
        return ForwardedIndexes(address) if address and self._owner is None else None

    async def _open(self, call: Callable[P, Opened], *args: P.args, **kwargs: P.kwargs) -> Opened:
        """A reader or writer; a thread cannot be stopped, and what it opens for somebody who has left is closed."""
        opening = asyncio.create_task(self._run(call, *args, **kwargs))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            closing = asyncio.create_task(_close_opened(opening))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            raise

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        work = partial(self._guard, partial(call, *args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    async def _leave(self, call: Callable[[], None]) -> None:
        """Let go of what a reader or writer has: where the store is closed, that has been done, or opening does it."""
        with suppress(ClosedStoreError):
            await self._run(call)

    def _guard(self, call: Callable[[], T]) -> T:
        with self._folder_errors(), self._mutex:
            return call()

    @contextmanager
    def _folder_errors(self) -> Iterator[None]:
        try:
            yield
        except AstRagError:
            raise
        except OSError as error:
            raise StoreUnreachableError(f"The index folder {self.root} cannot be used: {error}", cause=error) from error

    def _indexes(self) -> list[str]:
        return sorted(path.parent.name for path in self.root.glob(f"*/{MANIFEST}"))

    def _manifest(self, index: str) -> Manifest:
        check_index_id(index)
        return read_manifest(index, self.root / index / MANIFEST)

    def _reader(self, index: str) -> GenerationReader:
        held, current = self._known(index)
        key = (current.shard, current.manifest.generation)
        held.readers[key] += 1

        def release() -> None:
            held.readers[key] -= 1
            self._tidy(held)

        return GenerationReader(
            current.shard, current.manifest.record, current.manifest.generation, lambda: self._leave(release)
        )

    def _create(self, record: IndexRecord, replace: bool) -> GenerationWriter:
        self._sweep()
        held = self._hold(record.id)
        if held.committed and not replace:
            raise existing_index(record.id)
        self._claim(held)
        name = uuid.uuid4().hex
        try:
            shard = Shard.create(name, held.folder.collection(name), record.embedding.dimensions, self._executor)
        except BaseException:
            self._unclaim(held)
            raise

        def publish(final: IndexRecord) -> None:
            shard.flush()
            old = held.current
            self._switch(held, Manifest(final, name, 1), shard)
            if old:
                held.retired.append(old.shard)
            held.folder.remove_collections(but={name, *(retired.name for retired in held.retired)})
            self._unclaim(held)

        def discard() -> None:
            if held.current is None or held.current.shard is not shard:
                shard.destroy()
            self._unclaim(held)

        return self._writer(shard, record, 0, publish, discard)

    def _update(self, index: str) -> GenerationWriter:
        held, current = self._known(index)
        base, shard = current.manifest, current.shard
        self._claim(held)
        try:
            shard.begin_after(base.generation)
        except BaseException:
            self._unclaim(held)
            raise

        def publish(final: IndexRecord) -> None:
            shard.flush()
            self._switch(held, Manifest(final, base.collection, base.generation + 1), shard)
            self._unclaim(held)

        def discard() -> None:
            shard.undo_after(held.current.manifest.generation if held.current else base.generation)
            self._unclaim(held)

        return self._writer(shard, base.record, base.generation, publish, discard)

    def _writer(
        self,
        shard: Shard,
        record: IndexRecord,
        base: int,
        publish: Callable[[IndexRecord], None],
        discard: Callable[[], None],
    ) -> GenerationWriter:
        return GenerationWriter(
            shard,
            record,
            base,
            publish=lambda final: self._run(publish, final),
            discard=lambda: self._leave(discard),
        )

    def _switch(self, held: _Held, manifest: Manifest, shard: Shard) -> None:
        """The commit: before it the old generation is current, after it the new one."""
        write_manifest(manifest, held.folder.manifest)
        held.committed = True
        held.current = _Current(manifest, shard)

    def _delete(self, index: str) -> None:
        unfinished = index in abandoned(self.root)
        held = self._hold(index)
        if not held.committed:
            unfinished = unfinished and not held.writing
            self._tidy(held)
            if unfinished:
                return
            raise unknown_index(index)
        self._claim(held)
        held.folder.manifest.unlink()
        held.committed = False
        if held.current:
            held.retired.append(held.current.shard)
            held.current = None
        self._unclaim(held)

    def _known(self, index: str) -> tuple[_Held, _Current]:
        """An index that has been committed, held and loaded."""
        manifest = self._manifest(index)
        held = self._hold(index)
        if held.current is None:
            shard = Shard.load(index, manifest.collection, held.folder.collection(manifest.collection), self._executor)
            shard.settle_at(manifest.generation)
            shard.compact()
            held.current = _Current(manifest, shard)
        return held, held.current

    def _hold(self, index: str) -> _Held:
        """Take the index for this process, unless that has been done; what a crash has left is cleared away."""
        check_index_id(index)
        if index in self._held:
            return self._held[index]
        folder = IndexFolder(index, self.root / index)
        with suppress(AstRagIndexError):  # a damaged manifest is for readers to complain about
            but = {read_manifest(index, folder.manifest).collection} if folder.manifest.exists() else set()
            folder.remove_collections(but=but)
        held = self._held[index] = _Held(folder, committed=folder.manifest.exists())
        return held

    def _claim(self, held: _Held) -> None:
        if held.writing:
            message = f"The index '{held.folder.index}' is being written already: try again when that is done."
            raise AstRagIndexError(message, details={"reason": "locked"}, retryable=True)
        held.writing = True

    def _unclaim(self, held: _Held) -> None:
        held.writing = False
        self._tidy(held)

    def _tidy(self, held: _Held) -> None:
        """Delete what nobody reads any more; an index that was deleted, or never committed, leaves no folder."""
        reading = {key for key, count in held.readers.items() if count}
        for shard in [shard for shard in held.retired if not any(read is shard for read, _ in reading)]:
            held.retired.remove(shard)
            shard.destroy()
        current = held.current
        if current and not held.writing:
            generations = {generation for shard, generation in reading if shard is current.shard}
            if generations <= {current.manifest.generation}:
                current.shard.settle_at(current.manifest.generation)
        if not (held.committed or held.writing or held.retired):
            del self._held[held.folder.index]
            held.folder.remove()

    def _sweep(self) -> None:
        """Remove what first builds that crashed have left."""
        for index in abandoned(self.root):
            if index not in self._held:
                try:
                    self._tidy(self._hold(index))
                except AstRagIndexError:
                    continue  # another process is building it right now

    def _close(self) -> None:
        self._executor.shutdown()
        for held in self._held.values():
            for shard in [*held.retired, *([held.current.shard] if held.current else [])]:
                shard.close()
            held.folder.release()
        self._held.clear()


async def _close_opened(opening: asyncio.Task[Opened]) -> None:
    with suppress(Exception):
        async with await opening:
            pass
