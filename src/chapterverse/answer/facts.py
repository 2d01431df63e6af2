"""Facts: the values that a text states and that can be compared exactly: numbers, dates, names, negations.

A value means the same however it is written: "one hundred and twelve" is 112, "£1.5m" is 1,500,000 pounds, and "the
first of August, 1687" is "1 August 1687".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from chapterverse.answer.units import UNIT, unit_of

Bound = Literal["", "about", "exactly", "over", "under", "at least", "at most"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number at its place; `unit` is canonical ("kg", "%"), or empty where none that is known stands beside it."""

    start: int
    end: int
    value: Fraction
    unit: str = ""
    ordinal: bool = False
    bound: Bound = ""
    lead: int = 0
    """Where the words of its bound begin ("more than"), or the number itself."""
    tail: int = 0
    """Where its unit ends, or the number itself."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date at its place, of at least two parts; what is not said is None."""

    start: int
    end: int
    year: int | None = None
    month: int | None = None
    day: int | None = None

    def within(self, other: Date) -> bool:
        """Whether the other date says all that this one says."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(mine is None or mine == theirs for mine, theirs in pairs)


@dataclass(frozen=True, slots=True)
class Name:
    """A proper name at its place, in its own letters."""

    start: int
    end: int
    text: str
    opens: bool = False
    """Whether it is a single word that opens a sentence, and may be capitalised for that alone."""

    @property
    def words(self) -> tuple[str, ...]:
        """Its words, folded, without titles and particles that may be left out."""
        found = [word.lower() for word in _NAME_WORD.findall(self.text)]
        return tuple(word for word in found if word not in _TITLES and word not in _PARTICLES)


MONTHS = (
    "january february march april may june july august september october november december"
).split()  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_SMALL = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_NTH = {word: n for n, word in enumerate(_ORDINALS)} | {word[:-1] + "ieth": 10 * n for n, word in enumerate(_TENS, 2)}
_NTH |= {"hundredth": 100, "thousandth": 1000}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_PARTS = {
    "half": 2,
    "third": 3,
    "quarter": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
_SIGNS = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8)}
_TIMES = {"twice": 2, "thrice": 3}
_MAX_DIGITS = 40
"""Longer runs of digits are no quantity, and Python refuses to read the longest; they are compared as words."""
_SUFFIXES = {"k": 1000, "m": 10**6, "bn": 10**9, "tn": 10**12}

_WORDS = rf"(?:{'|'.join(sorted([*_SMALL, *_SCALES, *_NTH], key=len, reverse=True))})\b"
_SPELLED = re.compile(
    rf"\b(?:an?\s+(?={'|'.join(_SCALES)}))?{_WORDS}(?:(?:[\s-]+|\s+and\s+|-and-){_WORDS})*",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    rf"\b(?P<top>an?|{'|'.join(_ONES[1:10])})?(?:[\s-]+)?\b(?P<part>{'|'.join(_PARTS)})(?P<many>s|ves)?\b"
    rf"(?:\s+an?\s+(?P<scale>{'|'.join(_SCALES)})\b)?",
    re.IGNORECASE,
)
_OF = re.compile(r"\s+of\b", re.IGNORECASE)
_HALVES = re.compile(r"\b(?P<whole>\w+)\s+and\s+a\s+(?P<part>half|quarter|third)\b", re.IGNORECASE)
_UNIT_AND_PART = re.compile(
    rf"\b(?P<whole>an?|{'|'.join(_ONES[1:10])})\s+(?P<unit>\w+)\s+and\s+an?\s+(?P<part>half|quarter)\b", re.IGNORECASE
)
_DIGITS = re.compile(
    r"(?<![\w.])(?P<sign>[-−](?=\d)|minus\s+)?(?:(?:US|A|C|NZ|HK)?(?P<money>[£$€¥])\s?)?(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<point>\.\d+)?"
    r"(?P<over>[/⁄]\d+)?(?P<part>[½⅓⅔¼¾⅛⅜⅝])?(?P<nth>(?:st|nd|rd|th)\b)?(?P<decade>s\b|['’]s\b)?"
    r"(?:\s?(?P<scale>(?:k|m|bn|tn)\b|(?:hundred|thousand|million|billion|trillion)\b))?",
    re.IGNORECASE,
)

_BOUNDS: dict[str, Bound] = {
    "about": "about", "around": "about", "roughly": "about", "approximately": "about", "nearly": "about",
    "almost": "about", "some": "about", "circa": "about", "c.": "about", "ca.": "about", "close to": "about",
    "scarcely": "about", "barely": "about", "hardly": "about", "an estimated": "about",
    "exactly": "exactly", "precisely": "exactly",
    "more than": "over", "over": "over", "above": "over", "greater than": "over", "upwards of": "over",
    "less than": "under", "fewer than": "under", "under": "under", "below": "under",
    "at least": "at least", "no less than": "at least", "no fewer than": "at least", "not less than": "at least",
    "not fewer than": "at least", "a minimum of": "at least",
    "at most": "at most", "up to": "at most", "no more than": "at most", "not more than": "at most",
    "a maximum of": "at most", "as many as": "at most", "as much as": "at most",
}  # fmt: skip
_GREATER = "longer later older heavier taller larger higher".split()
_LESSER = "shorter younger lighter smaller lower".split()
_NOT_OVER = ("no", "not", "not be", "not weigh", "not last")
for _word in _GREATER:
    _BOUNDS[f"{_word} than"] = "over"
for _word in _LESSER:
    _BOUNDS[f"{_word} than"] = "under"
for _word in ("exceed", "exceeds", "exceeding"):
    _BOUNDS[_word] = "over"
_MORE_THAN = [f"{no} {more} than" for no in _NOT_OVER for more in (*_GREATER, "more")]
for _word in ("not exceed", "not exceeding", *_MORE_THAN):
    _BOUNDS[_word] = "at most"
_BOUND_REACH = 24
"""How many characters before a number its bound may begin."""
_POWER = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}")
_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_BOUND = re.compile(
    rf"\b({'|'.join(sorted(map(re.escape, _BOUNDS), key=len, reverse=True))})(?:\s+an?\s+\w+\s+of)?\s+$", re.IGNORECASE
)
_BOUND_SIGNS: dict[str, Bound] = {
    "<": "under", ">": "over", "≤": "at most", "<=": "at most", "≥": "at least", ">=": "at least",
    "~": "about", "≈": "about",
}  # fmt: skip
_BOUND_SIGN = re.compile(r"(?<![-=<>~])([<>]=|[<>≤≥~≈])\s?$")
_AFTER: dict[str, Bound] = {"or more": "at least", "or so": "about", "or less": "at most", "or fewer": "at most"}
_AFTER |= {
    f"{link} {word}": "at least" for link in ("or", "and") for word in ("older", "over", "above", "longer", "upwards")
}
_AFTER |= {f"{link} {word}": "at most" for link in ("or", "and") for word in ("younger", "under", "below", "shorter")}
_BOUND_AFTER = re.compile(rf"(?:\s+\w+)?\s+({'|'.join(_AFTER)})\b", re.IGNORECASE)

_LOOSE_ONE = re.compile(r"(?:\b(?:no|any|every|each|this|that|the|which|another|only|some)\s+)$", re.IGNORECASE)
_SECOND_AS_UNIT = re.compile(r"\d\s*$|\b(?:a|per|one)\s+$", re.IGNORECASE)
_ONE_AS_NOUN = re.compile(r"\s+(?:of|another|who|that|which|is|was|by|has|had|may|can|must|should)\b|[.,;]|$", re.I)


def numbers(text: str) -> list[Number]:
    """Every number of a text, in order; years, days of a month and ordinals among them."""
    found: list[Number] = []
    reach = 0  # of those found so far: what begins before it is a part of one
    for number in sorted([*_digits(text), *_fractions(text), *_spelled(text)], key=lambda n: (n.start, -n.end)):
        if number.start >= reach:
            found.append(number)
            reach = number.end
    return [_dressed(text, number) for number in found]


def _digits(text: str) -> Iterator[Number]:
    for match in _DIGITS.finditer(text):
        if max(len(match[part] or "") for part in ("whole", "point", "over")) > _MAX_DIGITS:
            continue
        value = Fraction(match["whole"].replace(",", "") + (match["point"] or ""))
        if match["over"] and int(match["over"][1:]):
            value /= int(match["over"][1:])
        if match["part"]:
            value += Fraction(*_SIGNS[match["part"]])
        scale = (match["scale"] or "").lower()
        if scale in _SUFFIXES and not match["money"] and scale == "m":
            scale = ""  # "5 m" is five metres, "£5m" five million
        value *= _SCALES.get(scale, _SUFFIXES.get(scale, 1))
        if match["sign"]:
            value = -value
        beside = unit_of(match["money"]) if match["money"] else "decade" if match["decade"] else ""
        end = match.end() if scale or not match["scale"] else match.start("scale")
        if power := _POWER.match(text, end):
            value, end = _raised(value, int(power[0].translate(_LOWERED))), power.end()
        yield Number(match.start(), len(text[:end].rstrip()), value, beside, bool(match["nth"]))
    for match in re.finditer(r"(?<!\d)[½⅓⅔¼¾⅛⅜⅝]", text):
        yield Number(match.start(), match.end(), Fraction(*_SIGNS[match[0]]))


def _raised(value: Fraction, power: int) -> Fraction:
    """A power; nothing has a negative one."""
    return value**power if value or power >= 0 else value


def _spelled(text: str) -> Iterator[Number]:
    for match in _SPELLED.finditer(text):
        words = [w for w in re.split(r"[\s-]+", match[0].lower()) if w not in ("and", "a", "an")]
        if words == ["one"] and (
            _LOOSE_ONE.search(text, max(0, match.start() - _BOUND_REACH), match.start())
            or _ONE_AS_NOUN.match(text, match.end())
        ):
            continue  # "no one", "the one that"
        if words == ["second"] and _SECOND_AS_UNIT.search(text, max(0, match.start() - _BOUND_REACH), match.start()):
            continue  # the unit
        for value, ordinal in _values(words):
            yield Number(match.start(), match.end(), Fraction(value), "", ordinal)
            break
    for match in re.finditer(rf"\b(?:{'|'.join(_TIMES)})\b", text, re.IGNORECASE):
        yield Number(match.start(), match.end(), Fraction(_TIMES[match[0].lower()]), "times")


def _values(words: list[str]) -> Iterator[tuple[int, bool]]:
    """The value of number words, and whether they are an ordinal; nothing where they make no number."""
    total = current = 0
    ordinal = False
    for word in words:
        if ordinal:
            return
        if word in _SMALL or word in _NTH:
            ordinal = word in _NTH
            step = _NTH[word] if ordinal else _SMALL[word]
            current = current * 100 + step if 10 <= current < 100 and step >= 10 else current + step
        elif _SCALES[word] <= 100:
            current = max(current, 1) * _SCALES[word]
        else:
            total, current = total + max(current, 1) * _SCALES[word], 0
    yield total + current, ordinal


def _fractions(text: str) -> Iterator[Number]:
    for match in _UNIT_AND_PART.finditer(text):
        if unit := unit_of(match["unit"]):
            value = _SMALL.get(match["whole"].lower(), 1) + Fraction(1, _PARTS[match["part"].lower()])
            yield Number(match.start(), match.end(), value, unit)
    for match in _HALVES.finditer(text):
        whole = match["whole"].lower()
        if whole in _SMALL or (whole.isdecimal() and len(whole) <= _MAX_DIGITS):
            value = (_SMALL[whole] if whole in _SMALL else int(whole)) + Fraction(1, _PARTS[match["part"].lower()])
            yield Number(match.start(), match.end(), value)
    for match in _FRACTION.finditer(text):
        part, top = match["part"].lower(), (match["top"] or "").lower()
        if part not in ("half", "quarter") and not (match["many"] or top == "a" or top == "one"):
            continue  # "the third" is an ordinal
        if top == "a" and part not in ("half", "quarter", "third") and not _OF.match(text, match.end()):
            continue  # so is "a fifth wheel"
        value = Fraction(_SMALL.get(top, 1), _PARTS[part]) * _SCALES.get((match["scale"] or "").lower(), 1)
        yield Number(match.start(), match.end(), value)


def _dressed(text: str, number: Number) -> Number:
    """The number with the unit and the bound that stand beside it; a percentage as the fraction it is."""
    value, unit, lead, tail = number.value, number.unit, number.start, number.end
    match = UNIT.match(text, tail)
    if match and not (match["article"] and value.denominator == 1):  # "in 1870 a pound of wool" is no amount
        form = match["form"].lower()
        if not unit and not (number.ordinal and form != "century"):
            unit, tail = unit_of(form), match.end()
    if unit == "%":
        value, unit = value / 100, ""
    bound: Bound = ""
    before = re.sub(r"\b(?:the|a)\s+$", "", text[max(0, lead - _BOUND_REACH) : lead])
    if match := _BOUND.search(before):
        bound, lead = _BOUNDS[match[1].lower()], max(0, lead - _BOUND_REACH) + match.start()
    elif match := _BOUND_SIGN.search(text[max(0, lead - 3) : lead]):
        bound, lead = _BOUND_SIGNS[match[1]], lead - len(match[0])
    elif match := _BOUND_AFTER.match(text, tail):
        bound, tail = _AFTER[match[1].lower()], match.end()
    return Number(number.start, number.end, value, unit, number.ordinal, bound, lead, tail)


_DAY_WORDS = {word: n for word, n in _NTH.items() if n <= 30} | {
    f"{tens}-{word}": base + n for tens, base in (("twenty", 20), ("thirty", 30)) for word, n in _NTH.items() if n < 10
}
_DAY = rf"(?P<day>\d{{1,2}}(?:st|nd|rd|th)?|{'|'.join(sorted(_DAY_WORDS, key=len, reverse=True))})"
_FIRST_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\s*(?:to|and|until|or|[-–—])\s*(?:the\s+)?$", re.IGNORECASE)
_LAST_DAY = re.compile(
    r"\s*(?:to|and|until|or|[-–—])\s*(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\b(?!\s*[:.]\d)(?:,?\s+(\d{4}))?",
    re.IGNORECASE,
)
_DATES = [
    re.compile(
        rf"\b(?:the\s+)?{_DAY}\s+(?:day\s+)?(?:of\s+)?{_MONTH}(?:,?\s+(?:in\s+)?(?P<year>\d{{4}}))?(?!\w)", re.I
    ),
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:,?\s+(?P<year>\d{{4}}))?(?!\w)", re.IGNORECASE),
    re.compile(rf"\b{_MONTH},?\s+(?:of\s+)?(?P<year>\d{{4}})(?!\w)", re.IGNORECASE),
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
]


def dates(text: str) -> list[Date]:
    """Every date of at least two parts, in order."""
    found: list[Date] = []
    taken = bytearray(len(text))
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
            groups = match.groupdict()
            day, year = (groups.get("day") or "").lower(), groups.get("year")
            found.append(
                Date(match.start(), match.end(), int(year) if year else None, _month(groups["month"]), _day(day))
            )
    found += [one for date in found if (one := _other_end(text, date))]
    return sorted(found, key=lambda date: date.start)


def _other_end(text: str, date: Date) -> Date | None:
    """The other day of "3 to 5 May" or of "May 3–5"."""
    if date.day is None:
        return None
    if text[date.start].isdigit():
        match = _FIRST_DAY.search(text, max(0, date.start - _BOUND_REACH), date.start)
        return Date(match.start(), match.end(1), date.year, date.month, int(match[1])) if match else None
    match = _LAST_DAY.match(text, date.end) if date.year is None else None
    if not match or re.match(rf"\s+{_MONTH}", text[match.end(1) :], re.I):
        return None
    return Date(match.start(1), match.end(), int(match[2]) if match[2] else None, date.month, int(match[1]))


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    return next(n for n, month in enumerate(MONTHS, 1) if month.startswith(text.lower()[:3]))


def _day(text: str) -> int | None:
    if not text:
        return None
    digits = re.match(r"\d+", text)
    return int(digits[0]) if digits else _DAY_WORDS[text]


_TITLES = frozenset("mr mrs ms miss dr sir lady lord st saint prof professor rev captain".split())
_PARTICLES = frozenset("of the and de du la le van von der den".split())
_NAME_WORD = re.compile(r"[^\W\d_](?:[\w-]|['’](?!s\b))*")
_NAME = re.compile(
    r"(?:[A-Z]|[^\W\d_a-z])(?:[\w-]|['’](?!s\b)\w)*\.?"
    r"(?:\s+(?:(?:of|the|de|du|la|le|van|von|der)\s+){0,2}(?:[A-Z]|[^\W\d_a-z])(?:[\w-]|['’](?!s\b)\w)*)*"
)
_OPENS = re.compile(r"(?:^|[.!?:|\n“\"‘(•])[\s“\"‘(]*$")
_NO_NAMES = frozenset(
    """
    a an the this that these those he she it they we you i his her its their our my your who what which when where why
    how there here and but or nor so yet for if unless although though because since while whereas as until after
    before in on at by to from of with without under over between among during through into onto upon about against
    above below along across behind beyond near despite like unlike within not no never none nobody nothing each every
    all any some most many few several both either neither only also even still just then thus hence therefore however
    moreover meanwhile instead once twice perhaps maybe is was are were be been being do does did has have had can
    could may might must shall should will would let yes ok chapter section page figure table part one two three four
    five six seven eight nine ten eleven twelve today yesterday tomorrow later earlier now soon such other another next
    last first second third
    """.split()
)


def names(text: str) -> list[Name]:
    """Proper names: runs of capitalised words, without the common words that open a sentence."""
    found = []
    for match in _NAME.finditer(text):
        start, words = match.start(), match[0]
        opens = _OPENS.search(text[max(0, start - 4) : start]) is not None and (start < 4 or text[start - 1] != "-")
        first = _NAME_WORD.match(words)
        while first and first[0].lower() in _NO_NAMES and (opens or first[0].lower() not in ("may", "will")):
            rest = words[first.end() :]
            words = rest.lstrip(" \n\t.")
            start += first.end() + len(rest) - len(words)
            first = _NAME_WORD.match(words)
            opens = False
        words = words.rstrip(".")
        if words and words.lower() not in _NO_NAMES and words.split()[0].lower() not in _PARTICLES:
            found.append(Name(start, start + len(words), words, opens and " " not in words))
    return found


NEGATIONS = frozenset(
    """
    not no never none nobody nothing nowhere neither nor cannot without hardly scarcely barely rarely seldom lacks lack
    lacked lacking absent refused refuses refuse failed fails fail denied denies deny forbidden forbids forbid
    prohibited prohibits prohibit prevented prevents prevent banned bans ban barred avoid avoids avoided
    avoiding unable false untrue
    """.split()
)
_NOT_NEGATIVE = re.compile(
    r"\b(?:not (?:only|just|merely)|no doubt|no matter|no\. ?\d|not exceed(?:ing)?"
    rf"|(?:{'|'.join(_NOT_OVER)}) (?:less|fewer|more|{'|'.join(_GREATER)}) than)",
    re.IGNORECASE,
)
_NEGATION = re.compile(rf"\b(?:{'|'.join(sorted(NEGATIONS))})\b|\b\w+n['’]t\b", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:un|in|im|il|ir|non-?|dis)(?=\w{3})")


def negations(text: str) -> list[int]:
    """Where a text denies something; set phrases that deny nothing ("not only", "no fewer than") left out."""
    blocked = [match.span() for match in _NOT_NEGATIVE.finditer(text)]
    return [
        match.start()
        for match in _NEGATION.finditer(text)
        if not any(start <= match.start() < end for start, end in blocked)
    ]


def without_negative_prefix(word: str) -> str | None:
    """`safe` of `unsafe`; None for a word without such a prefix."""
    rest = _PREFIX.sub("", word.lower())
    return rest if rest != word.lower() else None
