"""Configuration, keys and embedding providers of the RAG surface."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from chapterverse.contracts import RAG
from chapterverse.errors import AstRagAuthError, AstRagEmbeddingCapabilityError, AstRagValidationError
from chapterverse.library import Library

METHODS = {
    "configure": "configure",
    "getConfig": "get_config",
    "clearConfig": "clear_config",
    "buildIndex": "build_index",
    "syncIndex": "sync_index",
    "search": "search",
    "answer": "answer",
    "inspectIndex": "inspect_index",
    "embeddingProviders": "embedding_providers",
    "embeddingCapabilities": "embedding_capabilities",
    "registerEmbeddingProvider": "register_embedding_provider",
    "unregisterEmbeddingProvider": "unregister_embedding_provider",
}


@pytest.mark.parametrize(("camel", "snake"), METHODS.items())
def test_methods_have_both_names(camel: str, snake: str) -> None:
    assert getattr(RAG, camel) is getattr(RAG, snake)
    assert getattr(RAG, camel).__doc__


def test_configure_merges_deletes_and_replaces(rag: RAG) -> None:
    assert rag.configure({"retrieval": {"topK": 5, "mode": "vector"}, "indexFileId": "a"}) == {
        "retrieval": {"topK": 5, "mode": "vector"},
        "indexFileId": "a",
    }
    merged = rag.configure({"retrieval": {"min_score": 0.1, "mode": " "}, "index_file_id": None})
    assert merged == {"retrieval": {"topK": 5, "minScore": 0.1}}
    assert rag.configure({"chunking": {"chunkSizeChars": 400}}, {"merge": False}) == {
        "chunking": {"chunkSizeChars": 400}
    }
    assert rag.clearConfig() == rag.getConfig() == {}


def test_configuration_is_copied_both_ways(rag: RAG) -> None:
    given: dict[str, Any] = {"embedding": {"providerOptions": {"adapter": "x"}}}
    rag.configure(given)
    given["embedding"]["providerOptions"]["adapter"] = "changed"
    rag.getConfig()["embedding"]["providerOptions"]["adapter"] = "changed"
    assert rag.getConfig() == {"embedding": {"providerOptions": {"adapter": "x"}}}


def test_secrets_are_never_shown(rag: RAG) -> None:
    auth = {"openai": "sk-1-secret", "cohere": {"apiKey": "sk-2-secret"}, "apiKey": "sk-3-secret"}
    generation = {"auth": {"apiKey": "sk-4-secret"}, "providerOptions": {"accessToken": "sk-5-secret"}}
    returned = rag.configure({"auth": auth, "generation": generation})
    for shown in (returned, rag.getConfig()):
        assert "secret" not in json.dumps(shown)
        assert shown["auth"] == {"openai": "***", "cohere": {"apiKey": "***"}, "apiKey": "***"}
    with pytest.raises(AstRagValidationError, match="stands for a secret"):
        rag.configure(returned)


def test_secrets_are_found_wherever_a_provider_has_them(rag: RAG) -> None:
    options = {
        "headers": {"Authorization": "Bearer secret-1", "Cookie": "secret-2", "Accept": "application/json"},
        "apiKeys": ["secret-3"],
        "credentials": {"value": "secret-4", "more": ["secret-5"]},
        "baseUrl": "https://me:secret-6@example.org/v1",
        "mirrors": ["http://secret-7@example.org"],
        "maxTokens": 512,
    }
    returned = rag.configure({"embedding": {"providerOptions": options}})
    for shown in (returned, rag.getConfig()):
        assert "secret" not in json.dumps(shown)
        kept = shown["embedding"]["providerOptions"]
        assert (kept["headers"]["Accept"], kept["maxTokens"]) == ("application/json", 512)
        assert kept["baseUrl"] == "https://***@example.org/v1"
    with pytest.raises(AstRagValidationError, match="stands for a secret"):
        rag.configure({"embedding": {"providerOptions": {"baseUrl": kept["baseUrl"]}}})


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"topK": 3}, "'topK' is not supported; supported are indexFileId, embedding"),
    ({"retrieval": {"top": 3}}, "retrieval: 'top' is not supported"),
    ({"retrieval": {"topK": "3"}}, "retrieval.topK"),
    ({"retrieval": {"topK": 3, "top_k": 4}}, "'topK' is given twice"),
]


@pytest.mark.parametrize(("config", "message"), WRONG)
def test_what_cannot_be_configured(rag: RAG, config: dict[str, Any], message: str) -> None:
    rag.configure({"retrieval": {"topK": 5}})
    with pytest.raises(AstRagValidationError, match=message):
        rag.configure(config)
    assert rag.getConfig() == {"retrieval": {"topK": 5}}
    with pytest.raises(AstRagValidationError, match="'replace' is not supported; supported are merge"):
        rag.configure({}, {"replace": True})


class Keyed:
    """An adapter that tells which key it was given."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        self.given: set[str] = set()

    def capabilities(self) -> dict[str, Any]:
        return {"dimensions": 2, "maxBatch": 100}

    def embed(
        self, texts: Sequence[str], input_type: str, model: str, auth: Mapping[str, str], options: Mapping[str, Any]
    ) -> list[list[float]]:
        self.keys.append(auth.get("api_key"))
        self.given |= set(auth.values())
        return [[1.0, float(len(text))] for text in texts]


