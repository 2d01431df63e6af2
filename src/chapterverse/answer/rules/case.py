"""A claim beside its evidence: what of the one is found in the other, and where."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from chapterverse.answer.evidence import Evidence
from chapterverse.answer.facts import NEGATIONS, without_negative_prefix
from chapterverse.answer.parse import Term, parse
from chapterverse.answer.values import agree, times
from chapterverse.answer.wording import BE, REFERRING, same, stem


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a claim does not follow."""

    code: str
    message: str


def matches(claimed: Term, found: Term) -> bool:
    """Whether two terms speak of the same thing."""
    if claimed.kind != "word" or found.kind != "word":
        return claimed.key == found.key
    if same(claimed.key, found.key):
        return True
    short, long = sorted((claimed.key, found.key), key=len)
    return len(short) >= 5 and long.startswith(short) and len(long) - len(short) <= 4


_WRITER = frozenset(map(stem, ("author", "writer", "narrator")))
_FIRST_PERSON = frozenset(("i", "my", "me"))


_ADVERBS = frozenset("average together again alone".split())
_RELATIVE = frozenset("which who that and but".split())
_OBJECTS = frozenset("it he she they him her them".split())
Pair = tuple[Term, Term]
"""A term of the claim, and its place in the evidence."""


class Case:
    """A claim, the sentences of its evidence, and what the pronouns of each of these stand for.

    Every rule asks where the one speaks of what the other does: that is looked up once for each word.
    """

    def __init__(self, claim: str, evidence: Sequence[Evidence], passage: str) -> None:
        self.claim = parse(claim)
        self.sentences = tuple(parse(one.text) for one in evidence)
        self.subjects = tuple(parse(one.subject) for one in evidence)
        self.passage = passage
        texts = [one.text for one in evidence]
        self._previous = [texts.index(one.previous) if one.previous in texts else None for one in evidence]
        self._places: dict[tuple[str, str], tuple[tuple[Term, ...], ...]] = {}
        self._claimed: dict[tuple[str, str], bool] = {}

    def places(self, term: Term, number: int) -> tuple[Term, ...]:
        """Where a sentence of the evidence speaks of what a term of the claim speaks of, in its order."""
        key = (term.kind, term.key)
        if key not in self._places:
            self._places[key] = tuple(tuple(t for t in s.terms if matches(term, t)) for s in self.sentences)
        return self._places[key][number]

    def claimed(self, found: Term) -> bool:
        """Whether the claim speaks of what a term of the evidence speaks of."""
        key = (found.kind, found.key)
        if key not in self._claimed:
            self._claimed[key] = any(matches(term, found) for term in self.claim.terms)
        return self._claimed[key]

    def found(self, term: Term) -> list[tuple[int, Term]]:
        """Where the evidence itself speaks of what a term of the claim speaks of."""
        found = [(n, t) for n in range(len(self.sentences)) for t in self.places(term, n)]
        return found or [*self._clocked(term)]

    def _clocked(self, term: Term) -> Iterator[tuple[int, Term]]:
        """Where the evidence has the same time of day in other numbers: "5 p.m.", "17:00"."""
        if term.number is None:
            return
        mine = [time for time in times(self.claim.text) if time.start == term.number.start]
        for n, sentence in enumerate(self.sentences) if mine else ():
            starts = {time.start for time in times(sentence.text) if any(agree(time, one) for one in mine)}
            yield from ((n, t) for t in sentence.terms if t.number is not None and t.number.start in starts)

    def implied(self, term: Term) -> list[int]:
        """The sentences whose pronouns may stand for it: it is the subject before them, or in the sentence before."""
        return [
            n
            for n, subject in enumerate(self.subjects)
            if any(matches(term, t) for t in subject.terms) or self._names_before(n, term)
        ]

    def _names_before(self, number: int, term: Term) -> bool:
        previous, tokens = self._previous[number], self.sentences[number].tokens
        opens = bool(tokens) and tokens[0].word in REFERRING
        return opens and previous is not None and bool(self.places(term, previous))

    def negated(self, term: Term) -> bool:
        """Whether the evidence has the same word with or without a negative prefix."""
        said, bare = self._told
        return _bare(self.claim.tokens[term.token].word) in said or term.key in bare

    @cached_property
    def _told(self) -> tuple[frozenset[str], frozenset[str | None]]:
        """The words of the evidence that deny nothing by themselves: as they are, and without a negative prefix."""
        words = [(t.key, s.tokens[t.token].word) for s in self.sentences for t in s.terms if t.kind == "word"]
        words = [(key, word) for key, word in words if word not in NEGATIONS]
        return frozenset(key for key, _ in words), frozenset(_bare(word) for _, word in words)

    @cached_property
    def new_words(self) -> tuple[str, ...]:
        """Words of the claim that the evidence has in no form."""
        return tuple(
            self.claim.tokens[term.token].word
            for term in self.claim.terms
            if term.kind == "word" and not (self.found(term) or self.implied(term) or self.negated(term))
            if not (term.key in _WRITER and any(_FIRST_PERSON & s.words for s in self.sentences))
        )

    @cached_property
    def claim_passive(self) -> bool:
        return any(self.claim.passive(term.token) for term in self.claim.terms)

    @cached_property
    def equates(self) -> bool:
        """Whether the claim says what something is: its first verb is a form of "be"."""
        verb = next((n for n in range(len(self.claim.tokens)) if self.claim.predicate(n)), None)
        return verb is not None and self.claim.tokens[verb].word in BE

    @cached_property
    def home(self) -> int:
        """The sentence that speaks of most of the claim."""
        counts = [sum(bool(self.places(term, n)) for term in self.claim.terms) for n in range(len(self.sentences))]
        return counts.index(max(counts))

    @cached_property
    def opening(self) -> tuple[Term, ...]:
        """What the claim is about: its first name, or the words before its first verb; not what is new in it."""
        terms = [t for t in self.claim.terms if self.found(t) or self.implied(t)]
        run = terms[:1]
        for term in terms[1:3]:
            ends = self.claim.verb(term.token) or term.token > run[-1].token + 1
            if ends or (term.kind == "name") != (run[0].kind == "name"):
                break
            run.append(term)
        return tuple(run)

    @cached_property
    def _topic(self) -> tuple[Term, ...]:
        """The opening with the "of …" that belongs to it."""
        if not self.opening:
            return ()
        last = self.opening[-1].token
        if last + 1 >= len(self.claim.tokens) or self.claim.tokens[last + 1].word != "of":
            return self.opening
        verb = next((n for n in range(last, len(self.claim.tokens)) if self.claim.predicate(n)), last)
        return (*self.opening, *(t for t in self.claim.terms if last < t.token < verb))

    @cached_property
    def used(self) -> tuple[frozenset[int], ...]:
        """For each sentence, the clauses that the claim takes its words from; none of one that only lends a name."""
        return tuple(self._used(n) if self._tells(n) else frozenset() for n in range(len(self.sentences)))

    def _tells(self, number: int) -> bool:
        """Whether a sentence has the claim's verb, or at least two of its terms, and the main one has not."""
        mine, main = ({t for t in self.claim.terms if self.places(t, n)} for n in (number, self.home))
        own = mine - main
        return number == self.home or len(own) >= 2 or any(self.claim.verb(term.token) for term in own)

    def _used(self, number: int) -> frozenset[int]:
        """The clauses where its terms stand; that of the claim's subject only where there is no other."""
        pairs = self.aligned[number]
        told = {place.clause for term, place in pairs if term.kind != "name" and term not in self._topic}
        return frozenset(told or {place.clause for _, place in pairs})

    @cached_property
    def aligned(self) -> tuple[tuple[Pair, ...], ...]:
        """For each sentence, the claim's terms with their places in it."""
        return tuple(tuple(self._align(number)) for number in range(len(self.sentences)))

    def _align(self, number: int) -> list[Pair]:
        """The claim's terms, each with the place that lets as few of them as possible change their order."""
        ways: list[_Way] = []
        for at, term in enumerate(self.claim.terms):
            places = self.places(term, number)
            if places and not (at and self._stands_for_pronoun(at, number)):
                ways = _onward(ways, term, places)
        return [*min(ways, key=_cost).pairs()][::-1] if ways else []

    def _stands_for_pronoun(self, at: int, number: int) -> bool:
        """Whether the evidence has a pronoun where the claim has the term: "bought it", "bought the castle"."""
        term, sentence = self.claim.terms[at], self.sentences[number]
        named = [t.token for t in self.places(term, number)]
        for place in self.places(self.claim.terms[at - 1], number):
            after = sentence.tokens[place.token + 1].word if place.token + 1 < len(sentence.tokens) else ""
            before = bisect_left(named, place.token)
            # With no other clause in between, the term is who acts, and the pronoun someone else: "her father taught
            # her".
            between = range(named[before - 1] + 1, place.token) if before else range(0)
            if after in _OBJECTS and any(
                sentence.predicate(n) or sentence.tokens[n].word in _RELATIVE for n in between
            ):
                return True
        return False

    def runs(self, number: int) -> list[list[Pair]]:
        """The claim's terms in runs that keep the order of the sentence; adverbs may stand anywhere."""
        found: list[list[Pair]] = []
        for pair in self.aligned[number]:
            word = self.claim.tokens[pair[0].token].word
            if word.endswith("ly") or word in _ADVERBS:
                continue
            if found and found[-1][-1][1].token <= pair[1].token:
                found[-1].append(pair)
            else:
                found.append([pair])
        return found


