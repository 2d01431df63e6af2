"""The service: batches, checks, the cache that makes failures resume, progress, usage and previews."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_httpserver import HTTPServer

from chapterverse.errors import (
    AstRagEmbeddingCapabilityError,
    AstRagIndexError,
    AstRagRetrievalError,
    AstRagValidationError,
)
from chapterverse.protocols import Embedded, InputType, ModelCard
from chapterverse.providers import EmbeddingCache, Embeddings, Registry, Target
from chapterverse.providers.catalog import batches, estimate_tokens
from tests.providers.stand_ins import ALL, FAST, KEY, StandIn, reply, script, unit

COHERE = ALL["cohere"]


def numbered(count: int) -> list[str]:
    return [f"Sentence number {number} of the book." for number in range(count)]


def embed(
    target: Target,
    texts: Sequence[str],
    cache: EmbeddingCache | None = None,
    input_type: InputType = "document",
    on_progress: Any = None,
) -> Embedded:
    async def run() -> Embedded:
        try:
            return await Embeddings(cache=cache, retry=FAST).embed(target, texts, input_type, on_progress)
        finally:
            await target.adapter.close()

    return asyncio.run(run())


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    opened = EmbeddingCache(tmp_path / "deep" / "embeddings.sqlite3")
    yield opened
    opened.close()


class TestBatches:
    def test_the_most_texts_a_request_may_hold(self, httpserver: HTTPServer) -> None:
        bodies = COHERE.serve(httpserver)
        vectors = embed(COHERE.target(httpserver, dimensions=256), numbered(200)).vectors
        assert sorted(len(body["texts"]) for body in bodies) == [8, 96, 96]
        np.testing.assert_allclose(vectors, [unit(text, 256) for text in numbered(200)], atol=1e-6)

    def test_the_most_tokens_a_request_may_hold(self, httpserver: HTTPServer) -> None:
        stand_in = ALL["perplexity"]
        bodies = stand_in.serve(httpserver)
        texts = [f"{number} " + "long " * 8000 for number in range(10)]
        embed(stand_in.target(httpserver), texts)
        assert len(bodies) == 2
        assert all(sum(map(estimate_tokens, body["input"])) <= 60_000 for body in bodies)

    def test_a_text_longer_than_the_room_goes_alone(self) -> None:
        card = ModelCard("m", 4, max_batch=10, max_request_tokens=10)
        assert batches(["a" * 400, "b", "c", "d" * 400], card) == [["a" * 400], ["b", "c"], ["d" * 400]]

    def test_nothing_gives_nothing(self, httpserver: HTTPServer) -> None:
        bodies = COHERE.serve(httpserver)
        assert embed(COHERE.target(httpserver), []).vectors.shape == (0, 1536)
        assert bodies == []

    def test_equal_texts_are_sent_once(self, httpserver: HTTPServer) -> None:
        bodies = COHERE.serve(httpserver)
        vectors = embed(COHERE.target(httpserver), ["a", "b", "a", "a"]).vectors
        assert bodies[0]["texts"] == ["a", "b"]
        np.testing.assert_array_equal(vectors[[0, 0]], vectors[[2, 3]])

    def test_no_more_requests_at_once_than_allowed(self) -> None:
        most, now, lock = [0], [0], threading.Lock()

        def adapter(texts: list[str], *_: Any) -> list[list[float]]:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            threading.Event().wait(0.02)
            with lock:
                now[0] -= 1
            return [[1.0, 2.0] for _ in texts]

        registry = Registry()
        offer = {"embed": adapter, "capabilities": lambda: {"maxBatch": 1, "concurrency": 3}}
        registry.register("counting", offer)
        embed(registry.resolve("counting"), numbered(12))
        assert most[0] == 3


class TestCache:
    def test_a_failure_half_way_is_resumed_without_paying_twice(
        self, httpserver: HTTPServer, cache: EmbeddingCache
    ) -> None:
        texts = numbered(500)
        broken = [None, None, reply(400, {"message": "no"})]
        first = script(httpserver, COHERE, broken)
        target = COHERE.target(httpserver, dimensions=256)
        with pytest.raises(AstRagEmbeddingCapabilityError) as caught:
            embed(target, texts, cache)
        answered = sum(len(body["texts"]) for number, body in enumerate(first) if number != 2)
        assert caught.value.details["embedded"] == answered
        assert caught.value.details["texts"] == 500
        sent = {text for body in first[:2] for text in body["texts"]}
        httpserver.clear()
        second = script(httpserver, COHERE, [])
        embedded = embed(COHERE.target(httpserver, dimensions=256), texts, cache)
        again = [text for body in second for text in body["texts"]]
        assert not sent & set(again)
        assert len(again) == 500 - answered
        assert embedded.usage.tokens == 7 * len(again)
        np.testing.assert_allclose(embedded.vectors, [unit(text, 256) for text in texts], atol=1e-6)

    def test_nothing_is_sent_for_what_is_kept(self, httpserver: HTTPServer, cache: EmbeddingCache) -> None:
        bodies = COHERE.serve(httpserver)
        first = embed(COHERE.target(httpserver), numbered(5), cache)
        again = embed(COHERE.target(httpserver), numbered(5)[::-1], cache)
        assert len(bodies) == 1
        np.testing.assert_array_equal(again.vectors, first.vectors[::-1])
        assert (again.usage.tokens, again.usage.requests, again.usage.cost) == (0, 0, 0.0)

    def test_whatever_changes_the_vector_changes_the_key(self, httpserver: HTTPServer, cache: EmbeddingCache) -> None:
        bodies = COHERE.serve(httpserver)
        small = StandIn(**{**vars(COHERE), "model": "embed-english-v3.0", "own_dimensions": 1024})
        embed(COHERE.target(httpserver), ["x"], cache)
        embed(COHERE.target(httpserver), ["x"], cache, "query")
        embed(COHERE.target(httpserver, dimensions=512), ["x"], cache)
        assert len(bodies) == 3
        httpserver.clear()
        bodies = small.serve(httpserver)
        embed(small.target(httpserver), ["x"], cache)
        elsewhere = httpserver.url_for("/").replace("localhost", "127.0.0.1").rstrip("/")
        embed(small.target(httpserver, base_url=elsewhere), ["x"], cache)
        assert len(bodies) == 2

    def test_nothing_that_was_asked_is_kept(self, httpserver: HTTPServer, tmp_path: Path) -> None:
        bodies, path = COHERE.serve(httpserver), tmp_path / "c.sqlite3"
        cache = EmbeddingCache(path)
        for _ in range(2):
            embed(COHERE.target(httpserver), ["Who asks?"], cache, "query")
        cache.close()
        assert len(bodies) == 2
        assert not path.exists()

    def test_it_holds_no_text(self, httpserver: HTTPServer, tmp_path: Path) -> None:
        cache = EmbeddingCache(tmp_path / "c.sqlite3")
        COHERE.serve(httpserver)
        embed(COHERE.target(httpserver), ["a very private thought"], cache)
        cache.close()
        assert b"private" not in (tmp_path / "c.sqlite3").read_bytes()

    def test_many_threads_and_two_handles(self, tmp_path: Path) -> None:
        caches = [EmbeddingCache(tmp_path / "c.sqlite3") for _ in range(2)]

        def work(number: int) -> None:
            for step in range(20):
                key = bytes([number, step])
                caches[number % 2].put({key: np.full(4, number, dtype=np.float32)})
                assert caches[(number + 1) % 2].get([key])[key][0] == number

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        keys = [bytes([number, step]) for number in range(8) for step in range(20)]
        assert len(caches[0].get(keys * 10)) == 160
        for cache in caches:
            cache.close()

    def test_a_damaged_file_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "c.sqlite3").write_bytes(b"not a database at all" * 100)
        with pytest.raises(AstRagIndexError, match=r"c\.sqlite3 cannot be used.*may be deleted"):
            EmbeddingCache(tmp_path / "c.sqlite3").get([b"key"])

    def test_what_costs_nothing_is_not_kept(self, cache: EmbeddingCache) -> None:
        calls: list[list[str]] = []

        def adapter(texts: list[str], *_: Any) -> list[list[float]]:
            calls.append(texts)
            return [[1.0] for _ in texts]

        registry = Registry()
        registry.register("own", adapter)
        embed(registry.resolve("own"), ["x"], cache)
        embed(registry.resolve("own"), ["x"], cache)
        assert calls == [["x"], ["x"]]


class TestChecks:
    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ([[1.0, 2.0]], "1 vectors for 2 texts"),
            ([[1.0, 2.0]] * 3, "3 vectors for 2 texts"),
            ([[1.0], [1.0]], "1 dimensions, not 2"),
            ([[], []], "0 dimensions"),
            ([[1.0, float("nan")], [1.0, 2.0]], "not finite"),
            ([[1.0, 2.0], [1.0]], "not a list of vectors"),
            ("words", "not a list of vectors"),
            (None, "0 vectors for 2 texts"),
        ],
    )
    def test_wrong_answers(self, answer: Any, message: str) -> None:
        registry = Registry()
        registry.register("wrong", {"embed": lambda *_: answer, "capabilities": lambda: {"dimensions": 2}})
        with pytest.raises(AstRagEmbeddingCapabilityError, match=message):
            embed(registry.resolve("wrong"), ["x", "y"])

    def test_dimensions_may_not_change_on_the_way(self) -> None:
        lengths = iter([2, 3])

        def adapter(texts: list[str], *_: Any) -> list[list[float]]:
            return [[1.0] * next(lengths) for _ in texts]

        registry = Registry()
        registry.register("wavering", {"embed": adapter, "capabilities": lambda: {"maxBatch": 1}})
        with pytest.raises(AstRagEmbeddingCapabilityError, match="3 dimensions, not 2"):
            embed(registry.resolve("wavering"), ["x", "y"])

    def test_an_index_may_hold_its_provider_to_its_dimensions(self) -> None:
        registry = Registry()
        registry.register("other", lambda texts, *_: [[1.0, 2.0, 3.0] for _ in texts])
        with pytest.raises(AstRagEmbeddingCapabilityError, match="3 dimensions, not 2"):
            embed(registry.resolve("other", options={"dimensions": 2}), ["x"])

    def test_a_vector_of_zeros_stays(self) -> None:
        registry = Registry()
        registry.register("zero", lambda texts, *_: [[0.0, 0.0] for _ in texts])
        assert embed(registry.resolve("zero"), ["x"]).vectors.tolist() == [[0.0, 0.0]]

    @pytest.mark.parametrize("size", [1e-30, 1e25])
    def test_vectors_of_any_length_become_unit_vectors(self, size: float) -> None:
        registry = Registry()
        registry.register("odd", lambda texts, *_: [[3 * size, 4 * size] for _ in texts])
        assert embed(registry.resolve("odd"), ["x"]).vectors[0] == pytest.approx([0.6, 0.8])

    def test_blank_texts_are_refused(self, httpserver: HTTPServer) -> None:
        bodies = COHERE.serve(httpserver)
        with pytest.raises(AstRagValidationError, match="Text 1 of 2 is blank"):
            embed(COHERE.target(httpserver), ["x", " \n"])
        assert bodies == []

    def test_texts_that_are_too_long_are_refused_before_anything_is_sent(self, httpserver: HTTPServer) -> None:
        bodies = ALL["gemini"].serve(httpserver)
        with pytest.raises(AstRagEmbeddingCapabilityError, match=r"Text 1 of 2 has about 2500 tokens.*takes 2048"):
            embed(ALL["gemini"].target(httpserver), ["x", "word " * 2000])
        assert bodies == []

    def test_after_an_error_nothing_new_is_sent(self) -> None:
        calls: list[str] = []

        def adapter(texts: list[str], *_: Any) -> list[list[float]]:
            calls.extend(texts)
            raise AstRagRetrievalError("down", retryable=False)

        registry = Registry()
        registry.register("down", {"embed": adapter, "capabilities": lambda: {"maxBatch": 1}})
        with pytest.raises(AstRagRetrievalError):
            embed(registry.resolve("down"), ["x", "y", "z"])
        assert calls == ["x"]


class TestReports:
    def test_progress(self, httpserver: HTTPServer, cache: EmbeddingCache) -> None:
        COHERE.serve(httpserver)
        embed(COHERE.target(httpserver), numbered(50), cache)
        seen: list[tuple[int, int]] = []
        embed(COHERE.target(httpserver), numbered(200), cache, on_progress=lambda *step: seen.append(step))
        assert seen[0] == (50, 200)
        assert seen[-1] == (200, 200)
        assert seen == sorted(seen)

    def test_cost_is_what_the_provider_says_else_by_the_price_list(self, httpserver: HTTPServer) -> None:
        for name, tokens, cost in (
            ("cohere", 14, 14 * 0.12e-6),
            ("openai", 9, 9 * 0.02e-6),
            ("openrouter", 9, 0.5),
            ("perplexity", 9, 0.25),
            ("gemini", 4, 4 * 0.15e-6),  # it does not say: estimated
            ("vertex", 10, 10 * 0.15e-6),
        ):
            httpserver.clear()
            ALL[name].serve(httpserver)
            usage = embed(ALL[name].target(httpserver), ["one text", "two text"]).usage
            assert (name, usage.tokens) == (name, tokens)
            assert usage.cost == pytest.approx(cost)

    def test_an_unknown_price_is_not_zero(self, httpserver: HTTPServer) -> None:
        stand_in = StandIn(**{**vars(ALL["openai"]), "model": "new-model", "own_dimensions": 8})
        stand_in.serve(httpserver)
        target = stand_in.target(httpserver, dimensions=8)
        assert embed(target, ["x"]).usage.cost is None

    def test_a_preview_sends_nothing_and_counts_what_is_kept(
        self, httpserver: HTTPServer, cache: EmbeddingCache
    ) -> None:
        bodies = COHERE.serve(httpserver)
        target = COHERE.target(httpserver)
        embed(target, ["a" * 40], cache)
        preview = asyncio.run(Embeddings(cache=cache).preview(target, ["a" * 40, "b" * 400, "b" * 400, "c" * 40]))
        assert (preview.texts, preview.kept, preview.tokens) == (3, 1, 110)
        assert preview.cost == pytest.approx(110 * 0.12e-6)
        assert len(bodies) == 1

    def test_local_costs_nothing_and_the_unknown_is_unknown(self) -> None:
        registry = Registry()
        registry.register("free", {"embed": lambda *_: [], "capabilities": lambda: {"dimensions": 2, "price": 0}})
        registry.register("secret", lambda *_: [])
        service = Embeddings(registry)
        assert asyncio.run(service.preview(registry.resolve("free"), ["x"])).cost == 0
        assert asyncio.run(service.preview(registry.resolve("secret"), ["x"])).cost is None


def test_estimates_are_near_for_english() -> None:
    text = "It was the best of times, it was the worst of times, it was the age of wisdom."
    assert 17 <= estimate_tokens(text) <= 23  # 19 with OpenAI's tokenizer


def test_cancelling_stops_the_work(httpserver: HTTPServer) -> None:
    async def run() -> int:
        calls: list[int] = []

        async def adapter(texts: list[str], *_: Any) -> list[list[float]]:
            calls.append(len(texts))
            await asyncio.sleep(30)
            return []

        registry = Registry()
        registry.register("slow", {"embed": adapter, "capabilities": lambda: {"maxBatch": 1}})
        task = asyncio.create_task(Embeddings(registry).embed(registry.resolve("slow"), ["x", "y"], "document"))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(calls)

    assert asyncio.run(run()) == 1


def test_the_key_reaches_nobody_else() -> None:
    seen: list[Any] = []

    def adapter(texts: list[str], input_type: str, model: str, auth: Any, options: Any) -> list[list[float]]:
        seen.append((dict(auth), dict(options)))
        return [[1.0] for _ in texts]

    registry = Registry()
    registry.register("mine", {"embed": adapter, "capabilities": lambda: {"options": ["room"]}})
    auth = {"openai": KEY, "mine": {"apiKey": "mine-1"}, "Cohere": {"api_key": "c"}}
    embed(registry.resolve("mine", auth=auth, options={"room": 4}), ["x"])
    assert seen == [({"api_key": "mine-1"}, {"room": 4})]
