"""The RAG surface: dictionaries in, dictionaries out, camelCase; every method also has its camelCase name."""

# ruff: noqa: N815

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from chapterverse.contracts import operations, responses
from chapterverse.contracts.config import Config
from chapterverse.contracts.requests import (
    AnswerRequest,
    BuildRequest,
    Index,
    InspectRequest,
    SearchRequest,
    Section,
    SyncRequest,
    parse,
)
from chapterverse.contracts.responses import Body
from chapterverse.contracts.shelves import Shelves, default_shelves
from chapterverse.errors import AstRagValidationError
from chapterverse.providers.catalog import describe

Request = Mapping[str, Any]
Operation = Callable[..., Coroutine[Any, Any, Body]]


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
        asked = parse(BuildRequest, request)
        index = asked.index or Index()
        folder, key = _split(index.index_file_id)
        folder = _destination(folder, index.destination_folder_id)
        index = index.model_copy(update={"index_file_id": key})
        return self._run(folder, operations.build, asked.model_copy(update={"index": index}))

    def sync_index(self, request: Request) -> Body:
        """Bring an index into step with its source; with `dryRun` only say what that would do."""
        return self._on_index(operations.sync, parse(SyncRequest, request))

    def search(self, request: Request) -> Body:
        """The chunks of an index that bear on a query, best first."""
        return self._on_index(operations.search, parse(SearchRequest, request))

    def answer(self, request: Request) -> Body:
        """An answer that an index bears out, with its citations; or that there is too little context for one."""
        return self._on_index(operations.answer, parse(AnswerRequest, request))

    def inspect_index(self, request: Request | None = None) -> Body:
        """What an index says of itself, and how much it holds."""
        return self._on_index(operations.inspect, parse(InspectRequest, request or {}))

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

    def _on_index(self, operation: Operation, asked: Any) -> Body:
        """Run an operation on the index that is meant, wherever that is kept."""
        configured = self._config.current().index_file_id
        folder, index = _split(configured if asked.index_file_id is None else asked.index_file_id)
        return self._run(folder, operation, asked.model_copy(update={"index_file_id": index}))

    def _run(self, folder: Path | None, operation: Operation, asked: Any) -> Body:
        config = self._config.current()
        body = self._shelves.library(folder).run(lambda library: operation(library, asked, config))
        if folder is not None and "indexFileId" in body:
            body["indexFileId"] = str(folder / body["indexFileId"])
        return body


def _destination(folder: Path | None, given: str | None) -> Path | None:
    """Where an index goes: to the folder given, which can be no other than that of the index it replaces."""
    if given is None:
        return folder
    if not given.strip():
        raise AstRagValidationError("index.destinationFolderId is blank: name a folder, or leave it out.")
    wanted = Path(given).expanduser().resolve()
    if folder not in (None, wanted):
        raise AstRagValidationError(
            f"index.destinationFolderId: the index that index.indexFileId names is in {str(folder)!r}."
        )
    return wanted


def _split(index_file_id: str | None) -> tuple[Path | None, str | None]:
    """An index id is the index's name, or the path of its folder if that is kept elsewhere."""
    if index_file_id is None or not set(index_file_id) & {"/", "\\"}:
        return None, index_file_id
    path = Path(index_file_id).expanduser().resolve()
    return path.parent, path.name
