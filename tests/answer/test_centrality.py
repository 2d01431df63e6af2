"""Which sentences say what something is."""

from __future__ import annotations

import pytest

from chapterverse.answer.centrality import defines, forms, spells_out


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What does CVO stand for?", spells_out),
        ("What is CVO short for?", spells_out),
        ("What is a CVO?", defines),
        ("What is a stand for?", spells_out),  # of no consequence: it is no abbreviation
    ],
)
def test_an_abbreviation_is_spelled_out_where_that_is_asked_for(question: str, first: object) -> None:
    assert forms(question)[0] is first
    assert set(forms(question)) == {defines, spells_out}
