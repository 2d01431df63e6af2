"""Drafted questions: marked as machine-made, true to the book where they say so, and ready to be run."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

import chapterverse
from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation import drafts, questions, sentences
from chapterverse.ingest.read import LICENCE
from chapterverse.library import Library
from chapterverse.types import Block, Document

COLOURS = "red green blue grey white black brown pink amber violet golden silver".split()


@pytest.fixture(scope="module")
def drafted(clocks: Library) -> list[questions.Question]:
    return drafts.draft(clocks, count=40)


def book(*paragraphs: str) -> Document:
    text = "\n".join(paragraphs)
    starts = [text.index(paragraph) for paragraph in paragraphs]
    blocks = tuple(Block(at, at + len(p), "paragraph", ("One",)) for at, p in zip(starts, paragraphs, strict=True))
    return Document("f", "f.txt", "text/plain", "0", "Book", text, blocks)


def test_what_the_book_answers_is_in_the_book(clocks: Library, drafted: list[questions.Question]) -> None:
    document = clocks.document(clocks.inspect().sources[0].file_id)
    text = " ".join(document.text.split())
    answered = [one for one in drafted if one.kind == "answerable"]
    assert len(answered) == 20
    for one in answered:
        (quote,) = one.quotes
        assert quote in text
        assert one.answers[0] in quote
        assert one.question.endswith("?")
    assert {one.note for one in answered} >= {"definition", "cloze, year", "cloze, number"}


def test_there_are_questions_to_refuse_and_all_are_marked(drafted: list[questions.Question]) -> None:
    assert sum(one.kind == "absent" for one in drafted) == 10
    assert sum(one.kind == "out_of_scope" for one in drafted) == 10
    assert {one.made for one in drafted} == {"machine"}
    assert len({one.id for one in drafted}) == len(drafted) == 40


def test_drafts_can_be_kept_read_and_are_the_same_every_time(
    clocks: Library, drafted: list[questions.Question], tmp_path: Path
) -> None:
    questions.save(tmp_path / "drafts.jsonl", drafted)
    assert questions.load(tmp_path / "drafts.jsonl") == drafted
    assert drafts.draft(clocks, count=40) == drafted


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        (
            "A noon-stone is a flat slab with a line cut along it for the sun.",
            "What is a noon-stone?",
            "a flat slab with a line cut along it for the sun",
        ),
        (
            "The bridge at Tollen was rebuilt in 1742, and it has stood ever since.",
            "In which year was the bridge at Tollen rebuilt?",
            "1742",
        ),
        (
            "The millers of Tollen brought home the first clock in 1742, and a heifer with it.",
            "The millers of Tollen brought home the first clock in which year?",
            "1742",
        ),
        (
            "The twelve jurors of the vale were all writing very busily on slates.",
            "How many jurors of the vale were all writing very busily on slates?",
            "twelve jurors",
        ),
        (
            "The great wheel turns once in twelve hours; the small one turns more often.",
            "The great wheel turns once in how many hours?",
            "twelve hours",
        ),
    ],
)
def test_a_sentence_becomes_a_question(sentence: str, question: str, answer: str) -> None:
    (draft,) = drafts._Book([book(sentence)]).drafts()
    assert (draft.question, draft.answer, draft.quote, draft.section) == (question, answer, sentence, "One")


@pytest.mark.parametrize(
    "paragraph",
    [
        "It was rebuilt in 1742, and it has stood ever since.",
        "However, the bridge at Tollen was rebuilt in 1742 by the millers.",
        "Why, the miller of Tollen has not slept these three weeks!'",
        "The miller of Tollen has not slept for three whole weeks, poor soul!",
        "‘The miller is out. The miller of Tollen has not slept for three weeks.’",
        "'The miller is out,' said Ann. 'The mill of Tollen has not turned for three weeks. Nobody has seen him.'",
        "“The clock is old. The clock of Tollen was made in 1742 by the millers. Look at it.”",
        "The clock that I bought at Tollen was made in 1742 by the millers.",
        "The miller (so they say in Tollen, where in 1742 there was a fire) has two sons.",
        "If the miller of Tollen sleeps for three weeks, the mill stands still.",
        "By the millers of Tollen, the eggs are from eight to ten lines in length.",
        "Great is the power of steady misrepresentation, as every miller knows.",
        "The miller of Tollen walked round the two sides of the old mill.",
    ],
)
def test_speech_exclamations_and_what_leans_on_others_are_left_alone(paragraph: str) -> None:
    assert [one.question for one in drafts._Book([book(paragraph)]).drafts()] == []


def test_who_did_something_is_asked_of_names_of_one_word_too_but_not_too_often() -> None:
    deeds = [f"Alice opened the {colour} door of the long hall, and she went in." for colour in COLOURS]
    made = drafts._Book([book(*deeds, "Every cat of the hall liked Alice, and Alice, and the tall Alice.")]).drafts()
    assert len(made) == 5
    assert (made[0].question, made[0].answer) == ("Who or what opened the red door of the long hall?", "Alice")
    said = book("Alice replied in a very melancholy voice.", "Alice was sad, as Alice was shy, and so was Alice.")
    assert drafts._Book([said]).drafts() == []


@pytest.mark.parametrize(
    "sentence",
    [
        "The council fulfils its Section 309 responsibilities with care and patience.",
        "The council reviews section 309 responsibilities with care and patience.",
        "The order known as E.O. 14008 directs all councils to keep their clocks.",
        "The council followed the 1990 amendments with much care and patience.",
        "Over the next four years, the council will mend the clocks of the vale.",
        "To reduce the noise of nearly 200 clocks in the vale, the council mends them.",
        "Why the miller and the mason of the valley built two clocks.",
    ],
)
def test_a_number_that_names_or_a_clause_that_says_nothing_is_not_asked(sentence: str) -> None:
    assert drafts._Book([book(sentence)]).drafts() == []


def test_a_count_beside_a_number_that_names_is_asked() -> None:
    made = drafts._Book([book("The Section 309 reviews of the council took 12 clerks a whole year.")])
    assert [one.question for one in made.drafts()] == [
        "The Section 309 reviews of the council took how many clerks a whole year?"
    ]


def test_no_question_is_asked_twice() -> None:
    made = drafts._Book(
        [book("A noon-stone is a flat slab with a line cut along it.", "A Noon-stone is a gift for every new miller.")]
    )
    assert [one.question for one in made.drafts()] == ["What is a noon-stone?"]


def test_as_many_are_to_be_refused_as_answered_where_no_name_can_be_exchanged(tmp_path: Path) -> None:
    sentences = [f"The {word} wheel of the old mill turns {n} times." for n, word in enumerate(COLOURS, 12)]
    (tmp_path / "mill.md").write_text("# Mill\n\n" + "\n\n".join(sentences), "utf-8")
    made = drafts.draft(Library.open(tmp_path / "mill.md"), count=20)
    kinds = Counter(one.kind for one in made)
    assert kinds == {"answerable": 10, "out_of_scope": 10}


def test_a_name_is_exchanged_for_one_of_whom_the_book_does_not_say_it() -> None:
    made = drafts._Book(
        [
            book(
                "The first clock was built by Ann Lee in 1742, for a heifer and a cheese.",
                "Everybody in the valley liked old Ann Lee, and they feared young Bob Roe.",
                "The miller and his wife disliked that Bob Roe.",
            )
        ]
    )
    (draft,) = (one for one in made.drafts() if one.note == "cloze, year")
    swapped = made.exchanged(draft, random.Random(0))
    assert swapped == "In which year was the first clock built by Bob Roe?"


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("Who or what built the clock of Ann Lee?", True),
        ("Ann Lee built how many clocks?", True),
        ("In which year did the council of Ann Lee in the valley meet?", True),
        ("In which year was the Plan To Ann Lee made?", False),
        ("How many Ann Lee clocks are there?", False),
        ("The Making of Clocks by Means of Ann Lee was published in which year?", False),
        ("Who or what sailed to Ann Lee or Africa?", False),
        ("Who or what liked Ann Leeds?", False),
    ],
)
def test_only_a_whole_name_is_exchanged(question: str, whole: bool) -> None:
    assert sentences.stands_for_itself("Ann Lee", question) is whole


def test_the_licence_behind_a_book_is_not_asked_about(tmp_path: Path) -> None:
    told = "A noon-stone is a flat slab with a line cut along it."
    licence = "A Project Gutenberg License is a paper that all of the readers of this book must read."
    text = "\n\n".join([told] * 3 + [f"The mill of Tollen has {n} wheels of oak and iron." for n in range(30, 60)])
    (tmp_path / "mill.txt").write_text(f"{text}\n\nEnd of the Project Gutenberg EBook of Mills\n\n{licence}\n", "utf-8")
    document = chapterverse.read(tmp_path / "mill.txt")
    assert any(block.headings == LICENCE for block in document.blocks)
    assert not [one for one in drafts._Book([document]).drafts() if "Gutenberg" in one.question]


def test_a_person_is_not_exchanged_for_a_place() -> None:
    made = drafts._Book(
        [
            book(
                "The first clock was built by Ann Lee in 1742, for a heifer and a cheese.",
                "Everybody in the valley liked old Ann Lee, though never at High Garth.",
                "The miller and his wife were born at High Garth.",
            )
        ]
    )
    (draft,) = (one for one in made.drafts() if one.note == "cloze, year")
    assert made.exchanged(draft, random.Random(0)) is None


def test_too_few_are_refused(clocks: Library) -> None:
    with pytest.raises(AstRagValidationError, match="at least 4"):
        drafts.draft(clocks, count=2)
