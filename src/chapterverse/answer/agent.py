"""The agent: drafts an answer with a model, through the OpenAI Agents SDK. No other module imports that SDK.

It takes seconds to import, so import this module when a question is asked, not before. A model is either at a service
(`HostedModel`) or on this machine (`LocalModel`): the agent, its instructions and its tool are the same.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from agents import (
    Agent,
    AgentsException,
    FunctionTool,
    MaxTurnsExceeded,
    Model,
    ModelBehaviorError,
    ModelRefusalError,
    ModelResponse,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    RunHooks,
    Runner,
    Tool,
    TResponseInputItem,
    Usage,
)
from agents.agent_output import AgentOutputSchemaBase
from agents.handoffs import Handoff
from agents.items import TResponseOutputItem, TResponseStreamEvent
from agents.models.interface import ModelTracing
from openai import AsyncOpenAI
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic import BaseModel, ConfigDict

from chapterverse.answer import prompts
from chapterverse.answer.drafting import Composed, Sentences, compose
from chapterverse.answer.fences import fenced, fenced_passages, new_fence, read_brief
from chapterverse.errors import AstRagError, GenerationError, NoContentError
from chapterverse.protocols import Reader
from chapterverse.types import DraftSentence, Passage, SentenceKind

SEARCH_TOOL = "search_book_content"
ATTEMPTS = 2
"""A model that does not answer in the form asked for is asked once more."""

Search = Callable[[str], Awaitable[Sequence[Passage]]]
"""Passages for a query that passed validation; their ids do not matter."""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The bounds of a draft."""

    temperature: float = 0.0
    max_tokens: int = 1024
    searches: int = 2
    """How often a model may search the book again."""
    tracing: bool = False
    """Whether the SDK exports what it does to its makers."""


DEFAULTS = AgentSettings()


@dataclass(frozen=True, slots=True)
class GenerationUsage:
    """What a draft took."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model wrote, not yet checked, and every passage that it was offered."""

    sentences: tuple[DraftSentence, ...]
    passages: tuple[Passage, ...]
    usage: GenerationUsage
    turns: int


class DraftedSentence(BaseModel):
    """A sentence as a model must write it."""

    model_config = ConfigDict(extra="forbid")

    text: str
    citations: list[str]
    quote: str


class DraftOutput(BaseModel):
    """An answer as a model must write it: no sentences where the passages do not answer."""

    model_config = ConfigDict(extra="forbid")

    sentences: list[DraftedSentence]
    absent: list[str]
    """Parts of the question that are not answered, in its own words."""


async def draft(
    question: str,
    passages: Sequence[Passage],
    *,
    model: Model,
    deadline: float,
    settings: AgentSettings = DEFAULTS,
    search: Search | None = None,
) -> Draft:
    """What the model answers from these passages until `deadline`, on the clock of the running loop.

    Without `search` (a selection must have none) it has no tools. Raises `GenerationError` if the model fails.
    """
    if not passages:
        raise NoContentError("There are no passages to answer from.")
    desk = _Desk(question, list(passages), settings, search)
    if asyncio.get_running_loop().time() >= deadline:
        raise _too_late(None)
    try:
        async with asyncio.timeout_at(deadline) as limit:
            output = await _ask(desk, model)
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise _too_late(error) from error
    return Draft(tuple(_sentences(output, desk)), tuple(desk.passages), desk.usage, desk.turns)


def _too_late(cause: TimeoutError | None) -> GenerationError:
    message = "The model did not answer before the deadline. Try again, or allow more time."
    return GenerationError(message, details={"reason": "deadline"}, cause=cause)


@dataclass(slots=True)
class _Desk:
    """One question's working state: what was offered, and what is still allowed."""

    question: str
    passages: list[Passage]
    settings: AgentSettings
    search: Search | None
    fence: str = field(default_factory=new_fence)
    searches: int = 0
    usage: GenerationUsage = GenerationUsage()
    turns: int = 0

    @property
    def may_search(self) -> bool:
        return self.search is not None and self.searches < self.settings.searches

    async def look_up(self, query: str) -> str:
        """What a search brings, under ids of its own; a passage that was offered before keeps its id."""
        if not self.may_search or self.search is None:
            return prompts.NO_MORE_SEARCHES
        self.searches += 1
        known = {_identity(passage): passage for passage in self.passages}
        answer: list[Passage] = []
        for found in await self.search(query):
            passage = known.get(_identity(found)) or replace(found, id=f"S{len(self.passages) + 1}")
            if passage not in self.passages:
                self.passages.append(passage)
            answer.append(passage)
        return fenced_passages(answer, self.fence) or prompts.NOTHING_FOUND

    def count(self, usage: Usage) -> None:
        self.turns += 1
        self.usage = GenerationUsage(
            self.usage.requests + usage.requests,
            self.usage.input_tokens + usage.input_tokens,
            self.usage.output_tokens + usage.output_tokens,
        )


class _Tally(RunHooks[None]):
    """Counts what a model took, also for an answer that is of no use."""

    def __init__(self, desk: _Desk) -> None:
        self._desk = desk

    async def on_llm_end(self, context: Any, agent: Any, response: ModelResponse) -> None:  # noqa: ARG002
        self._desk.count(response.usage)


def _identity(passage: Passage) -> tuple[str | None, str]:
    return (passage.entry.chunk.id if passage.entry else None, passage.text)


