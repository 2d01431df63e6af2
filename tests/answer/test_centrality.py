"""Which sentences say what something is."""

from __future__ import annotations

import pytest

from chapterverse.answer.centrality import defines, forms, spells_out, stands_apart, states_purpose


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


@pytest.mark.parametrize(
    ("sentence", "yes"),
    [
        ("HOOT stands for hourly, orderly, oiled and tended clocks, and you can read more below.", True),
        ("HOOT is short for hourly, orderly, oiled and tended clocks.", True),
        ("- HOOT: Hourly, Orderly, Oiled and Tended", True),
        ("HOOT — hourly, orderly, oiled, tended", True),
        ("- HOOT: Guide for the Keepers of Clocks", False),
        ("HOOT is a rule that every keeper knows.", False),
    ],
)
def test_a_line_spells_out_only_what_has_the_letters(sentence: str, yes: bool) -> None:
    assert any(says(sentence, "HOOT") for says in forms("What does HOOT stand for?")) is yes


def test_what_is_no_abbreviation_may_stand_for_something_too() -> None:
    told = "The red flag is a sign of danger."
    assert any(says(told, "red flag") for says in forms("What does a red flag stand for?"))


@pytest.mark.parametrize(
    ("subject", "sentence"),
    [
        ("scion", "Scion: A shoot that is set into another tree."),
        ("scion", "“Scions” – shoots that are set into other trees."),
        ("scions", "A scion — a shoot that is set into another tree"),
        ("SCION", "SCION.—A shoot that is set into another tree."),
        ("scion", "Scion.--A shoot that is set into another tree."),
        ("scion", "- Scion: A shoot that is set into another tree."),
        ("scion", "3.1 Scion: A shoot that is set into another tree."),
        ("scion", "4. “Scion” means a shoot that is set into another tree."),
        ("scion", "(b) A scion is a shoot that is set into another tree."),
        ("root stock", "Root stock: the tree that takes the shoot."),
        ("note", "Note: a short letter between friends."),
    ],
)
def test_a_line_of_a_glossary_says_what_its_word_is(subject: str, sentence: str) -> None:
    assert defines(sentence, subject)


@pytest.mark.parametrize(
    ("subject", "sentence"),
    [
        ("shoot", "Note: a shoot must be cut in winter."),
        ("scion", "Scions of pear: cut them in winter."),
        ("scion", "Scion: see graft."),
        ("scion", "Scion: these are the kinds of it:"),
        ("Marl", "Marl — the old gardener — was dead."),
        ("scion", "Cut the scion: it must be green."),
        ("scion", "Scions-in-waiting were kept in wet sand."),
        (None, "Note: the shoots must be cut in winter."),
        ("scion", ""),
        ("s", "s"),
    ],
)
def test_other_lines_with_a_colon_or_a_dash_do_not(subject: str | None, sentence: str) -> None:
    assert not defines(sentence, subject)


def test_contracts_say_what_their_words_mean() -> None:
    for meaning in ("any day but Sunday.", "1,800 tonnes.", "each of the two houses."):
        assert defines(f"“Business Day” means {meaning}", "Business Day")
    assert not defines("Business Day traffic means delays.", "Business Day")


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("Figure 3: Pears on a wall.", "Pears"),
        ("Table 2. Pears by month and by weight.", "Pears"),
        ("Fig. 12 — Pears on a wall.", ""),
        ("pears = pick(tree, month=9)  # pick the pears.", "Pears"),
        ('print("Pears are picked in autumn.")', "Pears"),
        ("$ pick --all pears", "Pears"),
        ("if (ripe) {", "Pears"),
        ("2. Pick a pear and draw it.", "Exercises"),
        ("Draw a pear.", "4.2 Review questions"),
        ("Copyright 2020 Pear Press.", "Pears"),
        ("Pears are sold as they are, without warranty of any kind.", ""),
        ("Pears may be shared.", "Licence"),
    ],
)
def test_what_is_no_text_of_the_book_stands_apart(line: str, heading: str) -> None:
    assert stands_apart(line, heading)


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("Figure 3 shows that pears are picked late.", "Pears"),
        ("Copyright protects those who paint pears.", "Who owns a picture"),
        ("Pears (and quinces) are picked in autumn.", "Questions of taste"),
        ("Pick them with both hands; do not pull.", "Exercise and rest"),
        ("", ""),
    ],
)
def test_other_lines_do_not(line: str, heading: str) -> None:
    assert not stands_apart(line, heading)


@pytest.mark.parametrize(
    ("sentence", "states"),
    [
        ("This guide explains how to graft.", True),
        ("The purpose of this document is to name the trees.", True),
        ("In this tutorial you will learn to graft.", True),
        ("This policy is intended for growers.", True),
        ("This chapter explains how to graft.", False),
        ("This guide is provided as it is.", False),
        ("The purpose of this knife is to graft.", False),
    ],
)
def test_a_sentence_may_say_what_the_whole_is_for(sentence: str, states: bool) -> None:
    assert states_purpose(sentence) is states
