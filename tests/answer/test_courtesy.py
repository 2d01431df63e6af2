"""What is asked for its own sake, and what is only said around it."""

import pytest

from chapterverse.answer.courtesy import without_courtesy


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Could you tell me who the first keeper of the mill was, please?", "who was the first keeper of the mill?"),
        ("Hi! I was wondering who Nora is. Thanks!", "who is Nora?"),
        ("I'd like to know how heavy the bell at Tollen is.", "how heavy is the bell at Tollen?"),
        ("Hello, can you help me? What is a foliot?", "What is a foliot?"),
        ("Do you know which bees visit the clover?", "which bees visit the clover?"),
        ("Please can you list the five towers?", "list the five towers?"),
        ("Could you please explain the drop in simple words?", "explain the drop in simple words?"),
        ("What is a foliot? Thank you very much in advance!", "What is a foliot?"),
        ("What happened, please?", "What happened?"),
        ("Can you tell me what the drop is and why it is needed?", "what the drop is and why it is needed?"),
    ],
)
def test_courtesy_is_not_part_of_the_question(said: str, asked: str) -> None:
    assert without_courtesy(said) == asked


@pytest.mark.parametrize(
    "question",
    [
        "What is a foliot",
        "What does the word please mean?",
        'Who said "Could you tell me what this is, please"?',
        "Who did she say thanks to?",
        "Tell me about the mill",
        "Do you know whether the bell is heavy?",
        "Hey Jude: who wrote it?",
        "Thanks.",
    ],
)
def test_what_is_asked_stays_as_it_was_said(question: str) -> None:
    assert without_courtesy(question) == question
