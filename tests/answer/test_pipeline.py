"""The path of a question: what is searched for, and what is passed on."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace

import pytest

from chapterverse.answer.narrower import SURE, narrowed
from chapterverse.answer.needs import Mind
from chapterverse.answer.pipeline import Watch, ask
from chapterverse.answer.prompts import NOT_IN_BOOK
from chapterverse.answer.retrieve import Found
from chapterverse.answer.topic import Verdict
from chapterverse.answer.validate import DEFAULTS, ValidationSettings
from chapterverse.ingest.sentences import split
from chapterverse.library.asking import GivenContent, Writer
from chapterverse.library.deadline import for_answer
from chapterverse.protocols import Reader
from chapterverse.types import Answer, AnswerSpan, Entry, Reading, Reason, Spoken, Stage
from tests.answer.stand_ins import WordReader, passages

BELL = "The great bell was cast in 1702."
MILL = "The mill at Quillbridge burned down in 1811."
OTHERS = [f"The keeper painted door number {n}." for n in range(6)]


class SearchedBook(GivenContent):
    """Finds the three passages that share most words with a query, and keeps what it was asked."""

    def __init__(self, entries: list[Entry], distant: bool, author: str | None = None) -> None:
        super().__init__(entries)
        self.queries: list[str] = []
        self.distant, self._author = distant, author

    async def author(self) -> str | None:
        return self._author

    async def about(self, question: str) -> Verdict:
        return replace(await super().about(question), distant=self.distant)

    async def find(self, query: str) -> tuple[list[Found], Reason | None]:
        self.queries.append(query)
        words = set(query.lower().strip("?").split())
        ranked = sorted(self.entries, key=lambda entry: -len(words & set(entry.chunk.text.lower().split())))
        return [Found(entry, 0.5) for entry in ranked[:3]], None


STRICT = ValidationSettings(answer_threshold=0.8)


def put(
    question: str,
    *,
    distant: bool = False,
    selection: str | None = None,
    validation: ValidationSettings = DEFAULTS,
    reader: Reader | None = None,
    texts: Sequence[str] = (*OTHERS, BELL, MILL),
    author: str | None = None,
    watch: Watch = lambda _: None,
) -> tuple[Answer, SearchedBook]:
    entries = [one.entry for one in passages(*texts) if one.entry]
    book = SearchedBook(
        [replace(one, chunk=replace(one.chunk, file_id=one.chunk.id)) for one in entries], distant, author
    )
    with ThreadPoolExecutor(1) as executor:

        async def asked() -> Answer:
            async with for_answer(30) as deadline:
                writer = Writer(split, executor, deadline)
                mind = Mind(reader or WordReader(), split, writer, validation, executor)
                return await ask(question, mind, book, selection, watch)

        return asyncio.run(asked()), book


def test_every_part_of_a_question_is_searched_for() -> None:
    answer, book = put("When was the great bell cast, and when did the mill at Quillbridge burn down?")
    assert book.queries == ["When was the great bell cast?", "when did the mill at Quillbridge burn down?"]
    assert answer.text == f"{BELL} {MILL}"
    assert {passage.text for passage in answer.passages[:2]} == {BELL, MILL}
    assert len(answer.passages) == 3


def test_a_passage_without_a_word_of_what_is_spoken_of_says_nothing_about_it() -> None:
    sure = EasilyLost(alone=0.9, among=0.9)
    told, _ = put("What is said about the mill?", texts=[*OTHERS, MILL], reader=sure)
    assert told.text == MILL
    absent, _ = put("What is said about the keeper's walrus?", texts=[BELL, MILL], reader=sure)
    assert (absent.status, absent.reason, absent.passages) == ("refused", "answer_absent", ())


def test_a_part_that_leans_on_the_first_is_searched_for_with_it() -> None:
    _, book = put("When was the great bell cast, and how much does it weigh?")
    assert book.queries[:2] == ["When was the great bell cast?", "how much does the great bell weigh?"]


class WatchedReader(WordReader):
    """Keeps which questions had a passage read whole."""

    def __init__(self) -> None:
        super().__init__()
        self.closely: list[str] = []

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        if whole:
            self.closely.append(question)
        return super().read(question, passages, whole=whole)


@pytest.mark.parametrize(
    ("question", "closely"),
    [
        (
            "When was the great bell cast, and when did the mill at Quillbridge burn down?",
            ["When was the great bell cast?", "when did the mill at Quillbridge burn down?"],
        ),
        ("When was the great bell cast, and when was it cast?", ["When was the great bell cast?"]),
    ],
    ids=["each that stands by itself", "not one that leans on another"],
)
def test_parts_are_read_as_closely_as_questions(question: str, closely: list[str]) -> None:
    reader = WatchedReader()
    put(question, reader=reader)
    assert reader.closely == closely
    unwatched = WatchedReader()
    put(question, reader=unwatched, validation=ValidationSettings(closer_look=False))
    assert unwatched.closely == []


@pytest.mark.parametrize(("before", "status"), [(0, "ok"), (6, "refused")], ids=["its opening", "a later page"])
def test_what_a_book_says_of_itself_stands_in_its_opening(before: int, status: str) -> None:
    told = "A book that Ada Marl wrote."
    answer, _ = put("Who wrote this book?", texts=[*OTHERS[:before], told, MILL])
    assert (answer.status, answer.text == told) == (status, status == "ok")


class HalfSure(WordReader):
    """Is sure that the answer is in the first passage, where it finds it in the heading alone."""

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        spans = (AnswerSpan(0, len("The Mill"), 0.9),)
        return [Reading(1.0, 0.9, spans) if "Mill" in text[:10] else Reading(1.0, 0.3, spans) for text in passages]


def test_where_the_surest_passage_cannot_be_quoted_no_doubtful_one_is() -> None:
    answer, _ = put("Where was the mill painted?", texts=["The Mill\n\nIt rained.", *OTHERS[:2]], reader=HalfSure())
    assert (answer.status, answer.reason) == ("refused", "not_supported")


def test_a_part_that_is_nowhere_is_named() -> None:
    answer, _ = put("When was the great bell cast, and who tuned the organ of Tollen?")
    assert answer.status == "partial"
    assert (
        answer.text
        == f"{BELL} No answer to this part of the question was found in the book: who tuned the organ of Tollen?"
    )


def test_a_distant_question_is_answered_only_if_the_reader_is_all_but_certain() -> None:
    question = "When was the great bell cast in the tower?"
    near, _ = put(question)
    far, _ = put(question, distant=True)
    assert near.status == "ok"
    assert 0.5 <= near.confidence < 0.9
    assert (far.status, far.reason) == ("refused", "answer_absent")


@pytest.mark.parametrize(
    ("said", "status"),
    [("“great  BELL was cast.”", "ok"), ("'bell great was cast'", "refused"), ("'great bell' was cast", "refused")],
)
def test_a_distant_question_that_quotes_the_book_is_asked_as_any_other(said: str, status: str) -> None:
    question = f"When is it said that the {said} in the tower?"
    assert put(question)[0].status == "ok"
    assert put(question, distant=True)[0].status == status


def test_an_abbreviation_is_searched_and_read_as_the_name_that_the_book_has_for_it() -> None:
    text = "The Lamp and Bell Service was founded in 1790."
    answer, book = put("When was the LBS founded?", distant=True, texts=[*OTHERS, text])
    assert book.queries == ["When was the LBS founded?", "When was the Lamp and Bell Service founded?"]
    assert (answer.status, answer.text, answer.question) == ("ok", text, "When was the LBS founded?")


def test_a_selection_is_answered_from_an_even_chance_on() -> None:
    question = "When was the great bell cast in the tower?"
    refused, _ = put(question, validation=STRICT)
    answer, book = put(question, selection=BELL, validation=STRICT)
    assert (refused.status, refused.reason) == ("refused", "answer_absent")
    assert (answer.status, answer.text, book.queries) == ("ok", BELL, [])
    assert 0.5 <= answer.confidence < 0.8


class Undecided(WordReader):
    """Is surest of the first passage, and thinks that the others answer too."""

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        return [
            Reading(1.0, 0.99 if "hewn" in text else 0.7, (AnswerSpan(text.index("in "), len(text) - 1, 1.0),))
            for text in passages
        ]


@pytest.mark.parametrize(
    ("sure", "status"), [("Its frame was hewn in oak.", "ok"), ("The great bell was hewn in 1650.", "conflict")]
)
def test_what_others_say_against_each_other_contradicts_no_answer(sure: str, status: str) -> None:
    texts = [sure, "The great bell was cast in 1710.", "The great bell was cast in 1722."]
    answer, _ = put("Of what was the great bell cast?", texts=texts, reader=Undecided())
    assert answer.status == status


def test_a_contradiction_of_which_one_side_cannot_be_said_is_none() -> None:
    texts = ["The great bell was hewn in 1650.", "Nora Finch was famous. She had the great bell cast in 1710."]
    answer, _ = put("Of what was the great bell cast?", texts=texts, reader=Undecided())
    assert (answer.status, answer.text) == ("ok", "The great bell was hewn in 1650.")
    assert "dangling" in {issue.code for issue in answer.issues}


@pytest.mark.parametrize(("author", "status"), [("Ada Marl", "ok"), ("Ida Roe", "refused"), (None, "refused")])
def test_what_the_author_says_of_himself_answers_a_question_with_his_name(author: str | None, status: str) -> None:
    question = "How many nests did Marl open?"
    texts = [*OTHERS[:2], "I opened many nests."]
    seen: list[Stage | Spoken] = []
    answer, book = put(question, texts=texts, author=author, validation=STRICT, watch=seen.append)
    assert (answer.status, answer.question) == (status, question)
    stages = [one.name for one in seen if isinstance(one, Stage)]
    assert stages == list(dict.fromkeys(stages)) == list(answer.timings)
    assert book.queries == [question, "How many nests did I open?"][: 1 + (status == "ok")]


class EasilyLost(WordReader):
    """Finds an answer in a paragraph that stands by itself, and hardly in one among others."""

    def __init__(self, alone: float, among: float) -> None:
        super().__init__()
        self.alone, self.among = alone, among

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        readings = super().read(question, passages, whole=whole)
        return [
            replace(one, answerable=self.among if "\n\n" in text else self.alone) if one.answerable > 0.5 else one
            for one, text in zip(readings, passages, strict=True)
        ]


@pytest.mark.parametrize(
    ("alone", "among", "status"),
    [(0.8, 0.4, "ok"), (0.7, 0.4, "refused"), (0.8, 0.2, "refused")],
    ids=["sure", "not sure", "far from it"],
)
def test_before_a_refusal_the_likeliest_paragraphs_are_read_by_themselves(
    alone: float, among: float, status: str
) -> None:
    page = f"The keeper liked cats and the colour green.\n\n{MILL}\n\nNobody came to see it for a year or more."
    answer, _ = put(
        "When did the mill at Quillbridge burn down?", texts=[page, *OTHERS], reader=EasilyLost(alone, among)
    )
    assert answer.status == status
    if status == "ok":
        assert answer.text == MILL
        assert page[answer.citations[0].start : answer.citations[0].end] == MILL
        assert answer.answerable == alone
    else:
        assert any(page in passage.text for passage in answer.passages)


@pytest.mark.parametrize(("head", "status"), [("When is tea served?", "ok"), ("Where is tea served?", "refused")])
def test_what_stands_below_the_question_itself_is_read_by_itself(head: str, status: str) -> None:
    below = "Four o'clock is the hour. Bring a cup."
    reader = AloneOnly(f"{head}\n\n{below}")
    answer, _ = put("When is tea served?", reader=reader, texts=[f"The inn is old.\n\n{head}\n\n{below}\n\nIt rains."])
    assert (answer.status, answer.text) == (status, below if status == "ok" else NOT_IN_BOOK)


@pytest.mark.parametrize(("chance", "status"), [(SURE, "ok"), (SURE - 0.1, "refused")], ids=["sure", "not sure"])
def test_what_stands_below_a_heading_that_names_it_must_be_likelier(chance: float, status: str) -> None:
    section = "House rules\n\nKnock first. Wipe your feet."
    reader = AloneOnly(section, chance, len("House rules\n\n"))
    answer, _ = put("What are the house rules?", reader=reader, texts=[f"The inn is old.\n\n{section}\n\nIt rains."])
    assert answer.status == status


def units(question: str, text: str) -> list[str]:
    return [one.text for one in narrowed(question, passages(text))]


HENS = "Can I keep more than two hens in the yard?"
NOISE = "Yes, as long as the neighbours do not mind the noise."


def test_a_paragraph_is_read_with_the_heading_above_it() -> None:
    key = "Where do I put the key of the cellar door?\n\nBeneath the mat."
    page = f"Help\n\n{key}\n\n{HENS}\n\n{NOISE}\n\nTheir eggs are yours."
    assert units("May I have three hens?", page) == [f"{HENS}\n\n{NOISE}"]
    assert units("May I have three hens?", f"Yard\n\n{HENS}") == []


def test_and_a_very_short_one_with_the_next() -> None:
    assert units("May I have three hens?", f"Help\n\n{HENS}\n\nYes.\n\n{NOISE}\n\nBye.") == [
        f"{HENS}\n\nYes.\n\n{NOISE}"
    ]
    assert units("May I have three hens?", f"{HENS}\n\nYes.\n\nBees\n\nNo.") == [f"{HENS}\n\nYes."]


class AloneOnly(WordReader):
    """Finds an answer in one text, and nothing in a longer one."""

    def __init__(self, text: str, chance: float = 0.6, start: int = 0) -> None:
        self.text, self.chance, self.start = text, chance, start

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        found = (AnswerSpan(self.start, self.start + 8, 0.9),)
        there = Reading(1.0, self.chance, found, found)
        return [there if one == self.text else Reading(1.0, 0.05) for one in passages]


class SlowReader(WordReader):
    """Waits, each time before it reads, until it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may = threading.Event(), threading.Event()

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        self.begun.set()
        assert self.may.wait(30)
        return super().read(question, passages, whole=whole)


def test_what_nobody_waits_for_any_more_is_not_read_on() -> None:
    """A thread cannot be ended from outside, but its next look at the book is its last step."""
    reader, entries = SlowReader(), [one.entry for one in passages(BELL, MILL) if one.entry]

    async def asked(executor: Executor) -> None:
        async with for_answer(30) as deadline:
            mind = Mind(reader, split, Writer(split, executor, deadline), DEFAULTS, executor)
            task = asyncio.create_task(ask("When was the great bell cast?", mind, GivenContent(entries)))
            await asyncio.to_thread(reader.begun.wait, 30)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            reader.may.set()

    with ThreadPoolExecutor(1) as executor:
        asyncio.run(asked(executor))
    assert len(reader.questions) == 1
