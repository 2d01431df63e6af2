"""Conflicts: contradictions are found, and agreement in other words never is; outside the sample book."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from chapterverse.answer.claims import Claim, Statement, same_subject
from chapterverse.answer.conflicts import Conflict, find_conflicts
from chapterverse.answer.validate import Excerpt, validate_retrieval
from chapterverse.answer.values import agree, values
from chapterverse.ingest.sentences import split
from chapterverse.reading.reader import Reader
from chapterverse.types import AnswerSpan, Reading

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


def pairs(file: str, kind: str) -> list[dict[str, str]]:
    rows = map(json.loads, (HERE / file).read_text("utf-8").splitlines())
    return [row for row in rows if row["kind"] == kind]


def found(reader: Reader, row: dict[str, str]) -> list[Conflict]:
    passages = [Excerpt("first", row["first"]), Excerpt("second", row["second"])]
    return find_conflicts(row["question"], passages, reader=reader, sentences=split)


def test_every_contradiction_is_reported(reader: Reader) -> None:
    rows = pairs("conflicts.jsonl", "contradicting")
    assert len(rows) >= 20
    assert [row["question"] for row in rows if not found(reader, row)] == []


@pytest.mark.parametrize("file", ["conflicts.jsonl", "conflicts_held.jsonl"])
def test_no_agreement_is_reported(reader: Reader, file: str) -> None:
    rows = pairs(file, "agreeing")
    assert len(rows) >= 20
    assert [row["question"] for row in rows if found(reader, row)] == []


def test_nothing_is_reported_of_different_things(reader: Reader) -> None:
    rows = pairs("conflicts.jsonl", "apart")
    assert len(rows) >= 20
    assert [row["question"] for row in rows if found(reader, row)] == []


def test_rates_on_pairs_that_nothing_was_tuned_on(reader: Reader) -> None:
    reported = {
        kind: sum(bool(found(reader, row)) for row in pairs("conflicts_held.jsonl", kind))
        for kind in ("contradicting", "apart")
    }
    assert reported["contradicting"] >= 21
    assert reported["apart"] <= 3


def test_both_places_are_named(reader: Reader) -> None:
    row = pairs("conflicts.jsonl", "contradicting")[0]
    (conflict,) = found(reader, row)
    assert conflict.kind == "date"
    assert {conflict.first.chunk_id, conflict.second.chunk_id} == {"first", "second"}
    for statement in (conflict.first, conflict.second):
        text = row[statement.chunk_id]
        assert text[statement.start : statement.end] == statement.answer
        assert statement.quote in text
        assert statement.answer in statement.quote
    assert json.loads(json.dumps(conflict.as_dict()))["first"]["chunk_id"] == conflict.first.chunk_id


def test_a_passage_can_contradict_itself(reader: Reader) -> None:
    text = (
        "The observatory at Quern was founded in 1742. Its first astronomer was a parson who had never owned a clock."
        " The observatory at Quern was founded in 1749, as the stone above its door says."
    )
    passages = [Excerpt("only", text)]
    conflicts = find_conflicts("When was the observatory at Quern founded?", passages, reader=reader, sentences=split)
    assert [{one.first.answer, one.second.answer} for one in conflicts] == [{"1742", "1749"}]


class Sure:
    """A reader that is sure of the first of these words that a passage has."""

    def __init__(self, *answers: str) -> None:
        self.answers = answers

    def read(self, _: str, texts: list[str], *, whole: bool = False) -> list[Reading]:
        found = [(text.index(word), word) for text in texts for word in [w for w in self.answers if w in text][:1]]
        return [Reading(0.9, 0.9, (AnswerSpan(start, start + len(word), 0.9),)) for start, word in found]


class Doubtful(Sure):
    """Takes no two sentences for the same."""

    def strictly(self, _: str, texts: list[str]) -> list[float]:
        return [0.1 for _ in texts]


def kinds(question: str, one: str, two: str, reader: Sure) -> list[str]:
    passages = [Excerpt("one", one), Excerpt("two", two)]
    return [c.kind for c in find_conflicts(question, passages, reader=reader, sentences=split)]  # type: ignore[arg-type]


def test_what_is_said_in_passing_contradicts_nothing(reader: Reader) -> None:
    def reported(text: str) -> list[str]:
        question = "How long does the battery last?"
        found = find_conflicts(question, [Excerpt("only", text)], reader=reader, sentences=split)
        return [one.second.quote for one in found]

    assert reported("The battery lasts 8 hours. In cold weather it lasts 5 hours. Charging takes 2 hours.") == []
    assert reported("The battery lasts 8 hours. Charging takes 2 hours. The battery lasts 5 hours.") != []


@pytest.mark.parametrize(
    ("told", "reported"),
    [
        ("In cold weather, the battery of the lamp lasts 5 hours.", []),
        ("During a frost the battery of the lamp lasts 5 hours.", []),
        ("At this point the battery of the lamp lasts 5 hours.", ["number"]),
        ("In fact, the battery of the lamp lasts 5 hours.", ["number"]),
        ("In the lamp, the battery lasts 5 hours.", ["number"]),
    ],
)
def test_what_holds_under_a_condition_contradicts_nothing(told: str, reported: list[str]) -> None:
    fact = "The battery of the lamp lasts 8 hours."
    assert kinds("How long does the battery of the lamp last?", fact, told, Sure("8 hours", "5 hours")) == reported


@pytest.mark.parametrize(
    ("told", "reported"),
    [
        ("The old tower, pulled down in 1802, was 20 m tall.", []),
        ("The church tower is 20 m tall.", []),
        ("The tower, pulled down in 1802, was 20 m tall.", ["number"]),
        ("The whole tower is 20 m tall.", ["number"]),
        ("Masons built the tower 20 m tall.", ["number"]),
    ],
)
def test_another_of_the_kind_contradicts_nothing(told: str, reported: list[str]) -> None:
    fact, reader = "The tower is 30 m tall.", Sure("30 m", "20 m")
    assert kinds("How tall is the tower?", fact, told, reader) == reported
    assert kinds("How tall is the tower?", told, fact, reader) == reported


@pytest.mark.parametrize(
    ("told", "reported"),
    [
        ("Mrs. Bennet got rid of her two most deserving daughters.", []),
        ("Mrs. Bennet took two of her daughters along.", []),
        ("Mrs. Bennet took her two eldest daughters along.", []),
        ("Mrs. Bennet took her two other daughters along.", []),
        ("Mrs. Bennet took her two daughters along.", ["number"]),
    ],
)
def test_a_part_contradicts_no_whole(told: str, reported: list[str]) -> None:
    fact, reader = "Mrs. Bennet wanted her five daughters to be married.", Sure("five", "two")
    assert kinds("How many daughters does Mrs. Bennet have?", fact, told, reader) == reported


def test_parts_are_compared_with_parts_and_shares_with_shares() -> None:
    reader = Sure("two", "three", "half", "30 %")
    one, two = "The duke met two of her daughters.", "The duke met three of her daughters."
    assert kinds("How many of her daughters did the duke meet?", one, two, reader) == ["number"]
    one, two = "About half of the seed germinated.", "The seed germinated, 30 % in all."
    assert kinds("What share of the seed germinated?", one, two, reader) == ["number"]


def test_a_heading_contradicts_nothing() -> None:
    question, fact = "How many valves does the B-12 engine have?", "The B-12 engine has 24 valves."
    reader = Sure("16 valves", "24 valves")
    assert kinds(question, "The B-12 engine of 16 valves\n\nIt was built in Dresden.", fact, reader) == []
    assert kinds(question, "The B-12 engine is one of 16 valves.\n\nDresden built it.", fact, reader) == ["number"]


def test_what_does_not_speak_of_the_matter_contradicts_nothing() -> None:
    question, fact = "When was the piano bought?", "The piano was bought in Ghent in 1923."
    reader = Sure("1923", "1931", "1979")
    assert kinds(question, fact, "The axial drum went into production in 1979.", reader) == []
    assert kinds(question, fact, "The piano was bought at a sale in Liège in 1931.", reader) == ["date"]


@pytest.mark.parametrize(
    ("denied", "reported"),
    [
        ("It is not true that the old mill at Quern was built in 1710, as some say.", []),
        ("The old mill at Quern was not built in 1710.", []),
        ("Nobody now believes that the old mill at Quern was built in 1710.", []),
        ("The old mill at Quern was not built until 1710.", ["polarity"]),
        ("The old mill at Quern was not finished, but it was built in 1710.", ["date"]),
        ("The old mill at Quern was not built in 1702.", ["polarity"]),
    ],
)
def test_an_answer_that_is_denied_contradicts_no_other(denied: str, reported: list[str]) -> None:
    fact = "The old mill at Quern was built in 1702."
    assert kinds("When was the old mill at Quern built?", fact, denied, Doubtful("1702", "1710")) == reported


def test_two_ways_to_do_a_thing_are_no_contradiction() -> None:
    reader = Doubtful("sluice", "crank", "40 turns", "60 turns")
    one, two = "The tool to open the gate is the sluice key.", "The tool to open the gate is the crank."
    assert kinds("What is the tool to open the gate?", one, two, reader) == ["name"]
    assert kinds("What tool do I use to open the gate?", one, two, reader) == []
    one, two = "To open the gate use 40 turns.", "To open the gate use 60 turns."
    assert kinds("How many turns do I use to open the gate?", one, two, reader) == ["number"]


def test_what_others_say_of_each_other_does_not_touch_the_surest_answer() -> None:
    told = ["The mill has 8 wheels.", "The mill has 13 wheels."]

    class Ranked(Doubtful):
        def read(self, _: str, texts: list[str], *, whole: bool = False) -> list[Reading]:
            readings = super().read("", texts)
            return [replace(one, answerable=chance) for one, chance in zip(readings, (0.95, 0.9, 0.85), strict=False)]

    def reported(*texts: str) -> int:
        passages = [Excerpt(text, text) for text in texts]
        reader = Ranked("8", "13", "several")
        question = "How many wheels has the mill?"
        return len(find_conflicts(question, passages, reader=reader, sentences=split))  # type: ignore[arg-type]

    assert reported(*told) == 1
    assert reported("The mill has several wheels.", *told) == 0


def test_readings_of_the_validation_are_enough(reader: Reader) -> None:
    row = pairs("conflicts.jsonl", "contradicting")[1]
    passages = [Excerpt("first", row["first"]), Excerpt("second", row["second"])]
    verdict = validate_retrieval(row["question"], passages, reader=reader, sentences=split)
    again = find_conflicts(row["question"], passages, reader=reader, sentences=split, readings=verdict.readings)
    assert again == found(reader, row)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("in 1687", "sixteen eighty-seven"),
        ("38 cwt", "thirty-eight hundredweight"),
        ("three", "3"),
        ("nearly 40 people", "38 people"),
        ("ninety minutes", "an hour and a half"),
        ("1 hour 30 minutes", "90 minutes"),
        ("a quarter of an hour", "15 minutes"),
        ("£4.50", "four pounds fifty"),
        ("1.2 million hectares", "1,200,000 hectares"),
        ("12 metres", "1,200 cm"),
        ("50 %", "half of the seed"),
        ("21:40", "9.40 pm"),
        ("at 4 pm", "16:00"),
        ("31 March", "the thirty-first of March"),
        ("3 October 1871", "October of 1871"),
        ("1689", "the late seventeenth century"),
        ("the 1680s", "1687"),
        ("1901 to 1907", "1904"),
        ("between 30 and 40", "38"),
        ("more than 100 kg", "118 kg"),
        ("at least seven", "seven"),
        ("412 °C", "about 410 degrees Celsius"),
    ],
)
def test_values_that_agree(one: str, other: str) -> None:
    assert [agree(a, b) for a in values(one) for b in values(other)] == [True]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("in 1687", "in 1691"),
        ("£6", "£4.50"),
        ("half past five", "at 4 pm"),
        ("21:40", "ten past eleven"),
        ("31 March", "30 April"),
        ("Tuesday mornings", "every Thursday"),
        ("in February", "in November"),
        ("two months' notice", "four weeks"),
        ("some 300 soldiers", "no more than ninety soldiers"),
        ("at least forty minutes", "15 minutes"),
        ("up to 9 kg", "up to 6 kg"),
        ("20 to 30 kg", "35 kg"),
        ("two thirds", "a quarter"),
        ("1690", "the 1680s"),
    ],
)
def test_values_that_disagree(one: str, other: str) -> None:
    assert [agree(a, b) for a in values(one) for b in values(other)] == [False]


@pytest.mark.parametrize(("one", "other"), [("12 kg", "3 metres"), ("£5", "5 km"), ("on Monday", "at 4 pm")])
def test_values_that_cannot_be_compared(one: str, other: str) -> None:
    assert [agree(a, b) for a in values(one) for b in values(other)] == [None]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("We have held many fairs of two days in the town hall.", False),
        ("The fair lasts two days.", True),
        ("A virtual fair lasts two days.", True),
    ],
)
def test_what_is_asked_of_one_kind_is_not_contradicted_by_another(other: str, same: bool) -> None:
    told = claim("These virtual fairs are five days long.", "five days")
    assert same_subject("How long is a virtual fair?", told, claim(other, "two days")) is same


@pytest.mark.parametrize(
    ("other", "same"), [("This book appeared in 1860.", True), ("This e-book appeared in 2019.", False)]
)
def test_a_copy_of_a_book_does_not_contradict_it(other: str, same: bool) -> None:
    told = claim("This book appeared in 1859.", "1859")
    assert same_subject("When did the book appear?", told, claim(other, other[-5:-1])) is same


def claim(quote: str, answer: str) -> Claim:
    start = quote.index(answer)
    end = start + len(answer)
    return Claim(Statement("S1", quote, answer, start, end), start, end, 0.9)
