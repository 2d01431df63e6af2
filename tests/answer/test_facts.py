"""Numbers, dates, names and negations are the same however they are written."""

from __future__ import annotations

from fractions import Fraction

import pytest

from chapterverse.answer.facts import Date, dates, names, negations, numbers, without_negative_prefix


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("one hundred and twelve apprentices", 112, ""),
        ("1,200 soldiers", 1200, ""),
        ("thirty-nine", 39, ""),
        ("nineteen forty-five", 1945, ""),
        ("nineteen hundred and seven", 1907, ""),
        ("three thousand five hundred", 3500, ""),
        ("two dozen eggs", 24, ""),
        ("half a million", 500_000, ""),
        ("£1.5m", 1_500_000, "£"),
        ("$3 million", 3_000_000, "$"),
        ("five dollars", 5, "$"),
        ("5 m", 5, "m"),
        ("eleven shillings", 11, "shilling"),
        ("forty-one hundredweight", 41, "cwt"),
        ("129 degrees Celsius", 129, "°C"),
        ("minus 90 °C", -90, "°C"),
        ("half an hour", Fraction(1, 2), "hour"),
        ("an hour and a quarter", Fraction(5, 4), "hour"),
        ("a quarter of an hour", Fraction(1, 4), "hour"),
        ("three and a half miles", Fraction(7, 2), "mile"),
        ("a fifth of the crop", Fraction(1, 5), ""),
        ("one fifth", Fraction(1, 5), ""),
        ("two-thirds", Fraction(2, 3), ""),
        ("2½", Fraction(5, 2), ""),
        ("3/4", Fraction(3, 4), ""),
        ("25 percent", Fraction(1, 4), ""),
        ("12%", Fraction(3, 25), ""),
        ("two seconds", 2, "second"),
        ("12 percentage points", 12, "point"),
        ("twice", 2, "times"),
        ("three times", 3, "times"),
        ("10³ litres", 1000, "l"),
        ("10⁻³ g", Fraction(1, 1000), "g"),
        ("0⁻² g", 0, "g"),
    ],
)
def test_a_number_has_one_value_and_unit(text: str, value: int | Fraction, unit: str) -> None:
    found = numbers(f"It is {text}.")
    assert [(n.value, n.unit) for n in found] == [(value, unit)]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("about forty men", "about"),
        ("more than 10 days", "over"),
        ("fewer than ten", "under"),
        ("at least 5 kg", "at least"),
        ("< 5 kg", "under"),
        (">5 kg", "over"),
        ("≥ £5", "at least"),
        ("<= 5 kg", "at most"),
        ("~5 kg", "about"),
        ("-> 5 kg", ""),
        ("no fewer than six", "at least"),
        ("up to 60,000 workers", "at most"),
        ("ten or more", "at least"),
        ("exactly four", "exactly"),
        ("below a pH of 6.0", "under"),
        ("forty men", ""),
    ],
)
def test_a_limit_is_part_of_a_number(text: str, bound: str) -> None:
    (number,) = numbers(text)
    assert number.bound == bound
    assert number.lead <= number.start < number.end <= number.tail <= len(text)


def test_only_a_fraction_takes_a_unit_with_an_article() -> None:
    assert [n.unit for n in numbers("In 1790 a gallon of ale cost 3 pence.")] == ["", "penny"]
    assert [n.unit for n in numbers("He rode half a mile.")] == ["mile"]


@pytest.mark.parametrize("text", ["It is {}.", "It is 3.{}.", "It is 1/{}.", "It is {} and a half."])
def test_digits_without_end_are_no_number(text: str) -> None:
    assert all(n.value < 10 for n in numbers(text.format("7" * 5000)))


def test_ordinals_are_told_from_fractions_and_units() -> None:
    assert [(n.value, n.ordinal) for n in numbers("the third wheel")] == [(3, True)]
    assert [(n.value, n.ordinal) for n in numbers("a third was raised")] == [(Fraction(1, 3), False)]
    assert [(n.value, n.ordinal) for n in numbers("the twenty-first century")] == [(21, True)]
    assert [(n.value, n.unit, n.ordinal) for n in numbers("the 17th century")] == [(17, "century", True)]


@pytest.mark.parametrize("text", ["no one came", "one of them", "the one that I saw", "hundreds of men"])
def test_words_that_only_look_like_numbers(text: str) -> None:
    assert numbers(text) == []


@pytest.mark.parametrize(
    "text", ["1 August 1687", "August 1, 1687", "the first of August, 1687", "1687-08-01", "1st of Aug 1687"]
)
def test_a_date_is_the_same_in_every_form(text: str) -> None:
    (date,) = dates(f"It was founded on {text}, they say.")
    assert (date.year, date.month, date.day) == (1687, 8, 1)


def test_a_date_is_within_one_that_says_more() -> None:
    month, day = Date(0, 1, 1687, 8), Date(0, 1, 1687, 8, 1)
    assert month.within(day)
    assert not day.within(month)
    assert not Date(0, 1, 1688, 8).within(day)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Guild of Clockmakers of Harrow Vale was founded.", ["Guild of Clockmakers of Harrow Vale"]),
        ("When Hugh Bellamy met Mr. Elias Trew in Stennet", ["Hugh Bellamy", "Mr. Elias Trew", "Stennet"]),
        ("In the end nothing came of it.", []),
        ("He gave Kell’s forge away.", ["Kell"]),
        ("Élodie met Anne-Marie.", ["Élodie", "Anne-Marie"]),
    ],
)
def test_names(text: str, expected: list[str]) -> None:
    assert [name.text for name in names(text)] == expected
    assert all(text[name.start : name.end] == name.text for name in names(text))


def test_a_single_word_that_opens_a_sentence_may_be_no_name() -> None:
    assert [(name.text, name.opens) for name in names("Clocks are made by Kell.")] == [
        ("Clocks", True),
        ("Kell", False),
    ]


def test_titles_and_particles_are_no_part_of_what_is_compared() -> None:
    (name,) = names("the late Dr. Ada van Hoorn")
    assert name.words == ("ada", "hoorn")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It is not here.", 1),
        ("It isn’t here and never was.", 2),
        ("Smoking is forbidden.", 1),
        ("not only here", 0),
        ("no fewer than six", 0),
        ("It is here.", 0),
    ],
)
def test_negations(text: str, count: int) -> None:
    assert len(negations(text)) == count


def test_negative_prefixes() -> None:
    assert without_negative_prefix("unsafe") == "safe"
    assert without_negative_prefix("safe") is None
