"""Roles: who does what to whom, and in which direction, must stay as it was."""

from __future__ import annotations

from collections.abc import Iterator

from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.wording import AUXILIARIES, DETERMINERS, PREPOSITIONS, stem

_REACH = 12
"""How many words lie between two things that a verb joins, at the most."""
_SYMMETRIC = frozenset(map(stem, "meet marry join equal resemble match differ unite border adjoin".split()))
_OPPOSED = (("from", "to"), ("before", "after"), ("above", "below"), ("over", "under"), ("until", "since"))
_DIRECTIONS = (*_OPPOSED, *((other, one) for one, other in _OPPOSED))
_LEADING = frozenset(word for pair in _OPPOSED for word in pair)
_LINKS = frozenset("to than from of behind before after over above below under for".split())
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


def flipped(case: Case) -> Iterator[Objection]:
    """What a verb is done to must not be what did it: "her father taught her", "she taught her father"."""
    for sentence in case.sentences:
        for verb in case.claim.terms:
            places = [t for t in sentence.terms if matches(verb, t) and sentence.verb(t.token)]
            if verb.kind != "word" or len(places) != 1 or verb.key in _SYMMETRIC:
                continue
            place = places[0]
            if case.claim.passive(verb.token) or sentence.passive(place.token):
                continue
            done = _object(case.claim, verb)
            doer = next((t for t in sentence.terms if t.part == place.part), None)
            if done and doer and doer.token < place.token and matches(done, doer) and not _object(sentence, place):
                yield Objection("roles", f"In the evidence “{case.claim.tokens[done.token].word}” is who acts.")
                return


def _object(sentence: Sentence, verb: Term) -> Term | None:
    """The thing right behind a verb, with no preposition between."""
    after = next((t for t in sentence.terms if t.token > verb.token), None)
    if after is None or after.clause != verb.clause or after.token > verb.token + 3:
        return None
    between = {t.word for t in sentence.tokens[verb.token + 1 : after.token]}
    return None if between - DETERMINERS else after


def doers(case: Case) -> Iterator[Objection]:
    """A name right before a verb is who acts, and the claim must name it too."""
    for sentence in case.sentences:
        for verb in case.claim.terms:
            if verb.kind != "word" or not case.claim.verb(verb.token) or case.claim.passive(verb.token):
                continue
            places = [t for t in sentence.terms if matches(verb, t) and sentence.verb(t.token)]
            if places and all(_acts(case, sentence, place) for place in places):
                yield Objection("roles", f"In the evidence someone else is who {case.claim.tokens[verb.token].word}.")
                return


def _acts(case: Case, sentence: Sentence, verb: Term) -> bool:
    """Whether a name that the claim does not have stands right before a verb."""
    before = verb.token - 1
    while before >= 0 and sentence.tokens[before].word in AUXILIARIES:
        before -= 1
    if before not in sentence.named or sentence.passive(verb.token):
        return False
    name = next(t for t in sentence.terms if t.token == before)
    lead = before
    while lead in sentence.named:
        lead -= 1
    led = lead >= 0 and sentence.tokens[lead].word in PREPOSITIONS
    return not led and not any(matches(t, name) for t in case.claim.terms)


def swapped(case: Case) -> Iterator[Objection]:
    """ "Acid to water" must not become "water to acid"."""
    for number, sentence in enumerate(case.sentences):
        links = {
            (link, left.key, right.key) for link, left, right in _links(sentence) if left.clause in case.used[number]
        }
        for link, left, right in _links(case.claim):
            if (link, right.key, left.key) in links and (link, left.key, right.key) not in links:
                yield Objection("roles", f"The two sides of “{link}” have changed places.")


def _links(sentence: Sentence) -> Iterator[tuple[str, Term, Term]]:
    for place, token in enumerate(sentence.tokens):
        if token.word in _LINKS:
            left = next((t for t in sentence.terms[::-1] if place - 3 <= t.token < place), None)
            right = next((t for t in sentence.terms if place < t.token <= place + 3), None)
            if left is not None and right is not None:
                yield token.word, left, right


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
