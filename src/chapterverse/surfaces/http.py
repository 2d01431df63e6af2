"""The service: `POST /ask` and what belongs to it. An application factory that takes a library; no globals."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from chapterverse import __version__
from chapterverse.answer.prompts import EMPTY_QUESTION, SEARCH_FAILED
from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.scope import QueryScope
from chapterverse.contracts.ask import AskRequest, answered
from chapterverse.contracts.errors_map import http_status
from chapterverse.errors import AstRagError, AstRagRetrievalError, AstRagValidationError
from chapterverse.library import AsyncLibrary
from chapterverse.types import Filter

_UNAVAILABLE = 503


def create_app(library: AsyncLibrary) -> FastAPI:
    """The application; it closes the library when it ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await library.warm_up()
        yield
        await library.close()

    app = FastAPI(title="Chapterverse", version=__version__, lifespan=lifespan)
    app.state.library = library
    app.add_exception_handler(AstRagError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, _on_surprise)

    @app.middleware("http")
    async def name_request(request: Request, call_next: Any) -> Any:
        request.state.id = uuid.uuid4().hex
        response = await call_next(request)
        response.headers["X-Request-Id"] = request.state.id
        return response

    @app.post("/ask")
    async def ask(body: AskRequest, request: Request) -> dict[str, Any]:
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
        return answered(answer, request.state.id)

    @app.get("/indexes")
    async def indexes() -> list[dict[str, Any]]:
        """The indexes that can be asked."""
        return [
            {"index": one.id, "name": one.name, "updated_at": one.updated_at, "embedding": asdict(one.embedding)}
            for one in await library.indexes()
        ]

    @app.get("/health")
    async def health() -> dict[str, Any]:
        """Whether the store answers."""
        return {"status": "ok", "version": __version__, "indexes": len(await library.indexes())}

    return app


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


def _error(request: Request, status: int, error: str, detail: str) -> JSONResponse:
    """One shape for every error; never a stack trace, a key or a path."""
    body = {"error": error, "detail": detail, "request_id": getattr(request.state, "id", "")}
    return JSONResponse(body, status_code=status)


async def _on_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AstRagError)
    status = http_status(error)
    detail = SEARCH_FAILED if status == _UNAVAILABLE and isinstance(error, AstRagRetrievalError) else error.message
    response = _error(request, status, type(error).__name__, detail)
    if error.retryable:
        response.headers["Retry-After"] = str(error.details.get("retry_after", 1))
    return response


async def _on_bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"] if part != "body")
    if field == "question" and first["type"] == "missing":
        return _error(request, 400, AstRagValidationError.__name__, EMPTY_QUESTION)
    return _error(request, 400, AstRagValidationError.__name__, f"{field or 'The body'}: {first['msg']}.")


async def _on_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _error(request, error.status_code, "HTTPException", str(error.detail))


async def _on_surprise(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 - it must not leak
    return _error(request, 500, "InternalError", "Something went wrong here. Please try again later.")
