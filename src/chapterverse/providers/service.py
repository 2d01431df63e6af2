"""The one way to embed: in batches, with checks, retries and a cache, whatever the provider."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

import numpy as np

from chapterverse.errors import AstRagEmbeddingCapabilityError, AstRagError, AstRagValidationError
from chapterverse.protocols import Embedded, EmbeddingUsage, InputType, Vectors
from chapterverse.providers.cache import EmbeddingCache, cache_keys
from chapterverse.providers.catalog import Target, batches, cost_of, estimate_tokens
from chapterverse.providers.registry import Registry
from chapterverse.providers.retry import RetryPolicy

Progress = Callable[[int, int], None]
"""Called with how many different texts are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What embedding would take: tokens and US dollars are estimates, and the dollars None if the price is unknown."""

    texts: int
    """Different ones."""
    kept: int
    """How many of them need not be sent, because their vectors are in the cache."""
    tokens: int
    cost: float | None


class Embeddings:
    """Embeds with any provider of a registry. Use it as an async context manager, or close it."""

    def __init__(
        self,
        registry: Registry | None = None,
        cache: EmbeddingCache | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.registry = registry or Registry()
        self._cache = cache
        self._retry = retry or RetryPolicy()

    async def embed(
        self,
        target: Target,
        texts: Sequence[str],
        input_type: InputType,
        on_progress: Progress | None = None,
    ) -> Embedded:
        """Unit vectors, in the order of the texts. A text in which the model finds nothing gets a vector of zeros.

        If it fails half-way, what was paid for is in the cache, and the next call goes on from there.
        """
        _check_texts(target, texts)
        unique = list(dict.fromkeys(texts))
        run = _Run(len(unique), target.dimensions, on_progress)
        run.add(await self._kept(target, input_type, unique), EmbeddingUsage())
        waiting = batches((text for text in unique if text not in run.vectors), target.card)
        await self._send(target, input_type, iter(waiting), run)
        if run.error is not None:
            if isinstance(run.error, AstRagError):
                run.error.details.update(embedded=len(run.vectors), texts=len(unique))
            raise run.error
        rows = [run.vectors[text] for text in texts]
        return Embedded(np.stack(rows) if rows else _no_vectors(target.dimensions), run.usage)

    async def preview(self, target: Target, texts: Sequence[str], input_type: InputType = "document") -> Preview:
        """What embedding these texts would take, without sending anything."""
        unique = list(dict.fromkeys(texts))
        kept = await self._kept(target, input_type, unique)
        tokens = sum(estimate_tokens(text) for text in unique if text not in kept)
        return Preview(len(unique), len(kept), tokens, cost_of(tokens, target.card))

    async def close(self) -> None:
        """Close connections, and the cache."""
        await self.registry.close()
        if self._cache is not None:
            self._cache.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send(self, target: Target, input_type: InputType, waiting: Iterator[list[str]], run: _Run) -> None:
        """Send what waits. After an error nothing new is sent, but what is under way is paid for and is awaited."""

        async def work() -> None:
            for texts in waiting:
                if run.error is not None:
                    return
                try:
                    await self._send_one(target, input_type, texts, run)
                except Exception as error:
                    run.error = run.error or error

        await asyncio.gather(*(work() for _ in range(target.adapter.capabilities().concurrency)))

    async def _send_one(self, target: Target, input_type: InputType, texts: list[str], run: _Run) -> None:
        call = partial(target.adapter.embed, texts, input_type, target.model, target.auth, target.options)
        embedded = await self._retry.run(call)
        vectors = _unit(_checked(target, texts, embedded.vectors, run.dimensions))
        found = dict(zip(texts, vectors, strict=True))
        if self._cache is not None and _keeps(target, input_type):
            keys = cache_keys(target, input_type, texts)
            await asyncio.to_thread(self._cache.put, dict(zip(keys, vectors, strict=True)))
        run.add(found, _priced(target, texts, embedded.usage))

    async def _kept(self, target: Target, input_type: InputType, texts: Sequence[str]) -> dict[str, Vectors]:
        if self._cache is None or not _keeps(target, input_type):
            return {}
        keys = cache_keys(target, input_type, texts)
        found = await asyncio.to_thread(self._cache.get, keys)
        return {text: found[key] for text, key in zip(texts, keys, strict=True) if key in found}


@dataclass(slots=True)
class _Run:
    """One call of `embed`: the vectors so far, and what they took."""

    texts: int
    dimensions: int | None
    on_progress: Progress | None
    vectors: dict[str, Vectors] = field(default_factory=dict)
    usage: EmbeddingUsage = field(default_factory=EmbeddingUsage)
    error: Exception | None = None

    def add(self, vectors: Mapping[str, Vectors], usage: EmbeddingUsage) -> None:
        if not vectors:
            return
        self.vectors.update(vectors)
        self.usage += usage
        self.dimensions = self.dimensions or len(next(iter(vectors.values())))
        if self.on_progress is not None:
            self.on_progress(len(self.vectors), self.texts)


def _keeps(target: Target, input_type: InputType) -> bool:
    """Whether a text's vector is worth keeping: of what was asked, nothing is."""
    return input_type == "document" and target.adapter.capabilities().keeps


