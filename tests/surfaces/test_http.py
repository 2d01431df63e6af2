"""The service over real HTTP: a real server on loopback, the real library behind it."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import httpx2
import pytest

from chapterverse.answer.prompts import EMPTY_QUESTION, NOT_IN_BOOK, NOT_IN_SELECTION, SEARCH_FAILED
from chapterverse.library import AsyncLibrary
from chapterverse.settings import Settings
from tests.surfaces.service import served


def test_an_answer_has_all_fields_of_the_contract(client: httpx2.Client) -> None:
    response = client.post("/ask", json={"question": "Who taught apprentices by handing them a weight?"})
    assert response.status_code == 200
    body = response.json()
    assert set(body) == {
        "answer", "status", "reason", "grounded", "confidence", "sources", "matched_chunks", "citations", "sentences",
        "retrieval_quality", "timestamp", "request_id",
    }  # fmt: skip
    assert (body["status"], body["grounded"]) == ("ok", True)
    assert "Ambrose Kell" in body["answer"]
    assert body["sources"] == [
        "The Clocks of Harrow Vale, Chapter 3: The Weight and the Drop, Where the Power Comes From, page 12"
    ]
    assert set(body["matched_chunks"][0]) == {
        "chunk_id", "text", "start", "end", "file_id", "page", "page_label", "slide", "chapter", "section",
        "source_url", "title", "score", "answers",
    }  # fmt: skip
    assert all(0 <= chunk["score"] <= 1 for chunk in body["matched_chunks"])
    assert body["citations"][0]["page_label"] == "12"
    assert response.headers["X-Request-Id"] == body["request_id"]


def test_only_what_the_answer_rests_on_is_said_to_answer(client: httpx2.Client) -> None:
    body = client.post("/ask", json={"question": "Who taught apprentices by handing them a weight?"}).json()
    answering = {chunk["chunk_id"] for chunk in body["matched_chunks"] if chunk["answers"]}
    assert answering == {citation["chunk_id"] for citation in body["citations"]}
    assert len(answering) < len(body["matched_chunks"])


def test_a_refusal_is_two_hundred_with_the_exact_sentence(client: httpx2.Client) -> None:
    body = client.post("/ask", json={"question": "How do I bake a cake?"}).json()
    assert (body["answer"], body["status"], body["reason"]) == (NOT_IN_BOOK, "refused", "out_of_scope")
    assert (body["grounded"], body["sources"], body["citations"]) == (False, [], [])


def test_a_selection_is_its_own_source(client: httpx2.Client) -> None:
    text = "The drop is the height through which a weight may fall between one winding and the next."
    body = client.post("/ask", json={"question": "What is the drop?", "selected_text": text}).json()
    assert (body["answer"], body["sources"]) == (text, ["selected text"])
    refused = client.post("/ask", json={"question": "Who cast the bell?", "selected_text": text}).json()
    assert refused["answer"] == NOT_IN_SELECTION


def test_scope_and_filters_restrict(client: httpx2.Client) -> None:
    scope = {"type": "section-specific", "identifier": "Chapter 5"}
    body = client.post("/ask", json={"question": "Which chapter is this about?", "scope": scope}).json()
    assert {chunk["chapter"] for chunk in body["matched_chunks"]} <= {"Chapter 5: The Five Towers"}


SELECTED = {"question": "What is the drop?", "selected_text": "The drop is a height."}


@pytest.mark.parametrize(
    "place",
    [
        {"index": "clocks"},
        {"index": "no such index"},
        {"filters": {"chapter": "Chapter 5"}},
        {"scope": {"type": "full-book"}},
        {"scope": {"type": "page-specific", "identifier": "45"}},
    ],
)
def test_a_selection_goes_before_any_place_in_a_book(client: httpx2.Client, place: dict[str, object]) -> None:
    body = client.post("/ask", json={**SELECTED, **place}).json()
    assert (body["answer"], body["sources"]) == (SELECTED["selected_text"], ["selected text"])


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"question": ""}, EMPTY_QUESTION),
        ({"question": " ?! "}, EMPTY_QUESTION),
        ({}, EMPTY_QUESTION),
        ({"question": None}, EMPTY_QUESTION),
        (
            {"question": "x" * 1001},
            f"{EMPTY_QUESTION} This one has 1,001 characters; at most 1,000 are read. Please shorten it.",
        ),
        ({"question": 5}, "question"),
        ({"question": "What?", "selected_text": "  "}, "selected text is empty"),
        ({"question": "What?", "selected_text": "y" * 10_001}, "10,000"),
        ({"question": "What is it?", "top_k": 0}, "top_k"),
        ({"question": "What is it?", "top_k": 51}, "top_k"),
        ({"question": "What is it?", "scope": {"type": "chapter"}}, "scope type"),
        ({"question": "What is it?", "nonsense": 1}, "nonsense"),
        ({"question": "What is it?", "filters": {"read_until": -1}}, "read_until is -1; it must be a page"),
        ({"question": "What is it?", "filters": {"author": "x"}}, "author"),
        ({"question": "What is it?", "filters": {"chapter": ""}}, "filters.chapter"),
        ({"question": "What is it?", "filters": {"section": " "}}, "filters.section"),
        ({"question": "What is it?", "filters": {"source_url": ""}}, "filters.source_url"),
        ({"question": "What is it?", "filters": {"file_ids": ["a.md", ""]}}, "filters.file_ids"),
        ({"question": "What is it?", "index": ""}, "name of an index must not be blank"),
        ({"question": "What is it?", "scope": {"type": "full-book", "identifier": "45"}}, "scope.identifier"),
        ({"question": "What is it?", "scope": {"type": "page-specific", "identifier": ""}}, "needs an identifier"),
        (
            {"question": "What is it?", "scope": {"type": "page-specific", "identifier": "1-99999999"}},
            "'1-99999999' has more than 10,000 pages; name a shorter range.",
        ),
        ({"question": "Who speaks on pages 1 to 99999999?"}, "'1-99999999' has more than 10,000 pages"),
        ({**SELECTED, "filters": {"chapter": ""}}, "filters.chapter"),
    ],
)
def test_bad_requests_say_what_is_wrong(client: httpx2.Client, body: dict[str, object], detail: str) -> None:
    response = client.post("/ask", json=body)
    assert response.status_code == 400
    error = response.json()
    assert set(error) == {"error", "detail", "request_id"}
    assert detail in error["detail"]
    assert "Traceback" not in response.text


@pytest.mark.parametrize("path", ["/ask", "/answer"])
def test_a_question_that_is_not_there_is_one_error_however_it_is_missing(client: httpx2.Client, path: str) -> None:
    errors = [client.post(path, json=body).json() for body in ({}, {"question": None}, {"question": ""})]
    assert {(error["error"], error["detail"]) for error in errors} == {("InvalidQueryError", EMPTY_QUESTION)}


def test_an_empty_list_of_files_does_not_restrict(client: httpx2.Client) -> None:
    question = {"question": "What is a foliot?"}
    free = client.post("/ask", json=question).json()
    listed = client.post("/ask", json={**question, "filters": {"file_ids": []}}).json()
    assert (listed["status"], listed["answer"]) == ("ok", free["answer"])


HALF = "half a \ud83d smile"
TURN = {"role": "user", "content": "Who was Kell?"}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/ask", {"question": HALF}, "question"),
        ("/ask", {"question": "What is it?", "selected_text": HALF}, "selected_text"),
        ("/ask", {"question": "What is it?", "scope": {"type": "section-specific", "identifier": HALF}}, "scope"),
        ("/ask", {"question": "What is it?", "filters": {"chapter": HALF}}, "chapters"),
        ("/ask", {"question": "What is it?", "filters": {"file_ids": ["a", HALF]}}, "file_ids"),
        ("/search", {"query": "What is it?", "filters": {"fileIds": [HALF]}}, "fileIds"),
        ("/answer", {"question": "Who?", "options": {"insufficientEvidenceMessage": HALF}}, "insufficientEvidence"),
        ("/indexes", {"source": {"folderId": "x", "excludeFileIds": [HALF]}}, "excludeFileIds"),
        ("/v1/chat/completions", {"model": "clocks", "messages": [{**TURN, "content": HALF}]}, "question"),
        (
            "/v1/chat/completions",
            {"model": "clocks", "messages": [{**TURN, "content": HALF}], "stream": True},
            "question",
        ),
        ("/v1/chat/completions", {"model": "clocks", "messages": [{**TURN, "content": HALF}, TURN]}, "history"),
    ],
)
def test_half_a_character_is_refused_by_the_name_of_its_field(
    client: httpx2.Client, path: str, body: dict[str, Any], field: str
) -> None:
    response = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert response.status_code == 400, response.text
    assert field in response.text
    assert "not valid text" in response.text


def test_other_errors_have_the_same_shape(client: httpx2.Client) -> None:
    unknown = client.post("/ask", json={"question": "What is it?", "index": "nowhere"})
    assert (unknown.status_code, set(unknown.json())) == (404, {"error", "detail", "request_id"})
    assert client.get("/nowhere").json().keys() == {"error", "detail", "request_id"}


def test_a_body_that_is_not_json_is_told_where(client: httpx2.Client) -> None:
    response = client.post("/ask", content=b'{"question": oh}', headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()["detail"].startswith("The body is not JSON: Expecting value at character 13.")


NESTED = b'{"query": "bells", "auth": ' + b"[" * 50_000 + b"]" * 50_000 + b"}"


@pytest.mark.parametrize("path", ["/ask", "/search", "/v1/chat/completions"])
@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (b'{"question": "What?"}', None, "Content-Type: "),
        (b"question=What%3F", "application/x-www-form-urlencoded", "Content-Type: "),
        ('{"question": "Où?"}'.encode("latin-1"), "application/json", "not UTF-8: byte 15"),
        (NESTED, "application/json", "nested too deeply"),
        (b'{"top_k": ' + b"9" * 5000 + b"}", "application/json", "too many digits"),
        (b"", "application/json", "The body is empty"),
        (b"null", "application/json", "The body is empty, or null"),
        (b"[]", "application/json", "no object"),
    ],
)
def test_a_body_that_cannot_be_read_is_told_why(
    client: httpx2.Client, path: str, content: bytes, kind: str | None, said: str
) -> None:
    response = client.post(path, content=content, headers={"Content-Type": kind} if kind else {})
    assert response.status_code == 400
    body = response.json()
    detail = body["error"]["message"] if path.startswith("/v1/") else body["detail"]
    assert said in detail
    assert "application/json" in detail or "UTF-8" in detail


@pytest.mark.parametrize("path", ["/ask", "/search", "/answer", "/v1/chat/completions", "/indexes", "/indexes/x/sync"])
@pytest.mark.parametrize(
    ("content", "twice"),
    [
        (r'{"question": "What is it?", "top_k": 3, "top_k": 5}', "'top_k'"),
        (r'{"question": "What is it?", "filters": {"chapter": "1", "chapter": "1"}}', "'chapter'"),
        (r'[{"\ud800": 1, "\ud800": 2}]', r"'\ud800'"),
    ],
)
def test_a_name_that_is_given_twice_is_refused(client: httpx2.Client, path: str, content: str, twice: str) -> None:
    response = client.post(path, content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    body = response.json()
    detail = body["error"]["message"] if path.startswith("/v1/") else body["detail"]
    assert detail == f"{twice} is given twice in one object of the body: give it once."


def test_a_name_among_thousands_that_is_given_twice_is_found_at_once(client: httpx2.Client) -> None:
    names = ",".join(f'"{name}":1' for name in [*range(90_000), 89_999])
    began = time.monotonic()
    response = client.post("/ask", content=f"{{{names}}}", headers={"Content-Type": "application/json"})
    assert response.json()["detail"].startswith("'89999' is given twice")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("method", "address", "said"),
    [
        ("POST", "/ask?index=clocks", "index: it stands in the address, where nothing reads it. Put it into the body"),
        ("POST", "/search?topK=1", "topK: it stands in the address"),
        ("POST", "/answer?deadline=1", "deadline: it stands in the address"),
        ("DELETE", "/indexes/{index}?dryRun=true", "dryRun: it stands in the address"),
        ("GET", "/indexes?limit=1", "limit: it stands in the address"),
        ("GET", "/books?index=clocks", "index: it stands in the address"),
        (
            "GET",
            "/books/text?index=a&file=b&part=0&length=9",
            "length: it stands in the address, where nothing reads it.",
        ),
        ("GET", "/books/outline?index=a&file=b&file=c", "file: it stands in the address more than once."),
        (
            "POST",
            "/books?name=a.md&indx=clocks",
            "indx: it stands in the address, where nothing reads it. What is read",
        ),
    ],
)
def test_what_stands_in_the_address_for_nothing_is_refused(
    client: httpx2.Client, method: str, address: str, said: str
) -> None:
    (index,) = (one["index"] for one in client.get("/indexes").json())
    name = "query" if address.startswith("/search") else "question"
    response = client.request(
        method, address.format(index=index), **({"json": {name: "What is a foliot?"}} if method == "POST" else {})
    )
    assert (response.status_code, response.json()["error"]) == (400, "AstRagValidationError")
    assert response.json()["detail"].startswith(said)
    assert client.get(f"/indexes/{index}").status_code == 200


def test_what_is_nested_deeply_but_can_be_read_is_no_surprise(client: httpx2.Client) -> None:
    nested = '{"query": "bells", "auth": {"nobody": ' + '{"a": ' * 900 + "1" + "}" * 902
    response = client.post("/search", content=nested, headers={"Content-Type": "application/json"})
    assert response.status_code == 200, response.text


def test_an_unknown_path_or_method_is_told_which_there_are(client: httpx2.Client) -> None:
    nowhere = client.get("/nowhere").json()
    assert {"/ask", "/indexes/{index}/sync", "/mcp"} <= set(re.findall(r"/[^ ,]+(?=,|[.]$)", nowhere["detail"]))
    for method, path, allowed in (
        ("PUT", "/indexes", "GET, HEAD, POST"),
        ("GET", "/ask", "POST"),
        ("PATCH", "/indexes/clocks", "GET, HEAD, DELETE"),
        ("POST", "/openapi.json", "GET, HEAD"),
    ):
        response = client.request(method, path)
        assert (response.status_code, response.headers["Allow"]) == (405, allowed)
        assert response.json()["detail"] == f"{method} cannot be used on this path. It takes: {allowed}."


@pytest.mark.parametrize("path", ["/", "/health", "/ready", "/indexes", "/v1/models", "/static/main.js"])
def test_what_can_be_got_can_be_asked_about(client: httpx2.Client, path: str) -> None:
    got, told = client.get(path), client.head(path)
    assert (got.status_code, told.status_code, told.content) == (200, 200, b"")
    for header in ("Content-Type", "Content-Length", "Content-Security-Policy"):
        assert told.headers[header] == got.headers[header]
    assert client.head("/ask").status_code == 405


def test_a_filter_names_chapters_as_a_scope_does_and_an_empty_search_says_why(client: httpx2.Client) -> None:
    def search(chapter: str) -> dict[str, Any]:
        body: dict[str, Any] = client.post(
            "/search", json={"query": "bells", "filters": {"chapters": [chapter]}}
        ).json()
        return body

    found = search("Chapter VII")
    assert found["results"]
    assert "nothingBecause" not in found
    assert search("Chapter 77")["nothingBecause"].startswith("there is no chapter 'Chapter 77'; there are The Clocks")
    asked = {"question": "Who was Nan Calloway?", "filters": {"chapter": "Chapter VII"}}
    chunks = client.post("/ask", json=asked).json()["matched_chunks"]
    assert {chunk["chapter"] for chunk in chunks} == {"Chapter 7: Makers and Their Marks"}
    nowhere = client.post("/ask", json={**asked, "filters": {"chapter": "Chapter 77"}}).json()
    assert nowhere["answer"] == NOT_IN_BOOK
    assert nowhere["nothing_because"].startswith("there is no chapter 'Chapter 77'; there are The Clocks")


def test_health_readiness_and_indexes(client: httpx2.Client) -> None:
    assert client.get("/health").json()["status"] == "ok"
    tries = 0
    while (ready := client.get("/ready")).status_code == 503 and tries < 600:  # the models are being loaded
        assert (ready.json()["models"], ready.headers["Retry-After"]) == (False, "1")
        tries += 1
        time.sleep(0.1)
    assert ready.json() == {"status": "ready", "models": True, "store": True, "indexes": 1}
    assert [index["index"] for index in client.get("/indexes").json()] == ["clocks"]


def test_an_unreachable_store_is_service_unavailable() -> None:
    with served(AsyncLibrary(Settings(qdrant_url="http://127.0.0.1:9", index="clocks"))) as client:
        response = client.post("/ask", json={"question": "What is the drop?"})
        assert (response.status_code, response.json()["detail"]) == (503, SEARCH_FAILED)
