"""Every error has one shape: `{error, detail, request_id}`; never a stack trace, a key or a path."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from chapterverse.answer.prompts import EMPTY_QUESTION
from chapterverse.contracts.chat import openai_error
from chapterverse.contracts.errors_map import http_status, public_message
from chapterverse.errors import AstRagError, AstRagValidationError, InvalidQueryError

_INVALID, _UNKNOWN, _NOT_ALLOWED, _SURPRISE, _ENDING = 400, 404, 405, 500, 503
_RETRY_AFTER = 1
_NAMES = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "TooLarge",
    421: "MisdirectedRequest",
    499: "ClientLeft",
    500: "InternalError",
    503: "ServiceEnding",
}
"""What errors are called that the library does not know of."""

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_AS_JSON = "Send one JSON object, with the header `Content-Type: application/json`."

log = logging.getLogger("chapterverse.http")


def add_handlers(app: Starlette) -> None:
    """Answer everything that can go wrong in that shape."""
    app.add_exception_handler(AstRagError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_bad_request)
    app.add_exception_handler(HTTPException, _on_http_error)


def error_response(
    scope: Scope, status: int, detail: str, *, error: str | None = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error in the one shape, for whoever answers a request; for OpenAI's clients, in the shape that they expect."""
    name = error or _NAMES.get(status, "HTTPException")
    if scope["path"].startswith("/v1/"):
        return JSONResponse(openai_error(status, name, detail), status_code=status, headers=headers)
    body = {"error": name, "detail": detail, "request_id": scope.get("state", {}).get("id", "")}
    return JSONResponse(body, status_code=status, headers=headers)


def response_to(scope: Scope, error: Exception) -> JSONResponse:
    """The response to anything that was raised; what nobody foresaw is logged, and tells nothing."""
    if isinstance(error, HTTPException):
        return error_response(scope, error.status_code, str(error.detail), headers=error.headers)
    if not isinstance(error, AstRagError):
        log.error("Request %s failed", scope.get("state", {}).get("id", ""), exc_info=error)
        detail = "Something went wrong here. Please try again later."
        return error_response(scope, _SURPRISE, detail)
    status = http_status(error)
    headers = {"Retry-After": _seconds(error.details.get("retry_after"))} if error.retryable else None
    if status >= _SURPRISE:
        log.warning("Request %s: %s: %s", scope.get("state", {}).get("id", ""), type(error).__name__, error.message)
    return error_response(scope, status, public_message(error), error=type(error).__name__, headers=headers)


def service_ending(undone: str = "") -> HTTPException:
    """Why work was broken off; `undone` says what became of it, where that is known."""
    return HTTPException(_ENDING, f"The service is ending{undone}. Try again.", {"Retry-After": str(_RETRY_AFTER)})


def _seconds(given: Any) -> str:
    """As the header has it: whole, and at least one."""
    return str(max(_RETRY_AFTER, math.ceil(given)) if isinstance(given, int | float) else _RETRY_AFTER)


async def _on_error(request: Request, error: Exception) -> JSONResponse:
    return response_to(request.scope, error)


async def _on_bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"] if part != "body")
    if field == "question" and (first["type"] == "missing" or first["input"] is None):
        return response_to(request.scope, InvalidQueryError(EMPTY_QUESTION))
    if first["type"] == "json_invalid":
        at, why = first["loc"][-1], first["ctx"]["error"]
        detail = f"The body is not JSON: {why} at character {at}. Mend it there; the body is one JSON object."
    elif first["loc"] == ("body",) and first["type"] in ("missing", "model_attributes_type"):
        detail = _no_object(error.body)
    else:
        detail = f"{field or 'The body'}: {first['msg'].removeprefix('Value error, ')}."
    return error_response(request.scope, _INVALID, detail, error=AstRagValidationError.__name__)


def _no_object(body: object) -> str:
    """What is wrong with a body that is no object."""
    if isinstance(body, bytes):
        return f"Content-Type: it does not say that the body is JSON, so the body was not read. {_AS_JSON}"
    said = "empty, or null" if body is None else "JSON, but no object"
    return f"The body is {said}. {_AS_JSON} What it may hold is told at /openapi.json."


async def _on_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status, detail, headers = error.status_code, str(error.detail), error.headers
    if status == _INVALID and error.__cause__ is not None:  # so FastAPI tells that it could not read the body
        return error_response(request.scope, status, _unread(error.__cause__), error=AstRagValidationError.__name__)
    if status == _UNKNOWN and detail == HTTPStatus(status).phrase:  # so the router tells that it has no such path
        paths = dict.fromkeys(route.path for route in iter_route_contexts(request.app.routes) if route.path)
        detail = f"There is nothing at this path. There are: {', '.join(paths)}."
    if status == _NOT_ALLOWED:
        allowed = ", ".join(_methods(request))
        detail, headers = f"{request.method} cannot be used on this path. It takes: {allowed}.", {"Allow": allowed}
    return error_response(request.scope, status, detail, headers=headers)


def _unread(why: BaseException) -> str:
    """What is wrong with a body that not even a place in it can be named of."""
    if isinstance(why, AstRagValidationError):
        return why.message
    if isinstance(why, RecursionError):
        return f"The body is nested too deeply to be read. {_AS_JSON}"
    if isinstance(why, UnicodeDecodeError):
        return f"The body is not UTF-8: byte {why.start} cannot be read. Encode it as UTF-8."
    if isinstance(why, ValueError):  # Python stops at some thousands, for more would take it too long
        return f"The body cannot be read: a number in it has too many digits. {_AS_JSON}"
    return f"The body cannot be read. {_AS_JSON}"


def _methods(request: Request) -> list[str]:
    """The methods of a path; the router itself tells those of the first of its routes alone."""

    def takes(method: str) -> bool:
        asked = {**request.scope, "method": "GET" if method == "HEAD" else method}
        return any(route.matches(asked)[0] is Match.FULL for route in request.app.routes)

    return [method for method in METHODS if takes(method)]
