"""`retrieve_chunks`: the chunks of an index for a query, as typed records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.scope import FULL_BOOK
from chapterverse.answer.scope import QueryScope as EngineScope
from chapterverse.contracts.models import QueryScope, RetrievedChunk, RetrievedContentChunk
from chapterverse.contracts.shelves import default_library
from chapterverse.errors import AstRagError, AstRagValidationError, InvalidQueryError
from chapterverse.library import Library, SearchResult
from chapterverse.library.terms import check_question
from chapterverse.types import Filter

FILTERS = ("source_url", "chapter", "section")


def retrieve_chunks(
    query: str,
    filters: dict[str, str] | None = None,
    top_k: int = 5,
    *,
    index: str | None = None,
    library: Library | None = None,
) -> list[RetrievedChunk]:
    """The chunks of an index that bear on a query, best first; an empty list if there are none.

    `filters` may name a `source_url`, a `chapter` and a `section`. Every error is one of ours; besides, a store that
    cannot be reached is a `ConnectionRefusedError`, a Qdrant server's unexpected answer is qdrant-client's
    `UnexpectedResponse`, and trouble with Cohere's API is a `cohere.core.ApiError`.
    """
    check_question(query)
    where = checked_filters(filters, FILTERS)
    try:
        result = find(library or default_library(), query, where, top_k, index)
    except AstRagError as error:
        raise _vendor_error(error) from error.cause
    return [RetrievedChunk.of(found) for found in result.found]


def retrieve_content(
    query: str,
    scope: QueryScope | None = None,
    top_k: int = 5,
    *,
    with_embeddings: bool = False,
    index: str | None = None,
    library: Library | None = None,
) -> list[RetrievedContentChunk]:
    """The same as records of the data model, from a scope of the book, and with their vectors if asked for."""
    library = library or default_library()
    record = library.record(index)
    settings = _settings(record.retrieval_defaults, top_k)
    engine_scope = scope.engine() if scope else FULL_BOOK
    found = library.search(query, index=record.id, settings=settings, scope=engine_scope).found
    ids = [one.entry.chunk.id for one in found]
    vectors = library.vectors(ids, record.id) if with_embeddings else {}
    return [RetrievedContentChunk.of(one, vectors.get(key)) for one, key in zip(found, ids, strict=True)]


def checked_filters(filters: Mapping[str, Any] | None, supported: tuple[str, ...]) -> dict[str, str]:
    """The filters that say something; `InvalidQueryError` names those that are supported."""
    if not isinstance(filters, Mapping | None):
        raise InvalidQueryError(f"filters must be a dictionary; supported are {', '.join(supported)}.")
    given = {name: value for name, value in (filters or {}).items() if value is not None}
    for name, value in given.items():
        if name not in supported:
            raise InvalidQueryError(
                f"The filter {name!r} is not supported; supported are {', '.join(supported)}.",
                details={"supported": list(supported)},
            )
        if not isinstance(value, str) or not value.strip():
            raise InvalidQueryError(f"The filter {name!r} must be a text that is not blank.")
    return given


def find(library: Library, query: str, filters: Mapping[str, str], top_k: int, index: str | None) -> SearchResult:
    """Search where the filters say. A chapter or section is named in full, by its number or by a part of its name;
    where both are given, the section in full."""
    record = library.record(index)
    settings = _settings(record.retrieval_defaults, top_k)
    names = [filters[key] for key in ("chapter", "section") if key in filters]
    scope = EngineScope("section-specific", names[0], names[0]) if names else FULL_BOOK
    file_ids = _files(library, record.id, filters["source_url"]) if "source_url" in filters else None
    where = Filter(file_ids=file_ids, sections=tuple(names[1:]) or None)
    return library.search(query, index=record.id, settings=settings, where=where, scope=scope)


def _settings(defaults: Mapping[str, Any], top_k: int) -> Retrieval:
    try:
        return Retrieval(**{**defaults, "top_k": top_k})
    except AstRagValidationError as error:
        raise InvalidQueryError(error.message) from None


def _files(library: Library, index: str, url: str) -> tuple[str, ...]:
    """The files at an address, which for a local file is its id."""
    sources = library.inspect(index).sources
    return tuple(one.file_id for one in sources if url in (one.source_url, one.file_id))


def _vendor_error(error: AstRagError) -> AstRagError:
    """Cohere's trouble as an error that is also one of its SDK; the store's errors are the vendor's already."""
    if error.details.get("provider") != "cohere" or "status" not in error.details:
        return error
    from cohere.core.api_error import ApiError  # it is there, for it has been called

    class Vendor(ApiError):
        def __init__(self, message: str) -> None:
            Exception.__init__(self, message)

    ours: Any = type(error)

    class Both(ours, Vendor):  # type: ignore[misc]
        headers, status_code, body = None, error.details["status"], {"message": error.message}

    make: Any = Both
    made: AstRagError = make(error.message, details=error.details, cause=error.cause, retryable=error.retryable)
    return made
