"""Indexes: made from their sources and kept in step with them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any

from chapterverse.errors import AstRagError, AstRagIndexError, AstRagValidationError
from chapterverse.index.build import BuildResult, CutFile, build_index, timestamp
from chapterverse.index.finishing import finished
from chapterverse.index.sync import SyncPlan, SyncResult, plan_sync, sync_index
from chapterverse.ingest.sentences import split
from chapterverse.library.asking import make_profile
from chapterverse.library.catalogue import Catalogue
from chapterverse.library.embedding import FROM_ENVIRONMENT, Access, made_with, outgrown
from chapterverse.library.offers import Ingestion, Offers, SourceSpec, gather
from chapterverse.library.recorded import as_recorded, check_choice, source_named, sources_at, specs_of
from chapterverse.library.shelving import cut_again, cut_files, truncated
from chapterverse.library.terms import chunking_over, full_address, index_name, retrieval_defaults, slug
from chapterverse.protocols import Vectors
from chapterverse.providers.catalog import Target
from chapterverse.retry import Retry
from chapterverse.types import Chunking, EmbeddingModel, IndexRecord, Notice, SourceRecord

_PATIENCE = Retry(attempts=4, wait_initial=0.2, wait_jitter=0.2)
"""With whoever is writing to an index just when its profile is to be stored."""


class Indexes(Catalogue):
    """Indexes in one store, made and kept in step with their sources. Use it as an async context manager."""

    async def add(
        self,
        address: str | Path,
        *,
        index: str | None = None,
        embedding: str | None = None,
        chunking: Chunking | Mapping[str, int] | None = None,
        spec: Mapping[str, Any] | None = None,
        ingestion: Ingestion = Ingestion(),
        replacing: Collection[str] = (),
    ) -> BuildResult | SyncResult:
        """Index a book or a folder: into the index that is named, beside the books it has, or into one of its own.

        A `chunking` that gives some sizes only leaves the others as the index has them.
        `replacing` are addresses of sources of that index that this one takes the place of.
        """
        if replacing:
            index = await self.find(index)
        source = SourceSpec.from_dict({**(spec or {}), "address": str(full_address(address))})
        wanted = index or self.settings.index
        name = wanted or await self._own_name(source.address)
        key, first = await self.id_for(name), slug(wanted or index_name(source.address))
        if key in await self.store.indexes():
            return await self._extend(key, source, embedding, chunking, ingestion, replacing)
        target = self.embeddings.registry.resolve(embedding or self.settings.embedding)
        cut = chunking_over({}, chunking)
        result = await self.build(key, name, [source], target, cut, ingestion, replace_old=False)
        note = f"The index {first!r} has other books: this one is {key!r}."
        return replace(result, note=note) if key != first else result

    async def _own_name(self, address: str) -> str:
        """What the index of this book alone is called: with a number, if an index of other books has the name."""
        name = index_name(address)
        there = await self.store.indexes()
        for number in count(1):
            own = name if number == 1 else f"{name} {number}"
            key = await self.id_for(own)
            if key not in there or sources_at(await self.store.record(key), address):
                return own
        raise AssertionError("numbers do not end")

    async def keep(self, address: str | Path) -> None:
        """Have an index of this book or folder alone, in step with it, and ask that one when none is named."""
        source = str(full_address(address))
        name = index_name(source)
        there = [one for one in await self.indexes() if len(specs_of(one)) == 1 and sources_at(one, source)]
        key = next((record.id for record in there), None)
        if key is not None:
            await self.sync(key)
        else:
            taken = await self.id_for(name) in await self.store.indexes()
            name = f"{name} {hashlib.sha256(source.encode()).hexdigest()[:8]}" if taken else name
            key = (await self.add(address, index=name)).record.id
        self.settings = self.settings.model_copy(update={"index": key})

    async def build(
        self,
        key: str,
        name: str,
        sources: Sequence[SourceSpec],
        target: Target,
        chunking: Chunking,
        ingestion: Ingestion = Ingestion(),
        retrieval: Mapping[str, Any] | None = None,
        *,
        replace_old: bool = True,
    ) -> BuildResult:
        """Build an index from its sources; one of the same id is replaced when the new one is complete, or an error.

        `retrieval` is how it is searched unless a request says otherwise; None leaves it to the embedding model.
        """
        offers = await self._look(sources, ingestion)
        target, embed = await self._embedder(target)
        record = IndexRecord(
            id=key,
            name=name,
            embedding=EmbeddingModel(target.provider, target.model, target.dimensions or 0),
            created_at=timestamp(),
            updated_at=timestamp(),
            chunking=asdict(chunking),
            retrieval_defaults=retrieval_defaults(target) if retrieval is None else retrieval,
            source_config=as_recorded(offers.specs),
        )
        left_out = offers.notices
        async with (
            self.uploads.tidied(key),
            aclosing(cut_files(offers.listed, offers.fingerprints, chunking, ingestion, left_out)) as cut,
            aclosing(truncated(cut, ingestion, left_out)) as taken,
        ):
            files = await self._confirmed(taken, target, ingestion)
            result = await build_index(
                self.store,
                record,
                files,
                embed,
                replace_old=replace_old,
                max_chunks=ingestion.max_chunks,
                progress=ingestion.on_chunks,
                left_out=left_out,
            )
        record = await finished(self._profiled(result.record, target, left_out))
        return replace(result, record=record, warnings=(*result.warnings, *left_out))

    async def sync(
        self,
        index: str | None = None,
        *,
        dry_run: bool = False,
        sources: Sequence[SourceSpec] | None = None,
        chunking: Chunking | Mapping[str, int] | None = None,
        embedding: str | None = None,
        access: Access = FROM_ENVIRONMENT,
        ingestion: Ingestion = Ingestion(),
    ) -> SyncResult:
        """Bring an index into step with its sources: only what changed is read, and only what is new is embedded.

        `sources`, where given, take the place of those that it has. Of `chunking`, only the sizes that it gives change.
        """
        record = await self.record(index)
        held = await self._held(record.id)
        offers = await self._look(specs_of(record) if sources is None else sources, ingestion, held)
        wish = self._wish(record, offers.specs, chunking, embedding, access)
        return await self._step(record, wish, offers, ingestion, access, dry_run)

    async def _extend(
        self,
        key: str,
        source: SourceSpec,
        embedding: str | None,
        chunking: Chunking | Mapping[str, int] | None,
        ingestion: Ingestion,
        replacing: Collection[str],
    ) -> SyncResult:
        """Take one more source into an index; its other sources are not looked at.

        With another embedding model or chunking, their books are made anew from what the index holds of them.
        """
        record = await self.store.record(key)
        held = await self._held(key)
        same = {spec.address for spec in sources_at(record, source.address)}
        named = {source_named(record, address).address for address in replacing}
        old = same | named
        specs = specs_of(record)
        places = [place for place, spec in enumerate(specs) if spec.address in old] or [len(specs)]
        source = replace(source, prefix=specs[places[0]].prefix if places[0] < len(specs) else "")
        elsewhere = {one.file_id for one in held if one.source_id not in old}
        offers = await self._look([source], ingestion, held, elsewhere)
        if same.isdisjoint(named):
            check_choice(record, source, held, offers)
        sources = [*specs[: places[0]], *offers.specs, *(one for one in specs[places[0] :] if one.address not in old)]
        wish = self._wish(record, sources, chunking, embedding)
        return await self._step(record, wish, offers, ingestion)

    async def _held(self, key: str) -> list[SourceRecord]:
        async with await self.store.reader(key) as reader:
            return await reader.sources()

    def _wish(
        self,
        record: IndexRecord,
        sources: Sequence[SourceSpec],
        chunking: Chunking | Mapping[str, int] | None,
        embedding: str | None,
        access: Access = FROM_ENVIRONMENT,
    ) -> IndexRecord:
        """What an index shall become; with another embedding model or chunking it is rebuilt beside the old one."""
        registry = self.embeddings.registry
        wanted = embedding or (record.embedding.provider if outgrown(registry, record.embedding) else None)
        target = (
            registry.resolve(wanted, auth=access.auth, options=access.options)
            if wanted
            else made_with(registry, record.embedding, access)
        )
        made = EmbeddingModel(target.provider, target.model, target.dimensions or record.embedding.dimensions)
        weights = retrieval_defaults(target) if made != record.embedding else {}
        return replace(
            record,
            embedding=made,
            retrieval_defaults={**record.retrieval_defaults, **weights},
            chunking=asdict(chunking_over(record.chunking, chunking)) if chunking else record.chunking,
            source_config=as_recorded(sources),
        )

    async def _step(
        self,
        base: IndexRecord,
        wish: IndexRecord,
        offers: Offers,
        ingestion: Ingestion,
        access: Access = FROM_ENVIRONMENT,
        dry_run: bool = False,
    ) -> SyncResult:
        target, embed = await self._embedder(made_with(self.embeddings.registry, wish.embedding, access))
        plan = await plan_sync(self.store, base, wish, offers.fingerprints, offers.moved)
        failed: list[Notice] = []
        async with (
            self.uploads.tidied(wish.id),
            aclosing(self._cut(plan, offers, ingestion, failed)) as cut,
        ):
            result = await sync_index(
                self.store,
                plan,
                cut if dry_run else await self._confirmed(cut, target, ingestion),
                embed,
                keep_failed=ingestion.skip_failures,
                dry_run=dry_run,
                max_chunks=ingestion.max_chunks,
                progress=ingestion.on_chunks,
            )
        record = result.record
        if result.persisted or not (dry_run or record.profile):  # a process may have died before it made one
            record = await finished(self._profiled(record, target, failed))
        return replace(result, record=record, warnings=(*result.warnings, *failed, *offers.notices))

    async def _cut(
        self, plan: SyncPlan, offers: Offers, ingestion: Ingestion, failed: list[Notice]
    ) -> AsyncGenerator[CutFile, None]:
        """The files that a plan names. What cannot be read, and would be lost for it, comes from the index itself."""
        chunking = Chunking(**plan.target.chunking)
        missing = set(plan.to_cut)
        async with aclosing(cut_files(offers.listed, plan.to_cut, chunking, ingestion, failed)) as read:
            async for file in read:
                missing.remove(file.document.file_id)
                yield file
        renamed, homes = offers.renamed, offers.homes
        elsewhere = renamed.keys() | offers.moved
        held = {renamed.get(one, one): one for one in missing if plan.is_rebuild or one in elsewhere}
        if not held:
            return
        async with (
            await self.store.reader(plan.target.id) as reader,
            aclosing(cut_again(reader, held, homes, chunking, ingestion)) as again,
        ):
            async for file in again:
                yield file

    async def remove_source(self, index: str, address: str | Path) -> SyncResult:
        """Drop one of several sources of an index, wherever it may be by now, and what the index has of it."""
        record = await self.record(index)
        source = source_named(record, address)
        others = [spec for spec in specs_of(record) if spec != source]
        if not others:
            message = f"The index {record.id!r} has no other source than {source.address!r}: remove the index instead."
            raise AstRagIndexError(message, details={"reason": "empty"})
        held = await self._held(record.id)
        homes = {spec.address for spec in others}
        kept = {one.file_id: one.fingerprint for one in held if one.source_id in homes}
        wish = self._wish(record, others, None, None)
        return await self._step(record, wish, Offers(tuple(others), kept=kept), Ingestion())

    async def _embedder(self, target: Target) -> tuple[Target, Callable[[Sequence[str]], Any]]:
        if target.dimensions is None:  # only its vectors tell
            probe = await self.embeddings.embed(target, ["How long is a vector?"], "query")
            target = replace(target, dimensions=probe.vectors.shape[1])

        async def embed(texts: Sequence[str]) -> Vectors:
            return (await self.embeddings.embed(target, texts, "document")).vectors

        return target, embed

    async def _profiled(self, record: IndexRecord, target: Target, notices: list[Notice]) -> IndexRecord:
        """Store what the index is about with it, so that a question about something else need not be searched for.

        Everything else is stored already: where this fails, the next sync makes up for it.
        """

        async def embed(texts: Sequence[str]) -> Vectors:
            return (await self.embeddings.embed(target, texts, "query")).vectors

        try:
            async with await self.store.reader(record.id) as reader:
                profile = await make_profile(reader, embed, split)
            return await _PATIENCE.run(lambda: self._put_profile(record, profile), _is_locked)
        except AstRagError as error:
            if not _is_locked(error):  # whoever is writing makes one of its own
                reason = f"It is stored, but not yet what it is about: `chapterverse sync` makes up for that. {error}"
                notices.append(Notice(record.id, record.name, reason))
            return record

    async def _put_profile(self, made_for: IndexRecord, profile: Mapping[str, Any]) -> IndexRecord:
        """The index's record with the profile, unless the index is no longer as it was when the profile was made."""
        async with await self.store.update(made_for.id) as writer:
            if writer.record.updated_at != made_for.updated_at:
                return made_for
            record = replace(writer.record, profile=profile)
            await writer.commit(record)
        return record

    async def _look(
        self,
        specs: Sequence[SourceSpec],
        ingestion: Ingestion,
        held: Sequence[SourceRecord] = (),
        kept: Collection[str] = (),
    ) -> Offers:
        return await asyncio.to_thread(gather, specs, ingestion, held, kept)

    async def _confirmed(
        self, files: AsyncGenerator[CutFile, None], target: Target, ingestion: Ingestion
    ) -> AsyncGenerator[CutFile, None]:
        """The files themselves; where embedding them costs money, only after whoever pays has said yes."""
        if ingestion.confirm is None or target.card.price == 0:
            return files
        everything = [file async for file in files]
        preview = await self.embeddings.preview(target, [text for file in everything for text in file.embed_texts])
        if not ingestion.confirm(preview):
            raise AstRagValidationError("Stopped before anything paid was sent; nothing was stored.")
        return _again(everything)


def _is_locked(error: Exception) -> bool:
    return isinstance(error, AstRagIndexError) and error.details.get("reason") == "locked"


async def _again(files: Sequence[CutFile]) -> AsyncGenerator[CutFile, None]:
    for file in files:
        yield file
