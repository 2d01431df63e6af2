"""Enumerations in prose: which sentences belong to one."""

from __future__ import annotations

import pytest

from chapterverse.answer.enumerations import asks_for_members, enumeration
from chapterverse.answer.layout import lay_out
from chapterverse.ingest.sentences import split


def found(text: str, said: str) -> list[str] | None:
    sheet = lay_out(text, split(text))
    one = enumeration(sheet, next(n for n in range(len(sheet.sentences)) if said in sheet.sentence(n)))
    return [sheet.sentence(n) for n in one[1]] if one else None


@pytest.mark.parametrize(
    "members",
    [
        ("First, it was wet.", "Second, it was draughty.", "Finally, it was far."),
        ("Firstly, it was wet.", "Secondly, it was draughty.", "Lastly, it was far."),
        ("First of all, it was wet.", "Then it was draughty.", "Last of all, it was far."),
        ("One was the wet.", "Another was the draughty.", "A third was the distance."),
        ("The first reason is the wet.", "The second reason is the draughty.", "The last is the distance."),
    ],
)
def test_members_and_what_leads_into_them(members: tuple[str, ...]) -> None:
    text = f"The inn closed. There were three reasons. {' '.join(members)} It was sold in May."
    for one in members:
        assert found(text, one) == ["There were three reasons.", *members]
    assert found(text, "There were three") == ["There were three reasons.", *members]
    assert found(text, "The inn closed") is None
    assert found(text, "in May") is None


def test_what_explains_a_member_may_stand_between() -> None:
    text = "First, it was wet. The roof leaked.\n\nSecond, it was draughty."
    assert found(text, "wet") == ["First, it was wet.", "Second, it was draughty."]
    assert found(text, "leaked") is None


@pytest.mark.parametrize(
    "text",
    [
        "First, it was wet. It was draughty.",
        "The first guest sang. Then it rained.",
        "First, it was wet.\n\nBeds\n\nSecond, two.",
    ],
    ids=["one member", "no enumeration", "another section"],
)
def test_no_enumeration(text: str) -> None:
    assert found(text, text[:9]) is None


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Why did it close?", True),
        ("What are the steps?", True),
        ("What reason had she?", True),
        ("When was it?", False),
    ],
)
def test_who_asks_for_all_members(question: str, asks: bool) -> None:
    assert asks_for_members(question) is asks
