"""Each provider over real HTTP through its own SDK: what it is sent, and what is made of its answers."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from cohere import AsyncClientV2
from google.genai.types import EmbedContentConfig
from openai.types import EmbeddingCreateParams
from pydantic.alias_generators import to_camel
from pytest_httpserver import HTTPServer

from chapterverse.protocols import Embedded, InputType
from chapterverse.providers import Embeddings, Target
from tests.providers import published
from tests.providers.stand_ins import ALL, FAST, KEY, StandIn, unit

TEXTS = ["The clock struck thirteen.", "Nobody in the vale heard it.", "Ein Satz mit Umlauten: äöü."]


def embed(target: Target, texts: Sequence[str] = TEXTS, input_type: InputType = "document") -> Embedded:
    async def run() -> Embedded:
        async with Embeddings(retry=FAST) as embeddings:
            return await embeddings.embed(target, texts, input_type)

    return asyncio.run(run())


@pytest.mark.parametrize("name", ALL)
def test_vectors_come_back_in_order_and_of_unit_length(name: str, httpserver: HTTPServer) -> None:
    stand_in = ALL[name]
    stand_in.serve(httpserver)
    embedded = embed(stand_in.target(httpserver))
    expected = np.stack([unit(text, stand_in.own_dimensions) for text in TEXTS])
    assert embedded.vectors.dtype == np.float32
    np.testing.assert_allclose(embedded.vectors, expected, atol=1e-6)
    assert embedded.usage.tokens > 0
    assert embedded.usage.cost is not None
    assert embedded.usage.cost > 0
    httpserver.check_assertions()


def test_the_schemas_of_requests_have_the_fields_that_the_vendors_sdks_are_generated_with() -> None:
    assert set(published.OPENAI["properties"]) == set(EmbeddingCreateParams.__annotations__)
    parameters = inspect.signature(AsyncClientV2.embed).parameters
    assert set(published.COHERE["properties"]) == set(parameters) - {"self", "request_options"}
    config = {to_camel(name) for name in EmbedContentConfig.model_fields}
    assert set(published.EMBED_CONFIG["properties"]) == config - {"mimeType", "httpOptions"}


@pytest.mark.parametrize("name", ALL)
def test_dimensions_reach_the_provider(name: str, httpserver: HTTPServer) -> None:
    stand_in = ALL[name]
    bodies = stand_in.serve(httpserver)
    target = stand_in.target(httpserver, dimensions=256)
    embedded = embed(target)
    assert target.dimensions == 256
    assert embedded.vectors.shape == (3, 256)
    assert {stand_in.dimensions_of(body) for body in bodies} == {256}


@pytest.mark.parametrize("name", ALL)
def test_own_dimensions_are_not_sent(name: str, httpserver: HTTPServer) -> None:
    stand_in = ALL[name]
    bodies = stand_in.serve(httpserver)
    embed(stand_in.target(httpserver, dimensions=stand_in.own_dimensions))
    assert {stand_in.dimensions_of(body) for body in bodies} == {None}


@pytest.mark.parametrize(
    ("name", "seen", "document", "query"),
    [
        ("cohere", lambda body: body["input_type"], "search_document", "search_query"),
        ("openrouter", lambda body: body["input_type"], "search_document", "search_query"),
        ("gemini", lambda body: body["requests"][0]["taskType"], "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
        ("vertex", lambda body: body["instances"][0]["task_type"], "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"),
        (
            "gemini-2",
            lambda body: body["requests"][0]["content"]["parts"][0]["text"],
            f"title: none | text: {TEXTS[0]}",
            f"task: search result | query: {TEXTS[0]}",
        ),
        (
            "vertex-2",
            lambda body: body["content"]["parts"][0]["text"],
            f"title: none | text: {TEXTS[0]}",
            f"task: search result | query: {TEXTS[0]}",
        ),
        # These two make no difference between a question and a passage, and have no field to say it in.
        ("openai", lambda body: body["input"][0], TEXTS[0], TEXTS[0]),
        ("perplexity", lambda body: body["input"][0], TEXTS[0], TEXTS[0]),
    ],
)
def test_the_input_type_reaches_the_provider(
    name: str, seen: Any, document: str, query: str, httpserver: HTTPServer
) -> None:
    bodies = ALL[name].serve(httpserver)
    target = ALL[name].target(httpserver)
    embed(target, TEXTS[:1], "document")
    embed(target, TEXTS[:1], "query")
    assert [seen(body) for body in bodies] == [document, query]


def test_too_long_is_an_error_where_the_provider_lets_us_ask_for_one(httpserver: HTTPServer) -> None:
    for name in ("cohere", "vertex"):
        bodies = ALL[name].serve(httpserver)
        embed(ALL[name].target(httpserver), TEXTS[:1])
        said = bodies[0].get("truncate", bodies[0].get("parameters", {}).get("autoTruncate"))
        assert said in ("NONE", False)


@pytest.mark.parametrize("name", ["openai", "cohere", "gemini", "openrouter", "perplexity"])
def test_the_key_may_come_from_the_environment(
    name: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = ALL[name]
    stand_in.serve(httpserver)
    variable = stand_in.target(httpserver).adapter.capabilities().key_variables[0]
    monkeypatch.setenv(variable, KEY)
    keyless = StandIn(**{**vars(stand_in), "auth": None})
    assert embed(keyless.target(httpserver)).vectors.shape == (3, stand_in.own_dimensions)


def test_a_vertex_key_needs_no_project(httpserver: HTTPServer) -> None:
    own = {
        "auth": KEY,
        "options": {},
        "path": "/v1beta1/publishers/google/models/gemini-embedding-001:predict",
        "key_header": ("x-goog-api-key", KEY),
    }
    stand_in = StandIn(**{**vars(ALL["vertex"]), **own})
    stand_in.serve(httpserver)
    assert embed(stand_in.target(httpserver), TEXTS[:1]).vectors.shape == (1, 3072)


def test_an_openai_server_of_ones_own_needs_no_key_and_may_have_any_model(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"auth": None, "model": "nomic", "own_dimensions": 8, "key_header": ("Authorization", "Bearer none")}
    stand_in = StandIn(**{**vars(ALL["openai"]), **own})
    bodies = stand_in.serve(httpserver)
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    target = stand_in.target(httpserver, base_url=None, dimensions=8)
    assert embed(target).vectors.shape == (3, 8)
    assert bodies[0]["model"] == "nomic"
    assert "dimensions" not in bodies[0]


def test_clients_are_used_again(httpserver: HTTPServer) -> None:
    stand_in = ALL["openai"]
    stand_in.serve(httpserver)

    async def run() -> int:
        async with Embeddings(retry=FAST) as embeddings:
            target = stand_in.target(httpserver)
            await embeddings.embed(target, TEXTS, "document")
            client = target.adapter._client(target.adapter._access(target.auth, target.options))  # type: ignore[attr-defined]
            await embeddings.embed(target, TEXTS, "query")
            again = target.adapter._client(target.adapter._access(target.auth, target.options))  # type: ignore[attr-defined]
            assert client is again
            await target.adapter.close()
            assert client.is_closed()
        return 1

    assert asyncio.run(run()) == 1