AUTH: list[tuple[Any, Any, str | None]] = [
    ({"keyed": "named", "apiKey": "plain"}, {"keyed": "configured"}, "named"),
    ({"openai": "other", "apiKey": "plain"}, {"keyed": "configured"}, "plain"),
    ("alone", {"keyed": "configured"}, "alone"),
    ({"openai": "other"}, {"keyed": "configured"}, "configured"),
    ({"OpenAI": "other", "vertexGemini": "another"}, {"KEYED": "configured"}, "configured"),
    ({}, {"apiKey": "configured"}, "configured"),
    (None, {}, None),
]


@pytest.mark.parametrize(("auth", "configured", "expected"), AUTH)
def test_keys_of_requests_go_before_configured_ones(
    rag: RAG, library: Library, books: Any, auth: Any, configured: Any, expected: str | None
) -> None:
    adapter = Keyed()
    rag.registerEmbeddingProvider("Keyed", adapter, {"overwrite": True})
    rag.configure({"auth": configured, "embedding": {"provider": "keyed"}})
    source, name = {"folderId": str(books / "sheep.txt")}, {"indexName": "keyed-index"}
    rag.buildIndex({"source": source, "index": name, "auth": auth})
    rag.search({"indexFileId": "keyed-index", "query": "fleece", "auth": auth, "retrieval": {"mode": "vector"}})
    assert set(adapter.keys) == {expected}
    assert adapter.given == ({expected} if expected else set())
    assert "named" not in json.dumps(rag.inspectIndex({"indexFileId": "keyed-index"}))
    library.remove("keyed-index")
    rag.unregisterEmbeddingProvider("keyed")


@pytest.mark.parametrize("auth", [{"apiKey": 5}, {"fake": ["sk-secret"]}, {"fake": {"apiKey": True}}])
def test_a_key_is_a_text(rag: RAG, index: str, auth: Any) -> None:
    with pytest.raises(AstRagValidationError, match=r"^auth\.(apiKey|fake) is neither a text"):
        rag.search({"indexFileId": index, "query": "bell", "auth": auth})


def test_a_missing_key_is_named(rag: RAG, books: Any) -> None:
    request = {"source": {"folderId": str(books)}, "index": {"indexName": "paid"}, "embedding": {"provider": "openai"}}
    with pytest.raises(AstRagAuthError, match=r"OPENAI_API_KEY.*local"):
        rag.buildIndex(request)


def test_configured_options_of_one_provider_are_not_given_to_another(rag: RAG, books: Any, index: str) -> None:
    rag.configure({"embedding": {"provider": "openai", "model": "m", "providerOptions": {"baseUrl": "http://x"}}})
    source, name = {"folderId": str(books / "sheep.txt")}, {"indexName": "another-provider"}
    built = rag.buildIndex({"source": source, "index": name, "embedding": {"provider": "fake"}})
    assert rag.inspectIndex({"indexFileId": built["indexFileId"]})["embedding"]["model"] == "bag-of-words"
    assert rag.search({"indexFileId": index, "query": "bell"})["results"]


def test_providers(rag: RAG) -> None:
    names = ["local", "cohere", "openai", "gemini", "vertex_gemini", "openrouter", "perplexity"]
    assert rag.embeddingProviders()[: len(names)] == names
    assert "mine" in rag.registerEmbeddingProvider("Mine", lambda texts, *_: [[1.0] for _ in texts])
    with pytest.raises(AstRagValidationError, match="already"):
        rag.registerEmbeddingProvider("MINE", Keyed())
    rag.registerEmbeddingProvider("mine", Keyed(), {"overwrite": True})
    assert "mine" not in rag.unregisterEmbeddingProvider("mine")
    with pytest.raises(AstRagValidationError, match="built in"):
        rag.unregisterEmbeddingProvider("openai")
    with pytest.raises(AstRagEmbeddingCapabilityError, match="no embedding provider 'mine'"):
        rag.embeddingCapabilities("mine")


@pytest.mark.parametrize("name", [None, 5, ["local"], b"local"])
def test_the_name_of_a_provider_is_a_text(rag: RAG, name: Any) -> None:
    for method in (rag.embeddingCapabilities, rag.unregisterEmbeddingProvider):
        with pytest.raises(AstRagValidationError, match="name of a provider must be a text"):
            method(name)
    with pytest.raises(AstRagValidationError, match="name of a provider must be a text"):
        rag.registerEmbeddingProvider(name, Keyed())


def test_capabilities(rag: RAG) -> None:
    shown = rag.embeddingCapabilities("Cohere")
    assert shown["provider"] == "cohere"
    assert shown["keyVariables"] == ["COHERE_API_KEY", "CO_API_KEY"]
    model = shown["models"][0]
    assert (model["name"], model["dimensions"], model["inputTypes"]["query"]) == ("embed-v4.0", 1536, "search_query")
    json.dumps(shown)
