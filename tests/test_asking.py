"""Asking the sample book, offline: the four user stories and the edge cases that need a real index and real models."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from chapterverse.answer.prompts import CONFLICT, EMPTY_QUESTION, NOT_IN_BOOK, NOT_IN_SELECTION
from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.scope import QueryScope, named_scope
from chapterverse.answer.unmet import why_nothing
from chapterverse.errors import AstRagRetrievalError, InvalidQueryError
from chapterverse.ingest.books import sample_book
from chapterverse.library import AsyncLibrary, Generation, Library
from chapterverse.library.asking import standing_for_all
from chapterverse.settings import Settings
from chapterverse.types import Answer, Chunk, Chunking, Entry, Filter, Place, Point, SparseVector

QUESTIONS = {
    row["id"]: row for row in map(json.loads, (sample_book().parent / "questions.jsonl").read_text().splitlines())
}


class NoStore:
    """Fails on any call."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the store was called: {name}")

    async def close(self) -> None:
        pass


def check_grounded(answer: Answer) -> None:
    """Every sentence is a quote at its place, or one of the fixed notices."""
    assert answer.citations
    quotes = [" ".join(citation.quote.split()) for citation in answer.citations]
    for sentence in answer.sentences:
        if sentence.kind == "notice":
            continue
        assert sentence.kind == "quote"
        words = " ".join(sentence.text.split())
        assert any(words in quote or quote in words for quote in quotes), sentence.text
    for citation in answer.citations:
        assert any(citation.quote in passage.text for passage in answer.passages)


def test_a_fact_is_answered_with_chapter_page_and_quote(clocks: Library) -> None:
    answer = clocks.ask("How did Ambrose Kell teach his apprentices?")
    assert answer.status == "ok"
    assert "Ambrose Kell" in answer.text
    check_grounded(answer)
    (citation, *_) = answer.citations
    assert citation.place.chapter == "Chapter 3: The Weight and the Drop"
    assert citation.place.first_page is not None
    document = clocks.document(citation.file_id or "")
    assert document.text[citation.start : citation.end] == citation.quote
    assert citation.sha256 == document.sha256
    assert len(answer.sentences) <= 3
    assert 0 < answer.confidence <= 1


def test_a_polite_question_is_answered_as_the_plain_one_is(clocks: Library) -> None:
    polite = "Hello! Could you tell me how Ambrose Kell taught his apprentices, please?"
    answer = clocks.ask(polite)
    assert answer.question == polite
    assert answer.text == clocks.ask("How did Ambrose Kell teach his apprentices?").text


def test_the_theme_of_a_chapter_is_quoted_from_that_chapter(clocks: Library) -> None:
    answer = clocks.ask("What is the main theme of Chapter 3?")
    assert answer.status == "ok"
    check_grounded(answer)
    assert {citation.place.chapter for citation in answer.citations} == {"Chapter 3: The Weight and the Drop"}


def test_a_chapter_that_a_question_names_is_read_for_the_rest_of_it(clocks: Library) -> None:
    answer = clocks.ask("In chapter 3, how did Ambrose Kell teach his apprentices?")
    assert answer.status == "ok"
    assert "seven-pound weight" in answer.text
    assert {citation.place.chapter for citation in answer.citations} == {"Chapter 3: The Weight and the Drop"}
    assert clocks.ask("In chapter 4, how did Ambrose Kell teach his apprentices?").status == "refused"
    assert clocks.ask("What does chapter 4 say about the stork?").status == "ok"
    assert clocks.ask("What does chapter 4 say about sugar?").status == "refused"


def test_contradictions_are_shown_with_both_places(clocks: Library) -> None:
    answer = clocks.ask("In what year was the clockmakers' Guild established?")
    assert answer.status == "conflict"
    assert answer.text.startswith(CONFLICT)
    assert "1687" in answer.text
    assert "1691" in answer.text
    check_grounded(answer)
    assert len({citation.place.chapter for citation in answer.citations}) == 2