class _Way(NamedTuple):
    """One way to give the claim's terms their places: how often it turns back, how far it jumps, and its last step."""

    turns: int
    jumps: int
    term: Term
    place: Term
    before: _Way | None

    def pairs(self) -> Iterator[Pair]:
        """Its steps, the last one first."""
        way: _Way | None = self
        while way is not None:
            yield way.term, way.place
            way = way.before


def _cost(way: _Way) -> tuple[int, int]:
    return way.turns, way.jumps


def _ahead(best: _Way, way: _Way) -> _Way:
    """Which of two ways costs less to go on from to a place behind both; how far that is, is the same for them."""
    return min(best, way, key=lambda one: (one.turns, one.jumps - one.place.token))


def _behind(best: _Way, way: _Way) -> _Way:
    """The same for a place before both; of two that cost the same, the earlier one."""
    return min(way, best, key=lambda one: (one.turns, one.jumps + one.place.token))


def _onward(ways: list[_Way], term: Term, places: Sequence[Term]) -> list[_Way]:
    """The best way to each place of the next term; all that is needed of the ways so far is the best on either side."""
    ends = [way.place.token for way in ways]
    ahead = [*accumulate(ways, _ahead)]
    behind = [*accumulate(ways[::-1], _behind)]
    behind.reverse()
    return [_best(term, place, ahead, behind, bisect_right(ends, place.token)) for place in places]


def _best(term: Term, place: Term, ahead: Sequence[_Way], behind: Sequence[_Way], side: int) -> _Way:
    options = [
        _Way(way.turns + turns, way.jumps + abs(place.token - way.place.token), term, place, way)
        for turns, best in enumerate((ahead[max(0, side - 1) : side], behind[side : side + 1]))
        for way in best
    ]
    return min(options, key=_cost, default=_Way(0, 0, term, place, None))


def _bare(word: str) -> str | None:
    bare = without_negative_prefix(word)
    return stem(bare) if bare is not None else None
