"""What the product promises its readers, on the whole path: a real index, the real agent, models on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import agents
import pytest
from pytest_httpserver import HTTPServer

from chapterverse.answer import prompts
from chapterverse.answer.needs import Mind
from chapterverse.answer.pipeline import ask
from chapterverse.answer.retrieve import Retrieval
from chapterverse.contracts import (
    AgentResponse,
    QueryScope,
    RetrievedContentChunk,
    Shelves,
    generate_response,
    retrieve_content,
)
from chapterverse.errors import AstRagRetrievalError, GenerationError, StoreUnreachableError
from chapterverse.index.collection import GenerationReader
from chapterverse.ingest.sentences import split
from chapterverse.library import Generation, Library
from chapterverse.library.asking import GivenContent
from chapterverse.settings import Settings
from chapterverse.types import Answer
from tests.answer.stand_ins import WordReader, passage
from tests.chat_server import ChatServer, Raw, Said, draft_json
from tests.contracts.test_retrieval import fake
from tests.index.standin import StandIn

NOT_IN_BOOK = "This information is not available in the book"
NOT_IN_SELECTION = "This information is not available in the selected text"
HEAVY = "The great bell weighs forty hundredweight."
BOTH = "What does the great bell weigh forty, and what are the ropes made of hemp?"
PATIENT = Generation(seconds=60)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (prompts.NOT_IN_BOOK, NOT_IN_BOOK),
        (prompts.NOT_IN_SELECTION, NOT_IN_SELECTION),
        (prompts.INSUFFICIENT_CONTEXT, "I do not have enough grounded context to answer that."),
        (prompts.EMPTY_QUESTION, "Please provide a question about the book."),
        (prompts.SEARCH_FAILED, "Unable to search the book. Please try again later."),
    ],
    ids=["book", "selection", "context", "question", "search"],
)
def test_fixed_sentence(sentence: str, expected: str) -> None:
    assert sentence == expected


def places(answer: Answer) -> set[str | None]:
    return {citation.place.chapter for citation in answer.citations}


def test_information_of_several_chapters_is_put_together_and_each_is_cited(library: Library, index: str) -> None:
    answer = library.ask(BOTH, index=index, generation=PATIENT)
    assert answer.status == "ok"
    assert "forty hundredweight" in answer.text
    assert "Italian hemp" in answer.text
    assert places(answer) == {"Chapter 1: Bells", "Chapter 2: Ropes"}


def test_every_claim_has_a_source_and_every_source_a_matched_chunk(library: Library, index: str) -> None:
    answer = library.ask(BOTH, index=index, generation=PATIENT)
    assert answer.sentences
    assert all(sentence.citations for sentence in answer.sentences if sentence.kind != "notice")
    matched = {passage.entry.chunk.id: passage.text for passage in answer.passages if passage.entry}
    for citation in answer.citations:
        assert citation.quote in matched[citation.chunk_id or ""]
    response = AgentResponse.of(answer)
    assert {source.section for source in response.sources} == places(answer)


def test_the_path_is_taken_in_its_order(library: Library, index: str) -> None:
    """Scope, retrieval within it, validation, draft, and an answer with its sources."""
    answer = library.ask("What are the ropes made of, in Chapter 2?", index=index, generation=PATIENT)
    stages = [stage for stage in answer.timings if stage in ("retrieve", "validate", "draft", "gate", "cite")]
    assert stages == ["retrieve", "validate", "draft", "gate", "cite"]
    assert answer.passages
    assert {passage.entry.chunk.place.chapter for passage in answer.passages if passage.entry} == {"Chapter 2: Ropes"}
    assert answer.retrieval_quality in ("Good", "Partial")
    assert places(answer) == {"Chapter 2: Ropes"}


@pytest.mark.parametrize(
    ("scope", "chapters"),
    [
        (QueryScope(), {"Chapter 1: Bells", "Chapter 2: Ropes", "Geese", None}),
        (QueryScope(type="section-specific", identifier="Chapter 2"), {"Chapter 2: Ropes"}),
        (QueryScope(type="page-specific", identifier="45"), set()),
    ],
    ids=["full-book", "section-specific", "page-specific"],
)
def test_a_scope_decides_what_is_retrieved(
    library: Library, index: str, scope: QueryScope, chapters: set[str | None]
) -> None:
    found = library.search("the bell", index=index, scope=scope.engine(), settings=Retrieval(min_score=0)).found
    assert {one.entry.chunk.place.chapter for one in found} == chapters


def test_retrieved_content_knows_its_source_and_is_what_a_response_rests_on(library: Library, index: str) -> None:
    (best, *_) = retrieve_content("the great bell", index=index, library=library)
    assert isinstance(best, RetrievedContentChunk)
    assert (best.source_metadata.url, best.source_metadata.section) == ("bells.md", "Chapter 1: Bells")
    answer = library.ask("The great bell weighs what?", index=index, generation=PATIENT)
    assert {source.url for source in AgentResponse.of(answer).sources} == {best.source_metadata.url}
    assert {citation.chunk_id for citation in answer.citations} <= {
        chunk.id for chunk in retrieve_content("The great bell weighs what?", top_k=50, index=index, library=library)
    }


class NoDraft:
    """An agent that must not be asked for a draft."""

    def prepare(self) -> None:
        pass

    async def __call__(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a draft was asked for")


def test_nothing_is_drafted_where_nothing_is_retrieved(library: Library, index: str) -> None:
    nothing = Retrieval(min_score=5)
    answer = library.ask("The great bell weighs what?", index=index, settings=nothing, generation=PATIENT)
    assert (answer.text, answer.status, answer.reason) == (NOT_IN_BOOK, "refused", "below_threshold")
    mind = Mind(WordReader(), split, NoDraft())
    refused = asyncio.run(ask("The great bell weighs what?", mind, GivenContent([])))
    assert (refused.text, refused.reason, refused.citations) == (NOT_IN_BOOK, "no_matches", ())


def test_the_verdict_on_what_was_retrieved_binds() -> None:
    """Passages that do not hold the answer are never shown to a model."""
    entry = passage(1, HEAVY).entry
    assert entry is not None
    mind = Mind(WordReader(), split, NoDraft())
    answer = asyncio.run(ask("Who founded Carthage?", mind, GivenContent([entry])))
    assert (answer.text, answer.reason, answer.citations) == (NOT_IN_BOOK, "answer_absent", ())
    assert answer.retrieval_quality == "Poor"


class NoStore:
    """Fails on any call."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the store was called: {name}")

    async def close(self) -> None:
        pass


