"""Servers that answer as each provider does: its address, its way to be let in, its bodies, its errors."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema
import numpy as np
import numpy.typing as npt
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from chapterverse.providers import Registry, RetryPolicy, Target
from tests.providers import published

KEY = "sk-test-0123456789abcdef"
FAST = RetryPolicy(attempts=3, wait_initial=0.001, wait_max=0.002, wait_jitter=0.0)

Body = dict[str, Any]
Floats = npt.NDArray[np.float32]


def vector(text: str, dimensions: int) -> Floats:
    """The vector that every stand-in gives to a text; not of unit length."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])
    return np.random.default_rng(seed).integers(-100, 100, dimensions).astype(np.float32) + 1


def unit(text: str, dimensions: int) -> Floats:
    raw = vector(text, dimensions)
    return raw / np.linalg.norm(raw)


@dataclass(frozen=True)
class StandIn:
    """One provider, as its documentation describes it; `schema` is of the requests that it takes."""

    provider: str
    path: str
    texts: Callable[[Body], list[str]]
    answer: Callable[[list[Floats]], Body]
    dimensions_of: Callable[[Body], int | None]
    schema: Body
    key_header: tuple[str, str]
    own_dimensions: int
    base_path: str = ""
    error: Callable[[int, str], Any] = lambda status, message: {"message": message}
    prefixes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    auth: Any = KEY
    model: str | None = None

    def target(self, server: HTTPServer, **options: Any) -> Target:
        options = {"base_url": server.url_for("").rstrip("/") + self.base_path, **self.options, **options}
        return Registry().resolve(self.provider, self.model, auth=self.auth, options=options)

    def serve(self, server: HTTPServer) -> list[Body]:
        """Answer every request that is as it should be; the bodies of all requests, as they come."""
        bodies: list[Body] = []

        def handle(request: Request) -> Response:
            body = json.loads(request.data)
            bodies.append(body)
            header, value = self.key_header
            if request.headers.get(header) != value:
                return reply(401, self.error(401, "who are you?"))
            jsonschema.validate(body, self.schema)
            dimensions = self.dimensions_of(body) or self.own_dimensions
            texts = [self.bare(text) for text in self.texts(body)]
            return reply(200, self.answer([vector(text, dimensions) for text in texts]))

        server.expect_request(re.compile(re.escape(self.path)), method="POST").respond_with_handler(handle)
        return bodies

    def bare(self, text: str) -> str:
        return next((text.removeprefix(prefix) for prefix in self.prefixes if text.startswith(prefix)), text)


