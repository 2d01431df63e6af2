"""A claim beside its evidence: what of the one is found in the other, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from chapterverse.answer.evidence import Evidence
from chapterverse.answer.facts import without_negative_prefix
from chapterverse.answer.parse import Sentence, Term, parse
from chapterverse.answer.wording import SUBJECT_PRONOUNS, same, stem


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
        return [(n, t) for n, sentence in enumerate(self.sentences) for t in sentence.terms if matches(term, t)]

    def implied(self, term: Term) -> list[int]:
        """The sentences whose pronouns may stand for it: it is the subject before them, or in the sentence before."""
        return [
            n
            for n, subject in enumerate(self.subjects)
            if any(matches(term, t) for t in subject.terms) or self._names_before(n, term)
        ]

    def _names_before(self, number: int, term: Term) -> bool:
        previous, tokens = self._previous[number], self.sentences[number].tokens
        opens = bool(tokens) and tokens[0].word in SUBJECT_PRONOUNS
        return opens and previous is not None and any(matches(term, t) for t in self.sentences[previous].terms)

    def negated(self, term: Term) -> bool:
        """Whether the evidence has the same word with or without a negative prefix."""
        bare = _bare(self.claim.tokens[term.token].word)
        return any(
            (t.key == bare or _bare(sentence.tokens[t.token].word) == term.key)
            for sentence in self.sentences
            for t in sentence.terms
            if t.kind == "word"
        )

    def new_words(self) -> tuple[str, ...]:
        """Words of the claim that the evidence has in no form."""
        return tuple(
            self.claim.tokens[term.token].word
            for term in self.claim.terms
            if term.kind == "word" and not self.found(term) and not self.implied(term) and not self.negated(term)
        )

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
    def used(self) -> tuple[frozenset[int], ...]:
        """For each sentence, the clauses that the claim takes its words from; none of one that only lends a name."""
        return tuple(self._used(s) if self._tells(n) else frozenset() for n, s in enumerate(self.sentences))

    def _tells(self, number: int) -> bool:
        """Whether a sentence has at least two terms of the claim that the main one has not."""
        mine, main = (
            {t for t in self.claim.terms if any(matches(t, o) for o in self.sentences[n].terms)}
            for n in (number, self.home)
        )
        return number == self.home or len(mine - main) >= 2

    def _used(self, sentence: Sentence) -> frozenset[int]:
        """Each word counts for the clause that has most of them; the claim's subject only where nothing else does."""
        held = {
            clause: sum(
                any(matches(term, t) for t in sentence.terms if t.clause == clause) for term in self.claim.terms
            )
            for clause in {t.clause for t in sentence.terms}
        }
        told: set[int] = set()
        named: set[int] = set()
        for term in self.claim.terms:
            clauses = {t.clause for t in sentence.terms if matches(term, t)}
            if clauses:
                best = max(clauses, key=lambda clause: (held[clause], -clause))
                (named if term.kind == "name" or term in self.opening else told).add(best)
        return frozenset(told or named)


def _bare(word: str) -> str | None:
    bare = without_negative_prefix(word)
    return stem(bare) if bare is not None else None
