"""Ranges: what a label such as "5 to 9 years" or "over 20 kg" holds, and the number of a question that is looked up.

Whether the end of a range belongs to it is told by its words: "up to 20" holds 20, "over 20" does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from chapterverse.answer.facts import Number, numbers
from chapterverse.answer.questions import content
from chapterverse.answer.units import unit_of

_IN_WORDS = (
    (re.compile(r"≥|>="), "at least "),
    (re.compile(r"≤|<=|\bup to and including\b|\bnot (?:over|above)\b", re.IGNORECASE), "at most "),
    (re.compile(r">"), "over "),
    (re.compile(r"<"), "under "),
    (re.compile(r"(?<=\d)\s*\+"), " or more"),
    (re.compile(r"\band (?:more|up)\b", re.IGNORECASE), "or more"),
)
"""Signs, and words for ends that are read as others."""
_JOINED = re.compile(r"\s*(?:[-–—]|to|through|until|but|and)?\s*", re.IGNORECASE)
_SPANNED = re.compile(r"\s*(?:[-–—]|to|through|until)\s*", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s*$", re.IGNORECASE)
_LOWER, _UPPER = ("over", "at least"), ("under", "at most")
_PERCENT = re.compile(r"\s?(?:%|per\s?cent\b)", re.IGNORECASE)
_SIGN = re.compile(r"[^\W\d_]+|[%£$€¥]|°\w?")
_AGE = re.compile(r"\bages?\b", re.IGNORECASE)
_OF_AGE = re.compile(r"\b(?:age[ds]?|(?:years?[\s-])?olds?)\b", re.IGNORECASE)
_SPREAD = re.compile(r"\b(?:in|within|during|every|each|per|next|last|past|first|another|other)\s+$", re.IGNORECASE)
_SHIFTED = re.compile(r"\s*(?:ago|later|more|less|longer|apart|earlier|early|late|before|beforehand)\b", re.IGNORECASE)
"""Around a number that is a period or a difference, and not the place of anything."""


class Span(NamedTuple):
    """A range; None is no end at all."""

    low: Fraction | None
    high: Fraction | None
    holds_low: bool = True
    holds_high: bool = True
    unit: str = ""
    words: frozenset[str] = frozenset()
    """What else its label speaks of."""

    def holds(self, value: Fraction) -> bool:
        above = self.low is None or value > self.low or (self.holds_low and value == self.low)
        below = self.high is None or value < self.high or (self.holds_high and value == self.high)
        return above and below


def span_of(label: str) -> Span | None:
    """The range that a label names; None for anything else, also for a number alone."""
    for sign, words in _IN_WORDS:
        label = sign.sub(words, label)
    found = numbers(label)
    if not 1 <= len(found) <= 2 or any(number.ordinal for number in found):
        return None
    first, last = found[0], found[-1]
    rest = _SIGN.findall(f"{label[: first.lead]} {label[last.tail :]}")
    units = {_measured(label, one)[1] for one in found} | {unit_of(word) for word in rest}
    span = _one_end(label, first) if first is last else _two_ends(label, first, last)
    if span is None or len(units - {""}) > 1:
        return None
    others = content(" ".join(word for word in rest if not unit_of(word)))
    return span._replace(unit="".join(units), words=others)


def _one_end(label: str, number: Number) -> Span | None:
    value, _ = _measured(label, number)
    if number.bound in _LOWER or (not number.bound and _FROM.search(label[: number.lead])):
        return Span(value, None, holds_low=number.bound != "over")
    return Span(None, value, holds_high=number.bound != "under") if number.bound in _UPPER else None


def _two_ends(label: str, first: Number, last: Number) -> Span | None:
    between = label[first.tail : last.lead]
    plain = _SPANNED if not last.bound and not _BETWEEN.search(label[: first.lead]) else _JOINED
    low, high = _measured(label, first)[0], _measured(label, last)[0]
    if not plain.fullmatch(between) or first.bound not in ("", *_LOWER) or last.bound not in ("", *_UPPER):
        return None
    return Span(low, high, first.bound != "over", last.bound != "under") if low < high else None


def is_ladder(spans: Sequence[Span]) -> bool:
    """Whether ranges are open to the same side, so that one number may be in several: "up to 5", "up to 20"."""
    return all(span.low is None for span in spans) or all(span.high is None for span in spans)


def narrowest(spans: Sequence[Span]) -> list[int]:
    """Which of the ranges that hold a number are meant: of those of a ladder the one that ends next to it, or all."""
    if not spans or not is_ladder(spans):
        return list(range(len(spans)))
    ends = [span.high if span.low is None else span.low for span in spans]
    nearest = (min if spans[0].low is None else max)(end for end in ends if end is not None)
    return [n for n, end in enumerate(ends) if end == nearest]


def number_in(query: str) -> Number | None:
    """The one number that a question has, if it stands for a place on a scale: not "over 5", "every 5 years"."""
    found = numbers(query)
    if len(found) != 1 or found[0].ordinal or found[0].bound not in ("", "exactly"):
        return None
    [number] = found
    period = _SPREAD.search(query[: number.lead]) or _SHIFTED.match(query, number.tail)
    return None if period else number


def is_held(query: str, number: Number, span: Span, title: str) -> bool:
    """Whether a range below a title holds the number of a question, which must have its unit or name what it counts."""
    value, unit = _measured(query, number)
    units = {span.unit} if span.unit else units_of(title)
    beside = query[: number.start].split()[-1:] + query[number.tail :].split()[:1]
    named = content(" ".join(beside)) & (content(title) | span.words)
    aged = not _AGE.search(title) or _OF_AGE.search(query)  # after 12 years, nobody is 12
    return bool(aged) and (unit in units if unit else bool(named)) and span.holds(value)


def units_of(title: str) -> set[str]:
    """The units that a title names; an age is told in years."""
    units = {unit_of(sign) for sign in _SIGN.findall(title)} - {""}
    return units | {"year"} if _AGE.search(title) else units


def _measured(text: str, number: Number) -> tuple[Fraction, str]:
    """A number and its unit; of a percentage, as it is written."""
    if not number.unit and _PERCENT.match(text, number.end):
        return number.value * 100, "%"
    return number.value, number.unit
