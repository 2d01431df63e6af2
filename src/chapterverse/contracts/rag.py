"""The RAG surface: dictionaries in, dictionaries out, camelCase; every method also has its camelCase name."""

# ruff: noqa: N815

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chapterverse.answer import prompts
from chapterverse.contracts import responses, settle
from chapterverse.contracts.config import Config
from chapterverse.contracts.requests import (
    AnswerRequest,
    BuildRequest,
    Configuration,
    Embedding,
    InspectRequest,
    QueryRequest,
    SearchRequest,
    Section,
    SyncRequest,
    parse,
)
from chapterverse.contracts.responses import Body
from chapterverse.contracts.shelves import Shelves, default_shelves
from chapterverse.errors import AstRagIndexError
from chapterverse.library import Access, Library
from chapterverse.library.terms import check_question, index_name, slug
from chapterverse.providers.catalog import describe
from chapterverse.types import IndexRecord

Request = Mapping[str, Any]


class RegisterOptions(Section):
    overwrite: bool = False


class RAG:
    """Indexes as a service knows them. Surfaces share the libraries of the process, unless they bring `shelves`."""

    def __init__(self, shelves: Shelves | None = None) -> None:
        self._shelves = shelves or default_shelves()
        self._config = Config()

    def configure(self, config: Request, options: Request | None = None) -> Body:
        """Set what holds where requests do not say; returns a copy of it all, without secrets."""
        return self._config.configure(config, options)

    def get_config(self) -> Body:
        """A copy of what was configured, without secrets."""
        return self._config.get()

    def clear_config(self) -> Body:
        """Forget what was configured."""
        return self._config.clear()

    def build_index(self, request: Request) -> Body:
        """Build an index from a source; `index.indexFileId` replaces that index once the new one is complete."""
        asked, config = parse(BuildRequest, request), self._config.current()
        spec = settle.source_spec(asked.source)
        library, folder, key, name = self._place(asked, spec.address)
        provider, access = self._embedding(asked.embedding, asked.auth, config)
        target = library.embeddings.registry.resolve(provider, auth=access.auth, options=access.options)
        result = library.build(
            key,
            name,
            [spec],
            target,
            settle.chunking(asked.chunking, config),
            settle.ingestion(asked.options, config, asked.auth),
            settle.stored_ranking(asked.retrieval),
        )
        return responses.built(result, _public_id(folder, key))

    def sync_index(self, request: Request) -> Body:
        """Bring an index into step with its source; with `dryRun` only say what that would do."""
        asked, config = parse(SyncRequest, request), self._config.current()
        library, folder, record = self._index(asked.index_file_id, config)
        dry_run = bool(asked.dry_run if asked.dry_run is not None else asked.options and asked.options.dry_run)
        wanted, access = self._change(record, asked, config)
        result = library.sync(
            record.id,
            dry_run=dry_run,
            sources=[settle.source_spec(asked.source)] if asked.source else None,
            chunking=settle.changed_chunking(asked.chunking, record),
            embedding=wanted,
            access=access,
            ingestion=settle.ingestion(asked.options, config, asked.auth),
        )
        return responses.synced(result, _public_id(folder, record.id), dry_run)

    def search(self, request: Request) -> Body:
        """The chunks of an index that bear on a query, best first."""
        asked, config = parse(SearchRequest, request), self._config.current()
        check_question(asked.query)
        library, _, record = self._index(asked.index_file_id, config)
        result = library.search(
            asked.query,
            index=record.id,
            settings=settle.ranking(asked, record, config),
            where=settle.where(asked),
            access=self._query_access(record, asked, config),
        )
        return responses.searched(result)

    def answer(self, request: Request) -> Body:
        """An answer that an index bears out, with its citations; or that there is too little context for one."""
        asked, config = parse(AnswerRequest, request), self._config.current()
        check_question(asked.question)
        library, _, record = self._index(asked.index_file_id, config)
        settings = settle.ranking(asked, record, config)
        options = {**settle.said(config.options), **settle.said(asked.options)}
        answer = library.ask(
            asked.question,
            index=record.id,
            settings=settings,
            where=settle.where(asked),
            history=[turn.model_dump() for turn in asked.history or ()],
            generation=settle.generation(asked, config, library.embeddings.registry),
            access=self._query_access(record, asked, config),
        )
        insufficient = options.get("insufficient_evidence_message", prompts.INSUFFICIENT_CONTEXT)
        return responses.answered(answer, settings, insufficient)

    def inspect_index(self, request: Request | None = None) -> Body:
        """What an index says of itself, and how much it holds."""
        asked, config = parse(InspectRequest, request or {}), self._config.current()
        library, folder, record = self._index(asked.index_file_id, config)
        return responses.inspected(library.inspect(record.id), _public_id(folder, record.id))

    def embedding_providers(self) -> list[str]:
        """The names of all embedding providers."""
        return self._shelves.embeddings.registry.names()

    def embedding_capabilities(self, provider: str) -> Body:
        """What a provider's models take, give and cost."""
        capabilities: Body = responses.camel(describe(self._shelves.embeddings.registry.capabilities(provider)))
        return {"provider": provider.strip().casefold(), **capabilities}

    def register_embedding_provider(self, name: str, adapter: Any, options: Request | None = None) -> list[str]:
        """Add an adapter; with the option `overwrite` it takes the place of another. Returns all names."""
        overwrite = parse(RegisterOptions, options or {}).overwrite
        self._shelves.embeddings.registry.register(name, adapter, overwrite=overwrite)
        return self.embedding_providers()

    def unregister_embedding_provider(self, name: str) -> list[str]:
        """Take out an adapter that was added. Returns all names."""
        self._shelves.embeddings.registry.unregister(name)
        return self.embedding_providers()

    getConfig = get_config
    clearConfig = clear_config
    buildIndex = build_index
    syncIndex = sync_index
    inspectIndex = inspect_index
    embeddingProviders = embedding_providers
    embeddingCapabilities = embedding_capabilities
    registerEmbeddingProvider = register_embedding_provider
    unregisterEmbeddingProvider = unregister_embedding_provider

    def _index(self, index_file_id: str | None, config: Configuration) -> tuple[Library, Path | None, IndexRecord]:
        """The index that is meant, and where it is."""
        folder, index = _split(index_file_id or config.index_file_id)
        library = self._shelves.library(folder)
        return library, folder, library.record(index)

    def _place(self, asked: BuildRequest, address: str) -> tuple[Library, Path | None, str, str]:
        """Where a new index goes: library, folder, id and name. Only the index that `indexFileId` names is replaced."""
        given = settle.said(asked.index)
        folder, index = _split(given.get("index_file_id"))
        if folder is None and "destination_folder_id" in given:
            folder = Path(given["destination_folder_id"]).expanduser().resolve()
        library = self._shelves.library(folder)
        if index is not None:
            record = library.record(index)
            return library, folder, record.id, given.get("index_name", record.name)
        name = given.get("index_name") or index_name(address)
        key = slug(name)
        if any(record.id == key for record in library.indexes()):
            raise AstRagIndexError(
                f"There is an index {key!r} already: give it as index.indexFileId to replace it, use syncIndex to bring"
                " it into step with its source, or choose another index.indexName.",
                details={"reason": "exists", "index": key},
            )
        return library, folder, key, name

    def _embedding(self, asked: Embedding | None, auth: Any, config: Configuration) -> tuple[str, Access]:
        """What to embed with, as `provider:model`, and what it is given."""
        chosen, provider, options = settle.embedding(config.embedding, asked, self._shelves.settings.embedding)
        return chosen, Access(self._keys(provider, auth, config), options)

    def _change(self, record: IndexRecord, asked: SyncRequest, config: Configuration) -> tuple[str | None, Access]:
        """What to embed an index with from now on, or None if it stays as it is, and what the provider is given."""
        other = asked.embedding
        if other is None or not (other.provider or other.model):
            return None, self._access(record, other, asked.auth, config)
        provider = other.provider or record.embedding.provider
        return self._embedding(other.model_copy(update={"provider": provider}), asked.auth, config)

    def _access(self, record: IndexRecord, asked: Section | None, auth: Any, config: Configuration) -> Access:
        """What the provider that an index was made with is given."""
        provider = record.embedding.provider
        options = settle.with_configured(config.embedding, asked, provider)["provider_options"]
        return Access(self._keys(provider, auth, config), options)

    def _query_access(self, record: IndexRecord, asked: QueryRequest, config: Configuration) -> Access:
        return self._access(record, asked.embedding, asked.auth, config)

    def _keys(self, provider: str, auth: Any, config: Configuration) -> dict[str, str]:
        return settle.auth(provider, self._shelves.embeddings.registry, auth, config.auth)


def _split(index_file_id: str | None) -> tuple[Path | None, str | None]:
    """An index id is the index's name, or the path of its folder if that is kept elsewhere."""
    if index_file_id is None or not set(index_file_id) & {"/", "\\"}:
        return None, index_file_id
    path = Path(index_file_id).expanduser().resolve()
    return path.parent, path.name


def _public_id(folder: Path | None, key: str) -> str:
    return key if folder is None else str(folder / key)