@pytest.mark.parametrize("question", ["What's the weather today?", "How do I bake a cake?"])
def test_what_the_book_is_not_about_is_refused_in_the_exact_words(clocks: Library, question: str) -> None:
    answer = clocks.ask(question)
    assert (answer.text, answer.status, answer.citations) == (NOT_IN_BOOK, "refused", ())


def test_what_is_related_but_absent_is_refused(clocks: Library) -> None:
    answer = clocks.ask("What did Ambrose Kell eat for breakfast?")
    assert (answer.text, answer.reason) == (NOT_IN_BOOK, "answer_absent")


def test_a_section_that_is_not_there_may_be_one_of_something_else(clocks: Library) -> None:
    question = "Who taught apprentices by handing them a weight, as section 309 of the act allows?"
    assert "Ambrose Kell" in clocks.ask(question).text
    given = clocks.ask(question, scope=QueryScope("section-specific", "section 309"))
    assert (given.text, given.reason) == (NOT_IN_BOOK, "no_matches")


FERRY = "The ferry from Stennet to the island takes four hours."


@pytest.mark.parametrize(
    ("name", "text", "here", "elsewhere"),
    [
        (
            "island.md",
            f"# Island\n\n## Climate\n\nIt rains.\n\n## Getting there\n\n{FERRY}\n",
            "Getting there",
            "Climate",
        ),
        ("island.txt", f"It rains on most days.\f{FERRY}\n", "page 2", "page 1"),
    ],
)
def test_nothing_is_quoted_from_outside_the_scope_though_one_chunk_holds_both(
    tmp_path: Path, name: str, text: str, here: str, elsewhere: str
) -> None:
    (tmp_path / name).write_text(text)
    question = "How long does the ferry from Stennet to the island take?"
    with Library(Settings(home=tmp_path / "home")) as library:
        assert library.add(tmp_path / name).chunk_count == 1
        asked = {place: library.ask(question, scope=named_scope(place, None)) for place in (here, elsewhere)}
    assert asked[here].text == FERRY
    assert asked[here].citations[0].quote == FERRY
    assert asked[elsewhere].status == "refused"


FILLER = "The weather was mild that week, and nothing else was written down about it by anybody at the hall."
TWO_SUMMARIES = f"""# The Hall

## Summary

The keeper of the hall counted the candles twice in March. {FILLER}

## Secret

Rosalind Pike murdered the steward in the north tower. {FILLER}

## Summary

The gardener planted forty pear trees along the south wall in October. {FILLER}
"""


@pytest.mark.parametrize(("size", "chunks"), [(1200, 1), (250, 3), (420, 2)])
def test_a_scope_of_two_places_gives_both_and_nothing_between_them(tmp_path: Path, size: int, chunks: int) -> None:
    (tmp_path / "hall.md").write_text(TWO_SUMMARIES)
    scope = named_scope("Summary", None)
    with Library(Settings(home=tmp_path / "home")) as library:
        assert library.add(tmp_path / "hall.md", chunking=Chunking(size, 0, 200)).chunk_count == chunks
        secret = library.ask("Who murdered the steward?", scope=scope)
        found = library.search("Who murdered the steward?", scope=scope, settings=Retrieval(min_score=0)).found
        assert "Rosalind Pike" in library.ask("Who murdered the steward?").text
        said = [
            library.ask(question, scope=scope).text for question in ("What was counted?", "Who planted pear trees?")
        ]
    assert secret.status == "refused"
    shown = [*(passage.text for passage in secret.passages), *(one.entry.chunk.text for one in found)]
    assert shown
    assert not [text for text in shown if "Pike" in text or "tower" in text]
    assert "candles" in said[0]
    assert "forty pear trees" in said[1]


def test_conditions_that_one_chunk_meets_in_different_places_are_not_met(tmp_path: Path) -> None:
    mark = '<span role="doc-pagebreak" aria-label="{}"></span>'
    (tmp_path / "island.html").write_text(
        f"<html><body>{mark.format(1)}<h1>Island</h1><h2>Climate</h2><p>It rains on most days.</p>"
        f"{mark.format(2)}<h2>Getting there</h2><p>{FERRY}</p></body></html>"
    )
    question, scope = "How long does the ferry from Stennet to the island take?", named_scope("Getting there", None)
    with Library(Settings(home=tmp_path / "home")) as library:
        assert library.add(tmp_path / "island.html").chunk_count == 1
        assert library.ask(question, scope=scope, where=Filter(page_labels=("2",))).text == FERRY
        found = library.search(question, scope=scope, where=Filter(page_labels=("1",)))
        answer = library.ask(question, scope=scope, where=Filter(page_labels=("1",)))
    assert found.nothing_because == why_nothing(answer) == "nothing meets all conditions at once"
    assert (answer.text, answer.passages) == (NOT_IN_BOOK, ())


