"""Roles: who does what to whom is told by order, so a claim keeps the order of its evidence or shows why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, Pair
from chapterverse.answer.units import unit_of
from chapterverse.answer.wording import AUXILIARIES, BE, DETERMINERS, PREPOSITIONS

_REACH = 6
"""How many words lie between a verb in the passive and "by", at the most."""
_NAMING = frozenset("named called termed".split())
_JOINING = frozenset("and or while whereas but".split())
_PHRASE = 5
"""How many words a noun phrase has between two of its parts, at the most ("the seal of the Guild")."""
_LEADS = frozenset(
    "in on at during by with within from to for until since after before because if when while as under between through"
    " across near over above below without unless although though".split()
)
"""Words that a phrase takes along when it moves: "in winter", "because they climb"."""
_HAVING = frozenset("has have had with contains contained holds held".split())
_PLACING = frozenset(("in", "on", "at"))
_LIGHT = frozenset("they it he she you is are has have had was were".split())
_ALIKE = (frozenset("in on at during".split()), frozenset("if when with".split()))
_BINDING = AUXILIARIES | frozenset("to than from with and or but because while whereas".split())
_OPPOSED = (
    *(("from", "to"), ("before", "after"), ("above", "below"), ("over", "under"), ("until", "since")),
    *(("until", "from"), ("until", "after"), ("within", "after")),
)
_AMOUNTS = (("by", "to"), ("by", "from"))
"""Opposed before a number only: what grew by 9 did not grow to 9, but "by the mill" is "next to the mill"."""
_DIRECTIONS = (*_OPPOSED, *((other, one) for one, other in _OPPOSED))
_NUMBER_DIRECTIONS = (*_DIRECTIONS, *_AMOUNTS, *((other, one) for one, other in _AMOUNTS))
_LEADING = frozenset(word for pair in _OPPOSED for word in pair)
_MEASURING = frozenset("before after above below".split())


def moved(case: Case) -> Iterator[Objection]:
    """Parts change places only as phrases, inside a noun phrase, around "is" or "and", or with the verb's voice."""
    for number, sentence in enumerate(case.sentences):
        verbs = list(_verbs(case, number))
        if any(_voice_undone(case, verb, number, place) for verb, place in verbs):
            yield Objection("roles", "The verb has changed its voice, and what stands around it has not.")
        elif not any(_voice_changed(case.claim, verb, sentence, place) for verb, place in verbs):
            for before, after in pairwise(case.runs(number)):
                if not _explained(case.claim, sentence, before, after):
                    word = case.claim.tokens[after[0][0].token].word
                    yield Objection(
                        "roles", f"The evidence has what comes before and after “{word}” the other way round."
                    )
                    return


def _explained(claim: Sentence, sentence: Sentence, before: Sequence[Pair], after: Sequence[Pair]) -> bool:
    return (
        any(_phrase(claim, sentence, run) for run in (before, after))
        or any(_noun_phrase(sentence, before[-1][1], place) for _, place in after[:2])
        or _equation(claim, sentence, before, after)
        or _owned(claim, sentence, before[-1], after[0])
        or _coordinated(claim, sentence, before, after)
        or _turned(claim, sentence, before, after)
        or _tag(sentence, after)
        or _there_is(claim, sentence, after)
        or (after[0][0].token - 1 in claim.counts and _measured(claim, sentence, before, after[0][1]))
        or _rate(claim, sentence, before[-1], after[0])
        or any(sentence.tokens[run[0][1].token - 1].word in _NAMING for run in (before, after))
    )


def _phrase(claim: Sentence, sentence: Sentence, run: Sequence[Pair]) -> bool:
    """Whether a run has taken its leading word along."""
    mine, theirs = lead(claim, run[0][0].token), lead(sentence, run[0][1].token)
    return mine in _LEADS and (mine == theirs or any({mine, theirs} <= alike for alike in _ALIKE))


def _noun_phrase(sentence: Sentence, first: Term, second: Term) -> bool:
    """Whether two terms stand in one noun phrase of the evidence."""
    start, end = sorted((first.token, second.token))
    between = range(start + 1, end)
    if end - start > _PHRASE or sentence.verb(start) or sentence.verb(end):
        return False
    return not any(
        sentence.tokens[n].word in _BINDING or (sentence.verb(n) and sentence.tokens[n].word not in _NAMING)
        for n in between
    )