def reply(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Response:
    data = body if isinstance(body, str) else json.dumps(body)
    return Response(data, status, headers, content_type="application/json")


def script(server: HTTPServer, stand_in: StandIn, replies: Iterable[Response | None]) -> list[Body]:
    """Give these replies in turn, and then (or where one is None) the right answer; the bodies, as they come."""
    waiting = iter(replies)
    bodies: list[Body] = []
    turn = threading.Lock()

    def handle(request: Request) -> Response:
        body = json.loads(request.data)
        with turn:  # or the reply to the third would go to whoever came while the third was written down
            bodies.append(body)
            scripted = next(waiting, None)
        if scripted is not None:
            return scripted
        dimensions = stand_in.dimensions_of(body) or stand_in.own_dimensions
        return reply(200, stand_in.answer([vector(stand_in.bare(text), dimensions) for text in stand_in.texts(body)]))

    server.expect_request(re.compile(re.escape(stand_in.path)), method="POST").respond_with_handler(handle)
    return bodies


COHERE = StandIn(
    provider="cohere",
    path="/v2/embed",
    texts=lambda body: body["texts"],
    answer=lambda vectors: {
        "id": "1",
        "response_type": "embeddings_by_type",
        "embeddings": {"float": [one.tolist() for one in vectors]},
        "texts": [],
        "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 7 * len(vectors)}},
    },
    dimensions_of=lambda body: body.get("output_dimension"),
    schema=published.COHERE,
    key_header=("Authorization", f"Bearer {KEY}"),
    own_dimensions=1536,
)


def _openai_answer(encode: Callable[[Floats], Any], usage: Body) -> Callable[[list[Floats]], Body]:
    def answer(vectors: list[Floats]) -> Body:
        data = [{"object": "embedding", "index": i, "embedding": encode(one)} for i, one in enumerate(vectors)]
        # The protocol numbers its vectors; nobody promises that they come in order.
        return {"object": "list", "model": "m", "data": data[::-1], "usage": usage}

    return answer


def _openai_error(status: int, message: str) -> Body:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


OPENAI = StandIn(
    provider="openai",
    path="/v1/embeddings",
    base_path="/v1",
    texts=lambda body: body["input"],
    answer=_openai_answer(
        lambda one: base64.b64encode(one.astype("<f4").tobytes()).decode(), {"prompt_tokens": 9, "total_tokens": 9}
    ),
    dimensions_of=lambda body: body.get("dimensions"),
    schema=published.OPENAI,
    key_header=("Authorization", f"Bearer {KEY}"),
    own_dimensions=1536,
    error=_openai_error,
)
OPENROUTER = StandIn(
    provider="openrouter",
    path="/api/v1/embeddings",
    base_path="/api/v1",
    texts=lambda body: body["input"],
    answer=_openai_answer(lambda one: one.tolist(), {"prompt_tokens": 9, "total_tokens": 9, "cost": 0.5}),
    dimensions_of=lambda body: body.get("dimensions"),
    schema=published.OPENROUTER,
    key_header=("Authorization", f"Bearer {KEY}"),
    own_dimensions=1536,
    error=lambda status, message: {"error": {"code": status, "message": message}},
)
PERPLEXITY = StandIn(
    provider="perplexity",
    path="/v1/embeddings",
    base_path="/v1",
    texts=lambda body: body["input"],
    answer=_openai_answer(
        lambda one: base64.b64encode(one.astype(np.int8).tobytes()).decode(),
        {
            "prompt_tokens": 9,
            "total_tokens": 9,
            "cost": {"input_cost": 0.25, "total_cost": 0.25, "currency": "USD"},
        },
    ),
    dimensions_of=lambda body: body.get("dimensions"),
    schema=published.PERPLEXITY,
    key_header=("Authorization", f"Bearer {KEY}"),
    own_dimensions=1024,
    error=_openai_error,
)


def _google_error(status: int, message: str) -> Body:
    return {"error": {"code": status, "message": message, "status": "FAILED"}}


_GOOGLE_PREFIXES = ("title: none | text: ", "task: search result | query: ")


def _gemini(model: str) -> StandIn:
    return StandIn(
        provider="gemini",
        model=model,
        path=f"/v1/models/{model}:batchEmbedContents",
        texts=lambda body: [one["content"]["parts"][0]["text"] for one in body["requests"]],
        answer=lambda vectors: {"embeddings": [{"values": one.tolist()} for one in vectors]},
        dimensions_of=lambda body: body["requests"][0].get("outputDimensionality"),
        schema=published.GEMINI,
        key_header=("x-goog-api-key", KEY),
        own_dimensions=3072,
        error=_google_error,
        prefixes=_GOOGLE_PREFIXES,
    )


GEMINI = _gemini("gemini-embedding-001")
GEMINI_2 = _gemini("gemini-embedding-2")

_VERTEX_HOME = "/v1beta1/projects/books/locations/europe-west4/publishers/google/models"
_VERTEX_WAY_IN: Body = {
    "auth": {"accessToken": KEY},
    "options": {"project": "books", "location": "europe-west4"},
    "key_header": ("Authorization", f"Bearer {KEY}"),
}
VERTEX = StandIn(
    provider="vertex_gemini",
    model="gemini-embedding-001",
    path=f"{_VERTEX_HOME}/gemini-embedding-001:predict",
    texts=lambda body: [one["content"] for one in body["instances"]],
    answer=lambda vectors: {
        "predictions": [
            {"embeddings": {"values": one.tolist(), "statistics": {"token_count": 5, "truncated": False}}}
            for one in vectors
        ]
    },
    dimensions_of=lambda body: body.get("parameters", {}).get("outputDimensionality"),
    schema=published.VERTEX,
    own_dimensions=3072,
    error=_google_error,
    **_VERTEX_WAY_IN,
)
VERTEX_2 = StandIn(
    provider="vertex_gemini",
    model="gemini-embedding-2",
    path=f"{_VERTEX_HOME}/gemini-embedding-2:embedContent",
    texts=lambda body: [body["content"]["parts"][0]["text"]],
    answer=lambda vectors: {
        "embedding": {"values": vectors[0].tolist()},
        "usageMetadata": {"promptTokenCount": 5},
        "truncated": False,
    },
    dimensions_of=lambda body: body["embedContentConfig"].get("outputDimensionality"),
    schema=published.VERTEX_CONTENT,
    own_dimensions=3072,
    error=_google_error,
    prefixes=_GOOGLE_PREFIXES,
    **_VERTEX_WAY_IN,
)

ALL = {
    "cohere": COHERE,
    "openai": OPENAI,
    "openrouter": OPENROUTER,
    "perplexity": PERPLEXITY,
    "gemini": GEMINI,
    "gemini-2": GEMINI_2,
    "vertex": VERTEX,
    "vertex-2": VERTEX_2,
}