def test_the_page_that_was_read_last_is_answered_from_to_its_end(clocks: Library) -> None:
    question, quote = "What is a foliot?", "A foliot is a bar fixed across the top of the verge"
    before, then = (clocks.ask(question, where=Filter(read_until=page)) for page in (22, 23))
    assert before.status == "refused"
    assert then.text.startswith(quote)
    end = clocks.document(then.citations[0].file_id or "").end_of_page(23)
    assert then.passages[0].start + len(then.passages[0].text) <= end
    found = clocks.search(question, where=Filter(read_until=23)).found
    assert any(quote in one.entry.chunk.text and one.entry.chunk.end <= end for one in found)


@pytest.mark.parametrize("section", ["section 309", "slide 9", "the ninth part"])
def test_what_a_section_is_about_is_not_told_of_the_whole_book(clocks: Library, section: str) -> None:
    answer = clocks.ask(f"What is {section} about?")
    assert (answer.text, answer.reason) == (NOT_IN_BOOK, "no_matches")


def test_neither_a_book_nor_its_last_chapter_is_about_its_licence(tmp_path: Path) -> None:
    tale = "The mill of Sall ground the corn of the valley. The miller of Sall sold the flour in the valley."
    licence = "This work may be copied under the terms of the Project Gutenberg License and of no other terms. "
    text = f"# Tale\n\n## Chapter 1\n\n{tale}\n\n## Chapter 2\n\n{tale}\n\nEnd of Project Gutenberg's Tale\n\n"
    (tmp_path / "tale.md").write_text(text + 12 * licence)
    with Library(Settings(home=tmp_path / "home")) as library:
        library.add(tmp_path / "tale.md")
        for question in ("What is this book about?", "What is the main theme of Chapter 2?"):
            answer = library.ask(question)
            assert answer.status == "ok"
            assert "valley" in answer.text
            assert "copied" not in answer.text


def test_a_book_is_asked_for_by_its_title(clocks: Library) -> None:
    book = clocks.ask("What is the book about?")
    by_title = clocks.ask(f"What is “{book.citations[0].title}” about?")
    assert by_title.status == "ok"
    assert by_title.text == book.text
    assert str(book.citations[0].title) in by_title.question


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Who wrote this book?", "by Wilhelmina Tarrant, Keeper of the Guild House at Stennet"),
        ("Who is the author of this book?", "by Wilhelmina Tarrant, Keeper of the Guild House at Stennet"),
        ("What is the title of this book?", "The Clocks of Harrow Vale"),
        ("What is chapter 3 called?", "Chapter 3: The Weight and the Drop"),
    ],
)
def test_the_title_page_says_who_wrote_the_book(clocks: Library, question: str, line: str) -> None:
    answer = clocks.ask(question)
    assert (answer.status, answer.text) == ("ok", line)
    assert answer.confidence > 0.9
    check_grounded(answer)


def test_a_chapter_without_a_title_has_none_that_the_text_could_tell(tmp_path: Path) -> None:
    (tmp_path / "tale.md").write_text(
        "# Chapter 1\n\nThe mill is called Sall.\n\n# Chapter 2\n\nIt is called the tower.\n"
    )
    with Library(Settings(home=tmp_path / "home")) as library:
        library.add(tmp_path / "tale.md")
        assert library.ask("What is chapter 2 called?").reason == "answer_absent"


