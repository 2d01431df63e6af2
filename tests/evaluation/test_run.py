"""Asking a question set of real books: where gold places are, what other thresholds would say, what fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chapterverse.answer.validate import ValidationSettings
from chapterverse.errors import StoreUnreachableError
from chapterverse.evaluation import calibrate, measures, run
from chapterverse.evaluation.curves import risk_coverage
from chapterverse.evaluation.questions import Question
from chapterverse.library import Generation, Library
from chapterverse.settings import Settings
from tests.clocks import INDEX

SUMMARY = "The ferry of Ambry crosses the river at dawn."
BOOK = f"""# Ferries

## One

### Summary

{SUMMARY}

### Story

Long ago the people of Ambry built a raft out of oak, and a widow named Petra Hull steered it for forty years.

## Two

### Summary

The mill at Ambry grinds rye. {SUMMARY}
"""


@pytest.fixture(scope="module")
def ferries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("ferries")
    (folder / "book.md").write_text(BOOK)
    with Library(Settings(home=folder / "home")) as library:
        library.add(folder / "book.md", index="ferries")
        yield library


def asked(**fields: Any) -> Question:
    return Question(**{"id": "q", "kind": "answerable", "question": "When does the ferry of Ambry cross?", **fields})


def test_a_quote_has_every_place_where_it_stands(ferries: Library) -> None:
    (case,) = run.run(ferries, [asked(quotes=[SUMMARY, "It is nowhere."])], curve=False).cases
    assert [one.of for one in case.gold] == [0, 0]
    assert case.lost == ["It is nowhere."]


def test_a_heading_that_comes_again_is_not_all_that_stands_between(ferries: Library) -> None:
    (case,) = run.run(ferries, [asked(answer="at dawn", section=["Summary"])], curve=False).cases
    assert len(case.gold) == 2
    assert all(one.end - one.start < len(BOOK) / 2 for one in case.gold)
    assert not [one for one in measures.figures(run.Run(about={}, threshold=0, cases=[case])) if "overlap" in one.name]


def test_a_search_that_fails_is_one_failed_question(ferries: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(question: str, **options: object) -> None:
        if question == "broken?":
            raise StoreUnreachableError("The store cannot be reached.")
        return search(question, **options)

    search: Any = ferries.search
    monkeypatch.setattr(ferries, "search", unreachable)
    good = asked(quotes=[SUMMARY])
    measured = run.run(ferries, [good.model_copy(update={"id": "b", "question": "broken?"}), good], curve=False)
    assert [case.error for case in measured.cases] == ["The store cannot be reached.", ""]
    found = {one.name: one.count for one in measures.figures(measured)}
    assert found["MRR"] == 1, "nobody knows at which rank the other one would have been"


@pytest.mark.full
def test_the_curve_says_what_other_thresholds_give(clocks: Library) -> None:
    """The tower's height is no tower's drop: a row that is read by itself is surer of that than its whole passage."""
    texts = ("How many feet high is the tower at Nether Garth?", "Who founded the Guild?", "What is a foliot?")
    questions = [asked(id=text, question=text, answer="Ann") for text in texts]
    measured = run.run(clocks, questions, INDEX)
    assert any(case.stricter for case in measured.cases)
    points = risk_coverage(measured.cases)
    for threshold in (0.65, 0.96, 0.999):
        settings = ValidationSettings(answer_threshold=threshold)
        answers = [
            clocks.ask(one.question, index=INDEX, validation=settings, generation=Generation(seconds=300))
            for one in questions
        ]
        given = sum(answer.status != "refused" for answer in answers)
        assert calibrate.at(points, threshold).answers == given, threshold


def test_what_is_stored_with_an_index_does_not_sway_the_next_choice(clocks_home: Path) -> None:
    questions = [
        asked(id="a", question="What is a foliot?", answer="a bar"),
        asked(id="b", question="Who was Kell?", answer="x"),
    ]
    with Library(Settings(home=clocks_home)) as library:
        first = run.run(library, questions, INDEX, calibrated=False)
        library.calibrate({**calibrate.choose(first, 0.6).stored(first), "answer_threshold": 0.999}, INDEX)
        again = run.run(library, questions, INDEX, calibrated=False)
        assert again.threshold == 0.999
        assert risk_coverage(again.cases) == risk_coverage(first.cases)
