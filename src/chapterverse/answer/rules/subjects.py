"""Names and subjects: every name must be in the evidence, and what is said must be said of the same thing there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chapterverse.answer.parse import Sentence, Term, parse
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.wording import (
    BE,
    COORDINATORS,
    DETERMINERS,
    FUNCTION_WORDS,
    MARKERS,
    PREPOSITIONS,
    PRONOUNS,
    same,
    stem,
)

_MEANT = frozenset("he she it they him them this these".split())
_ANYONE = frozenset(("you", "one"))
"""Of whom nothing else can be said: "You can change the port by …" is not about the port."""
_HAVE = frozenset(("has", "have", "had"))
_OWNING = frozenset("his her its their".split())
_NAMING = frozenset("named called titled known".split())
_OTHERWISE_JUDGED = frozenset(("according", *(word for m in MARKERS if m.name == "most" for word in m.words)))
"""Nothing is said of these: "the majority of farmers", "according to the farmers"; whether they stand, others judge."""
_COMMON_ENDINGS = ("s", "ing", "ed", "ly", "ion", "ness", "ment", "ity")
"""A word that only opens the sentence and ends so is hardly a name."""


def names(case: Case) -> Iterator[Objection]:
    known = {word for s in (*case.sentences, *case.subjects) for word in s.words}
    stems = {stem(word) for word in known}
    for name in case.claim.names:
        missing = [word for word in name.words if not all(stem(part) in stems for part in word.split("-"))]
        if not missing or (name.opens and _common(missing[0], stems)):
            continue
        if len(missing) < len(name.words) and _completes(name.text, missing, case.passage):
            continue
        if all(case.implied(t) for t in case.claim.terms if t.kind == "name" and t.key in map(stem, missing)):
            continue
        yield Objection("name", f"The name {name.text} is not in the evidence.")


def _common(word: str, stems: set[str]) -> bool:
    return word.endswith(_COMMON_ENDINGS) or any(same(stem(word), other) for other in stems)


def _completes(name: str, missing: Sequence[str], passage: str) -> bool:
    """Whether the passage has the whole name, and no other name with the part that the evidence gives."""
    said = set(name.lower().split())
    if name not in passage and not any(said <= set(n.text.lower().split()) for n in parse(passage).names):
        return False
    given = {word for word in name.split() if word.lower() not in missing}
    others = {n.text for n in parse(passage).names if " " in n.text and not said <= set(n.text.lower().split())}
    return not any(given & set(other.split()) for other in others)


def stitched(case: Case) -> Iterator[Objection]:
    """Each value must stand in a sentence about what the claim is about."""
    spoken = [{n for n, _ in case.found(term)} | set(case.implied(term)) for term in case.opening]
    about = set.intersection(*spoken) if spoken else set()
    for value in case.claim.terms:
        homes = {n for n, _ in case.found(value)} | set(case.implied(value))
        if value in case.opening or (value.kind == "word" and not all(_strange(case, n) for n in homes)):
            continue
        if value.kind == "word" and any(_MEANT & case.sentences[n].words for n in about):
            continue  # that sentence may well mean it
        if homes and about and not homes & about and not _has_own_subject(case, value, homes):
            said = case.claim.tokens[value.token].word
            yield Objection("stitched", f"No sentence of the evidence says “{said}” of what the claim is about.")
            return


def _strange(case: Case, number: int) -> bool:
    """Whether a sentence begins with something that the claim does not speak of."""
    first = case.sentences[number].terms[:1]
    return bool(first) and not case.claimed(first[0])


def _has_own_subject(case: Case, value: Term, homes: set[int]) -> bool:
    """Whether the claim has a second part, with another name shortly before the value and in a sentence with it."""
    return bool(COORDINATORS & case.claim.words) and any(
        term.kind == "name" and value.token - 8 <= term.token < value.token and {n for n, _ in case.found(term)} & homes
        for term in case.claim.terms
    )


def unknown(case: Case) -> Iterator[Objection]:
    """What the claim is about must not be a word that its evidence does not have."""
    tokens, terms = case.claim.tokens, case.claim.terms
    if len(terms) > 1 and tokens[terms[0].token].word in _OTHERWISE_JUDGED:
        first, start = terms[1], terms[0].token + 2
    elif terms:
        first, start = terms[0], 0
    else:
        return
    word = tokens[first.token].word
    led = any(t.word in PREPOSITIONS for t in tokens[start : first.token])
    if not led and word in case.new_words and not case.claim.predicate(first.token):
        yield Objection("subject", f"The evidence does not speak of “{word}”.")


def mentioned(case: Case) -> Iterator[Objection]:
    """What the claim is about must not be only an object of the evidence, an owner, or behind a preposition."""
    if not case.opening or not case.sentences or case.claim.tokens[0].word in _ANYONE:
        return
    sentence = case.sentences[case.home]
    heads = case.opening[-1:] if case.opening[0].kind == "name" else case.opening
    if any(case.claim.tokens[t.token].possessive or case.home in case.implied(t) for t in heads):
        return
    if any(t.word in PREPOSITIONS for t in case.claim.tokens[: case.opening[0].token + 3]):
        return
    places = [t for term in heads for t in case.places(term, case.home)]
    if any(_had(case, sentence, place.token) for place in places):
        return
    if places and all(_oblique(case, sentence, place.token) for place in places):
        yield Objection(
            "subject", "The evidence says this of something else, and only mentions what the claim is about."
        )


def _had(case: Case, sentence: Sentence, token: int) -> bool:
    """Whether "the population of Elmton" or "there are rooms in the inn" has become what Elmton or the inn has."""
    verb = next((t.word for n, t in enumerate(case.claim.tokens) if case.claim.predicate(n)), "")
    if verb not in _HAVE | BE:
        return False
    lead = next(
        (n for n in range(token - 1, max(-1, token - 4), -1) if sentence.tokens[n].word not in DETERMINERS), None
    )
    if lead is None or (token in sentence.named and lead in sentence.named):
        return False
    before = next((t for t in reversed(sentence.terms) if t.token == lead - 1), None)
    known = before is not None and case.claimed(before)
    if before is None or not known:
        return False
    if sentence.tokens[lead].word == "of":  # "the height of the tower is 40 m": it has that height, or is 40 m high
        counted = any(matches(t, before) and t.token - 1 in case.claim.counts for t in case.claim.terms)
        return verb in _HAVE or counted
    there = sentence.tokens[0].word == "there" and sentence.tokens[1].word in BE
    return there and verb in _HAVE and sentence.tokens[lead].word in ("in", "on", "at")


def _oblique(case: Case, sentence: Sentence, token: int) -> bool:
    place = sentence.tokens[token]
    if place.possessive:
        return True
    after = sentence.tokens[token + 1] if token + 1 < len(sentence.tokens) else None
    if after is not None and after.word in ("who", "which", "whose", "that"):
        return False
    if case.equates and token + 1 in sentence.counts:
        return False  # "listens on port 8080", "the port is 8080"
    begun = another = False  # whether the noun phrase has begun, and one before it too: "in spring the wage grew"
    for back in range(token - 1, max(-1, token - 5), -1):
        word = sentence.tokens[back]
        if word.clause != place.clause or back in sentence.counts or word.word == "by":
            return False
        if word.word in PREPOSITIONS:
            return not another and (back == 0 or sentence.tokens[back - 1].word != "according")
        if sentence.verb(back):  # an order ("Simmer the stew") has no subject that could be another
            return back > 0 and word.word not in _NAMING and not case.claim_passive and not case.equates
        another = begun
        begun = begun or word.word in DETERMINERS
        apart = token in sentence.named and back not in sentence.named  # a name has no adjectives
        if word.word not in DETERMINERS and (apart or word.word in FUNCTION_WORDS):
            return False
    return False


class _Part(NamedTuple):
    """A part of a sentence that can stand alone, and the subject it has of its own."""

    number: int
    terms: tuple[Term, ...]
    subject: tuple[Term, ...]
    refers: bool
    """Whether a pronoun of it is an object."""


def crossed(case: Case) -> Iterator[Objection]:
    """ "A is x, while B is y" must not become "A is y"."""
    for number, sentence in enumerate(case.sentences):
        told = {t.part for term in case.opening for t in case.places(term, number)}
        if not told:
            continue
        parts = {part.number: part for part in _parts(sentence)}
        about = [parts[n] for n in told]
        for term in case.claim.terms:
            homes = [parts[n] for n in dict.fromkeys(t.part for t in case.places(term, number))]
            if term.kind == "word" and any(part.refers for part in about):
                continue  # a pronoun there may well mean it
            if len(parts) > 1 and homes and term not in case.opening and all(_of_another(case, term, p) for p in homes):
                said = case.claim.tokens[term.token].word
                yield Objection("crossed", f"The evidence says “{said}” of something else.")
                return


def _of_another(case: Case, claimed: Term, part: _Part) -> bool:
    """Whether a part's subject is nothing that the claim speaks of, and the claim's is not in the part."""
    strange = [t for t in part.subject if not case.claimed(t)]
    if any(matches(claimed, t) for t in part.subject):
        return False
    return bool(strange) and any(not any(matches(term, t) for t in part.terms) for term in case.opening)


def _parts(sentence: Sentence) -> Iterator[_Part]:
    for number in sorted({token.part for token in sentence.tokens}):
        places = [n for n, token in enumerate(sentence.tokens) if token.part == number]
        terms = tuple(t for t in sentence.terms if t.token in places)
        lead = next((n for n in places if sentence.tokens[n].word not in COORDINATORS), places[0])
        verb = next((n for n in places if sentence.predicate(n)), None)
        own = verb is not None and sentence.tokens[lead].word not in (PRONOUNS | PREPOSITIONS) - _OWNING
        subject = tuple(t for t in terms if own and t.token < (verb or 0))[:2]
        yield _Part(number, terms, subject, bool({"it", "them", "him"} & {sentence.tokens[n].word for n in places}))
