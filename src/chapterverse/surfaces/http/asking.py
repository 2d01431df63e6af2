"""`POST /ask`, `/search` and `/answer`: questions, and what the books have to say to them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response

from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.scope import QueryScope
from chapterverse.contracts import operations
from chapterverse.contracts.ask import AskRequest, answered, spoken
from chapterverse.contracts.requests import AnswerRequest, SearchRequest
from chapterverse.library import AsyncLibrary
from chapterverse.settings import ServiceSettings
from chapterverse.surfaces.http import policy
from chapterverse.surfaces.http.bodies import OnceRoute
from chapterverse.surfaces.http.dependencies import (
    ADDRESS_READ,
    WARM,
    RequestId,
    TheConfiguration,
    TheLibrary,
    TheService,
)
from chapterverse.surfaces.http.events import Event, EventStream, begun, wants_events, while_connected
from chapterverse.surfaces.http.openapi import ASK, ASKING
from chapterverse.types import Answer, AnswerEvent, Filter, Spoken, Stage

router = APIRouter(tags=["asking"], dependencies=[WARM, ADDRESS_READ], route_class=OnceRoute)

Body = dict[str, Any]


@router.post("/ask", response_model=None, responses=ASK)
async def ask(
    body: AskRequest,
    request: Request,
    library: TheLibrary,
    service: TheService,
    request_id: RequestId,
) -> Body | Response:
    """Answer a question from the book, or from the selected text alone.

    With `Accept: text/event-stream` the answer is told as it comes: `stage`, each `sentence` once it has passed the
    gate, and last the `answer`, or an `error`.
    """
    options = await _options(body, library, service)
    if wants_events(request):
        events = library.stream(body.question, **options)
        return EventStream(request, await begun(_told(events, request_id)))
    answer = await while_connected(request, library.ask(body.question, **options))
    return answered(answer, request_id)


@router.post("/search", responses=ASKING)
async def search(
    body: SearchRequest, request: Request, library: TheLibrary, service: TheService, configuration: TheConfiguration
) -> Body:
    """The chunks of an index that bear on a query, best first."""
    policy.check_query(body)
    return await while_connected(request, operations.search(library, body, configuration, service.deadline))


@router.post("/answer", responses=ASKING)
async def answer(
    body: AnswerRequest, request: Request, library: TheLibrary, service: TheService, configuration: TheConfiguration
) -> Body:
    """An answer with its citations; or that there is too little context for one."""
    policy.check_answer(body, service, library)
    return await while_connected(request, operations.answer(library, body, configuration))


async def _options(body: AskRequest, library: AsyncLibrary, service: ServiceSettings) -> Body:
    """What the library is asked with."""
    searched = body.selected_text is None  # a selection goes before any place in a book, and needs no store
    settings = None
    if body.top_k is not None:
        defaults = (await library.record(body.index)).retrieval_defaults if searched else {}
        settings = Retrieval(**{**defaults, "top_k": body.top_k})
    asked = {"settings": settings, "generation": policy.generation(service)}
    place = {
        "index": body.index,
        "where": _filter(body),
        "scope": QueryScope(body.scope.type, body.scope.identifier, "") if body.scope else None,  # type: ignore[arg-type]
    }
    return {**asked, **(place if searched else {"selection": body.selected_text})}


def _filter(body: AskRequest) -> Filter | None:
    given = body.filters
    if given is None:
        return None
    where = Filter(
        source_urls=(given.source_url,) if given.source_url is not None else None,
        chapters=(given.chapter,) if given.chapter is not None else None,
        sections=(given.section,) if given.section is not None else None,
        file_ids=tuple(given.file_ids) if given.file_ids else None,  # an empty list does not restrict
        read_until=given.read_until,
    )
    return None if where == Filter() else where


async def _told(events: AsyncGenerator[AnswerEvent], request_id: str) -> AsyncGenerator[Event]:
    """The events of an answer as the client gets them."""
    async with aclosing(events):
        async for event in events:
            yield _as_event(event, request_id)


def _as_event(event: AnswerEvent, request_id: str) -> Event:
    match event:
        case Stage():
            return Event("stage", {"stage": event.name})
        case Spoken():
            return Event("sentence", spoken(event))
        case Answer():
            return Event("answer", answered(event, request_id))
