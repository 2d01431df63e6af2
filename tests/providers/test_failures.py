"""Every way in which a provider can fail, for every provider, over real HTTP; and no key in any of it."""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import time
import traceback
from collections.abc import Sequence
from email.utils import formatdate
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from chapterverse.errors import (
    AstRagAuthError,
    AstRagEmbeddingCapabilityError,
    AstRagError,
    AstRagRetrievalError,
    AstRagValidationError,
)
from chapterverse.protocols import Embedded
from chapterverse.providers import Embeddings, Registry, Target
from chapterverse.providers.failures import retry_after
from tests.providers.stand_ins import ALL, FAST, KEY, StandIn, reply, script

every_provider = pytest.mark.parametrize("name", ALL)


def embed(target: Target, retry: Any = FAST) -> Embedded:
    async def run() -> Embedded:
        async with Embeddings(retry=retry) as embeddings:
            try:
                return await embeddings.embed(target, ["one text"], "document")
            finally:
                await target.adapter.close()

    return asyncio.run(run())


def failing(target: Target) -> AstRagError:
    with pytest.raises(AstRagError) as caught:
        embed(target)
    return caught.value


def outcomes(stand_in: StandIn, server: HTTPServer, replies: Sequence[Response]) -> list[tuple[AstRagError, int]]:
    """For each reply, given as often as it is asked for: the error that it becomes, and the requests it took."""
    current: list[Response] = []
    bodies = script(server, stand_in, (current[-1] for _ in itertools.count()))

    async def run() -> list[tuple[AstRagError, int]]:
        found: list[tuple[AstRagError, int]] = []
        target = stand_in.target(server)
        for answer in replies:
            current.append(answer)
            bodies.clear()
            with pytest.raises(AstRagError) as caught:
                await Embeddings(retry=FAST).embed(target, ["one text"], "document")
            found.append((caught.value, len(bodies)))
        await target.adapter.close()
        return found

    return asyncio.run(run())


STATUSES: dict[int, tuple[type[AstRagError], int]] = {
    400: (AstRagEmbeddingCapabilityError, 1),
    401: (AstRagAuthError, 1),
    402: (AstRagAuthError, 1),
    403: (AstRagAuthError, 1),
    404: (AstRagEmbeddingCapabilityError, 1),
    408: (AstRagRetrievalError, 3),
    413: (AstRagEmbeddingCapabilityError, 1),
    422: (AstRagEmbeddingCapabilityError, 1),
    429: (AstRagRetrievalError, 3),
    498: (AstRagAuthError, 1),
    500: (AstRagRetrievalError, 3),
    502: (AstRagRetrievalError, 3),
    503: (AstRagRetrievalError, 3),
    504: (AstRagRetrievalError, 3),
}
"""What each status must become, and after how many requests."""

GARBAGE = ["<html>Welcome to the hotel</html>", "{", "[]", "{}", '{"data": [{"index": 0}]}', '"text"', "null"]


@every_provider
def test_statuses(name: str, httpserver: HTTPServer) -> None:
    stand_in = ALL[name]
    replies = [reply(status, stand_in.error(status, "the reason given")) for status in STATUSES]
    for status, (error, requests) in zip(STATUSES, outcomes(stand_in, httpserver, replies), strict=True):
        kind, expected = STATUSES[status]
        assert (status, type(error), error.retryable) == (status, kind, expected > 1)
        assert (status, requests) == (status, expected)
        assert "the reason given" in error.message
        assert error.details["provider"] == stand_in.provider
        assert error.details["status"] == status
        assert error.cause is not None
        assert error.__cause__ is error.cause


@every_provider
def test_a_refused_key_is_named_with_its_variable_and_the_way_without(name: str, httpserver: HTTPServer) -> None:
    stand_in = ALL[name]
    script(httpserver, stand_in, [reply(401, stand_in.error(401, "no"))])
    target = stand_in.target(httpserver)
    error = failing(target)
    assert target.adapter.capabilities().key_variables[0] in error.message
    assert "`local`" in error.message


