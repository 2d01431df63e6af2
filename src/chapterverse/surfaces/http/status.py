"""How the service is doing: whether it lives, whether it can answer, and what it has done."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse

from chapterverse import __version__
from chapterverse.errors import AstRagError
from chapterverse.surfaces.http.dependencies import TheLibrary, TheMetrics

router = APIRouter(tags=["status"])

_UNAVAILABLE = 503


@router.get("/health")
async def health() -> dict[str, Any]:
    """The process lives."""
    return {"status": "ok", "version": __version__}


@router.get("/ready", responses={_UNAVAILABLE: {"description": "Not yet, or not at the moment; the same body"}})
async def ready(request: Request, library: TheLibrary) -> JSONResponse:
    """Whether questions can be answered: the models are loaded, and the store answers."""
    models = request.app.state.warm.done() and request.app.state.warm.exception() is None
    try:
        indexes: int | None = len(await library.store.indexes())
    except AstRagError:
        indexes = None
    good = models and indexes is not None
    body = {"status": "ready" if good else "unavailable", "models": models, "store": indexes is not None,
            "indexes": indexes}  # fmt: skip
    return JSONResponse(body, 200 if good else _UNAVAILABLE, None if good else {"Retry-After": "1"})


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(counted: TheMetrics) -> PlainTextResponse:
    """Counters in the text form of Prometheus."""
    return PlainTextResponse(counted.text(), media_type="text/plain; version=0.0.4")
