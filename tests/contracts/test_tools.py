"""The four functions of the agent: every parameter, every field returned, every error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chapterverse.contracts import (
    Shelves,
    format_response,
    generate_response,
    search_book_content,
    validate_response,
)
from chapterverse.errors import AstRagValidationError, InvalidQueryError, NoContentError, RetrievalError
from chapterverse.library import Library
from chapterverse.settings import Settings

FIELDS = ["id", "text", "score", "source_url", "source_title", "content_preview"]
CONTENT = [
    {
        "id": "c1",
        "text": "The great bell weighs forty hundredweight. It was cast in 1741.",
        "source_url": "bells.md",
        "source_title": "Bells",
    },
    {"id": "c2", "text": "A fleece weighs seven pounds in a good year.", "source_url": "sheep.txt"},
]


def test_search_returns_the_fields_of_the_contract(library: Library, index: str) -> None:
    found = search_book_content("the great bell", "full-book", library=library, index=index)
    assert list(found) == ["results"]
    best = found["results"][0]
    assert list(best) == FIELDS
    assert "forty hundredweight" in best["text"]
    assert (best["source_url"], best["source_title"]) == ("bells.md", "Chapter 1: Bells")
    assert best["content_preview"] == " ".join(best["text"].split())
    assert all(0 <= result["score"] <= 1 for result in found["results"])


@pytest.mark.parametrize("top_k", [1, 2])
def test_top_k(library: Library, index: str, top_k: int) -> None:
    assert len(search_book_content("the great bell", top_k=top_k, library=library, index=index)["results"]) == top_k


SELECTED: list[tuple[dict[str, str], set[str]]] = [
    ({"source_url": "sheep.txt"}, {"sheep.txt"}),
    ({"chapter": "Chapter 2: Ropes"}, {"bells.md"}),
    ({"chapter": "Chapter 2"}, {"bells.md"}),
    ({"source_url": "sheep.txt", "chapter": "Chapter 2"}, set()),
    ({"source_url": "nowhere"}, set()),
]


@pytest.mark.parametrize(("filters", "expected"), SELECTED)
def test_selected_text(library: Library, index: str, filters: dict[str, str], expected: set[str]) -> None:
    found = search_book_content("the bell hangs", "selected-text", filters, library=library, index=index)
    assert {result["source_url"] for result in found["results"]} == expected


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"query": ""}, "Please provide a question"),
    ({"query": "…"}, "Please provide a question"),
    ({"query": None}, "Please provide a question"),
    ({"query": "x" * 1001}, "1,000"),
    ({"mode": "chapter"}, "full-book, selected-text"),
    ({"mode": "selected-text"}, "needs a filter"),
    ({"mode": "selected-text", "filters": {}}, "needs a filter"),
    ({"mode": "selected-text", "filters": {"chapter": " "}}, "not blank"),
    ({"mode": "selected-text", "filters": {"section": "Casting"}}, "supported are source_url, chapter"),
    ({"mode": "full-book", "filters": {"chapter": "1"}}, "selected-text"),
    ({"mode": "selected-text", "filters": ["chapter"]}, "filters must be a dictionary; supported are source_url, c"),
    ({"filters": "Chapter 1"}, "filters must be a dictionary"),
    ({"top_k": 0}, "1 to 50"),
    ({"top_k": 51}, "1 to 50"),
]


@pytest.mark.parametrize(("wrong", "message"), INVALID)
def test_invalid_queries(library: Library, index: str, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidQueryError, match=message):
        search_book_content(**{"query": "the great bell", "library": library, "index": index, **wrong})


def test_a_failing_pipeline_is_a_retrieval_error(tmp_path: Path, library: Library) -> None:
    with pytest.raises(RetrievalError, match="no index 'nothing'") as unknown:
        search_book_content("bell", library=library, index="nothing")
    assert unknown.value.details["reason"] == "unknown"
    settings = Settings(QDRANT_URL="http://127.0.0.1:9", embedding="fake")
    with Shelves(settings) as shelves, pytest.raises(RetrievalError, match="QDRANT_URL") as unreachable:
        search_book_content("bell", library=shelves.library())
    assert unreachable.value.retryable
    assert isinstance(unreachable.value.cause, ConnectionRefusedError)


def test_generate(library: Library) -> None:
    made = generate_response("The great bell weighs what?", CONTENT, library=library)
    assert list(made) == ["response", "sources"]
    assert made["response"] == "The great bell weighs forty hundredweight."
    assert made["sources"] == [
        {
            "id": "c1",
            "source_url": "bells.md",
            "source_title": "Bells",
            "quote": "The great bell weighs forty hundredweight.",
        }
    ]


def test_sources_are_those_of_the_content_that_answers(library: Library) -> None:
    made = generate_response("A fleece weighs what?", CONTENT, library=library)
    assert [(source["id"], source["source_url"]) for source in made["sources"]] == [("c2", "sheep.txt")]


def test_generate_from_search_results(library: Library, index: str) -> None:
    found = search_book_content("how much a fleece weighs", library=library, index=index)["results"]
    made = generate_response("A fleece weighs what?", found, library=library)
    assert "seven pounds" in made["response"]
    assert {source["source_url"] for source in made["sources"]} == {"sheep.txt"}


def test_content_that_does_not_answer_is_refused(library: Library) -> None:
    made = generate_response("Who founded Carthage?", CONTENT, library=library)
    assert made == {"response": "This information is not available in the book", "sources": []}


def test_nothing_to_generate_from(library: Library) -> None:
    with pytest.raises(NoContentError, match="no content"):
        generate_response("How heavy is it?", [], library=library)
    with pytest.raises(InvalidQueryError):
        generate_response("", CONTENT, library=library)
    for wrong in ({}, {"text": " "}, {"text": 5}):
        with pytest.raises(AstRagValidationError, match="`text`"):
            generate_response("How heavy is it?", [wrong], library=library)


VALIDATED: list[tuple[str, bool, set[str]]] = [
    ("The great bell weighs forty hundredweight. [S1]", True, set()),
    ("The great bell weighs forty hundredweight.", True, set()),
    ("The great bell weighs ninety hundredweight. [S1]", False, set()),
    ("The great bell weighs forty hundredweight. [S9]", False, {"S9"}),
    ("A fleece weighs seven pounds in a good year. [S2] Carthage was founded by Dido.", False, set()),
    ("This information is not available in the book", True, set()),
    ("", False, set()),
]


@pytest.mark.parametrize(("response", "valid", "ids"), VALIDATED)
def test_validate(library: Library, response: str, valid: bool, ids: set[str]) -> None:
    checked = validate_response(response, CONTENT, library=library)
    assert list(checked) == ["is_valid", "issues"]
    assert checked["is_valid"] is valid
    assert bool(checked["issues"]) is not valid
    assert ids <= {issue["citation"] for issue in checked["issues"]}
    assert validate_response(response, [item["text"] for item in CONTENT], library=library) == checked


def test_validate_takes_text(library: Library) -> None:
    with pytest.raises(AstRagValidationError, match="must be a text"):
        validate_response(None, CONTENT, library=library)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [None, 5, "text", [1], [{"text": " "}], [{}]])
def test_content_of_another_shape_is_refused_by_name(library: Library, content: Any) -> None:
    with pytest.raises(AstRagValidationError, match=r"content must be a list|item of the content needs a `text`"):
        validate_response("It is heavy.", content, library=library)


def test_plain_texts_can_be_answered_from(library: Library) -> None:
    said = generate_response("How heavy is the great bell?", [item["text"] for item in CONTENT], library=library)
    assert "forty hundredweight" in said["response"]


def test_format() -> None:
    sources = [{"id": "c1", "source_title": "Bells", "source_url": "https://example.org/bells", "quote": "forty"}]
    plain = format_response("It is heavy.", sources)
    assert list(plain) == ["formatted_response"]
    text = plain["formatted_response"]
    assert text.startswith("It is heavy.\n")
    assert "Bells" in text
    assert "forty" in text
    assert "https://example.org/bells" in format_response("It is heavy.", sources, "markdown")["formatted_response"]
    assert format_response("It is heavy.", [])["formatted_response"] == "It is heavy."


@pytest.mark.parametrize(
    ("response", "sources", "message"),
    [
        (None, [], "response must be a text"),
        (5, [], "response must be a text"),
        ("It is heavy.", 5, "sources must be a list"),
        ("It is heavy.", "Bells", "sources must be a list"),
        ("It is heavy.", {"id": "c1"}, "sources must be a list"),
        ("It is heavy.", [5], "Each of the sources"),
        ("It is heavy.", [{"id": "c1"}, None], "Each of the sources"),
    ],
)
def test_what_cannot_be_formatted(response: Any, sources: Any, message: str) -> None:
    with pytest.raises(AstRagValidationError, match=message):
        format_response(response, sources)


@pytest.mark.parametrize("wrong", [5, ["bells"]])
def test_the_name_of_an_index_is_a_text(library: Library, wrong: Any) -> None:
    with pytest.raises(AstRagValidationError, match="index must be a text"):
        search_book_content("the great bell", library=library, index=wrong)
