"""The gate: a sentence of a draft reaches the reader only if the book bears it out.

It passes if (1) every passage it cites was offered, (2) its quote stands there word for word, (3) no rule objects
(`compare`), and (4) the reader says that the quoted sentences support it; it says "I" only where they do. A sentence
that is itself a quote of whole sentences needs no more than (1) and (2); one of our own fixed phrases needs none. What
does not pass is dropped and recorded, and a draft of which nothing is left is a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chapterverse.answer import marks, plain, prompts
from chapterverse.answer.evidence import (
    Evidence,
    Located,
    around,
    find,
    lead_in,
    pieces,
    subject_of,
    touched,
    units,
    whole_sentences,
)
from chapterverse.answer.language import is_english
from chapterverse.answer.lists import count_items
from chapterverse.answer.parse import parse
from chapterverse.answer.rules import Comparison, compare
from chapterverse.answer.rules.values import unheard
from chapterverse.answer.validate import Passage as PassageLike
from chapterverse.answer.validate import Sentences
from chapterverse.answer.wording import PRONOUNS
from chapterverse.errors import AstRagValidationError
from chapterverse.protocols import Reader
from chapterverse.types import DraftSentence, Issue, SentenceKind

_PRONOUN = re.compile(r"(?:He|She|It|They)\b")
_DENYING = re.compile(
    r"\b(?:no|not|never|none|nothing|cannot|avoid|false|wrong|untrue|incorrect|myths?|fictions?|mistakes?|prohibited"
    r"|forbidden|banned|excluded|exempt)\b|n[’']t\b",
    re.IGNORECASE,
)
_LONGEST = 10_000
"""How many characters a sentence or its quote may have: as many as a selection."""
_ROW = re.compile(r"^\s*(?:[-*•–]|\(?\w{1,3}[.)])\s+\S|\s\|\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Limits:
    """How strict the gate is: the reader's calibrated probabilities, and how much may be said."""

    support_in_order: float = 0.02
    """For a claim that only leaves words of one sentence out: the rules judge that better than the reader."""
    support: float = 0.2
    """For one that uses no words but those of its evidence, in another order or from several sentences."""
    support_new_words: float = 0.8
    """For one that uses others."""
    new_words: int = 2
    """How many others at the most, …"""
    new_share: float = 0.34
    """… and what share of its words."""
    support_free: float = 0.7
    """For one that uses more of them or falls by a rule, beside all that it cites. Rules compare words, and pass next
    to no honest claim that is put freely. Among the book's own words the rules judge better, …"""
    free_words: int = 2
    """… so that a claim must bring so many of its own: one will do where no rule objects."""
    support_long: float = 0.6
    """For one that falls by rules OF_ORDER alone, both beside its evidence and beside all that it cites. They compare
    it with one sentence, …"""
    long_words: int = 8
    """… and a sentence of so many words, those that only hold it together not counted, may join several."""
    support_sure: float = 0.9
    """For one that falls by others, not OF_VALUES, and is as long, or brings a word of its own: again beside both."""
    words: int = 80
    """A sentence of a draft's own, or a part of one of the book's, has so many at most: the reader reads no more."""
    sentences: int = 5

    def __post_init__(self) -> None:
        for name in (
            "support_in_order",
            "support",
            "support_new_words",
            "new_share",
            "support_free",
            "support_long",
            "support_sure",
        ):
            if not 0 <= getattr(self, name) <= 1:
                raise AstRagValidationError(f"{name} is {getattr(self, name)!r}; it must be a number from 0 to 1.")
        if min(self.new_words, self.free_words, self.long_words) < 0 or min(self.words, self.sentences) < 1:
            raise AstRagValidationError(
                "new_words, free_words and long_words must be at least 0, words and sentences at least 1."
            )


OF_ORDER = frozenset(("roles", "subject", "replaced"))
"""Objections to how a sentence is put together, not to a thing that it says."""
OF_VALUES = frozenset(("number", "unit", "date"))
"""Objections that are plain to see: no reader overrules them but where all is put freely."""
DEFAULT = Limits()
PLAIN = replace(DEFAULT, sentences=3)
"""For a plain factual question."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A sentence that passed, with the quotes that it rests on."""

    text: str
    kind: SentenceKind
    quotes: tuple[Located, ...] = ()
    support: float = 1.0


@dataclass(frozen=True, slots=True)
class Gated:
    """What is left of a draft, and what was taken out of it."""

    sentences: tuple[Passed, ...]
    issues: tuple[Issue, ...]


