"""`RAG.answer`: every field of its request and of its response, on hand-made answers and on the whole path."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from chapterverse.answer.retrieve import Retrieval
from chapterverse.contracts import RAG
from chapterverse.contracts.responses import answered
from chapterverse.errors import AstRagAuthError, AstRagIndexError, AstRagValidationError, InvalidQueryError
from chapterverse.library import AsyncLibrary
from chapterverse.library.asking import Generation
from chapterverse.types import Answer, Citation, Filter, Page, Passage, Place, Status
from tests.chat_server import ChatServer, Said, draft_json

CITATION = [
    *("citationId", "chunkId", "fileId", "fileName", "mimeType", "page", "slide"),
    *("score", "vectorScore", "lexicalScore", "finalScore", "snippet"),
]
DEFAULT_MESSAGE = "I do not have enough grounded context to answer that."
FIRST = Citation(
    id="S1",
    chunk_id="c1",
    quote="forty hundredweight",
    start=10,
    end=29,
    snippet="It weighs forty hundredweight.",
    place=Place(("Bells",), Page(12, "iv"), Page(12, "iv")),
    title="Bells",
    file_id="bells.pdf",
    file_name="bells.pdf",
    mime_type="application/pdf",
    score=0.8,
    vector_score=0.6,
    lexical_score=4.2,
)
SECOND = replace(FIRST, id="S2", chunk_id="c2", place=Place(slide=7), lexical_score=None)
ANSWER = Answer(
    question="How heavy is it?",
    text="It weighs forty hundredweight.",
    status="ok",
    reason=None,
    sentences=(),
    citations=(FIRST, replace(FIRST, quote="It weighs"), SECOND),
    passages=(Passage("S1", "…"), Passage("S2", "…"), Passage("S3", "…")),
    confidence=0.9,
    retrieval_quality="Good",
    timestamp="2026-01-01T00:00:00+00:00",
    usage={"embedding": {"tokens": 4, "requests": 1, "cost": 0.0}, "generation": {"requests": 1, "input_tokens": 9}},
    timings={"retrieve": 0.0125},
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the library was asked, in place of its answering."""
    calls: list[dict[str, Any]] = []

    async def ask(self: AsyncLibrary, question: str, **options: Any) -> Answer:
        calls.append({"question": question, **options})
        return ANSWER

    monkeypatch.setattr(AsyncLibrary, "ask", ask)
    return calls


def test_the_response_has_the_fields_of_the_contract() -> None:
    response = answered(ANSWER, Retrieval(), DEFAULT_MESSAGE)
    assert list(response) == ["status", "answer", "citations", "retrieval", "usage"]
    assert (response["status"], response["answer"]) == ("ok", "It weighs forty hundredweight.")
    assert response["retrieval"] == {"topK": 8, "minScore": 0.2, "mode": "hybrid", "returned": 3}
    assert [citation["citationId"] for citation in response["citations"]] == ["S1", "S2"]
    first, second = response["citations"]
    assert list(first) == CITATION
    assert first == {
        "citationId": "S1",
        "chunkId": "c1",
        "fileId": "bells.pdf",
        "fileName": "bells.pdf",
        "mimeType": "application/pdf",
        "page": 12,
        "slide": None,
        "score": 0.8,
        "vectorScore": 0.6,
        "lexicalScore": 4.2,
        "finalScore": 0.8,
        "snippet": "It weighs forty hundredweight.",
    }
    assert (second["page"], second["slide"], second["lexicalScore"]) == (None, 7, None)
    assert response["usage"] == {
        "embedding": {"tokens": 4, "requests": 1, "cost": 0.0},
        "generation": {"requests": 1, "inputTokens": 9, "outputTokens": 0},
        "timingsMs": {"retrieve": 12.5},
    }
    json.dumps(response)


STATUSES: list[tuple[Status, str, str, int]] = [
    ("ok", "ok", "said", 2),
    ("partial", "ok", "said", 2),
    ("conflict", "ok", "said", 2),
    ("refused", "insufficient_context", "Nothing.", 0),
    ("needs_clarification", "insufficient_context", "said", 0),
]


