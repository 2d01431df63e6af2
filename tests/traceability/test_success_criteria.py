"""What the success criteria count, on the sample book with the models that are shipped.

A few questions of each kind in every run, all that a criterion asks for in the long one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from chapterverse.answer.prompts import NOT_IN_BOOK, NOT_IN_SELECTION, is_notice
from chapterverse.index.collection import GenerationReader
from chapterverse.ingest.books import sample_book
from chapterverse.library import Generation, Library
from chapterverse.types import Answer
from tests.test_asking import NoStore

QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (sample_book().parent / "questions.jsonl").read_text().splitlines()
]
PATIENT = Generation(seconds=300)  # a machine that is busy with other tests is slow

Ask = Callable[[dict[str, Any]], Answer]

sizes = pytest.mark.parametrize("size", [6, pytest.param(100, marks=pytest.mark.full)], ids=["some", "all"])


def chosen(size: int, *kinds: str) -> list[dict[str, Any]]:
    rows = [row for row in QUESTIONS if row["kind"] in kinds]
    return random.Random(5).sample(rows, min(size, len(rows)))


@pytest.fixture(scope="module")
def ask(clocks: Library) -> Ask:
    """The book's answer to a question of the set; no question is asked twice."""
    answers: dict[str, Answer] = {}

    def answer(row: dict[str, Any]) -> Answer:
        if row["id"] not in answers:
            answers[row["id"]] = clocks.ask(row["question"], generation=PATIENT)
        return answers[row["id"]]

    return answer


def check_grounded(answer: Answer, book: str) -> None:
    """Independent of the gate: a quote is in the passage it cites, which is in the book; the rest are fixed phrases."""
    for sentence in answer.sentences:
        if sentence.kind == "notice":
            assert is_notice(sentence.text, answer.question)
            continue
        assert sentence.kind == "quote"
        cited = [answer.citations[number] for number in sentence.citations]
        assert any(sentence.text in citation.quote or citation.quote in sentence.text for citation in cited)
        for citation in cited:
            (passage,) = (passage for passage in answer.passages if passage.id == citation.id)
            assert citation.quote in passage.text
            assert passage.text in book


@sizes
def test_no_sentence_is_without_support(clocks: Library, ask: Ask, size: int) -> None:
    answers = [ask(row) for row in [*chosen(size, "answerable"), *chosen(size // 4, "absent")]]
    assert any(answer.citations for answer in answers)
    for answer in answers:
        book = clocks.document(answer.citations[0].file_id or "").text if answer.citations else ""
        check_grounded(answer, book)
        if not answer.citations:
            assert answer.text == NOT_IN_BOOK


@sizes
def test_every_answer_has_its_sources_and_matched_chunks(ask: Ask, size: int) -> None:
    answers = [ask(row) for row in chosen(size, "answerable")]
    answers = [answer for answer in answers if answer.status != "refused"]
    assert answers
    for answer in answers:
        matched = {passage.entry.chunk.id for passage in answer.passages if passage.entry}
        assert answer.citations
        assert {citation.chunk_id for citation in answer.citations} <= matched
        assert all(citation.place.first_page is not None for citation in answer.citations)
        assert 1 <= len(answer.sentences) <= 5


@sizes
def test_what_is_out_of_scope_is_refused_and_what_is_in_scope_is_not_held_to_be_out(ask: Ask, size: int) -> None:
    for row in chosen(size, "out_of_scope"):
        answer = ask(row)
        assert (answer.text, answer.status, answer.citations) == (NOT_IN_BOOK, "refused", ()), row["question"]
    assert all(ask(row).reason != "out_of_scope" for row in chosen(size, "answerable"))


@sizes
def test_a_selection_is_answered_from_itself_alone(size: int) -> None:
    rows = chosen(size, "selection")
    assert rows
    with Library(store=NoStore()) as library:
        for row in rows:
            answer = library.ask(row["question"], selection=row["selection"], generation=PATIENT)
            assert all(citation.quote in row["selection"] for citation in answer.citations)
            check_grounded(answer, row["selection"])
            if not answer.citations:
                assert answer.text == NOT_IN_SELECTION


def test_what_is_surely_out_of_scope_is_refused_without_retrieval(
    clocks: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def searched(*_: object, **__: object) -> None:
        raise AssertionError("the index was searched")

    for name in ("search_dense", "search_lexical", "entries", "points", "fetch", "window", "document"):
        monkeypatch.setattr(GenerationReader, name, searched)
    answer = clocks.ask("How do I bake a cake?", generation=PATIENT)
    assert (answer.text, answer.reason, answer.passages) == (NOT_IN_BOOK, "out_of_scope", ())


def test_the_theme_of_a_chapter_comes_with_its_chunks_and_pages(clocks: Library) -> None:
    answer = clocks.ask("What is the main theme of Chapter 3?", generation=PATIENT)
    assert answer.status == "ok"
    assert 3 <= len(answer.sentences) <= 5
    assert {passage.entry.chunk.place.chapter for passage in answer.passages if passage.entry} == {
        "Chapter 3: The Weight and the Drop"
    }
    for citation in answer.citations:
        assert citation.chunk_id
        assert citation.place.first_page is not None
