"""The agent: drafts an answer with a model, through the OpenAI Agents SDK. Only `models` imports that SDK beside it.

It takes seconds to import, so import this module when a question is asked, not before.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents import (
    Agent,
    AgentsException,
    FunctionTool,
    Model,
    ModelBehaviorError,
    ModelResponse,
    ModelSettings,
    RunConfig,
    RunHooks,
    Runner,
    TResponseInputItem,
    Usage,
)
from pydantic import BaseModel, ConfigDict, Field

from chapterverse.answer import prompts
from chapterverse.answer.fences import fenced, fenced_passages, new_fence
from chapterverse.answer.form import Arriving, DraftOutput, Text, absences, as_draft
from chapterverse.errors import AstRagError, GenerationError, NoContentError
from chapterverse.types import DraftSentence, Passage

# The SDK logs a model's failure before it raises it; without a handler of its own that lands on the terminal.
logging.getLogger("openai.agents").addHandler(logging.NullHandler())

SEARCH_TOOL = "search_book_content"
ATTEMPTS = 2
"""A model that does not answer in the form asked for is asked once more."""
_LONGEST_QUERY = 1_000
"""Characters of a search, as of a question."""

Search = Callable[[str], Awaitable[Sequence[Passage]]]
"""Passages for a query that passed validation; their ids do not matter."""

Say = Callable[[DraftSentence, Sequence[Passage]], Awaitable[None]]
"""Takes a sentence as soon as it is written, with every passage that was offered until then."""


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
    """Every passage that a model was offered for its draft, and what that took."""

    passages: tuple[Passage, ...]
    usage: GenerationUsage
    turns: int


async def draft(
    question: str,
    passages: Sequence[Passage],
    *,
    model: Model,
    say: Say,
    settings: AgentSettings = DEFAULTS,
    search: Search | None = None,
) -> Draft:
    """Let the model answer from these passages.

    Each sentence is handed to `say` as it is written. What was said stays said: a model that fails halfway and is asked
    once more goes on from there. Without `search` (a selection must have none) it has no tools.
    Raises `GenerationError` if the model fails.
    """
    if not passages:
        raise NoContentError("There are no passages to answer from.")
    desk = _Desk(question, list(passages), settings, search, say)
    await _ask(desk, model)
    return Draft(tuple(desk.passages), desk.usage, desk.turns)


@dataclass(slots=True)
class _Desk:
    """One question's working state: what was offered, and what is still allowed."""

    question: str
    passages: list[Passage]
    settings: AgentSettings
    search: Search | None
    hear: Say
    said: set[DraftSentence] = field(default_factory=set)
    fence: str = field(default_factory=new_fence)
    searches: int = 0
    usage: GenerationUsage = GenerationUsage()
    turns: int = 0

    @property
    def may_search(self) -> bool:
        return self.search is not None and self.searches < self.settings.searches

    async def say(self, sentence: DraftSentence) -> None:
        """Pass a sentence on, but not again what a model that had to begin anew repeats with the same grounds."""
        if sentence not in self.said:
            self.said.add(sentence)
            await self.hear(sentence, self.passages)

    async def look_up(self, query: str) -> str:
        """What a search brings, under ids of its own; a passage that was offered before keeps its id."""
        if not self.may_search or self.search is None:
            return prompts.NO_MORE_SEARCHES
        self.searches += 1
        if not re.search(r"\w", query):
            return prompts.NOTHING_FOUND  # a query that is none is the model's fault, not the user's
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


async def _ask(desk: _Desk, model: Model) -> None:
    agent = _agent(desk, model)
    reminder: TResponseInputItem = {"role": "user", "content": prompts.WRONG_FORM}
    reminders: list[TResponseInputItem] = []
    failure: Exception | None = None
    for _ in range(ATTEMPTS):
        asked: TResponseInputItem = {"role": "user", "content": fenced(desk.question, desk.passages, desk.fence)}
        try:
            return await _run(desk, agent, [asked, *reminders])
        except (AgentsException, UnicodeError, RecursionError) as error:  # what it said is nothing that can be read
            if own := _own_error(error):
                raise own from error
            failure, reminders = error, [reminder]
    raise GenerationError(
        "The model did not answer in the form that it was asked for, and again did not when it was reminded."
        " Try again, or use another model.",
        details={"reason": "malformed", "attempts": ATTEMPTS},
        cause=failure,
    )


async def _run(desk: _Desk, agent: Agent[None], items: list[TResponseInputItem]) -> None:
    """One run of the agent: a sentence is said once it is complete, the rest when the whole answer is."""
    result = Runner.run_streamed(
        agent,
        items,
        hooks=_Tally(desk),
        max_turns=desk.settings.searches - desk.searches + 1 if desk.search else 1,
        run_config=RunConfig(tracing_disabled=not desk.settings.tracing, trace_include_sensitive_data=False),
    )
    arriving, selected = Arriving(), all(passage.entry is None for passage in desk.passages)
    try:
        async for event in result.stream_events():
            if event.type != "raw_response_event":
                continue
            if event.data.type == "response.created":
                arriving = Arriving()
            elif event.data.type == "response.output_text.delta":
                for sentence in arriving.feed(event.data.delta):
                    await desk.say(as_draft(sentence, desk.question, selected))
                if arriving.endless:
                    raise ModelBehaviorError("The answer does not end.")
    finally:
        result.cancel()  # whoever no longer listens must not leave a model writing
    output = result.final_output_as(DraftOutput, raise_if_incorrect_type=True)
    drafted = [as_draft(one, desk.question, selected) for one in output.sentences]
    for one in [*drafted, *absences(output, desk.question, selected)]:
        await desk.say(one)


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

    query: Text = Field(max_length=_LONGEST_QUERY)


def _search_tool(desk: _Desk) -> FunctionTool:
    async def invoke(_: Any, arguments: str) -> str:
        try:
            query = _SearchArguments.model_validate_json(arguments).query
        except ValueError:
            query = ""
        return await desk.look_up(query)

    return FunctionTool(
        name=SEARCH_TOOL,
        description=prompts.SEARCH_TOOL,
        params_json_schema=_SearchArguments.model_json_schema(),
        on_invoke_tool=invoke,
        is_enabled=lambda *_: desk.may_search,
    )
