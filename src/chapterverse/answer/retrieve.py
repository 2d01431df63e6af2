"""Retrieve: a question's candidates from the index, by meaning and by words, with the raw evidence kept.

The order is fixed: filter, score, sort, cut by `min_score`, rerank the head, cut to `top_k`.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from chapterverse.errors import AstRagValidationError
from chapterverse.protocols import IndexReader
from chapterverse.types import Entry, Filter, Hit, SparseVector

Mode = Literal["vector", "lexical", "hybrid"]
Rerank = Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]
"""Scores 0…1 of passages for a question: the reader's judgement."""

_POOL = 50
"""How many candidates each search brings at the least: fusion and reranking need some to choose from."""
_OPENING = 8
"""Passages that begin with the same so many words are compared to their ends."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How to retrieve. Invalid settings are refused here, by their name."""

    top_k: int = 8
    min_score: float = 0.2
    mode: Mode = "hybrid"
    vector_weight: float = 0.65
    lexical_weight: float = 0.35
    rerank_top_n: int | None = None
    """How many of the best are reranked; None reranks nothing."""

    def __post_init__(self) -> None:
        if type(self.top_k) is not int or not 1 <= self.top_k <= 50:
            raise AstRagValidationError(f"top_k is {self.top_k!r}; it must be a whole number from 1 to 50.")
        if self.mode not in ("vector", "lexical", "hybrid"):
            raise AstRagValidationError(f"mode is {self.mode!r}; it must be 'vector', 'lexical' or 'hybrid'.")
        for name in ("min_score", "vector_weight", "lexical_weight"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                raise AstRagValidationError(f"{name} is {value!r}; it must be a number of at least 0.")
        if self.vector_weight + self.lexical_weight == 0:
            raise AstRagValidationError("vector_weight and lexical_weight are both 0; at least one must be more.")
        if self.rerank_top_n is not None and (type(self.rerank_top_n) is not int or self.rerank_top_n < 1):
            raise AstRagValidationError(f"rerank topN is {self.rerank_top_n!r}; it must be a whole number above 0.")


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with its raw scores. `final` orders them: the cosine, or the fused score of hybrid search."""

    entry: Entry
    final: float
    vector: float | None = None
    lexical: float | None = None
    rerank: float | None = None


@dataclass(slots=True)
class Diagnostics:
    """How a search went: seconds and candidates of each stage, and why nothing came back."""

    seconds: dict[str, float] = field(default_factory=dict)
    candidates: dict[str, int] = field(default_factory=dict)
    empty_because: str | None = None
    unmet: str | None = None
    """The condition that nothing in the index meets, in words."""


async def retrieve(
    reader: IndexReader,
    question: str,
    *,
    vector: Sequence[float] | None,
    terms: SparseVector,
    settings: Retrieval,
    where: Filter | None = None,
    rerank: Rerank | None = None,
) -> tuple[list[Found], Diagnostics]:
    """The best candidates, best first. `vector` may be None in lexical mode alone."""
    diagnostics = Diagnostics()
    clock = _Clock(diagnostics)
    pool = max(_POOL, settings.top_k, settings.rerank_top_n or 0)
    found = await _candidates(reader, vector, terms, settings, where, pool)
    clock.lap("search", len(found))
    found = fold_duplicates(sorted(_fuse(found, settings), key=_order))
    kept = [one for one in found if one.final >= settings.min_score]
    clock.lap("fuse", len(kept))
    if settings.rerank_top_n and rerank is not None and kept:
        kept = await _rerank(kept, question, settings.rerank_top_n, rerank)
        clock.lap("rerank", min(settings.rerank_top_n, len(kept)))
    if not kept:
        diagnostics.empty_because = "below_threshold" if found else "no_matches"
    return kept[: settings.top_k], diagnostics


async def _candidates(
    reader: IndexReader,
    vector: Sequence[float] | None,
    terms: SparseVector,
    settings: Retrieval,
    where: Filter | None,
    pool: int,
) -> list[Found]:
    """Everything that either search finds; in hybrid mode each candidate has both of its scores, not a guess."""
    by_meaning: list[Hit] = []
    if settings.mode != "lexical":
        assert vector is not None
        by_meaning = await reader.search_dense(vector, where, pool)
    if settings.mode == "vector":
        return [Found(hit.entry, 0.0, vector=hit.score) for hit in by_meaning]
    by_words = await reader.search_lexical(terms, where, pool)
    if settings.mode == "lexical":
        return [Found(hit.entry, 0.0, lexical=hit.score) for hit in by_words]
    assert vector is not None
    cosines = {hit.entry.chunk.id: hit.score for hit in by_meaning}
    words = {hit.entry.chunk.id: hit.score for hit in by_words}
    hits = {hit.entry.chunk.id: hit for hit in (*by_meaning, *by_words)}
    cosines |= await reader.score_dense(vector, [hit for key, hit in hits.items() if key not in cosines])
    words |= await reader.score_lexical(terms, [hit for key, hit in hits.items() if key not in words])
    return [
        Found(hit.entry, 0.0, vector=cosines[key], lexical=words.get(key, 0.0))
        for key, hit in hits.items()
        if key in cosines
    ]


def _fuse(found: list[Found], settings: Retrieval) -> list[Found]:
    """Final scores: the raw cosine, BM25 relative to the best, or both weighed against each other."""
    if settings.mode == "vector":
        return [replace(one, final=one.vector or 0.0) for one in found]
    words = _relative([one.lexical or 0.0 for one in found], from_zero=settings.mode == "lexical")
    if settings.mode == "lexical":
        return [replace(one, final=word) for one, word in zip(found, words, strict=True)]
    total = settings.vector_weight + settings.lexical_weight
    by_meaning, by_words = settings.vector_weight / total, settings.lexical_weight / total
    return [
        replace(one, final=by_meaning * min(max(((one.vector or 0.0) + 1) / 2, 0.0), 1.0) + by_words * word)
        for one, word in zip(found, words, strict=True)
    ]


def _relative(scores: list[float], from_zero: bool) -> list[float]:
    """Scores as 0…1, between the worst (or zero) and the best of them."""
    if not scores:
        return []
    low, high = (0.0 if from_zero else min(scores)), max(scores)
    if high == low:
        return [1.0 if high > 0 else 0.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def _order(one: Found) -> tuple[float, float, float, str]:
    return (-one.final, -(one.vector or 0.0), -(one.lexical or 0.0), one.entry.chunk.id)


def fold_duplicates(found: Sequence[Found]) -> list[Found]:
    """Passages that say the same in the same words count once: the best of them stays."""
    opened: dict[tuple[str, ...], list[str]] = {}
    kept = []
    for one in found:
        text = one.entry.chunk.text
        alike = opened.setdefault(tuple(text.split(maxsplit=_OPENING)[:_OPENING]), [])
        if not any(other.split() == text.split() for other in alike):
            alike.append(text)
            kept.append(one)
    return kept


async def _rerank(found: list[Found], question: str, top_n: int, rerank: Rerank) -> list[Found]:
    """The head in the reader's order, the rest behind it in its own."""
    head, rest = found[:top_n], found[top_n:]
    scores = await rerank(question, [one.entry.chunk.text for one in head])
    ranked = [replace(one, rerank=score) for one, score in zip(head, scores, strict=True)]
    return sorted(ranked, key=lambda one: (-(one.rerank or 0.0), *_order(one))) + rest


class _Clock:
    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._last = time.perf_counter()

    def lap(self, stage: str, candidates: int) -> None:
        now = time.perf_counter()
        self._diagnostics.seconds[stage] = now - self._last
        self._diagnostics.candidates[stage] = candidates
        self._last = now