class _Rejected(Exception):
    """Carries why a sentence does not pass."""

    def __init__(self, code: str, message: str, citation: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.citation = code, message, citation


class Gate:
    """Checks the sentences of one draft, one after the other, against the passages that were offered for it."""

    def __init__(
        self,
        passages: Sequence[PassageLike],
        reader: Reader,
        sentences: Sentences,
        limits: Limits = DEFAULT,
        question: str = "",
    ) -> None:
        self._texts: dict[str, str] = {}
        self._units: dict[str, list[tuple[int, int]]] = {}
        self._reader, self._sentences, self._limits, self._question = reader, sentences, limits, question
        self.offer(passages)
        self._room = limits.sentences
        self._referent: str | None = ""
        """What a pronoun of the next sentence stands for; None if the sentence that names it was dropped."""
        self._last: tuple[Located, ...] = ()
        """Where the sentence that passed last stands in the book."""
        self._said: set[str] = set()
        self.issues: list[Issue] = []

    def offer(self, passages: Iterable[PassageLike]) -> None:
        """Sentences to come may rest on these too; a passage that was offered before stays as it is."""
        for passage in passages:
            if passage.id not in self._texts:
                self._texts[passage.id] = passage.text
                self._units[passage.id] = units(passage.text, self._sentences)

    def check_one(self, draft: DraftSentence) -> list[Passed]:
        """What passes of one item of a draft, which may hold more than one sentence; nothing passes twice."""
        passed = []
        for sentence in self._split(draft):
            if _plain(sentence.text) in self._said:
                continue
            try:
                found = self._check(sentence)
            except _Rejected as reason:
                self.issues.append(Issue(reason.code, reason.message, sentence.text, reason.citation))
                if reason.code != "empty":  # nothing that follows refers to "No."
                    self._referent = None
                continue
            if _plain(found.text) in self._said:
                continue
            self._said |= {_plain(sentence.text), _plain(found.text)}
            passed.append(found)
            self._last = found.quotes
            self._referent = _subject(found.text) or self._referent
        return passed

    def _split(self, draft: DraftSentence) -> Iterator[DraftSentence]:
        """A statement's sentences are judged one by one; a quote and a notice stand as they are."""
        whole = draft.kind != "statement" or len(draft.text) > _LONGEST
        spans = [] if whole else marks.sentences(draft.text, self._sentences)
        if len(spans) < 2:
            yield draft
            return
        for start, end in spans:
            yield replace(draft, text=draft.text[start:end])

    def _check(self, draft: DraftSentence) -> Passed:
        if max(len(draft.text), len(draft.quote)) > _LONGEST:
            raise _Rejected("too_long", f"A sentence and its quote have {_LONGEST:,} characters at the most.")
        draft = self._only_offered(draft)
        if not re.search(r"\w", draft.text):
            raise _Rejected("empty", "The sentence is empty.")
        if draft.kind == "notice":
            if not prompts.is_notice(draft.text, self._question):
                raise _Rejected("notice", "A notice must be one of the fixed phrases.")
            return Passed(draft.text, "notice")
        if prompts.sounds_like_notice(draft.text):
            raise _Rejected("notice", "These words are said of an answer, and are no part of one.")
        if not draft.citations:
            raise _Rejected("uncited", "The sentence cites no passage that was offered.")
        passed = self._quote(draft) if draft.kind == "quote" else self._statement(draft)
        self._take_room(passed)
        return passed

    def _only_offered(self, draft: DraftSentence) -> DraftSentence:
        """The draft without ids that were not offered, in its list and in its text, where marks are never kept."""
        cited = tuple(dict.fromkeys([*draft.citations, *marks.keys(draft.text)]))
        for key in cited:
            if key not in self._texts:
                self.issues.append(Issue("unknown_id", f"No passage {key} was offered.", draft.text, key))
        text = (draft.text if draft.kind == "quote" else plain.visible(draft.text)).strip()
        if draft.kind != "quote" or not any(find(text, self._texts[key]) for key in cited if key in self._texts):
            text = marks.without(text)
        return replace(draft, text=text, citations=tuple(key for key in cited if key in self._texts))

    def _quote(self, draft: DraftSentence) -> Passed:
        """The sentence is itself the quote."""
        for key in draft.citations:
            for start, end in find(draft.text, self._texts[key]):
                if whole_sentences((start, end), self._texts[key], self._units[key]):
                    words = self._texts[key][start:end]
                    quote = Located(key, start, end, words)
                    self._must_mean_the_same(quote)
                    self._must_not_be_denied(quote)
                    return Passed(words, "quote", (quote,))
        # A part of a sentence may say what the whole does not: "it was a joke" of "some say that it was a joke".
        part = self._statement(replace(draft, quote=draft.text))
        if len(part.quotes) > 1:  # a quote with gaps: what was judged is the whole of it
            return part
        return replace(part, text=part.quotes[0].quote, kind="quote")

    def _statement(self, draft: DraftSentence) -> Passed:
        if len(re.findall(r"\w+", draft.text)) > self._limits.words:
            message = f"A sentence has {self._limits.words} words at the most, unless it quotes whole ones of the book."
            raise _Rejected("too_long", message, draft.citations[0])
        draft = replace(draft, text=plain.told(draft.text))
        if not parse(draft.text).terms:
            raise _Rejected("empty", "The sentence says nothing that could be checked.", draft.citations[0])
        located, evidence = self._evidence(draft)
        passage = "\n".join(dict.fromkeys(self._texts[quote.passage] for quote in located))
        if not is_english(passage):
            message = (
                "A sentence of one's own can be judged in English alone; whole sentences of the book may be quoted."
            )
            raise _Rejected("language", message, located[0].passage)
        if plain.has_speaker(draft.text, evidence) and not any(plain.has_speaker(one.text) for one in evidence):
            message = "It speaks of “I”, and the sentences that it rests on do not: a book's answer has no speaker."
            raise _Rejected("speaker", message, located[0].passage)
        self._must_be_plain(draft.text, passage)
        claim = self._resolved(plain.unmarked(draft.text))
        comparison = compare(claim, evidence, passage)
        try:
            support = self._by_its_words(claim, evidence, comparison, located[0].passage)
        except _Rejected:
            freely = self._freely(claim, evidence, comparison, passage)
            if freely is None:
                raise
            support = freely
        return Passed(draft.text, "statement", located, support)

    def _must_be_plain(self, text: str, passage: str) -> None:
        """Nothing is judged that may look otherwise where it is shown, and a question says nothing."""
        if mark := plain.foreign_markup(text, passage):
            raise _Rejected("markup", f"“{mark}” may hide, deny or link what it says, and is not in the passage.")
        if text.endswith("?") and "?" not in passage:
            raise _Rejected("question", "A question says nothing that the book could bear out.")

    def _freely(self, claim: str, evidence: Sequence[Evidence], comparison: Comparison, passage: str) -> float | None:
        """The support of a claim that is put too freely for rules to judge, if it is enough."""
        limits, new, objections = self._limits, len(comparison.new_words), comparison.objections
        free = new >= limits.free_words or (new > 0 and not objections)
        long = comparison.words >= limits.long_words
        codes = {objection.code for objection in objections}
        overruled = bool(codes) and not codes & OF_VALUES and (long or new > 0)
        if not free and not overruled:
            return None
        support = self._reader.strictly(claim, [passage])[0]
        if free and not unheard(claim, passage) and support >= limits.support_free:
            return support
        order = long and codes <= OF_ORDER
        needed = limits.support_long if order else limits.support_sure
        if overruled and support >= needed:
            support = min(support, self._support(claim, evidence))
            return support if support >= needed else None
        return None

    def _by_its_words(self, claim: str, evidence: Sequence[Evidence], comparison: Comparison, passage: str) -> float:
        """The support of a claim that keeps to the words of its evidence, and to which no rule objects."""
        if comparison.objections:
            first = comparison.objections[0]
            raise _Rejected(first.code, first.message, passage)
        needed = self._needed(comparison, passage)
        support = self._support(claim, evidence)
        if support < needed:
            message = f"The quoted sentences do not bear it out ({support:.2f} of {needed:.2f} needed)."
            raise _Rejected("not_supported", message, passage)
        return support

    def _support(self, claim: str, evidence: Sequence[Evidence]) -> float:
        """What the reader makes of the claim beside the sentences that it rests on."""
        said = " ".join(dict.fromkeys(text for one in evidence for text in (one.context, one.text) if text))
        return self._reader.strictly(claim, [said])[0]

    def _needed(self, comparison: Comparison, passage: str) -> float:
        new = comparison.new_words
        if not new:
            return self._limits.support_in_order if comparison.in_order else self._limits.support
        if len(new) > self._limits.new_words or len(new) > self._limits.new_share * comparison.words:
            raise _Rejected("new_words", f"The evidence does not speak of {', '.join(new)}.", passage)
        return self._limits.support_new_words

    def _evidence(self, draft: DraftSentence) -> tuple[tuple[Located, ...], list[Evidence]]:
        """Where the quote stands, and the sentences around it; of several places, the one nearest to the claim."""
        if not re.search(r"\w", draft.quote):
            raise _Rejected("no_quote", "The sentence gives no quote to rest on.", draft.citations[0])
        located: list[Located] = []
        evidence: list[Evidence] = []
        whole = "\n".join(self._texts[key] for key in draft.citations)
        for piece in pieces(draft.quote, whole):
            places = [(key, span) for key in draft.citations for span in find(piece, self._texts[key])]
            if not places:
                message = f"The quote “{piece}” is not in {', '.join(draft.citations)}."
                raise _Rejected("quote_not_found", message, draft.citations[0])
            near = [place for place in places if located and self._together(located[-1], *place)]
            if located and not near:
                raise _Rejected("stitched", "The parts of the quote stand in different paragraphs.", places[0][0])
            apart: dict[tuple[str, range], tuple[str, tuple[int, int]]] = {}
            for key, span in near or places:
                apart.setdefault((key, touched(span, self._units[key])), (key, span))
            key, span = min(apart.values(), key=lambda place: self._distance(draft.text, *place))
            located.append(Located(key, *span, self._texts[key][slice(*span)]))
            evidence += around(span, self._texts[key], self._units[key])
        if not evidence:
            raise _Rejected("no_quote", "The quote is no part of a sentence.", draft.citations[0])
        return tuple(located), list(dict.fromkeys(evidence))

    def _together(self, before: Located, key: str, span: tuple[int, int]) -> bool:
        """Whether a part of a quote stands behind the part before it, in the same paragraph."""
        return key == before.passage and span[0] >= before.end and "\n\n" not in self._texts[key][before.end : span[0]]

    def _distance(self, claim: str, key: str, span: tuple[int, int]) -> int:
        """How many words of the claim the sentences around a place do not have."""
        near = " ".join(f"{one.subject} {one.text}" for one in around(span, self._texts[key], self._units[key]))
        return len(parse(claim).words - parse(near).words)

    def _resolved(self, text: str) -> str:
        """The claim with the pronoun that it begins with replaced by what it stands for in the answer."""
        first = _PRONOUN.match(text)
        if first is None:
            return text
        if self._referent is None:
            raise _Rejected("dangling", "The sentence that it refers to was dropped.")
        return self._referent + text[first.end() :] if self._referent else text

    def _must_mean_the_same(self, quote: Located) -> None:
        """A pronoun that a quote begins with stands for the same in the book as behind what the answer has said."""
        text, spans = self._texts[quote.passage], self._units[quote.passage]
        if not self._last or not _PRONOUN.match(quote.quote):
            return
        if any(before.passage == quote.passage and not text[before.end : quote.start].strip() for before in self._last):
            return
        meant = next(around((quote.start, quote.end), text, spans)).subject
        if meant and self._referent and not parse(meant).words & parse(self._referent).words:
            message = f"It speaks of “{meant}” in the book, and would speak of “{self._referent}” here."
            raise _Rejected("dangling", message, quote.passage)

    def _must_not_be_denied(self, quote: Located) -> None:
        """An item of a list says nothing without the line above it that says "These are false:"; "Never …" does."""
        lead = lead_in(self._texts[quote.passage], quote.start)
        if _DENYING.search(lead) and not _DENYING.search(quote.quote):
            raise _Rejected("restriction", f"It is an item of a list that begins “{lead}”.", quote.passage)

    def _take_room(self, passed: Passed) -> None:
        """Count the sentence; a list or a row of a table that is quoted whole counts as one."""
        whole = passed.kind == "quote" and (_ROW.search(passed.text) or count_items(passed.text))
        count = 1 if whole else sentence_count(passed.text, self._sentences)
        if count > self._room:
            raise _Rejected("too_long", f"An answer has {self._limits.sentences} sentences at the most.")
        self._room -= count


def sentence_count(text: str, sentences: Sentences) -> int:
    """How many sentences a text counts as: lines of verse, and what a colon announces with it, are one."""
    ends = [text[start:end].rstrip("—–-")[-1:] for start, end in sentences(text)]
    return max(1, sum(end not in ",:" for end in ends))


def _plain(text: str) -> str:
    """What is the same to whoever reads it."""
    return " ".join(marks.without(text).split())


def _subject(text: str) -> str:
    subject = subject_of(text)
    return "" if not subject or subject.split()[0].lower() in PRONOUNS else subject


def check(
    draft: Iterable[DraftSentence],
    passages: Sequence[PassageLike],
    reader: Reader,
    sentences: Sentences,
    limits: Limits = DEFAULT,
    question: str = "",
) -> Gated:
    """Check a whole draft."""
    gate = Gate(passages, reader, sentences, limits, question)
    passed = [found for item in draft for found in gate.check_one(item)]
    return Gated(tuple(passed), tuple(gate.issues))
