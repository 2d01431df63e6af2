"""The four functions that an agent is given: search, generate, validate, format."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, cast

from chapterverse.answer import render
from chapterverse.answer import response as plain
from chapterverse.contracts.fields import TOOL_RESULT, view
from chapterverse.contracts.retrieval import checked_filters, find
from chapterverse.contracts.shelves import default_library
from chapterverse.errors import (
    AstRagError,
    AstRagValidationError,
    GenerationError,
    InvalidQueryError,
    NoContentError,
    RetrievalError,
)
from chapterverse.ingest.sentences import split
from chapterverse.library import Library
from chapterverse.library.terms import check_question
from chapterverse.types import Chunk, Citation, Entry, Place

MODES = ("full-book", "selected-text")
FILTERS = ("source_url", "chapter")
_PREVIEW = 200


class ToolResult(TypedDict):
    """A passage that was found."""

    id: str
    text: str
    score: float
    source_url: str
    source_title: str
    content_preview: str


class SearchResults(TypedDict):
    results: list[ToolResult]


class ToolSource(TypedDict):
    """What a response rests on."""

    id: str
    source_url: str | None
    source_title: str | None
    quote: str


class Generated(TypedDict):
    response: str
    sources: list[ToolSource]


class Validated(TypedDict):
    is_valid: bool
    issues: list[dict[str, Any]]


class Formatted(TypedDict):
    formatted_response: str


def search_book_content(
    query: str,
    mode: Literal["full-book", "selected-text"] = "full-book",
    filters: Mapping[str, str] | None = None,
    top_k: int = 5,
    *,
    index: str | None = None,
    library: Library | None = None,
) -> SearchResults:
    """Search the whole book, or with `selected-text` only what the filters select."""
    check_question(query)
    chosen = _selection(mode, filters)
    try:
        found = find(library or default_library(), query, chosen, top_k, index).found
    except (AstRagValidationError, RetrievalError):
        raise
    except AstRagError as error:
        raise RetrievalError(error.message, details=error.details, cause=error, retryable=error.retryable) from error
    return {"results": [_result(view(one, TOOL_RESULT)) for one in found]}


def _selection(mode: str, filters: Mapping[str, str] | None) -> dict[str, str]:
    if mode not in MODES:
        raise InvalidQueryError(f"mode is {mode!r}; it must be one of {', '.join(MODES)}.")
    chosen = checked_filters(filters, FILTERS)
    if mode == "full-book" and chosen:
        raise InvalidQueryError("Filters select text: use them with mode 'selected-text', or search without them.")
    if mode == "selected-text" and not chosen:
        raise InvalidQueryError(f"mode 'selected-text' needs a filter that selects: {' or '.join(FILTERS)}.")
    return chosen


def _result(fields: dict[str, Any]) -> ToolResult:
    words = " ".join(fields["text"].split())
    preview = words if len(words) <= _PREVIEW else words[:_PREVIEW].rstrip() + "…"
    score = min(max(fields["score"], 0.0), 1.0)
    return cast(ToolResult, {**fields, "score": score, "content_preview": preview})


def generate_response(
    query: str, retrieved_content: Sequence[Mapping[str, Any]], *, library: Library | None = None
) -> Generated:
    """Answer from what was retrieved, and from nothing else."""
    check_question(query)
    if not retrieved_content:
        raise NoContentError("There is no content to answer from: search first, and give what was found.")
    content = _items(retrieved_content)
    entries = [_entry(str(n), item) for n, item in enumerate(content)]
    try:
        answer = (library or default_library()).answer_from(query, entries)
    except (AstRagValidationError, GenerationError, NoContentError):
        raise
    except AstRagError as error:
        raise GenerationError(error.message, details=error.details, cause=error, retryable=error.retryable) from error
    return {"response": answer.text, "sources": [_source(one, content) for one in answer.citations]}


def _entry(key: str, item: Mapping[str, Any]) -> Entry:
    """A retrieved content object as the engine knows passages: a small document, under its number."""
    text = item["text"]
    digest = hashlib.sha256(text.encode()).hexdigest()
    title = str(item.get("source_title") or item.get("source_url") or "")
    chunk = Chunk(key, key, 0, len(text), text, Place())
    return Entry(chunk, 0, title, title, "text/plain", digest, digest)


def _source(citation: Citation, content: Sequence[Mapping[str, Any]]) -> ToolSource:
    item = content[int(citation.file_id or 0)]
    return {
        "id": str(item.get("id", citation.id)),
        "source_url": item.get("source_url"),
        "source_title": item.get("source_title"),
        "quote": citation.quote,
    }


def validate_response(
    response: str, content: Sequence[Mapping[str, Any] | str], *, library: Library | None = None
) -> Validated:
    """Whether every sentence of a response is borne out by the content, and what is wrong where not."""
    if not isinstance(response, str):
        raise AstRagValidationError("response must be a text.")
    items, reader = _items(content), (library or default_library()).reader
    checked = plain.validate_response(response, [item["text"] for item in items], reader, split)
    return cast(Validated, checked.as_dict())


def format_response(
    response: str,
    sources: Sequence[Mapping[str, Any] | str] | None,
    style: Literal["text", "markdown", "html", "json"] = "text",
) -> Formatted:
    """The response, with the sources that it rests on listed below it."""
    if not isinstance(response, str):
        raise AstRagValidationError("response must be a text.")
    sources = () if sources is None else sources
    if isinstance(sources, str) or not isinstance(sources, Sequence):
        raise AstRagValidationError("sources must be a list, of names or of what `generate_response` returned.")
    if not all(isinstance(source, str | Mapping | Citation) for source in sources):
        raise AstRagValidationError("Each of the sources must be a name, or a dictionary that has one.")
    return {"formatted_response": render.format_response(response, sources, style)}


def _items(content: Sequence[Mapping[str, Any] | str]) -> list[Mapping[str, Any]]:
    """What was retrieved, each with its text."""
    if isinstance(content, str) or not isinstance(content, Sequence):
        raise AstRagValidationError("content must be a list, of texts or of what a search returned.")
    items = [item if isinstance(item, Mapping) else {"text": item} for item in content]
    if not all(isinstance(item.get("text"), str) and item["text"].strip() for item in items):
        raise AstRagValidationError("Each item of the content needs a `text` that is not blank.")
    return items
