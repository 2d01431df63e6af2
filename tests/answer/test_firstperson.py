"""A question that names the author is put as the author speaks."""

import pytest

from chapterverse.answer.firstperson import in_first_person

MARL = "Ada J. Marl"


@pytest.mark.parametrize(
    ("question", "author", "asked"),
    [
        ("How many nests did Marl open?", MARL, "How many nests did I open?"),
        ("How many nests did Ada Marl open?", MARL, "How many nests did I open?"),
        ("How many nests did Dr. A. J. Marl open?", MARL, "How many nests did I open?"),
        ("How many nests does the author open?", None, "How many nests do I open?"),
        ("What was sent to Marl in May?", MARL, "What was sent to me in May?"),
        ("Which ship was Marl's favourite?", MARL, "Which ship was my favourite?"),
        ("What has Marl seen of the mill?", "Ada Marl and Ida Roe", "What have I seen of the mill?"),
        ("Who was Marl?", MARL, None),
        ("Who is the author?", MARL, None),
        ("How many nests did Marlow open?", MARL, None),
        ("How many nests did Marl open?", None, None),
        ("Where did Marl live, and how high is the mill at Sall?", MARL, None),
    ],
)
def test_the_author_says_i(question: str, author: str | None, asked: str | None) -> None:
    assert in_first_person(question, author) == asked
