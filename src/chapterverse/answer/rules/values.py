"""Values: numbers, dates and words of closed sets must be in the evidence, and belong to the same thing there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from chapterverse.answer.facts import Date, Number
from chapterverse.answer.facts import numbers as find_numbers
from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.units import unit_of
from chapterverse.answer.values import agree, times
from chapterverse.answer.wording import closed_set, same, stem

_PARTLY = frozenset("part parts partly some several few portion share fraction one".split())
_VERBS = frozenset("leave leaves leaving leads leading led".split())
"""These share a stem with a direction and with a metal."""
_EVERY = frozenset(("every", "each"))
_SPANS = {"decade": 10, "century": 100}
"""Units that a year lies in."""
_SIGN = re.compile(r"[≠±÷]|(?<=\d)\s?[+×*x]\s?(?=\d)")
_TIMES = re.compile(r"[×*]|\b(?:x|by|times)\b|(?<=\d)x(?=\d)")
_SIGN_MEANS = {
    "≠": re.compile("≠"), "±": re.compile(r"±|\bplus or minus\b|\bwithin\b"), "÷": re.compile(r"÷|\bdivided\b"),
    "+": re.compile(r"\+|\b(?:plus|and)\b"), "×": _TIMES, "*": _TIMES, "x": _TIMES,
}  # fmt: skip
"""Signs before and between numbers, and how the evidence may put them."""
_NEAR = 10
"""How many words a value may stand from the thing that it is said of."""


def numbers(case: Case) -> Iterator[Objection]:
    known = [time for sentence in case.sentences for time in times(sentence.text)]
    told = [time for time in times(case.claim.text) if any(agree(time, other) for other in known)]
    for term in case.claim.terms:
        if term.number is None:
            continue
        said = case.claim.text[term.number.start : term.number.end]
        places = [
            (n, t) for n, t in case.found(term) if t.number is not None and _same_form(term.number, t.number, case)
        ]
        if not places:
            timed = any(time.start <= term.number.start < time.end for time in told)  # "7:00" is "7 a.m."
            if not timed and not (term.number.value == 1 and _names_one(case)):
                yield Objection("number", f"The number {said} is not in the evidence.")
            continue
        fitting = [(n, t) for n, t in places if t.number and _fits(term.number, t.number, case.sentences[n], t)]
        if not fitting:
            yield Objection("unit", f"The evidence gives {said} another unit or another limit.")
        elif not any(_belongs(case, term, n, t) for n, t in fitting):
            yield Objection("binding", f"In the evidence {said} belongs to something else.")


def unheard(claim: str, passage: str) -> str:
    """A number in digits that a passage has nowhere, in words or digits, or only with another unit; or nothing."""
    told = [time for time in times(claim) if any(agree(time, other) for other in times(passage))]
    known = find_numbers(passage)
    for number in find_numbers(claim):
        timed = any(time.start <= number.start < time.end for time in told)  # "7:00" is "7 a.m."
        if claim[number.start].isdigit() and not timed and not any(_may_be(number, other) for other in known):
            return claim[number.start : number.tail]
    return ""


def _may_be(claimed: Number, found: Number) -> bool:
    """Whether it is the same number, as far as can be seen from afar: one in a hundred, or a year of the decade too."""
    if claimed.unit in _SPANS:
        first = (claimed.value - 1) * 100 if claimed.unit == "century" else claimed.value
        return found.value == claimed.value or first <= found.value <= first + _SPANS[claimed.unit]
    in_hundred = found.value in (claimed.value * 100, claimed.value / 100)
    part = found.ordinal and claimed.value * found.value == 1  # "a fifth more"
    return in_hundred or part or (found.value == claimed.value and (not found.unit or claimed.unit in ("", found.unit)))


def _same_form(claimed: Number, found: Number, case: Case) -> bool:
    """Whether both are ordinals or neither is; in a date it makes no difference."""
    return claimed.ordinal == found.ordinal or any(d.start <= claimed.start < d.end for d in case.claim.dates)


def _names_one(case: Case) -> bool:
    return any({"a", "an", "single"} & sentence.words for sentence in case.sentences)


def _fits(claimed: Number, found: Number, sentence: Sentence, term: Term) -> bool:
    """Whether unit and limit are the same; a column of a table may have its unit in its head."""
    pounds = {claimed.unit, found.unit} == {"£", "lb"} and "£" not in sentence.text  # money, or a weight
    if claimed.unit and claimed.unit != found.unit and not pounds:
        near = {stem(t.word) for t in sentence.tokens if term.clause - 1 <= t.clause <= term.clause}
        scale = claimed.unit == "°" and found.unit.startswith("°")
        if not scale and (
            found.unit or (stem(claimed.unit) not in near and claimed.unit != _range_unit(sentence, term))
        ):
            return False
    asked = sentence.words & {"minimum", "maximum"}
    if asked:
        asked &= {t.word for t in sentence.tokens if t.clause == term.clause}
    bound = found.bound or {"minimum": "at least", "maximum": "at most"}.get("".join(asked), "")
    return claimed.bound in (bound, found.bound) or (claimed.bound == "about" and not found.bound)


def _range_unit(sentence: Sentence, term: Term) -> str:
    """The unit behind the other end of a range: "between 2 and 8 °C"."""
    after = next(iter(sentence.between(term.token + 1, len(sentence.tokens))), None)
    if after is None or after.number is None or term.number is None:
        return ""
    between = sentence.text[term.number.tail : after.number.lead].strip().lower()
    return after.number.unit if between in ("to", "and", "or", "-", "–", "—") else ""


def closed(case: Case) -> Iterator[Objection]:
    """Of words that exclude each other (colours, seasons, kin, units) the claim has only those of its evidence."""
    known = {stem(t.word) for s in (*case.sentences, *case.subjects) for t in s.tokens}
    units = {_unit(t.word) for s in case.sentences for t in s.tokens}
    units |= {t.number.unit for s in case.sentences for t in s.terms if t.number is not None}
    for term in case.claim.terms:
        word = case.claim.tokens[term.token].word
        if term.kind != "word":
            continue
        told = word in _VERBS or any(same(term.key, other) for other in known)
        if not told and (closed_set(term.key) or (_unit(word) and _unit(word) not in units)):
            yield Objection("closed_set", f"The evidence does not say “{word}”.")
        places = [(n, t) for n, t in case.found(term) if t.key == term.key]
        if closed_set(term.key) and places and not any(_belongs(case, term, n, t) for n, t in places):
            yield Objection("binding", f"In the evidence “{word}” belongs to something else.")


def uncounted(case: Case) -> Iterator[Objection]:
    """ "Every two hours" must not become "every hour"."""
    if any(term.number is not None for term in case.claim.terms):
        return
    counted = {t.number.unit for s in case.sentences for t in s.terms if t.number is not None and t.number.value != 1}
    bare = {_unit(s.tokens[t.token].word) for s in case.sentences for t in s.terms if t.number is None}
    for term in case.claim.terms:
        word = case.claim.tokens[term.token].word
        if _unit(word) in counted - bare - {""}:
            yield Objection("number", f"The evidence counts “{word}”, and the claim does not.")


def signs(case: Case) -> Iterator[Objection]:
    """ "3 × 4 metres" must not become "3 + 4 metres", nor "1,240" "≠ 1,240"."""
    for found in _SIGN.finditer(case.claim.text):
        known = _SIGN_MEANS[found[0].strip()]
        if not any(known.search(sentence.text) for sentence in case.sentences):
            yield Objection("number", f"The evidence has no “{found[0].strip()}”.")


def intervals(case: Case) -> Iterator[Objection]:
    """ "Every third Sunday", or "every other", must not become "every Sunday"."""
    mine = {step for _, step, _ in _steps(case.claim)}
    for sentence in case.sentences:
        for said, step, thing in _steps(sentence):
            if step not in mine and case.claimed(thing):
                yield Objection("number", f"The evidence says “{said}”, which the claim leaves out.")


def _steps(sentence: Sentence) -> Iterator[tuple[str, str, Term]]:
    """Where only every so manyth is meant: the words, which one, and of what; "every other" is every second."""
    for first, second in pairwise(range(len(sentence.tokens))):
        one, other = sentence.tokens[first], sentence.tokens[second]
        if one.word not in _EVERY:
            continue
        nth = next((t.key for t in sentence.between(second, second + 1) if t.number and t.number.ordinal), "")
        step = "#2" if (one.word, other.word) == ("every", "other") else nth
        thing = next(iter(sentence.between(second + 1, len(sentence.tokens))), None)
        if step and thing is not None:
            yield f"{one.word} {other.word}", step, thing


def partitives(case: Case) -> Iterator[Objection]:
    """What is so of "a fifth of the crop" or of "four of the wells" is not so of all of it."""
    for sentence, used in zip(case.sentences, case.used, strict=True):
        for term in sentence.terms:
            whole = _whole(sentence, term)
            if whole is None or term.clause not in used or any(t.key == term.key for t in case.claim.terms):
                continue
            if any(_same_part(case.claim, t, whole) for t in case.claim.terms):
                continue  # of another number of them; whether that is there is judged with the numbers
            if case.claimed(whole) and not _PARTLY & case.claim.words:
                said = sentence.text[sentence.tokens[term.token].start : sentence.tokens[whole.token].end]
                yield Objection("number", f"The evidence says “{said}”, and the claim does not say how much of it.")


def _whole(sentence: Sentence, term: Term) -> Term | None:
    """What a number is a part of: the first term behind its "of"."""
    if term.number is None or term.number.ordinal or term.number.unit:
        return None
    tail = term.number.tail
    of = bisect_left(sentence.tokens, tail, key=lambda token: token.start)
    if of == len(sentence.tokens) or sentence.tokens[of].word != "of":
        return None
    return next((t for t in sentence.between(of + 1, of + 5) if t.kind != "number"), None)


def _same_part(claim: Sentence, number: Term, whole: Term) -> bool:
    mine = _whole(claim, number)
    return mine is not None and matches(mine, whole)


def clocks(case: Case) -> Iterator[Objection]:
    """ "6 am" is not "6 pm"; that the numbers are the same is judged with the others."""
    known = [time for sentence in case.sentences for time in times(sentence.text)]
    for time in times(case.claim.text):
        sound_alike = any(agree(replace(time, ambiguous=True), other) for other in known)
        if sound_alike and not any(agree(time, other) for other in known):
            yield Objection("number", f"The time {case.claim.text[time.start : time.end]} is not in the evidence.")


def _unit(word: str) -> str:
    """The unit that a word is, where it is long enough to be one by itself."""
    return unit_of(word) if len(word) > 2 else ""


def _belongs(case: Case, claimed: Term, number: int, found: Term) -> bool:
    """Whether no rival of the value stands closer to what the claim puts it beside."""
    sentence = case.sentences[number]
    if found.token in sentence.dated and not _year(found):
        return True  # the day of a date: the date is compared as a whole
    wanted = _around(case.claim, claimed)
    if not wanted:
        return True

    def closeness(place: Term) -> float:
        near = _around(sentence, place)
        return sum(max((_nearness(a, b) for b in near if matches(a.term, b.term)), default=0.0) for a in wanted)

    close = closeness(found)
    # A later clause takes its subject and verb from the one before it: "every 500 hours, or every 250 in dust".
    own = any(t != claimed and {o.clause for o in case.places(t, number)} == {found.clause} for t in case.claim.terms)
    return all(
        close >= closeness(rival) or (own and found.clause > rival.clause)
        for rival in _rivals(case, claimed, sentence, found)
    )


def _nearness(claimed: _Neighbour, found: _Neighbour) -> float:
    """How close a neighbour is in claim and evidence; half as much if it has changed sides."""
    same_side = (claimed.steps > 0) == (found.steps > 0)
    return (1.0 if same_side else 0.5) / abs(claimed.steps * found.steps)


def _rivals(case: Case, claimed: Term, sentence: Sentence, found: Term) -> Iterator[Term]:
    """Other values of the sentence that could have been meant: years for a year, a colour for a colour."""
    counted = _counted(case.claim, claimed)
    for term in sentence.terms:
        if term.key == found.key:
            continue
        if found.number is None:
            taken = case.claimed(term)
            if closed_set(term.key) == closed_set(found.key) and not taken:
                yield term
        elif term.number is not None and (_year(term), term.number.ordinal) == (_year(found), found.number.ordinal):
            others = _counted(sentence, term)
            if (_year(term) or term.token not in sentence.dated) and (
                not counted or not others or counted & others or (counted == {"°"} and {"°C", "°F"} & others)
            ):
                yield term


def _counted(sentence: Sentence, term: Term) -> set[str]:
    """What a number counts: its unit, or the words right behind it."""
    if term.number is None or term.number.unit:
        return {term.number.unit} if term.number is not None else set()
    behind = sentence.between(term.token + 1, term.token + 4)
    return {t.key for t in behind if t.clause == term.clause and t.number is None}


def _year(term: Term) -> bool:
    number = term.number
    return number is not None and not number.unit and not number.ordinal and 1000 <= number.value <= 2100


class _Neighbour(NamedTuple):
    """A term near a value, and how many words behind it."""

    term: Term
    steps: int


def _around(sentence: Sentence, value: Term) -> list[_Neighbour]:
    """The terms near a value in its part of the sentence, on either side as far as the next number."""
    found: list[_Neighbour] = []
    behind = sentence.between(value.token + 1, value.token + _NEAR + 1)
    before = sentence.between(value.token - _NEAR, value.token)[::-1]
    for side in (behind, before):
        for term in (t for t in side if t.part == value.part):
            if term.number is not None and value.number is not None:
                break
            found.append(_Neighbour(term, term.token - value.token))
    return found


def paired(case: Case) -> Iterator[Objection]:
    """ "Begun in 1311 and finished in 1340" must not become "finished in 1311"."""
    claimed = {t.key for t in case.claim.terms if t.number is not None}
    for number, sentence in enumerate(case.sentences):
        valued = {t.clause for t in sentence.terms if t.key in claimed}
        others = {
            t.clause for t in sentence.terms if t.number is not None and t.key not in claimed and not t.number.ordinal
        }
        for term in case.claim.terms:
            clauses = {t.clause for t in case.places(term, number)}
            later = bool(valued and clauses) and min(clauses) > max(valued)
            if term.kind == "word" and later and clauses <= others and _sole(case, term):
                word = case.claim.tokens[term.token].word
                yield Objection("binding", f"The evidence puts “{word}” beside another number.")


def _sole(case: Case, term: Term) -> bool:
    return len({n for n, _ in case.found(term)}) == 1 and term not in case.opening


def dates(case: Case) -> Iterator[Objection]:
    known = [date for sentence in case.sentences for date in sentence.dates]
    for date in case.claim.dates:
        if known and not any(date.within(other) for other in known) and not _dated_before(case, date):
            yield Objection("date", f"The date {case.claim.text[date.start : date.end]} is not in the evidence.")


def _dated_before(case: Case, date: Date) -> bool:
    """Whether the evidence has the day without its year, and that was the last year that it named before."""
    year = None
    for sentence in case.sentences:
        for term in sentence.terms:
            if _year(term) and term.number is not None:
                year = int(term.number.value)
            start = sentence.tokens[term.token].start
            for other in sentence.dates:
                same_year = other.year is None and other.start <= start < other.end and year == date.year
                same_year = same_year and _told_beside(case, sentence, term)
                if same_year and replace(date, year=None).within(other):
                    return True
    return False


def _told_beside(case: Case, sentence: Sentence, day: Term) -> bool:
    """Whether the clause of a day has a word of the claim that its sentence has nowhere else."""
    words = [t for t in case.claim.terms if t.kind == "word"]
    return any({o.clause for o in sentence.terms if matches(t, o)} == {day.clause} for t in words)


def alternatives(case: Case) -> Iterator[Objection]:
    """ "Three or four times" must not become "four times"."""
    claimed = {t.key for t in case.claim.terms if t.number is not None}
    for sentence in case.sentences:
        counted = [t for t in sentence.terms if t.number is not None]
        for first, second in pairwise(counted):
            between = [token.word for token in sentence.tokens[first.token + 1 : second.token]]
            if between == ["or"] and len({first.key, second.key} & claimed) == 1:
                yield Objection("number", "The evidence gives two numbers to choose from, and the claim one of them.")
