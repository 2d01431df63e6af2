"""Force: a claim must not deny what its evidence says, nor say it more strongly."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from chapterverse.answer.facts import NEGATIONS, without_negative_prefix
from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection
from chapterverse.answer.wording import (
    DETERMINERS,
    FUNCTION_WORDS,
    PAST_FORMS,
    PREPOSITIONS,
    opposite,
    stem,
)

_SWEEPING = frozenset("all always everyone everything".split())
_ANY = frozenset("a an any each every no those".split())
_DEGREES = frozenset("more less fewer most least".split())
_CONVERSE = frozenset(map(stem, "teach learn give receive lend borrow buy sell".split()))
"""Two views of one deed."""
_HOLDING = DETERMINERS | PREPOSITIONS
_LINKS = frozenset(("and", "or"))
_PARTICLES = {"on": "off", "off": "on", "up": "down", "down": "up", "in": "out", "out": "in"}
_EMPTY = frozenset("please kindly anywhere whatsoever circumstances account strictly absolutely".split())
"""Behind a denial these restrict nothing."""


def opposites(case: Case) -> Iterator[Objection]:
    told = {token.word for sentence in case.sentences for token in sentence.tokens}
    if case.claim.denials:
        told -= NEGATIONS  # "not allowed" is "forbidden"
    for word in (*case.new_words, *_other_degrees(case)):
        others = [stem(other) for other in told if opposite(stem(word), stem(other))]
        if others and not (_CONVERSE.issuperset((stem(word), *others)) and _is_done(case.claim, word)):
            yield Objection("opposite", f"The evidence says the opposite of “{word}”.")


def _is_done(sentence: Sentence, word: str) -> bool:
    """Whether a verb is in the passive and names nobody who does it: "was taught" is "learned"."""
    place = next(n for n, token in enumerate(sentence.tokens) if token.word == word)
    after = {token.word for token in sentence.tokens[place + 1 :] if token.clause == sentence.tokens[place].clause}
    return sentence.passive(place) is True and "by" not in after


def _other_degrees(case: Case) -> frozenset[str]:
    """Degrees that the claim has and its evidence has not: no terms, but "less than" is the opposite of "more than"."""
    if any(sentence.denials for sentence in (case.claim, *case.sentences)):
        return frozenset()  # "no more than" is "less than"
    return (case.claim.free & _DEGREES).difference(*(sentence.words for sentence in case.sentences))


def denials(case: Case) -> Iterator[Objection]:
    claimed = _count(case.claim, range(len(case.claim.tokens)))
    found = sum(
        _count(sentence, {n for n, token in enumerate(sentence.tokens) if token.clause in used})
        for sentence, used in zip(case.sentences, case.used, strict=True)
    )
    flips = sum(term.kind == "word" and not case.found(term) and case.negated(term) for term in case.claim.terms)
    if abs(claimed - found) != flips:
        what = "denies what the evidence says" if claimed else "says what the evidence denies"
        yield Objection("negation", f"The claim {what}.")


def contrasts(case: Case) -> Iterator[Objection]:
    """ "Fast when pushed hard and slowly when softly" must not become "slowly when pushed hard"."""
    for number, sentence in enumerate(case.sentences):
        segments = _segments(sentence)
        found = {term: {segments[t.token] for t in case.places(term, number)} for term in case.claim.terms}
        for key in dict.fromkeys(term.key for term in case.claim.terms):
            mine = {segments[t.token] for t in sentence.terms if t.key == key}
            theirs = {segments[t.token] for t in sentence.terms if mine and opposite(key, t.key)} - mine
            for other in case.claim.terms if theirs else ():
                said_there = found[other] and found[other] <= theirs
                if said_there and other not in case.opening and not _meant(case, other, sentence):
                    said = case.claim.tokens[other.token].word
                    yield Objection("contrast", f"The evidence says “{said}” of the opposite.")
                    return


def _meant(case: Case, term: Term, sentence: Sentence) -> bool:
    """Whether the evidence has a pronoun behind the very words that stand before a term: "south of it"."""
    lead = [t.word for t in case.claim.tokens[: term.token] if t.word not in DETERMINERS][-2:]
    words = [t.word for t in sentence.tokens]
    if not lead or lead[-1] not in PREPOSITIONS:
        return False
    return any(word in ("it", "them") and words[max(0, n - 2) : n] == lead for n, word in enumerate(words))


def _segments(sentence: Sentence) -> list[int]:
    """For each token, how many coordinate pieces of the sentence came before its own."""
    found: list[int] = []
    number = last = 0
    for token in sentence.tokens:
        number += token.word in ("and", "or", "but", "while", "whereas") or ";" in sentence.text[last : token.start]
        last = token.end
        found.append(number)
    return found


def _count(sentence: Sentence, tokens: Collection[int]) -> int:
    """Denials among these tokens; "neither … nor" is one, and "unless" says "if not"."""
    words = [sentence.tokens[n].word for n in sentence.denials if n in tokens]
    words += [sentence.tokens[n].word for n in tokens if sentence.tokens[n].word == "unless"]
    return len(words) - (words.count("nor") if "neither" in words or "no" in words else 0)


def restrictions(case: Case) -> Iterator[Objection]:
    """What is denied, or said of all, of a part only ("not … for delays caused by weather") is not so of the whole."""
    if not (case.claim.denials or case.claim.words & _SWEEPING):
        return
    for sentence, used in zip(case.sentences, case.used, strict=True):
        sweeping = {t.clause for n, t in enumerate(sentence.tokens) if n in sentence.denials or t.word in _SWEEPING}
        verb = next((n for n in range(len(sentence.tokens)) if sentence.predicate(n)), 0)
        for term in sentence.terms:
            left_out = term.clause in used & sweeping and not case.claimed(term)
            if left_out and term.number is None and not (case.claim_passive and term.token < verb):
                word = sentence.tokens[term.token].word
                if word not in _EMPTY and not _answers(case, word):
                    yield Objection("restriction", f"The evidence says so only with “{word}”.")
                    return


def kinds(case: Case) -> Iterator[Objection]:
    """What is said of any "pupil who is late three times" is not said of any who is late."""
    if not case.claim.tokens or case.claim.tokens[0].word not in _ANY:
        return
    for number, sentence in enumerate(case.sentences):
        last = max((place.token for _, place in case.aligned[number]), default=-1)
        parts = {place.part for _, place in case.aligned[number]}
        for term in sentence.terms:
            dated = term.number is not None and 1000 <= term.number.value <= 2100 and not term.number.unit
            if term.part not in parts or (dated and term.token < 2 and _past(sentence) and _past(case.claim)):
                continue  # of something else, or when it happened
            if term.number is not None and term.token < last and not any(t.key == term.key for t in case.claim.terms):
                word = sentence.text[term.number.start : term.number.end]
                yield Objection("restriction", f"The evidence says so only with “{word}”.")
                return


def _past(sentence: Sentence) -> bool:
    verb = next((n for n in range(len(sentence.tokens)) if sentence.predicate(n)), None)
    word = sentence.tokens[verb].word if verb is not None else ""
    return word in ("was", "were", "had") or word in PAST_FORMS or word.endswith("ed")


def replaced(case: Case) -> Iterator[Objection]:
    """Behind the same words a thing must not have become another: "half of its subscribers", "half of its players"."""
    new = set(case.new_words)
    for place, token in enumerate(case.claim.tokens[1:], 1):
        held = case.claim.tokens[place - 1].word in _HOLDING or place - 1 in case.claim.counts
        if token.word in new and held and (other := _behind_same(case, place)):
            yield Objection("replaced", f"The evidence says “{other}”, the claim “{token.word}”.")
        elif token.word in new and (other := _same_item(case, place)):
            yield Objection("replaced", f"The evidence lists “{other}”, the claim “{token.word}”.")


def _behind_same(case: Case, place: int) -> str | None:
    """A word that the claim does not have, behind the same two words of the evidence."""
    lead = [t.word for t in case.claim.tokens[max(0, place - 2) : place]]
    for sentence in case.sentences:
        words = [t.word for t in sentence.tokens]
        for spot, word in enumerate(words):
            same_lead = words[max(0, spot - len(lead)) : spot] == lead
            if same_lead and word not in case.claim.words and word not in FUNCTION_WORDS:
                return word
    return None


def _same_item(case: Case, place: int) -> str | None:
    """A word that the claim does not have, in the same place of a list: beside the same item, on the same side."""
    terms = case.claim.terms
    at = next((n for n, term in enumerate(terms) if term.token == place), None)
    for step in (-1, 1):
        if at is None or not 0 <= at + step < len(terms) or not _listed(case.claim, terms[at], terms[at + step]):
            continue
        for number, found in case.found(terms[at + step]):
            sentence = case.sentences[number]
            spot = sentence.terms.index(found) - step
            if not 0 <= spot < len(sentence.terms) or not _listed(sentence, sentence.terms[spot], found):
                continue
            item = sentence.terms[spot]
            if item.kind == "word" and not case.claimed(item):
                return sentence.tokens[item.token].word
    return None


def _listed(sentence: Sentence, one: Term, other: Term) -> bool:
    """Whether two terms are items of a list: nothing but a comma, "and" or "or" and articles is between them."""
    first, second = sorted((one.token, other.token))
    words = {t.word for t in sentence.tokens[first + 1 : second]}
    gap = sentence.text[sentence.tokens[first].end : sentence.tokens[second].start]
    return words <= _LINKS | DETERMINERS and ("," in gap or bool(words & _LINKS))


def _answers(case: Case, word: str) -> bool:
    """Whether the claim denies in other words what the evidence denies with this one ("forbidden", "not allowed")."""
    bare = without_negative_prefix(word)
    negative = word in NEGATIONS or (bare is not None and any(stem(bare) == t.key for t in case.claim.terms))
    return negative or any(opposite(stem(word), t.key) for t in case.claim.terms)


def particles(case: Case) -> Iterator[Objection]:
    """ "Switched off" must not become "switched on", nor "turn the dial down" "turn the dial up"."""
    for sentence, pairs in zip(case.sentences, case.aligned, strict=True):
        for term, place in pairs:
            word = _particle(case.claim, term.token)
            other = _particle(sentence, place.token)
            again = any(a.word in ("and", "or", "but") and b.word == word for a, b in pairwise(sentence.tokens))
            if word and other == _PARTICLES[word] and not again:
                yield Objection("opposite", f"The evidence says “{other}”, the claim “{word}”.")
                return


def _particle(sentence: Sentence, token: int) -> str:
    after = sentence.tokens[token + 1].word if token + 1 < len(sentence.tokens) else ""
    return after if after in _PARTICLES else ""


def narrowed(case: Case) -> Iterator[Objection]:
    """What is said of "children under five" is not said of children."""
    pairs, sentence = case.aligned[case.home], case.sentences[case.home]
    if len(pairs) < 2 or not case.claim.tokens or pairs[0][0].token != 0 or pairs[0][0].kind == "name":
        return
    (subject, place), (_, behind) = pairs[:2]
    plural = subject.kind == "word" and _plural(case.claim.tokens[0].word)
    if not plural or place.token >= behind.token or _past(sentence):
        return
    for term in sentence.terms:
        between = place.token < term.token < behind.token and term.clause == place.clause == behind.clause
        if between and term.number is not None and not any(t.key == term.key for t in case.claim.terms):
            word = sentence.text[term.number.start : term.number.end]
            yield Objection("restriction", f"The evidence says so only with “{word}”.")
            return


def _plural(word: str) -> bool:
    return word in ("children", "people", "men", "women") or (word.endswith("s") and not word.endswith("ss"))
