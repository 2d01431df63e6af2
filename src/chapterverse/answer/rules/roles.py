"""Roles: who does what to whom, and in which direction, must stay as it was."""

from __future__ import annotations

from collections.abc import Iterator

from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.wording import stem

_REACH = 12
"""How many words lie between two things that a verb joins, at the most."""
_SYMMETRIC = frozenset(map(stem, "meet marry join equal resemble match differ unite border adjoin".split()))
_OPPOSED = (("from", "to"), ("before", "after"), ("above", "below"), ("over", "under"), ("until", "since"))
_DIRECTIONS = (*_OPPOSED, *((other, one) for one, other in _OPPOSED))
_LEADING = frozenset(word for pair in _OPPOSED for word in pair)
_SKIPPED = frozenset("the a an his her its their".split())


def turned(case: Case) -> Iterator[Objection]:
    """Two things on either side of a verb must not have changed places, unless the verb has changed its voice."""
    for sentence in case.sentences:
        for verb in case.claim.terms:
            if verb.kind != "word" or verb.key in _SYMMETRIC or not case.claim.verb(verb.token):
                continue
            places = [t for t in sentence.terms if matches(verb, t) and sentence.verb(t.token)]
            if places and all(_turned_around(case.claim, verb, sentence, place) for place in places):
                yield Objection(
                    "roles", f"The parts around “{case.claim.tokens[verb.token].word}” have changed places."
                )
                return


def _turned_around(claim: Sentence, verb: Term, sentence: Sentence, place: Term) -> bool:
    other_voice = claim.passive(verb.token) != sentence.passive(place.token)
    agent = _led_by(claim, verb.token) or _led_by(sentence, place.token)
    near = [t for t in claim.terms if abs(t.token - verb.token) <= _REACH and t.number is None]
    for left in (t for t in near if t.token < verb.token):
        for right in (t for t in near if t.token > verb.token):
            first, second = _nearest(left, sentence, place), _nearest(right, sentence, place)
            if first is None or second is None or first == second:
                continue
            changed = first.token > place.token > second.token
            kept = first.token < place.token < second.token
            if (changed and not other_voice) or (kept and other_voice and agent):
                return True
    return False


def _nearest(term: Term, sentence: Sentence, place: Term) -> Term | None:
    """Of the places where the sentence has a term, the one nearest to the verb."""
    return min(
        (t for t in sentence.terms if matches(term, t) and t.token != place.token),
        key=lambda t: (t.clause != place.clause, abs(t.token - place.token)),
        default=None,
    )


def _led_by(sentence: Sentence, verb: int) -> bool:
    return "by" in [t.word for t in sentence.tokens[verb + 1 : verb + _REACH]]


def directions(case: Case) -> Iterator[Objection]:
    """ "From" must not become "to", nor "before" "after"."""
    for term in case.claim.terms:
        lead = _lead(case.claim, term.token)
        for mine, other in _DIRECTIONS:
            if lead == mine:
                led = {_lead(case.sentences[n], t.token) for n, t in case.found(term)}
                if other in led and mine not in led:
                    yield Objection("direction", f"The evidence says “{other}”, the claim “{mine}”.")


def _lead(sentence: Sentence, token: int) -> str:
    """The word that leads to a term, articles skipped."""
    for back in range(token - 1, max(-1, token - 4), -1):
        word = sentence.tokens[back].word
        if word in _LEADING:
            return word
        if word not in _SKIPPED:
            return ""
    return ""
