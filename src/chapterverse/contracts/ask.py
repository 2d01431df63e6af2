"""`/ask`: what is asked over HTTP, and what is answered. A view of `Answer`, with no logic of its own."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

from chapterverse.answer.cite import sources
from chapterverse.answer.unmet import why_nothing
from chapterverse.types import Answer, Citation, Passage, Place, Reason, SentenceKind, Spoken, Status

Body = dict[str, Any]


class AskScope(BaseModel):
    """Where to answer from; without it, the question's own words may say so."""

    model_config = ConfigDict(extra="forbid")

    type: StrictStr = Field(description="full-book, section-specific or page-specific")
    identifier: StrictStr | None = Field(default=None, description="such as Chapter 3, a title, 45 or 12-15")


class AskFilters(BaseModel):
    """Which passages count."""

    model_config = ConfigDict(extra="forbid")

    source_url: StrictStr | None = None
    chapter: StrictStr | None = None
    section: StrictStr | None = None
    file_ids: list[StrictStr] | None = None
    read_until: StrictInt | None = Field(default=None, description="nothing after this page of the file, from 1 on")


class AskRequest(BaseModel):
    """A question, and what it may be answered from."""

    model_config = ConfigDict(extra="forbid")

    question: StrictStr
    selected_text: StrictStr | None = Field(
        default=None,
        description="what to answer from alone: it goes before `scope`, `filters` and `index`, which do not count then",
    )
    scope: AskScope | None = None
    filters: AskFilters | None = None
    top_k: StrictInt | None = Field(default=None, description="1 to 50 passages")
    index: StrictStr | None = None


class _Said(BaseModel):
    """A part of the response; it has these fields and no others."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class _Placed(_Said):
    page: int | None
    """Counted from 1 in the file."""
    page_label: str | None
    """As it is printed."""
    slide: int | None
    chapter: str | None
    section: str | None


class MatchedChunk(_Placed):
    """A passage that was found for the question."""

    chunk_id: str
    text: str
    start: int
    """Characters of the document's text."""
    end: int
    file_id: str | None
    source_url: str | None
    title: str | None
    score: float
    answers: bool
    """Whether the answer rests on it; those of a refusal are near, and do not answer."""


class AskCitation(_Placed):
    """Chapter and verse of one quote."""

    number: int
    """As the sentences have it."""
    citation_id: str
    chunk_id: str | None
    quote: str
    start: int
    """Characters of the document's text, or of the selected text."""
    end: int
    snippet: str
    cfi: str | None
    title: str | None
    file_id: str | None
    file_name: str | None
    mime_type: str | None
    source_url: str | None
    document_sha256: str | None
    score: float
    vector_score: float | None
    lexical_score: float | None


class AskSentence(_Said):
    """A sentence that has passed the gate."""

    text: str
    kind: SentenceKind
    citations: list[int]
    """Numbers of citations."""


class AskResponse(_Said):
    """An answer that the book bears out, or a refusal: then `reason` says why, and nothing is cited."""

    answer: str
    status: Status
    reason: Reason | None
    grounded: bool
    confidence: float
    sources: list[str]
    """What the answer cites, in words."""
    matched_chunks: list[MatchedChunk]
    citations: list[AskCitation]
    sentences: list[AskSentence]
    retrieval_quality: Literal["Good", "Partial", "Poor"]
    timestamp: str
    request_id: str
    nothing_because: str = ""
    """Where no passage meets the filters or the scope: which condition nothing meets."""


class ErrorBody(_Said):
    """What every error is answered with."""

    error: str
    """Which kind of error, for machines."""
    detail: str
    """What happened and what to do next, for people."""
    request_id: str


def answered(answer: Answer, request_id: str) -> Body:
    """The whole response."""
    used = {citation.id for citation in answer.citations}
    nothing = why_nothing(answer)
    return {
        "answer": answer.text,
        "status": answer.status,
        "reason": answer.reason,
        "grounded": bool(answer.citations),
        "confidence": answer.confidence,
        "sources": list(sources(answer.citations)),
        "matched_chunks": [_matched(passage, answers=passage.id in used) for passage in answer.passages],
        "citations": [_citation(number, citation) for number, citation in enumerate(answer.citations, 1)],
        "sentences": [
            {"text": one.text, "kind": one.kind, "citations": [n + 1 for n in one.citations]}
            for one in answer.sentences
        ],
        "retrieval_quality": answer.retrieval_quality,
        "timestamp": answer.timestamp,
        "request_id": request_id,
        **({"nothing_because": nothing} if nothing else {}),
    }


def spoken(said: Spoken) -> Body:
    """A sentence of an answer that is still being given, with its citations as the whole answer will have them."""
    numbered = zip(said.sentence.citations, said.citations, strict=True)
    return {
        "text": said.sentence.text,
        "kind": said.sentence.kind,
        "citations": [_citation(number + 1, citation) for number, citation in numbered],
    }


def _matched(passage: Passage, answers: bool) -> Body:
    entry = passage.entry
    return {
        "chunk_id": entry.chunk.id if entry else "selected text",
        "text": passage.text,
        "start": passage.start,
        "end": passage.start + len(passage.text),
        "file_id": entry.chunk.file_id if entry else None,
        **place_fields(entry.chunk.place if entry else Place()),
        "source_url": entry.source_url if entry else None,
        "title": entry.title if entry else None,
        "score": round(min(max(passage.score, 0.0), 1.0), 6),
        "answers": answers,
    }


def _citation(number: int, citation: Citation) -> Body:
    return {
        "number": number,
        "citation_id": citation.id,
        "chunk_id": citation.chunk_id,
        "quote": citation.quote,
        "start": citation.start,
        "end": citation.end,
        "snippet": citation.snippet,
        **place_fields(citation.place),
        "cfi": citation.place.cfi,
        "title": citation.title,
        "file_id": citation.file_id,
        "file_name": citation.file_name,
        "mime_type": citation.mime_type,
        "source_url": citation.source_url,
        "document_sha256": citation.sha256,
        "score": citation.score,
        "vector_score": citation.vector_score,
        "lexical_score": citation.lexical_score,
    }


def place_fields(place: Place) -> Body:
    """Where something stands, as every surface names it."""
    page = place.first_page
    return {
        "page": page.number if page else None,
        "page_label": page.label if page else None,
        "slide": place.slide,
        "chapter": place.chapter,
        "section": place.section,
    }
