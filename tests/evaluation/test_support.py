"""The independent check: whatever is not in the book, or not where it is said to be, is seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from chapterverse.evaluation.questions import load
from chapterverse.evaluation.support import check
from chapterverse.ingest.books import sample_book
from chapterverse.library import Generation, Library
from chapterverse.types import Answer, AnswerSentence, Citation, Document

PATIENT = Generation(seconds=300)
SELECTION = next(
    one.selection or "" for one in load(sample_book().parent / "questions.jsonl") if one.kind == "selection"
)


@pytest.fixture(scope="module")
def answer(clocks: Library) -> Answer:
    return clocks.ask("How did Ambrose Kell teach his apprentices?", generation=PATIENT)


@pytest.fixture(scope="module")
def lookup(clocks: Library) -> Callable[[str], Document]:
    return clocks.document


def with_citation(answer: Answer, change: Callable[[Citation], Citation]) -> Answer:
    return replace(answer, citations=tuple(map(change, answer.citations)))


def with_sentence(answer: Answer, change: Callable[[AnswerSentence], AnswerSentence]) -> Answer:
    return replace(answer, sentences=tuple(map(change, answer.sentences)))


def test_an_answer_of_the_book_is_supported(answer: Answer, lookup: Callable[[str], Document]) -> None:
    assert set(check(answer, lookup)) == {"supported"}


@pytest.mark.parametrize(
    "change",
    [
        lambda a: with_sentence(a, lambda s: replace(s, text=s.text.replace("seven-pound", "nine-pound"))),
        lambda a: with_sentence(a, lambda s: replace(s, text=f"{s.text} So they say.")),
        lambda a: with_sentence(a, lambda s: replace(s, citations=())),
        lambda a: with_citation(a, lambda c: replace(c, start=c.start + 1)),
        lambda a: with_citation(a, lambda c: replace(c, quote=c.quote.replace("a", "b"))),
        lambda a: with_citation(a, lambda c: replace(c, sha256="0" * 64)),
        lambda a: with_citation(a, lambda c: replace(c, quote="", start=0, end=0)),
        lambda a: with_sentence(a, lambda s: replace(s, kind="notice")),
    ],
    ids=["number", "addition", "no citation", "offset", "quote", "other file", "empty quote", "false notice"],
)
def test_every_way_to_say_something_else_is_seen(
    answer: Answer, lookup: Callable[[str], Document], change: Callable[[Answer], Answer]
) -> None:
    assert "unsupported" in check(change(answer), lookup)


def test_what_a_model_has_worded_is_not_taken_for_supported(answer: Answer, lookup: Callable[[str], Document]) -> None:
    assert set(check(with_sentence(answer, lambda s: replace(s, kind="statement")), lookup)) == {"unchecked"}


def test_refusals_must_be_the_exact_ones(clocks: Library, lookup: Callable[[str], Document]) -> None:
    refusal = clocks.ask("What did Ambrose Kell eat for breakfast?", generation=PATIENT)
    assert check(refusal, lookup) == ["supported"]
    assert check(replace(refusal, text=refusal.text + "."), lookup) == ["unsupported"]


def test_selections_are_checked_against_themselves(clocks: Library, lookup: Callable[[str], Document]) -> None:
    answer = clocks.ask("What does this passage mean?", selection=SELECTION, generation=PATIENT)
    assert answer.citations
    assert set(check(answer, lookup, SELECTION)) == {"supported"}
    assert "unsupported" in check(answer, lookup, SELECTION + " And so on.")
