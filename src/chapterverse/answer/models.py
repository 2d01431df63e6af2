"""What the agent runs on: a model at a service, or the reader on this machine. The agent is the same for both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Literal, Protocol

import httpx2
from agents import (
    AgentsException,
    Model,
    ModelBehaviorError,
    ModelResponse,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Tool,
    TResponseInputItem,
)
from agents.agent_output import AgentOutputSchemaBase
from agents.handoffs import Handoff
from agents.items import TResponseOutputItem, TResponseStreamEvent
from agents.models.interface import ModelTracing
from openai import APIError, AsyncOpenAI
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from chapterverse.answer.agent import SEARCH_TOOL
from chapterverse.answer.drafting import Composed, Sentences, compose
from chapterverse.answer.fences import read_brief
from chapterverse.answer.form import DraftedSentence, DraftOutput
from chapterverse.errors import AstRagError
from chapterverse.protocols import Reader

_MOST_ITEMS = 50
"""Messages and calls that an answer may hold; the SDK takes each for itself, and nobody else is answered meanwhile."""


class Service(Protocol):
    """A model behind a network, with its provider's ways."""

    model: str
    protocol: Literal["chat", "responses"]
    tools: bool
    """Whether it may be offered tools beside the form of its answer."""
    stores: bool
    """Whether it keeps what is sent unless it is told not to."""

    def client(self) -> AsyncOpenAI: ...

    def error(self, error: Exception) -> AstRagError | None:
        """What a failure of the client means; None if it is no failure of the provider."""
        ...


class _StreamedModel(Model):
    """A model that is only ever run streamed."""

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        raise NotImplementedError("A draft is always streamed.")


class HostedModel(_StreamedModel):
    """A model at a service that speaks OpenAI's protocol, in its old form (chat) or its new one (responses)."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        **state: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        offered = tools if self._service.tools else []
        told = replace(model_settings, include_usage=True, store=False if self._service.stores else None)
        # Some models think at a temperature of their own, and refuse to be told one.
        for settings in (told, replace(told, temperature=None)):
            try:
                async for event in self._inner().stream_response(
                    system_instructions, input, settings, offered, output_schema, handoffs, tracing, **state
                ):
                    if failed := _failure(event, self._service.client()):
                        raise failed
                    yield _readable(event)
                return
            except AgentsException:
                raise
            except Exception as error:
                ours = self._service.error(error)
                if ours is None:
                    raise ModelBehaviorError(f"The answer cannot be read: {type(error).__name__}") from error
                if settings.temperature is None or ours.details.get("parameter") != "temperature":
                    raise ours from ours.cause

    def _inner(self) -> Model:
        kind = OpenAIResponsesModel if self._service.protocol == "responses" else OpenAIChatCompletionsModel
        return kind(self._service.model, self._service.client())


def _failure(event: Any, client: AsyncOpenAI) -> APIError | None:
    """What a service says that went wrong on its side, as the client raises it where the protocol is the old one."""
    kind = getattr(event, "type", None)
    said = getattr(event.response, "error", None) if kind == "response.failed" else event if kind == "error" else None
    message = getattr(said, "message", None)
    if not isinstance(message, str):
        return None
    body = {"message": message, "code": getattr(said, "code", None)}
    return APIError(message, httpx2.Request("POST", client.base_url), body=body)


def _readable(event: Any) -> TResponseStreamEvent:
    """An event as the protocol has it: the SDK passes on whatever comes, and would stumble over it later."""
    kind = getattr(event, "type", None)
    readable = isinstance(kind, str)
    if kind == "response.output_text.delta":
        readable = isinstance(event.delta, str)
    elif kind == "response.completed":
        items = event.response.output
        readable = isinstance(items, list) and len(items) <= _MOST_ITEMS and all(map(_is_item, items))
    if not readable:
        raise ModelBehaviorError("The answer cannot be read: it is none of the protocol's.")
    event_of_theirs: TResponseStreamEvent = event
    return event_of_theirs


def _is_item(item: Any) -> bool:
    match getattr(item, "type", None):
        case "message":
            return isinstance(item.content, list)
        case "function_call":
            return all(isinstance(one, str) for one in (item.call_id, item.name, item.arguments))
        case kind:
            return isinstance(kind, str)


class LocalModel(_StreamedModel):
    """The reader as a model: it answers by quoting, solely from the input items that it is handed."""

    def __init__(
        self, reader: Reader, sentences: Sentences, executor: Executor | None = None, threshold: float = 0.0
    ) -> None:
        self._reader, self._sentences, self._executor, self._threshold = reader, sentences, executor, threshold

    async def stream_response(
        self,
        system_instructions: str | None,  # noqa: ARG002
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,  # noqa: ARG002
        tools: list[Tool],
        *_: Any,
        **__: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        items = [] if isinstance(input, str) else [dict(item) for item in input]
        brief = read_brief([input] if isinstance(input, str) else _texts(items))
        if brief is None:
            raise ModelBehaviorError("There is no question in the input.")
        loop = asyncio.get_running_loop()
        composed = await loop.run_in_executor(
            self._executor, compose, brief, self._reader, self._sentences, self._threshold
        )
        searched = any(item.get("type") == "function_call" for item in items)
        may_search = not searched and any(tool.name == SEARCH_TOOL for tool in tools)
        calls = _searches(composed) if may_search else []
        yield _completed([*calls] or [_message(composed)])


def _texts(items: Sequence[dict[str, Any]]) -> list[str]:
    """What the user and the tools said."""
    said = [item.get("output") if item.get("type") == "function_call_output" else item.get("content") for item in items]
    return [text for text in said if isinstance(text, str)]


def _searches(composed: Composed) -> list[TResponseOutputItem]:
    return [
        ResponseFunctionToolCall(
            type="function_call", name=SEARCH_TOOL, call_id=f"search-{n}", arguments=json.dumps({"query": one.query})
        )
        for n, one in enumerate(composed.missing, 1)
    ]


def _message(composed: Composed) -> TResponseOutputItem:
    output = DraftOutput(
        sentences=[
            DraftedSentence(text=one.text, citations=list(one.citations), quote=one.quote) for one in composed.sentences
        ],
        absent=[one.part for one in composed.missing],
    )
    text = ResponseOutputText(type="output_text", text=output.model_dump_json(), annotations=[])
    return ResponseOutputMessage(id="local", type="message", role="assistant", status="completed", content=[text])


def _completed(output: list[TResponseOutputItem]) -> TResponseStreamEvent:
    response = Response(
        id="local",
        created_at=0,
        model="local",
        object="response",
        output=output,
        parallel_tool_calls=True,
        tool_choice="auto",
        tools=[],
    )
    return ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")
