"""Adapters that are not providers of their own, held to what all must do."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from pytest_httpserver import HTTPServer

from chapterverse.providers import Embeddings, Registry
from chapterverse.providers.cohere import CohereEmbedder
from chapterverse.providers.fake import FakeEmbedder
from tests.conformance.embedder import EmbedderConformance
from tests.providers.stand_ins import KEY, reply


class TestFake(EmbedderConformance):
    def make(self) -> tuple[Any, dict[str, Any]]:
        return FakeEmbedder(48), {}

    def test_it_is_the_same_everywhere(self) -> None:
        vector = self.embed(["The clock, the CLOCK!"]).vectors[0]
        assert np.flatnonzero(vector).tolist() == [10, 26]
        np.testing.assert_allclose(abs(vector[[10, 26]]), 2 / np.sqrt(8))


class TestPlainFunction(EmbedderConformance):
    def make(self) -> tuple[Any, dict[str, Any]]:
        def letters(texts: list[str], *_: Any) -> Any:
            counts = [[text.lower().count(chr(code)) + 0.01 for code in range(97, 123)] for text in texts]
            return counts, {"tokens": 1}

        return {"embed": letters, "capabilities": lambda: {"dimensions": 26, "name": "letters"}}, {}


class TestCohere(EmbedderConformance):
    """An adapter of ours behind HTTP, with a stand-in that embeds for real."""

    @pytest.fixture(autouse=True)
    def _server(self, httpserver: HTTPServer) -> None:
        fake = FakeEmbedder(1536)

        def handle(request: Any) -> Any:
            vectors = [fake._vector(text).tolist() for text in request.json["texts"]]
            meta = {"billed_units": {"input_tokens": 3}}
            return reply(200, {"id": "1", "embeddings": {"float": vectors}, "texts": [], "meta": meta})

        httpserver.expect_request("/v2/embed").respond_with_handler(handle)
        self.address = httpserver.url_for("").rstrip("/")

    def make(self) -> tuple[Any, dict[str, Any]]:
        return CohereEmbedder(), {"auth": KEY, "options": {"base_url": self.address}}


def test_the_fake_has_as_many_dimensions_as_one_likes() -> None:
    for dimensions in (1, 7, 4096):
        registry = Registry()
        registry.register("fake", FakeEmbedder(dimensions))
        target = registry.resolve("fake")
        embedded = asyncio.run(Embeddings(registry).embed(target, ["a few words"], "query"))
        assert embedded.vectors.shape == (1, dimensions)
