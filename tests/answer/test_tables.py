"""The row that a question points at, by its name or as the highest of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from chapterverse.answer.layout import Layout, lay_out
from chapterverse.answer.tables import Row, row_asked_for, row_in_range, row_told, rows_asked_for
from chapterverse.ingest.sentences import split

VILLAGES = """Five villages there were.

Village | Households | Height above the sea (feet) | Trade
High Garth | 41 | 1,020 | Sheep
Stennet | 212 | 655 | Market
Tollen | 97 | 388 | Toll-bar

So much for them.
"""
PUMPS = """Model | Weight | Price | Introduced (year) | Warranty (years) | Time (s) | Priority
P10 | 4 kg | $120 | 1998 | 2 | 10 | 1
P20 | 900 g | $95 | 2004 | 5 | 12 | 2
P30 | 6 kg | $310 | 1987 | 3 | 14 | 3

All are blue.
"""
SCHOOLS = """School | Pupils
All Saints | 900
Summerhill | 950
Grove | 200
Total | 2,050
All schools | 2,050

They are free.
"""
PRESSES = """Presses

Both models have these parts and sizes.

Part | Model K | Model L
Plates | 2 | 3
Width | 60 cm | 85 cm
Crank arm | 40 cm | 45 cm

On model L the rear plate must not be oiled.
"""
ORDERS = """Orders of the night watch

Order | Meaning | Needs a lantern | Lasts (minutes)
lamps | counts all lamps | no | 10
round | walks the wall | yes | 45
relief | ends the watch | no | 5

After a relief, every lamp must be trimmed again, except those of glass.
"""
CARTS = """Cart | Old name | Weight | Driver
Ash | | 58 kg | Ebb
Birch | Twig | 47 kg |
Cedar | | 76 kg

They are weighed empty.
"""
MARKDOWN = "\n".join(f"| {line} |" if "|" in line else line for line in CARTS.splitlines())
SPARES = """No. | Spare | Price | Kept by
1104 | Gasket | 6 euros | Ebb
1107 | Screen | 12 euros | Ebb
1440 | Valve 2 | 72 euros | Nan
| Total | 90 euros

They come by cart.
"""
ENGINES = """| Engine A | Engine B | Engine C
Weight | 58 kg | 47 kg | 76 kg
Width | 74 cm | 74 cm | 98 cm
Power | 3,600 W | 2,900 W | 5,100 W
Top speed (mph) | 30 | 24 | 28

All are blue.
"""
DUTIES = """Duties: what is swept

Room | How often | By whom
Hall | daily | porter
Stair | daily | porter
Loft | weekly | head maid
Cellar | weekly | head maid
Attic | monthly | head maid
"""


PENSIONS = """Pensions of the guild

Every member has a pension that grows with the years.

Membership (years) | Pension | Days of rest
0–4 | 3 crowns | 10
5 to 9 | 5 crowns | 12
ten or more | 9 crowns | 15

It is paid at Easter.
"""
FREIGHT = """Freight by barge

Weight of the crate | Price | Days
under 5 kg | £4 | 2
5 kg up to 20 kg | £9 | 3
over 20 kg | £25 | 8

Crates are opened by the toll-keeper.
"""
BATHS = """The baths

Age | Bath | Towel
Under 5 | free | 1 penny
5–17 | £2 | 1 penny
18–65 | £5 | 2 pence
Soldiers over 18 | £1 | free
66+ | £3 | free

No dogs are let in.
"""
LADDER = """Moorings

Length of the boat | Fee
up to 6 m | £3
up to 12 m | £7
up to 20 m | £15

