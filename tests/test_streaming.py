"""Streaming: a sentence is heard once it has passed the gate, and the answer at the end is the one that `ask` gives."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from dataclasses import replace

import pytest
from pytest_httpserver import HTTPServer

from chapterverse.answer.form import Arriving
from chapterverse.answer.prompts import CONFLICT, NOT_IN_SELECTION
from chapterverse.errors import GenerationError
from chapterverse.library import AsyncLibrary, Generation, Library
from chapterverse.types import Answer, AnswerEvent, Spoken, Stage
from tests.chat_server import ChatServer, Raw, Reply, Said, draft_json

PASSAGE = (
    "The great bell was cast in 1702 by Josiah Penhale. It weighs forty-one hundredweight."
    " The bell was hung in the north tower in 1704, after two winters in the yard."
)
QUESTION = "When was the great bell cast, and when was it hung in the north tower?"
CAST = ("The great bell was cast in 1702.", ["S1"], "The great bell was cast in 1702 by Josiah Penhale.")
HUNG = ("The bell was hung in the north tower in 1704.", ["S1"], "The bell was hung in the north tower in 1704")
FALSE = ("The great bell was cast in 1720.", ["S1"], "The great bell was cast in 1702 by Josiah Penhale.")
STAGES = ["retrieve", "validate", "conflicts", "draft", "gate", "cite"]


def serving(server: HTTPServer, *script: Reply, protocol: str = "chat") -> tuple[ChatServer, Generation]:
    chat = ChatServer(server, script)
    if protocol == "chat":
        return chat, Generation("openai-compatible:test", options={"base_url": chat.base_url}, seconds=60)
    auth = {"openai": {"api_key": "key"}}
    return chat, Generation("openai:test", auth=auth, options={"base_url": chat.base_url}, seconds=60)


def spoken(events: list[AnswerEvent]) -> list[str]:
    return [event.sentence.text for event in events if isinstance(event, Spoken)]


def comparable(answer: AnswerEvent) -> Answer:
    assert isinstance(answer, Answer)
    return replace(answer, timestamp="", timings={})


def heard(generation: Generation, question: str = QUESTION) -> list[AnswerEvent]:
    with Library() as library:
        return list(library.stream(question, selection=PASSAGE, generation=generation))


class TestArriving:
    def test_each_sentence_is_there_with_its_last_bracket(self) -> None:
        text = draft_json(CAST, HUNG, absent=["the weather"])
        arriving = Arriving()
        at = [n for n, letter in enumerate(text) for _ in arriving.feed(letter)]
        assert [text[n - 1 : n + 2] for n in at] == ['"},', '"}]']

    @pytest.mark.parametrize("piece", [1, 3, 10_000])
    def test_the_size_of_the_pieces_does_not_matter(self, piece: int) -> None:
        text = draft_json(("He said “}]”.", [], '"}, {\\'), HUNG)
        arriving = Arriving()
        found = [one for n in range(0, len(text), piece) for one in arriving.feed(text[n : n + piece])]
        assert [one.quote for one in found] == ['"}, {\\', HUNG[2]]

    @pytest.mark.parametrize(
        "text",
        ['{"absent": [], "sentences": [{"text": "a", "citations": [], "quote": "b"}]}', "[1]", '{"sentences": [1, 2]}'],
    )
    def test_what_is_of_another_form_brings_nothing(self, text: str) -> None:
        assert list(Arriving().feed(text)) == []


@pytest.mark.parametrize("protocol", ["chat", "responses"])
def test_a_sentence_is_heard_while_the_model_still_writes(httpserver: HTTPServer, protocol: str) -> None:
    first = threading.Event()
    chat, generation = serving(httpserver, Said(draft_json(CAST, FALSE, HUNG), until=first), protocol=protocol)

    async def listen() -> tuple[list[AnswerEvent], list[int]]:
        events, sent = [], []
        async with AsyncLibrary() as library:
            await library.warm_up()
            async for event in library.stream(QUESTION, selection=PASSAGE, generation=generation):
                events.append(event)
                if isinstance(event, Spoken):
                    sent.append(len(chat.pieces))
                    first.set()
        return events, sent

    events, sent = asyncio.run(listen())
    assert [event.name for event in events if isinstance(event, Stage)] == STAGES
    assert spoken(events) == [CAST[0], HUNG[0]]
    assert sent[0] <= len(chat.pieces) / 2, "the model had not yet said the rest"
    assert sent[0] < sent[1] <= len(chat.pieces)
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert [issue.sentence for issue in answer.issues] == [FALSE[0]]
    assert answer.usage["input_tokens"] == 100


def test_the_answer_is_the_one_that_ask_gives(httpserver: HTTPServer) -> None:
    _, generation = serving(httpserver, Said(draft_json(CAST, HUNG)))
    events = heard(generation)
    with Library() as library:
        asked = library.ask(QUESTION, selection=PASSAGE, generation=generation)
    assert comparable(events[-1]) == comparable(asked)
    said = [event for event in events if isinstance(event, Spoken)]
    assert tuple(event.sentence for event in said) == asked.sentences
    for event in said:
        assert event.citations == tuple(asked.citations[n] for n in event.sentence.citations)


def test_nothing_is_heard_of_a_draft_that_does_not_pass(httpserver: HTTPServer) -> None:
    absent = draft_json(FALSE, absent=["when was it hung in the north tower"])
    _, generation = serving(httpserver, Said(absent))
    events = heard(generation)
    assert spoken(events) == []
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert (answer.text, answer.reason) == (NOT_IN_SELECTION, "not_supported")


def test_what_was_said_stays_said_when_a_model_must_begin_again(httpserver: HTTPServer) -> None:
    truncated = draft_json(CAST, HUNG)[:-60]
    chat, generation = serving(httpserver, Said(truncated, finish="length"), Said(draft_json(CAST, HUNG)))
    events = heard(generation)
    assert len(chat.bodies) == 2
    assert spoken(events) == [CAST[0], HUNG[0]]
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert answer.text == f"{CAST[0]} {HUNG[0]}"


def test_an_error_ends_the_stream_as_it_ends_the_question(httpserver: HTTPServer) -> None:
    _, generation = serving(httpserver, Raw(429, {"error": {"message": "slow down"}}, {"Retry-After": "7"}))
    events: list[AnswerEvent] = []
    with Library() as library, pytest.raises(GenerationError) as caught:
        events.extend(library.stream(QUESTION, selection=PASSAGE, generation=generation))
    assert caught.value.details["retry_after"] == 7


def test_whoever_leaves_stops_the_work(httpserver: HTTPServer) -> None:
    left = threading.Event()
    chat, generation = serving(httpserver, Said(draft_json(CAST, HUNG, *[HUNG] * 20), pause=0.02, until=left))

    async def leave() -> None:
        async with AsyncLibrary() as library:
            async with aclosing(library.stream(QUESTION, selection=PASSAGE, generation=generation)) as events:
                async for event in events:
                    if isinstance(event, Spoken):
                        break
            assert [task for task in asyncio.all_tasks() if "ask" in repr(task.get_coro())] == []
            left.set()
            await asyncio.to_thread(chat.settle)

    asyncio.run(leave())
    written = "".join(chat.pieces)
    assert CAST[0] in written
    assert not written.endswith("}")


def test_the_local_model_is_heard_by_the_sentence_too(clocks: Library) -> None:
    question = "In what year was the clockmakers' Guild established?"
    events = list(clocks.stream(question))
    asked = clocks.ask(question)
    assert comparable(events[-1]) == comparable(asked)
    assert spoken(events) == [sentence.text for sentence in asked.sentences]
    assert spoken(events)[0] == CONFLICT
    assert [type(event) for event in events[-2:]] == [Spoken, Answer]


def test_a_refusal_is_one_event(clocks: Library) -> None:
    events = list(clocks.stream("How do I bake a cake?"))
    assert [type(event) for event in events] == [Stage, Answer]


def test_a_blocking_listener_may_leave_too(clocks: Library) -> None:
    events = clocks.stream("How did Ambrose Kell teach his apprentices?")
    assert next(events) == Stage("retrieve")
    events.close()  # type: ignore[attr-defined]
    assert clocks.ask("How do I bake a cake?").status == "refused"