@pytest.fixture
def no_store() -> Iterator[Library]:
    with Library(store=NoStore(), reader=WordReader()) as library:
        yield library


def test_a_selection_answers_what_it_can_and_says_what_it_lacks(no_store: Library) -> None:
    question = "What does the great bell weigh forty, and who painted the weathercock?"
    answer = no_store.ask(question, selection=f"{HEAVY} It hangs from oak.", generation=PATIENT)
    assert answer.status == "partial"
    assert [(sentence.text, sentence.kind) for sentence in answer.sentences] == [
        (HEAVY, "quote"),
        (
            "No answer to this part of the question was found in the selected text: who painted the weathercock?",
            "notice",
        ),
    ]
    assert {citation.chunk_id for citation in answer.citations} == {None}


def test_a_question_that_has_nothing_to_do_with_the_selection_is_refused(no_store: Library) -> None:
    answer = no_store.ask("Who founded Carthage?", selection=HEAVY, generation=PATIENT)
    assert (answer.text, answer.reason) == (NOT_IN_SELECTION, "selection_lacks_answer")


def test_nothing_is_remembered_from_one_question_to_the_next(library: Library, index: str) -> None:
    follow_up = "And when was it cast by him?"
    before = library.ask(follow_up, index=index, generation=PATIENT)
    library.ask("The great bell weighs what?", index=index, generation=PATIENT)
    after = library.ask(follow_up, index=index, generation=PATIENT)
    assert (after.text, after.reason, after.citations) == (before.text, before.reason, before.citations)
    assert [(one.text, one.score) for one in after.passages] == [(one.text, one.score) for one in before.passages]


def test_history_helps_to_understand_and_is_never_evidence(library: Library, index: str) -> None:
    said = [{"role": "user", "content": "Who founded Carthage?"}, {"role": "assistant", "content": "Dido did."}]
    answer = library.ask("Did Dido found Carthage?", index=index, history=said, generation=PATIENT)
    assert (answer.text, answer.citations) == (NOT_IN_BOOK, ())
    steered = library.ask(
        "How much does it weigh?",
        index=index,
        history=[{"role": "user", "content": "Tell me of the fleece in a good year."}],
        settings=Retrieval(min_score=0),
        generation=PATIENT,
    )
    plain = library.ask("How much does it weigh?", index=index, settings=Retrieval(min_score=0), generation=PATIENT)
    first = [answer.passages[0].entry.chunk.file_id for answer in (steered, plain) if answer.passages[0].entry]
    assert first[0] == "sheep.txt"
    assert steered.passages[0].score > plain.passages[0].score or first[0] != first[1]


@pytest.fixture(scope="module")
def on_a_server(memory: Path) -> Iterator[tuple[Library, StandIn]]:
    """A library whose index is on a Qdrant server; what that server is asked is kept."""
    (memory / "product").mkdir()
    standin = StandIn(memory / "product")
    book = memory / "product.txt"
    book.write_text(f"{HEAVY} It hangs from oak.\n")
    settings = Settings(QDRANT_URL=standin.url, embedding="fake")
    try:
        with Shelves(settings, fake(), reader=WordReader()) as shelves:
            shelves.library().add(book, index="bells")
            yield shelves.library(), standin
    finally:
        standin.stop()


def test_qdrant_is_searched_unless_there_is_a_selection(on_a_server: tuple[Library, StandIn]) -> None:
    library, standin = on_a_server
    standin.requests.clear()
    answer = library.ask("What does the great bell weigh forty?", generation=PATIENT)
    assert answer.text == HEAVY
    assert any("/points/query" in request or "/points/search" in request for request in standin.requests)
    standin.requests.clear()
    answer = library.ask("What does the great bell weigh forty?", selection=HEAVY, generation=PATIENT)
    assert answer.text == HEAVY
    assert standin.requests == []


