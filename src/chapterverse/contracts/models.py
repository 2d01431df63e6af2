"""The data model's records, validated when they are made; `fields.py` says which engine field feeds which of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from chapterverse.answer import prompts, scope
from chapterverse.answer.retrieve import Found
from chapterverse.contracts.fields import CHUNK_SOURCE, CITED_SOURCE, CONTENT_CHUNK, QUERY_SCOPE, RETRIEVED_CHUNK, view
from chapterverse.types import Answer

NonBlank = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceReference(Record):
    """Where content comes from; at least one of the fields says so."""

    url: str | None = None
    section: str | None = None
    page: str | None = None
    title: str | None = None

    @field_validator("page", mode="before")
    @classmethod
    def _as_text(cls, page: object) -> object:
        return str(page) if isinstance(page, int) else page

    @model_validator(mode="after")
    def _identifies(self) -> Self:
        if not any((value or "").strip() for value in (self.url, self.section, self.page, self.title)):
            raise ValueError("a source needs a URL or something else that identifies it")
        return self


class RetrievedContentChunk(Record):
    """A chunk that was found; `embedding` is filled where it is asked for."""

    id: NonBlank
    content: NonBlank
    similarity_score: float
    source_metadata: SourceReference
    embedding: tuple[float, ...] | None = None

    @classmethod
    def of(cls, found: Found, embedding: Sequence[float] | None = None) -> Self:
        source = SourceReference(**view(found, CHUNK_SOURCE))
        vector = None if embedding is None else tuple(embedding)
        return cls(**view(found, CONTENT_CHUNK), source_metadata=source, embedding=vector)


class AgentResponse(Record):
    """What was answered; anything but a refusal or a question back to the user cites its sources."""

    content: NonBlank
    sources: tuple[SourceReference, ...] = ()
    confidence: float = Field(ge=0, le=1)
    timestamp: datetime

    @model_validator(mode="after")
    def _cites(self) -> Self:
        if not self.sources and not prompts.is_notice(self.content):
            raise ValueError("a factual claim needs at least one source")
        return self

    @classmethod
    def of(cls, answer: Answer) -> Self:
        sources = [SourceReference(**view(citation, CITED_SOURCE)) for citation in answer.citations]
        return cls(
            content=answer.text,
            sources=tuple(dict.fromkeys(sources)),
            confidence=answer.confidence,
            timestamp=datetime.fromisoformat(answer.timestamp),
        )


class QueryScope(Record):
    """Where in the book a question is answered from."""

    type: scope.ScopeType = "full-book"
    identifier: str | None = None
    description: str = scope.FULL_BOOK.description

    @model_validator(mode="after")
    def _names_its_part(self) -> Self:
        if self.type != "full-book" and not (self.identifier or "").strip():
            raise ValueError(f"a {self.type} scope needs an identifier, such as 'Chapter 3' or '45'")
        return self

    @classmethod
    def of(cls, asked: scope.QueryScope) -> Self:
        return cls(**view(asked, QUERY_SCOPE))

    def engine(self) -> scope.QueryScope:
        return scope.QueryScope(self.type, self.identifier, self.description)


class RetrievedChunk(Record):
    """A chunk as `retrieve_chunks` returns it."""

    chunk_id: NonBlank
    text: NonBlank
    source_url: NonBlank
    score: float
    title: str | None = None
    chapter: str | None = None
    section: str | None = None
    page: int | None = None
    page_label: str | None = None
    slide: int | None = None

    @classmethod
    def of(cls, found: Found) -> Self:
        return cls(**view(found, RETRIEVED_CHUNK))
