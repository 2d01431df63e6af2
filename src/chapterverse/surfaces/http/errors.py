"""Every error has one shape: `{error, detail, request_id}`."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from chapterverse.answer.prompts import EMPTY_QUESTION, SEARCH_FAILED
from chapterverse.contracts.errors_map import http_status
from chapterverse.errors import AstRagError, AstRagRetrievalError, AstRagValidationError

_UNAVAILABLE = 503


def add_handlers(app: FastAPI) -> None:
    """Answer everything that can go wrong in that shape."""
    app.add_exception_handler(AstRagError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, _on_surprise)


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