@pytest.mark.parametrize(("status", "expected", "text", "citations"), STATUSES)
def test_statuses(status: Status, expected: str, text: str, citations: int) -> None:
    response = answered(replace(ANSWER, status=status, text="said"), Retrieval(), "Nothing.")
    assert (response["status"], response["answer"], len(response["citations"])) == (expected, text, citations)
    assert set(response["usage"]) == {"embedding", "generation", "timingsMs"}


def test_two_parts_of_one_chunk_are_two_citations() -> None:
    response = answered(replace(ANSWER, citations=(FIRST, replace(FIRST, id="S4"))), Retrieval(), DEFAULT_MESSAGE)
    assert [(one["citationId"], one["chunkId"]) for one in response["citations"]] == [("S1", "c1"), ("S4", "c1")]


def test_every_field_reaches_the_library(rag: RAG, index: str, asked: list[dict[str, Any]]) -> None:
    rag.answer(
        {
            "indexFileId": index,
            "question": "And how heavy is it?",
            "history": [{"role": "user", "content": "Which bell?"}, {"role": "assistant", "content": "The great one."}],
            "retrieval": {
                "topK": 3,
                "minScore": 0.1,
                "mode": "vector",
                "vectorWeight": 0.5,
                "lexicalWeight": 0.5,
                "rerank": {"enabled": True, "topN": 10},
                "filters": {"fileIds": ["bells.md"], "mimeTypes": ["text/markdown"]},
            },
            "generation": {
                "provider": "openai",
                "model": "some-model",
                "auth": {"apiKey": "own"},
                "providerOptions": {"baseUrl": "http://127.0.0.1:1/v1"},
                "options": {"temperature": 0.3, "maxOutputTokens": 77},
            },
            "options": {
                "requireCitations": True,
                "insufficientEvidenceMessage": "No idea.",
                "deadlineSeconds": 9,
            },
            "auth": {"openai": "general"},
        }
    )
    (call,) = asked
    assert (call["question"], call["index"]) == ("And how heavy is it?", index)
    assert call["history"][0] == {"role": "user", "content": "Which bell?"}
    assert call["settings"] == Retrieval(3, 0.1, "vector", 0.5, 0.5, rerank_top_n=10)
    assert call["where"] == Filter(file_ids=("bells.md",), mime_types=("text/markdown",))
    assert call["generation"] == Generation(
        model="openai:some-model",
        auth={"api_key": "own"},
        options={"baseUrl": "http://127.0.0.1:1/v1"},
        temperature=0.3,
        max_tokens=77,
        seconds=9,
    )


def test_defaults(rag: RAG, index: str, asked: list[dict[str, Any]]) -> None:
    rag.answer({"indexFileId": index, "question": "How heavy is it?"})
    (call,) = asked
    assert call["settings"] == Retrieval(8, 0.2, "hybrid", 0.65, 0.35)
    assert (call["where"], call["history"]) == (None, [])
    assert call["generation"] == Generation(model="local", auth={}, temperature=0.1, max_tokens=1024, seconds=None)


HEAVY = "The great bell weighs what?"
GEESE = "Is it in the year, in a year, on a moor, that geese guard the yard and no bell is louder?"
"""By its small words it is nearest to the sheep on the moor; whoever reads what was found turns to the geese."""
NEAREST = {"mode": "vector", "topK": 1}


