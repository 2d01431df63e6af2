"""The row that a question points at, by its name or as the highest of all."""

from __future__ import annotations

import pytest

from chapterverse.answer.layout import Layout
from chapterverse.answer.tables import row_asked_for
from chapterverse.ingest.sentences import split

VILLAGES = """Five villages there were.

Village | Households | Height above the sea (feet) | Trade
High Garth | 41 | 1,020 | Sheep
Stennet | 212 | 655 | Market
Tollen | 97 | 388 | Toll-bar
"""
PUMPS = """Model | Weight | Price | Introduced (year)
P10 | 4 kg | $120 | 1998
P20 | 900 g | $95 | 2004
P30 | 6 kg | $310 | 1987
"""
STATES = """State | Residents
Ost | 1,200
West | 3,400
Nord | 800
Total | 5,400
"""


def row(question: str, *texts: str) -> str | None:
    sheets = [Layout(text, split(text)) for text in texts]
    found = row_asked_for(question, sheets)
    return sheets[found.sheet].text[found.start : found.end] if found else None


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which village lay lowest?", "Tollen"),
        ("Which is the highest village?", "High Garth"),
        ("Which village has the most households?", "Stennet"),
        ("Which of the villages had the fewest households?", "High Garth"),
        ("How many households are there in Tollen?", "Tollen"),
        ("What is the cheapest model?", "P20"),
        ("Which model is the oldest?", "P30"),
        ("Which state has the most residents?", "West"),
    ],
)
def test_a_row_is_found(question: str, name: str) -> None:
    found = row(question, "The sea is far. It rains a lot.", VILLAGES, PUMPS, STATES)
    assert found is not None
    assert found.startswith(name)


@pytest.mark.parametrize(
    "question",
    [
        "Which model is the heaviest?",  # kilograms and grams
        "Which village is the second highest?",
        "Which village has at least 100 households?",
        "Which river is the longest?",
        "Which village has the most trades?",  # no numbers
        "Which village is the richest?",
        "Which villages have a market?",
    ],
)
def test_no_row_is_guessed(question: str) -> None:
    assert row(question, VILLAGES, PUMPS, STATES) is None


def test_of_equals_none_is_the_highest() -> None:
    assert row("Which state has the most residents?", STATES.replace("1,200", "3,400")) is None


def test_two_rows_are_too_few_to_speak_of_the_highest() -> None:
    assert row("Which state has the most residents?", STATES.replace("Nord | 800\n", "")) is None
