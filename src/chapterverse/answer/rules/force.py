"""Force: a claim must not deny what its evidence says, nor say it more strongly."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from chapterverse.answer.facts import NEGATIONS, without_negative_prefix
from chapterverse.answer.parse import Sentence
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.wording import MARKERS, OBLIGATION, PERMISSION, Marker, opposite, stem

_TELLING = frozenset("tell tells told says said".split())
"""These govern what follows only as "said that", or as an aside ("…, she said, …")."""
_SWEEPING = frozenset("all always everyone everything".split())
_WHOLE = frozenset("always all every entirely necessarily".split())


def opposites(case: Case) -> Iterator[Objection]:
    for word in case.new_words():
        if any(opposite(stem(word), stem(token.word)) for sentence in case.sentences for token in sentence.tokens):
            yield Objection("opposite", f"The evidence says the opposite of “{word}”.")


def denials(case: Case) -> Iterator[Objection]:
    claimed = _count(case.claim, range(len(case.claim.tokens)))
    found = sum(
        _count(sentence, {n for n, token in enumerate(sentence.tokens) if token.clause in used})
        for sentence, used in zip(case.sentences, case.used, strict=True)
    )
    flips = sum(term.kind == "word" and not case.found(term) and case.negated(term) for term in case.claim.terms)
    if (claimed + found + flips) % 2:
        what = "denies what the evidence says" if claimed else "says what the evidence denies"
        yield Objection("negation", f"The claim {what}.")


def _count(sentence: Sentence, tokens: Collection[int]) -> int:
    """Denials among these tokens; "neither … nor" is one."""
    words = [sentence.tokens[n].word for n in sentence.denials if n in tokens]
    return len(words) - (words.count("nor") if "neither" in words or "no" in words else 0)


def markers(case: Case) -> Iterator[Objection]:
    claimed = case.claim.free
    for marker in MARKERS:
        said = claimed & marker.words
        if said and marker.needed and not any((marker.words | marker.equals) & s.words for s in case.sentences):
            yield Objection("strength", f"The evidence does not say “{min(said)}”.")
        if marker.kept and not claimed & (marker.words | marker.equals):
            for sentence, used in zip(case.sentences, case.used, strict=True):
                if word := _governing(marker, sentence, used):
                    yield Objection("strength", f"The evidence says “{word}”, which the claim leaves out.")
    for sentence, used in zip(case.sentences, case.used, strict=True):
        yield from _not_all(claimed, sentence, used)


def _governing(marker: Marker, sentence: Sentence, used: frozenset[int]) -> str | None:
    """A word of the marker that governs one of the clauses in use."""
    if not used:
        return None
    for token in sentence.tokens:
        if token.word not in marker.words & sentence.free:
            continue
        clause = [t.word for t in sentence.tokens if t.clause == token.clause]
        governs = len(clause) <= 3 or token.word not in _TELLING or "that" in clause
        follows = marker.reach == "rest" and governs and (len(clause) <= 3 or max(used) >= token.clause)
        beside = marker.reach == "part" and any(t.clause in used for t in sentence.tokens if t.part == token.part)
        if (token.clause in used and governs) or beside or follows:
            return token.word
    return None


def _not_all(claimed: frozenset[str], sentence: Sentence, used: frozenset[int]) -> Iterator[Objection]:
    """ "Not always" must not become "never"."""
    for place in sentence.denials:
        after = {t.word for t in sentence.tokens[place + 1 : place + 3] if t.clause in used}
        for word in sorted(_WHOLE & after - claimed):
            yield Objection("strength", f"The evidence says “not {word}”.")


def modality(case: Case) -> Iterator[Objection]:
    """What may be done must not become what must, nor the other way round."""
    said = case.claim.free
    told = {t.word for s, used in zip(case.sentences, case.used, strict=True) for t in s.tokens if t.clause in used}
    told &= {word for sentence in case.sentences for word in sentence.free}
    for mine, other in ((PERMISSION, OBLIGATION), (OBLIGATION, PERMISSION)):
        if said & mine and not told & mine and told & other:
            message = f"The evidence says “{min(told & other)}”, the claim “{min(said & mine)}”."
            yield Objection("strength", message)


def restrictions(case: Case) -> Iterator[Objection]:
    """What is denied, or said of all, of a part only ("not … for delays caused by weather") is not so of the whole."""
    if not (case.claim.denials or case.claim.words & _SWEEPING):
        return
    passive = any(case.claim.passive(t.token) for t in case.claim.terms)
    for sentence, used in zip(case.sentences, case.used, strict=True):
        sweeping = {t.clause for n, t in enumerate(sentence.tokens) if n in sentence.denials or t.word in _SWEEPING}
        verb = next((n for n in range(len(sentence.tokens)) if sentence.predicate(n)), 0)
        for term in sentence.terms:
            left_out = term.clause in used & sweeping and not any(matches(t, term) for t in case.claim.terms)
            if left_out and term.number is None and not (passive and term.token < verb):
                word = sentence.tokens[term.token].word
                if not _answers(case, word):
                    yield Objection("restriction", f"The evidence says so only with “{word}”.")
                    return


def _answers(case: Case, word: str) -> bool:
    """Whether the claim denies in other words what the evidence denies with this one ("forbidden", "not allowed")."""
    bare = without_negative_prefix(word)
    negative = word in NEGATIONS or (bare is not None and any(stem(bare) == t.key for t in case.claim.terms))
    return negative or any(opposite(stem(word), t.key) for t in case.claim.terms)
