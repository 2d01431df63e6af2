"""The sample book and its acceptance questions: their counts, and each gold quote against the text."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest

SAMPLE = Path(__file__).parent.parent / "sample"

FIELDS = {"id", "kind", "question", "answer", "quotes", "chapter", "section"}
KINDS = {"answerable": 110, "out_of_scope": 26, "absent": 55, "selection": 22}
NOTES = {
    "two_sections": 12,
    "near_duplicate": 8,
    "contradiction": 4,
    "table": 6,
    "list": 6,
    "definition": 10,
    "theme": 1,
}
SEED_QUESTIONS = {
    ("answerable", "What is the main theme of Chapter 3?"),
    ("out_of_scope", "What's the weather today?"),
    ("out_of_scope", "How do I bake a cake?"),
    ("selection", "What does this passage mean?"),
    ("selection", "Explain this concept"),
}
STOP_WORDS = frozenset(
    """a an the and or but if of to in on at by for with from into onto as is are was were be been being it
    its this that these those he she they them his her their him i me my you your we our us who whom
    whose what which when where why how do does did done has have had not no nor so than then there here
    can could should would will may might must shall about after before between over under out up down
    off all any each every some such only own same s t""".split()
)


@dataclass(frozen=True)
class Block:
    """A paragraph, list item or table row, as read; footnote marks stay, so that no quote spans one."""

    chapter: int
    section: str
    text: str


def render(line: str) -> str:
    """One line of the manuscript without its Markdown."""
    if line.startswith("|"):
        return " | ".join(cell.strip() for cell in line.strip("|").split("|"))
    line = re.sub(r"^(\d+\.|-|\[\^\d+\]:) ", "", line)
    return " ".join(line.replace("*", "").split())


def read_blocks(path: Path) -> list[Block]:
    """The chapters keep each paragraph, item and row on one line, so that a line is a block."""
    blocks, section = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.strip() and not line.startswith("# ") and not re.fullmatch(r"[|:-]+", line):
            blocks.append(Block(int(path.name[:2]), section, render(line)))
    return blocks


CHAPTERS = {int(path.name[:2]): path for path in sorted((SAMPLE / "chapters").glob("*.md"))}
BLOCKS = [block for path in CHAPTERS.values() for block in read_blocks(path)]
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [question for question in QUESTIONS if question["kind"] == "answerable"]
SELECTIONS = [question for question in QUESTIONS if question["kind"] == "selection"]


def places(passage: str) -> set[tuple[int, str]]:
    return {(block.chapter, block.section) for block in BLOCKS if passage in block.text}


def content_words(text: str) -> set[str]:
    return {
        re.sub(r"(?<=\w{3})(ing|ed|es|s)$", "", word)
        for word in re.findall(r"[a-z0-9]+", text.lower())
        if word not in STOP_WORDS
    }


def overlap(question: dict[str, Any]) -> float:
    asked = content_words(question["question"])
    return len(asked & content_words(" ".join(question["quotes"]))) / len(asked)


def test_the_book_has_twelve_chapters_of_sections() -> None:
    assert sorted(CHAPTERS) == list(range(13))
    for number in range(1, 13):
        source = CHAPTERS[number].read_text(encoding="utf-8")
        assert source.startswith(f"# Chapter {number}: ")
        assert 3 <= len(re.findall(r"^## ", source, re.MULTILINE)) <= 5, number


def test_the_book_is_long_and_varied_enough() -> None:
    sources = [CHAPTERS[number].read_text(encoding="utf-8") for number in range(1, 13)]
    body = "\n".join(sources)
    assert len(re.findall(r"[\w'-]+", body)) >= 12_000
    assert len(re.findall(r"^\*Figure \d+\.\d+\. ", body, re.MULTILINE)) >= 4
    assert len(re.findall(r"^\|---", body, re.MULTILINE)) >= 1
    for source in sources:
        notes = re.findall(r"^(\[\^\d+\]):", source, re.MULTILINE)
        assert re.findall(r"(\[\^\d+\])(?!:)", source) == notes
    assert len(re.findall(r"^\[\^\d+\]:", body, re.MULTILINE)) >= 6


def test_the_book_repeats_itself_with_one_fact_changed() -> None:
    """Six pairs of paragraphs at least share most of their words, and are not the same."""
    words = [set(block.text.split()) for block in BLOCKS if len(block.text) > 150]
    pairs = [(a, b) for i, a in enumerate(words) for b in words[i + 1 :] if len(a & b) / len(a | b) > 0.8]
    assert len(pairs) >= 6
    assert all(a != b for a, b in pairs)


def test_there_are_enough_questions_of_every_kind() -> None:
    kinds = Counter(question["kind"] for question in QUESTIONS)
    assert set(kinds) == set(KINDS)
    assert {kind: n for kind, n in KINDS.items() if kinds[kind] < n} == {}
    notes = Counter(question.get("note") for question in ANSWERABLE)
    assert {note: n for note, n in NOTES.items() if notes[note] < n} == {}
    answers = Counter(question["answerable"] for question in SELECTIONS)
    assert min(answers[True], answers[False]) >= 11


def test_the_literal_seed_questions_are_asked() -> None:
    assert {(question["kind"], question["question"]) for question in QUESTIONS} >= SEED_QUESTIONS


def test_records_are_well_formed_and_unique() -> None:
    for question in QUESTIONS:
        own = {"selection", "answerable"} if question["kind"] == "selection" else set()
        assert set(question) >= FIELDS | own, question["id"]
        assert (question["answer"] is None) == (question["quotes"] == []), question["id"]
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    asked = [(question["question"], question.get("selection")) for question in QUESTIONS]
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("kind", ["absent", "out_of_scope"])
def test_what_the_book_does_not_answer_has_no_gold(kind: str) -> None:
    for question in (question for question in QUESTIONS if question["kind"] == kind):
        gold = [question[field] for field in ("answer", "quotes", "chapter", "section")]
        assert gold == [None, [], [], []], question["id"]


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_every_quote_stands_once_where_the_question_says(question: dict[str, Any]) -> None:
    found = [places(quote) for quote in question["quotes"]]
    assert all(len(place) == 1 for place in found), found
    assert list(dict.fromkeys(chapter for ((chapter, _),) in found)) == question["chapter"]
    assert list(dict.fromkeys(section for ((_, section),) in found)) == question["section"]


def test_questions_over_several_places_quote_them() -> None:
    for question in ANSWERABLE:
        if question.get("note") == "two_sections":
            assert len(question["section"]) >= 2, question["id"]
        if question.get("note") == "contradiction":
            assert len(question["chapter"]) == 2, question["id"]
        if question.get("note") == "table":
            assert all(" | " in quote for quote in question["quotes"]), question["id"]


def test_the_theme_is_quoted_from_the_chapter_asked_about() -> None:
    (theme,) = (question for question in ANSWERABLE if question.get("note") == "theme")
    assert theme["chapter"] == [3]


def test_questions_are_asked_in_a_readers_words() -> None:
    assert median(overlap(question) for question in ANSWERABLE) <= 0.40


@pytest.mark.parametrize("question", SELECTIONS, ids=lambda question: question["id"])
def test_a_selection_is_a_passage_and_its_quotes_lie_in_it(question: dict[str, Any]) -> None:
    selection = question["selection"]
    ((chapter, section),) = places(selection)
    assert [[chapter], [section]] == [question["chapter"], question["section"]]
    assert 1 <= len(re.findall(r"[.?!]\"?(?=\s|$)", selection)) <= 6
    assert (question["answer"] is not None) == question["answerable"]
    assert all(quote in selection for quote in question["quotes"])
