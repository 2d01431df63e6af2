"""Parse: a sentence as the words, numbers and names that can be compared with another's, clause by clause."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from chapterverse.answer.facts import Date, Name, Number, dates, names, negations, numbers
from chapterverse.answer.wording import (
    AUXILIARIES,
    BE,
    COORDINATORS,
    DETERMINERS,
    FUNCTION_WORDS,
    PAST_FORMS,
    PREPOSITIONS,
    PRONOUNS,
    stem,
)

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_BREAK = re.compile(r"[,;:()|“”\"\n–—]|\s-\s|[.!?]\s")
_OPENERS = COORDINATORS | frozenset("because if unless when where".split())
_CONTRACTED = {"can't": "can", "won't": "will", "shan't": "shall"}
_PARTING = COORDINATORS | {"because"}
_UNCHANGED = frozenset("cast cut put set read let hit shut split spread run overcome".split())
_PARTICLES = frozenset("up out off down over away back".split())
_ARTICLES = frozenset("the a an his her its their our my each every".split())
_OBJECTS = frozenset("it him them us".split())
_HELPERS = frozenset("will would can could may might must shall should do does did to not".split())


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it stands: folded, without a possessive ending."""

    start: int
    end: int
    word: str
    possessive: bool
    clause: int
    """Parted by punctuation and conjunctions."""
    part: int
    """Parted by colons, semicolons, and by conjunctions behind a comma: what can stand as a sentence of its own."""


@dataclass(frozen=True, slots=True)
class Term:
    """Something that a sentence speaks of: a word by its stem, a number by its value, a part of a name."""

    kind: Literal["word", "number", "name"]
    key: str
    token: int
    clause: int
    part: int
    number: Number | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A text, taken apart."""

    text: str
    tokens: tuple[Token, ...]
    terms: tuple[Term, ...]
    dates: tuple[Date, ...]
    names: tuple[Name, ...]
    denials: tuple[int, ...]
    """The tokens that deny something."""
    words: frozenset[str]
    free: frozenset[str]
    """The words that are not part of a number's limit ("more than 10"), nor of a date ("2 May")."""
    named: frozenset[int]
    """The tokens that are part of a name."""
    counts: frozenset[int]
    """The tokens that are part of a number."""
    dated: frozenset[int]
    """The tokens that are part of a date."""

    def between(self, start: int, end: int) -> tuple[Term, ...]:
        """The terms among the tokens from `start` up to, but without, `end`."""
        first, last = (bisect_left(self.terms, token, key=lambda term: term.token) for token in (start, end))
        return self.terms[first:last]

    def passive(self, token: int) -> bool | None:
        """Whether a verb is in the passive: behind a form of "be", or before "by"; None where that cannot be told."""
        word = self.tokens[token].word
        if not (word.endswith(("ed", "en")) or word in PAST_FORMS or word in _UNCHANGED):
            return False
        if BE & {t.word for t in self.tokens[max(0, token - 3) : token]}:
            return True
        after = [t.word for t in self.tokens[token + 1 : token + 4] if t.word not in _PARTICLES]
        if "by" in after[:2]:
            return True
        done = after[:1] and (after[0] in DETERMINERS or after[0] in PRONOUNS or token + 1 in self.named)
        return False if done else None

    def predicate(self, token: int) -> bool:
        """Whether a word is a verb or a form that goes before one."""
        return self.tokens[token].word in AUXILIARIES or self.verb(token)

    def verb(self, token: int) -> bool:
        """Whether a word can be told to be a verb, from its form or its neighbours."""
        word = self.tokens[token].word
        before = self.tokens[token - 1].word if token else ""
        after = self.tokens[token + 1].word if token + 1 < len(self.tokens) else ""
        if (
            before in DETERMINERS
            or token in self.named
            or token in self.counts
            or word in FUNCTION_WORDS | PREPOSITIONS
        ):
            return False
        return (
            word in PAST_FORMS
            or (word.endswith("ed") and len(word) > 4)
            or before in _HELPERS
            or before in ("who", "which")
            or after in _OBJECTS
            or (after in _ARTICLES and before not in PREPOSITIONS and before != "by")
            or (word.endswith("er") and "than" in [t.word for t in self.tokens[token + 1 : token + 3]])
        )


@lru_cache(maxsize=512)
def parse(text: str) -> Sentence:
    """Take a sentence apart. A number is one term, its unit and bound with it; function words are none."""
    tokens = _tokens(text)
    found, known = numbers(text), names(text)
    within = [(n.start, n.end) for n in known if not n.opens]
    named = {place for place in _begun(tokens, within) if text[tokens[place].start].isupper()}
    counts = _begun(tokens, [(n.lead, n.tail) for n in found])
    terms: list[Term] = []
    for place, token in enumerate(tokens):
        number = found[counts[place]] if place in counts else None
        if number is not None:
            if token.end > number.start and not (terms and terms[-1].number is number):
                terms.append(Term("number", f"#{number.value}", place, token.clause, token.part, number))
        elif place in named:
            terms.append(Term("name", stem(token.word), place, token.clause, token.part))
        elif token.word not in FUNCTION_WORDS:
            terms.append(Term("word", stem(token.word), place, token.clause, token.part))
    denied = set(negations(text))
    days = dates(text)
    dated = _begun(tokens, [(d.start, d.end) for d in days])
    return Sentence(
        text=text,
        tokens=tokens,
        terms=tuple(terms),
        dates=tuple(days),
        names=tuple(known),
        denials=tuple(place for place, token in enumerate(tokens) if token.start in denied),
        words=frozenset(token.word for token in tokens),
        free=frozenset(t.word for n, t in enumerate(tokens) if n not in counts and n not in dated),
        named=frozenset(named),
        counts=frozenset(counts),
        dated=frozenset(dated),
    )


def _begun(tokens: Sequence[Token], spans: Sequence[tuple[int, int]]) -> dict[int, int]:
    """The tokens that begin within one of the spans, each with the first of these."""
    found: dict[int, int] = {}
    for number, span in enumerate(spans):
        first, last = (bisect_left(tokens, place, key=lambda token: token.start) for place in span)
        for place in range(first, last):
            found.setdefault(place, number)
    return found


def _tokens(text: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    clause = part = last = 0
    for match in _WORD.finditer(text):
        word = match[0].lower().replace("’", "'")
        gap = text[last : match.start()]
        if tokens and (_BREAK.search(gap) or word in _OPENERS):
            clause += 1
            part += ";" in gap or ":" in gap or word in ("while", "whereas") or ("," in gap and word in _PARTING)
        possessive = word.endswith("'s") or text[match.end() : match.end() + 1] in ("'", "’")
        word = _CONTRACTED.get(word, word.removesuffix("n't")).removesuffix("'s")
        tokens.append(Token(match.start(), match.end(), word, possessive, clause, part))
        last = match.end()
    return tuple(tokens)
