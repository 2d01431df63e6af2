"""`validate_retrieval` of the contracts, on what each of their searches returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from chapterverse.contracts import RAG, retrieve_chunks, retrieve_content, search_book_content, validate_retrieval
from chapterverse.errors import AstRagValidationError, InvalidQueryError
from chapterverse.library import Library

FIELDS = ["relevant_chunks", "answer_present", "evidence", "retrieval_quality", "quality_reasoning"]
QUERY = "The great bell weighs what?"
QUOTE = "The great bell weighs forty hundredweight."
SEARCHES: dict[str, Callable[[Library, RAG, str], Any]] = {
    "retrieve_chunks": lambda library, _, index: retrieve_chunks(QUERY, library=library, index=index),
    "retrieve_content": lambda library, _, index: retrieve_content(QUERY, library=library, index=index),
    "tool": lambda library, _, index: search_book_content(QUERY, library=library, index=index)["results"],
    "RAG": lambda _, rag, index: rag.search({"query": QUERY, "indexFileId": index})["results"],
}


@pytest.mark.parametrize("search", SEARCHES)
def test_what_any_search_returns_is_judged(library: Library, rag: RAG, index: str, search: str) -> None:
    found = SEARCHES[search](library, rag, index)
    verdict = validate_retrieval(QUERY, found, library=library)
    assert list(verdict) == [*FIELDS, "processing_time_ms"]
    assert (verdict["answer_present"], verdict["retrieval_quality"]) == (True, "Partial")
    (evidence, *_) = verdict["evidence"]
    assert list(evidence) == ["chunk_id", "quote", "sentence_index", "context_before", "context_after"]
    assert (evidence["quote"], evidence["chunk_id"]) == (QUOTE, verdict["relevant_chunks"][0]["chunk_id"])
    assert list(verdict["relevant_chunks"][0]) == ["chunk_id", "relevance_score", "is_relevant", "summary"]
    assert len(verdict["relevant_chunks"]) == len(found)
    json.dumps(verdict)


def test_the_threshold_is_obeyed(library: Library) -> None:
    chunks = [{"id": "c1", "text": QUOTE}, {"id": "c2", "text": "Geese guard the yard."}]
    for threshold, expected in ((0, [True, True]), (None, [True, False])):
        judged = validate_retrieval(QUERY, chunks, threshold, library=library)["relevant_chunks"]
        assert [one["is_relevant"] for one in judged] == expected
    nothing = validate_retrieval(QUERY, [], library=library)
    assert (nothing["answer_present"], nothing["evidence"], nothing["retrieval_quality"]) == (False, [], "Poor")


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        (None, "chunks must be a list"),
        ("text", "chunks must be a list"),
        ([5], "Each chunk needs"),
        ([{"text": QUOTE}], "Each chunk needs an id"),
        ([{"id": "c1", "text": " "}], "Each chunk needs"),
        ([{"id": "c1", "text": QUOTE}, {"id": "c1", "text": "Geese."}], "c1 came more often"),
    ],
)
def test_what_cannot_be_judged(library: Library, chunks: Any, message: str) -> None:
    with pytest.raises(AstRagValidationError, match=message):
        validate_retrieval(QUERY, chunks, library=library)


def test_a_question_and_a_threshold_are_checked(library: Library) -> None:
    with pytest.raises(InvalidQueryError):
        validate_retrieval(" ", [], library=library)
    with pytest.raises(AstRagValidationError, match="relevance_threshold"):
        validate_retrieval(QUERY, [], 2, library=library)