@pytest.mark.parametrize(
    ("question", "retrieval", "status", "returned"),
    [
        pytest.param(HEAVY, {}, "ok", 4, id="nothing"),
        pytest.param(HEAVY, {"topK": 1}, "ok", 1, id="topK"),
        pytest.param(HEAVY, {"minScore": 2}, "insufficient_context", 0, id="minScore"),
        pytest.param(HEAVY, {"filters": {"fileIds": ["sheep.txt"]}}, "insufficient_context", 1, id="fileIds"),
        pytest.param(HEAVY, {"filters": {"mimeTypes": ["text/plain"]}}, "insufficient_context", 1, id="mimeTypes"),
        pytest.param(GEESE, NEAREST, "insufficient_context", 1, id="no rerank"),
        pytest.param(GEESE, {**NEAREST, "rerank": {"enabled": True}}, "ok", 1, id="rerank"),
        pytest.param(
            GEESE, {**NEAREST, "rerank": {"enabled": True, "topN": 1}}, "insufficient_context", 1, id="rerank topN"
        ),
    ],
)
def test_the_library_obeys(
    rag: RAG, index: str, question: str, retrieval: dict[str, Any], status: str, returned: int
) -> None:
    response = rag.answer({"indexFileId": index, "question": question, "retrieval": retrieval})
    assert (response["status"], response["retrieval"]["returned"]) == (status, returned)


@pytest.mark.parametrize(
    ("retrieval", "by_meaning", "by_words"),
    [
        pytest.param({"mode": "vector"}, 1.0, None, id="vector"),
        pytest.param({"mode": "hybrid"}, 0.65, 0.35, id="hybrid"),
        pytest.param({"lexicalWeight": 0.65}, 0.5, 0.5, id="lexicalWeight"),
        pytest.param({"vectorWeight": 0}, 0.0, 1.0, id="vectorWeight"),
    ],
)
def test_the_library_scores_as_it_was_told(
    rag: RAG, index: str, retrieval: dict[str, Any], by_meaning: float, by_words: float | None
) -> None:
    (cited,) = rag.answer({"indexFileId": index, "question": HEAVY, "retrieval": retrieval})["citations"]
    assert (cited["lexicalScore"] is None) == (by_words is None)
    cosine = cited["vectorScore"]
    best = cosine if by_words is None else by_meaning * (cosine + 1) / 2 + by_words
    assert cited["finalScore"] == pytest.approx(best)


def test_the_model_is_told_the_options(rag: RAG, index: str, httpserver: HTTPServer) -> None:
    quote = "The great bell weighs forty hundredweight."
    chat = ChatServer(httpserver, [Said(draft_json((quote, ["S1"], quote)))])
    generation = {"provider": "openai-compatible:m", "providerOptions": {"baseUrl": chat.base_url}}
    for options in ({}, {"temperature": 0.3, "maxOutputTokens": 77}):
        asked = {"indexFileId": index, "question": HEAVY, "generation": {**generation, "options": options}}
        assert rag.answer(asked)["answer"] == quote
    assert [(body["temperature"], body["max_tokens"]) for body in chat.bodies] == [(0.1, 1024), (0.3, 77)]


AUTH: list[tuple[Any, Any, Any, str | None]] = [
    ({"apiKey": "own"}, {"openai": "named", "apiKey": "plain"}, {"openai": "configured"}, "own"),
    (None, {"openai": "named", "apiKey": "plain"}, {"openai": "configured"}, "named"),
    (None, {"gemini": "other", "apiKey": "plain"}, {"openai": "configured"}, "plain"),
    (None, {"gemini": "other"}, {"openai": "configured"}, "configured"),
    (None, None, {}, None),
]


@pytest.mark.parametrize(("own", "auth", "configured", "expected"), AUTH)
def test_keys(
    rag: RAG, index: str, asked: list[dict[str, Any]], own: Any, auth: Any, configured: Any, expected: str | None
) -> None:
    rag.configure({"auth": configured})
    generation = {"provider": "openai", "model": "m", "auth": own}
    rag.answer({"indexFileId": index, "question": "How heavy?", "generation": generation, "auth": auth})
    assert asked[0]["generation"].auth.get("api_key") == expected
    assert "own" not in repr(asked[0]["generation"])


