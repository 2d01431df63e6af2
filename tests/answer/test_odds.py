"""What speaks for a passage beside what the reader says of it."""

from __future__ import annotations

import pytest

from chapterverse.answer.odds import weighed
from chapterverse.types import Reading

BELL, MILL, BREAD = "The great bell weighs nine tons.", "The mill burnt because of a bell.", "Bread rises."


def chances(question: str, *said: tuple[str, float]) -> list[float]:
    readings = weighed(question, [text for text, _ in said], [Reading(0.5, chance) for _, chance in said])
    assert all(reading.relevance == 0.5 for reading in readings)
    return [reading.answerable for reading in readings]


def test_a_passage_alone_keeps_its_chance() -> None:
    assert chances("Why does the great bell limp?", (BREAD, 0.7)) == [0.7]


def test_a_passage_that_lacks_what_another_has_loses_to_it() -> None:
    first, second = chances("How many tons, nine or ten, is the great bell?", (MILL, 0.7), (BELL, 0.6))
    assert first < second == 0.6


def test_a_later_place_costs_little() -> None:
    first, second, third = chances("bell", (BELL, 0.7), (BELL, 0.7), (BELL, 0.7))
    assert first == 0.7
    assert 0.55 < third < second < 0.7


def test_words_that_no_passage_has_say_nothing() -> None:
    assert chances("Which zeppelin?", (BELL, 0.7), (MILL, 0.7)) == chances("bell", (BELL, 0.7), (BELL, 0.7))


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_certainties_stay_chances(chance: float) -> None:
    _, second = chances("great bell", (BELL, 0.5), (BREAD, chance))
    assert 0.0 <= second < 1.0


def test_no_passages_no_readings() -> None:
    assert chances("Which bell?") == []
