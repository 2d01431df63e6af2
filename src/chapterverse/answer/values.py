"""Values: what numbers and dates mean, so that two of them can be compared: agreeing, disagreeing, or neither.

A quantity is an interval ("about 40" is one) in a dimension ("mass"); a moment is what is known of a date or of a time
of day. "An hour and a half" agrees with "90 minutes", "1687" with "the seventeenth century", "38" with "nearly 40".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from chapterverse.answer.facts import MONTHS, Number, dates, numbers
from chapterverse.answer.wording import FUNCTION_WORDS, stem


@dataclass(frozen=True, slots=True)
class Quantity:
    """The interval in which a number lies, at its place; limits ("at least 5") must be equal to agree."""

    start: int
    end: int
    low: float
    high: float
    unit: str = ""
    """As written; "" where none stands beside the number."""
    dimension: str = ""
    noun: str = ""
    """The stem of the word that follows a number without a unit: what is counted."""
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time of day at its place; what is not said is None."""

    start: int
    end: int
    years: tuple[int, int] | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    minute: int | None = None
    ambiguous: bool = False
    """Whether `minute` may be meant before noon or after."""


Value = Quantity | Moment

_ABOUT = 0.12
"""How far "about" reaches, as a share of the number."""
_CONVERTED = 0.02
"""How far rounding reaches where one side was converted to another unit."""

