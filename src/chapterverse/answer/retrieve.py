"""Retrieve: a question's candidates from the index, by meaning and by words, with the raw evidence kept.

The order is fixed: filter, score, sort, cut by `min_score`, fetch the head, rerank it, cut to `top_k`. Until the head
is fetched there are points and scores alone: texts of candidates that are dropped would cost more than all the rest.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Literal

from chapterverse.errors import AstRagValidationError
from chapterverse.protocols import IndexReader
from chapterverse.types import Entry, Filter, SparseVector

Mode = Literal["vector", "lexical", "hybrid"]
Rerank = Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]
"""Scores 0…1 of passages for a question: the reader's judgement."""

_POOL = 50
"""How many candidates each search brings at the least: fusion and reranking need some to choose from."""
_WIDER = (8, 64)
"""How many times as many it brings where these hold few passages: one that is in many files hides no others."""
_FEW = 8
_SPARE = 4
"""How many more than are needed are fetched at first: some may be duplicates of others, and a server is far away."""
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
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
                raise AstRagValidationError(f"{name} is {value!r}; it must be a number of at least 0.")
        if self.vector_weight + self.lexical_weight == 0:
            raise AstRagValidationError("vector_weight and lexical_weight are both 0; at least one must be more.")
        if self.vector_weight + self.lexical_weight == inf:
            raise AstRagValidationError("vector_weight and lexical_weight are too large; 0 to 1 are usual.")
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
    """How many `search` found, how many `fuse` left over `min_score`, and the different passages after `fetch`."""
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
    least = max(_POOL, settings.top_k, settings.rerank_top_n or 0)
    top_n = settings.rerank_top_n if rerank is not None else None
    needed = max(settings.top_k, top_n or 0)
    for pool in (least, *(least * wider for wider in _WIDER)):
        scored = await _candidates(reader, vector, terms, settings, where, pool)
        clock.lap("search", len(scored))
        ranked = sorted(_fuse(scored, settings), key=_rank)
        good = [one for one in ranked if one.final >= settings.min_score]
        clock.lap("fuse", len(good))
        found = await _fetch(reader, good, needed)
        clock.lap("fetch", len(found))
        if len(found) >= min(needed, _FEW) or len(good) < max(len(scored), pool):
            break
    if top_n and rerank is not None and found:
        found = await _rerank(found, question, top_n, rerank)
        clock.lap("rerank", min(top_n, len(found)))
    if not found:
        diagnostics.empty_because = "below_threshold" if scored and not good else "no_matches"
    return found[: settings.top_k], diagnostics


@dataclass(frozen=True, slots=True)
class _Scored:
    """A candidate whose text has not been fetched."""

    point: str
    vector: float | None = None
    lexical: float | None = None
    final: float = 0.0


async def _candidates(
    reader: IndexReader,
    vector: Sequence[float] | None,
    terms: SparseVector,
    settings: Retrieval,
    where: Filter | None,
    pool: int,
) -> list[_Scored]:
    """Everything that either search finds; in hybrid mode each candidate has both of its scores, not a guess."""
    if settings.mode == "lexical":
        return [_Scored(hit.point, lexical=hit.score) for hit in await reader.search_lexical(terms, where, pool)]
    assert vector is not None
    if settings.mode == "vector":
        return [_Scored(hit.point, vector=hit.score) for hit in await reader.search_dense(vector, where, pool)]
    by_meaning, by_words = await asyncio.gather(
        reader.search_dense(vector, where, pool), reader.search_lexical(terms, where, pool)
    )
    cosines = {hit.point: hit.score for hit in by_meaning}
    words = {hit.point: hit.score for hit in by_words}
    more_cosines, more_words = await asyncio.gather(
        reader.score_dense(vector, [point for point in words if point not in cosines]),
        reader.score_lexical(terms, [point for point in cosines if point not in words]),
    )
    cosines |= more_cosines
    words |= more_words
    return [_Scored(point, cosine, words.get(point, 0.0)) for point, cosine in cosines.items()]


def _fuse(found: list[_Scored], settings: Retrieval) -> list[_Scored]:
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


async def _fetch(reader: IndexReader, ranked: Sequence[_Scored], needed: int) -> list[Found]:
    """The head with its texts: as many different passages as are needed, or all that there are.

    Points that the scores do not tell apart are fetched together, for only their chunks' ids put them in order.
    """
    found: list[Found] = []
    start, end = 0, needed + _SPARE
    while start < len(ranked) and len(found) < needed:
        while end < len(ranked) and _rank(ranked[end]) == _rank(ranked[end - 1]):
            end += 1
        entries = await reader.entries([one.point for one in ranked[start:end]])
        fetched = [
            Found(entries[one.point], one.final, one.vector, one.lexical)
            for one in ranked[start:end]
            if one.point in entries
        ]
        found = fold_duplicates([*found, *sorted(fetched, key=_order)])
        start, end = end, 2 * end
    return found


def _rank(one: _Scored | Found) -> tuple[float, float, float]:
    return (-one.final, -(one.vector or 0.0), -(one.lexical or 0.0))


def _order(one: Found) -> tuple[float, float, float, str]:
    return (*_rank(one), one.entry.chunk.id)


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
        self._diagnostics.seconds[stage] = self._diagnostics.seconds.get(stage, 0.0) + now - self._last
        self._diagnostics.candidates[stage] = candidates
        self._last = now
