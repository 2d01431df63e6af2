"""The same words may name another thing."""

import pytest

from chapterverse.answer.alike import opposed, otherwise_numbered
from chapterverse.answer.entries import answer_below, steps_named
from chapterverse.answer.layout import lay_out
from chapterverse.answer.tables import row_told
from chapterverse.ingest.sentences import split

REST = "\n\nThe rest of the page speaks of other things."


@pytest.mark.parametrize(
    ("question", "label", "expected"),
    [
        ("How do I turn off the heating?", "Turning on the heating", True),
        ("How do I turn on the heating?", "Turning on the heating", False),
        ("How do I log out?", "Log in", True),
        ("What do I need to log in when I am out?", "Log in", False),
        ("How do I convert miles to feet?", "Converting feet to miles", True),
        ("How do I convert miles into feet?", "Converting miles to feet", False),
        ("What is the fare from Hull to York?", "York to Hull", True),
        ("What is the fare from Hull to York?", "Hull to York", False),
        ("Where are the rules of the house?", "House rules", False),
    ],
)
def test_opposites(question: str, label: str, expected: bool) -> None:
    assert opposed(question, label) is expected


@pytest.mark.parametrize(
    ("question", "label", "expected"),
    [
        ("What is the resistance at -20 °C?", "20 °C", True),
        ("What is the resistance at 20°C?", "20 °C", False),
        ("When was version 1.5 released?", "5.1", True),
        ("When was version 5.1 released?", "5.1", False),
        ("What is the current at 2.2 V?", "2 V", True),
        ("How much is 1,000 kg?", "1000 kg", False),
        ("When did C++ appear?", "C", True),
        ("When did C++ appear?", "C++", False),
        ("When did C appear?", "C", False),
        ("What does a 12-year-old pay?", "12", False),
    ],
)
def test_numbers_and_signs(question: str, label: str, expected: bool) -> None:
    assert otherwise_numbered(question, label) is expected


def test_below_the_question_for_the_opposite_stands_no_answer() -> None:
    asked = "How do I turn {} the heating?\n\nPress the {} one."
    text = "\n\n".join((asked.format("on", "green"), asked.format("off", "red"))) + REST
    entry = answer_below("How do I turn off the heating?", lay_out(text, split(text)))
    assert entry is not None
    assert text[entry.start : entry.end] == "Press the red one."


def test_nor_do_its_steps() -> None:
    text = (
        "Turning on the pump\n\n1. Open the valve.\n\n2. Pull the lever.\n\nThe pump is turned off with the red lever."
    )
    sheet = lay_out(text, split(text))
    assert steps_named("How do I turn on the pump?", sheet, "") is not None
    assert steps_named("How do I turn off the pump?", sheet, "") is None


def test_all_lines_of_a_paragraph_stand_below_a_question() -> None:
    told = "By card at the desk. \nBy cash at the office. \nBy post with a cheque."
    text = f"How can I pay?\n\n{told}{REST}"
    entry = answer_below("How can I pay?", lay_out(text, split(text)))
    assert entry is not None
    assert text[entry.start : entry.end] == told


SERVICE = (
    "Sick pay of the staff\n\nLength of service | Weeks of pay\nUnder 2 years | 4\n2 to 5 years | 8\nOver 5 years | 12"
)
AGES = "Leave of employees\n\nAge | Days of leave\nUnder 18 | 25\n18 to 64 | 20\n65 and over | 24"
PRIZES = "Runners win a prize at the fair.\n\nAge | Prize\nUnder 10 | £5\n10 to 14 | £8\n15 to 18 | £10"
TICKETS = "Tickets\n\nAge | £\nUnder 10 | £5\n10 to 14 | £8\n15 to 18 | £10"
WELLS = "Wells\n\nWell | Depth | Owner\nBrill |  | Mr Hart\nCombe | 30 m | Mrs Lee\nDunn | 12 m | Mr Fry"
FERRIES = "Ferries\n\nFerry | Length | Crew\nHeron | 30 m | 4\nSwan | 24 m | 3\nTern | 20 m | 3"


@pytest.mark.parametrize(
    ("question", "text", "row"),
    [
        ("How many weeks of sick pay does a 40-year-old get?", SERVICE, None),
        ("How many weeks of sick pay do I get after 4 years?", SERVICE, "2 to 5 years | 8"),
        ("How many days of leave does an employee get after 12 years?", AGES, None),
        ("How many days of leave does a 40-year-old employee get?", AGES, "18 to 64 | 20"),
        ("What is the entry fee for a runner aged 12?", PRIZES, None),
        ("What is the prize for a runner aged 12?", PRIZES, "10 to 14 | £8"),
        ("How much is a ticket for a person aged 12?", TICKETS, "10 to 14 | £8"),
        ("What is the depth of the Brill well?", WELLS, None),
        ("What is the depth of the Combe well?", WELLS, "Combe | 30 m | Mrs Lee"),
        ("How long does the Heron ferry take?", FERRIES, None),
        ("How long is the Heron ferry?", FERRIES, "Heron | 30 m | 4"),
    ],
)
def test_a_row_is_told_of_what_is_asked_alone(question: str, text: str, row: str | None) -> None:
    text += REST
    found = row_told(question, [lay_out(text, split(text))])
    assert (text[found.start : found.end] if found else None) == row