@every_provider
def test_trouble_that_passes_is_waited_out(name: str, httpserver: HTTPServer) -> None:
    stand_in = ALL[name]
    replies = [reply(503, stand_in.error(503, "busy")), reply(429, stand_in.error(429, "slow down"))]
    bodies = script(httpserver, stand_in, replies)
    embedded = embed(stand_in.target(httpserver))
    assert embedded.vectors.shape == (1, stand_in.own_dimensions)
    assert len(bodies) == 3


@every_provider
def test_answers_that_are_no_embeddings(name: str, httpserver: HTTPServer) -> None:
    replies = [reply(200, body) for body in GARBAGE]
    for body, (error, requests) in zip(GARBAGE, outcomes(ALL[name], httpserver, replies), strict=True):
        assert (body, type(error), error.retryable, requests) == (body, AstRagRetrievalError, False, 1)


@every_provider
def test_errors_without_json(name: str, httpserver: HTTPServer) -> None:
    stand_in = ALL[name]
    script(httpserver, stand_in, [Response("<h1>Bad gateway</h1>", 502, content_type="text/html") for _ in range(9)])
    error = failing(stand_in.target(httpserver))
    assert type(error) is AstRagRetrievalError
    assert error.details["status"] == 502


@every_provider
def test_refused_connections(name: str, httpserver: HTTPServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    error = failing(ALL[name].target(httpserver, base_url=address))
    assert type(error) is AstRagRetrievalError
    assert error.retryable
    assert error.details["status"] is None
    assert "cannot be reached" in error.message


@every_provider
def test_timeouts(name: str, httpserver: HTTPServer) -> None:
    stand_in = ALL[name]

    def slow(request: Request) -> Response:
        time.sleep(0.4)
        return reply(200, {})

    httpserver.expect_request(stand_in.path, method="POST").respond_with_handler(slow)
    started = time.monotonic()
    error = failing(stand_in.target(httpserver, timeout=0.1))
    assert time.monotonic() - started < 30
    assert type(error) is AstRagRetrievalError
    assert error.retryable
    assert "in time" in error.message


@every_provider
def test_connections_that_break_off(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        async def run() -> AstRagError:
            def hang_up() -> None:
                for _ in range(FAST.attempts):
                    connection, _ = server.accept()
                    connection.recv(100)
                    connection.close()

            closing = asyncio.create_task(asyncio.to_thread(hang_up))
            stand_in = ALL[name]
            options = {**stand_in.options, "base_url": f"http://127.0.0.1:{server.getsockname()[1]}"}
            target = Registry().resolve(stand_in.provider, stand_in.model, auth=stand_in.auth, options=options)
            with pytest.raises(AstRagError) as caught:
                await Embeddings(retry=FAST).embed(target, ["one text"], "document")
            await closing
            await target.adapter.close()
            return caught.value

        error = asyncio.run(run())
    assert type(error) is AstRagRetrievalError
    assert error.retryable


@every_provider
def test_no_key_in_errors_or_logs_even_if_the_provider_echoes_it(
    name: str, httpserver: HTTPServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    stand_in = ALL[name]
    message = f"Incorrect API key provided: {KEY}."
    replies = [reply(status, stand_in.error(status, message)) for status in (400, 401, 500)]
    for error, _ in outcomes(stand_in, httpserver, replies):
        assert "Incorrect API key provided: [key]" in error.message
        for shown in (repr(error), repr(error.details), repr(error.cause), *traceback.format_exception(error)):
            assert KEY not in shown
    target = stand_in.target(httpserver)
    out, err = capfd.readouterr()
    for shown in (repr(target), repr(target.adapter), caplog.text, out, err):
        assert KEY not in shown


@pytest.mark.parametrize("provider", ["cohere", "openai", "gemini", "vertex_gemini", "openrouter", "perplexity"])
def test_a_missing_key_is_found_before_anything_is_sent(provider: str) -> None:
    registry = Registry()
    with pytest.raises(AstRagAuthError) as caught:
        registry.resolve(provider)
    for variable in registry.capabilities(provider).key_variables:
        assert variable in caught.value.message
    assert "`local`" in caught.value.message


def test_a_key_that_gemini_calls_a_bad_request_is_a_refused_key(httpserver: HTTPServer) -> None:
    body = {
        "error": {
            "code": 400,
            "message": "API key not valid.",
            "status": "INVALID_ARGUMENT",
            "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
        }
    }
    script(httpserver, ALL["gemini"], [reply(400, body)])
    assert type(failing(ALL["gemini"].target(httpserver))) is AstRagAuthError


def test_a_spent_quota_is_not_waited_for(httpserver: HTTPServer) -> None:
    body = {
        "error": {"message": "You exceeded your quota.", "type": "insufficient_quota", "code": "insufficient_quota"}
    }
    bodies = script(httpserver, ALL["openai"], [reply(429, body) for _ in range(9)])
    error = failing(ALL["openai"].target(httpserver))
    assert type(error) is AstRagRetrievalError
    assert not error.retryable
    assert len(bodies) == 1


def test_vertex_without_credentials_says_so(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
    stand_in = StandIn(**{**vars(ALL["vertex"]), "auth": None})
    error = failing(stand_in.target(httpserver))
    assert type(error) is AstRagAuthError
    assert "gcloud auth" in error.message


class TestRetryAfter:
    """The provider's wish is obeyed, within reason."""

    @pytest.mark.parametrize("name", ["cohere", "openai", "gemini", "vertex"])
    def test_it_is_waited_for(self, name: str, httpserver: HTTPServer) -> None:
        stand_in = ALL[name]
        script(httpserver, stand_in, [reply(429, stand_in.error(429, "slow"), {"Retry-After": "1"})])
        started = time.monotonic()
        embed(stand_in.target(httpserver))
        assert 1.0 <= time.monotonic() - started < 30

    def test_gemini_says_it_in_the_body(self, httpserver: HTTPServer) -> None:
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.7s"}
        body = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED", "details": [info]}}
        script(httpserver, ALL["gemini"], [reply(429, body)])
        started = time.monotonic()
        embed(ALL["gemini"].target(httpserver))
        assert 0.7 <= time.monotonic() - started < 30

    def test_too_long_a_wait_is_an_error_at_once(self, httpserver: HTTPServer) -> None:
        refusal = reply(429, ALL["openai"].error(429, "come back tomorrow"), {"Retry-After": "86400"})
        bodies = script(httpserver, ALL["openai"], [refusal])
        error = failing(ALL["openai"].target(httpserver))
        assert error.retryable
        assert error.details["retry_after"] == 86400
        assert len(bodies) == 1

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"Retry-After": "7"}, 7.0),
            ({"retry-after": "0"}, 0.0),
            ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
            ({"Retry-After": "soon"}, None),
            ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
            ({"Retry-After": "9" * 400}, None),
            ({"retry-after-ms": "9" * 400}, None),
            ({"Retry-After": "Wed, 21 Oct 99999 07:28:00 GMT"}, None),
            ({}, None),
            (None, None),
        ],
    )
    def test_its_forms(self, headers: dict[str, str] | None, seconds: float | None) -> None:
        assert retry_after(headers) == seconds

    def test_as_a_date(self) -> None:
        waits = retry_after({"Retry-After": formatdate(time.time() + 30, usegmt=True)})
        assert waits is not None
        assert 28 <= waits <= 30


@pytest.mark.parametrize(
    "options",
    [{"baseUrl": "ftp://x"}, {"timeout": 0}, {"timeout": "long"}, {"timeout": True}, {"dimensions": 0}, {"color": 1}],
)
def test_invalid_options(options: dict[str, Any]) -> None:
    with pytest.raises(AstRagValidationError):
        Registry().resolve("openai", auth=KEY, options=options)


def test_a_missing_sdk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(AstRagEmbeddingCapabilityError, match=r"pip install 'chapterverse\[cohere\]'"):
        Registry().resolve("cohere", auth=KEY)
