"""What the models of the built-in providers take, give and cost, as their makers state it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from chapterverse.errors import AstRagEmbeddingCapabilityError
from chapterverse.protocols import Capabilities, Embedder, Forms, ModelCard

Cards = tuple[ModelCard, ...]

_COHERE = Forms(document="search_document", query="search_query")
_TASK_TYPES = Forms(document="RETRIEVAL_DOCUMENT", query="RETRIEVAL_QUERY")
_TASK_PREFIXES = Forms(document="title: none | text: ", query="task: search result | query: ")

COHERE: Cards = (
    ModelCard(
        name="embed-v4.0",
        dimensions=1536,
        allowed_dimensions=(256, 512, 1024, 1536),
        max_tokens=128_000,
        max_batch=96,
        max_request_tokens=128_000,
        price=0.12,
        input_types=_COHERE,
        licence="proprietary",
        link="https://docs.cohere.com/docs/cohere-embed",
    ),
    *(
        ModelCard(
            name=name,
            dimensions=dimensions,
            max_tokens=512,
            max_batch=96,
            price=0.10,
            input_types=_COHERE,
            licence="proprietary",
            link="https://docs.cohere.com/docs/cohere-embed",
        )
        for name, dimensions in (
            ("embed-english-v3.0", 1024),
            ("embed-multilingual-v3.0", 1024),
            ("embed-english-light-v3.0", 384),
            ("embed-multilingual-light-v3.0", 384),
        )
    ),
)

_OPENAI_SMALL = ModelCard(
    name="text-embedding-3-small",
    dimensions=1536,
    allowed_dimensions=range(1, 1537),
    max_tokens=8192,
    max_batch=2048,
    max_request_tokens=300_000,
    price=0.02,
    licence="proprietary",
    link="https://developers.openai.com/api/docs/guides/embeddings",
)
_OPENAI_LARGE = replace(
    _OPENAI_SMALL,
    name="text-embedding-3-large",
    dimensions=3072,
    allowed_dimensions=range(1, 3073),
    price=0.13,
)
OPENAI: Cards = (
    _OPENAI_SMALL,
    _OPENAI_LARGE,
    replace(_OPENAI_SMALL, name="text-embedding-ada-002", allowed_dimensions=(), price=0.10),
)

_GEMINI_1 = ModelCard(
    name="gemini-embedding-001",
    dimensions=3072,
    allowed_dimensions=range(128, 3073),
    max_tokens=2048,
    max_batch=100,
    price=0.15,
    input_types=_TASK_TYPES,
    licence="proprietary",
    link="https://ai.google.dev/gemini-api/docs/embeddings",
)
_GEMINI_2 = replace(
    _GEMINI_1,
    name="gemini-embedding-2",
    max_tokens=8192,
    price=0.20,
    input_types=Forms(),
    prefixes=_TASK_PREFIXES,
)
GEMINI: Cards = (_GEMINI_1, _GEMINI_2)

VERTEX_GEMINI: Cards = tuple(
    # Vertex takes one text in a request, for both models.
    replace(card, max_batch=1, link="https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings")
    for card in GEMINI
)

OPENROUTER: Cards = tuple(
    replace(
        card,
        name=f"{maker}/{card.name}",
        max_batch=100,
        input_types=_COHERE,
        link=f"https://openrouter.ai/{maker}/{card.name}",
    )
    for maker, card in (("openai", _OPENAI_SMALL), ("openai", _OPENAI_LARGE), ("google", _GEMINI_2))
)

_PERPLEXITY_SMALL = ModelCard(
    name="pplx-embed-v1-0.6b",
    dimensions=1024,
    allowed_dimensions=range(128, 1025),
    max_tokens=32_000,
    max_batch=512,
    max_request_tokens=120_000,
    price=0.004,
    licence="MIT weights, paid service",
    link="https://docs.perplexity.ai/docs/embeddings/standard-embeddings",
)
PERPLEXITY: Cards = (
    _PERPLEXITY_SMALL,
    replace(
        _PERPLEXITY_SMALL,
        name="pplx-embed-v1-4b",
        dimensions=2560,
        allowed_dimensions=range(128, 2561),
        price=0.03,
    ),
)


@dataclass(frozen=True, slots=True)
class Target:
    """What texts are to be embedded with: an adapter, one of its models, and the settings for both."""

    provider: str
    adapter: Embedder = field(repr=False)
    card: ModelCard
    dimensions: int | None
    auth: Mapping[str, str] = field(repr=False)
    options: Mapping[str, Any]

    @property
    def model(self) -> str:
        return self.card.name


def card_for(provider: str, offered: Capabilities, model: str | None, options: Mapping[str, Any]) -> ModelCard:
    """The card of a model, listed or not; refuses dimensions that it does not have.

    One that is not listed needs its `dimensions`, or stands on a server that is known by its `base_url` alone.
    """
    dimensions = options.get("dimensions")
    listed = {card.name: card for card in offered.models}
    card = offered.models[0] if model is None else listed.get(model) or _unlisted(provider, offered, model, options)
    own = (None, card.dimensions)
    if card.dimensions is not None and dimensions not in own and dimensions not in card.allowed_dimensions:
        allowed = _listing(card.allowed_dimensions) or str(card.dimensions)
        raise AstRagEmbeddingCapabilityError(
            f"{provider}:{card.name} has no vectors of {dimensions} dimensions; it has {allowed}.",
            details={"provider": provider, "model": card.name, "dimensions": dimensions},
        )
    return card


def _unlisted(provider: str, offered: Capabilities, model: str, options: Mapping[str, Any]) -> ModelCard:
    dimensions = options.get("dimensions")
    elsewhere = offered.serves_anywhere and options.get("base_url")
    if offered.takes_other_models and (dimensions or elsewhere):
        return replace(offered.models[0], name=model, dimensions=dimensions, allowed_dimensions=(), price=None)
    known = ", ".join(card.name for card in offered.models)
    hint = " To use it all the same, give its dimensions." if offered.takes_other_models else ""
    raise AstRagEmbeddingCapabilityError(
        f"{provider} has no model {model!r} that is known here; known are {known}.{hint}",
        details={"provider": provider, "model": model},
    )


def describe(offered: Capabilities) -> dict[str, Any]:
    """Capabilities as plain JSON-ready dictionaries and lists; a range of dimensions as its two ends."""
    described = asdict(offered)
    for model in described["models"]:
        allowed = model["allowed_dimensions"]
        if isinstance(allowed, range):
            model["allowed_dimensions"] = {"min": allowed.start, "max": allowed.stop - 1}
    return described


def _listing(dimensions: range | tuple[int, ...]) -> str:
    if isinstance(dimensions, range):
        return f"{dimensions.start} to {dimensions.stop - 1}"
    return ", ".join(map(str, dimensions))


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: a quarter of its bytes, which is near for English and for most else."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def cost_of(tokens: int, card: ModelCard) -> float | None:
    """US dollars for so many tokens; None if the price is unknown."""
    return None if card.price is None else tokens * card.price / 1_000_000


def batches(texts: Iterable[str], card: ModelCard) -> list[list[str]]:
    """The texts, in order, in as few requests as the model's limits allow."""
    # Token counts are estimates and may be half of the truth (numbers, code), hence half of what is allowed.
    room = card.max_request_tokens // 2 if card.max_request_tokens else None
    result: list[list[str]] = []
    filled = 0
    for text in texts:
        tokens = estimate_tokens(text)
        full = not result or len(result[-1]) >= card.max_batch or (room is not None and filled + tokens > room)
        if full:
            result.append([])
            filled = 0
        result[-1].append(text)
        filled += tokens
    return result