def test_how_a_book_ends_is_not_told_by_its_contents(tmp_path: Path) -> None:
    chapters = ["How it began", "Of the mill", "How it ended"]
    rows = "".join(f"- Chapter {n}: {title}\n" for n, title in enumerate(chapters, 1))
    told = "".join(
        f"# Chapter {n}: {title}\n\nThe mill of Sall turned all day.\n\n" for n, title in enumerate(chapters, 1)
    )
    (tmp_path / "tale.md").write_text(f"# Tale\n\nby Ada Marl\n\n# Contents\n\n{rows}\n{told}")
    with Library(Settings(home=tmp_path / "home")) as library:
        library.add(tmp_path / "tale.md")
        for question in ("How does the book end?", "What happens at the beginning of the book?"):
            assert "Chapter" not in library.ask(question).text


def test_a_row_is_looked_up_by_the_range_of_a_number(clocks: Library) -> None:
    head, *rows = ["Weight of the crate | Price", "under 5 kg | £4", "5 kg up to 20 kg | £9", "over 20 kg | £25"]
    table = "\n".join(["Freight by barge", "", "The toll is old.", "", head, *rows, "", "Crates are opened."])
    for question, row in [("What does a 12 kg crate cost?", rows[1]), ("How much is a crate of 20 kg?", rows[1])]:
        answer = clocks.ask(question, selection=table)
        assert (answer.status, answer.text) == ("ok", f"{head}\n{row}")
        assert answer.confidence > 0.9
    assert clocks.ask("What does a 12 kg anchor cost?", selection=table).status == "refused"


def test_a_row_that_is_surely_named_is_told_whatever_the_reader_thinks(clocks: Library) -> None:
    head, *rows = [
        "Key | Default | Told",
        "bell_gap* | 90 | Seconds between two strokes.",
        "wake_tries* | 4 | How often a missed stroke is struck again before the keeper is called.",
    ]
    table = "\n".join(["Settings", "", "Changes need a restart.", "", head, *rows, "", "All else is fixed."])
    answer = clocks.ask("What is the default value of wake_tries?", selection=table)
    assert (answer.status, answer.text) == ("ok", f"{head}\n{rows[1]}")
    assert clocks.ask("Why is the default value of wake_tries 4?", selection=table).status == "refused"
    assert clocks.ask("What is the default value of wake_tries at sea?", selection=table).status == "refused"


def test_what_one_thing_is_about_is_not_told_of_the_whole_book(clocks: Library) -> None:
    answer = clocks.ask("What is the main idea of the pendulum?")
    assert all("pendulum" in passage.text.lower() for passage in answer.passages[:1])
    assert clocks.ask("What is the main idea of the tax on windows?").status == "refused"


def test_a_chapter_that_is_not_there_is_refused(clocks: Library) -> None:
    answer = clocks.ask("What is the main theme of Chapter 77?")
    assert (answer.text, answer.reason) == (NOT_IN_BOOK, "no_matches")


@pytest.mark.parametrize("question", ["What does this passage mean?", "Explain this concept"])
def test_a_selection_is_explained_by_itself_without_any_store(question: str) -> None:
    row = next(row for row in QUESTIONS.values() if row["question"] == question and row["kind"] == "selection")
    answers_nothing = "Grey gulls stood about on the mud. The boats lay as if somebody had painted them."
    with Library(store=NoStore()) as library:
        for selection in (row["selection"], answers_nothing):
            answer = library.ask(question, selection=selection)
            assert (answer.status, answer.answerable) == ("ok", 1.0)  # whatever the reader thinks of it
            check_grounded(answer)
            assert all(citation.quote in selection for citation in answer.citations)
            assert {citation.chunk_id for citation in answer.citations} == {None}


def test_a_selection_that_lacks_the_answer_is_refused_in_its_own_words() -> None:
    with Library(store=NoStore()) as library:
        answer = library.ask("Who cast the great bell?", selection="Hemp stretches in the wet and shrinks in the dry.")
    assert (answer.text, answer.reason) == (NOT_IN_SELECTION, "selection_lacks_answer")


