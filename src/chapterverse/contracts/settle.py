"""What holds where a request, the index, the configuration and the contract each say something, or nothing.

| what | from the strongest to the weakest |
|---|---|
| ranking | `retrieval.*`, the old names at the top, the index's `retrievalDefaults`, configured, the contract |
| filters | `retrieval.filters.*`, `filters.*` at the top |
| keys for generation | `generation.auth`, `auth[provider]`, `auth`, configured, environment |
| keys for embedding | `auth[provider]`, `auth`, configured, environment |
| everything else | the request, configured, the contract |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from chapterverse.answer.retrieve import Retrieval
from chapterverse.contracts.requests import (
    AnswerRequest,
    Auth,
    ChunkingSizes,
    Configuration,
    Embedding,
    IngestionOptions,
    QueryRequest,
    Ranking,
    Section,
    Source,
)
from chapterverse.errors import AstRagValidationError
from chapterverse.library import Ingestion, SourceSpec
from chapterverse.library.asking import Generation
from chapterverse.library.terms import resolve_address
from chapterverse.providers.generation.catalog import LOCAL, NAMES
from chapterverse.providers.registry import Registry
from chapterverse.providers.settings import auth_for, is_name
from chapterverse.types import Chunking, Filter, IndexRecord

S = TypeVar("S", bound=Section)

RANKING: Mapping[str, Any] = {
    "top_k": 8,
    "min_score": 0.2,
    "mode": "hybrid",
    "vector_weight": 0.65,
    "lexical_weight": 0.35,
    "rerank_enabled": False,
    "rerank_top_n": 20,
}
MAX_FILES, MAX_CHUNKS = 300, 2000
TEMPERATURE, MAX_OUTPUT_TOKENS = 0.1, 1024
CUSTOM, DRIVE = "custom", "gdrive"


def said(section: Section | None) -> dict[str, Any]:
    """The fields of a section that say something."""
    if section is None:
        return {}
    return {name: value for name in type(section).model_fields if (value := getattr(section, name)) is not None}


def with_configured(configured: Section | None, asked: Section | None, provider: str | None = None) -> dict[str, Any]:
    """A section about a provider, completed by what is configured, unless that is about another one."""
    base, given = said(configured), said(asked)
    wanted, about = provider or _provider(given), _provider(base)
    if wanted and about and wanted != about:
        base = {}
    options = {**base.get("provider_options", {}), **given.get("provider_options", {})}
    return {**base, **given, "provider_options": options}


def _provider(given: Mapping[str, Any]) -> str | None:
    """The name of a provider as the registry knows it."""
    name = str(given.get("provider", "")).partition(":")[0].strip().casefold()
    if name == CUSTOM:
        name = str(given.get("provider_options", {}).get("adapter", "")).strip().casefold()
    return name or None


def embedding(
    configured: Embedding | None, asked: Embedding | None, default: str
) -> tuple[str, str, Mapping[str, Any]]:
    """What to embed with: `provider:model`, the provider's name in the registry, and its options."""
    given = {"provider": default, **with_configured(configured, asked)}
    return _choice(given), _provider(given) or CUSTOM, given["provider_options"]


def _choice(given: Mapping[str, Any]) -> str:
    """Provider and model as `provider:model`."""
    provider, model = str(given["provider"]), given.get("model")
    if model and ":" in provider:
        raise AstRagValidationError(f"{provider!r} names a model already; {model!r} is one too many.")
    return f"{provider}:{model}" if model else provider


def ranking(request: QueryRequest, record: IndexRecord, config: Configuration) -> Retrieval:
    """How to search an index."""
    layers = [
        RANKING,
        _flat(config.retrieval),
        _flat_record(record.retrieval_defaults),
        _flat(request),
        _flat(request.retrieval),
    ]
    return Retrieval(**_settings({key: value for layer in layers for key, value in layer.items()}))


def stored_ranking(section: Ranking | None) -> dict[str, Any]:
    """What an index keeps as its `retrievalDefaults`, once it is known that it can be used."""
    given = _flat(section)
    checked = Retrieval(**_settings({**RANKING, **given}))
    kept = {name: value for name, value in given.items() if name != "rerank_enabled"}
    return {**kept, "rerank_top_n": checked.rerank_top_n} if checked.rerank_top_n else kept