Fees are due at dusk.
"""


def row(question: str, *texts: str) -> str | None:
    return looked_up(row_asked_for, question, *texts)


def looked_up(look: Callable[[str, Sequence[Layout]], Row | None], question: str, *texts: str) -> str | None:
    sheets = [lay_out(text, split(text)) for text in texts]
    found = look(question, sheets)
    return sheets[found.sheet].text[found.start : found.end] if found else None


def names(question: str, *texts: str) -> list[str]:
    sheets = [lay_out(text, split(text)) for text in texts]
    return [sheets[one.sheet].cells((one.start, one.end))[0] for one in rows_asked_for(question, sheets)]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which village lay lowest?", "Tollen"),
        ("Which village lay lowest, and at what altitude?", "Tollen"),
        ("Which is the highest village?", "High Garth"),
        ("Which village has the most households?", "Stennet"),
        ("Which of the villages had the fewest households?", "High Garth"),
        ("How many households are there in Tollen?", "Tollen"),
        ("How many feet high is Tollen?", "Tollen"),
        ("What is the cheapest model?", "P20"),
        ("Which model is the oldest?", "P30"),
        ("Which school has the most pupils?", "Summerhill"),
        ("Which spare is the most expensive?", "1440"),  # its column is the second
        ("What is the least costly spare?", "1104"),
        ("Which spare has the highest price?", "1440"),
        ("Which model is the most expensive?", "P30"),
        ("Which engine is the heaviest?", "Weight"),
        ("Which of the engines is the most powerful?", "Power"),
        ("Which engine has the lowest power?", "Power"),
        ("Which engine is the slowest?", "Top speed"),
        ("How high is the village of Tollen?", "Tollen"),  # "height" says the head
        ("What is the height of Tollen in feet?", "Tollen"),
        ("What value does the table list for the households of Tollen?", "Tollen"),
        ("How long is the warranty of the P30?", "P30"),  # it is told in years
        ("How many plates does model K have?", "Plates"),
        ("How wide is the press of model L?", "Width"),
        ("How big is the crank arm of model K?", "Crank arm"),
        ("Does the order round need a lantern?", "round"),
        ("What is the meaning of the watch's relief order?", "relief"),  # of the watch tells the heading
    ],
)
def test_a_row_is_found(question: str, name: str) -> None:
    found = row(question, "The sea is far. It rains a lot.", VILLAGES, PUMPS, SCHOOLS, PRESSES, ORDERS, SPARES, ENGINES)
    assert found is not None
    assert found.startswith(name)


@pytest.mark.parametrize(
    "question",
    [
        "How many feet deep is Tollen?",  # those in the table are of its height
        "Which model is the heaviest?",  # kilograms and grams
        "Which model has the highest priority?",  # may be the first
        "Which model has the longest cable?",  # no such column
        "Which model has the longest time?",  # nor is it said to be a length
        "Which village has the highest rent?",
        "What is the highest church in the village?",
        "Which is the highest village that has a market?",
        "Which village is the second highest?",
        "Which village is not the highest?",
        "Which two villages are the highest?",
        "Which village has at least 100 households?",
        "Which trade do most households in the village follow?",
        "Why does the highest village have a market?",
        "Which river is the longest?",
        "Which village has the most trades?",  # no numbers
        "Which village is the richest?",
        "Which villages have a market?",
        "What is the highest price?",  # of which things?
        "Who keeps the most expensive?",
        "Which keeper has the most expensive spare?",  # more than one row of his may count
        "Which engine is the narrowest?",  # two are
        "Which engine is the longest?",
        "Which model is the fastest?",  # no speed is told
        "Which model has the fastest time?",
        "Which model is the widest?",  # of two one is the wider
        "Can the rear plates of model L be oiled?",  # of neither the table speaks
        "How many plates of model Z are there?",
        "How many households left Tollen?",
        "How high is the church of Tollen, and not the height of the village?",
        "How deep is the width of model K?",
        "How many lamps need a lantern?",  # nobody has counted them
        "Which lamps need not be trimmed again?",
    ],
)
def test_no_row_is_guessed(question: str) -> None:
    assert row(question, VILLAGES, PUMPS, SCHOOLS, PRESSES, ORDERS, SPARES, ENGINES) is None


WELLS = """\
Well | Shaft (feet) | Bucket weight (pounds) | Wait (minutes) | Rope
Upper | 22 | 18 | 2 | 40
Lower | 48 | 31 | 8 | 60
Mill | 36 | 24 | 5 | 70

