"""Which engine field feeds which field of a contract: the contracts' records are these tables, read off a record.

A path names an attribute, and None anywhere on the way is None; of alternatives, the first that is there counts.
`docs/contracts.md` shows the same tables, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_URL = "entry.source_url or entry.chunk.file_id"
_PAGE = "entry.chunk.place.first_page.number"
_LABEL = "entry.chunk.place.first_page.label"
_SECTION = "entry.chunk.place.section or entry.chunk.place.chapter"

SEARCH_RESULT = {
    "chunkId": "entry.chunk.id",
    "fileId": "entry.chunk.file_id",
    "fileName": "entry.file_name",
    "mimeType": "entry.mime_type",
    "page": _PAGE,
    "slide": "entry.chunk.place.slide",
    "section": _SECTION,
    "text": "entry.chunk.text",
    "score": "final",
    "vectorScore": "vector",
    "lexicalScore": "lexical",
    "finalScore": "final",
}
"""A result of `RAG.search`, from `Found`."""

RERANKED_RESULT = {**SEARCH_RESULT, "rerankScore": "rerank"}
"""The same where the head was reranked."""

CITATION = {
    "citationId": "id",
    "chunkId": "chunk_id",
    "fileId": "file_id",
    "fileName": "file_name",
    "mimeType": "mime_type",
    "page": "place.first_page.number",
    "slide": "place.slide",
    "score": "score",
    "vectorScore": "vector_score",
    "lexicalScore": "lexical_score",
    "finalScore": "score",
    "snippet": "snippet",
}
"""A citation of `RAG.answer`, from `Citation`."""

INDEX_SOURCE = {
    "sourceId": "source_id",
    "fileId": "file_id",
    "fileName": "file_name",
    "mimeType": "mime_type",
    "modifiedTime": "modified_time",
    "fingerprint": "fingerprint",
    "chunkCount": "chunk_count",
}
"""A source of `RAG.inspectIndex`, from `SourceRecord`."""

TOOL_RESULT = {
    "id": "entry.chunk.id",
    "text": "entry.chunk.text",
    "score": "final",
    "source_url": _URL,
    "source_title": "entry.title",
    "content_preview": "entry.chunk.text",
}
"""A result of `search_book_content`, from `Found`; the score is held to 0…1, the preview is cut."""

RETRIEVED_CHUNK = {
    "chunk_id": "entry.chunk.id",
    "text": "entry.chunk.text",
    "source_url": _URL,
    "score": "final",
    "title": "entry.title",
    "chapter": "entry.chunk.place.chapter",
    "section": "entry.chunk.place.section",
    "page": _PAGE,
    "page_label": _LABEL,
    "slide": "entry.chunk.place.slide",
}
"""`RetrievedChunk` of `retrieve_chunks`, from `Found`."""

CONTENT_CHUNK = {"id": "entry.chunk.id", "content": "entry.chunk.text", "similarity_score": "final"}
"""`RetrievedContentChunk`, from `Found`; its `source_metadata` is the `SourceReference` below."""

CHUNK_SOURCE = {"url": _URL, "section": _SECTION, "page": f"{_LABEL} or {_PAGE}", "title": "entry.title"}
"""`SourceReference` of a chunk, from `Found`; the page is text."""

CITED_SOURCE = {
    "url": "source_url or file_id",
    "section": "place.section or place.chapter",
    "page": "place.first_page.label or place.first_page.number",
    "title": "title",
}
"""`SourceReference` of an answer, from `Citation`; the page is text."""

QUERY_SCOPE = {"type": "type", "identifier": "identifier", "description": "description"}
"""`QueryScope`, from the engine's `QueryScope`."""

TABLES = {
    "RAG.search result": SEARCH_RESULT,
    "RAG.search result, reranked": RERANKED_RESULT,
    "RAG.answer citation": CITATION,
    "RAG.inspectIndex source": INDEX_SOURCE,
    "search_book_content result": TOOL_RESULT,
    "RetrievedChunk": RETRIEVED_CHUNK,
    "RetrievedContentChunk": CONTENT_CHUNK,
    "SourceReference of a chunk": CHUNK_SOURCE,
    "SourceReference of a citation": CITED_SOURCE,
    "QueryScope": QUERY_SCOPE,
}


def view(record: Any, table: Mapping[str, str]) -> dict[str, Any]:
    """A record under a contract's names."""
    return {name: _first(record, paths) for name, paths in table.items()}


def _first(record: Any, paths: str) -> Any:
    found = (_follow(record, path) for path in paths.split(" or "))
    return next((value for value in found if value is not None), None)


def _follow(record: Any, path: str) -> Any:
    for name in path.split("."):
        if record is None:
            return None
        record = getattr(record, name)
    return record
