"""Force: a claim must not deny what its evidence says, nor say it more strongly."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from chapterverse.answer.facts import NEGATIONS, without_negative_prefix
from chapterverse.answer.parse import Sentence, Term
from chapterverse.answer.rules.case import Case, Objection, matches
from chapterverse.answer.units import unit_of
from chapterverse.answer.wording import (
    BE,
    DETERMINERS,
    FUNCTION_WORDS,
    MARKERS,
    OBLIGATION,
    PAST_FORMS,
    PERMISSION,
    PREPOSITIONS,
    PRONOUNS,
    Marker,
    opposite,
    stem,
)

_REPORTING = next(marker.words for marker in MARKERS if marker.name == "attribution")
_TELLING = frozenset("tell tells told says said".split())
"""These govern what follows only as "said that", or as an aside ("…, she said, …")."""
_SWEEPING = frozenset("all always everyone everything".split())
_ANY = frozenset("a an any each every no those".split())
_DEGREES = frozenset("more less fewer most least".split())
_CONVERSE = frozenset(map(stem, "teach learn give receive lend borrow buy sell".split()))
"""Two views of one deed."""
_HOLDING = DETERMINERS | PREPOSITIONS
_LINKS = frozenset(("and", "or"))
_PARTICLES = {"on": "off", "off": "on", "up": "down", "down": "up", "in": "out", "out": "in"}
_DEPENDING = frozenset("if unless whether without".split())
_EMPTY = frozenset("please kindly anywhere whatsoever circumstances account strictly absolutely".split())
"""Behind a denial these restrict nothing."""
_EVERY_SO_OFTEN = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"}
_UPON = frozenset(("when", "after"))
_RESULTS = frozenset(("results", "resulting"))
_FORBIDDEN = frozenset("forbidden prohibited banned barred cannot".split())
_WHOLE = frozenset("always all every entirely necessarily".split())


def opposites(case: Case) -> Iterator[Objection]:
    told = {token.word for sentence in case.sentences for token in sentence.tokens}
    if case.claim.denials:
        told -= NEGATIONS  # "not allowed" is "forbidden"
    for word in (*case.new_words(), *_other_degrees(case)):
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
    for sentence in case.sentences:
        segments = _segments(sentence)
        for term in case.claim.terms:
            mine = {segments[t.token] for t in sentence.terms if t.key == term.key}
            theirs = {segments[t.token] for t in sentence.terms if opposite(term.key, t.key)} - mine
            for other in case.claim.terms:
                found = {segments[t.token] for t in sentence.terms if matches(other, t)}
                if (
                    mine
                    and found
                    and found <= theirs
                    and other not in case.opening
                    and not _meant(case, other, sentence)
                ):
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


def markers(case: Case) -> Iterator[Objection]:
    claimed = case.claim.free
    for marker in MARKERS:
        said = {w for w in claimed & marker.words if _marks(case.claim, w)}
        if (
            said
            and marker.needed
            and not any(s.words & (marker.words | _equals(case, marker, s)) for s in case.sentences)
        ):
            yield Objection("strength", f"The evidence does not say “{min(said)}”.")
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

    "Any" is "all" only where nothing is denied and nothing depends on it; "and" is "both" within one statement.
    """
    if marker.name == "both":
        one = len({place.part for _, place in case.aligned[case.home]}) == 1
        return (
            marker.equals
            if one and any(_couples(case, sentence, n) for n in range(len(sentence.tokens)))
            else frozenset()
        )
    if marker.name == "cause" and any(a.word in _RESULTS and b.word == "from" for a, b in pairwise(sentence.tokens)):
        active = case.claim.words & {"cause", "causes", "causing"}  # the other way round
        return marker.equals - _RESULTS if active and len(case.runs(case.home)) == 1 else marker.equals
    if marker.name != "all":
        return marker.equals
    said = marker.equals - case.claim.words  # "all … throughout Europe" has both
    if sentence.denials or sentence.words & _DEPENDING or not _any_of_all(case, sentence):
        said -= {"any"}
    spans = {a.word + b.word for a, b in pairwise(case.claim.tokens) if a.word in ("every", "each")}
    return said - {word for word, unit in _EVERY_SO_OFTEN.items() if not {f"every{unit}", f"each{unit}"} & spans}


def _any_of_all(case: Case, sentence: Sentence) -> bool:
    """Whether the claim keeps all that is said behind "any": "any car built after 2010" is not "all cars"."""
    start = next((n for n, t in enumerate(sentence.tokens) if t.word == "any"), len(sentence.tokens))
    behind = [t for t in sentence.terms if t.token > start and t.part == sentence.tokens[start].part]
    return all(any(matches(mine, t) for mine in case.claim.terms) for t in behind)


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


def restrictions(case: Case) -> Iterator[Objection]:
    """What is denied, or said of all, of a part only ("not … for delays caused by weather") is not so of the whole."""
    if not (case.claim.denials or case.claim.words & _SWEEPING):
        return
    for sentence, used in zip(case.sentences, case.used, strict=True):
        sweeping = {t.clause for n, t in enumerate(sentence.tokens) if n in sentence.denials or t.word in _SWEEPING}
        verb = next((n for n in range(len(sentence.tokens)) if sentence.predicate(n)), 0)
        for term in sentence.terms:
            left_out = term.clause in used & sweeping and not any(matches(t, term) for t in case.claim.terms)
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
    new = set(case.new_words())
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
            if item.kind == "word" and not any(matches(term, item) for term in terms):
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
