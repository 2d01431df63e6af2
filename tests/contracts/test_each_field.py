"""Every field that a contract returns, one by one: where its value comes from. No two values here are alike."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chapterverse import contracts
from chapterverse.answer.retrieve import Diagnostics, Retrieval
from chapterverse.answer.scope import QueryScope as EngineScope
from chapterverse.contracts import (
    RAG,
    AgentResponse,
    QueryScope,
    RetrievedChunk,
    RetrievedContentChunk,
    format_response,
    generate_response,
    retrieve_chunks,
    search_book_content,
    settle,
    validate_response,
)
from chapterverse.contracts.requests import AnswerRequest, BuildRequest, Configuration, SearchRequest, parse
from chapterverse.contracts.responses import answered, searched
from chapterverse.ingest.books import sample_book
from chapterverse.library import Library, SearchResult
from chapterverse.protocols import EmbeddingUsage
from chapterverse.providers import Registry
from chapterverse.types import Chunking, EmbeddingModel, IndexRecord
from tests.contracts.test_models import FOUND
from tests.contracts.test_rag_answer import ANSWER, FIRST

RECORD = IndexRecord("books", "Books", EmbeddingModel("fake", "bag-of-words", 64), "2026", "2026")
RANKED = Retrieval(7, 0.3, "hybrid", 0.6, 0.4, rerank_top_n=9)
FOUND_BY = SearchResult(
    "how heavy", RECORD, RANKED, (FOUND,), Diagnostics(seconds={"search": 0.25}), EmbeddingUsage(5, 1, 0.5)
)

RESULT: dict[str, Any] = {
    "chunkId": "c1",
    "fileId": "bells.pdf",
    "fileName": "bells-on-disk.pdf",
    "mimeType": "application/pdf",
    "page": 12,
    "slide": 7,
    "section": "Casting",
    "text": "Heavy",
    "score": 0.8,
    "vectorScore": 0.6,
    "lexicalScore": 4.2,
    "finalScore": 0.8,
    "rerankScore": 0.9,
}


@pytest.mark.parametrize("field", RESULT)
def test_result_of_a_search(field: str) -> None:
    found = replace(FOUND, entry=replace(FOUND.entry, file_name="bells-on-disk.pdf"))
    (result,) = searched(replace(FOUND_BY, found=(found,)))["results"]
    assert result[field] == RESULT[field]
    assert set(result) == set(RESULT)


SEARCHED: dict[str, Any] = {
    "query": "how heavy",
    "topK": 7,
    "minScore": 0.3,
    "mode": "hybrid",
    "usage": {
        "embedding": {"tokens": 5, "requests": 1, "cost": 0.5},
        "generation": {"requests": 0, "inputTokens": 0, "outputTokens": 0},
        "timingsMs": {"search": 250.0},
    },
}


@pytest.mark.parametrize("field", SEARCHED)
def test_response_of_a_search(field: str) -> None:
    assert searched(FOUND_BY)[field] == SEARCHED[field]


CITED: dict[str, Any] = {
    "citationId": "S1",
    "chunkId": "c1",
    "fileId": "bells.pdf",
    "fileName": "bells-on-disk.pdf",
    "mimeType": "application/pdf",
    "page": 12,
    "slide": 7,
    "score": 0.8,
    "vectorScore": 0.6,
    "lexicalScore": 4.2,
    "finalScore": 0.8,
    "snippet": "It weighs forty hundredweight.",
}


@pytest.mark.parametrize("field", CITED)
def test_citation_of_an_answer(field: str) -> None:
    citation = replace(FIRST, file_name="bells-on-disk.pdf", place=replace(FIRST.place, slide=7))
    (cited,) = answered(replace(ANSWER, citations=(citation,)), RANKED, "Nothing.")["citations"]
    assert cited[field] == CITED[field]
    assert set(cited) == set(CITED)


RETRIEVED: dict[str, Any] = {"topK": 7, "minScore": 0.3, "mode": "hybrid", "returned": 3}


@pytest.mark.parametrize("field", RETRIEVED)
def test_retrieval_of_an_answer(field: str) -> None:
    answer = replace(ANSWER, citations=(FIRST,))  # more was returned than is cited
    assert answered(answer, RANKED, "Nothing.")["retrieval"][field] == RETRIEVED[field]


@pytest.fixture
def finds(monkeypatch: pytest.MonkeyPatch, library: Library) -> Library:
    """A library that finds one passage, longer than a preview, with a score beyond 1."""
    chunk = replace(FOUND.entry.chunk, text="Heavy " * 100)
    found = replace(FOUND, entry=replace(FOUND.entry, chunk=chunk), final=1.5)
    monkeypatch.setattr(Library, "search", lambda self, query, **_: replace(FOUND_BY, found=(found,)))
    return library


TOOL_RESULT: dict[str, Any] = {
    "id": "c1",
    "text": "Heavy " * 100,
    "score": 1.0,
    "source_url": "https://example.org/bells.pdf",
    "source_title": "The Bells",
    "content_preview": ("Heavy " * 100)[:200].rstrip() + "…",
}


@pytest.mark.parametrize("field", TOOL_RESULT)
def test_result_of_search_book_content(finds: Library, index: str, field: str) -> None:
    (result,) = search_book_content("how heavy", library=finds, index=index)["results"]
    assert dict(result)[field] == TOOL_RESULT[field]


CHUNK: dict[str, Any] = {"text": "Heavy", "source_url": "https://example.org/bells.pdf", "score": 0.8}


@pytest.mark.parametrize("field", CHUNK)
def test_retrieved_chunk(field: str) -> None:
    assert getattr(RetrievedChunk.of(FOUND), field) == CHUNK[field]


PAGE = EngineScope("page-specific", "45", "page 45")
DATA_MODEL: dict[str, tuple[Callable[[], Any], Any]] = {
    "Agent Response.content": (lambda: AgentResponse.of(ANSWER).content, "It weighs forty hundredweight."),
    "Agent Response.sources": (
        lambda: [(source.title, source.page) for source in AgentResponse.of(ANSWER).sources],
        [("Bells", "iv"), ("Bells", None)],
    ),
    "Agent Response.confidence": (lambda: AgentResponse.of(ANSWER).confidence, 0.9),
    "Agent Response.timestamp": (lambda: AgentResponse.of(ANSWER).timestamp, datetime(2026, 1, 1, tzinfo=UTC)),
    "Retrieved Content Chunk.id": (lambda: RetrievedContentChunk.of(FOUND).id, "c1"),
    "Retrieved Content Chunk.content": (lambda: RetrievedContentChunk.of(FOUND).content, "Heavy"),
    "Retrieved Content Chunk.similarity_score": (lambda: RetrievedContentChunk.of(FOUND).similarity_score, 0.8),
    "Retrieved Content Chunk.embedding": (lambda: RetrievedContentChunk.of(FOUND, [0.6, 0.8]).embedding, (0.6, 0.8)),
    "Source Reference.url": (
        lambda: RetrievedContentChunk.of(FOUND).source_metadata.url, "https://example.org/bells.pdf",
    ),
    "Source Reference.section": (lambda: RetrievedContentChunk.of(FOUND).source_metadata.section, "Casting"),
    "Source Reference.page": (lambda: RetrievedContentChunk.of(FOUND).source_metadata.page, "iv"),
    "Source Reference.title": (lambda: RetrievedContentChunk.of(FOUND).source_metadata.title, "The Bells"),
    "Query Scope.type": (lambda: QueryScope.of(PAGE).type, "page-specific"),
    "Query Scope.identifier": (lambda: QueryScope.of(PAGE).identifier, "45"),
    "Query Scope.description": (lambda: QueryScope.of(PAGE).description, "page 45"),
}  # fmt: skip


@pytest.mark.parametrize("field", DATA_MODEL)
def test_data_model(field: str) -> None:
    actual, expected = DATA_MODEL[field]
    assert actual() == expected


SIGNATURES: list[tuple[Any, dict[str, Any]]] = [
    (search_book_content, {"query": ..., "mode": "full-book", "filters": None, "top_k": 5}),
    (generate_response, {"query": ..., "retrieved_content": ...}),
    (validate_response, {"response": ..., "content": ...}),
    (format_response, {"response": ..., "sources": ...}),
    (retrieve_chunks, {"query": ..., "filters": None, "top_k": 5}),
    (RAG().configure, {"config": ..., "options": None}),
    (RAG().registerEmbeddingProvider, {"name": ..., "adapter": ..., "options": None}),
    (RAG().unregisterEmbeddingProvider, {"name": ...}),
    (RAG().embeddingCapabilities, {"provider": ...}),
]


@pytest.mark.parametrize(("function", "expected"), SIGNATURES, ids=[given.__name__ for given, _ in SIGNATURES])
def test_signature(function: Any, expected: dict[str, Any]) -> None:
    """Parameters come first, in the order and with the defaults of the contract; what we add has names only."""
    parameters = list(inspect.signature(function).parameters.values())
    first = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD][: len(expected)]
    assert {one.name: ... if one.default is one.empty else one.default for one in first} == expected
    assert all(one.default is not one.empty for one in parameters if one not in first)


def test_the_surface_is_one_import() -> None:
    assert contracts.RAG is RAG
    assert {"RAG", "retrieve_chunks", *(function.__name__ for function, _ in SIGNATURES[:4])} <= set(contracts.__all__)


NOTHING = Configuration()
BUILD_DEFAULTS = parse(BuildRequest, {"source": {"folderId": "x"}})
DEFAULTS: dict[str, tuple[Callable[[], Any], Any]] = {
    "maxFiles": (lambda: settle.ingestion(None, NOTHING, None).max_files, 300),
    "maxChunks": (lambda: settle.ingestion(None, NOTHING, None).max_chunks, 2000),
    "skipParseFailures": (lambda: settle.ingestion(None, NOTHING, None).skip_failures, True),
    "chunkSizeChars": (lambda: settle.chunking(None, NOTHING).size, 1200),
    "chunkOverlapChars": (lambda: settle.chunking(None, NOTHING).overlap, 200),
    "minChunkChars": (lambda: settle.chunking(None, NOTHING).minimum, 200),
    "includeSubfolders": (lambda: settle.source_spec(BUILD_DEFAULTS.source).include_subfolders, True),
    "excludeFileIds": (lambda: list(settle.source_spec(BUILD_DEFAULTS.source).exclude_file_ids), []),
    "ranking": (
        lambda: settle.ranking(parse(SearchRequest, {"query": "x"}), RECORD, NOTHING),
        Retrieval(8, 0.2, "hybrid", 0.65, 0.35, rerank_top_n=None),
    ),
    "topN": (
        lambda: settle.ranking(parse(SearchRequest, {"query": "x", "rerank": {"enabled": True}}), RECORD, NOTHING),
        Retrieval(8, 0.2, "hybrid", 0.65, 0.35, rerank_top_n=20),
    ),
    "filters": (lambda: settle.where(parse(SearchRequest, {"query": "x"})), None),
    "history": (lambda: parse(AnswerRequest, {"question": "x"}).history, None),
}


@pytest.mark.parametrize("field", DEFAULTS)
def test_default(field: str) -> None:
    actual, expected = DEFAULTS[field]
    assert actual() == expected


CONFIGURED = parse(
    Configuration,
    {
        "chunking": {"chunkSizeChars": 500, "minChunkChars": 100},
        "options": {"maxFiles": 5, "maxChunks": 7, "skipParseFailures": False, "deadlineSeconds": 9},
        "embedding": {"provider": "openai", "model": "m", "providerOptions": {"baseUrl": "http://x", "timeout": 3}},
        "generation": {
            "provider": "openai",
            "model": "m",
            "providerOptions": {"baseUrl": "http://x", "timeout": 3},
            "options": {"temperature": 0.7, "maxOutputTokens": 5},
        },
    },
)
BUILD = parse(
    BuildRequest,
    {
        "source": {"folderId": "x"},
        "chunking": {"chunkSizeChars": 400},
        "options": {"maxFiles": 2, "skipParseFailures": True},
        "embedding": {"model": "own", "providerOptions": {"baseUrl": "http://own"}},
    },
)
OWN = {"model": "own", "providerOptions": {"baseUrl": "http://own"}, "options": {"temperature": 0.2}}
ASKED = parse(AnswerRequest, {"question": "x", "generation": OWN, "options": {"deadlineSeconds": 4}})
WRITER = settle.generation(ASKED, CONFIGURED, Registry())
INGESTION = settle.ingestion(BUILD.options, CONFIGURED, None)
OPTIONS = {"baseUrl": "http://own", "timeout": 3}
SAID: dict[str, tuple[Any, Any]] = {
    "chunking": (settle.chunking(BUILD.chunking, CONFIGURED), Chunking(400, 200, 100)),
    "options": ((INGESTION.max_files, INGESTION.max_chunks, INGESTION.skip_failures), (2, 7, True)),
    "embedding": (settle.embedding(CONFIGURED.embedding, BUILD.embedding, "local"), ("openai:own", "openai", OPTIONS)),
    "generation": ((WRITER.model, WRITER.options), ("openai:own", OPTIONS)),
    "generation.options": ((WRITER.temperature, WRITER.max_tokens), (0.2, 5)),
    "deadlineSeconds": (WRITER.seconds, 4),
}


@pytest.mark.parametrize("field", SAID)
def test_what_a_request_says_goes_before_what_is_configured(field: str) -> None:
    actual, expected = SAID[field]
    assert actual == expected


@pytest.mark.parametrize(
    ("mime_type", "expected"), [("text/plain", "notes.txt"), ("application/pdf", "book.pdf")], ids=["text", "pdf"]
)
def test_mime_type(rag: RAG, library: Library, tmp_path: Path, mime_type: str, expected: str) -> None:
    shutil.copy(sample_book(), tmp_path / "book.pdf")
    (tmp_path / "notes.txt").write_text("A note about bells.\n")
    (tmp_path / "more.md").write_text("# More\n\nAnother note.\n")
    source = {"folderId": str(tmp_path), "includeMimeTypes": [mime_type]}
    built = rag.buildIndex({"source": source, "index": {"indexName": "by-type"}})
    shown = rag.inspectIndex({"indexFileId": built["indexFileId"]})
    library.remove("by-type")
    assert [(one["fileId"], one["mimeType"]) for one in shown["sources"]] == [(expected, mime_type)]
