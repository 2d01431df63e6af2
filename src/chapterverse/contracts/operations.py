"""What can be asked of one library, as the RAG surface has it: parsed requests in, camelCase bodies out.

For code in an event loop. `RAG` is the blocking form of this, with configuration and more than one folder; the service
offers it over HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chapterverse.answer import prompts
from chapterverse.contracts import responses, settle
from chapterverse.contracts.requests import (
    AnswerRequest,
    BuildRequest,
    Configuration,
    Embedding,
    Index,
    InspectRequest,
    QueryRequest,
    SearchRequest,
    Section,
    SyncRequest,
)
from chapterverse.contracts.responses import Body
from chapterverse.errors import AstRagIndexError
from chapterverse.library import Access, AsyncLibrary
from chapterverse.library.terms import check_question, index_name
from chapterverse.types import IndexRecord

Watch = Callable[[str], None]
Count = Callable[[int], None]


async def build(
    library: AsyncLibrary,
    asked: BuildRequest,
    config: Configuration,
    on_file: Watch | None = None,
    on_chunks: Count | None = None,
) -> Body:
    """Build an index from a source; `index.indexFileId` replaces that index once the new one is complete."""
    spec = settle.source_spec(asked.source)
    key, name = await _place(library, asked.index, spec.address)
    provider, access = _embedding(library, asked.embedding, asked.auth, config)
    target = library.embeddings.registry.resolve(provider, auth=access.auth, options=access.options)
    ingestion = settle.ingestion(asked.options, config, asked.auth)
    result = await library.build(
        key,
        name,
        [spec],
        target,
        settle.chunking(asked.chunking, config),
        replace(ingestion, on_file=on_file, on_chunks=on_chunks),
        settle.stored_ranking(asked.retrieval),
    )
    return responses.built(result, key)


async def sync(
    library: AsyncLibrary,
    asked: SyncRequest,
    config: Configuration,
    on_file: Watch | None = None,
    on_chunks: Count | None = None,
) -> Body:
    """Bring an index into step with its source; with `dryRun` only say what that would do."""
    record = await library.record(_meant(asked, config))
    dry_run = bool(asked.dry_run if asked.dry_run is not None else asked.options and asked.options.dry_run)
    wanted, access = _change(library, record, asked, config)
    ingestion = settle.ingestion(asked.options, config, asked.auth)
    result = await library.sync(
        record.id,
        dry_run=dry_run,
        sources=[settle.source_spec(asked.source)] if asked.source else None,
        chunking=settle.sizes(settle.said(asked.chunking)) or None,
        embedding=wanted,
        access=access,
        ingestion=replace(ingestion, on_file=on_file, on_chunks=on_chunks),
    )
    return responses.synced(result, record.id, dry_run)


async def search(
    library: AsyncLibrary, asked: SearchRequest, config: Configuration, seconds: float | None = None
) -> Body:
    """The chunks of an index that bear on a query, best first; within so many `seconds`, if they are given."""
    check_question(asked.query)
    record = await library.record(_meant(asked, config))
    result = await library.search(
        asked.query,
        index=record.id,
        settings=settle.ranking(asked, record, config),
        where=settle.where(asked),
        access=_query_access(library, record, asked, config),
        seconds=seconds,
    )
    return responses.searched(result)


async def answer(library: AsyncLibrary, asked: AnswerRequest, config: Configuration) -> Body:
    """An answer that an index bears out, with its citations; or that there is too little context for one."""
    check_question(asked.question)
    record = await library.record(_meant(asked, config))
    settings = settle.ranking(asked, record, config)
    options = {**settle.said(config.options), **settle.said(asked.options)}
    said = await library.ask(
        asked.question,
        index=record.id,
        settings=settings,
        where=settle.where(asked),
        history=[turn.model_dump() for turn in asked.history or ()],
        generation=settle.generation(asked, config, library.embeddings.registry),
        access=_query_access(library, record, asked, config),
    )
    insufficient = options.get("insufficient_evidence_message", prompts.INSUFFICIENT_CONTEXT)
    return responses.answered(said, settings, insufficient)


async def inspect(library: AsyncLibrary, asked: InspectRequest, config: Configuration) -> Body:
    """What an index says of itself, and how much it holds."""
    inspection = await library.inspect(_meant(asked, config))
    return responses.inspected(inspection, inspection.record.id)


def _meant(asked: SyncRequest | QueryRequest | InspectRequest, config: Configuration) -> str | None:
    """The index that is asked for; a blank name is none, and no index is chosen in its stead."""
    return config.index_file_id if asked.index_file_id is None else asked.index_file_id


async def _place(library: AsyncLibrary, index: Index | None, address: str) -> tuple[str, str]:
    """The id and name of a new index. Only the index that `indexFileId` names is replaced."""
    given = settle.said(index)
    if "index_file_id" in given:
        record = await library.record(given["index_file_id"])
        return record.id, given.get("index_name", record.name)
    name = given.get("index_name") or index_name(address)
    key = await library.id_for(name)
    if key in await library.store.indexes():
        raise AstRagIndexError(
            f"There is an index {key!r} already: give it as index.indexFileId to replace it, use syncIndex to bring"
            " it into step with its source, or choose another index.indexName.",
            details={"reason": "exists", "index": key},
        )
    return key, name


def _embedding(library: AsyncLibrary, asked: Embedding | None, auth: Any, config: Configuration) -> tuple[str, Access]:
    """What to embed with, as `provider:model`, and what it is given."""
    chosen, provider, options = settle.embedding(config.embedding, asked, library.settings.embedding)
    return chosen, Access(_keys(library, provider, auth, config), options)


def _change(
    library: AsyncLibrary, record: IndexRecord, asked: SyncRequest, config: Configuration
) -> tuple[str | None, Access]:
    """What to embed an index with from now on, or None if it stays as it is, and what the provider is given."""
    other = asked.embedding
    if other is None or not (other.provider or other.model):
        return None, _access(library, record, other, asked.auth, config)
    provider = other.provider or record.embedding.provider
    return _embedding(library, other.model_copy(update={"provider": provider}), asked.auth, config)


def _query_access(library: AsyncLibrary, record: IndexRecord, asked: QueryRequest, config: Configuration) -> Access:
    return _access(library, record, asked.embedding, asked.auth, config)


def _access(
    library: AsyncLibrary, record: IndexRecord, asked: Section | None, auth: Any, config: Configuration
) -> Access:
    """What the provider that an index was made with is given."""
    provider = record.embedding.provider
    options = settle.with_configured(config.embedding, asked, provider)["provider_options"]
    return Access(_keys(library, provider, auth, config), options)


def _keys(library: AsyncLibrary, provider: str, auth: Any, config: Configuration) -> dict[str, str]:
    return settle.auth(provider, library.embeddings.registry, auth, config.auth)
