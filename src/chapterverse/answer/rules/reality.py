"""Reality: what was not done, is not the real thing, is left out or happens in a story must not become what is so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.wording import BE, DETERMINERS, FUNCTION_WORDS, MARKERS, OBLIGATION, stem


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


_NOT_YET = _stems(
    "forget neglect omit decline refuse hesitate threaten promise offer vow plan order command ask beg urge advise"
    " instruct invite tempt reluctant unwilling unable cease agree too"
)
"""What one does this "to do" need not have been done, …"""
_NOT_ANY_MORE = _stems("stop cease quit avoid escape resist oppose delay postpone consider contemplate against")
"""… nor what one does this doing, …"""
_NOT_SHOWN = _stems("accuse suspect acquit charge clear incapable")
"""… nor what one is this of, or with."""
_SPARED = _stems("save prevent protect keep stop rescue spare deter")
"""… nor what one is this from."""
_HEDGED = OBLIGATION | {"should", "until", "till", "longer"}
_HEDGED |= {
    word
    for m in MARKERS
    if m.name in ("possibility", "likelihood", "attribution", "plan", "near miss")
    for word in m.words
}
_COMPLEMENT = 4
"""How many words lie between such a word and its "to", at the most ("ordered the old man to leave")."""


def undone(case: Case) -> Iterator[Objection]:
    """What someone forgot to do, stopped doing, was accused of or was about to do must not become what he did."""
    if _hedged(case.claim) or case.claim.denials:
        return
    said = {term.key for term in case.claim.terms}
    for number, sentence in enumerate(case.sentences):
        for place, token in enumerate(sentence.tokens):
            deed = _deed(sentence, place)
            if deed is None or stem(token.word) in said or not _done(case, number, deed):
                continue
            yield Objection("strength", f"The evidence says “{token.word}”, and the claim that it was done.")
            return


def _hedged(claim: Sentence) -> bool:
    """Whether the claim does not say that it was done; "the will" is a thing."""
    words = ["", *(token.word for token in claim.tokens)]
    return any(word in _HEDGED & claim.free and before not in DETERMINERS for before, word in pairwise(words))


def _deed(sentence: Sentence, place: int) -> Term | None:
    """What is said not to have been done, if a word says so."""
    key, after = stem(sentence.tokens[place].word), [t.word for t in sentence.tokens[place + 1 : place + 3]]
    clause = sentence.tokens[place].clause
    reach = range(place + 1, min(place + 2 + _COMPLEMENT, len(sentence.tokens)))
    links = {sentence.tokens[n].word: n for n in reversed(reach) if sentence.tokens[n].clause == clause}
    start = None
    if key in _NOT_YET and "to" in links:
        start = links["to"]
    elif key in _NOT_ANY_MORE and after and after[0].endswith("ing"):
        start = place
    elif after[:1] == ["to"] and (
        (key == "due" and after[-1] not in DETERMINERS) or (key == "close" and after[-1].endswith("ing"))
    ):
        start = place + 1
    elif key in _SPARED and "from" in links:
        start = links["from"]
    elif key in _NOT_SHOWN:
        start = next((links[word] for word in ("of", "with") if word in links), None)
    elif after[:1] == ["to"] and sentence.tokens[place].word in BE | {"about", "yet"}:
        start = place + 1
    behind = () if start is None else sentence.between(start + 1, start + 4)
    deed = next((t for t in behind if t.kind == "word"), None)
    # Behind "to" no verb ends so, but things do: "offered to boys".
    things = deed is not None and "to" in links and re.search(r"[^s]s$", sentence.tokens[deed.token].word)
    return None if things else deed


def _done(case: Case, number: int, deed: Term) -> bool:
    """Whether the claim says it as what was done, not as "to …" or "the … ing", and the evidence nowhere else."""
    words = ["", *(token.word for token in case.claim.tokens)]
    return any(
        case.found(term) == [(number, deed)]
        for term in case.claim.terms
        if matches(term, deed) and words[term.token] not in ("to", "be")
        if not words[term.token + 1].endswith("ing") or words[term.token] in BE
    )


_UNREAL = frozenset(
    "fake mock sham bogus dummy imitation counterfeit forged pretended former erstwhile onetime acting deputy vice"
    " honorary prospective aspiring toy".split()
)
"""A former master is no master, and a fake dial no dial."""
_THEN = next(marker.words for marker in MARKERS if marker.name == "former times")


def unreal(case: Case) -> Iterator[Objection]:
    """A fake, former or acting one must not become a real one."""
    if case.claim.words & (_UNREAL | _THEN) or case.claim.denials:
        return
    for number, sentence in enumerate(case.sentences):
        for place, token in enumerate(sentence.tokens):
            thing = _noun_phrase(sentence, place + 1) if token.word in _UNREAL else []
            found = [[spot for t in case.claim.terms if matches(t, part) for spot in case.found(t)] for part in thing]
            if thing and all(spots and set(spots) <= {(number, t) for t in thing} for spots in found):
                yield Objection("strength", f"The evidence says “{token.word}”, which the claim leaves out.")
                return


def _noun_phrase(sentence: Sentence, start: int) -> list[Term]:
    """The terms from a place on that belong together: up to a verb, a function word or the end of the clause."""
    found: list[Term] = []
    for term in (t for t in sentence.terms if t.token >= start):
        if term.token != start + len(found) or sentence.verb(term.token) or term.number is not None:
            break
        if term.clause != sentence.tokens[start - 1].clause:
            break
        found.append(term)
    return found


_STORIES = _stems("dream nightmare novel story tale fable legend myth film movie play ballad poem comedy painting")


def framed(case: Case) -> Iterator[Objection]:
    """What happens in a dream or a novel did not happen."""
    if _hedged(case.claim) or _STORIES & {term.key for term in case.claim.terms}:
        return
    for sentence, used in zip(case.sentences, case.used, strict=True):
        for place, token in enumerate(sentence.tokens):
            if stem(token.word) not in _STORIES or not _frames(sentence, place):
                continue
            within = {t.clause for t in sentence.tokens if t.part == token.part}
            title = place + 1 in sentence.named and _introduced(case.claim, sentence.tokens[place + 1].word)
            if used & within and not title:
                yield Objection("strength", f"The evidence says so of a {token.word} only.")
                return


def _frames(sentence: Sentence, place: int) -> bool:
    """Whether a word stands as in "in his dream", and not as in "in the film industry"."""
    lead = [t.word for t in sentence.tokens[max(0, place - 3) : place]]
    inside = "in" in lead and lead.index("in") < len(lead) - 1 and lead[lead.index("in") + 1] in DETERMINERS
    after = sentence.tokens[place + 1] if place + 1 < len(sentence.tokens) else None
    if after is None or after.clause != sentence.tokens[place].clause or place + 1 in sentence.named:
        return inside
    return inside and (after.word in FUNCTION_WORDS or sentence.verb(place + 1))


def _introduced(claim: Sentence, word: str) -> bool:
    """Whether the claim names the work itself: "in Emma"."""
    words = [t.word for t in claim.tokens]
    return any(one == "in" and word in words[n + 1 : n + 3] for n, one in enumerate(words))


_INSTEAD = (("rather", "than"), ("instead", "of"), ("as", "opposed", "to"))
_SAVE = (("other", "than"), ("apart", "from"), ("aside", "from"), ("excluding",), ("excepting",))
_LEAVING_OUT = frozenset("other rather instead opposed apart aside excluding excepting except unlike but".split())


def left_out(case: Case) -> Iterator[Objection]:
    """What a sentence leaves out ("towns other than ports") must not become what it is about, nor be forgotten."""
    if case.claim.words & _LEAVING_OUT or case.claim.denials:
        return
    for number, (sentence, used) in enumerate(zip(case.sentences, case.used, strict=True)):
        words = [t.word for t in sentence.tokens]
        for phrase in (*_INSTEAD, *_SAVE):
            for place in range(len(words) - len(phrase)):
                end = place + len(phrase)
                if tuple(words[place:end]) != phrase:
                    continue
                out = next((t for t in sentence.terms if t.token >= end), None)
                said = out is not None and any(case.found(t) == [(number, out)] for t in case.claim.terms)
                if said or (phrase in _SAVE and sentence.tokens[place].clause in used):
                    yield Objection("negation", f"The evidence says “{' '.join(phrase)}”, and the claim does not.")
                    return