async def _ask(desk: _Desk, model: Model) -> DraftOutput:
    agent = _agent(desk, model)
    reminder: TResponseInputItem = {"role": "user", "content": prompts.WRONG_FORM}
    reminders: list[TResponseInputItem] = []
    failure: AgentsException | None = None
    for _ in range(ATTEMPTS):
        asked: TResponseInputItem = {"role": "user", "content": fenced(desk.question, desk.passages, desk.fence)}
        try:
            result = await Runner.run(
                agent,
                [asked, *reminders],
                hooks=_Tally(desk),
                max_turns=desk.settings.searches - desk.searches + 1 if desk.search else 1,
                run_config=RunConfig(tracing_disabled=not desk.settings.tracing, trace_include_sensitive_data=False),
            )
        except (ModelBehaviorError, ModelRefusalError, MaxTurnsExceeded) as error:
            failure = error
            reminders = [reminder]
        except AgentsException as error:
            raise _own_error(error) or error from error
        else:
            return result.final_output_as(DraftOutput, raise_if_incorrect_type=True)
    raise GenerationError(
        "The model did not answer in the form that it was asked for, and again did not when it was reminded."
        " Try again, or use another model.",
        details={"reason": "malformed", "attempts": ATTEMPTS},
        cause=failure,
    )


def _own_error(error: BaseException) -> AstRagError | None:
    """What one of our own parts raised inside the SDK, which wraps errors of tools."""
    inner = error.__cause__
    return inner if isinstance(inner, AstRagError) else None


def _agent(desk: _Desk, model: Model) -> Agent[None]:
    return Agent(
        name="chapterverse",
        instructions=prompts.INSTRUCTIONS.format(fence=desk.fence),
        model=model,
        model_settings=ModelSettings(temperature=desk.settings.temperature, max_tokens=desk.settings.max_tokens),
        tools=[_search_tool(desk)] if desk.search else [],
        output_type=DraftOutput,
    )


class _SearchArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str


def _search_tool(desk: _Desk) -> FunctionTool:
    async def invoke(_: Any, arguments: str) -> str:
        try:
            query = _SearchArguments.model_validate_json(arguments).query
        except ValueError as error:
            raise ModelBehaviorError(f"{SEARCH_TOOL} was called without a query.") from error
        return await desk.look_up(query)

    return FunctionTool(
        name=SEARCH_TOOL,
        description=prompts.SEARCH_TOOL,
        params_json_schema=_SearchArguments.model_json_schema(),
        on_invoke_tool=invoke,
        is_enabled=lambda *_: desk.may_search,
    )


def _sentences(output: DraftOutput, desk: _Desk) -> list[DraftSentence]:
    """The draft's sentences, and a notice in fixed words for each part of the question that it calls absent."""
    drafted = [
        DraftSentence(one.text, tuple(one.citations), one.quote, _kind(one, desk.question)) for one in output.sentences
    ]
    selected = all(passage.entry is None for passage in desk.passages)
    phrase = prompts.PART_ABSENT_SELECTION if selected else prompts.PART_ABSENT
    notices = [phrase.format(part=part.strip()) for part in output.absent]
    # What a model calls a part of the question may be anything; only words of the question are repeated to the user.
    named = [DraftSentence(text, kind="notice") for text in notices if prompts.is_notice(text, desk.question)]
    return drafted + named


def _kind(sentence: DraftedSentence, question: str) -> SentenceKind:
    if prompts.is_notice(sentence.text, question):
        return "notice"
    return "quote" if sentence.quote.split() == sentence.text.split() != [] else "statement"


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


class _WholeModel(Model):
    """A model that answers all at once: a draft is released by the sentence, but only after it was checked."""

    async def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise GenerationError("A draft is written whole, and released by the sentence once it was checked.")
        yield


class HostedModel(_WholeModel):
    """A model at a service that speaks OpenAI's protocol, in its old form (chat) or its new one (responses)."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        tracing: ModelTracing,
        **state: Any,
    ) -> ModelResponse:
        offered = tools if self._service.tools else []
        told = replace(model_settings, store=False) if self._service.stores else model_settings
        # Some models think at a temperature of their own, and refuse to be told one.
        for settings in (told, replace(told, temperature=None)):
            try:
                return await self._inner().get_response(
                    system_instructions, input, settings, offered, output_schema, handoffs, tracing, **state
                )
            except AgentsException:
                raise
            except Exception as error:
                ours = self._service.error(error)
                if ours is None:
                    raise ModelBehaviorError(f"The answer cannot be read: {type(error).__name__}") from error
                if settings.temperature is None or ours.details.get("parameter") != "temperature":
                    raise ours from ours.cause
        raise AssertionError("the last attempt returns or raises")

    def _inner(self) -> Model:
        kind = OpenAIResponsesModel if self._service.protocol == "responses" else OpenAIChatCompletionsModel
        return kind(self._service.model, self._service.client())


class LocalModel(_WholeModel):
    """The reader as a model: it answers by quoting, solely from the input items that it is handed."""

    def __init__(self, reader: Reader, sentences: Sentences, executor: Executor | None = None) -> None:
        self._reader, self._sentences, self._executor = reader, sentences, executor

    async def get_response(
        self,
        system_instructions: str | None,  # noqa: ARG002
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,  # noqa: ARG002
        tools: list[Tool],
        *_: Any,
        **__: Any,
    ) -> ModelResponse:
        items = [] if isinstance(input, str) else [dict(item) for item in input]
        brief = read_brief([input] if isinstance(input, str) else _texts(items))
        if brief is None:
            raise ModelBehaviorError("There is no question in the input.")
        loop = asyncio.get_running_loop()
        composed = await loop.run_in_executor(self._executor, compose, brief, self._reader, self._sentences)
        searched = any(item.get("type") == "function_call" for item in items)
        may_search = not searched and any(tool.name == SEARCH_TOOL for tool in tools)
        calls = _searches(composed) if may_search else []
        return ModelResponse(output=[*calls] or [_message(composed)], usage=Usage(requests=1), response_id=None)


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
