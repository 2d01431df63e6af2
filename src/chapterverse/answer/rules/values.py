"""Numbers and dates: each must be in the evidence, with its unit and limit, and belong to the same thing."""

from __future__ import annotations

from collections.abc import Iterator

from chapterverse.answer.facts import Number
from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.wording import stem

_NEAR = 10
"""How many words a number may stand from the thing that it counts."""


def numbers(case: Case) -> Iterator[Objection]:
    for term in case.claim.terms:
        if term.number is None:
            continue
        said = case.claim.text[term.number.start : term.number.end]
        places = [
            (n, t) for n, t in case.found(term) if t.number is not None and _same_sort(term.number, t.number, case)
        ]
        if not places:
            if not (term.number.value == 1 and _names_one(case)):
                yield Objection("number", f"The number {said} is not in the evidence.")
            continue
        fitting = [(n, t) for n, t in places if t.number and _fits(term.number, t.number, case.sentences[n], t)]
        if not fitting:
            yield Objection("unit", f"The evidence gives {said} another unit or another limit.")
        elif not any(_belongs(case, term, n, t) for n, t in fitting):
            yield Objection("binding", f"In the evidence {said} belongs to something else.")


def _same_sort(claimed: Number, found: Number, case: Case) -> bool:
    """Whether both are ordinals or neither is; in a date it makes no difference."""
    return claimed.ordinal == found.ordinal or any(d.start <= claimed.start < d.end for d in case.claim.dates)


def _names_one(case: Case) -> bool:
    return any({"a", "an", "single"} & sentence.words for sentence in case.sentences)


def _fits(claimed: Number, found: Number, sentence: Sentence, term: Term) -> bool:
    """Whether unit and limit are the same; a column of a table may have its unit in its head."""
    if claimed.unit and claimed.unit != found.unit:
        near = {stem(t.word) for t in sentence.tokens if term.clause - 1 <= t.clause <= term.clause}
        if found.unit or stem(claimed.unit) not in near:
            return False
    return claimed.bound == found.bound or (claimed.bound == "about" and not found.bound)


def _belongs(case: Case, claimed: Term, number: int, found: Term) -> bool:
    """Whether no other number of the sentence stands closer to what the claim puts this number beside."""
    sentence = case.sentences[number]
    ahead, behind = _neighbours(case.claim, claimed)
    wanted = [(t, 2) for t in ahead] + [(t, 1) for t in behind]

    def closeness(place: Term) -> int:
        after, before = _neighbours(sentence, place)
        score = 0
        for term, weight in wanted:
            if any(matches(term, t) for t in after):
                score += weight
            elif any(matches(term, t) for t in before):
                score += 1
        return score

    rivals = [t for t in sentence.terms if t.number is not None and t.key != found.key]
    return all(closeness(found) >= closeness(rival) for rival in rivals)


def _neighbours(sentence: Sentence, term: Term) -> tuple[list[Term], list[Term]]:
    """The words after a number and those before it, as far as the next number or semicolon."""
    at = sentence.terms.index(term)
    return _run(sentence, term, sentence.terms[at + 1 :]), _run(sentence, term, sentence.terms[:at][::-1])


def _run(sentence: Sentence, term: Term, others: tuple[Term, ...]) -> list[Term]:
    found: list[Term] = []
    for other in others:
        first, last = sorted((sentence.tokens[other.token].start, sentence.tokens[term.token].start))
        apart = abs(other.token - term.token) > _NEAR or ";" in sentence.text[first:last]
        if other.number is not None or apart:
            break
        found.append(other)
    return found


def dates(case: Case) -> Iterator[Objection]:
    known = [date for sentence in case.sentences for date in sentence.dates]
    for date in case.claim.dates:
        if known and not any(date.within(other) for other in known):
            yield Objection("date", f"The date {case.claim.text[date.start : date.end]} is not in the evidence.")
