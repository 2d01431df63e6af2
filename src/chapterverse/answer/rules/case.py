"""A claim beside its evidence: what of the one is found in the other, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chapterverse.answer.evidence import Evidence
from chapterverse.answer.facts import NEGATIONS, without_negative_prefix
from chapterverse.answer.parse import Sentence, Term, parse
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
    """A claim, the sentences of its evidence, and what the pronouns of each of these stand for."""

    def __init__(self, claim: str, evidence: Sequence[Evidence], passage: str) -> None:
        self.claim = parse(claim)
        self.sentences = tuple(parse(one.text) for one in evidence)
        self.subjects = tuple(parse(one.subject) for one in evidence)
        self.passage = passage
        texts = [one.text for one in evidence]
        self._previous = [texts.index(one.previous) if one.previous in texts else None for one in evidence]

    def found(self, term: Term) -> list[tuple[int, Term]]:
        """Where the evidence itself speaks of what a term of the claim speaks of."""
        found = [(n, t) for n, sentence in enumerate(self.sentences) for t in sentence.terms if matches(term, t)]
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
        return opens and previous is not None and any(matches(term, t) for t in self.sentences[previous].terms)

    def negated(self, term: Term) -> bool:
        """Whether the evidence has the same word with or without a negative prefix."""
        bare = _bare(self.claim.tokens[term.token].word)
        return any(
            (t.key == bare or _bare(sentence.tokens[t.token].word) == term.key)
            for sentence in self.sentences
            for t in sentence.terms
            if t.kind == "word" and sentence.tokens[t.token].word not in NEGATIONS
        )

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
        counts = [sum(any(matches(term, t) for t in s.terms) for term in self.claim.terms) for s in self.sentences]
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
        mine, main = (
            {t for t in self.claim.terms if any(matches(t, o) for o in self.sentences[n].terms)}
            for n in (number, self.home)
        )
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
        return tuple(tuple(align(self.claim, sentence)) for sentence in self.sentences)

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


def align(claim: Sentence, sentence: Sentence) -> list[Pair]:
    """The claim's terms, each with the place that lets as few of them as possible change their order."""
    best: dict[Term, tuple[int, int, list[Pair]]] = {}
    for term in claim.terms:
        places = [t for t in sentence.terms if matches(term, t)]
        if not places or _stands_for_pronoun(claim, term, sentence):
            continue
        step: dict[Term, tuple[int, int, list[Pair]]] = {}
        for place in places:
            options = [
                (turns + (last.token > place.token), jumps + abs(place.token - last.token), [*pairs, (term, place)])
                for last, (turns, jumps, pairs) in best.items()
            ]
            step[place] = min(options, key=lambda option: option[:2], default=(0, 0, [(term, place)]))
        best = step
    return min(best.values(), key=lambda option: option[:2])[2] if best else []


def _stands_for_pronoun(claim: Sentence, term: Term, sentence: Sentence) -> bool:
    """Whether the evidence has a pronoun where the claim has the term: "bought it", "bought the castle"."""
    at = claim.terms.index(term)
    for place in (t for t in sentence.terms if at and matches(claim.terms[at - 1], t)):
        after = sentence.tokens[place.token + 1].word if place.token + 1 < len(sentence.tokens) else ""
        named = [t.token for t in sentence.terms if matches(term, t) and t.token < place.token]
        # With no other clause in between, the term is who acts, and the pronoun someone else: "her father taught her".
        between = range(named[-1] + 1, place.token) if named else range(0)
        if after in _OBJECTS and any(sentence.predicate(n) or sentence.tokens[n].word in _RELATIVE for n in between):
            return True
    return False


def _bare(word: str) -> str | None:
    bare = without_negative_prefix(word)
    return stem(bare) if bare is not None else None
