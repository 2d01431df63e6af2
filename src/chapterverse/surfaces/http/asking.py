"""`POST /ask`: a question and its answer."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.scope import QueryScope
from chapterverse.contracts.ask import AskRequest, answered
from chapterverse.surfaces.http.dependencies import RequestId, TheLibrary
from chapterverse.types import Filter

router = APIRouter(tags=["asking"])


@router.post("/ask")
async def ask(body: AskRequest, library: TheLibrary, request_id: RequestId) -> dict[str, Any]:
    """Answer a question from the book, or from the selected text alone."""
    scope = QueryScope(body.scope.type, body.scope.identifier, "") if body.scope else None  # type: ignore[arg-type]
    settings = None
    if body.top_k is not None:
        record = await library.record(body.index)
        settings = Retrieval(**{**record.retrieval_defaults, "top_k": body.top_k})
    answer = await library.ask(
        body.question,
        selection=body.selected_text,
        index=body.index,
        where=_filter(body),
        scope=scope,
        settings=settings,
    )
    return answered(answer, request_id)


def _filter(body: AskRequest) -> Filter | None:
    given = body.filters
    if given is None:
        return None
    return Filter(
        source_urls=(given.source_url,) if given.source_url else None,
        chapters=(given.chapter,) if given.chapter else None,
        sections=(given.section,) if given.section else None,
        file_ids=tuple(given.file_ids) if given.file_ids is not None else None,
        read_until=given.read_until,
    )
