"""`retrieve_chunks`: what it takes, what it returns, and which vendor's errors its caller can catch."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cohere.core.api_error import ApiError
from pytest_httpserver import HTTPServer
from qdrant_client.http.exceptions import UnexpectedResponse
from werkzeug import Request, Response

from chapterverse.contracts import QueryScope, RetrievedChunk, Shelves, retrieve_chunks, retrieve_content
from chapterverse.errors import (
    AstRagAuthError,
    AstRagEmbeddingCapabilityError,
    AstRagError,
    AstRagRetrievalError,
    InvalidQueryError,
    StoreUnreachableError,
)
from chapterverse.library import Library
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.retry import RetryPolicy
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings
from tests.index.standin import StandIn

KEY = "co-test-0123456789abcdef"


def test_the_signature_is_that_of_the_contract() -> None:
    given = [
        (name, parameter.default)
        for name, parameter in inspect.signature(retrieve_chunks).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    assert given == [("query", inspect.Parameter.empty), ("filters", None), ("top_k", 5)]


def test_chunks_are_typed_records(library: Library, index: str) -> None:
    chunks = retrieve_chunks("the great bell", index=index, library=library)
    assert 0 < len(chunks) <= 5
    assert all(isinstance(chunk, RetrievedChunk) for chunk in chunks)
    best = chunks[0]
    assert "forty hundredweight" in best.text
    assert best.source_url == "bells.md"
    assert (best.title, best.chapter, best.section) == ("Chapter 1: Bells", "Chapter 1: Bells", None)
    assert [chunk.score for chunk in chunks] == sorted((chunk.score for chunk in chunks), reverse=True)
    assert len(retrieve_chunks("the great bell", top_k=1, index=index, library=library)) == 1


FILTERS: list[tuple[dict[str, str], set[str]]] = [
    ({"source_url": "sheep.txt"}, {"sheep.txt"}),
    ({"chapter": "Geese"}, {"old/geese.html"}),
    ({"section": "Casting"}, {"bells.md"}),
    ({"chapter": "Chapter 1", "section": "Casting"}, {"bells.md"}),
    ({"chapter": "Chapter 2", "section": "Casting"}, set()),
    ({"chapter": "Chapter 9"}, set()),
]


@pytest.mark.parametrize(("filters", "expected"), FILTERS)
def test_filters(library: Library, index: str, filters: dict[str, str], expected: set[str]) -> None:
    chunks = retrieve_chunks("the bell was cast", filters, index=index, library=library)
    assert {chunk.source_url for chunk in chunks} == expected


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"query": " "}, "Please provide a question"),
    ({"filters": {"author": "Reed"}}, "supported are source_url, chapter, section"),
    ({"filters": {"chapter": ""}}, "not blank"),
    ({"filters": ["chapter"]}, "filters must be a dictionary; supported are source_url, chapter, section"),
    ({"top_k": 0}, "1 to 50"),
    ({"top_k": 51}, "1 to 50"),
]


@pytest.mark.parametrize(("wrong", "message"), INVALID)
def test_invalid_queries(library: Library, index: str, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidQueryError, match=message):
        retrieve_chunks(**{"query": "the great bell", "index": index, "library": library, **wrong})


def test_content_of_the_data_model(library: Library, index: str) -> None:
    plain = retrieve_content("the great bell", index=index, library=library)
    assert all(chunk.embedding is None for chunk in plain)
    (best, *_) = retrieve_content("the great bell", index=index, library=library, with_embeddings=True)
    assert best.embedding is not None
    assert len(best.embedding) == 64
    assert sum(value * value for value in best.embedding) == pytest.approx(1, abs=1e-2)
    scope = QueryScope(type="section-specific", identifier="Chapter 2", description="Chapter 2")
    (rope,) = retrieve_content("the great bell", scope, index=index, library=library)
    assert "hemp" in rope.content
    assert rope.source_metadata.section == "Chapter 2: Ropes"


def fake() -> Embeddings:
    embeddings = Embeddings(retry=RetryPolicy(attempts=2, wait_initial=0.001, wait_max=0.002, wait_jitter=0.0))
    embeddings.registry.register("fake", FakeEmbedder())
    return embeddings


def test_a_server_that_is_not_there() -> None:
    settings = Settings(QDRANT_URL="http://127.0.0.1:9")
    with Shelves(settings, fake()) as shelves, pytest.raises(ConnectionRefusedError) as caught:
        retrieve_chunks("bell", library=shelves.library())
    assert isinstance(caught.value, StoreUnreachableError)


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with Shelves(Settings(home=tmp_path / "file" / "home", embedding="fake"), fake()) as shelves:
        library = shelves.library()
        (tmp_path / "book.txt").write_text("The great bell is heavy.\n")
        with pytest.raises(ConnectionRefusedError, match="cannot be used"):
            library.add(tmp_path / "book.txt")


def test_a_server_that_answers_with_an_error(memory: Path, tmp_path: Path) -> None:
    (memory / "server").mkdir()
    standin = StandIn(memory / "server")
    (tmp_path / "book.txt").write_text("The great bell is heavy.\n")
    try:
        with Shelves(Settings(QDRANT_URL=standin.url, embedding="fake"), fake()) as shelves:
            library = shelves.library()
            library.add(tmp_path / "book.txt")
            assert len(retrieve_chunks("bell", library=library)) == 1
            standin.fail_next = [422]
            with pytest.raises(UnexpectedResponse) as caught:
                retrieve_chunks("bell", library=library)
    finally:
        standin.stop()
    assert isinstance(caught.value, AstRagRetrievalError)
    assert caught.value.status_code == 422


@pytest.fixture
def cohere_index(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """An index that was made with Cohere, and the status that Cohere will answer queries with."""
    state: dict[str, Any] = {"status": 200, "types": []}

    def handle(request: Request) -> Response:
        body = json.loads(request.data)
        state["types"].append(body["input_type"])
        if state["status"] != 200:
            return Response(json.dumps({"message": f"no, {KEY}"}), state["status"], content_type="application/json")
        vectors = [[1.0, float(len(text))] * 768 for text in body["texts"]]
        answer = {"id": "1", "response_type": "embeddings_by_type", "embeddings": {"float": vectors}, "texts": []}
        return Response(json.dumps(answer), content_type="application/json")

    httpserver.expect_request("/v2/embed").respond_with_handler(handle)
    monkeypatch.setenv("CO_API_URL", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    (tmp_path / "book.txt").write_text("The great bell is heavy.\n")
    with Shelves(Settings(home=tmp_path / "home", embedding="cohere"), fake()) as shelves:
        library = shelves.library()
        library.add(tmp_path / "book.txt")
        yield {"library": library, **state, "state": state}


COHERE: list[tuple[int, type[AstRagError]]] = [
    (401, AstRagAuthError),
    (400, AstRagEmbeddingCapabilityError),
    (500, AstRagRetrievalError),
    (429, AstRagRetrievalError),
]


@pytest.mark.parametrize(("status", "ours"), COHERE)
def test_trouble_with_cohere(cohere_index: dict[str, Any], status: int, ours: type[AstRagError]) -> None:
    library, state = cohere_index["library"], cohere_index["state"]
    assert len(retrieve_chunks("bell", library=library)) == 1
    assert state["types"][-1] == "search_query"
    state["status"] = status
    with pytest.raises(ApiError) as caught:
        retrieve_chunks("bell", library=library)
    assert isinstance(caught.value, ours)
    assert caught.value.status_code == status
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value.body)


def test_queries_of_a_cohere_index_are_embedded_by_cohere(cohere_index: dict[str, Any]) -> None:
    library, state = cohere_index["library"], cohere_index["state"]
    made = library.record().embedding
    assert (made.provider, made.model, made.dimensions) == ("cohere", "embed-v4.0", 1536)
    assert state["types"][0] == "search_document"
    state["types"].clear()
    library.search("How heavy is the bell?")
    assert state["types"] == ["search_query"]


SCRIPT = """
from chapterverse.contracts import RAG, retrieve_chunks
from chapterverse.contracts.shelves import default_shelves
from chapterverse.providers.fake import FakeEmbedder

rag = RAG()
rag.registerEmbeddingProvider("fake", FakeEmbedder())
rag.buildIndex({"source": {"folderId": "book.txt"}})
print(RAG().search({"query": "bell"})["results"][0]["fileId"], retrieve_chunks("bell")[0].source_url)
assert default_shelves().library("home") is default_shelves().library()
"""


def test_a_process_shares_one_library_and_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("The great bell is heavy.\n")
    environment = {**os.environ, "CHAPTERVERSE_HOME": "home", "CHAPTERVERSE_EMBEDDING": "fake"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "book.txt book.txt\n", "")
    with Shelves(Settings(home=tmp_path / "home", embedding="fake"), fake()) as shelves:
        assert len(retrieve_chunks("bell", library=shelves.library())) == 1
