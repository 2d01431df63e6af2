"""What a client is told when a model, a provider or time fails: each has its status, and whether to try again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pytest_httpserver import HTTPServer

from chapterverse.settings import ServiceSettings
from tests.chat_server import ChatServer, Raw, Reply, Said, draft_json, error
from tests.surfaces.service import build, events, served, small_library, write_books

QUESTION = "When was the great bell cast?"
QUOTE = "The great bell was cast in 1702."
GOOD = Said(draft_json((QUOTE, ["S1"], QUOTE)))
STREAM = {"Accept": "text/event-stream"}


@contextmanager
def asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, deadline: float = 300
) -> Iterator[httpx2.Client]:
    """A service whose answers are written by the model at this address."""
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", address)
    books = write_books(tmp_path / "books")
    service = ServiceSettings(model="openai-compatible:m", deadline=deadline, roots=(str(books),))
    with served(small_library(tmp_path / "home"), service) as client:
        build(client, books)
        yield client


@pytest.mark.parametrize(
    ("reply", "status", "kind", "retry_after"),
    [
        (Raw(429, error("Slow down."), {"Retry-After": "7"}), 429, "GenerationError", "7"),
        (Raw(500, error("Broken.")), 502, "GenerationError", "1"),
        (Raw(401, error("Who are you?")), 502, "AstRagAuthError", None),
        (Raw(400, error("No such model.")), 502, "GenerationError", None),
        (Raw(200, "<html>"), 502, "GenerationError", "1"),
        (Said("this is not a draft"), 502, "GenerationError", "1"),
    ],
)
def test_a_model_that_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    httpserver: HTTPServer,
    reply: Reply,
    status: int,
    kind: str,
    retry_after: str | None,
) -> None:
    chat = ChatServer(httpserver, lambda _: reply)
    with asking(tmp_path, monkeypatch, chat.base_url) as client:
        response = client.post("/ask", json={"question": QUESTION})
        body = response.json()
        assert (response.status_code, body["error"], response.headers.get("Retry-After")) == (status, kind, retry_after)
        (*_, (name, data)) = told(client, {"question": QUESTION})
        assert (name, data["error"], data["detail"]) == ("error", kind, body["detail"])


def test_a_model_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with asking(tmp_path, monkeypatch, "http://127.0.0.1:9/v1") as client:
        response = client.post("/ask", json={"question": QUESTION})
        assert (response.status_code, response.headers["Retry-After"]) == (502, "1")


def test_a_model_that_is_too_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer) -> None:
    chat = ChatServer(httpserver, [Said(GOOD.text, after=6.0)])
    with asking(tmp_path, monkeypatch, chat.base_url, deadline=2.0) as client:
        response = client.post("/ask", json={"question": QUESTION})
        assert (response.status_code, response.headers["Retry-After"]) == (504, "1")
        assert "before the deadline" in response.json()["detail"]
    chat.settle()


def test_a_stream_ends_with_the_answer_that_is_given_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer
) -> None:
    chat = ChatServer(httpserver, [GOOD])
    with asking(tmp_path, monkeypatch, chat.base_url) as client:
        plain = client.post("/ask", json={"question": QUESTION}).json()
        stream = told(client, {"question": QUESTION})
    assert plain["status"] == "ok"
    names = [name for name, _ in stream]
    assert names.index("stage") < names.index("sentence") < names.index("answer") == len(names) - 1
    answer = stream[-1][1]
    assert set(answer) == set(plain)
    assert (answer["answer"], answer["citations"]) == (plain["answer"], plain["citations"])
    sentences = [data for name, data in stream if name == "sentence"]
    assert [one["text"] for one in sentences] == [one["text"] for one in answer["sentences"]]
    assert [one["citations"] for one in sentences] == [
        [answer["citations"][number - 1] for number in one["citations"]] for one in answer["sentences"]
    ]


def test_what_fails_before_the_first_event_has_its_own_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer
) -> None:
    chat = ChatServer(httpserver, [GOOD])
    with asking(tmp_path, monkeypatch, chat.base_url) as client:
        for body, status in (({"question": "?"}, 400), ({"question": QUESTION, "index": "nowhere"}, 404)):
            response = client.post("/ask", json=body, headers=STREAM)
            assert (response.status_code, set(response.json())) == (status, {"error", "detail", "request_id"})


def test_work_ends_when_the_client_goes_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer
) -> None:
    gone = threading.Event()
    chat = ChatServer(httpserver, [Said(GOOD.text, until=gone)])
    with asking(tmp_path, monkeypatch, chat.base_url) as client:
        with pytest.raises(httpx2.ReadTimeout):
            client.post("/ask", json={"question": QUESTION}, timeout=1.0)
        line = 'chapterverse_requests_total{method="POST",route="/ask",status="499"} 1'
        while line not in (text := client.get("/metrics").text):
            assert 'route="/ask",status="200"' not in text
            time.sleep(0.05)
        gone.set()
    chat.settle()


def told(client: httpx2.Client, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    with client.stream("POST", "/ask", json=body, headers=STREAM) as response:
        assert response.status_code == 200
        return list(events(response.iter_lines()))
