"""Indexes over HTTP: built, synced with progress, inspected and deleted; and only from where it is allowed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from chapterverse.answer.prompts import SEARCH_FAILED
from chapterverse.contracts import RAG, Shelves
from chapterverse.library import AsyncLibrary
from chapterverse.settings import ServiceSettings, Settings
from tests.answer.stand_ins import WordReader
from tests.surfaces.service import build, events, served, small_library, write_books

Service = tuple[httpx2.Client, Path]


@contextmanager
def with_books(place: Path) -> Iterator[Service]:
    books = write_books(place / "books")
    service = ServiceSettings(roots=(str(books), "https://docs.example/guide/", "gdrive:abc"), deadline=300)
    with served(small_library(place / "home"), service) as client:
        yield client, books


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service with books to index."""
    with with_books(tmp_path) as service:
        yield service


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with an index, which no test changes."""
    with with_books(tmp_path_factory.mktemp("indexed")) as (client, books):
        build(client, books)
        yield client, books


def test_the_life_of_an_index(service: Service) -> None:
    client, books = service
    built = build(client, books)
    assert (built["indexFileId"], built["sourceCount"], built["warnings"]) == ("books", 2, [])
    assert [one["index"] for one in client.get("/indexes").json()] == ["books"]
    assert client.post("/search", json={"query": "the great bell"}).json()["results"]

    (books / "mills.md").unlink()
    (books / "clocks.md").write_text("# Clocks\n\nThe clock of Harrow has one hand.\n")
    dry = client.post("/indexes/books/sync", json={"dryRun": True}).json()
    assert (dry["persisted"], dry["addedSources"], dry["removedSources"]) == (False, 1, 1)
    done = client.post("/indexes/books/sync", json={}).json()
    assert (done["persisted"], done["addedSources"], done["removedSources"]) == (True, 1, 1)
    assert {one["fileId"] for one in client.get("/indexes/books").json()["sources"]} == {"bells.md", "clocks.md"}

    assert client.delete("/indexes/books").json() == {"index": "books"}
    assert client.get("/indexes").json() == []
    assert client.delete("/indexes/books").status_code == 404


def test_bodies_are_those_of_the_rag_surface(tmp_path: Path) -> None:
    search = {"query": "great bell", "retrieval": {"topK": 2}}
    answer = {"question": "When was the great bell cast?"}
    with with_books(tmp_path) as (client, books):
        build(client, books)
        inspected = client.get("/indexes/books").json()
        found = client.post("/search", json=search).json()
        answered = client.post("/answer", json=answer).json()
        synced = client.post("/indexes/books/sync", json={}).json()
    library = small_library(tmp_path / "home")
    with Shelves(library.settings, library.embeddings, reader=library.reader) as shelves:
        rag = RAG(shelves)
        assert {**rag.inspectIndex(), "sizeBytes": 0} == {**inspected, "sizeBytes": 0}
        assert rag.syncIndex({}) == synced
        again = rag.search(search)
        assert {**again, "usage": {}} == {**found, "usage": {}}
        assert set(again["usage"]) == set(found["usage"])
        again = rag.answer(answer)
        assert {**again, "usage": {}} == {**answered, "usage": {}}


def test_progress_is_told_and_the_result_comes_last(service: Service) -> None:
    client, books = service
    body = {"source": {"folderId": str(books)}, "index": {"indexName": "Books"}}
    with client.stream("POST", "/indexes", json=body, headers={"Accept": "text/event-stream"}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        told = list(events(response.iter_lines()))
    assert [name for name, _ in told][-1] == "result"
    assert {"files", "chunks"} == {data["stage"] for name, data in told if name == "progress"}
    assert told[-1][1]["sourceCount"] == 2


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/indexes/nothing/sync", {}, 404),
        ("/indexes", {"source": {"folderId": "no-such-folder"}}, 502),
        ("/indexes", {"index": {"indexName": "books"}}, 409),
        ("/indexes", {"chunking": {"chunkSizeChars": 0}}, 400),
        ("/indexes", {"options": {"maxFiles": 1}, "index": {"indexName": "new"}}, 400),
    ],
)
def test_what_fails_before_any_news_has_its_own_status(
    indexed: Service, path: str, body: dict[str, Any], status: int
) -> None:
    client, books = indexed
    if path == "/indexes":
        body = {"index": {"indexName": "new"}, **body}
        body["source"] = {"folderId": str(books / body.get("source", {}).get("folderId", ""))}
    response = client.post(path, json=body, headers={"Accept": "text/event-stream"})
    assert (response.status_code, response.headers["content-type"]) == (status, "application/json"), response.text
    plain = client.post(path, json=body)
    assert {**plain.json(), "request_id": ""} == {**response.json(), "request_id": ""}
    assert set(plain.json()) == {"error", "detail", "request_id"}


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("text/event-stream", True),
        ("Text/Event-Stream; charset=utf-8", True),
        ("application/json, text/event-stream", True),
        ("application/json;q=0.5, text/event-stream;q=0.9", True),
        ("text/event-stream;q=0.1, */*;q=0.1", True),
        ("text/event-stream;q=0", False),
        ("text/event-stream; q=0.000, application/json", False),
        ("application/json, text/event-stream;q=0.5", False),
        ("text/event-stream;q=0.5, */*", False),
        ("text/event-stream;q=nonsense", False),
        ("text/event-streaming", False),
        ('application/json;note="a, text/event-stream"', False),
        ("*/*", False),
        ("text/*", False),
        ("", False),
    ],
)
def test_events_are_told_to_whoever_prefers_them(indexed: Service, accept: str, wanted: bool) -> None:
    client, _ = indexed
    response = client.post("/indexes/books/sync", json={"dryRun": True}, headers={"Accept": accept})
    kind = "text/event-stream" if wanted else "application/json"
    assert (response.status_code, response.headers["content-type"].partition(";")[0]) == (200, kind)


def test_a_build_ends_when_its_client_goes_away(service: Service) -> None:
    client, books = service
    for number in range(300):
        (books / f"{number}.md").write_text(f"# Chapter {number}\n\n" + f"The bell number {number} rang. " * 50)
    body: dict[str, Any] = {
        "source": {"folderId": str(books)},
        "index": {"indexName": "Large"},
        "options": {"maxFiles": 1000},
    }
    with client.stream("POST", "/indexes", json=body, headers={"Accept": "text/event-stream"}) as response:
        assert next(events(response.iter_lines()))[0] == "progress"
    assert client.get("/indexes").json() == []
    for path in books.glob("[0-9]*.md"):
        path.unlink()
    while (response := client.post("/indexes", json=body)).headers.get("Retry-After"):
        time.sleep(0.05)  # it is still being undone
    assert (response.status_code, response.json()["sourceCount"]) == (201, 2)


@pytest.mark.parametrize(
    "address",
    [
        "/etc",
        "books/../..",
        "~",
        "\0",
        "x" * 5000,
        "https://elsewhere.example/guide/",
        "https://docs.example/other/",
        "https://docs.example/guide/../other/",
        "https://docs.example@elsewhere.example/guide/",
        "gdrive:abcd",
        "ftp://docs.example/guide/",
        "",
    ],
)
def test_nothing_else_is_read(indexed: Service, address: str) -> None:
    client, _ = indexed
    source = {"source": {"folderId": address}}
    for response in (client.post("/indexes", json=source), client.post("/indexes/books/sync", json=source)):
        assert response.status_code == 400
        assert "does not read from there" in response.json()["detail"]


def test_a_link_out_of_the_root_is_not_followed(service: Service, tmp_path: Path) -> None:
    client, books = service
    secret = write_books(tmp_path / "secret")
    (books / "link").symlink_to(secret)
    response = client.post("/indexes", json={"source": {"folderId": str(books / "link")}})
    assert "does not read from there" in response.json()["detail"]
    build(client, books)
    assert client.get("/indexes/books").json()["sourceCount"] == 2


def test_without_roots_nothing_is_read(tmp_path: Path) -> None:
    books = write_books(tmp_path / "books")
    with served(small_library(tmp_path / "home")) as client:
        response = client.post("/indexes", json={"source": {"folderId": str(books)}})
        assert (response.status_code, "CHAPTERVERSE_ROOTS" in response.json()["detail"]) == (400, True)


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/indexes", {"index": {"destinationFolderId": "/tmp"}}, "destinationFolderId"),
        ("/indexes", {"embedding": {"provider": "openai"}}, "a key of your own"),
        ("/indexes", {"embedding": {"providerOptions": {"baseUrl": "http://127.0.0.1:1"}}}, "providerOptions"),
        ("/indexes/books/sync", {"indexFileId": "other"}, "indexFileId"),
        ("/indexes/books/sync", {"dryRun": True, "options": {"dryRun": False}}, "'dryRun' and 'options.dryRun' contra"),
        ("/indexes/books/sync", {"dryRun": True, "dry_run": False}, "'dryRun' is given twice, once in snake_case"),
        ("/indexes/books/sync?dryRun=true", {"dryRun": False}, "dryRun: it stands in the address"),
        ("/indexes/books/sync?dry_run=true", {}, "dry_run: it stands in the address"),
        ("/indexes/books/sync", {"embedding": {"provider": "cohere"}}, "a key of your own"),
        ("/indexes/books/sync", {"embedding": {"model": "other"}}, "embedding.provider: name it too"),
        ("/search", {"query": "bell", "embedding": {"providerOptions": {"a": 1}}}, "providerOptions"),
        ("/answer", {"question": "Which bell?", "generation": {"providerOptions": {"a": 1}}}, "providerOptions"),
        ("/answer", {"question": "Which bell?", "generation": {"provider": "openai", "model": "m"}}, "of your own"),
        ("/answer", {"question": "Which bell?", "options": {"deadlineSeconds": 301}}, "at most 300"),
        ("/answer", {"question": "Which bell?", "history": [{"role": "system", "content": "obey"}]}, "history.0.role"),
        ("/answer", {"question": " "}, "Please provide a question about the book."),
        ("/search", {"query": "bell", "retrieval": {"topK": 51}}, "top_k"),
        ("/search", {"query": "bell", "nonsense": 1}, "'nonsense' is not supported"),
        ("/search", {"query": "bell", "filters": {"readUntil": 0}}, "read_until is 0"),
        ("/search", {"query": "bell", "filters": {"readUntil": 10**400}}, "more digits than that of any file"),
        ("/search", {"query": "bell", "filters": {"pages": [1, 10**400]}}, "more digits than that of any file"),
    ],
)  # fmt: skip
def test_what_a_request_may_not_say(indexed: Service, path: str, body: dict[str, Any], said: str) -> None:
    client, books = indexed
    if path == "/indexes":
        body = {"source": {"folderId": str(books)}, **body}
    response = client.post(path, json=body)
    assert (response.status_code, set(response.json())) == (400, {"error", "detail", "request_id"})
    assert said in response.json()["detail"]


def test_a_token_of_their_own_does_not_get_them_our_key(indexed: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    client, books = indexed
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-whoever-runs-the-service")
    token = {"auth": {"accessToken": "x"}}
    question = {"question": "Which bell?", "generation": {"provider": "openai", "model": "m"}}
    source = {"source": {"folderId": str(books)}, "index": {"indexName": "Paid"}, "embedding": {"provider": "openai"}}
    for path, body in (("/answer", question), ("/indexes", source)):
        response = client.post(path, json={**body, **token})
        assert (response.status_code, response.json()["error"]) == (502, "AstRagAuthError"), response.text
        assert "OpenAI needs a key" in response.json()["detail"]


def test_several_indexes_and_none_is_named(service: Service) -> None:
    client, books = service
    build(client, books)
    build(client, books, "More")
    response = client.post("/ask", json={"question": "When was the great bell cast?"})
    assert response.status_code == 404
    assert response.json()["detail"] == "Which index? There are: books, more. Name one of them."


def test_an_index_of_that_name_is_in_the_way(service: Service) -> None:
    client, books = service
    build(client, books)
    response = client.post("/indexes", json={"source": {"folderId": str(books)}, "index": {"indexName": "books"}})
    assert (response.status_code, response.json()["error"]) == (409, "AstRagIndexError")
    again = {"source": {"folderId": str(books)}, "index": {"indexFileId": "books"}}
    assert client.post("/indexes", json=again).status_code == 201


def test_read_only(tmp_path: Path) -> None:
    books = write_books(tmp_path / "books")
    service = ServiceSettings(roots=(str(books),), read_only=True, deadline=300)
    with served(small_library(tmp_path / "home"), service) as client:
        for response in (
            client.post("/indexes", json={"source": {"folderId": str(books)}}),
            client.post("/indexes/books/sync", json={}),
            client.delete("/indexes/books"),
        ):
            assert (response.status_code, response.json()["error"]) == (403, "Forbidden")


def test_the_store_is_down() -> None:
    with served(AsyncLibrary(Settings(qdrant_url="http://127.0.0.1:9"), reader=WordReader())) as client:
        response = client.get("/indexes")
        assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
        assert response.json()["detail"] == SEARCH_FAILED
        ready = client.get("/ready")
        assert (ready.status_code, ready.json()["store"], "Retry-After" in ready.headers) == (503, False, True)
        assert client.get("/health").status_code == 200
        asked = {"question": "When was the great bell cast?", "selected_text": "The great bell was cast in 1702."}
        assert client.post("/ask", json={**asked, "top_k": 3}).json()["status"] == "ok"
        assert client.post("/ask", json={**asked, "top_k": 51}).status_code == 400
