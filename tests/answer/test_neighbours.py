"""What a sentence needs around it to be understood."""

from __future__ import annotations

import pytest

from chapterverse.answer.layout import lay_out
from chapterverse.answer.neighbours import antecedents
from chapterverse.ingest.sentences import split

PIANOS = (
    "The barn was full. My mother, who had never raised her voice, raised it. He said he could not explain."
    " He said that he had been in every one of them since 1951."
)
QUESTION = "Since when had he been looking after the school pianos?"


@pytest.mark.parametrize(
    ("text", "answer", "before"),
    [
        (PIANOS, 3, [1, 2]),  # without the sentence between, "he" would be somebody else
        ("The barn was full. It had been so for years.", 1, []),  # "it" may stand for nothing
    ],
)
def test_a_pronoun_comes_with_the_sentences_from_the_last_that_has_none(
    text: str, answer: int, before: list[int]
) -> None:
    assert list(antecedents(lay_out(text, split(text)), answer, answer, QUESTION)) == before
