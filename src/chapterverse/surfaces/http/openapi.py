"""What `/openapi.json` says beyond the routes themselves: each error, the key, and real answers of `/ask`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from chapterverse.answer.prompts import EMPTY_QUESTION, SEARCH_FAILED
from chapterverse.contracts.ask import AskResponse, ErrorBody
from chapterverse.contracts.chat import ChatErrorBody, openai_error
from chapterverse.surfaces.http.guard import FOREIGN, PROBES

ANSWERS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
"""Asked of the sample book: `summary`, `request` and `response`."""

_ERRORS = {
    400: ("The request is wrong.", "InvalidQueryError", EMPTY_QUESTION),
    401: ("The service's key is missing or wrong.", "Unauthorized", "Send the service's key, as `Authorization: …`."),
    403: ("Pages of this site may not ask, or indexes cannot be changed here.", "Forbidden", FOREIGN),
    404: ("There is no such index.", "AstRagIndexError", "There is no index 'nowhere'. There are: clocks."),
    409: ("The index is in use, empty, or there already.", "AstRagIndexError", "There is an index 'clocks' already."),
    413: ("The body is too large.", "TooLarge", "The body is larger than the 1,000,000 bytes that are taken here."),
    421: ("The service is not known by this name.", "MisdirectedRequest", "This service is not known by the name …"),
    422: ("The file cannot be read.", "UnreadableFileError", "bells.pdf is damaged, or no such file at all."),
    429: ("A provider wants a pause.", "GenerationError", "OpenAI: too many requests. Try again in 7 s."),
    500: ("Something went wrong.", "InternalError", "Something went wrong here. Please try again later."),
    502: ("The model or a source failed.", "GenerationError", "OpenAI failed (status 500). Try again later."),
    503: ("The store cannot be reached.", "StoreUnreachableError", SEARCH_FAILED),
    504: (
        "Time ran out.",
        "GenerationError",
        "There was no answer before the deadline of 5 s. Try again, or allow more time with CHAPTERVERSE_DEADLINE.",
    ),
}
_ANYWHERE, _GUARDED = (403, 413, 500), (401, 421)
"""What the layers answer with on any path, and on those that are not for probes."""
_KEY, _NOT_READY = "key", 503

Responses = dict[int | str, dict[str, Any]]


def errors(*statuses: int) -> Responses:
    """Errors of a route, beside those of the layers; `describe` adds what they look like."""
    return {status: {"description": _ERRORS[status][0]} for status in statuses}


def events(told: str, status: int = 200) -> Responses:
    """What is answered with `Accept: text/event-stream`."""
    return {status: {"content": {"text/event-stream": {"schema": {"type": "string", "description": told}}}}}


ASKING = errors(400, 404, 409, 429, 502, 503, 504)
"""Errors of routes that search, build or answer."""
READING = errors(400, 404, 409, 503)
"""Errors of routes that only look up what an index holds."""
_ANSWERED = events("Events `stage`, `sentence`, and last `answer` or `error`.")[200]
ASK: Responses = {
    200: {"model": AskResponse, "description": "An answer with its citations, or a refusal.", **_ANSWERED},
    **ASKING,
}
"""The responses of `/ask`; their examples are added by `describe`."""


def describe(app: FastAPI) -> dict[str, Any]:
    """The description of the API."""
    if app.openapi_schema is None:
        schema = FastAPI.openapi(app)
        shapes = schema["components"]["schemas"]
        for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own, which are answered in our shape
            shapes.pop(name, None)
        for model in (ErrorBody, ChatErrorBody):
            described = model.model_json_schema(ref_template="#/components/schemas/{model}")
            shapes.update(described.pop("$defs", {}), **{model.__name__: described})
        about = "Where the service has one: CHAPTERVERSE_API_KEY."
        schema["components"]["securitySchemes"] = {_KEY: {"type": "http", "scheme": "bearer", "description": about}}
        needed: list[dict[str, list[str]]] = [{_KEY: []}] if app.state.service.api_key else [{_KEY: []}, {}]
        for path, operations in schema["paths"].items():
            for operation in operations.values():
                _add_errors(path, operation["responses"])
                operation["security"] = [] if path in PROBES else needed
        _add_examples(schema["paths"]["/ask"]["post"])
    assert app.openapi_schema is not None
    return app.openapi_schema


def _add_errors(path: str, responses: dict[str, Any]) -> None:
    if "content" in responses.get("422", {}):  # so FastAPI describes it; we answer 400 in our own shape
        del responses["422"]
    for status in (*_ANYWHERE, *(() if path in PROBES else _GUARDED)):
        responses.setdefault(str(status), {"description": _ERRORS[status][0]})
    for status, (_, name, detail) in _ERRORS.items():
        if (response := responses.get(str(status))) is None or (path in PROBES and status == _NOT_READY):
            continue
        chat = path.startswith("/v1/")
        shape = (ChatErrorBody if chat else ErrorBody).__name__
        body = {"error": name, "detail": detail, "request_id": ANSWERS["ok"]["response"]["request_id"]}
        response["content"] = {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{shape}"},
                "example": openai_error(status, name, detail) if chat else body,
            }
        }


def _add_examples(ask: dict[str, Any]) -> None:
    # Not through the route's own arguments: FastAPI leaves out what is null.
    given, said = ask["requestBody"]["content"]["application/json"], ask["responses"]
    given["examples"] = {name: {"summary": one["summary"], "value": one["request"]} for name, one in ANSWERS.items()}
    said["200"]["content"]["application/json"]["examples"] = {
        name: {"summary": one["summary"], "value": one["response"]} for name, one in ANSWERS.items()
    }