def test_what_is_configured_holds_where_the_request_says_nothing(
    rag: RAG, index: str, asked: list[dict[str, Any]]
) -> None:
    generation = {"provider": "openai", "model": "m", "options": {"temperature": 0.7, "maxOutputTokens": 5}}
    rag.configure({"generation": generation})
    rag.answer({"indexFileId": index, "question": "How heavy?", "generation": {"options": {"temperature": 0.2}}})
    made = asked[0]["generation"]
    assert (made.model, made.temperature, made.max_tokens) == ("openai:m", 0.2, 5)
    rag.answer({"indexFileId": index, "question": "How heavy?", "generation": {"provider": "local"}})
    assert asked[1]["generation"].model == "local"


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"question": None}, "question"),
    ({"history": [{"role": "system", "content": "Obey."}]}, r"history\.0\.role"),
    ({"history": [{"role": "user"}]}, r"history\.0\.content"),
    ({"generation": {"options": {"top_p": 1}}}, r"generation\.options: 'top_p' is not supported; .*temperature"),
    ({"generation": {"options": {"temperature": 3}}}, r"generation\.options\.temperature: .*less than or equal to 2"),
    ({"generation": {"options": {"temperature": -0.1}}}, r"generation\.options\.temperature: .*than or equal to 0"),
    ({"generation": {"options": {"maxOutputTokens": 0}}}, r"generation\.options\.maxOutputTokens: .*or equal to 1"),
    ({"generation": {"provider": "openai:m", "model": "n"}}, "one too many"),
    ({"generation": {"providerOptions": {"baseUrl": "http://x"}}}, "local takes no options: 'baseUrl'"),
    ({"generation": {"provider": "nobody", "model": "n"}}, "no generation provider 'nobody'"),
    ({"options": {"requireCitations": "yes"}}, r"options\.requireCitations"),
    ({"options": {"message": "x"}}, "supported are requireCitations, insufficientEvidenceMessage"),
    ({"options": {"deadlineSeconds": 0}}, r"options\.deadlineSeconds"),
    ({"topK": 0}, "1 to 50"),
    ({"prompt": "x"}, "'prompt' is not supported"),
]


@pytest.mark.parametrize(("wrong", "message"), INVALID)
def test_invalid_requests(rag: RAG, index: str, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(AstRagValidationError, match=message):
        rag.answer({"indexFileId": index, "question": "How heavy is it?", **wrong})


def test_other_errors(rag: RAG, index: str) -> None:
    with pytest.raises(InvalidQueryError, match="Please provide a question"):
        rag.answer({"indexFileId": index, "question": "?"})
    with pytest.raises(AstRagIndexError, match="no index"):
        rag.answer({"indexFileId": "nothing", "question": "How heavy is it?"})
    generation = {"provider": "openai", "model": "m"}
    with pytest.raises(AstRagAuthError, match="OPENAI_API_KEY"):
        rag.answer({"indexFileId": index, "question": "How heavy is it?", "generation": generation})


def test_the_whole_path(rag: RAG, index: str) -> None:
    response = rag.answer({"indexFileId": index, "question": "The great bell weighs what?"})
    assert response["status"] == "ok"
    assert "forty hundredweight" in response["answer"]
    (citation,) = response["citations"]
    assert (citation["citationId"][0], citation["fileId"]) == ("S", "bells.md")
    assert "forty hundredweight" in citation["snippet"]
    assert response["retrieval"]["returned"] >= 1
    assert response["usage"]["embedding"]["requests"] >= 1


@pytest.mark.parametrize("required", [True, False])
def test_too_little_context(rag: RAG, index: str, required: bool) -> None:
    request = {"indexFileId": index, "question": "Who founded Carthage?", "options": {"requireCitations": required}}
    response = rag.answer(request)
    assert (response["status"], response["answer"], response["citations"]) == (
        *("insufficient_context", DEFAULT_MESSAGE, []),
    )
    own = rag.answer({**request, "options": {"insufficientEvidenceMessage": "Ask elsewhere."}})
    assert own["answer"] == "Ask elsewhere."
    rag.configure({"options": {"insufficientEvidenceMessage": "Configured."}})
    assert rag.answer(request)["answer"] == "Configured."
    said = rag.answer({**request, "options": {"insufficientEvidenceMessage": "Ask elsewhere."}})
    assert said["answer"] == "Ask elsewhere."
