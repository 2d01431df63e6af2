"""Retrieval on a small index: which texts are fetched, and that the result is the same as if all of them were."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import pytest

from chapterverse.answer.retrieve import Diagnostics, Found, Mode, Rerank, Retrieval, retrieve
from chapterverse.index import lexical
from chapterverse.index.collection import Collection, GenerationReader
from chapterverse.index.edge import EdgeStore
from chapterverse.index.points import Payload
from chapterverse.types import Point
from tests.index.books import book, points, record, vector

pytestmark = pytest.mark.anyio

MODES: tuple[Mode, ...] = ("vector", "lexical", "hybrid")
QUESTION = "whale ship storm"
SPARE = 4
WORDS = ("whale", "ship", "storm", "island", "rose")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(tmp_path)
    yield store
    await store.close()


class Watched:
    """A collection that counts what it hands over, and what it is doing at once; `gone` was deleted meanwhile."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.fetches: list[int] = []
        self.gone: set[str] = set()
        self.most_at_once = 0
        self._now = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._collection, name)

    async def query(self, *args: Any) -> Any:
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await asyncio.sleep(0)
        found = await self._collection.query(*args)
        self._now -= 1
        return found

    async def payloads(self, points: Sequence[str]) -> dict[str, Payload]:
        self.fetches.append(len(points))
        found = await self._collection.payloads(points)
        return {point: payload for point, payload in found.items() if payload["chunk_id"] not in self.gone}


async def watched(store: EdgeStore, made: Sequence[Point]) -> tuple[GenerationReader, Watched]:
    async with await store.create(record()) as writer:
        await writer.put(made)
        await writer.commit(record())
    reader = await store.reader("shelf")
    reader.collection = collection = Watched(reader.collection)
    return reader, collection


async def ask(
    reader: GenerationReader, *, rerank: Rerank | None = None, **settings: Any
) -> tuple[list[Found], Diagnostics]:
    return await retrieve(
        reader,
        QUESTION,
        vector=vector(QUESTION),
        terms=lexical.query_vector(QUESTION),
        settings=Retrieval(**{"min_score": 0.0, **settings}),
        rerank=rerank,
    )


def many() -> list[Point]:
    """Passages that all have words of the question, in many lengths: no two have the same scores."""
    texts = [" ".join([WORDS[i % 5]] * (i % 7 + 1) + [WORDS[i % 3]] + ["and"] * i) for i in range(120)]
    return points(book("many.md", *texts))


def alike(count: int) -> list[Point]:
    """Passages of equal scores that are not duplicates: the same words in another order, and one vector for all."""
    made = points(book("alike.md", *map(" ".join, islice(permutations(WORDS), count))))
    return [replace(point, dense=vector(QUESTION)) for point in made]


def ids(found: Sequence[Found]) -> list[str]:
    return [one.entry.chunk.id for one in found]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("top_k", [1, 8, 50])
async def test_texts_are_fetched_for_the_head_alone(store: EdgeStore, mode: Mode, top_k: int) -> None:
    reader, collection = await watched(store, many())
    found, diagnostics = await ask(reader, mode=mode, top_k=top_k)
    assert len(found) == top_k
    assert collection.fetches == [min(top_k + SPARE, diagnostics.candidates["fuse"])]
    assert diagnostics.candidates["fetch"] == collection.fetches[0] <= diagnostics.candidates["search"]


async def test_what_is_read_is_fetched_too(store: EdgeStore) -> None:
    reader, collection = await watched(store, many())
    read: list[str] = []

    async def by_length(question: str, passages: Sequence[str]) -> list[float]:
        assert question == QUESTION
        read.extend(passages)
        return [1 / len(passage) for passage in passages]

    found, diagnostics = await ask(reader, rerank=by_length, rerank_top_n=20)
    assert (len(found), len(read), diagnostics.candidates["rerank"]) == (8, 20, 20)
    assert collection.fetches == [20 + SPARE]
    collection.fetches.clear()
    assert ids((await ask(reader, rerank_top_n=20))[0]) != ids(found), "nobody reads"
    assert collection.fetches == [8 + SPARE]


@pytest.mark.parametrize("min_score", [2.0, 0.9])
async def test_nothing_is_fetched_of_what_scores_too_little(store: EdgeStore, min_score: float) -> None:
    reader, collection = await watched(store, many())
    found, diagnostics = await ask(reader, mode="lexical", top_k=50, min_score=min_score)
    assert sum(collection.fetches) == diagnostics.candidates["fuse"] == len(found)
    assert diagnostics.empty_because == ("below_threshold" if min_score > 1 else None)
    assert all(one.final >= min_score for one in found)


