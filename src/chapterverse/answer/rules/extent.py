"""Extent: how far a statement reaches: to all but two, to few, to one or the other, to nothing but this."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.rules.roles import lead
from chapterverse.answer.wording import DETERMINERS, PAST_FORMS, PERMISSION

_SWEEPING = frozenset("all every everyone everybody everything none nobody nothing anyone anything".split())
_SAVING = frozenset("but except save apart almost nearly virtually".split())
_SOME = frozenset("some several many most numerous majority".split())
_ONLY = frozenset("only solely exclusively".split())
_EXCESS = frozenset("too excess excessive excessively over".split())
_LICENSED = frozenset(
    "safe harmless edible allowed permitted admitted entitled legal lawful valid effective open".split()
)
_APPLYING = frozenset("may applies apply covers cover relieves relieve cures cure heals heal treats treat".split())
_NOW = frozenset("is are be".split())
"""What was so once, of one event, loses nothing with its place and time."""
_RESTRICTING = frozenset("in on with without after before during until within under over".split())
_LIMITS = ("at least", "at most")
_AMOUNT = frozenset("much many little few".split())


def exceptions(case: Case) -> Iterator[Objection]:
    """ "All but the mill burned" must not become "all burned"."""
    if case.claim.words & _SAVING or case.claim.denials:
        return
    for sentence, used in zip(case.sentences, case.used, strict=True):
        for place, token in enumerate(sentence.tokens):
            if token.word != "but" or not {token.clause, token.clause - 1} & used:
                continue
            before = next((n for n in range(place - 1, max(-1, place - 4), -1) if _sweeps(sentence, n)), None)
            if before is None or "," in sentence.text[sentence.tokens[before].end : token.start]:
                continue
            if not any(sentence.predicate(n) for n in range(before, place)):
                yield Objection("strength", f"The evidence says “{sentence.tokens[before].word} but …”.")
                return


def _sweeps(sentence: Sentence, token: int) -> bool:
    return sentence.tokens[token].word in _SWEEPING


def few(case: Case) -> Iterator[Objection]:
    """ "Few" is next to none: neither "a few" nor "some"; and those are not "few"."""
    mine = _few(case.claim)
    for sentence, used in zip(case.sentences, case.used, strict=True):
        theirs = _few(sentence, used)
        if "" in theirs - mine and (case.claim.words & _SOME or "a" in mine):
            yield Objection("opposite", "The evidence says “few”, which is not “a few”.")
        elif "" in mine - _few(sentence) and ("a" in theirs or sentence.words & _SOME):
            yield Objection("opposite", "The claim says “few”, and the evidence does not.")


def _few(sentence: Sentence, used: frozenset[int] | None = None) -> set[str]:
    """How "few" is said: "a" for "a few", nothing for "few" by itself."""
    found = set()
    for place, token in enumerate(sentence.tokens):
        if token.word == "few" and (used is None or token.clause in used):
            before = sentence.tokens[place - 1].word if place else ""
            if before not in ("the", "too", "these", "those", "last", "first", "next", "his", "her", "their", "every"):
                found.add("a" if before in ("a", "quite") else "")
    return found


def either(case: Case) -> Iterator[Objection]:
    """One or the other must not become both, nor one of them for certain."""
    if "or" in case.claim.words or case.claim.free & PERMISSION:
        return
    for sentence in case.sentences:
        words = [t.word for t in sentence.tokens]
        for place, word in enumerate(words):
            if word != "or" or any(n in sentence.counts for n in (place - 1, place + 1)):
                continue
            first, second = _sides(sentence, place)
            said = [case.claimed(one) for one in (first, second) if one]
            chosen = "either" in words[max(0, place - 6) : place] and any(said)
            if chosen or (len(said) == 2 and all(said) and _joined(case, first, second)):
                yield Objection("strength", "The evidence says “or”, and the claim does not.")
                return


def _sides(sentence: Sentence, place: int) -> tuple[Term | None, Term | None]:
    """The terms right before and right behind an "or"."""
    before = [t for t in sentence.terms if place - 3 <= t.token < place]
    behind = [t for t in sentence.terms if place < t.token <= place + 3]
    return (before[-1] if before else None), (behind[0] if behind else None)


def _joined(case: Case, first: Term | None, second: Term | None) -> bool:
    """Whether the claim has "and" between the two, and nothing that matters."""
    for one, other in pairwise(case.claim.terms):
        between = [t.word for t in case.claim.tokens[one.token + 1 : other.token]]
        pair = [any(side and matches(term, side) for side in (first, second)) for term in (one, other)]
        if all(pair) and "and" in between:
            return True
    return False


def only(case: Case) -> Iterator[Objection]:
    """ "Only the bakers sell bread" must not become "the bakers sell only bread", nor the other way round."""
    for sentence in case.sentences:
        for one, other in ((case.claim, sentence), (sentence, case.claim)):
            first, place = _singled_out(one), _only(other)
            if first is None or place is None:
                continue
            found = [t.token for t in other.terms if matches(first, t)]
            if found and max(found) < place:
                yield Objection("strength", "The evidence says “only” of something else.")
                return


def _singled_out(sentence: Sentence) -> Term | None:
    """What an "only" is said of for certain: the first term behind one that opens its clause."""
    place = _only(sentence)
    if place is None or any(t.token < place and t.clause == sentence.tokens[place].clause for t in sentence.terms):
        return None
    return next((t for t in sentence.terms if t.token > place), None)


def _only(sentence: Sentence) -> int | None:
    """Where "only" stands, but for "the only"."""
    words = ["", *(t.word for t in sentence.tokens)]
    found = (n for n, (before, word) in enumerate(pairwise(words)) if word in _ONLY and before not in DETERMINERS)
    return next(found, None)


def excess(case: Case) -> Iterator[Objection]:
    """ "Too much rain harms the crop" must not become "rain harms the crop"."""
    if case.claim.words & _EXCESS:
        return
    for number, sentence in enumerate(case.sentences):
        for place, (one, other) in enumerate(pairwise(sentence.tokens)):
            if one.word != "too" or other.word not in _AMOUNT:
                continue
            things = sentence.between(place + 2, place + 3)
            if any(case.found(t) == [(number, thing)] for thing in things for t in case.claim.terms):
                yield Objection("strength", f"The evidence says “too {other.word}”, which the claim leaves out.")
                return


def licences(case: Case) -> Iterator[Objection]:
    """What is allowed, safe or limited under a restriction ("safe after boiling") is not so without it."""
    for sentence, used in zip(case.sentences, case.used, strict=True):
        mine, theirs = _licensing(case.claim), _licensing(sentence)
        clauses = {sentence.tokens[n].clause for word, n in theirs.items() if word in mine} & used
        for term in sentence.terms:
            kept = case.claimed(term)
            if term.clause in clauses and not kept and lead(sentence, term.token) in _RESTRICTING:
                word = sentence.tokens[term.token].word
                yield Objection("restriction", f"The evidence says so only with “{word}”.")
                return


def _licensing(sentence: Sentence) -> dict[str, int]:
    """Where a sentence says that something is allowed, safe, in force, or limited."""
    past = {token.clause for n, token in enumerate(sentence.tokens) if _past(sentence, n)}
    limited = (t for t in sentence.terms if t.number is not None and t.number.bound in _LIMITS and t.clause not in past)
    found = {term.key: term.token for term in limited}
    for place, token in enumerate(sentence.tokens):
        adjective = token.word in _LICENSED and _NOW & {t.word for t in sentence.tokens[max(0, place - 3) : place]}
        noun = place and sentence.tokens[place - 1].word in DETERMINERS
        if adjective or (token.word in _APPLYING & sentence.free and not noun):
            found[token.word] = place
    return found


def _past(sentence: Sentence, token: int) -> bool:
    word = sentence.tokens[token].word
    return word in ("was", "were", "had", *PAST_FORMS) or (word.endswith("ed") and sentence.verb(token))
