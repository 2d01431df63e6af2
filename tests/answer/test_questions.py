"""The parts of a question, what a pronoun in a later one stands for, and what kind of question it is."""

from __future__ import annotations

import pytest

from chapterverse.answer.questions import (
    asked_count,
    asks_about_book,
    asks_for_list,
    content,
    names_nothing,
    queries,
    quoted,
    theme_of,
)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("When was the great bell cast, and how much does it weigh?", "how much does the great bell weigh?"),
        ("Who built the Kell bridge and how tall is it?", "how tall is the Kell bridge?"),
        ("How many locks does the canal have and who dug it?", "who dug the canal?"),
        ("When did the mill burn down, and who owned it?", "who owned the mill?"),
        ("What is a foliot and how does it work?", "how does a foliot work?"),
        ("What is the height of the tower and who built it?", "who built the tower?"),
        ("Where does the old ferry leave from and what is its fare?", "what is the old ferry's fare?"),
        ("Who founded Harrow Vale and what is its population?", "what is Harrow Vale's population?"),
        ("Why did Lucy leave the island, and where did she go?", "where did Lucy go?"),
        ("Who was the master of the guild and when did he die?", "when did the master die?"),
        ("How are tickets sold, and when must they be shown?", "when must tickets sold be shown?"),
        ("When was the reader published, and how is that installed?", "how is that installed (the reader)?"),
        ("Who cast the bell, and who paid the mason?", "who paid the mason?"),
        ("Does it run in the harbour, and how do I start it?", "how do I start it?"),
        ("Why did he leave the house, and where is his brother?", "where is his brother?"),
    ],
)
def test_a_later_part_names_what_its_pronoun_stands_for(question: str, asked: str) -> None:
    assert queries(question)[1] == asked


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Who is Kell? How high is the tower?", ["Who is Kell?", "How high is the tower?"]),
        ("Who is Kell and what is the capital of Sall?", ["Who is Kell?", "what is the capital of Sall?"]),
        ("Who dug canals? What is brass?", ["Who dug canals?", "What is brass?"]),
        ("Who dug the canal and when?", ["Who dug the canal?", "when dug the canal?"]),
        ("When was the bell cast, and where?", ["When was the bell cast?", "where was the bell cast?"]),
        ("What are the height and the weight of it?", ["What is the height of it?", "What is the weight of it?"]),
        (
            "What are the dry weight and the height of it?",
            ["What is the dry weight of it?", "What is the height of it?"],
        ),
        (
            "What were the causes and address of Kell?",
            ["What were the causes of Kell?", "What was the address of Kell?"],
        ),
        ("Who cast it and in which year?", ["Who cast it?", "in which year cast it?"]),
    ],
)
def test_short_parts_are_asked_by_themselves(question: str, asked: list[str]) -> None:
    assert queries(question) == asked


@pytest.mark.parametrize(
    "question",
    [
        "Which metals, and in what proportions?",
        "When and where was Kell born?",
        "What is the difference between when and where?",
        "What are the old and new gates of the mill?",
        "What is the role of the guild and the council of Sall?",
        "Who dug the canal?",
        "What did she and the master of the guild build?",
        "Which ledger shows what changed and who changed it?",
    ],
)
def test_what_does_not_stand_alone_is_not_cut(question: str) -> None:
    assert queries(question) == [question]


@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("who is the author", True),
        ("Who wrote this book?", True),
        ("What is the title of the novel?", True),
        ("How does the novel end?", True),
        ("When was this report published?", True),
        ("When was the report published?", False),
        ("Who wrote the book of hours?", False),
        ("Who wrote to Kell?", False),
        ("What does the author say of brass?", False),
    ],
)
def test_questions_about_the_book_itself_are_told_from_others(question: str, yes: bool) -> None:
    assert asks_about_book(question) is yes


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("What are the four principles?", 4),
        ("Which three towns were burned?", 3),
        ("Name the two founders of the Guild.", 2),
        ("What are the principles?", 0),
        ("Who were the four?", 0),
        ("When did the two towers fall?", 0),
        ("What are Kell's four rules?", 4),
        ("What were the founders' two mistakes?", 2),
        ("What are its 3 goals?", 3),
        ("List the 10 articles of the charter.", 10),
        ("What are the 12 months?", 0),
    ],
)
def test_how_many_are_asked_for(question: str, count: int) -> None:
    assert asked_count(question)[0] == count


@pytest.mark.parametrize(
    "question",
    [
        "How to wind the clock?",
        "How can I wind the clock?",
        "How could one stop it?",
        "How do I check the rope?",
        "What should I do before the frost comes?",
        "What must we do?",
        "What do you need to do if the rope breaks?",
        "How is the clock reset?",
        "How are the weights lifted?",
        "Which metals does the founder use?",
        "What old tools do they keep?",
        "Which tower clocks are there?",
        "What kinds of rope are used?",
        "Give me all the rules.",
        "Could you list the masters?",
        "What are Kell's rules?",
        "What were its causes?",
        "What is new in Chime 2.4?",
        "What has been fixed in 2.4.1?",
    ],
)
def test_questions_for_several_things(question: str) -> None:
    assert asks_for_list(question)


@pytest.mark.parametrize(
    "question",
    [
        "What are foliots?",
        "How is he?",
        "How is the clock in the tower?",
        "What business does Kell do?",
        "What must cavers do?",
        "How do I know the rope is dry?",
        "How can you tell whether the rope is dry?",
        "How do we find out if the bell is cracked?",
        "How should I check that the weight hangs free?",
        "What should the winder do?",
        "What share of eggs do thieves take?",
        "Which wheels can't be mended?",
        "Who keeps the list of masters?",
        "What changed in 1834?",
        "What is the new bell made of?",
    ],
)
def test_questions_for_one_thing(question: str) -> None:
    assert not asks_for_list(question)


def test_several_of_an_abbreviation_are_the_same_word() -> None:
    assert content("Two CVOs") == content("CVO two") == content("CVO's two") == content("CVO’s two")


def test_a_shortened_verb_is_no_word_of_its_own() -> None:
    assert content("What's a DOI?") == content("What is a DOI?")
    assert names_nothing("What's that?")


@pytest.mark.parametrize("question", ["Where is he?", "Who is she?", "How much is it?", "Explain this."])
def test_of_a_book_nobody_can_tell_what_a_bare_pronoun_means(question: str) -> None:
    assert names_nothing(question)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ('Who says "we are late again"?', ["we are late again"]),
        ("Who said, ‘It’s late, Anna!’ and “Go home now.”?", ["It’s late, Anna", "Go home now"]),
        ("Who says 'she's never late'?", ["she's never late"]),
        ("What is the 'great bell'?", []),
        ("Who is Anna's brother's friend?", []),
        ("\"'", []),
    ],
)
def test_what_a_question_quotes(question: str, said: list[str]) -> None:
    assert quoted(question) == said


@pytest.mark.parametrize(
    ("title", "question", "asked"),
    [
        ("Emma", "What is Emma about?", "What is the book about?"),
        ("Pride and Prejudice, by Jane Austen", "What is “Pride and Prejudice” about?", "What is the book about?"),
        ("turing-way", "Give me an overview of The Turing Way.", "Give me an overview of the book ."),
        ("Emma", "What is Emma's plan about?", None),
        ("Emma", "Who is Emma?", None),
        ("Looms", "What is a loom about?", None),
    ],
)
def test_a_title_stands_for_the_book(title: str, question: str, asked: str | None) -> None:
    assert theme_of(title, question) == asked