_DIMENSIONS = {
    "length": {
        "mm": 0.001,
        "cm": 0.01,
        "m": 1,
        "km": 1000,
        "inch": 0.0254,
        "foot": 0.3048,
        "yard": 0.9144,
        "mile": 1609,
    },
    "mass": {"mg": 1e-6, "g": 0.001, "kg": 1, "tonne": 1000, "ounce": 0.02835, "lb": 0.45359, "cwt": 50.8},
    "volume": {"ml": 0.001, "l": 1, "gallon": 4.546},
    "area": {"hectare": 1, "acre": 0.4047},
    "time": {"ms": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "month": 2629746}
    | {"year": 31556952, "decade": 315569520, "century": 3155695200},
    "speed": {"mph": 1.609, "km/h": 1},
    "power": {"watt": 1, "kw": 1000, "mw": 1e6},
    "frequency": {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9},
    "size": {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
}
_FACTORS = {unit: (dimension, factor) for dimension, units in _DIMENSIONS.items() for unit, factor in units.items()}

_RANGE = re.compile(r"\s*(?:to|[-–—])\s*|\s+and\s+", re.IGNORECASE)
_WORD = re.compile(r"\s+(?:of\s+)?([^\W\d_]+)")
_SYMBOL = re.compile(r"\s?([A-Z])\b(?!['’])")
"""A unit that is a single letter, whatever it measures."""
_UNIT_AND_PART = re.compile(r"\ban?\s+(?P<unit>\w+)\s+and\s+an?\s+(?P<part>half|quarter)\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_WEEKDAYS = "mon tues wednes thurs fri satur sun".split()
_MONTH = re.compile(rf"\b(?:{'|'.join(name.title() for name in MONTHS)})\b")
_CLOCK = re.compile(
    r"(?<![\d.])(?P<hour>\d{1,2})(?:(?P<sign>[:.])(?P<minute>\d{2}))?(?:\s*(?P<half>[ap])\.?m\b\.?|\s+o['’]clock)?",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?P<part>half|quarter|\w+(?:-\w+)?)\s+(?P<way>past|to)\s+(?P<hour>\w+)\b", re.IGNORECASE)
_NOON = re.compile(r"\b(?P<noon>noon|midday)\b|\bmidnight\b", re.IGNORECASE)


def values(text: str) -> list[Value]:
    """The values in a text, in order."""
    moments = [*_dates(text), *times(text), *_days(text)]
    taken = [(moment.start, moment.end) for moment in moments]
    found = [n for n in numbers(text) if not any(start <= n.start < end for start, end in taken)]
    quantities = [*_merged(text, [_value(text, number) for number in found])]
    return sorted([*moments, *quantities], key=lambda value: value.start)


def agree(one: Value, other: Value) -> bool | None:
    """Whether two values can both be true of one thing; None if they do not speak of the same kind of thing."""
    if isinstance(one, Moment):
        return _moments_agree(one, other) if isinstance(other, Moment) else _year_agrees(one, other)
    return _quantities_agree(one, other) if isinstance(other, Quantity) else _year_agrees(other, one)


def _quantities_agree(one: Quantity, other: Quantity) -> bool | None:
    if one.unit and other.unit and (one.dimension or one.unit) != (other.dimension or other.unit):
        return None
    if one.limit and one.limit == other.limit:
        return math.isclose(one.low, other.low, rel_tol=_CONVERTED) and math.isclose(
            one.high, other.high, rel_tol=_CONVERTED
        )
    slack = _CONVERTED if one.unit != other.unit and one.dimension and other.dimension else 1e-9
    return one.low <= other.high * (1 + slack) and other.low <= one.high * (1 + slack)


def _moments_agree(one: Moment, other: Moment) -> bool | None:
    verdicts = []
    if one.years and other.years:
        verdicts.append(one.years[0] <= other.years[1] and other.years[0] <= one.years[1])
    for here, there in ((one.month, other.month), (one.day, other.day), (one.weekday, other.weekday)):
        if here is not None and there is not None:
            verdicts.append(here == there)
    if one.minute is not None and other.minute is not None:
        cycle = 720 if one.ambiguous or other.ambiguous else 1440
        verdicts.append(one.minute % cycle == other.minute % cycle)
    return all(verdicts) if verdicts else None


def _year_agrees(moment: Moment, quantity: Quantity) -> bool | None:
    if moment.years is None or quantity.unit:
        return None
    return quantity.low <= moment.years[1] and moment.years[0] <= quantity.high


def _value(text: str, number: Number) -> Value:
    value, written = float(number.value), text[number.start : number.end]
    end = max(number.end, number.tail)
    if number.unit == "century" and number.ordinal:
        return Moment(number.start, end, (int(value) * 100 - 99, int(value) * 100))
    if number.unit == "decade" and value >= 1000:
        return Moment(number.start, end, (int(value), int(value) + 9))
    if not number.unit and not number.ordinal and value % 1 == 0 and 1000 <= value < 2200 and "," not in written:
        slack = 10 if number.bound == "about" else 0
        return Moment(number.start, end, (int(value) - slack, int(value) + slack))
    symbol = None if number.unit else _SYMBOL.match(text, end)
    unit, end = (symbol[1], symbol.end()) if symbol else (number.unit, end)
    dimension, factor = _FACTORS.get(unit, ("", 1))
    noun = "" if unit else _noun(text, number.tail)
    low, high = _interval(value, written, number.bound)
    limit = number.bound if number.bound in ("at least", "at most") else ""
    return Quantity(number.start, end, low * factor, high * factor, unit, dimension, noun, limit)


def _interval(value: float, written: str, bound: str) -> tuple[float, float]:
    if bound == "about":
        return value - _ABOUT * abs(value), value + _ABOUT * abs(value)
    if bound in ("over", "at least"):
        return value, math.inf
    if bound in ("under", "at most"):
        return -math.inf, value
    decimals = re.search(r"\.(\d+)", written)
    if not decimals:
        return value, value
    # What is written with decimals was rounded to them.
    mantissa = float(re.sub(r"[^\d.]", "", written))
    half = 0.5 * 10 ** -len(decimals[1]) * (abs(value) / mantissa if mantissa else 1)
    return value - half, value + half


def _noun(text: str, end: int) -> str:
    match = _WORD.match(text, end)
    return stem(match[1].lower()) if match and match[1].lower() not in FUNCTION_WORDS else ""


def _merged(text: str, found: list[Value]) -> Iterator[Value]:
    """Ranges as one interval, and sums ("1 hour 30 minutes", "four pounds fifty") as one value."""
    parts = {match.end(): match for match in _UNIT_AND_PART.finditer(text)}
    last: Value | None = None
    for value in found:
        if isinstance(value, Quantity) and (match := parts.get(value.end)):
            value = _unit_and_part(match) or value
        joined = _joined(text, last, value) if last else None
        if joined is None and last is not None:
            yield last
        last = joined or value
    if last is not None:
        yield last


def _unit_and_part(match: re.Match[str]) -> Quantity | None:
    unit = next((n.unit for n in numbers(f"2 {match['unit']}")), "")
    if unit not in _FACTORS:
        return None
    dimension, factor = _FACTORS[unit]
    total = factor * (1.5 if match["part"].lower() == "half" else 1.25)
    return Quantity(match.start(), match.end(), total, total, unit, dimension)


def _joined(text: str, first: Value, second: Value) -> Value | None:
    between = text[first.end : second.start]
    if isinstance(first, Moment) and isinstance(second, Moment):
        if not (first.years and second.years and first.years[1] < second.years[0] and _RANGE.fullmatch(between)):
            return None
        return Moment(first.start, second.end, (first.years[0], second.years[1]))
    if isinstance(first, Moment) or isinstance(second, Moment):
        return None
    if first.dimension and first.dimension == second.dimension and between.strip() in ("", "and", ","):
        return replace(first, end=second.end, low=first.low + second.low, high=first.high + second.high)
    if first.unit in ("£", "$", "€") and not between.strip() and not second.unit and 0 < second.high < 100:
        cents = second.high / 100
        return replace(first, end=second.end, low=first.low + cents, high=first.high + cents)
    spoken = "and" not in between or re.search(r"\bbetween\s+\S*$", text[: first.start], re.IGNORECASE)
    if _RANGE.fullmatch(between) and spoken and (first.unit in ("", second.unit)) and first.low < second.high:
        factor = _FACTORS.get(second.unit, ("", 1))[1] if not first.unit else 1
        return replace(second, start=first.start, low=first.low * factor)
    return None


def _dates(text: str) -> Iterator[Moment]:
    for date in dates(text):
        years = None if date.year is None else (date.year, date.year)
        yield Moment(date.start, date.end, years, date.month, date.day)


def _days(text: str) -> Iterator[Moment]:
    """Days of the week, and months that stand alone."""
    for match in _WEEKDAY.finditer(text):
        yield Moment(match.start(), match.end(), weekday=_WEEKDAYS.index(match[1].lower()))
    taken = [(date.start, date.end) for date in dates(text)]
    for match in _MONTH.finditer(text):
        # At the start of a sentence "May" and "March" are more often verbs.
        if match.start() and not any(start <= match.start() < end for start, end in taken):
            yield Moment(match.start(), match.end(), month=MONTHS.index(match[0].lower()) + 1)


def times(text: str) -> Iterator[Moment]:
    """The times of day in a text."""
    for match in _CLOCK.finditer(text):
        hour, half = int(match["hour"]), (match["half"] or "").lower()
        spoken = half or match[0].lower().endswith("clock")
        if (spoken or match["sign"] == ":") and hour < 24:
            minute = 60 * (hour % 12 + 12 if half == "p" else hour % 12 if half else hour) + int(match["minute"] or 0)
            yield Moment(match.start(), match.end(), minute=minute, ambiguous=not half and hour <= 12)
    for match in _PAST.finditer(text):
        part = {"half": 30, "quarter": 15}.get(match["part"].lower()) or _whole(match["part"])
        hour = _whole(match["hour"])
        if part and hour and part < 60 and hour <= 12:
            minute = hour * 60 + (part if match["way"].lower() == "past" else -part)
            yield Moment(match.start(), match.end(), minute=minute, ambiguous=True)
    for match in _NOON.finditer(text):
        yield Moment(match.start(), match.end(), minute=720 if match["noon"] else 0)


def _whole(word: str) -> int:
    return next((int(n.value) for n in numbers(word) if n.value.denominator == 1), 0)