def _check_texts(target: Target, texts: Sequence[str]) -> None:
    """Refuse what the provider would refuse, or worse, cut short, before anything is sent."""
    limit = target.card.max_tokens
    for position, text in enumerate(texts):
        if not text.strip():
            raise AstRagValidationError(f"Text {position} of {len(texts)} is blank: there is nothing to embed.")
        if limit is not None and estimate_tokens(text) > limit:
            raise AstRagEmbeddingCapabilityError(
                f"Text {position} of {len(texts)} has about {estimate_tokens(text)} tokens; {target.provider}:"
                f"{target.model} takes {limit}. Cut it into smaller chunks.",
                details={"provider": target.provider, "model": target.model, "position": position, "limit": limit},
            )


def _checked(target: Target, texts: Sequence[str], vectors: Vectors, dimensions: int | None) -> Vectors:
    """The vectors, if they are as many and as long as they should be."""
    name = f"{target.provider}:{target.model}"
    details = {"provider": target.provider, "model": target.model}
    if vectors.ndim != 2 or len(vectors) != len(texts):
        count = len(vectors) if vectors.ndim else 0
        raise AstRagEmbeddingCapabilityError(
            f"{name} returned {count} vectors for {len(texts)} texts.",
            details={**details, "expected": len(texts), "actual": count},
        )
    length = vectors.shape[1]
    if length == 0 or length != (dimensions or length):
        raise AstRagEmbeddingCapabilityError(
            f"{name} returned vectors of {length} dimensions, not {dimensions or 'more than none'}.",
            details={**details, "expected": dimensions, "actual": length},
        )
    if not np.isfinite(vectors).all():
        raise AstRagEmbeddingCapabilityError(f"{name} returned numbers that are not finite.", details=details)
    return vectors.astype(np.float32, copy=False)


def _unit(vectors: Vectors) -> Vectors:
    wide = vectors.astype(np.float64)  # the squares of very large or small numbers do not fit into four bytes
    norms = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    norms[norms == 0] = 1
    unit: Vectors = (wide / norms).astype(np.float32)
    return unit


def _no_vectors(dimensions: int | None) -> Vectors:
    return np.empty((0, dimensions or 0), dtype=np.float32)


def _priced(target: Target, texts: Sequence[str], usage: EmbeddingUsage) -> EmbeddingUsage:
    """Usage with estimates in place of what the provider did not say."""
    tokens = usage.tokens or sum(map(estimate_tokens, texts))
    cost = usage.cost if usage.cost is not None else cost_of(tokens, target.card)
    return replace(usage, tokens=tokens, cost=cost)