None of them is ever dry.
"""


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which well has the longest shaft?", "Lower"),  # it is in feet
        ("Which well has the shortest shaft?", "Upper"),
        ("Which well has the heaviest bucket weight?", "Lower"),
        ("Which well has the lightest bucket weight?", "Upper"),
        ("Which well has the longest wait?", None),  # minutes are no length
        ("Which well has the longest rope?", None),  # of what unit, nobody says
        ("Which well has the heaviest shaft?", None),
        ("Which well is the longest?", None),
    ],
)
def test_a_superlative_of_a_column_that_has_its_measure(question: str, name: str | None) -> None:
    found = row(question, WELLS)
    assert (found and found.split()[0]) == name


def test_a_verb_names_no_column_that_says_more() -> None:
    assert row("Which lamps need?", ORDERS) is None
    assert row("What does the round cost?", "Order | Cost\nround | 3 pence\nrelief | 1 penny") == "round | 3 pence"


def test_a_length_of_time_is_no_year() -> None:
    assert row("Which model is the oldest?", PUMPS.replace("Introduced (year)", "Number")) is None


def test_a_head_may_have_two_lines() -> None:
    buttons = "Button | Coffee | | Heat\n| Dose | In the mug\n1 | 9 g | 18 g | 93\n2 | 18 g | 36 g | 92"
    assert row("How much coffee is in the mug of button 2?", buttons) == "2 | 18 g | 36 g | 92"


def test_of_equals_none_is_the_highest() -> None:
    assert row("Which school has the most pupils?", SCHOOLS.replace("900", "950")) is None


def test_two_rows_are_too_few_to_speak_of_the_highest() -> None:
    assert row("Which school has the most pupils?", SCHOOLS.replace("Grove | 200\n", "")) is None


def test_a_name_that_stands_twice_is_that_of_no_one_row() -> None:
    assert row("Which spare is the most expensive?", SPARES.replace("Screen", "Valve 2")) is None
    assert row("Which spare is the most expensive?", SPARES.replace("Screen", "")) is None


def test_a_row_is_whole_where_its_table_is_not() -> None:
    assert row("Which engine is the heaviest?", ENGINES[: ENGINES.index("Power")]) == "Weight | 58 kg | 47 kg | 76 kg"


def test_a_table_that_may_have_been_cut_off_shows_no_highest() -> None:
    cut = SCHOOLS[: SCHOOLS.index("Total")]
    assert row("Which school has the most pupils?", cut) is None
    assert row("Which school has the most pupils?", SCHOOLS, SCHOOLS.replace("950", "1,950")) is None
    assert row("Which school has the most pupils?", SCHOOLS, SCHOOLS) == "Summerhill | 950"


@pytest.mark.parametrize("text", [CARTS, MARKDOWN])
def test_an_empty_cell_keeps_its_place(text: str) -> None:
    weights = [layout.cells(one)[2] for layout in [lay_out(text, split(text))] for one in layout.tables[0].rows]
    assert weights == ["58 kg", "47 kg", "76 kg"]
    assert "Cedar" in (row("Which cart is the heaviest?", text) or "")
    assert "Ash" in (row("What is the weight of Ash?", text) or "")


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| Lower | Upper", ["", "Lower", "Upper"]),
        ("Lower |", ["Lower", ""]),
        ("| Lower |", ["", "Lower", ""]),  # not as in Markdown, where the head begins with a bar too
        ("| | Upper", ["", "", "Upper"]),
        ("a|b | c", ["a|b", "c"]),
    ],
)
def test_the_cells_of_a_line(line: str, cells: list[str]) -> None:
    text = f"Gate | Floor | Roof\n{line}\nOther | x | y"
    layout = lay_out(text, split(text))
    assert [layout.cells(one) for one in layout.tables[0].rows] == [cells, ["Other", "x", "y"]]


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("The lever is set to up | down by hand.", 0),
        ("Lamps\n\nIt reads `ps | sort | uniq`.\n\nLamp | Oil\nOld | none", 1),
        ("1. Run `ps | sort`.\n2. Run `ps | uniq`.", 0),
        ("Step | Told\n1. Oil | It is oiled.\n2. Rest | It rests.", 1),
        ("Lamp | It burns oil.\nOld | It does not.", 1),
        ("Lamp | Oil", 1),
        ("Lamp | Oil\nOld | none\n\nNew | some", 1),  # of two pages
    ],
)
def test_rows_stand_below_each_other(text: str, tables: int) -> None:
    assert len(lay_out(text, split(text)).tables) == tables


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which rooms are swept weekly?", ["Loft", "Cellar"]),
        ("Which of the rooms are swept daily?", ["Hall", "Stair"]),
        ("What rooms does the head maid sweep?", ["Loft", "Cellar", "Attic"]),
        ("Which orders need a lantern?", ["round", "rounds"]),
        ("Which orders do not need a lantern?", ["lamps", "relief"]),
        ("Which orders need no lantern?", ["lamps", "relief"]),
        ("Which orders of the night don't need a lantern?", ["lamps", "relief"]),
        ("Which spares are kept by Ebb?", ["1104", "1107"]),
    ],
)
def test_all_rows_with_a_value_are_found(question: str, expected: list[str]) -> None:
    orders = ORDERS.replace("relief |", "rounds | walks twice | Yes | 90\nrelief |")
    assert names(question, VILLAGES, orders, DUTIES, SPARES) == expected
    assert names(question, orders, DUTIES, DUTIES, SPARES) == expected  # passages overlap


@pytest.mark.parametrize(
    "question",
    [
        "Which rooms are swept monthly?",  # one is not several
        "Which room is swept weekly?",
        "Which rooms are not swept weekly?",
        "Which rooms are swept weekly or daily?",
        "Which rooms are swept daily, but not by the porter?",
        "Which rooms does the head maid sweep weekly?",  # two conditions
        "Which rooms are swept weekly with sand?",  # of sand nothing is said
        "Which rooms are painted weekly?",
        "Which houses are swept weekly?",
        "Which rooms are swept?",
        "Which rooms are swept 2 times weekly?",
        "Who sweeps the rooms weekly?",
        "Which orders need a ladder?",
        "Which orders have a meaning?",
        "Which orders are there?",
        "Which order needs a lantern?",
        "What does the porter sweep daily?",
        "",
    ],
)
def test_rows_are_not_guessed(question: str) -> None:
    orders = ORDERS.replace("relief |", "rounds | walks twice | Yes | 90\nrelief |")
    assert names(question, VILLAGES, orders, DUTIES, SPARES) == []


def test_all_rows_of_one_name_are_found_unless_the_question_tells_which() -> None:
    gear = (
        "Gear\n\nPlace | Gear | Worn\nKiln | Long gloves | always\nDock | Cork vest | always\nKiln | Mask | at firing\n"
    )
    assert names("What gear is worn at the kiln?", gear) == ["Kiln", "Kiln"]
    assert names("What gear is worn at the dock?", gear) == []
    assert names("When is the mask worn at the kiln?", gear) == []
    assert row("When is the mask worn at the kiln?", gear) == "Kiln | Mask | at firing"
    assert names("What gear is worn at the kiln at firing?", gear) == []
    assert names("What gear is worn at the kiln?", gear + "Kiln | Cap | always\n" * 9) == []


def test_only_of_a_whole_table_all_rows_are_found() -> None:
    question = "Which rooms are swept weekly?"
    assert names(question, f"{DUTIES}\nSo much for them.") == ["Loft", "Cellar"]
    assert names(question, f"{'It is a long story. ' * 30}\n\n{DUTIES}") == []
    assert names(question, f"{'It is a long story. ' * 30}\n\n{DUTIES}\nSo much for them.") == ["Loft", "Cellar"]
    assert names(question, DUTIES[DUTIES.index("Stair") :]) == []
    assert names(question, DUTIES, DUTIES.replace("Attic", "Shed").replace("monthly", "weekly")) == []
    assert names(question, DUTIES.replace("monthly", "weekly or monthly")) == []
    assert names(question, DUTIES + "".join(f"Room {n} | weekly | porter\n" for n in "abcdefg")) == []


def test_a_column_that_says_what_is_not_so_is_not_turned_round() -> None:
    orders = ORDERS.replace("Needs a", "Not with a").replace("relief |", "rounds | walks twice | yes | 90\nrelief |")
    assert names("Which orders need a lantern?", orders) == []


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What pension does a member have after 7 years?", "5 to 9"),
        ("How many days of rest are there after 4 years of membership?", "0–4"),
        ("How many days of rest do I get with ten years of membership?", "ten or more"),
        ("After 40 years, what is the pension?", "ten or more"),
        ("What does a 12 kg crate cost?", "5 kg"),
        ("How much is a crate of 20 kilograms?", "5 kg"),  # it is not over 20
        ("What is the price of a crate of 4.9 kg?", "under"),
        ("How many days does freight of 30 kg take by barge?", None),  # to take may be anything
        ("How many days for freight of 30 kg?", "over"),
        ("What does a bath cost for a 70-year-old?", "66+"),
        ("How much is a bath at the age of 3?", None),  # no word beside the number tells what it is
        ("How much is a bath at age 3?", "Under 5"),
        ("What does a towel cost a person aged 40 years?", "18–65"),  # and is no soldier
        ("What does a bath cost soldiers aged 70 years?", None),  # two rows hold that
        ("What is the fee for a boat of 10 m?", "up to 12"),
        ("What is the fee for a boat of 12 m?", "up to 12"),
        ("What is the fee for a boat of 21 m?", None),
        ("How much does a boat of 10 feet pay?", None),
        ("What pension does a widow have after 7 years?", None),
        ("What pension does a member have every 7 years?", None),
        ("What pension did a member have 7 years ago?", None),
        ("What pension does a member have after more than 7 years?", None),
        ("What pension does a member not have after 7 years?", None),
        ("How many coins of pension are there after 7 years?", None),
        ("Why does the pension grow after 7 years?", None),
        ("What is there after 7 years?", None),
        ("What pension is there after the 7th year?", None),
        ("What do two crates of 12 kg cost?", None),
        ("How long is a crate of 12 kg?", None),
        ("", None),
    ],
)
def test_a_row_is_looked_up_by_its_range(question: str, label: str | None) -> None:
    found = looked_up(row_in_range, question, "The toll is old.", PENSIONS, FREIGHT, BATHS, LADDER)
    assert (found or "").startswith(label or "")
    assert (found is None) == (label is None)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is the price of the P30?", "P30"),
        ("How many households are there in Tollen?", "Tollen"),
        ("Why is the price of the P30 $310?", None),
        ("What is not the price of the P30?", None),
        ("What is the price of the P30 if it is broken?", None),
        ("What is the price of the P30 abroad?", None),
        ("What is the price of the P30 or the P20?", None),
        ("Which model is the cheapest?", None),
        ("What is the weight of model P30?", None),  # another table has one too
    ],
)
def test_a_row_that_is_surely_named_is_told(question: str, name: str | None) -> None:
    other = "Model | Weight\nP30 | 7 kg\n"
    found = looked_up(row_told, question, "The sea is far.", VILLAGES, PUMPS, PUMPS, other)
    assert (found.split(" |")[0] if found else None) == name


def test_the_head_of_a_table_that_goes_on_over_a_page_is_no_row() -> None:
    head, *rows = PUMPS.split("\n\n")[0].splitlines()
    text = "\n".join([head, rows[0], "", head, *rows[1:], "", "All are blue."])
    (table,) = lay_out(text, split(text)).tables
    assert [text[slice(*one)] for one in table.rows] == rows
    assert row("Which model is the oldest?", text) == rows[2]


def test_a_range_that_does_not_hold_a_number_is_not_its_name() -> None:
    question = "What is the price of a crate of 20 kg?"
    assert row(question, FREIGHT.replace("5 kg up to 20 kg", "the rest")) is None
    assert row("What is the price of a crate over 20 kg?", FREIGHT) == "over 20 kg | £25 | 8"


def test_ranges_may_share_no_number() -> None:
    question = "What pension does a member have after 5 years?"
    assert looked_up(row_in_range, question, PENSIONS.replace("0–4", "0–5")) is None
    assert looked_up(row_in_range, question, PENSIONS, PENSIONS) == "5 to 9 | 5 crowns | 12"  # passages overlap
    assert looked_up(row_in_range, question, PENSIONS, PENSIONS.replace("5 crowns", "6 crowns")) is None


def test_of_open_ranges_all_must_be_seen() -> None:
    long = f"{'It is a long story. ' * 30}\n\n{LADDER}"
    question = "What is the fee for a boat of 10 m?"
    assert looked_up(row_in_range, question, long) == "up to 12 m | £7"
    assert looked_up(row_in_range, question, long[: long.index("\n\nFees")]) is None