@pytest.mark.parametrize("mode", MODES)
async def test_the_result_is_the_head_of_what_a_longer_one_would_be(store: EdgeStore, mode: Mode) -> None:
    reader, _ = await watched(store, [*many(), *alike(10)])
    whole, _ = await ask(reader, mode=mode, top_k=50)
    assert len(whole) == 50
    assert whole == sorted(
        whole, key=lambda one: (-one.final, -(one.vector or 0), -(one.lexical or 0), one.entry.chunk.id)
    )
    for top_k in range(1, 50):
        assert (await ask(reader, mode=mode, top_k=top_k))[0] == whole[:top_k]


@pytest.mark.parametrize("mode", MODES)
async def test_equal_scores_are_ordered_by_the_ids_of_chunks(store: EdgeStore, mode: Mode) -> None:
    made = alike(10)
    reader, collection = await watched(store, made)
    found, _ = await ask(reader, mode=mode, top_k=3)
    assert len({(one.final, one.vector, one.lexical) for one in found}) == 1
    assert ids(found) == sorted(point.entry.chunk.id for point in made)[:3]
    assert collection.fetches == [10], "all that might be among the first by their ids"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("exactly", [True, False])
async def test_duplicates_do_not_leave_the_result_short(store: EdgeStore, mode: Mode, exactly: bool) -> None:
    """Forty times the best passage: with one vector for all, or with vectors that differ a little."""
    best = "whale ship storm whale ship storm"
    copies = points(book("copies.md", *(" " * n + best for n in range(40))))
    nearly = [[x + n * 1e-3 * (not exactly) for x in vector(QUESTION)] for n in range(40)]
    copies = [replace(point, dense=near) for point, near in zip(copies, nearly, strict=True)]
    reader, collection = await watched(store, [*copies, *many()])
    found, diagnostics = await ask(reader, mode=mode, top_k=8)
    assert len(found) == 8
    assert [" ".join(one.entry.chunk.text.split()) == best for one in found] == [True] + [False] * 7
    assert 47 <= sum(collection.fetches) <= diagnostics.candidates["search"]
    assert len(collection.fetches) <= 4
    whole, _ = await ask(reader, mode=mode, top_k=50)
    assert found == whole[:8]


async def test_an_index_of_duplicates_is_one_passage(store: EdgeStore) -> None:
    reader, collection = await watched(store, points(book("copies.md", *(" " * n + "A whale." for n in range(60)))))
    found, diagnostics = await ask(reader)
    assert len(found) == diagnostics.candidates["fetch"] == 1
    assert diagnostics.candidates["fuse"] == 60
    assert sum(collection.fetches) <= 2 * 60


@pytest.mark.parametrize("mode", MODES)
async def test_a_passage_of_very_many_files_does_not_hide_the_others(store: EdgeStore, mode: Mode) -> None:
    best = "whale ship storm whale ship storm"
    copies = [
        replace(one, dense=vector(QUESTION)) for one in points(book("c.md", *(" " * n + best for n in range(90))))
    ]
    reader, _ = await watched(store, [*copies, *many()])
    found, _ = await ask(reader, mode=mode, top_k=8)
    assert [" ".join(one.entry.chunk.text.split()) == best for one in found] == [True] + [False] * 7


async def test_what_is_deleted_between_search_and_fetch_is_replaced(store: EdgeStore) -> None:
    reader, collection = await watched(store, many())
    whole, _ = await ask(reader, top_k=50)
    collection.gone = set(ids(whole[2:12]))
    assert (await ask(reader))[0] == [*whole[:2], *whole[12:18]]
    collection.gone = {point.entry.chunk.id for point in many()}
    nothing, diagnostics = await ask(reader)
    assert (nothing, diagnostics.empty_because) == ([], "no_matches")


async def test_the_searches_of_hybrid_mode_run_at_once(store: EdgeStore) -> None:
    reader, collection = await watched(store, many())
    for mode, at_once in (("vector", 1), ("lexical", 1), ("hybrid", 2)):
        collection.most_at_once = 0
        await ask(reader, mode=mode)
        assert collection.most_at_once == at_once
