"""What `/openapi.json` says beyond the routes themselves: for `/ask`, a real answer of each kind, and each error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from chapterverse.answer.prompts import EMPTY_QUESTION, SEARCH_FAILED
from chapterverse.contracts.ask import AskResponse, ErrorBody

ANSWERS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))
"""Asked of the sample book: `summary`, `request` and `response`."""

_ERRORS = {
    400: ("The request is wrong.", "InvalidQueryError", EMPTY_QUESTION),
    401: ("The service's key is missing or wrong.", "Unauthorized", "Send the service's key, as `Authorization: …`."),
    404: ("There is no such index.", "AstRagIndexError", "There is no index 'nowhere'. There are: clocks."),
    413: ("The body is too large.", "TooLarge", "The body is larger than the 1,000,000 bytes that are taken here."),
    429: ("The model's provider wants a pause.", "GenerationError", "OpenAI: too many requests. Try again in 7 s."),
    502: ("The model failed.", "GenerationError", "OpenAI failed (status 500). Try again later."),
    503: ("The store cannot be reached.", "StoreUnreachableError", SEARCH_FAILED),
    504: (
        "Time ran out.",
        "GenerationError",
        "There was no answer before the deadline of 5 s. Try again, or allow more time with CHAPTERVERSE_DEADLINE.",
    ),
}
ASK: dict[int | str, dict[str, Any]] = {
    200: {
        "model": AskResponse,
        "description": "An answer with its citations, or a refusal.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "string", "description": "Events `stage`, `sentence`, and last `answer` or `error`."}
            },
        },
    },
    **{status: {"model": ErrorBody, "description": said[0]} for status, said in _ERRORS.items()},
}
"""The responses of `/ask`; their examples are added by `describe`."""


def describe(app: FastAPI) -> dict[str, Any]:
    """The description of the API."""
    if app.openapi_schema is None:
        schema = FastAPI.openapi(app)
        for path in schema["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)  # what FastAPI would say; we answer 400 in our own shape
        for name in ("HTTPValidationError", "ValidationError"):
            schema["components"]["schemas"].pop(name, None)
        _add_examples(schema["paths"]["/ask"]["post"])
    assert app.openapi_schema is not None
    return app.openapi_schema


def _add_examples(ask: dict[str, Any]) -> None:
    # Not through the route's own arguments: FastAPI leaves out what is null.
    given, said = ask["requestBody"]["content"]["application/json"], ask["responses"]
    given["examples"] = {name: {"summary": one["summary"], "value": one["request"]} for name, one in ANSWERS.items()}
    said["200"]["content"]["application/json"]["examples"] = {
        name: {"summary": one["summary"], "value": one["response"]} for name, one in ANSWERS.items()
    }
    request_id = ANSWERS["ok"]["response"]["request_id"]
    for status, (_, error, detail) in _ERRORS.items():
        body = {"error": error, "detail": detail, "request_id": request_id}
        said[str(status)]["content"]["application/json"]["example"] = body