def test_a_qdrant_that_fails_on_the_way_is_an_error_and_never_an_answer(on_a_server: tuple[Library, StandIn]) -> None:
    library, standin = on_a_server
    standin.fail_next = [500] * 50
    with pytest.raises(AstRagRetrievalError) as caught:
        library.ask("What does the great bell weigh forty?", generation=PATIENT)
    assert caught.value.retryable
    standin.fail_next = []
    assert library.ask("What does the great bell weigh forty?", generation=PATIENT).text == HEAVY


@pytest.mark.parametrize("search", ["search_dense", "search_lexical", "entries"])
def test_a_search_that_fails_is_an_error_and_never_an_answer(
    library: Library, index: str, monkeypatch: pytest.MonkeyPatch, search: str
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise StoreUnreachableError("The store is gone.")

    monkeypatch.setattr(GenerationReader, search, fails)
    with pytest.raises(StoreUnreachableError):
        library.ask("The great bell weighs what?", index=index, generation=PATIENT)


def hosted(server: HTTPServer, *script: Said | Raw, seconds: float = 60) -> Generation:
    chat = ChatServer(server, script)
    return Generation("openai-compatible:m", options={"base_url": chat.base_url}, seconds=seconds)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("The great bell weighs ninety hundredweight.", HEAVY),
        ("The bell of Rome is the heaviest in the world.", HEAVY),
        ("The great bell was surely a waste of money.", HEAVY),
        ("Paris is the capital of France.", "Paris is the capital of France."),
    ],
    ids=["inference", "world knowledge", "opinion", "invented quote"],
)
def test_what_a_model_adds_is_not_answered(
    library: Library, index: str, httpserver: HTTPServer, claim: str, quote: str
) -> None:
    generation = hosted(httpserver, Said(draft_json((claim, ["S1"], quote))))
    answer = library.ask("The great bell weighs what?", index=index, generation=generation)
    assert (answer.text, answer.reason, answer.citations) == (NOT_IN_BOOK, "not_supported", ())
    assert [issue.sentence for issue in answer.issues] == [claim]


@pytest.mark.parametrize(
    ("question", "most"),
    [("What hangs in the tower?", 3), ("What hangs in the tower, and what lies in the tower?", 5)],
    ids=["a plain fact", "several parts"],
)
def test_an_answer_is_short_whoever_writes(no_store: Library, httpserver: HTTPServer, question: str, most: int) -> None:
    things = ("bell", "rope", "lamp", "net", "ladder", "flag", "wheel", "hammer", "lantern")
    sentences = [f"The {thing} hangs in the tower." for thing in things]
    generation = hosted(httpserver, Said(draft_json(*((text, ["S1"], text) for text in sentences))))
    answer = no_store.ask(question, selection=" ".join(sentences), generation=generation)
    assert [sentence.text for sentence in answer.sentences] == sentences[:most]


def test_an_answer_keeps_its_deadline(library: Library, index: str, httpserver: HTTPServer) -> None:
    assert (Generation().seconds, Settings.model_fields["deadline"].default) == (None, 5.0)
    slow = hosted(httpserver, Said(draft_json((HEAVY, ["S1"], HEAVY)), after=1.0), seconds=0.3)
    with pytest.raises(GenerationError, match="deadline") as caught:
        library.ask("The great bell weighs what?", index=index, generation=slow)
    assert caught.value.details["reason"] == "deadline"
    with Library(Settings(deadline=0.3)) as hurried, pytest.raises(GenerationError, match="deadline"):
        hurried.ask("The great bell weighs what?", selection=HEAVY, generation=replace(slow, seconds=None))
    httpserver.clear()


@pytest.mark.parametrize("local", [True, False], ids=["local", "hosted"])
def test_the_agents_sdk_drafts_on_every_path(
    library: Library, index: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, local: bool
) -> None:
    runs: list[str] = []

    def watched(name: str) -> Any:
        original = getattr(agents.Runner, name)

        def run(agent: Any, *args: Any, **kwargs: Any) -> Any:
            runs.append(type(agent).__name__)
            return original(agent, *args, **kwargs)

        return staticmethod(run)

    for name in ("run", "run_streamed"):
        monkeypatch.setattr(agents.Runner, name, watched(name))
    generation = PATIENT if local else hosted(httpserver, Said(draft_json((HEAVY, ["S1"], HEAVY))))
    assert library.ask("The great bell weighs what?", index=index, generation=generation).text == HEAVY
    assert set(runs) == {"Agent"}


def test_a_generation_that_fails_is_a_generation_error(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: WordReader, question: str, passages: Any, *, whole: bool = False) -> Any:
        raise AstRagRetrievalError("The reader cannot be loaded.")

    monkeypatch.setattr(WordReader, "read", fails)
    with pytest.raises(GenerationError, match="cannot be loaded") as caught:
        generate_response("How heavy is it?", [{"text": HEAVY}], library=library)
    assert isinstance(caught.value.cause, AstRagRetrievalError)
