"""Entries: what stands under a line that asks the question, or names what it asks for."""

from __future__ import annotations

import pytest

from chapterverse.answer.entries import answer_below, section_named
from chapterverse.answer.layout import Layout, lay_out
from chapterverse.ingest.sentences import split

GLASS = "Put it into the grey box. The box is emptied on Mondays."
STEPS = "1. Lift the lid.\n2. Turn the drum."
ASKED = [
    ("Where do I leave old glass?", GLASS),
    ("How do I start the mixer?", STEPS),
    ("May guests use the oven?", "Yes, after noon."),
]


def laid_out(text: str) -> Layout:
    return lay_out(text, split(text))


def below(question: str, text: str) -> str | None:
    entry = answer_below(question, laid_out(text))
    return text[entry.start : entry.end] if entry else None


def named(question: str, text: str) -> str | None:
    entry = section_named(question, laid_out(text))
    return text[entry.start : entry.end] if entry else None


@pytest.mark.parametrize(
    "layout",
    [
        "{question}\n\n{answer}",
        "Q: {question}\n\n{answer}",
        "Question {n}: {question}\n{answer}",
        "{n}. {question}\n\n{answer}",
    ],
    ids=["a heading", "a mark", "a mark and a number", "a number"],
)
def test_the_answer_stands_below_the_question(layout: str) -> None:
    asked = [layout.format(n=n, question=question, answer=answer) for n, (question, answer) in enumerate(ASKED, 1)]
    for question, answer in ASKED:
        assert below(question, "Kitchen\n\n" + "\n\n".join(asked)) == answer


def test_or_beside_it() -> None:
    assert below("May I ride?", "Who may ask? Anybody.\nMay I ride? Any member may. Ask first.\nMay I swim? No.") == (
        "Any member may. Ask first."
    )


@pytest.mark.parametrize(
    ("question", "same"),
    [
        ("Where can I leave the old glass?", True),
        ("When do I leave old glass?", False),
        ("Where do I not leave old glass?", False),
        ("Where do I leave old glass jars?", False),
    ],
)
def test_questions_are_the_same_in_nearly_the_same_words(question: str, same: bool) -> None:
    assert (below(question, f"{ASKED[0][0]}\n\n{GLASS}") is not None) == same


@pytest.mark.parametrize(
    "text",
    [
        "Why is the sea salt?\n\nWhy is the sky blue?\n\nLight is scattered.",
        "1. Why is the sea salt?\n2. Why is the sky blue?\n\nWrite two pages.",
        "Why is the sea salt?\n\nWaves\n\nWind makes waves.",
        "Why is the sea salt?\n\n“Nobody knows,” said the captain.",
        "“Why is the sea salt?”\n\nNobody had asked that before.",
        "Why is the sea salt?",
    ],
    ids=["a question", "an exercise", "a heading", "speech below", "speech", "nothing"],
)
def test_what_is_below_may_be_no_answer(text: str) -> None:
    assert below("Why is the sea salt?", text) is None


def test_a_heading_names_what_stands_below_it() -> None:
    rules = "These are the rules:\n\n- Knock.\n- Wipe your feet."
    text = f"2. House rules\n\n{rules}\n\n3. Aim\n\nTo be quiet. And kind.\n\nMore."
    assert named("What are the house rules?", text) == rules
    assert named("What is the aim?", text) == "To be quiet. And kind."
    assert named("What is the meaning of the word aim?", text) == "To be quiet. And kind."


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("2.1. Mend the dyke.\n\n2.2. Dig a ditch. Keep it clear.\n\n2.3. Plant reeds.", True),
        ("2.1 Mend the dyke.\n2.2 Dig a ditch.", True),
        ("2.1. Mend the dyke.\n\n2.3. Dig a ditch.", False),
        ("2.1. Mend the dyke.\n\n3.2. Dig a ditch.", False),
        ("2.1. Mend the dyke.\n\nThe dyke is old.", False),
    ],
    ids=["clauses", "without a stop", "one is missing", "of another section", "no clause"],
)
def test_clauses_that_go_on_counting_are_one(text: str, whole: bool) -> None:
    page = f"2 Advice\n\n{text}\n\n3 Thanks\n\nWe thank all."
    assert named("What is the advice?", page) == (text if whole else "2.1. Mend the dyke.")


@pytest.mark.parametrize(
    "question", ["When was the flood?", "What year was the flood?", "What is the flood gate?", "?"]
)
def test_a_heading_does_not_tell_when_it_was_nor_what_else_there_is(question: str) -> None:
    assert named(question, "The flood\n\nIt rained for days. The river rose.") is None
