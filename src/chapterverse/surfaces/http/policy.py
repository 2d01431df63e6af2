"""What a request over HTTP may ask for. Whoever runs the service decides what it reads, and what it pays for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from chapterverse.contracts import settle
from chapterverse.contracts.requests import (
    AnswerRequest,
    BuildRequest,
    Configuration,
    Embedding,
    QueryRequest,
    Source,
    SyncRequest,
    parse,
)
from chapterverse.errors import AstRagValidationError
from chapterverse.ingest.sources import urls
from chapterverse.library import AsyncLibrary, Generation
from chapterverse.library.terms import resolve_address
from chapterverse.providers.generation.catalog import LOCAL
from chapterverse.settings import ServiceSettings

_KEYS = ("api_key", "access_token")


def configuration(service: ServiceSettings) -> Configuration:
    """What holds where requests do not say."""
    provider, _, model = service.model.partition(":")
    return parse(
        Configuration,
        {
            "generation": {"provider": provider, **({"model": model} if model else {})},
            "options": {"deadlineSeconds": service.deadline},
        },
    )


def generation(service: ServiceSettings) -> Generation:
    """Who writes the answers."""
    return Generation(model=service.model, seconds=service.deadline)


def check_query(asked: QueryRequest) -> None:
    """A search, or the search of an answer."""
    if asked.embedding and asked.embedding.provider_options:
        raise _not_here("embedding.providerOptions")


def check_answer(asked: AnswerRequest, service: ServiceSettings, library: AsyncLibrary) -> None:
    """An answer by the service's model, by the local one, or by any that the request brings the key for."""
    check_query(asked)
    if asked.generation and asked.generation.provider_options:
        raise _not_here("generation.providerOptions")
    chosen = settle.generation(asked, configuration(service), library.embeddings.registry)
    if chosen.model not in (LOCAL, service.model):
        _needs_key("generation", chosen.model, chosen.auth if isinstance(chosen.auth, Mapping) else {})
    if chosen.seconds is not None and chosen.seconds > service.deadline:
        raise AstRagValidationError(
            f"options.deadlineSeconds: at most {service.deadline:g} here; whoever runs the service sets it, with"
            " --deadline or CHAPTERVERSE_DEADLINE."
        )


def check_build(asked: BuildRequest, service: ServiceSettings, library: AsyncLibrary) -> None:
    """A source that may be read, kept where the service keeps its indexes."""
    _check_source(asked.source, service.roots)
    _check_embedding(asked.embedding, asked.auth, library)
    if asked.index and asked.index.destination_folder_id is not None:
        raise _not_here("index.destinationFolderId")


def check_sync(asked: SyncRequest, service: ServiceSettings, library: AsyncLibrary) -> None:
    """The sources that the index has, or others that may be read; the index is the one in the address."""
    if asked.index_file_id is not None:
        raise AstRagValidationError("indexFileId: the index is named in the address; leave it out here.")
    if asked.source is not None:
        _check_source(asked.source, service.roots)
    if asked.embedding and asked.embedding.model and not asked.embedding.provider:
        # It would be a model of the index's provider, which is not the one that is checked here.
        raise AstRagValidationError("embedding.provider: name it too, where embedding.model is given.")
    _check_embedding(asked.embedding, asked.auth, library)


def _check_embedding(asked: Embedding | None, auth: object, library: AsyncLibrary) -> None:
    if asked is None:
        return
    if asked.provider_options:
        raise _not_here("embedding.providerOptions")
    chosen, provider, _ = settle.embedding(None, asked, library.settings.embedding)
    if chosen not in (LOCAL, library.settings.embedding):
        keys = settle.auth(provider, library.embeddings.registry, auth)  # type: ignore[arg-type]
        _needs_key("embedding", chosen, keys)


def _check_source(source: Source, roots: Sequence[str]) -> None:
    if not any(_lies_in(source.folder_id.strip(), root) for root in roots):
        # Nothing is said about what is there and what is not.
        raise AstRagValidationError(
            "source.folderId: this service does not read from there. Whoever runs it names the folders and addresses"
            " that it may read, with --root or CHAPTERVERSE_ROOTS."
        )


def is_path(address: str) -> bool:
    """Whether an address is a file or folder of this machine."""
    return _kind(address) not in ("http", "https", "gdrive")


def _kind(address: str) -> str:
    return address.partition(":")[0].casefold()


def _lies_in(address: str, root: str) -> bool:
    kinds = {_kind(address), _kind(root)}
    if "gdrive" in kinds:
        return address == root
    if kinds & {"http", "https"}:
        wanted, there = urls.normal(address), urls.normal(root)
        if wanted is None or there is None or urls.origin(wanted) != urls.origin(there):
            return False
        return urls.below(wanted, urls.prefix(there))
    try:
        return Path(resolve_address(address)).resolve().is_relative_to(Path(resolve_address(root)).resolve())
    except (OSError, RuntimeError, ValueError):  # a name too long, no home, a NUL: nothing of that name can exist
        return False


def _needs_key(field: str, chosen: str, keys: Mapping[str, object]) -> None:
    if not any(keys.get(name) for name in _KEYS):
        raise AstRagValidationError(
            f"{field}: {chosen} is not what this service uses. Leave {field} out, or send a key of your own in auth."
        )


def _not_here(field: str) -> AstRagValidationError:
    return AstRagValidationError(f"{field}: whoever runs the service sets this; leave it out.")