def _flat(section: Ranking | None) -> dict[str, Any]:
    """Ranking in one level, so that layers can be laid over each other."""
    given = {name: value for name, value in said(section).items() if name in Ranking.model_fields}
    rerank = given.pop("rerank", None)
    return {**given, **{f"rerank_{name}": value for name, value in said(rerank).items()}}


def _flat_record(defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {**defaults, **({"rerank_enabled": True} if defaults.get("rerank_top_n") else {})}


def _settings(flat: dict[str, Any]) -> dict[str, Any]:
    """A flat ranking as the engine's settings."""
    enabled = flat.pop("rerank_enabled")
    return {**flat, "rerank_top_n": flat["rerank_top_n"] if enabled else None}


def where(request: QueryRequest) -> Filter | None:
    """Where to look; None is everywhere."""
    inner = request.retrieval.filters if request.retrieval else None
    given = {**said(request.filters), **said(inner)}
    found = {name: tuple(value) if isinstance(value, list | tuple) else value for name, value in given.items()}
    conditions: dict[str, Any] = {name: value for name, value in found.items() if value != ()}
    return Filter(**conditions) if conditions else None


def source_spec(source: Source) -> SourceSpec:
    """A source as the engine knows it."""
    given = said(source)
    address = str(resolve_address(given.pop("folder_id")))
    return SourceSpec.from_dict(
        {"address": address, **{k: v if isinstance(v, bool) else list(v) for k, v in given.items()}}
    )


def chunking(request: ChunkingSizes | None, config: Configuration) -> Chunking:
    return Chunking(**sizes({**said(config.chunking), **said(request)}))


def sizes(given: Mapping[str, int]) -> dict[str, int]:
    """What is said of chunks, as the engine names it."""
    names = {"chunk_size_chars": "size", "chunk_overlap_chars": "overlap", "min_chunk_chars": "minimum"}
    return {names[name]: value for name, value in given.items()}


def ingestion(request: IngestionOptions | None, config: Configuration, auth: Auth) -> Ingestion:
    """Limits, and the token for Google Drive, which must stand under its name."""
    given = {**said(config.options), **said(request)}
    tokens = (_under(DRIVE, auth), _under(DRIVE, config.auth))
    return Ingestion(
        max_files=given.get("max_files", MAX_FILES),
        max_chunks=given.get("max_chunks", MAX_CHUNKS),
        skip_failures=given.get("skip_parse_failures", True),
        truncate=given.get("truncate", False),
        drive_token=next((key.get("access_token") or key.get("api_key") for key in tokens if key), None),
    )


def auth(provider: str, registry: Registry, *layers: Auth) -> dict[str, str]:
    """The keys of the first layer that has any for this provider; none leaves it to the environment."""
    known = {*registry.names(), *NAMES, DRIVE}

    def is_anothers(name: str) -> bool:
        return not is_name(name, provider) and any(is_name(name, other) for other in known)

    for layer in layers:
        if isinstance(layer, Mapping):
            layer = {name: key for name, key in layer.items() if not is_anothers(name)}
        if own := auth_for(provider, layer):
            return own
    return {}


def _under(provider: str, given: Auth) -> dict[str, str]:
    named = given.items() if isinstance(given, Mapping) else ()
    return auth_for(provider, {name: key for name, key in named if is_name(name, provider)})


def generation(request: AnswerRequest, config: Configuration, registry: Registry) -> Generation:
    """Who writes the answer."""
    given = {"provider": LOCAL, **with_configured(config.generation, request.generation)}
    layers = [section.options for section in (config.generation, request.generation) if section]
    options = {key: value for layer in layers for key, value in said(layer).items()}
    own = request.generation.auth if request.generation else None
    limits = {**said(config.options), **said(request.options)}
    return Generation(
        model=_choice(given),
        auth=auth(_provider(given) or LOCAL, registry, own, request.auth, given.get("auth"), config.auth),
        options=given["provider_options"],
        temperature=options.get("temperature", TEMPERATURE),
        max_tokens=options.get("max_output_tokens", MAX_OUTPUT_TOKENS),
        seconds=limits.get("deadline_seconds"),
    )
