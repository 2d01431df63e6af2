"""`validate_retrieval`: whether what was retrieved holds the answer, as one dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chapterverse.answer import validate
from chapterverse.contracts.models import RetrievedChunk, RetrievedContentChunk
from chapterverse.contracts.shelves import default_library
from chapterverse.errors import AstRagValidationError
from chapterverse.ingest.sentences import split
from chapterverse.library import Library
from chapterverse.library.parts import validation_for
from chapterverse.library.terms import check_question

Retrieved = Mapping[str, Any] | RetrievedChunk | RetrievedContentChunk
_IDS, _TEXTS = ("chunk_id", "chunkId", "id"), ("text", "content")


def validate_retrieval(
    query: str,
    chunks: Sequence[Retrieved],
    relevance_threshold: float | None = None,
    *,
    library: Library | None = None,
) -> dict[str, Any]:
    """Which chunks are relevant, whether one of them holds the answer, and the sentences that say so.

    The chunks are what any of the contracts' searches returns. When an answer counts as present is what the reader was
    calibrated for.
    """
    check_question(query)
    if isinstance(chunks, str) or not isinstance(chunks, Sequence):
        raise AstRagValidationError("chunks must be a list of what a search returned.")
    excerpts = [_excerpt(chunk) for chunk in chunks]
    reader = (library or default_library()).reader
    verdict = validate.validate_retrieval(
        query, excerpts, relevance_threshold, reader=reader, sentences=split, settings=validation_for(reader)
    )
    return verdict.as_dict()


def _excerpt(chunk: Any) -> validate.Excerpt:
    fields = chunk.model_dump() if isinstance(chunk, RetrievedChunk | RetrievedContentChunk) else chunk
    if isinstance(fields, Mapping):
        key, text = (next((fields[name] for name in names if name in fields), None) for names in (_IDS, _TEXTS))
        if isinstance(key, str) and isinstance(text, str) and text.strip():
            return validate.Excerpt(key, text)
    raise AstRagValidationError("Each chunk needs an id and a `text` that is not blank.")
