"""Abbreviations of a question are read as the names that its passages have for them, and as nothing else."""

from __future__ import annotations

import pytest

from chapterverse.answer.abbreviations import written_out

OFFICES = "Harbour and Ferry Office:\n\nKeeps the boats.\n\nU.S. Lamp and Bell Service:\n\nTends the lamps."


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What does the HFO do?", "What does the Harbour and Ferry Office do?"),
        ("What does LBS tend?", "What does Lamp and Bell Service tend?"),
        ("What does USLBS tend?", "What does U.S. Lamp and Bell Service tend?"),
        ("How do HFO and LBS differ?", "How do Harbour and Ferry Office and Lamp and Bell Service differ?"),
    ],
)
def test_a_name_with_these_initials_is_meant(question: str, meant: str) -> None:
    assert written_out(question, [OFFICES]) == meant


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What does NASA do?", [OFFICES]),
        ("What does the FO do?", ["The Ferry Office keeps the boats."]),  # two letters fit too much
        ("What does the HFO do?", [OFFICES, "The HFO keeps the boats."]),  # the book has the letters themselves
        ("What does the HFO do?", [OFFICES, "The High Fell Observatory looks at stars."]),  # which of the two?
        ("What does HFO stand for?", [OFFICES]),  # that must be said in the book
        ("WHAT DOES THE HFO DO?", [OFFICES]),
        ("What does the hfo do?", [OFFICES]),
    ],
)
def test_what_is_not_sure_stays_as_it_is(question: str, texts: list[str]) -> None:
    assert written_out(question, texts) == question
