"""A server that speaks OpenAI's protocol, in both of its forms, and says what it is told to say."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

Body = dict[str, Any]


@dataclass
class Said:
    """What the model says: a text, or calls of a tool; `after` seconds, and `pause` seconds between its pieces.

    With `until`, the second half of its pieces is only said once that is set.
    """

    text: str | None = None
    calls: Sequence[tuple[str, Body]] = ()
    finish: str = "stop"
    after: float = 0.0
    pause: float = 0.0
    until: threading.Event | None = None


@dataclass
class Raw:
    """An answer that is none of the protocol's."""

    status: int
    body: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


Reply = Said | Raw
Script = Sequence[Reply] | Callable[[Body], Reply]


def draft_json(*sentences: tuple[str, list[str], str], absent: Sequence[str] = ()) -> str:
    """A draft in the form that is asked for."""
    drafted = [{"text": text, "citations": ids, "quote": quote} for text, ids, quote in sentences]
    return json.dumps({"sentences": drafted, "absent": list(absent)})


class ChatServer:
    """Answers `POST /v1/chat/completions` and `POST /v1/responses` from a script, and keeps what it was sent."""

    def __init__(self, server: HTTPServer, script: Script, key: str | None = None) -> None:
        self.bodies: list[Body] = []
        self.keys: list[str | None] = []
        self.pieces: list[str] = []
        """What was sent of streamed texts."""
        self.base_url = server.url_for("/v1")
        self._script = script
        self._key = key
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._chat)
        server.expect_request("/v1/responses", method="POST").respond_with_handler(self._responses)

    def settle(self) -> None:
        """Wait until a slow answer that nobody waits for is over: the server does one thing at a time."""
        httpx2.post(f"{self.base_url}/responses", json={"model": ""}, timeout=10)

    def _chat(self, request: Request) -> Response:
        return self._answer(request, _completion, _chunks)

    def _responses(self, request: Request) -> Response:
        return self._answer(request, _response, _events)

    def _answer(
        self,
        request: Request,
        form: Callable[[Body, Said], Body],
        streamed: Callable[[Body, Said], Iterator[Body]],
    ) -> Response:
        body = json.loads(request.data)
        self.bodies.append(body)
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        self.keys.append(key)
        if self._key is not None and key != self._key:
            return _reply(Raw(401, error("Incorrect API key provided.", "invalid_api_key")))
        script = self._script
        if not body["model"]:
            return _reply(Raw(204))
        reply = script(body) if callable(script) else script[min(len(self.bodies), len(script)) - 1]
        if isinstance(reply, Raw):
            return _reply(reply)
        time.sleep(reply.after)
        if body.get("stream"):
            return Response(self._sent(streamed(body, reply), reply), content_type="text/event-stream")
        return _reply(Raw(200, form(body, reply)))

    def _sent(self, events: Iterator[Body], said: Said) -> Iterator[str]:
        """Server-sent events, one at a time."""
        half = len(_pieces(said.text)) // 2
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            piece = _piece(event)
            if piece:
                if said.until is not None and len(self.pieces) == half:
                    said.until.wait(30)
                self.pieces.append(piece)
                time.sleep(said.pause)
            yield f"{name}data: {json.dumps(event)}\n\n"
        yield "data: [DONE]\n\n"


def error(message: str, code: str | None = None, param: str | None = None) -> Body:
    return {"error": {"message": message, "type": "error", "code": code, "param": param}}


def _reply(raw: Raw) -> Response:
    data = raw.body if isinstance(raw.body, str) else json.dumps(raw.body)
    return Response(data, raw.status, dict(raw.headers), content_type=raw.content_type)


def _completion(body: Body, said: Said) -> Body:
    calls = [
        {"id": f"call-{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(said.calls)
    ]
    message: Body = {"role": "assistant", "content": said.text}
    if calls:
        message["tool_calls"] = calls
    return {
        "id": "completion",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else said.finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _response(body: Body, said: Said) -> Body:
    output: list[Body] = [
        {"type": "function_call", "id": f"fc-{n}", "call_id": f"call-{n}", "name": name, "arguments": json.dumps(args)}
        for n, (name, args) in enumerate(said.calls)
    ]
    if said.text is not None:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        output.append(
            {"type": "message", "id": "message", "role": "assistant", "status": "completed", "content": content}
        )
    return {
        "id": "response",
        "object": "response",
        "created_at": 0,
        "model": body["model"],
        "output": output,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 120,
        },
    }


def _pieces(text: str | None) -> list[str]:
    return re.findall(r"(?s).{1,12}", text or "")


def _piece(event: Body) -> str | None:
    """The words that an event of either protocol brings."""
    if event.get("type") == "response.output_text.delta":
        return str(event["delta"])
    return event["choices"][0]["delta"].get("content") if event.get("choices") else None


def _chunks(body: Body, said: Said) -> Iterator[Body]:
    whole = _completion(body, said)
    frame = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    message = whole["choices"][0]["message"]
    deltas: list[Body] = [{"role": "assistant"}, *({"content": piece} for piece in _pieces(message["content"]))]
    deltas += [{"tool_calls": [{"index": n, **call}]} for n, call in enumerate(message.get("tool_calls", ()))]
    for delta in deltas:
        yield frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    finish = whole["choices"][0]["finish_reason"]
    yield frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    if body.get("stream_options", {}).get("include_usage"):
        yield frame | {"choices": [], "usage": whole["usage"]}


def _events(body: Body, said: Said) -> Iterator[Body]:
    whole = _response(body, said)
    events: list[Body] = [{"type": "response.created", "response": whole | {"output": [], "status": "in_progress"}}]
    place = {"item_id": "message", "output_index": len(said.calls), "content_index": 0}
    events += [{"type": "response.output_text.delta", "delta": piece, **place} for piece in _pieces(said.text)]
    events.append({"type": "response.completed", "response": whole})
    for number, event in enumerate(events):
        yield event | {"sequence_number": number}
