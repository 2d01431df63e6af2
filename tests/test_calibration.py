"""What an index stores about when to answer is what asking it goes by."""

from __future__ import annotations

import pytest

from chapterverse.answer.validate import ValidationSettings
from chapterverse.library import Generation, Library
from chapterverse.library.parts import reader_name
from chapterverse.types import Answer

PATIENT = Generation(seconds=300)
ANSWERED = "How did Ambrose Kell teach his apprentices?"


@pytest.fixture(scope="module")
def before(clocks: Library) -> Answer:
    return clocks.ask(ANSWERED, generation=PATIENT)


def test_a_stored_threshold_is_used_and_can_be_taken_back(clocks: Library, before: Answer) -> None:
    assert before.status == "ok"
    stored = {"answer_threshold": 1.0, "reader": reader_name(clocks.reader)}
    clocks.calibrate(stored)
    try:
        assert clocks.record().calibration == stored
        refused = clocks.ask(ANSWERED, generation=PATIENT)
        assert (refused.status, refused.reason, refused.answerable) == ("refused", "answer_absent", before.answerable)
        assert (
            clocks.ask(ANSWERED, generation=PATIENT, validation=ValidationSettings(answer_threshold=0.5)).status == "ok"
        )
        clocks.calibrate({**stored, "reader": "another"})
        assert clocks.ask(ANSWERED, generation=PATIENT).status == "ok", (
            "a calibration of another reader says nothing about this one"
        )
    finally:
        clocks.calibrate({})
    assert clocks.ask(ANSWERED, generation=PATIENT).text == before.text


def test_what_might_be_the_answer_is_told_of_refusals_too(clocks: Library, before: Answer) -> None:
    refused = clocks.ask("What did Ambrose Kell eat for breakfast?", generation=PATIENT)
    assert refused.status == "refused"
    assert 0 < refused.answerable < before.answerable <= 1
    assert clocks.ask("What is the main theme of Chapter 3?", generation=PATIENT).answerable == pytest.approx(1.0)
