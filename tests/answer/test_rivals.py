"""What is said of a thing of nearly the same name is no answer."""

from __future__ import annotations

import pytest

from chapterverse.answer.rivals import speaks_of_rival


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the lighthouse on East Skerry?", "Lighthouse | Height (feet)\nWest Skerry | 61"),
        ("How high is the lighthouse on East Skerry?", "Lighthouse | Height\nWest Skerry | 61"),
        ("When did Anna Holm leave the bank?", "Peter Holm left the bank in 1902."),
        ("When did Anna Holm leave the bank?", "In 1902 Peter Holm left the bank. She went to sea."),
        ("What did Anna Holm pay?", "To Maria Holm of Ribe, a loom. She to pay four crowns."),
        ("How cold is it in North Dakota?", "Winter is hard. South Dakota has 20 degrees of frost."),
        ("When did the first edition of the book appear?", "This ebook first appeared in 2021."),
        ("What is Aim 3.1.2 about?", "Aim 3.1.3. Plant willows along the bank."),
        ("What is aim 3.1.2?", "The rooms are cold.\n\n2.3.1.2 Dry the cellar."),
        ("What does Section 4.2 say of ropes?", "Section 4.3: Ropes are tarred twice a year."),
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
        ("When did Anna Holm leave the bank?", "Holm left the bank in 1902."),
        ("When did Anna Holm leave the bank?", "Peter Holm left it in 1899, and Anna Holm three years later."),
        # a relative, a neighbour: the answer itself
        ("Who was the brother of Sherlock Holmes?", "Mycroft Holmes, seven years older, was his brother."),
        ("Whom did Anna Holm marry?", "Peter Holm married her in 1890."),
        ("When did Anna Holm marry?", "Peter Holm married her in 1890."),
        ("Which state borders North Dakota?", "South Dakota borders it on the south."),
        # the same, in other words
        ("When was President Lincoln shot?", "Abraham Lincoln was shot on April 14, 1865."),
        ("When did J. Smith die?", "John Smith died in 1631."),
        ("When did John Smith die?", "John F. Smith died in 1631."),
        ("When did Émile Zola die?", "Emile Zola died in 1902."),
        ("What do Arctic Foxes eat?", "The Arctic Fox eats lemmings."),
        ("What does the Ministry of Defence do?", "The Ministry of Defense buys ships."),
        # another kind of thing
        ("How do I reset the Wi-Fi Router?", "Wi-Fi Settings: hold the button for ten seconds to reset the router."),
        ("What happened to Napoleon after the battle?", "Shortly after the battle he was exiled to an island."),
        ("When was the church in Ribe built?", "Trinity church was built in 1225."),
        # a copy, where it is asked about or told of together with the work
        ("When did the ebook appear?", "This ebook first appeared in 2021."),
        ("When did the book appear?", "This ebook is of 2021, the book of 1859."),
        ("How does the gate work?", "The digital version of the plan shows it."),
        # the number itself, a part of it, a reference, and numbers that are no names
        ("What is Aim 3.1.2 about?", "Aim 3.1.2. Plant willows, as Aim 3.1.3 asks for."),
        ("What is Aim 3.1 about?", "Aim 3.1.2. Plant willows along the bank."),
        ("What is Aim 3.1.2 about?", "Plant willows along the bank, see Aim 3.1.3 for the hedges."),
        ("What is Aim 3.1.2 about?", "Since 12.05.2019 willows are planted; 3.5 metres apart."),
        ("What happens above 3.5 bar?", "Above 2.5 bar the valve opens."),
        ("What happens if the load exceeds 3.5 tons?", "The load exceeds 2.5 tons if the bell rings."),
        ("How do Aim 3.1.2 and Aim 3.1.3 differ?", "Aim 3.1.3 is about hedges."),
        ("", ""),
    ],
)
def test_what_is_asked_about_is_no_rival(question: str, text: str) -> None:
    assert not speaks_of_rival(question, text)


OFFICES = "Ferry Office:\n\nKeeps the boats.\n\nLamp Service:\n\nTends the lamps.\n\nExample: the lamp of Tollen."


@pytest.mark.parametrize(
    ("question", "text", "is_rival"),
    [
        ("What does the Ferry Office do?", "Lamp Service:\n\nTends the lamps.", True),
        ("What does the Ferry Office do?", "Ferry Office:\n\nKeeps the boats.", False),
        ("How do the Ferry Office and the Lamp Service differ?", "Lamp Service:\n\nTends the lamps.", False),
        ("What do the offices do?", "Lamp Service:\n\nTends the lamps.", False),
        ("What is an example of lamps?", "Lamp Service:\n\nTends the lamps.", False),
        ("What does the Ferry Office do?", "It keeps the boats.", False),
    ],
)
def test_another_entry_than_the_one_asked_about_is_a_rival(question: str, text: str, is_rival: bool) -> None:
    assert speaks_of_rival(question, text, OFFICES) is is_rival
