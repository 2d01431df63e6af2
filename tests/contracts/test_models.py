"""The data model: its fields, its validation rules and what feeds them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from chapterverse.answer.prompts import NOT_IN_BOOK
from chapterverse.answer.retrieve import Found
from chapterverse.answer.scope import parse_scope
from chapterverse.contracts import (
    AgentResponse,
    QueryScope,
    RetrievedChunk,
    RetrievedContentChunk,
    SourceReference,
)
from chapterverse.contracts.fields import TABLES, view
from chapterverse.types import Chunk, Entry, Page, Place
from tests.contracts.test_rag_answer import ANSWER

PLACE = Place(("Bells", "Casting"), Page(12, "iv"), Page(13, "v"), slide=7)
FOUND = Found(
    Entry(
        chunk=Chunk("c1", "bells.pdf", 0, 5, "Heavy", PLACE),
        ordinal=0,
        file_name="bells.pdf",
        title="The Bells",
        mime_type="application/pdf",
        sha256="0",
        embedded="0",
        source_url="https://example.org/bells.pdf",
    ),
    final=0.8,
    vector=0.6,
    lexical=4.2,
    rerank=0.9,
)
NOW = datetime.now(UTC)
SOURCE = SourceReference(title="The Bells")

FIELDS: dict[Any, list[str]] = {
    AgentResponse: ["content", "sources", "confidence", "timestamp"],
    RetrievedContentChunk: ["id", "content", "similarity_score", "source_metadata", "embedding"],
    SourceReference: ["url", "section", "page", "title"],
    QueryScope: ["type", "identifier", "description"],
}


@pytest.mark.parametrize(("model", "fields"), FIELDS.items())
def test_fields(model: Any, fields: list[str]) -> None:
    assert list(model.model_fields) == fields


def test_a_chunk_of_the_data_model() -> None:
    chunk = RetrievedContentChunk.of(FOUND, [0.5, 0.5])
    assert (chunk.id, chunk.content, chunk.similarity_score, chunk.embedding) == ("c1", "Heavy", 0.8, (0.5, 0.5))
    assert chunk.source_metadata == SourceReference(
        url="https://example.org/bells.pdf", section="Casting", page="iv", title="The Bells"
    )
    assert RetrievedContentChunk.of(FOUND).embedding is None


def test_a_page_without_a_label_is_its_number_as_text() -> None:
    place = replace(PLACE, first_page=Page(12))
    entry = replace(FOUND.entry, chunk=replace(FOUND.entry.chunk, place=place), source_url=None)
    source = RetrievedContentChunk.of(replace(FOUND, entry=entry)).source_metadata
    assert (source.page, source.url) == ("12", "bells.pdf")


def test_a_chunk_of_retrieve_chunks() -> None:
    assert RetrievedChunk.of(FOUND).model_dump() == {
        "chunk_id": "c1",
        "text": "Heavy",
        "source_url": "https://example.org/bells.pdf",
        "score": 0.8,
        "title": "The Bells",
        "chapter": "Bells",
        "section": "Casting",
        "page": 12,
        "page_label": "iv",
        "slide": 7,
    }


def test_a_response() -> None:
    response = AgentResponse.of(ANSWER)
    assert response.content == ANSWER.text
    assert [source.page for source in response.sources] == ["iv", None]
    assert response.confidence == 0.9
    assert response.timestamp == datetime(2026, 1, 1, tzinfo=UTC)
    refusal = AgentResponse.of(replace(ANSWER, text=NOT_IN_BOOK, status="refused", citations=(), confidence=0.0))
    assert refusal.sources == ()


def test_a_scope() -> None:
    asked = parse_scope("What is said in Chapter 3?")
    scope = QueryScope.of(asked)
    assert (scope.type, scope.identifier) == ("section-specific", "chapter 3")
    assert scope.engine() == asked
    assert QueryScope().engine() == parse_scope("What is said?")


BROKEN: list[tuple[Any, dict[str, Any], str]] = [
    (AgentResponse, {"content": "It is heavy.", "confidence": 1, "timestamp": NOW}, "at least one source"),
    (AgentResponse, {"content": " ", "sources": [SOURCE], "confidence": 1, "timestamp": NOW}, "content"),
    (AgentResponse, {"content": "Yes.", "sources": [SOURCE], "confidence": 1.1, "timestamp": NOW}, "confidence"),
    (RetrievedContentChunk, {"id": "1", "content": " ", "similarity_score": 1, "source_metadata": SOURCE}, "content"),
    (RetrievedContentChunk, {"id": "1", "content": "x", "similarity_score": 1}, "source_metadata"),
    (RetrievedContentChunk, {"id": "1", "content": "x", "similarity_score": 1, "source_metadata": {}}, "URL"),
    (SourceReference, {}, "URL or something else"),
    (SourceReference, {"url": " "}, "URL or something else"),
    (QueryScope, {"type": "chapter-specific"}, "type"),
    (QueryScope, {"type": "page-specific"}, "needs an identifier"),
]


@pytest.mark.parametrize(("model", "values", "message"), BROKEN)
def test_validation_rules(model: Any, values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        model(**values)


@pytest.mark.parametrize("name", [name for name, table in TABLES.items() if "entry.chunk.id" in table.values()])
def test_tables_of_what_is_found_can_be_read_off_every_record(name: str) -> None:
    filled = view(FOUND, TABLES[name])
    assert all(value is not None for value in filled.values())
    bare = replace(FOUND.entry, chunk=replace(FOUND.entry.chunk, place=Place()), source_url=None)
    assert set(view(Found(bare, 0.1), TABLES[name])) == set(filled)
