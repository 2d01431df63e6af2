"""Claims: sentences with an answer in them, and whether two of them speak of the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from chapterverse.answer.facts import negations
from chapterverse.answer.values import Moment, Quantity, Value, agree, values
from chapterverse.answer.wording import FUNCTION_WORDS, same, stem

CLAUSES = re.compile(r"[,;:()—]|\s–\s|\b(?:but|although|though|while|whereas|unless|if|because|since)\b", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:until|till|before|than)\s+(?:the\s+|in\s+)?$", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:(?:in|at|on|with|for)\s+(?!(?:the|this|that|these|those|my|your|his|her|its|our|their|fact|truth|reality|general"
    r"|total|short|addition|particular|example|instance)\b)|(?:under|during|without|outside)\s)"
    r"(?P<what>(?:[^\W\d_][\w-]*\s+){0,4}?[^\W\d_][\w-]*)(?=,|\s+(?:the|a|an|its?|they|this|these|he|she)\b)",
    re.IGNORECASE,
)
"""A circumstance that a sentence opens with; "at this point" and "in his book" point at a place, and so are none."""
_ARTICLES = frozenset("the a an my your his her its our their".split())
_NO_KINDS = frozenset(stem(word) for word in "whole entire said actual".split())
"""What stands before a noun and makes it no other thing."""
COPY = re.compile(
    r"\b(?:e-?books?|e-?texts?|transcriptions?|this\s+file|(?:digital|electronic)\s+(?:edition|version|copy))\b",
    re.IGNORECASE,
)
"""A copy of a book is another thing than the book, and has its own dates and makers."""
_PART = re.compile(r"\s+(of|others?|most|least|elder|younger|remaining|[^\W\d_]{2,}est)\b", re.IGNORECASE)
"""Behind a number: it counts some of them."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An answer where it stands: `passage.text[start:end] == answer`, within the sentence `quote`."""

    chunk_id: str
    quote: str
    answer: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence with the answer in it, at `start…end` of the sentence, and how likely that answer is."""

    statement: Statement
    start: int
    end: int
    chance: float

    @property
    def quote(self) -> str:
        return self.statement.quote

    @property
    def answer(self) -> str:
        return self.statement.answer

    @property
    def core(self) -> str:
        """The answer up to its first comma: what follows explains it."""
        return CLAUSES.split(self.answer, maxsplit=1)[0]

    @property
    def rest(self) -> str:
        """The sentence without the answer."""
        return f"{self.quote[: self.start]} {self.quote[self.end :]}"

    @property
    def denied(self) -> bool:
        """Whether the sentence says that this is not the answer; "not until 1710" says that it is."""
        begins = max((end.end() for end in CLAUSES.finditer(self.quote, 0, self.start)), default=0)
        before = self.quote[begins : self.start]
        return len(negations(before)) % 2 == 1 and not _UNTIL.search(before)

    def answered(self) -> list[Value]:
        """The values that the answer is made of; "nearly" and the unit may stand outside the span."""
        return [value for value in values(self.quote) if value.start < self.end and value.end > self.start]


def same_subject(question: str, first: Claim, second: Claim) -> bool:
    """Whether the sentences may be about the same thing: nothing beside the answers sets one against the other."""
    return not (
        (COPY.search(first.quote) is None) != (COPY.search(second.quote) is None)
        or _rivals(question, first, second)
        or _kinds(question, first, second)
        or _asked_kind(question, first, second)
        or _asked_kind(question, second, first)
        or _other_circumstances(question, first, second)
        or _conditional(question, first, second)
        or _conditional(question, second, first)
    )


def _rivals(question: str, first: Claim, second: Claim) -> bool:
    """Whether a word that they share follows different ones: "the northern gate was", "the southern gate was".

    Words right before it must differ; across "of" or "may", one of the two must be what the question asks about.
    """
    asked = stems(question)
    only_first, only_second = stems(first.rest) - stems(second.quote), stems(second.rest) - stems(first.quote)
    for adjacent in (True, False):
        mine, yours = _before(first.rest, adjacent), _before(second.rest, adjacent)
        for word in mine.keys() & yours.keys():
            here, there = mine[word] & only_first, yours[word] & only_second
            if not here or not there or any(same(a, b) for a in here for b in there):
                continue
            if adjacent or bool(here & asked) != bool(there & asked):
                return True
    return False


def _before(text: str, adjacent: bool) -> dict[str, set[str]]:
    """For each content word, the content words before it: right before, or with function words between them."""
    found: dict[str, set[str]] = {}
    words = _words(text)
    if not adjacent:
        words = [word for word in words if word not in FUNCTION_WORDS]
    for before, word in pairwise(words):
        if _is_content(before) and _is_content(word):
            found.setdefault(stem(word), set()).add(stem(before))
    return found


def _kinds(question: str, first: Claim, second: Claim) -> bool:
    """Whether what is asked about is of a kind in one sentence only: "the tower is", "the old tower was"."""
    asked = stems(question)
    for one, other in ((first, second), (second, first)):
        known = asked | stems(other.quote) | _NO_KINDS
        plain = {word for before, word in pairwise(_words(other.rest)) if before in _ARTICLES and stem(word) in asked}
        for before, word in pairwise(_words(one.rest)):
            if word in plain and _is_content(before) and stem(before) not in known:
                return True
    return False


def _asked_kind(question: str, claim: Claim, other: Claim) -> bool:
    """Whether only one sentence speaks of the kind that is asked about: "virtual fairs last", "we have held fairs"."""
    asked, told = _before(question, adjacent=True), _before(claim.rest, adjacent=True)
    for word, kinds in asked.items():
        if not (kinds & told.get(word, set())) - stems(other.quote):
            continue
        before = [one for one, following in pairwise(_words(other.rest)) if stem(following) == word]
        if before and not any(one in _ARTICLES for one in before):
            return True
    return False


def _conditional(question: str, claim: Claim, other: Claim) -> bool:
    """Whether a sentence opens with a circumstance that neither the question nor the other one speaks of.

    One that the answer stands in is no circumstance, nor is a date: things happen at one time only.
    """
    opening = _CONDITION.match(claim.quote)
    if opening is None or opening.end() > claim.start or values(opening["what"]):
        return False
    return bool(stems(opening["what"]) - stems(question) - stems(other.quote))


def _other_circumstances(question: str, first: Claim, second: Claim) -> bool:
    """Whether both sentences name a time or a number beside the answer, and these differ: both may hold in turn."""
    asked = values(question)
    for one in _beside(first):
        for other in _beside(second):
            apart = agree(one, other) is False or _in_turn(one, other) or _in_turn(other, one)
            if apart and not any(agree(one, value) or agree(other, value) for value in asked):
                return True
    return False


def _in_turn(one: Value, other: Value) -> bool:
    """Whether a span of years ends where another begins."""
    if not isinstance(one, Moment) or not isinstance(other, Moment) or not one.years or not other.years:
        return False
    return one.years[0] < one.years[1] == other.years[0] < other.years[1]


def _beside(claim: Claim) -> Iterator[Value]:
    answered = claim.answered()
    yield from (value for value in values(claim.quote) if value not in answered)


def counted(question: str, first: Claim, one: Value, second: Claim, other: Value) -> bool:
    """Whether two numbers count the same: not so if the question asks for one of two different nouns, or one counts a
    part ("two of her daughters")."""
    if not isinstance(one, Quantity) or not isinstance(other, Quantity):
        return True
    asked = stems(question)
    if _counts_part(first.quote, one, asked) != _counts_part(second.quote, other, asked):
        return False
    if not (one.noun and other.noun):
        return True
    return same(one.noun, other.noun) or (one.noun in asked) == (other.noun in asked)


def _counts_part(sentence: str, number: Quantity, asked: set[str]) -> bool:
    """Whether a number counts some of what is asked for; a measure or a share ("half of") is not counted."""
    part = None if number.unit or number.high < 1 else _PART.match(sentence, number.end)
    return part is not None and stem(part[1].lower()) not in asked


def stems(text: str) -> set[str]:
    """What the content words of a text have in common with their other forms."""
    return {stem(word) for word in _words(text) if _is_content(word)}


def _words(text: str) -> list[str]:
    """The words in small letters, and the marks that end clauses."""
    return re.findall(r"[^\W_]+(?:-[^\W_]+)*|[.,;:]", text.lower())


def _is_content(word: str) -> bool:
    return word not in FUNCTION_WORDS and word[0].isalnum()


def overlap(mine: set[str], yours: set[str]) -> set[str]:
    """The stems that the others have too, be it in another word for the same."""
    return {word for word in mine if any(same(word, other) for other in yours)}
