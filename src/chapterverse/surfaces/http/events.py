"""Server-sent events: what is told while the work is still going on. The last event is the result, or the error."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, NamedTuple, TypeVar
from urllib.request import parse_http_list

import anyio
from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from chapterverse.surfaces.http.errors import response_to, service_ending

MEDIA_TYPE = "text/event-stream"
_CLIENT_LEFT = 499
_QUALITY = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?")
_LEAST = 0.001
"""The smallest quality that is not a refusal."""

T = TypeVar("T")
Body = dict[str, Any]
Report = Callable[[Body], None]


class Event(NamedTuple):
    name: str
    data: Body


def wants_events(request: Request) -> bool:
    """Whether the client has asked, by name, to be told as it goes, and does not prefer the result alone."""
    liked = _accepted(",".join(request.headers.getlist("accept")))
    result = liked.get("application/json", liked.get("application/*", liked.get("*/*", 0)))
    return liked.get(MEDIA_TYPE, 0) >= max(result, _LEAST)


def _accepted(accept: str) -> dict[str, float]:
    """How much a client likes each media type that it names, from 0 for not at all to 1."""
    liked = {}
    for entry in parse_http_list(accept):  # unlike `split`, it leaves quoted commas alone
        media_type, *parameters = (part.strip().casefold() for part in entry.split(";"))
        quality = next((value for name, _, value in (one.partition("=") for one in parameters) if name == "q"), "1")
        liked[media_type] = float(quality) if _QUALITY.fullmatch(quality) else 0.0
    return liked


class EventStream(StreamingResponse):
    """Events as they come; an error is the last of them, with the very body that it would have had by itself."""

    media_type = MEDIA_TYPE

    def __init__(self, request: Request, events: AsyncGenerator[Event]) -> None:
        super().__init__(_written(request, events), headers={"X-Accel-Buffering": "no"})


async def _written(request: Request, events: AsyncGenerator[Event]) -> AsyncIterator[bytes]:
    async with aclosing(events):
        try:
            async for event in events:
                yield _line(event.name, json.dumps(event.data, ensure_ascii=False))
        except Exception as error:
            yield _line("error", bytes(response_to(request.scope, error).body).decode())


def _line(name: str, data: str) -> bytes:
    return f"event: {name}\ndata: {data}\n\n".encode()


async def begun(events: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """The same events, of which the first has come: what fails before it is answered with a status of its own."""
    first = await anext(events)

    async def all_of_them() -> AsyncGenerator[T]:
        async with aclosing(events):
            yield first
            async for event in events:
                yield event

    return all_of_them()


async def with_progress(
    work: Callable[[Report], Coroutine[Any, Any, Body]], last: str = "result"
) -> AsyncGenerator[Event]:
    """`progress` for everything that the work reports, then its result; it is cancelled when nobody listens."""
    news: asyncio.Queue[Body | None] = asyncio.Queue()
    task = asyncio.create_task(work(news.put_nowait))
    task.add_done_callback(lambda _: news.put_nowait(None))
    try:
        while (latest := await news.get()) is not None:
            yield Event("progress", latest)
        yield Event(last, task.result())
    finally:
        await _stop(task)


async def as_events(request: Request, work: Callable[[Report], Coroutine[Any, Any, Body]]) -> EventStream:
    """What long work reports, and its result; what fails before there is any news has a status of its own."""
    events = with_progress(lambda report: unless_ending(request, work(report)))
    return EventStream(request, await while_connected(request, begun(events)))


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of work that is cancelled when the client goes away."""
    return await _unless(_left(request), work, HTTPException(_CLIENT_LEFT, "The client went away."))


async def unless_ending(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of long work that is cancelled as soon as the service is told to end.

    A question is answered before the end, but a build may take longer than anybody waits for that.
    """
    ending: asyncio.Event = request.app.state.ending
    return await _unless(ending.wait(), work, service_ending("; nothing was changed"))


async def _unless(event: Coroutine[Any, Any, Any], work: Coroutine[Any, Any, T], error: HTTPException) -> T:
    task, cause = asyncio.create_task(work), asyncio.create_task(event)
    try:
        await asyncio.wait({task, cause}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await _stop(task)
        if task.cancelled():  # else it was past undoing
            raise error
        return task.result()
    finally:
        await _stop(task, cause)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _stop(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    # A client that has left must not interrupt the work again while it cleans up after itself.
    with anyio.CancelScope(shield=True):
        await asyncio.gather(*tasks, return_exceptions=True)
