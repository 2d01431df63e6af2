"""`/v1/chat/completions` and `/v1/models`: the books for clients of OpenAI's API. Each index is a model."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse

from chapterverse.contracts.chat import ChatRequest, Completion, openai_model
from chapterverse.surfaces.http.bodies import OnceRoute
from chapterverse.surfaces.http.dependencies import WARM, RequestId, TheLibrary, TheService
from chapterverse.surfaces.http.errors import response_to
from chapterverse.surfaces.http.events import MEDIA_TYPE, begun, while_connected
from chapterverse.surfaces.http.openapi import ASKING, READING, errors
from chapterverse.surfaces.http.openapi import events as told_as
from chapterverse.surfaces.http.policy import generation
from chapterverse.types import Answer, AnswerEvent, Citation, Spoken

router = APIRouter(prefix="/v1", tags=["OpenAI"], route_class=OnceRoute)

Body = dict[str, Any]
_RESPONSES = {**told_as("With `stream`: chunks, and last `[DONE]`."), **ASKING}


@router.get("/models", responses=errors(503))
async def models(library: TheLibrary) -> Body:
    """The indexes, each as a model."""
    return {"object": "list", "data": [openai_model(record) for record in await library.indexes()]}


@router.get("/models/{model}", responses=READING)
async def model(model: str, library: TheLibrary) -> Body:
    """One index as a model."""
    return openai_model(await library.record(model))


@router.post("/chat/completions", response_model=None, dependencies=[WARM], responses=_RESPONSES)
async def complete(
    body: ChatRequest,
    request: Request,
    library: TheLibrary,
    service: TheService,
    request_id: RequestId,
) -> Body | Response:
    """Answer the last message from the index that `model` names.

    Earlier messages may say what the question leans on, and are never evidence. System messages are not followed.
    """
    body.check()
    record = await library.record(body.model)
    writing = replace(generation(service), **body.limits)
    options: Body = {"index": record.id, "history": body.history, "generation": writing}

    def link(citation: Citation) -> str:
        place = {"index": record.id, "file": citation.file_id, "at": f"{citation.start}-{citation.end}"}
        return f"{request.base_url}#{urlencode(place)}"

    completion = Completion(request_id, record.id, int(time.time()), link)
    if not body.stream:
        answer = await while_connected(request, library.ask(body.question, **options))
        return completion.whole(answer)
    events = await begun(library.stream(body.question, **options))
    usage = body.stream_options is not None and body.stream_options.include_usage
    chunks = _chunks(events, completion, usage)
    return StreamingResponse(_written(request, chunks), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})


async def _chunks(events: AsyncGenerator[AnswerEvent], completion: Completion, usage: bool) -> AsyncGenerator[Body]:
    """An answer chunk by chunk: a sentence each, as soon as it has passed the gate."""
    async with aclosing(events):
        yield completion.opening()
        async for event in events:
            if isinstance(event, Spoken):
                yield completion.sentence(event.sentence)
            elif isinstance(event, Answer):
                for chunk in completion.ending(event):
                    yield chunk
                if usage:
                    yield completion.usage(event)


async def _written(request: Request, chunks: AsyncGenerator[Body]) -> AsyncIterator[str]:
    """Chunks as OpenAI sends them; an error is the last of them."""
    async with aclosing(chunks):
        try:
            async for chunk in chunks:
                yield f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"
            yield "data: [DONE]\n\n"
        except Exception as error:
            yield f"data: {bytes(response_to(request.scope, error).body).decode()}\n\n"
