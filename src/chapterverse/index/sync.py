"""Bringing an index into step with its sources: only what changed is read, and only what is new is embedded.

First `plan_sync` compares what the sources offer with what the index holds, by the hash of each file's bytes. Then the
caller reads and cuts the files that the plan names, and `sync_index` writes the difference as one new generation, or
only counts it.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from chapterverse.errors import AstRagIndexError
from chapterverse.index import lexical
from chapterverse.index.build import CutFile, Embed, PointWriter, Progress, check_chunk_count, timestamp, weighed
from chapterverse.protocols import IndexReader, Store, Vectors, Writer
from chapterverse.types import Entry, Filter, IndexRecord, Notice, to_dict

_FILES_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What is to be done, file by file."""

    base: IndexRecord
    """The index that the plan was made for."""
    target: IndexRecord
    """What it shall become."""
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: tuple[str, ...]
    unchanged_chunks: int

    @property
    def is_rebuild(self) -> bool:
        """With other chunking or another embedding model, every chunk is made anew, beside the old index."""
        return self.base.chunking != self.target.chunking or self.base.embedding != self.target.embedding

    @property
    def to_cut(self) -> tuple[str, ...]:
        """The files that `sync_index` must be given; in a rebuild also those that are unchanged in themselves."""
        return (*self.added, *self.changed, *(self.unchanged if self.is_rebuild else ()))

    @property
    def is_empty(self) -> bool:
        return not (self.to_cut or self.removed) and self.target == self.base


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sync has done, or, if it was not `persisted`, would do."""

    record: IndexRecord
    persisted: bool
    added_sources: int
    updated_sources: int
    removed_sources: int
    unchanged_sources: int
    added_chunks: int
    """Chunks whose id is new."""
    removed_chunks: int
    reused_chunks: int
    """Chunks of the synced index whose vectors were there already."""
    reembedded_chunks: int
    """Chunks whose text had to be embedded: the new ones and the changed ones."""
    warnings: tuple[Notice, ...] = ()

    def counts(self) -> dict[str, int]:
        """What was done, in numbers."""
        return {name: value for name, value in to_dict(self).items() if type(value) is int}


async def plan_sync(
    store: Store, base: IndexRecord, target: IndexRecord, offered: Mapping[str, str], moved: Collection[str] = ()
) -> SyncPlan:
    """Compare the index with what the sources offer now: the fingerprint of every file, by file id.

    Those that are `moved` come from another source than they did, which their chunks must tell.

    `base` is the index as it was when the caller began to look: what somebody has added since is not to be taken for
    what the sources no longer offer.
    """
    async with await store.reader(target.id) as reader:
        _check_unchanged(reader, base)
        held = {source.file_id: source for source in await reader.sources()}
    unchanged = [
        file_id
        for file_id, fingerprint in offered.items()
        if file_id in held and held[file_id].fingerprint == fingerprint and file_id not in moved
    ]
    same = set(unchanged)
    return SyncPlan(
        base=base,
        target=target,
        added=tuple(file_id for file_id in offered if file_id not in held),
        changed=tuple(file_id for file_id in offered if file_id in held and file_id not in same),
        removed=tuple(file_id for file_id in held if file_id not in offered),
        unchanged=tuple(unchanged),
        unchanged_chunks=sum(held[file_id].chunk_count for file_id in unchanged),
    )


async def sync_index(
    store: Store,
    plan: SyncPlan,
    files: AsyncIterable[CutFile],
    embed: Embed,
    *,
    keep_failed: bool = False,
    dry_run: bool = False,
    max_chunks: int | None = None,
    progress: Progress | None = None,
) -> SyncResult:
    """Carry out a plan, or with `dry_run` only count what it would do.

    A file that the plan wants cut and `files` does not bring could not be read: the index loses it, or with
    `keep_failed` keeps what it had of it. (A rebuild has nothing to keep it from: cut its stored document.)
    """
    sync = _Sync(plan, keep_failed, max_chunks)
    if dry_run or plan.is_empty:
        await sync.look_at(store)
        await sync.take(files, None, None)
        return sync.result(plan.base, persisted=False)
    writing = store.create(plan.target) if plan.is_rebuild else store.update(plan.target.id)
    known_length = None if plan.is_rebuild else plan.base.average_length
    async with (
        await writing as writer,
        PointWriter(writer, embed, average_length=known_length, known=sync.vectors, progress=progress) as points,
    ):
        await sync.look_at(store)
        await sync.count_words(store)
        await sync.take(files, writer, points)
        await points.finish()
        if sync.is_idle:
            return sync.result(plan.base, persisted=False)
        average_length = await weighed(writer, points.average_length, sync.mean_length)
        now = timestamp()
        current = await store.record(plan.target.id)
        record = replace(
            plan.target,
            calibration=current.calibration,
            profile={},  # of what the index held; whoever syncs makes another
            created_at=plan.base.created_at,
            updated_at=now,
            sync={"synced_at": now, **sync.result(plan.base, persisted=True).counts()},
            average_length=average_length,
            words=sync.words,
        )
        await writer.commit(record)
    return sync.result(record, persisted=True)


def _check_unchanged(reader: IndexReader, base: IndexRecord) -> None:
    """That the index holds what it held; what was learnt of that since is no change."""
    if replace(reader.record, profile=base.profile, calibration=base.calibration) != base:
        message = f"The index '{base.id}' was changed by somebody else meanwhile; nothing was written. Try again."
        raise AstRagIndexError(message, retryable=True)


class _Sync:
    """One sync: what the index held of the files that are touched, and what becomes of it."""

    def __init__(self, plan: SyncPlan, keep_failed: bool, max_chunks: int | None) -> None:
        self.vectors: dict[str, Vectors] = {}
        """What need not be embedded again, by the hash of the text."""
        self._plan = plan
        self._keep_failed = keep_failed and not plan.is_rebuild
        self._max_chunks = max_chunks
        self._old: dict[str, dict[str, Entry]] = {}
        """Entries by file and chunk id."""
        self._seen: set[str] = set()
        self._same: set[str] = set()
        """Files that were cut again from the document that the index had, or from the same one at another place."""
        self._added = self._removed = self._reembedded = 0
        self._reused = 0 if plan.is_rebuild else plan.unchanged_chunks
        self._warnings: list[Notice] = []
        self.words = 0
        """Of all chunks that the index will hold, once they have been counted."""

    async def look_at(self, store: Store) -> None:
        """Load what the index holds of the files that are touched."""
        plan = self._plan
        touched = (*plan.changed, *plan.removed, *(plan.unchanged if plan.is_rebuild else ()))
        async with await store.reader(plan.target.id) as reader:
            _check_unchanged(reader, plan.base)
            for start in range(0, len(touched), _FILES_AT_ONCE):
                async for point in reader.points(Filter(file_ids=touched[start : start + _FILES_AT_ONCE])):
                    entry = point.entry
                    self._old.setdefault(entry.chunk.file_id, {})[entry.chunk.id] = entry
                    if plan.base.embedding == plan.target.embedding:
                        self.vectors[entry.embedded] = np.asarray(point.dense, dtype=np.float32)

    async def count_words(self, store: Store) -> None:
        """Begin with the words that the index holds: what changes is added and taken off."""
        base = self._plan.base
        if self._plan.is_rebuild:
            return
        if base.words is not None:
            self.words = base.words
            return
        async with await store.reader(base.id) as reader:
            async for point in reader.points():
                self.words += lexical.word_count([point.entry.chunk.text])

    @property
    def mean_length(self) -> float:
        """Words per chunk of what the index will hold."""
        return lexical.mean_length(self.words, self._reused + self._reembedded)

    async def take(self, files: AsyncIterable[CutFile], writer: Writer | None, points: PointWriter | None) -> None:
        """Count every file, and write it where there is a writer."""
        async for file in files:
            await self._take(file, writer, points)
            check_chunk_count(self._reused + self._reembedded, self._max_chunks)
        lost = [*self._plan.removed, *self._failed()]
        for file_id in self._failed() if self._keep_failed else ():
            lost.remove(file_id)
            self._reused += len(self._old.get(file_id, ()))
        self._removed += sum(len(self._old.get(file_id, ())) for file_id in lost)
        for file_id in lost:
            self._uncount(file_id)
        if writer:
            await writer.remove(file_ids=lost)
        if not self._reused + self._reembedded:
            message = f"Nothing would be left in the index '{self._plan.target.id}'. Delete it, if that is meant."
            raise AstRagIndexError(message, details={"reason": "empty"})

    async def _take(self, file: CutFile, writer: Writer | None, points: PointWriter | None) -> None:
        file_id = file.document.file_id
        old, new = self._old.get(file_id, {}), set()
        self._uncount(file_id)
        self.words += await file.word_count()
        for entry, text in file.entries():
            new.add(entry.chunk.id)
            self._added += entry.chunk.id not in old
            is_known = entry.embedded in self.vectors
            self._reused += is_known
            self._reembedded += not is_known
            if points and (self._plan.is_rebuild or entry != old.get(entry.chunk.id)):
                await points.add(entry, text)
        gone = sorted(old.keys() - new)
        whole = self._plan.is_rebuild or new <= old.keys()  # of a part of a file more is taken now
        if whole and any(entry.sha256 == file.document.sha256 for entry in old.values()):
            self._same.add(file_id)
        self._removed += len(gone)
        self._seen.add(file_id)
        self._warnings += file.document.notices
        if writer:
            await writer.remove(chunk_ids=gone)
            await writer.put_document(file.document, file.source)

    def _uncount(self, file_id: str) -> None:
        """The words of what the index held of a file are not what it will hold; a rebuild has counted none of them."""
        if not self._plan.is_rebuild:
            self.words -= lexical.word_count(entry.chunk.text for entry in self._old.get(file_id, {}).values())

    @property
    def is_idle(self) -> bool:
        """Whether it all came to nothing: new files that cannot be read, now as before."""
        plan = self._plan
        return (
            plan.target == plan.base and not self._seen and not self.result(plan.base, persisted=False).removed_sources
        )

    def _failed(self) -> list[str]:
        return [file_id for file_id in self._plan.to_cut if file_id not in self._seen]

    def result(self, record: IndexRecord, *, persisted: bool) -> SyncResult:
        plan, failed = self._plan, set(self._failed())
        kept = failed & {*plan.changed, *plan.unchanged} if self._keep_failed else set()
        lost = failed - kept - set(plan.added)
        same = self._same & set(plan.changed)
        return SyncResult(
            record=record,
            persisted=persisted,
            added_sources=len(set(plan.added) - failed),
            updated_sources=len(set(plan.changed) - failed - same),
            removed_sources=len(plan.removed) + len(lost),
            unchanged_sources=len(set(plan.unchanged) - failed) + len(kept | same),
            added_chunks=self._added,
            removed_chunks=self._removed,
            reused_chunks=self._reused,
            reembedded_chunks=self._reembedded,
            warnings=tuple(self._warnings),
        )