def _equation(claim: Sentence, sentence: Sentence, before: Sequence[Pair], after: Sequence[Pair]) -> bool:
    """Whether the two sides of "is" have changed places, one of them being "the" such and such."""
    sides = [(before[-1][0].token, after[0][0].token, claim), (after[-1][1].token, before[0][1].token, sentence)]
    for start, end, text in sides:
        words = [t.word for t in text.tokens[start + 1 : end]]
        if not words or words[0] not in ("is", "was", "are", "were"):
            return False
    return True


def _coordinated(claim: Sentence, sentence: Sentence, before: Sequence[Pair], after: Sequence[Pair]) -> bool:
    """Whether both claim and evidence put a conjunction between the two: "a and b", "b and a"."""
    ends = [(before[-1][0].token, after[0][0].token, claim), (after[-1][1].token, before[0][1].token, sentence)]
    return all(
        _JOINING & {t.word for t in text.tokens[start + 1 : end]} or ";" in text.text[text.tokens[start].end :]
        for start, end, text in ends
        if start < end
    ) and all(start < end for start, end, _ in ends)


def _measured(claim: Sentence, sentence: Sentence, before: Sequence[Pair], measure: Term) -> bool:
    """Whether "the height of the tower is 40 m" has become "the tower is 40 m high", and not what stands beside it."""
    between = [t for t in sentence.terms if measure.token < t.token < before[0][1].token]
    return all(any(t.key == mine.key for mine in claim.terms) for t in between) and all(
        t.key != measure.key for t in claim.terms
    )


def _turned(claim: Sentence, sentence: Sentence, before: Sequence[Pair], after: Sequence[Pair]) -> bool:
    """Whether "do a, then b" has become "do b after a"."""
    mine = {t.word for t in claim.tokens[before[-1][0].token + 1 : after[0][0].token]}
    theirs = {t.word for t in sentence.tokens[after[-1][1].token + 1 : before[0][1].token]}
    return "after" in mine and "then" in theirs


def _tag(sentence: Sentence, run: Sequence[Pair]) -> bool:
    """Whether "the data suggest that …" has become "…, the data suggest"."""
    last = run[-1][1].token
    return last + 1 < len(sentence.tokens) and sentence.tokens[last + 1].word == "that"


def contents(case: Case) -> Iterator[Objection]:
    """ "The yard has a gate" must not become "there is a yard in the gate"."""
    thing = case.claim.terms[0] if _exists(case.claim) and case.claim.terms else None
    for sentence in case.sentences:
        had = [n for n, token in enumerate(sentence.tokens) if token.word in _HAVING]
        holders = {t.key for t in sentence.terms if had and t.token < had[0]}
        held = {t.key for t in sentence.terms if had and t.token > had[0]}
        places = {t.key for t in case.claim.terms if lead(case.claim, t.token) in _PLACING}
        if thing is not None and thing.key in holders - held and places & held - holders:
            yield Objection("roles", "In the evidence it is the other that has it.")
            return


def _exists(claim: Sentence) -> bool:
    return len(claim.tokens) > 1 and claim.tokens[0].word == "there" and claim.tokens[1].word in BE


def _there_is(claim: Sentence, sentence: Sentence, after: Sequence[Pair]) -> bool:
    """Whether "the yard has six gates" has become "there are six gates in the yard"."""
    behind = {t.word for t in sentence.tokens[after[-1][1].token + 1 :][:6]}
    return _exists(claim) and lead(claim, after[0][0].token) in _PLACING and bool(_HAVING & behind)


def _rate(claim: Sentence, sentence: Sentence, unit: Pair, thing: Pair) -> bool:
    """Whether "ale costs 3 pence a gallon" has become "a gallon of ale costs 3 pence"."""
    behind = [t.word for t in claim.tokens[unit[0].token + 1 : thing[0].token]]
    before = sentence.tokens[unit[1].token - 1].word if unit[1].token else ""
    return behind == ["of"] and before in ("a", "an", "per") and bool(unit_of(claim.tokens[unit[0].token].word))


def _owned(claim: Sentence, sentence: Sentence, thing: Pair, owner: Pair) -> bool:
    """Whether "its bob" has become "the bob of the pendulum"."""
    lead = [t.word for t in claim.tokens[max(0, owner[0].token - 3) : owner[0].token]]
    before = sentence.tokens[thing[1].token - 1].word if thing[1].token else ""
    return "of" in lead and before in ("its", "his", "her", "their")


