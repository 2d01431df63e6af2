"""Hosted models over real HTTP, through the official client and the agent: each provider, each way to fail."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from chapterverse.answer.agent import SEARCH_TOOL
from chapterverse.answer.models import HostedModel
from chapterverse.errors import AstRagAuthError, AstRagError, AstRagValidationError, GenerationError
from chapterverse.providers.generation import HOSTED, NAMES, HostedModelService, resolve
from chapterverse.types import Passage
from tests.answer.stand_ins import passage, passages
from tests.answer.writing import Drafted, write
from tests.chat_server import ChatServer, Raw, Reply, Said, draft_json, error

KEY = "sk-test-0123456789abcdef"
BELL = "The great bell was cast in 1702."
GOOD = Said(draft_json((BELL, ["S1"], BELL)))
MIDWAY = Raw(200, f"data: {json.dumps(error('The engine ran out of memory.'))}\n\n", content_type="text/event-stream")


def told(*events: Mapping[str, Any] | None) -> Raw:
    """What a service of the new protocol says, event by event."""
    return Raw(200, "".join(f"data: {json.dumps(one)}\n\n" for one in events), content_type="text/event-stream")


def completed(output: Any) -> dict[str, Any]:
    return {"type": "response.completed", "sequence_number": 1, "response": {"id": "r", "output": output}}


CALL = {"type": "function_call", "id": "f", "call_id": "c", "name": SEARCH_TOOL, "arguments": '{"query": "bell"}'}
PAGE = (Path(__file__).parents[2] / "docs" / "generation.md").read_text("utf-8")


def service_of(name: str, **given: Any) -> HostedModelService:
    options = {"project": "a-project"} if name == "vertex_gemini" else {}
    service = resolve(f"{name}:a/model", auth=given.pop("auth", KEY), options={**options, **given})
    assert service is not None
    return service


def ask(service: HostedModelService, *, search: bool = False) -> Drafted:
    async def find(_: str) -> list[Passage]:
        return [passage(5, "The mill burned down in 1811.")]

    async def run() -> Drafted:
        try:
            return await write(
                "When was the great bell cast?",
                passages(BELL),
                model=HostedModel(service),
                search=find if search else None,
            )
        finally:
            await service.close()

    return asyncio.run(run())


@pytest.mark.parametrize("name", HOSTED)
class TestEveryProvider:
    def test_it_drafts_with_its_key_and_model(self, name: str, httpserver: HTTPServer) -> None:
        server = ChatServer(httpserver, [GOOD], key=KEY)
        drafted = ask(service_of(name, base_url=server.base_url))
        assert [one.text for one in drafted.sentences] == [BELL]
        assert (drafted.usage.requests, drafted.usage.input_tokens, drafted.usage.output_tokens) == (1, 100, 20)
        (body,) = server.bodies
        assert body["model"] == "a/model"
        assert body["temperature"] == 0
        assert body.get("store") == (False if name == "openai" else None)
        form = body["text"]["format"] if "text" in body else body["response_format"]["json_schema"]
        assert form["strict"] is True
        assert set(form["schema"]["properties"]) == {"sentences", "absent"}

    def test_it_loops_over_tool_calls_where_it_can(self, name: str, httpserver: HTTPServer) -> None:
        calls = Said(calls=[(SEARCH_TOOL, {"query": "mill"})])
        server = ChatServer(httpserver, [calls, GOOD] if HOSTED[name].tools else [GOOD])
        drafted = ask(service_of(name, base_url=server.base_url), search=True)
        assert drafted.turns == (2 if HOSTED[name].tools else 1)
        assert len(drafted.passages) == drafted.turns
        assert bool(server.bodies[0].get("tools")) == HOSTED[name].tools

    def test_a_refused_key_names_the_provider_and_the_way_without(self, name: str, httpserver: HTTPServer) -> None:
        server = ChatServer(httpserver, [GOOD], key="another key")
        with pytest.raises(AstRagAuthError) as caught:
            ask(service_of(name, base_url=server.base_url))
        assert HOSTED[name].provider.title in str(caught.value)
        assert "`local`" in str(caught.value)
        assert not caught.value.retryable
        assert caught.value.details["status"] == 401

    def test_an_unknown_option_is_refused(self, name: str) -> None:
        with pytest.raises(AstRagValidationError, match="does not understand the option 'top_p'"):
            service_of(name, topP=1)

    def test_the_page_says_what_the_catalog_says(self, name: str) -> None:
        entry = HOSTED[name]
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1] == f"`{name}:{entry.example}`"
        assert all(f"`{variable}`" in cells[2] for variable in entry.provider.key_variables)
        assert cells[3] == entry.protocol
        assert cells[4] == ("yes" if entry.tools else "no")


@pytest.mark.parametrize("protocol", ["openai-compatible", "openai"])
class TestFailures:
    @pytest.mark.parametrize(
        ("reply", "status", "retryable", "words"),
        [
            (Raw(429, error("Slow down."), {"Retry-After": "7"}), 429, True, "asks for patience"),
            (Raw(429, error("No credit.", "insufficient_quota")), 429, False, "has no quota left"),
            (Raw(500, error("Oops.")), 500, True, "is in trouble"),
            (Raw(503, "unavailable", content_type="text/plain"), 503, True, "is in trouble"),
            (Raw(408, error("Too slow.")), 408, True, "is in trouble"),
            (Raw(404, error("No such model.")), 404, False, "refused the request"),
            (Raw(400, error("Too many tokens.")), 400, False, "refused the request"),
            (Raw(422, {"detail": "Bad field."}), 422, False, "Bad field"),
            (MIDWAY, None, True, "The engine ran out of memory"),
        ],
    )
    def test_a_status_is_a_generation_error(
        self, protocol: str, reply: Reply, status: int, retryable: bool, words: str, httpserver: HTTPServer
    ) -> None:
        server = ChatServer(httpserver, [reply])
        with pytest.raises(GenerationError, match=words) as caught:
            ask(service_of(protocol, base_url=server.base_url))
        assert caught.value.details["status"] == status
        assert caught.value.details["provider"] == protocol
        assert caught.value.retryable is retryable
        assert len(server.bodies) == 1

    def test_how_long_to_wait_is_passed_on(self, protocol: str, httpserver: HTTPServer) -> None:
        server = ChatServer(httpserver, [Raw(429, error("Slow down."), {"Retry-After": "7"})])
        with pytest.raises(GenerationError) as caught:
            ask(service_of(protocol, base_url=server.base_url))
        assert caught.value.details["retry_after"] == 7.0

    @pytest.mark.parametrize("status", [401, 402, 403])
    def test_a_refused_key_is_an_auth_error(self, protocol: str, status: int, httpserver: HTTPServer) -> None:
        server = ChatServer(httpserver, [Raw(status, error("No."))])
        with pytest.raises(AstRagAuthError):
            ask(service_of(protocol, base_url=server.base_url))

    def test_nobody_there(self, protocol: str) -> None:
        with pytest.raises(GenerationError, match="cannot be reached") as caught:
            ask(service_of(protocol, base_url="http://127.0.0.1:9/v1"))
        assert caught.value.retryable
        assert caught.value.details["status"] is None

    def test_no_answer_in_time(self, protocol: str, httpserver: HTTPServer) -> None:
        server = ChatServer(httpserver, [Said("", after=0.5)])
        with pytest.raises(GenerationError, match="did not answer in time") as caught:
            ask(service_of(protocol, base_url=server.base_url, timeout=0.2))
        assert caught.value.retryable
        server.settle()

    @pytest.mark.parametrize(
        "reply",
        [
            pytest.param(Raw(200, "<html></html>", content_type="text/html"), id="a web page"),
            pytest.param(Raw(200, '{"id": "x", "out'), id="broken JSON"),
            pytest.param(Raw(200, {}), id="an empty object"),
            pytest.param(Said('{"sentences": [{"text": "The gre'), id="a truncated draft"),
            pytest.param(Said(""), id="an empty draft"),
            pytest.param(Said("Sure! The bell was cast in 1702."), id="no schema"),
        ],
    )
    def test_garbage_is_asked_for_again_and_then_an_error(
        self, protocol: str, reply: Reply, httpserver: HTTPServer
    ) -> None:
        server = ChatServer(httpserver, [reply])
        with pytest.raises(GenerationError, match="did not answer in the form") as caught:
            ask(service_of(protocol, base_url=server.base_url))
        assert caught.value.retryable
        assert len(server.bodies) == 2

    def test_the_key_is_in_no_error(self, protocol: str, httpserver: HTTPServer) -> None:
        for status in (400, 401, 429, 500):
            httpserver.clear()
            server = ChatServer(httpserver, [Raw(status, error(f"Your key {KEY} is odd."))])
            with pytest.raises(AstRagError) as caught:
                ask(service_of(protocol, base_url=server.base_url))
            assert KEY not in "".join(traceback.format_exception(caught.value))
            assert KEY not in json.dumps(caught.value.details)


def test_gemini_says_bad_request_for_a_bad_key(httpserver: HTTPServer) -> None:
    body = [{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}]
    server = ChatServer(httpserver, [Raw(400, body)])
    with pytest.raises(AstRagAuthError, match="API key not valid"):
        ask(service_of("gemini", base_url=server.base_url))


class TestKeys:
    @pytest.mark.parametrize("name", [name for name, entry in HOSTED.items() if entry.needs_key])
    def test_a_missing_key_says_how_to_go_on(self, name: str) -> None:
        with pytest.raises(AstRagAuthError) as caught:
            service_of(name, auth=None)
        for variable in HOSTED[name].provider.key_variables:
            assert variable in str(caught.value)
        assert "to go on without a key, use the provider `local`" in str(caught.value)

    @pytest.mark.parametrize("name", [name for name, entry in HOSTED.items() if entry.needs_key])
    def test_the_environment_may_hold_it(
        self, name: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server = ChatServer(httpserver, [GOOD], key=KEY)
        monkeypatch.setenv(HOSTED[name].provider.key_variables[0], KEY)
        assert ask(service_of(name, auth=None, base_url=server.base_url)).sentences

    @pytest.mark.parametrize(
        "auth", [KEY, {"apiKey": KEY}, {"openai": KEY}, {"OpenAI": {"api_key": KEY}, "cohere": "other"}]
    )
    def test_a_request_may_give_it_in_any_shape(
        self, auth: str | Mapping[str, Any], httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "from the environment")
        server = ChatServer(httpserver, [GOOD], key=KEY)
        assert ask(service_of("openai", auth=auth, base_url=server.base_url)).sentences

    def test_a_server_of_ones_own_needs_none(self, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
        server = ChatServer(httpserver, [GOOD])
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert ask(service_of("openai-compatible", auth=None)).sentences
        assert server.keys == ["none"], "a key for OpenAI is nobody else's business"


class TestVertex:
    @pytest.mark.parametrize(
        ("location", "host"),
        [(None, "aiplatform.googleapis.com"), ("europe-west4", "europe-west4-aiplatform.googleapis.com")],
    )
    def test_its_address_has_the_project_and_the_place(self, location: str | None, host: str) -> None:
        service = service_of("vertex_gemini", location=location)
        where = f"projects/a-project/locations/{location or 'global'}/endpoints/openapi"
        assert service.base_url == f"https://{host}/v1/{where}"

    def test_without_a_project_it_says_how_to_go_on(self) -> None:
        with pytest.raises(AstRagAuthError, match=r"GOOGLE_CLOUD_PROJECT.*gcloud auth.*`local`"):
            resolve("vertex_gemini:google/gemini-3.6-flash")

    def test_the_machines_own_sign_in_is_used(
        self, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Application default credentials of a user, exchanged for a token at a server on this machine."""

        def exchange(request: Request) -> Response:
            assert request.form["refresh_token"] == "refresh"
            return Response(json.dumps({"access_token": "fresh", "expires_in": 3600}), content_type="application/json")

        httpserver.expect_request("/token", method="POST").respond_with_handler(exchange)
        file = tmp_path / "credentials.json"
        user = {"client_id": "id", "client_secret": "secret", "refresh_token": "refresh", "type": "authorized_user"}
        file.write_text(json.dumps(user))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        monkeypatch.setattr("google.oauth2.credentials._GOOGLE_OAUTH2_TOKEN_ENDPOINT", httpserver.url_for("/token"))
        server = ChatServer(httpserver, [GOOD], key="fresh")
        assert ask(service_of("vertex_gemini", auth=None, base_url=server.base_url)).sentences

    def test_without_a_sign_in_it_says_how_to_go_on(
        self, httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
        with pytest.raises(AstRagAuthError, match=r"none\.json.*`local`"):
            ask(service_of("vertex_gemini", auth=None, base_url=httpserver.url_for("/v1")))


class TestChoice:
    def test_local_needs_no_service(self) -> None:
        assert resolve("local") is None
        assert resolve(" Local ") is None

    @pytest.mark.parametrize(
        ("choice", "model", "words"),
        [
            ("cohere:command", None, "There is no generation provider 'cohere'; there are local, openai"),
            ("openai", None, "Say which model of OpenAI to use, as in openai:"),
            ("openai:", None, "Say which model of OpenAI to use"),
            ("openai:a", "b", "names a model already"),
            ("local:big", None, "has one model"),
            ("openai-compatible:a", None, "Say where the server is: set OPENAI_COMPATIBLE_BASE_URL"),
        ],
    )
    def test_what_cannot_be_used_says_what_can(self, choice: str, model: str | None, words: str) -> None:
        with pytest.raises(AstRagValidationError) as caught:
            resolve(choice, model, auth=KEY)
        assert words in str(caught.value)

    @pytest.mark.parametrize("options", [{"timeout": 0}, {"timeout": True}, {"timeout": "5"}, {"baseUrl": "ftp://x"}])
    def test_bad_options_are_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(AstRagValidationError):
            resolve("openai:a", auth=KEY, options=options)

    def test_a_model_may_hold_a_colon(self) -> None:
        service = resolve("openai-compatible:qwen3:8b", options={"base_url": "http://127.0.0.1:1/v1"})
        assert service is not None
        assert service.model == "qwen3:8b"

    def test_the_page_names_every_provider(self) -> None:
        assert all(f"| `{name}` |" in PAGE for name in NAMES)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(told(None), id="no event"),
        pytest.param(told({"type": 5}), id="an event of no type"),
        pytest.param(told({"type": "response.output_text.delta", "delta": None}), id="a piece that is no text"),
        pytest.param(told(completed(None)), id="no output"),
        pytest.param(told(completed([None])), id="an item that is none"),
        pytest.param(told(completed([{"type": "message", "content": None}])), id="a message without content"),
        pytest.param(told(completed([{**CALL, "arguments": {"query": "bell"}}])), id="arguments that are no text"),
        pytest.param(told(completed([CALL] * 500)), id="calls without end"),
    ],
)
def test_what_is_none_of_the_protocols_is_asked_for_again_and_then_an_error(
    reply: Reply, httpserver: HTTPServer
) -> None:
    server = ChatServer(httpserver, [reply])
    with pytest.raises(GenerationError, match="did not answer in the form"):
        ask(service_of("openai", base_url=server.base_url), search=True)
    assert len(server.bodies) == 2


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "The engine ran out of memory.", "sequence_number": 0},
        {
            "type": "response.failed",
            "sequence_number": 0,
            "response": {"id": "r", "error": {"code": "server_error", "message": "The engine ran out of memory."}},
        },
    ],
)
def test_what_a_service_says_went_wrong_is_told_and_not_asked_for_again(
    event: dict[str, Any], httpserver: HTTPServer
) -> None:
    server = ChatServer(httpserver, [told(event)])
    with pytest.raises(GenerationError, match=r"OpenAI broke off: The engine ran out of memory\.") as caught:
        ask(service_of("openai", base_url=server.base_url))
    assert caught.value.retryable
    assert len(server.bodies) == 1
