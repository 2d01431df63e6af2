"""Made-up tables with questions and claims about their cells: no public row here has a table in it.

Rows stand as the runtime shows them to the model: cells joined by " | ", and ";" where a row ends.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from examples import Example, Span, held_out

WEIGHT = 1.0
KINDS = "old new upper lower north south east west red green white small great outer inner long stone iron".split()
THINGS = (
    "gate mill bridge tower lamp pump valve boiler clock boat barn office school library garden station harbour pier "
    "engine filter cable sensor bed ward room kitchen market museum orchard cellar workshop ferry lift store gallery"
).split()
GIVEN = "Anna Boris Clara David Edith Felix Grace Hugo Irene Jonas Karin Lewis Maria Nils Olga Peter Ruth Simon".split()
FAMILY = "Adler Brook Carver Dale Ellis Frost Grant Hale Ibsen Jarvis Kerr Lund Moore North Olsen Pratt Quinn".split()
PLACES = "Aldmoor Brenton Carrick Dunley Elmside Farrow Gorham Hexley Ivybridge Kelso Lanford Marlow Norby".split()
MONTHS = "January February March April May June July August September October November December".split()
HEADS = ["Item", "Name", "Place", "Part", "Unit", "Site", "Object"]


@dataclass(frozen=True)
class Column:
    """A heading, how its cells are made, and how people ask for them; `{}` stands for the row."""

    head: str
    make: str
    asks: tuple[str, ...]


COLUMNS = [
    Column("Height", "m", ("How high is {}?", "How tall is {}?")),
    Column("Length", "m", ("How long is {}?",)),
    Column("Weight", "kg", ("How much does {} weigh?", "How heavy is {}?")),
    Column("Depth", "cm", ("How deep is {}?",)),
    Column("Built", "year", ("When was {} built?", "In which year was {} built?")),
    Column("Repaired", "year", ("When was {} repaired?", "In what year was {} last repaired?")),
    Column("Price", "money", ("What does {} cost?", "How much is {}?")),
    Column("Keeper", "person", ("Who keeps {}?", "Who is the keeper of {}?")),
    Column("Maker", "person", ("Who made {}?", "Who is the maker of {}?")),
    Column("Inspector", "person", ("Who inspects {}?",)),
    Column("Town", "place", ("Where is {}?", "In which town is {}?")),
    Column("Opens", "hour", ("When does {} open?", "At what time does {} open?")),
    Column("Closes", "hour", ("When does {} close?", "At what time does {} close?")),
    Column("Staff", "count", ("How many people work at {}?", "How many staff does {} have?")),
    Column("Visitors", "count", ("How many visitors does {} have?",)),
    Column("Season", "month", ("In which month does {} begin?",)),
    Column("Limit", "kg", ("What is the most that {} may carry?",)),
    Column("Share", "percent", ("What share falls to {}?", "What percentage does {} have?")),
    Column("Interval", "days", ("How often is {} checked?", "After how many days is {} checked again?")),
]


def cell(kind: str, rng: random.Random) -> str:
    """A made-up value of one kind."""
    makers = {
        "year": lambda: str(rng.randint(1790, 2024)),
        "money": lambda: f"{rng.randint(2, 900)}{rng.choice(['', '.50', '.20'])} {rng.choice(['crowns', 'euros'])}",
        "person": lambda: f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}",
        "place": lambda: rng.choice(PLACES),
        "hour": lambda: f"{rng.randint(5, 22)}:{rng.choice(['00', '15', '30', '45'])}",
        "count": lambda: str(rng.randint(2, 4000)),
        "month": lambda: rng.choice(MONTHS),
        "percent": lambda: f"{rng.randint(1, 99)} %",
        "days": lambda: f"{rng.randint(2, 400)} days",
    }
    return makers[kind]() if kind in makers else f"{rng.randint(1, 900)} {kind}"


@dataclass(frozen=True)
class Table:
    """One table inside its text."""

    text: str
    head: str
    columns: list[Column]
    rows: list[str]
    values: list[list[str]]
    lines: list[Span]

    def place(self, row: int, column: int) -> Span:
        """The characters of a cell; column 0 names the row."""
        start = self.lines[row][0] + sum(len(value) + 3 for value in self.values[row][:column])
        return start, start + len(self.values[row][column])


def make_table(before: str, after: str, rng: random.Random) -> Table:
    columns = rng.sample(COLUMNS, rng.randint(1, 5))
    count = rng.randint(3, 9)
    names = [f"{a} {b}" for a in KINDS for b in THINGS]
    rows = [name.capitalize() if rng.random() < 0.8 else name for name in rng.sample(names, count)]
    head = rng.choice(HEADS)
    values = [[name, *(cell(column.make, rng) for column in columns)] for name in rows]
    text = before + " | ".join([head, *(column.head for column in columns)])
    lines = []
    for value in values:
        line = " | ".join(value)
        lines.append((len(text) + 1, len(text) + 1 + len(line)))
        text += ";" + line
    return Table(text + after, head, columns, rows, values, lines)


def table_examples(texts: list[str], count: int, rng: random.Random) -> Iterator[Example]:
    """Questions that a table answers, questions that it only seems to answer, and claims."""
    for number in range(count):
        before = f"{rng.choice(texts)[: rng.randint(0, 400)].rsplit('. ', 1)[0]}. " if rng.random() < 0.5 else ""
        after = f" {rng.choice(texts)[: rng.randint(0, 300)]}" if rng.random() < 0.4 else ""
        table = make_table(before, after, rng)
        held = held_out(f"table {number}", 5)
        base = {"kind": "table", "source": "table", "context": table.text, "held": held, "weight": WEIGHT}
        row, column = rng.randrange(len(table.rows)), rng.randrange(len(table.columns))
        yield _asked(table, row, column, base, rng)
        yield _absent(table, row, column, base, rng)
        yield from _claimed(table, row, column, base, rng)


def _asked(table: Table, row: int, column: int, base: dict, rng: random.Random) -> Example:
    name, value = table.rows[row], table.values[row][column + 1]
    line = table.lines[row]
    unique = [values[column + 1] for values in table.values].count(value) == 1
    if unique and rng.random() < 0.25:
        question = f"Which {table.head.lower()} has a {table.columns[column].head.lower()} of {value}?"
        return Example(query=question, answerable=True, answer=table.place(row, 0), evidence=(line,), **base)
    question = ask(table.columns[column], name, rng)
    return Example(query=question, answerable=True, answer=table.place(row, column + 1), evidence=(line,), **base)


def _absent(table: Table, row: int, column: int, base: dict, rng: random.Random) -> Example:
    """A row or a column that the table has not; the rest of the question fits it."""
    if rng.random() < 0.5:
        kinds = {column.make for column in table.columns}
        column_absent = rng.choice([c for c in COLUMNS if c.make not in kinds] or [Column("Owner", "person", ())])
        return Example(query=ask(column_absent, table.rows[row], rng), answerable=False, **base)
    name = f"{rng.choice(KINDS)} {rng.choice(THINGS)}"
    while name.lower() in table.text.lower():
        name = f"{rng.choice(KINDS)} {rng.choice(THINGS)}"
    return Example(query=ask(table.columns[column], name, rng), answerable=False, **base)


def ask(column: Column, name: str, rng: random.Random) -> str:
    """A question for the cell of a row."""
    named = f"the {name.lower()}"
    plain = (f"What is the {column.head.lower()} of {{}}?", f"What {column.head.lower()} is given for {{}}?")
    return rng.choice([*column.asks, *column.asks, *plain]).format(named)


def _claimed(table: Table, row: int, column: int, base: dict, rng: random.Random) -> Iterator[Example]:
    name, heading = table.rows[row].lower(), table.columns[column].head.lower()
    value = table.values[row][column + 1]
    wrong = [values[column + 1] for values in table.values if values[column + 1] != value]
    claim = f"The {heading} of the {name} is {{}}."
    yield Example(query=claim.format(value), supported=True, evidence=(table.lines[row],), **base)
    if wrong:
        yield Example(query=claim.format(rng.choice(wrong)), supported=False, **base)
