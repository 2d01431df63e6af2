"""The table of errors: what raises each, and the HTTP status it is answered with; and the page that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chapterverse import errors
from chapterverse.contracts import RAG, fields, http_status, requests, settle
from chapterverse.errors import (
    AstRagAuthError,
    AstRagEmbeddingCapabilityError,
    AstRagError,
    AstRagGroundingError,
    AstRagIndexError,
    AstRagRetrievalError,
    AstRagSourceError,
    AstRagValidationError,
    GenerationError,
    InvalidQueryError,
    NoContentError,
    RetrievalError,
    StoreUnreachableError,
    UnreadableFileError,
)
from chapterverse.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "contracts.md").read_text()

STATUS: list[tuple[AstRagError, int]] = [
    (AstRagValidationError("x"), 400),
    (InvalidQueryError("x"), 400),
    (AstRagAuthError("x", details={"provider": "openai", "status": 401}), 502),
    (AstRagSourceError("x"), 502),
    (UnreadableFileError("damaged", "x"), 502),
    (UnreadableFileError("damaged", "x", details={"sent_in": True}), 422),
    (AstRagIndexError("x", details={"reason": "unknown"}), 404),
    (AstRagIndexError("x", details={"reason": "locked"}), 409),
    (AstRagIndexError("x", details={"reason": "exists"}), 409),
    (AstRagIndexError("x", details={"reason": "empty"}), 409),
    (AstRagIndexError("x", details={"reason": "corrupt"}), 500),
    (AstRagIndexError("x", details={"reason": "schema"}), 500),
    (AstRagRetrievalError("x"), 503),
    (AstRagRetrievalError("x", details={"provider": "cohere", "status": 429}), 429),
    (AstRagRetrievalError("x", details={"reason": "deadline"}), 504),
    (RetrievalError("x"), 503),
    (StoreUnreachableError("x"), 503),
    (AstRagEmbeddingCapabilityError("x"), 400),
    (AstRagGroundingError("x"), 502),
    (GenerationError("x", details={"reason": "malformed"}), 502),
    (GenerationError("x", details={"reason": "deadline"}), 504),
    (GenerationError("x", details={"status": 429}), 429),
    (NoContentError("x"), 502),
    (AstRagError("x"), 500),
]


@pytest.mark.parametrize(("error", "status"), STATUS)
def test_http_status(error: AstRagError, status: int) -> None:
    assert http_status(error) == status


def test_every_error_has_a_row() -> None:
    tried = {type(error) for error, _ in STATUS}
    known = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AstRagError)}
    assert tried == known
    rows = "\n".join(line for line in _table("Errors").splitlines() if line.startswith("| `"))
    shown = set(re.findall(r"`(\w+Error)`", rows))
    assert shown == {kind.__name__ for kind in known - {AstRagError}}


Case = Callable[[RAG, Path], Any]
RAISED: list[tuple[type[AstRagError], Case]] = [
    (AstRagValidationError, lambda rag, books: rag.search({"query": "bell", "limit": 1})),
    (AstRagValidationError, lambda rag, books: rag.buildIndex({"source": {}})),
    (InvalidQueryError, lambda rag, books: rag.search({"query": "?"})),
    (AstRagAuthError, lambda rag, books: build(rag, books, provider="cohere")),
    (AstRagSourceError, lambda rag, books: build(rag, books / "nowhere")),
    (AstRagIndexError, lambda rag, books: rag.inspectIndex({"indexFileId": "nothing"})),
    (AstRagIndexError, lambda rag, books: rag.syncIndex({"indexFileId": "nothing"})),
    (AstRagEmbeddingCapabilityError, lambda rag, books: build(rag, books, provider="nobody")),
    (AstRagEmbeddingCapabilityError, lambda rag, books: build(rag, books, model="nothing")),
]


def build(rag: RAG, folder: Path, **embedding: str) -> None:
    rag.buildIndex({"source": {"folderId": str(folder)}, "index": {"indexName": "never"}, "embedding": embedding})


@pytest.mark.parametrize(("kind", "call"), RAISED)
def test_what_raises_them(rag: RAG, books: Path, index: str, kind: type[AstRagError], call: Case) -> None:
    with pytest.raises(AstRagError) as caught:
        call(rag, books)
    assert type(caught.value) is kind
    assert caught.value.message


def _table(heading: str) -> str:
    return PAGE.split(f"# {heading}\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]


@pytest.mark.parametrize("name", fields.TABLES)
def test_the_page_shows_the_field_maps(name: str) -> None:
    assert dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|$", _table(name), re.M)) == fields.TABLES[name]


def test_the_page_shows_the_defaults() -> None:
    shown = _table("What holds")
    ranking = settle.RANKING
    assert f"`topK` {ranking['top_k']} (1 to 50), `minScore` {ranking['min_score']}, `mode` {ranking['mode']}" in shown
    assert f"weights {ranking['vector_weight']} and {ranking['lexical_weight']}" in shown
    assert f"its `topN` {ranking['rerank_top_n']}" in shown
    assert f"`maxFiles` {settle.MAX_FILES}, `maxChunks` {settle.MAX_CHUNKS}" in shown
    assert f"`temperature` {settle.TEMPERATURE}, `maxOutputTokens` {settle.MAX_OUTPUT_TOKENS}" in shown
    assert f"`deadlineSeconds` {Settings.model_fields['deadline'].default}" in shown
    for section in requests.Configuration.model_fields.values():
        assert f"`{section.alias}`" in shown
