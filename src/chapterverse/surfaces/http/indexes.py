"""`/indexes`: what can be asked; built, brought into step with its sources, looked at and deleted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from chapterverse.contracts import operations
from chapterverse.contracts.requests import BuildRequest, InspectRequest, SyncRequest
from chapterverse.surfaces.http import policy
from chapterverse.surfaces.http.bodies import OnceRoute
from chapterverse.surfaces.http.dependencies import ADDRESS_READ, WRITING, TheConfiguration, TheLibrary, TheService
from chapterverse.surfaces.http.events import Report, as_events, unless_ending, wants_events, while_connected
from chapterverse.surfaces.http.openapi import ASKING, READING, errors, events

router = APIRouter(prefix="/indexes", tags=["indexes"], dependencies=[ADDRESS_READ], route_class=OnceRoute)

Body = dict[str, Any]
_CREATED, _OK = 201, 200
_TOLD = "Events `progress`, and last `result` or `error`."
_BUILDING, _SYNCING = {**events(_TOLD, _CREATED), **ASKING}, {**events(_TOLD), **ASKING}


@router.get("", responses=errors(400, 503))
async def indexes(library: TheLibrary) -> list[Body]:
    """The indexes that can be asked."""
    return [
        {"index": one.id, "name": one.name, "updated_at": one.updated_at, "embedding": asdict(one.embedding)}
        for one in await library.indexes()
    ]


@router.post("", status_code=_CREATED, response_model=None, dependencies=[WRITING], responses=_BUILDING)
async def build(
    body: BuildRequest, request: Request, library: TheLibrary, service: TheService, configuration: TheConfiguration
) -> Response:
    """Build an index from a source that may be read; with `index.indexFileId`, in place of that one.

    With `Accept: text/event-stream` it is told how far it has come: `progress`, and last the `result` or an `error`.
    Nothing is left behind when the client goes away before the end.
    """
    policy.check_build(body, service, library)
    return await _done(
        request, lambda progress: operations.build(library, body, configuration, **_hooks(progress)), _CREATED
    )


@router.post("/{index}/sync", response_model=None, dependencies=[WRITING], responses=_SYNCING)
async def sync(
    index: str,
    body: SyncRequest,
    request: Request,
    library: TheLibrary,
    service: TheService,
    configuration: TheConfiguration,
) -> Response:
    """Bring an index into step with its sources, told like a build; with `dryRun` only say what that would do."""
    policy.check_sync(body, service, library)
    asked = body.model_copy(update={"index_file_id": index})
    return await _done(
        request, lambda progress: operations.sync(library, asked, configuration, **_hooks(progress)), _OK
    )


@router.get("/{index}", responses=READING)
async def inspect(index: str, library: TheLibrary, configuration: TheConfiguration) -> Body:
    """What an index says of itself, and how much it holds."""
    return await operations.inspect(library, InspectRequest(index_file_id=index), configuration)


@router.delete("/{index}", dependencies=[WRITING], responses=READING)
async def delete(index: str, library: TheLibrary) -> Body:
    """Delete an index."""
    return {"index": await library.remove(index)}


async def _done(request: Request, work: Callable[[Report], Coroutine[Any, Any, Body]], status: int) -> Response:
    """The result of long work, with or without news of it on the way."""
    if wants_events(request):
        return await as_events(request, work)
    return JSONResponse(await while_connected(request, unless_ending(request, work(lambda _: None))), status)


def _hooks(report: Report) -> dict[str, Any]:
    """What is told on the way: the files and chunks that are done."""
    files = 0

    def on_file(file_id: str) -> None:
        nonlocal files
        files += 1
        report({"stage": "files", "done": files, "file": file_id})

    def on_chunks(chunks: int) -> None:
        report({"stage": "chunks", "done": chunks})

    return {"on_file": on_file, "on_chunks": on_chunks}