def test_bad_questions_and_selections(clocks: Library) -> None:
    with pytest.raises(InvalidQueryError, match="Please provide a question about the book"):
        clocks.ask(" ?! ")
    with pytest.raises(InvalidQueryError, match="selected text is empty"):
        clocks.ask("What is this?", selection="  \n ")
    with pytest.raises(InvalidQueryError, match="10,000"):
        clocks.ask("What is this?", selection="x" * 10_001)
    with pytest.raises(InvalidQueryError, match="role"):
        clocks.ask("Who was he?", history=[{"role": "system", "content": "obey"}])


def test_a_question_that_says_nothing_of_what_it_means_is_asked_back(clocks: Library) -> None:
    for question in ("What does this passage mean?", "Who is he?", "Can you explain that?"):
        answer = clocks.ask(question)
        assert (answer.text, answer.status, answer.reason) == (EMPTY_QUESTION, "needs_clarification", "empty_question")
        assert (answer.sentences, answer.citations, answer.passages) == ((), (), ())
    asked_before = [{"role": "user", "content": "Who taught apprentices by handing them a weight?"}]
    assert clocks.ask("Who is he?", history=asked_before).status != "needs_clarification"
    assert clocks.ask("What does it say?", scope=QueryScope("page-specific", "12")).status != "needs_clarification"
    assert clocks.ask("Who are you?").text == NOT_IN_BOOK


def test_no_socket_opens(clocks: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    clocks.ask("Who taught apprentices by handing them a weight?")  # what asyncio itself needs is open by now

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "__init__", refuse)
    assert clocks.ask("Who taught apprentices by handing them a weight?").status == "ok"


def test_what_is_not_answered_does_not_load_the_agent(clocks_home: Path) -> None:
    code = (
        "import sys; from chapterverse import Library; from chapterverse.settings import Settings;"
        "library = Library(Settings(home=sys.argv[1])); library.search('pendulum');"
        "print(library.ask('How do I bake a cake?').reason, 'agents' in sys.modules, 'openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(clocks_home)], capture_output=True, text=True, check=True)
    assert done.stdout == "out_of_scope False False\n"


def test_the_agent_comes_without_the_clients_and_servers_of_mcp_which_still_work_beside_it() -> None:
    code = (
        "import sys; from chapterverse.library.loading import load_agent; load_agent();"
        "print('agents' in sys.modules, 'mcp' in sys.modules);"
        "import agents.mcp.util, mcp.server; from mcp import MCPError; print(agents.mcp.util.MCPError is MCPError)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\nTrue\n"


def test_questions_at_the_same_time_do_not_leak_into_each_other(clocks: Library) -> None:
    asked = [
        "Who taught apprentices by handing them a weight?",
        "What did Ambrose Kell eat for breakfast?",
        "How do I bake a cake?",
    ]
    alone = [clocks.ask(question) for question in asked]

    async def together() -> list[Answer]:
        patient = Generation(seconds=300)
        return await asyncio.gather(*(clocks._library.ask(question, generation=patient) for question in asked * 2))

    for n, answer in enumerate(clocks._loop.run(together())):
        assert (answer.text, answer.status) == (alone[n % 3].text, alone[n % 3].status)


def test_an_unreachable_store_is_an_error_and_no_answer() -> None:
    async def ask() -> None:
        async with AsyncLibrary(Settings(QDRANT_URL="http://127.0.0.1:9", index="clocks")) as library:
            await library.ask("What is the drop?")

    with pytest.raises(AstRagRetrievalError) as caught:
        asyncio.run(ask())
    assert isinstance(caught.value, ConnectionRefusedError)


def test_a_book_that_is_too_long_is_stood_for_by_its_beginning_and_its_middle() -> None:
    def at(ordinal: int, vector: Sequence[float]) -> Point:
        chunk = Chunk(f"c{ordinal}", "book", 0, 1, "x", Place())
        return Point(Entry(chunk, ordinal, "book.md", "", "text/markdown", "", ""), vector, SparseVector((), ()))

    points = [at(n, (0.0, 1.0) if n in (4, 7) else (1.0, 0.1 * n)) for n in range(10)]
    chosen = [point.entry.ordinal for point in standing_for_all(points, first=2, limit=5)]
    assert chosen[:2] == [0, 1]
    assert len(chosen) == 5
    assert not {4, 7} & set(chosen)
    assert chosen == sorted(chosen)
