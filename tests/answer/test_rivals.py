"""What is said of a thing of nearly the same name is no answer."""

from __future__ import annotations

import pytest

from chapterverse.answer.rivals import speaks_of_rival


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the lighthouse on East Skerry?", "Lighthouse | Height (feet)\nWest Skerry | 61"),
        ("When did Anna Holm leave the bank?", "Peter Holm left the bank in 1902."),
        ("What did Anna Holm pay?", "To Maria Holm of Ribe, a loom. She to pay four crowns."),
        ("Who paid for the bridge at Ribe?", "Aarhus bridge was paid for by the guild of weavers."),
        (
            "How long did the harbour of Ribe take?",
            "Aarhus harbour is older. It took five years.",
        ),
        ("What is Ribe's harbour made of?", "In Aarhus harbour the walls are oak."),
    ],
)
def test_a_rival_is_told_by_its_name(question: str, text: str) -> None:
    assert speaks_of_rival(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the lighthouse on West Skerry?", "Lighthouse | Height (feet)\nWest Skerry | 61"),
        ("How high is the lighthouse on West Skerry?", "It is sixty-one feet high."),
        ("Where did Anna Holm live?", "She lived with Peter Holm in the mill."),
        ("Whom did Anna Holm marry?", "Anna was nineteen when she married Peter Holm."),
        ("When did Anna Holm leave the bank?", "Holm left the bank in 1902."),
        ("When did Anna Holm leave the bank?", "Peter Holm left it in 1899, and Anna Holm three years later."),
        ("Who paid for the bridge at Ribe?", "Ribe bridge was paid for by the guild, as was Aarhus bridge."),
        ("Who paid for the bridge at Ribe?", "The weavers of Aarhus paid for it."),
        ("Who paid for the bridge?", "Aarhus bridge was paid for by the guild."),
        ("", ""),
    ],
)
def test_what_is_asked_about_is_no_rival(question: str, text: str) -> None:
    assert not speaks_of_rival(question, text)
