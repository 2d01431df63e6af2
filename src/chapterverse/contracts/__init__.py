"""The contracts that others build on: thin views of one library, without logic of their own.

`RAG` takes and returns camelCase dictionaries; `retrieve_chunks` returns typed records; the four functions of `tools`
are what an agent is given; `models` is the data model. `docs/contracts.md` lists every field.
"""

from chapterverse.contracts.errors_map import http_status
from chapterverse.contracts.models import (
    AgentResponse,
    QueryScope,
    RetrievedChunk,
    RetrievedContentChunk,
    SourceReference,
)
from chapterverse.contracts.rag import RAG
from chapterverse.contracts.retrieval import retrieve_chunks, retrieve_content
from chapterverse.contracts.shelves import Shelves
from chapterverse.contracts.tools import format_response, generate_response, search_book_content, validate_response
from chapterverse.contracts.validation import validate_retrieval

__all__ = [
    "RAG",
    "AgentResponse",
    "QueryScope",
    "RetrievedChunk",
    "RetrievedContentChunk",
    "Shelves",
    "SourceReference",
    "format_response",
    "generate_response",
    "http_status",
    "retrieve_chunks",
    "retrieve_content",
    "search_book_content",
    "validate_response",
    "validate_retrieval",
]
