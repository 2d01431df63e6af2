"""Markers: the small words that make a statement weaker or stronger ("if", "may", "all", "because")."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.units import unit_of
from chapterverse.answer.wording import BE, DETERMINERS, MARKERS, OBLIGATION, PERMISSION, PRONOUNS, Marker, stem

_REPORTING = next(marker.words for marker in MARKERS if marker.name == "attribution")
_TELLING = frozenset("tell tells told says said".split())
"""These govern what follows only as "said that", or as an aside ("…, she said, …")."""
_DEPENDING = frozenset("if unless whether without".split())
_EVERY_SO_OFTEN = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"}
_UPON = frozenset(("when", "after"))
_RESULTS = frozenset(("results", "resulting"))
_FORBIDDEN = frozenset("forbidden prohibited banned barred cannot".split())
_WHOLE = frozenset("always all every entirely necessarily".split())


def said(case: Case) -> Iterator[Objection]:
    claimed = case.claim.free
    for marker in MARKERS:
        mine = {w for w in claimed & marker.words if _marks(case.claim, w)}
        told = any(s.words & (marker.words | _equals(case, marker, s)) for s in case.sentences)
        if mine and marker.needed and not told:
            yield Objection("strength", f"The evidence does not say “{min(mine)}”.")
        if marker.name == "possibility" and _forbids(case.claim) and any(map(_may_not, case.sentences)):
            continue  # "may not" is "must not"; it is not "does not"
        if marker.kept and not claimed & marker.words:
            for sentence, used in zip(case.sentences, case.used, strict=True):
                if _says_as_much(case, marker, sentence):
                    continue  # a word of its own that says as much
                if word := _governing(marker, sentence, used):
                    yield Objection("strength", f"The evidence says “{word}”, which the claim leaves out.")
    for sentence, used in zip(case.sentences, case.used, strict=True):
        yield from _not_all(claimed, sentence, used)


def _governing(marker: Marker, sentence: Sentence, used: frozenset[int]) -> str | None:
    """A word of the marker that governs one of the clauses in use."""
    if not used:
        return None
    for place, token in enumerate(sentence.tokens):
        if token.word not in marker.words & sentence.free or not _marks_at(sentence, place):
            continue
        clause = [t.word for t in sentence.tokens if t.clause == token.clause]
        governs = len(clause) <= 3 or token.word not in _TELLING or {"that", "to"} & set(clause)
        follows = marker.reach == "rest" and governs and (len(clause) <= 3 or max(used) >= token.clause)
        beside = marker.reach == "part" and any(t.clause in used for t in sentence.tokens if t.part == token.part)
        if (token.clause in used and governs) or beside or follows:
            return token.word
    return None


def _says_as_much(case: Case, marker: Marker, sentence: Sentence) -> bool:
    """Whether the claim has a word of its own for the marker, and says it of the same."""
    own = case.claim.free & marker.equals - sentence.words
    if not own or own - _UPON:
        return bool(own)
    mine = [t for n, one in enumerate(case.claim.tokens) if one.word in own for t in _behind(case.claim, n)]
    theirs = [t for n, one in enumerate(sentence.tokens) if one.word in marker.words for t in _behind(sentence, n)]
    told = [t for t in mine if any(matches(t, other) for other in sentence.terms)]
    return all(any(matches(t, other) for other in theirs) for t in told)


def _behind(sentence: Sentence, place: int) -> list[Term]:
    return [t for t in sentence.terms if t.token > place and t.clause == sentence.tokens[place].clause]


def _equals(case: Case, marker: Marker, sentence: Sentence) -> frozenset[str]:
    """The words that say as much as the marker's own there.

    "Any" is "all" only where nothing is denied and nothing depends on it, and "daily" where it is "every day"; "and" is
    "both" within one statement; what "results from" something does not cause it.
    """
    if marker.name == "both":
        one = len({place.part for _, place in case.aligned[case.home]}) == 1
        coupled = one and any(_couples(case, sentence, n) for n in range(len(sentence.tokens)))
        return marker.equals if coupled else frozenset()
    if marker.name == "cause" and any(a.word in _RESULTS and b.word == "from" for a, b in pairwise(sentence.tokens)):
        active = case.claim.words & {"cause", "causes", "causing"}  # the other way round
        return marker.equals - _RESULTS if active and len(case.runs(case.home)) == 1 else marker.equals
    if marker.name != "all":
        return marker.equals
    said = marker.equals - case.claim.words  # "all sail daily" has both
    if sentence.denials or sentence.words & _DEPENDING or not _any_of_all(case, sentence):
        said -= {"any"}
    spans = {a.word + b.word for a, b in pairwise(case.claim.tokens) if a.word in ("every", "each")}
    return said - {word for word, unit in _EVERY_SO_OFTEN.items() if not {f"every{unit}", f"each{unit}"} & spans}


def _any_of_all(case: Case, sentence: Sentence) -> bool:
    """Whether the claim keeps all that is said behind "any": "any car built after 2010" is not "all cars"."""
    start = next((n for n, t in enumerate(sentence.tokens) if t.word == "any"), len(sentence.tokens))
    behind = [t for t in sentence.terms if t.token > start and t.part == sentence.tokens[start].part]
    return all(case.claimed(t) for t in behind)


def _couples(case: Case, sentence: Sentence, place: int) -> bool:
    """Whether an "and" (or "two") joins things that the claim speaks of, and not two statements."""
    if sentence.tokens[place].word == "two":
        return True
    if sentence.tokens[place].word != "and":
        return False
    clauses = {t.clause for t in sentence.tokens if t.part == sentence.tokens[place].part}
    behind = [
        n for n in range(place + 2, len(sentence.tokens)) if sentence.tokens[n].clause == sentence.tokens[place].clause
    ]
    before = [n for n in range(place) if sentence.tokens[n].clause in clauses]
    verb = next((n for n in behind if sentence.predicate(n)), None)
    apart = verb is not None and any(map(sentence.predicate, before))
    return not apart and any(
        matches(mine, t) for mine in case.claim.terms for t in sentence.terms if t.token == place - 1
    )


def _may_not(sentence: Sentence) -> bool:
    """Whether a permission is denied."""
    return any(
        n and sentence.tokens[n - 1].word in PERMISSION and sentence.tokens[n].word == "not" for n in sentence.denials
    )


def _forbids(claim: Sentence) -> bool:
    """Whether a claim says that something must not be, and not only that it is not."""
    order = claim.tokens[0].word in ("do", "never") if claim.tokens else False
    return bool(claim.denials) and (order or bool(claim.words & (OBLIGATION | _FORBIDDEN)))


def _marks(sentence: Sentence, word: str) -> bool:
    return any(t.word == word and _marks_at(sentence, n) for n, t in enumerate(sentence.tokens))


def _marks_at(sentence: Sentence, place: int) -> bool:
    """Whether a word is what its marker takes it for: neither "the will", "is provided", "once a day" nor "is due"."""
    word = sentence.tokens[place].word
    before = sentence.tokens[place - 1].word if place else ""
    after, second = ([t.word for t in sentence.tokens[place + 1 : place + 3]] + ["", ""])[:2]
    if word in ("will", "can"):
        return before not in DETERMINERS
    if word == "provided":
        return before not in BE and (after in DETERMINERS | PRONOUNS or after == "you")
    if word == "once":
        return before != "at" and not (after in ("a", "an", "per", "every", "each") and unit_of(second))
    if word == "due":
        return after == "to"
    if word == "since":
        return place + 1 not in sentence.counts and place + 1 not in sentence.named
    return True


def reported(case: Case) -> Iterator[Objection]:
    """What someone only swore, dreamed or ruled "that …" must not become what is so."""
    for sentence, used in zip(case.sentences, case.used, strict=True):
        for place, token in enumerate(sentence.tokens[1:], 1):
            verb = sentence.tokens[place - 1]
            told = sentence.verb(place - 1) or (place > 1 and _speaks(sentence, place - 2))
            if token.word != "that" or not told or not used or max(used) < token.clause:
                continue
            if not any(sentence.predicate(n) for n in range(place + 1, len(sentence.tokens))):
                continue  # "built that chapel"
            if stem(verb.word) == "ensur" and case.claim.free & (OBLIGATION | {"should"}):
                continue
            if stem(verb.word) not in {t.key for t in case.claim.terms} and not case.claim.free & _REPORTING:
                yield Objection("strength", f"The evidence says “{verb.word} that …”, which the claim leaves out.")
                return


def _speaks(sentence: Sentence, token: int) -> bool:
    return token in sentence.named or sentence.tokens[token].word in ("he", "she", "it", "they", "i", "we", "who")


def _not_all(claimed: frozenset[str], sentence: Sentence, used: frozenset[int]) -> Iterator[Objection]:
    """ "Not always" must not become "never"."""
    for place in sentence.denials:
        after = {t.word for t in sentence.tokens[place + 1 : place + 3] if t.clause in used}
        for word in sorted(_WHOLE & after - claimed):
            yield Objection("strength", f"The evidence says “not {word}”.")


def modality(case: Case) -> Iterator[Objection]:
    """What may be done must not become what must, nor the other way round; "may not" is "must not"."""
    if case.claim.denials and any(sentence.denials for sentence in case.sentences):
        return
    said = case.claim.free
    told = {t.word for s, used in zip(case.sentences, case.used, strict=True) for t in s.tokens if t.clause in used}
    told &= {word for sentence in case.sentences for word in sentence.free}
    for mine, other in ((PERMISSION, OBLIGATION), (OBLIGATION, PERMISSION)):
        if said & mine and not told & mine and told & other:
            message = f"The evidence says “{min(told & other)}”, the claim “{min(said & mine)}”."
            yield Objection("strength", message)