def lead(sentence: Sentence, token: int) -> str:
    """The function word that leads to a term, articles and adjectives that are no terms skipped; it may be one."""
    if sentence.tokens[token].word in _LEADS:
        return sentence.tokens[token].word
    day = next((d for d in sentence.dates if d.start <= sentence.tokens[token].start < d.end), None)
    for back in range(token - 1, max(-1, token - 6), -1):
        word = sentence.tokens[back].word
        if day is not None and sentence.tokens[back].start >= day.start:
            continue
        if word in _LEADS or word in _LEADING:
            return word
        if back not in sentence.counts and word not in DETERMINERS and word not in _LIGHT:
            return ""
    return ""


def _verbs(case: Case, number: int) -> Iterator[Pair]:
    for term in case.claim.terms:
        if term.kind == "word":
            yield from ((term, place) for place in case.places(term, number))


def _voice_changed(claim: Sentence, verb: Term, sentence: Sentence, place: Term) -> bool:
    return {claim.passive(verb.token), sentence.passive(place.token)} == {True, False}


def _voice_undone(case: Case, verb: Term, number: int, place: Term) -> bool:
    """Whether only one of the two verbs is in the passive, with its doer named, and yet the order is the same."""
    claim, sentence = case.claim, case.sentences[number]
    if not _voice_changed(claim, verb, sentence, place):
        return False
    if not (_led_by(claim, verb.token) or _led_by(sentence, place.token)):
        return False
    left = [case.places(t, number) for t in claim.terms if t.token < verb.token and t.number is None]
    right = [case.places(t, number) for t in claim.between(verb.token + 1, verb.token + 1 + _REACH) if t.number is None]
    stays = any(spots[0].token < place.token and spots[-1].token <= place.token for spots in left if spots)
    return stays and any(place.token < spots[-1].token for spots in right if spots)


def _led_by(sentence: Sentence, verb: int) -> bool:
    return "by" in [t.word for t in sentence.tokens[verb + 1 : verb + _REACH]]


def doers(case: Case) -> Iterator[Objection]:
    """A name right before a verb is who acts, and the claim must name it too."""
    for number, sentence in enumerate(case.sentences):
        for verb in case.claim.terms:
            if verb.kind != "word" or not case.claim.verb(verb.token) or case.claim.passive(verb.token):
                continue
            places = [place for place in case.places(verb, number) if sentence.verb(place.token)]
            if places and all(_acts(case, sentence, place) for place in places):
                yield Objection("roles", f"In the evidence someone else is who {case.claim.tokens[verb.token].word}.")
                return


def _acts(case: Case, sentence: Sentence, verb: Term) -> bool:
    """Whether a name that the claim does not have stands right before a verb."""
    before = verb.token - 1
    while before >= 0 and sentence.tokens[before].word in AUXILIARIES - BE:
        before -= 1
    if before not in sentence.named or sentence.passive(verb.token):
        return False
    name = next(t for t in sentence.terms if t.token == before)
    lead = before
    while lead in sentence.named:
        lead -= 1
    led = lead >= 0 and sentence.tokens[lead].word in PREPOSITIONS
    return not led and not case.claimed(name)


def directions(case: Case) -> Iterator[Objection]:
    """ "From" must not become "to", nor "before" "after": neither ahead of a term nor behind it ("two years after")."""
    for term in case.claim.terms:
        for beside in (lead, _next):
            word = beside(case.claim, term.token)
            for mine, other in _DIRECTIONS if term.number is None else _NUMBER_DIRECTIONS:
                if word == mine:
                    there = {beside(case.sentences[n], t.token) for n, t in case.found(term)}
                    if other in there and mine not in there:
                        yield Objection("direction", f"The evidence says “{other}”, the claim “{mine}”.")


def _next(sentence: Sentence, token: int) -> str:
    """The word behind a term, or behind a number and its unit, that says where to measure: "three years after"."""
    words = [one.word for one in sentence.tokens[token + 1 : token + 3]]
    return next((word for word in words if word in _MEASURING), "")


def sequence(case: Case) -> Iterator[Objection]:
    """ "Grease the pan, then add the batter" must not become "grease the pan after adding the batter"."""
    words = [t.word for t in case.claim.tokens]
    for number, sentence in enumerate(case.sentences):
        then = next((n for n, t in enumerate(sentence.tokens) if n and t.word == "then"), None)
        if then is None:
            continue
        for word, later in (("after", False), ("before", True)):
            if word not in words or word in sentence.words:
                continue
            at = words.index(word)
            left = [place.token > then for term, place in case.aligned[number] if term.token < at]
            right = [place.token > then for term, place in case.aligned[number] if term.token > at]
            if left and right and set(left) == {later} and set(right) == {not later}:
                yield Objection("direction", f"The evidence has this the other way round than “{word}”.")
                return
