"""Sentences as questions: which of them state one fact by themselves, and how that fact is asked for.

Fiction is mostly speech, and much of what a narrator says leans on the sentence before. Such sentences make questions
that nobody would ask, so all of them are left alone; a book has enough others.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from chapterverse.index.lexical import FUNCTION_WORDS

NAME = r"[A-Z][\w’'-]+(?: (?:of |the |de |von |van )?[A-Z][\w’'-]+){0,3}"
_NUMBER = (
    r"\d(?:[\d,]*\d)?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|"
    r"eighty|ninety|a hundred"
)
_DOES = (
    r"was|were|had|is|has|wrote|made|built|gave|took|became|found|kept|said|brought|told|left|held|went|came|stood|ran|"
    r"began|blew|lay|\w{3,}ed"
)
DEFINITION = re.compile(
    r"(?P<article>(?:The|An?) )?(?P<term>[\w’'-]+(?: [\w’'-]+){0,2}) (?P<verb>is|are) (?P<answer>(?:an?|the|any) .+)\."
)
YEAR = re.compile(r"\bin (?P<answer>1[0-9]{3}|20[0-9]{2})\b(?! and \d)")
COUNT = re.compile(rf"(?<![\w.-])(?<!or )(?P<answer>{_NUMBER}) (?P<things>[a-z]{{3,}}s)\b(?! and)")
DOES = re.compile(rf" (?:{_DOES})\b")
DOER = re.compile(rf"(?:The )?(?P<answer>{NAME}) (?P<rest>(?:{_DOES}) .+)\.")

_YEAR_ALONE = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_NUMBERED = frozenset("section article chapter part title figure table page appendix volume step phase rule".split())
"""Nouns whose number is a name, not a count."""
_COUNTED_FIRST = re.compile(rf"(?:(?:The|All|All the) )?(?P<answer>{_NUMBER}) ", re.IGNORECASE)
_NO_COUNT = re.compile(
    r"\b(?:the|all|any|these|those|his|her|its|their|first|last|next|other|same|out of|hundred and"
    rf"|(?:{_NUMBER})(?: [a-z]+)? (?:to|and|or|out of)) $",
    re.IGNORECASE,
)
"""What stands before a number that cannot be asked for: `the two sides`, `from eight to ten lines`."""
_DONE = re.compile(r"(?P<subject>[^,;:()]+?) (?P<verb>was|were) (?P<rest>[^,;:()]+)")
_SUBJECT = 8
"""Words that a subject has at the most, so that it can stand behind its verb."""
_TELLING = 3
"""A gap stands among at least so many words of meaning: "over the next how many years?" may ask of anything."""
_VERB = re.compile(rf"\b(?:{_DOES}|are|be|can|could|may|might|must|will|would|do|did|[a-z]{{3,}}s)\b")

_ARTICLES = frozenset(("The", "A", "An"))
_POINTING = frozenset(
    "it its this that these those there he she they his her their we you i what which who here such one".split()
)
"""Words that mean nothing without the sentence before."""
_LEANING = frozenset(
    "and but or nor so yet for then thus hence therefore however nevertheless besides moreover again also how"
    " why".split()
)
"""Words that go on from the sentence before, or turn a sentence about."""
_UNDER = frozenset("if when while as because since although though unless until who which that where in on by".split())
"""Words that begin what is no main clause."""
_BACK = re.compile(
    r"\b(?:it|he|she|they|him|them|this|these|those|the (?:latter|former|above)|that (?:date|time|day|year|place))\b",
    re.IGNORECASE,
)
"""What points out of a clause."""
_SUPPOSED = re.compile(r"\b(?:if|whether|when|although|though|unless|because)\b", re.IGNORECASE)
_AIM = re.compile(r"(?:In order )?To [^,]*$")
"""What begins with an aim, and is cut off before it says who has it."""
_SAYS = re.compile(r"(?:said|told|asked|replied|cried|answered|added|repeated|remarked|shouted|thought)\b")
"""How a speech is announced."""
_NEXT = re.compile(r"[;:—]|, (?=(?:and|but|or|as|for|so|while|when|till|she|he|it|they|there)\b)")
"""Where another clause begins."""
_PERSONS = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|us|[Oo]ur|[Yy]ou|[Yy]our)\b")
"""Who speaks and who is spoken to: speech, or an author who means himself."""
_MARK = re.compile(r"[“”\"«»]|(?<!\w)[‘’']|[‘’'](?!\w)")
"""A quotation mark; an apostrophe stands between letters."""
_OPENING, _CLOSING = frozenset("“«‘"), frozenset("”»’")

Within = Callable[[str], str]
"""Words from the beginning of a sentence as they stand within one: `The bridge` is `the bridge`, `Ann Lee` herself."""


def in_speech(before: str) -> bool:
    """Whether what stands before in a paragraph has opened a quotation and not closed it."""
    marks = _MARK.findall(before)
    depth = 0
    for mark in marks:
        depth = max(0, depth + (mark in _OPENING) - (mark in _CLOSING))
    return depth > 0 or any(marks.count(mark) % 2 for mark in ("'", '"'))


def stands_alone(sentence: str) -> bool:
    """Whether a sentence is a whole statement that nobody speaks and that does not lean on the one before."""
    whole = sentence[0].isupper() and sentence.endswith(".") and sentence.count("(") == sentence.count(")")
    spoken = _MARK.search(sentence) or _PERSONS.search(sentence)
    return whole and not spoken and _may_begin(sentence.split()[0])


def defines(found: re.Match[str]) -> bool:
    """Whether a sentence says what something is; "Great is the power" is turned round, "is the same" says nothing."""
    words = found["term"].lower().split()
    straight = found["article"] is not None or not found["answer"].startswith("the ")
    telling = not re.match(r"the (?:same|one|only|other)\b", found["answer"])
    return straight and telling and _may_begin(words[0]) and words[-1] not in FUNCTION_WORDS | _LEANING


def counts(found: re.Match[str]) -> bool:
    """Whether a number counts things: it does not in "Section 309 reviews", "E.O. 14008 directs", "the 1990 rules"."""
    before = found.string[: found.start()].split()[-1:] or [""]
    named = before[0].lower() in _NUMBERED or (before[0][:1].isupper() and before[0].lower() not in FUNCTION_WORDS)
    return not (found["answer"][0].isdigit() and (named or _YEAR_ALONE.fullmatch(found["answer"])))


def asked_when(found: re.Match[str], within: Within) -> str | None:
    """A question for a year: turned round where a sentence says plainly what was done, else with a gap."""
    asked = _gap(found, "in which year")
    done = _DONE.fullmatch(asked.replace(" in which year", "")[:-1]) if asked else None
    if done is None:
        return asked
    words = done["subject"].lower().split()
    plain = len(words) <= _SUBJECT and _may_begin(words[0]) and not _UNDER & set(words)
    return f"In which year {done['verb']} {within(done['subject'])} {done['rest']}?" if plain else asked


def asked_how_many(found: re.Match[str]) -> str | None:
    """A question for a number: from its beginning where a sentence begins with it, else with a gap."""
    asked = _gap(found, f"how many {found['things']}")
    first = _COUNTED_FIRST.match(found.string)
    if asked and first and first.start("answer") == found.start():
        return f"How many{re.split('how many', asked, maxsplit=1, flags=re.I)[1]}"
    return None if _NO_COUNT.search(found.string[: found.start()]) else asked


def asked_who(found: re.Match[str]) -> str | None:
    """A question for who did something, in the first clause; None where that points out of it, or says little."""
    did = _NEXT.split(found["rest"])[0]
    broken = "," in " ".join(did.split()[:3]) or did.count("(") != did.count(")")
    if broken or _SAYS.match(did) or _BACK.search(did) or len(content(did)) < _TELLING:
        return None
    return f"Who or what {did}?"


def within_sentence(words: str, small: frozenset[str]) -> str:
    """See `Within`; `small` are words that a book also has in small letters."""
    first, *others = words.split()
    name = any(word[:1].isupper() for word in others) and first not in _ARTICLES
    common = first in _ARTICLES or first.lower() in small
    return words[:1].lower() + words[1:] if common and not name else words


def stands_for_itself(name: str, question: str) -> bool:
    """Whether a name is all of what is named: no part of `the Plan To Advance Trade` or `the Kattywar horses`.

    Nor may another name stand behind or before a small word: `Europe or Africa`, `by Means of Natural Selection`.
    """
    found = re.search(rf"(?<![\w’'-]){re.escape(name)}(?![\w’'-])", question)
    if found is None:
        return False
    before, after = question[: found.start()].split(), question[found.end() :]
    first, *more = [*after.split(), "", ""][:2]
    joined = before[:-1] if before and before[-1] in FUNCTION_WORDS else before
    led = len(joined) > 1 and joined[-1][:1].isupper()
    goes_on = first[:1].isalpha() and not (first.rstrip("?,") in FUNCTION_WORDS or DOES.match(f" {first}"))
    another = first in FUNCTION_WORDS and more[0][:1].isupper()
    return not (led or goes_on or another)


def content(text: str) -> frozenset[str]:
    """The words of meaning."""
    return frozenset(word for word in re.findall(r"\w+", text.lower()) if word not in FUNCTION_WORDS)


def _gap(found: re.Match[str], gap: str) -> str | None:
    """The clause around a match as a question, with a gap where the answer was; None where it asks of nothing."""
    before = re.split(r"[;:] |—", found.string[: found.start()])[-1]
    after = re.split(r"[,;:.—]", found.string[found.end() :])[0]
    clause = f"{before}{gap}{after}"
    leans = not _may_begin(clause.split()[0]) or _BACK.search(clause) or _SUPPOSED.search(before) or _AIM.match(before)
    closed = "(" not in before.rpartition(")")[2] and clause.count("(") == clause.count(")")
    said = _VERB.search(f"{before} {after}") and len(content(f"{before} {after}")) >= _TELLING
    if leans or not closed or not said:
        return None
    return f"{clause[:1].upper()}{clause[1:]}?"


def _may_begin(word: str) -> bool:
    """Whether a word may begin what stands alone."""
    return word.lower().rstrip(",") not in _POINTING | _LEANING
