"""`RAG.search`: every field of its request, its old names, and every field of its response."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chapterverse.contracts import RAG
from chapterverse.errors import AstRagIndexError, AstRagValidationError, InvalidQueryError

RESULT = [
    *("chunkId", "fileId", "fileName", "mimeType", "page", "slide", "section", "text"),
    *("score", "vectorScore", "lexicalScore", "finalScore"),
]


def search(rag: RAG, index: str, **request: Any) -> dict[str, Any]:
    return rag.search({"indexFileId": index, "query": "the great bell", **request})


def test_the_response_has_the_fields_of_the_contract(rag: RAG, index: str) -> None:
    response = search(rag, index)
    assert list(response) == ["query", "topK", "minScore", "mode", "results", "usage"]
    assert (response["query"], response["topK"], response["minScore"], response["mode"]) == (
        *("the great bell", 8, 0.2, "hybrid"),
    )
    best = response["results"][0]
    assert list(best) == RESULT
    assert (best["fileId"], best["fileName"], best["mimeType"]) == ("bells.md", "bells.md", "text/markdown")
    assert (best["page"], best["slide"], best["section"]) == (None, None, "Chapter 1: Bells")
    assert best["score"] == best["finalScore"]
    assert set(response["usage"]) == {"embedding", "generation", "timingsMs"}
    assert set(response["usage"]["embedding"]) == {"tokens", "requests", "cost"}
    assert response["usage"]["embedding"]["requests"] == 1
    assert response["usage"]["generation"] == {"requests": 0, "inputTokens": 0, "outputTokens": 0}
    assert response["usage"]["timingsMs"]["search"] > 0
    json.dumps(response)


def test_hybrid_scores_follow_the_formula_with_the_contracts_weights(rag: RAG, index: str) -> None:
    results = search(rag, index, retrieval={"minScore": 0})["results"]
    words = [result["lexicalScore"] for result in results]
    for result in results:
        relative = (result["lexicalScore"] - min(words)) / (max(words) - min(words))
        expected = 0.65 * (result["vectorScore"] + 1) / 2 + 0.35 * relative
        assert result["finalScore"] == pytest.approx(expected, abs=1e-6)


def test_only_the_ratio_of_the_weights_counts(rag: RAG, index: str) -> None:
    for one, other in ((0.65, 0.35), (6.5, 3.5)):
        results = search(rag, index, vectorWeight=one, lexicalWeight=other)["results"]
        assert [result["finalScore"] for result in results] == pytest.approx(
            [result["finalScore"] for result in search(rag, index)["results"]]
        )


def test_the_vector_mode_has_no_lexical_score(rag: RAG, index: str) -> None:
    results = search(rag, index, retrieval={"mode": "vector", "minScore": 0})["results"]
    assert results
    for result in results:
        assert result["lexicalScore"] is None
        assert result["finalScore"] == result["vectorScore"] == result["score"]


def test_the_lexical_mode_has_no_vector_score_and_embeds_nothing(rag: RAG, index: str) -> None:
    response = search(rag, index, mode="lexical")
    assert all(result["vectorScore"] is None for result in response["results"])
    assert response["usage"]["embedding"]["requests"] == 0


def test_rerank(rag: RAG, index: str) -> None:
    query = "no bell is louder"
    plain = search(rag, index, query=query, retrieval={"minScore": 0})["results"]
    reranked = search(rag, index, query=query, retrieval={"minScore": 0, "rerank": {"enabled": True, "topN": 2}})
    results = reranked["results"]
    assert list(results[0]) == [*RESULT, "rerankScore"]
    assert results[0]["rerankScore"] >= results[1]["rerankScore"]
    assert {result["chunkId"] for result in results[:2]} == {result["chunkId"] for result in plain[:2]}
    assert [result["chunkId"] for result in results[2:]] == [result["chunkId"] for result in plain[2:]]
    assert all(result["rerankScore"] is None for result in results[2:])
    off = search(rag, index, retrieval={"rerank": {"enabled": False, "topN": 2}})
    assert "rerankScore" not in off["results"][0]


SETTINGS: list[tuple[str, Any, Any]] = [
    ("topK", 1, 2),
    ("minScore", 0.9, 0.1),
    ("mode", "vector", "hybrid"),
]


@pytest.mark.parametrize(("name", "inner", "outer"), SETTINGS)
def test_old_names_work_and_retrieval_wins(rag: RAG, index: str, name: str, inner: Any, outer: Any) -> None:
    assert search(rag, index, **{name: outer})[name] == outer
    assert search(rag, index, retrieval={name: inner})[name] == inner
    assert search(rag, index, retrieval={name: inner}, **{name: outer})[name] == inner


def test_old_names_of_weights_and_rerank(rag: RAG, index: str) -> None:
    only_words = search(rag, index, vectorWeight=0, lexicalWeight=1, minScore=0)["results"]
    assert only_words[0]["finalScore"] == pytest.approx(1.0)
    only_vectors = {"vectorWeight": 1, "lexicalWeight": 0, "minScore": 0}
    for result in search(rag, index, vectorWeight=0, lexicalWeight=1, retrieval=only_vectors)["results"]:
        assert result["finalScore"] == pytest.approx((result["vectorScore"] + 1) / 2)
    assert "rerankScore" in search(rag, index, rerank={"enabled": True})["results"][0]
    off = search(rag, index, rerank={"enabled": True}, retrieval={"rerank": {"enabled": False}})
    assert "rerankScore" not in off["results"][0]


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"fileIds": ["sheep.txt"]}, {"sheep.txt"}),
    ({"mimeTypes": ["text/html"]}, {"old/geese.html"}),
    ({"fileIds": ["sheep.txt", "bells.md"], "mimeTypes": ["text/plain"]}, {"sheep.txt"}),
    ({"fileIds": [], "mimeTypes": []}, {"bells.md", "sheep.txt", "old/geese.html"}),
    ({"chapters": ["Chapter 2: Ropes"]}, {"bells.md"}),
    ({"file_ids": ["nowhere"]}, set()),
]


@pytest.mark.parametrize(("filters", "expected"), FILTERS)
def test_filters(rag: RAG, index: str, filters: dict[str, Any], expected: set[str]) -> None:
    for request in ({"filters": filters}, {"retrieval": {"filters": filters}}):
        results = search(rag, index, minScore=0, **request)["results"]
        assert {result["fileId"] for result in results} == expected


def test_inner_filters_win(rag: RAG, index: str) -> None:
    both = {"filters": {"fileIds": ["bells.md"]}, "retrieval": {"filters": {"fileIds": ["sheep.txt"]}}}
    assert {result["fileId"] for result in search(rag, index, minScore=0, **both)["results"]} == {"sheep.txt"}


def test_snake_case_keys(rag: RAG, index: str) -> None:
    request = {
        "index_file_id": index,
        "query": "bell",
        "retrieval": {"top_k": 1, "min_score": 0, "rerank": {"top_n": 3}},
    }
    response = rag.search(request)
    assert (response["topK"], response["minScore"], len(response["results"])) == (1, 0, 1)


def test_nothing_found_is_an_empty_list(rag: RAG, index: str) -> None:
    response = search(rag, index, retrieval={"minScore": 5})
    assert response["results"] == []
    assert set(response["usage"]) == {"embedding", "generation", "timingsMs"}


PRECEDENCE: list[tuple[int | None, int | None, int | None, int | None, int]] = [
    # retrieval.topK, topK, the index's, configured → what holds
    (1, 2, 3, 4, 1),
    (None, 2, 3, 4, 2),
    (None, None, 3, 4, 3),
    (None, None, None, 4, 4),
    (None, None, None, None, 8),
]


@pytest.mark.parametrize(("inner", "outer", "stored", "configured", "expected"), PRECEDENCE)
def test_precedence(
    rag: RAG, index: str, inner: Any, outer: Any, stored: Any, configured: Any, expected: int, books: Any
) -> None:
    if stored is not None:
        index = f"stored-{inner}-{outer}"
        source, name = {"folderId": str(books / "sheep.txt")}, {"indexName": index}
        rag.buildIndex({"source": source, "index": name, "retrieval": {"topK": stored}})
    rag.configure({"retrieval": {"topK": configured}})
    request = {"topK": outer, "retrieval": {"topK": inner}}
    assert search(rag, index, **request)["topK"] == expected


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"query": None}, "query"),
    ({"query": 5}, "query"),
    ({"topK": 0}, "1 to 50"),
    ({"topK": 51}, "1 to 50"),
    ({"topK": "8"}, "topK: .*integer"),
    ({"retrieval": {"topK": True}}, "retrieval.topK"),
    ({"minScore": -0.1}, "at least 0"),
    ({"mode": "fuzzy"}, "'vector', 'lexical' or 'hybrid'"),
    ({"vectorWeight": 0, "lexicalWeight": 0}, "both 0"),
    ({"rerank": {"enabled": True, "topN": 0}}, "topN"),
    ({"retrieval": {"limit": 3}}, "'limit' is not supported; supported are topK, minScore, mode"),
    ({"limit": 3}, "'limit' is not supported; .*query"),
    ({"filters": {"chapter": "1"}}, "filters: 'chapter' is not supported; supported are fileIds, mimeTypes"),
    ({"filters": {"fileIds": "bells.md"}}, "filters.fileIds"),
    ({"retrieval": [1]}, "retrieval"),
    ({"topK": 1, "top_k": 1}, "given twice"),
]


@pytest.mark.parametrize(("wrong", "message"), INVALID)
def test_invalid_requests(rag: RAG, index: str, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(AstRagValidationError, match=message):
        search(rag, index, **wrong)


def test_a_request_is_a_dictionary(rag: RAG) -> None:
    with pytest.raises(AstRagValidationError, match="request"):
        rag.search("the great bell")  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["", "  ", "?!", "x" * 1001])
def test_malformed_questions(rag: RAG, index: str, query: str) -> None:
    with pytest.raises(InvalidQueryError):
        search(rag, index, query=query)


def test_an_unknown_index(rag: RAG, index: str) -> None:
    with pytest.raises(AstRagIndexError, match=f"no index 'nothing'.*{index}"):
        search(rag, "nothing")
