"""Conflicts: two confident answers to one question that cannot both be true, reported with both their places.

Answers are compared as what they are: quantities, dates, names, or a yes against a no. What agrees in other words, what
speaks of something else, and what merely adds to the other is no conflict. The reader says which passages answer the
question at all, and whether different words mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, Literal

from chapterverse.answer.claims import CLAUSES, Claim, Statement, counted, overlap, same_subject, stems
from chapterverse.answer.facts import names, negations, without_negative_prefix
from chapterverse.answer.layout import lay_out
from chapterverse.answer.odds import weighed
from chapterverse.answer.questions import asks_for_list
from chapterverse.answer.validate import Passage, Sentences
from chapterverse.answer.values import Moment, agree, values
from chapterverse.answer.wording import FUNCTION_WORDS, opposite, stem
from chapterverse.protocols import Reader
from chapterverse.types import AnswerSpan, Reading

Kind = Literal["number", "date", "name", "polarity"]


@dataclass(frozen=True, slots=True)
class ConflictSettings:
    """When an answer is confident enough to contradict another, and when other words say the same."""

    answer_threshold: float = 0.65
    """As sure as an answer must be: a wrong one beside a right one looks like a contradiction."""
    spoken_of: float = 0.5
    """The share of the question's words that each answer's paragraph must have: both are to speak of the same thing. Of
    600 questions about 1,260 unconnected pages, 28 were answered with a contradiction without this and from 0.5 on, and
    one or two of these were any; now 3 are."""
    name_threshold: float = 0.8
    """For names: values and dates are compared exactly, while another name is often one that merely stands near."""
    same_support: float = 0.5
    denial_support: float = 0.7
    """As `same_support`, where one answer is worded as a denial: small words count there. The lowest at which each of
    26 contradictions is still reported; one of 22 agreements kept apart showed that 0.8 had become too high."""
    pairs: int = 12
    """How many pairs of answers are compared, the most confident first."""


DEFAULTS = ConflictSettings()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements that cannot both answer the question."""

    kind: Kind
    first: Statement
    second: Statement

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def find_conflicts(
    question: str,
    passages: Sequence[Passage],
    *,
    reader: Reader,
    sentences: Sentences,
    readings: Sequence[Reading] | None = None,
    settings: ConflictSettings = DEFAULTS,
) -> list[Conflict]:
    """The contradictions among what passages answer; `readings` saves reading again what validation has read."""
    if readings is None:
        texts = [passage.text for passage in passages]
        readings = weighed(question, texts, reader.read(question, texts))
    claims = _claims(question, passages, readings, reader, sentences, settings)
    found: list[Conflict] = []
    for first, second in list(combinations(claims, 2))[: settings.pairs]:
        kind = _difference(question, first, second)
        if kind is None or not same_subject(question, first, second):
            continue
        if kind == "name" and min(first.chance, second.chance) < settings.name_threshold:
            continue
        # Values are compared exactly; other words may differ and still mean the same ("not covered", "excluded").
        enough = {"name": settings.same_support, "polarity": settings.denial_support}.get(kind)
        if enough is not None and _same_in_other_words(first, second, reader, enough):
            continue
        found.append(Conflict(kind, first.statement, second.statement))
    # Where the surest answer stands unopposed, it is the answer, whatever others say of each other.
    surest = next((claim.statement for claim in claims if not claim.denied), None)
    opposed = surest is None or any(surest in (conflict.first, conflict.second) for conflict in found)
    return found if opposed else []


def _claims(
    question: str,
    passages: Sequence[Passage],
    readings: Sequence[Reading],
    reader: Reader,
    sentences: Sentences,
    settings: ConflictSettings,
) -> list[Claim]:
    """The best answer of each confident passage, and other answers in it whose sentence is confident by itself."""
    named = [name.words for name in names(question)]
    sure: list[Claim] = []
    maybe: list[Claim] = []
    for passage, reading in zip(passages, readings, strict=True):
        if reading.answerable < settings.answer_threshold:
            continue
        sheet = lay_out(passage.text, sentences(passage.text))
        for number, span in enumerate(_side_by_side(reading.spans, passage.text)):
            if _spoken_of(question, sheet.paragraph(span.start)) < settings.spoken_of:
                continue
            for start, end in sheet.sentences:
                if start <= span.start < end and _can_contradict(passage.text[start:end], named):
                    stop = min(span.end, end)
                    answer = passage.text[span.start : stop]
                    statement = Statement(passage.id, passage.text[start:end], answer, span.start, stop)
                    claim = Claim(statement, span.start - start, stop - start, reading.answerable)
                    if number == 0:
                        sure.append(claim)
                    elif _to_the_point(question, claim.quote) and all(claim.quote != one.quote for one in sure):
                        maybe.append(claim)
    alone = reader.read(question, [claim.quote for claim in maybe]) if maybe else []
    for claim, reading in zip(maybe, alone, strict=True):
        if reading.answerable >= settings.answer_threshold:
            sure.append(replace(claim, chance=reading.answerable))
    best: dict[str, Claim] = {}
    for claim in sorted(sure, key=lambda claim: -claim.chance):
        best.setdefault(claim.quote, claim)  # chunks overlap: a sentence may come twice
    return list(best.values())


def _spoken_of(question: str, paragraph: str) -> float:
    """The share of the question's words that a paragraph has."""
    asked = stems(question)
    return len(overlap(asked, stems(paragraph))) / len(asked) if asked else 1.0


def _to_the_point(question: str, sentence: str) -> bool:
    """Whether a sentence shares a word with the question, or opens with a word for what was spoken of before."""
    return bool(_PRONOUN.match(sentence) or overlap(stems(question), stems(sentence)))


def _side_by_side(spans: Sequence[AnswerSpan], text: str) -> list[AnswerSpan]:
    """The answers, the first together with those that stand beside it ("Vienna", "in a steel box") and are as good."""
    if not spans:
        return []
    best, *others = spans
    apart = []
    for span in others:
        left, right = sorted((best, span), key=lambda one: one.start)
        if span.score >= _AS_GOOD * best.score and not re.search(r"\w", text[left.end : right.start]):
            best = replace(best, start=left.start, end=right.end)
        else:
            apart.append(span)
    return [best, *apart]


def _can_contradict(sentence: str, named: Sequence[tuple[str, ...]]) -> bool:
    """Whether a sentence speaks for itself: the row of a table does not, nor one about somebody else."""
    told = sentence.lower()
    return _CELLS not in sentence and all(any(word in told for word in name) for name in named)


_CELLS = " | "
_PRONOUN = re.compile(r"\W*(?:it|its|he|his|she|her|they|their|this|that|these|those)\b", re.IGNORECASE)
_POLAR = re.compile(
    r"(?:is|are|was|were|do|does|did|can|could|may|might|must|should|will|would|has|have|had|shall)\b", re.IGNORECASE
)
_AS_GOOD = 0.25
_SHORT = 4
"""Words. A longer answer explains, and explanations can stand side by side."""
_OPEN = re.compile(r"\b(?:what|which)\b", re.IGNORECASE)
_MEANS = re.compile(r"\b(?:do|does|can|could|should|may|might|must)\s+(?:i|you|we|one|they)\b", re.IGNORECASE)
"""Asks how something is done, and more than one way may lead there."""
_ADDITIVE = re.compile(
    r"\b(?:also|too|another|others?|among|includ\w+|besides|as well|both|additional\w*|further|one of|in addition)\b",
    re.IGNORECASE,
)


def _difference(question: str, first: Claim, second: Claim) -> Kind | None:
    """How the answers differ, if they cannot both be true as far as words tell."""
    if _POLAR.match(question):  # a yes and a yes agree, whatever words the reader picked
        return "polarity" if _opposed(question, first.quote, second.quote) else None
    if first.denied or second.denied:  # to deny one answer contradicts that one, and no other
        alike = stems(first.answer) & stems(second.answer)
        return "polarity" if alike and _opposed(question, first.quote, second.quote) else None
    if _opposed(question, first.quote, second.quote):
        return "polarity"
    mine, yours = first.answered(), second.answered()
    if mine and yours:
        return _value_difference(question, first, second)
    if mine or yours or _adds(question, first, second):
        return None
    return "name" if _different_words(question, first, second) else None


def _value_difference(question: str, first: Claim, second: Claim) -> Kind | None:
    """Values differ if some can be compared and none of them agree, neither with any other value of the sentence."""
    pairs = [(a, b) for a in first.answered() for b in second.answered() if counted(question, first, a, second, b)]
    compared = [(a, b, verdict) for a, b in pairs if (verdict := agree(a, b)) is not None]
    elsewhere = [agree(a, b) for a in first.answered() for b in values(second.quote)]
    elsewhere += [agree(a, b) for a in values(first.quote) for b in second.answered()]
    if not compared or any(verdict for *_, verdict in compared) or any(elsewhere):
        return None
    return "date" if any(isinstance(a, Moment) and isinstance(b, Moment) for a, b, _ in compared) else "number"


def _adds(question: str, first: Claim, second: Claim) -> bool:
    """Whether the answers may stand side by side: the question asks for several, or a sentence says that there are."""
    if asks_for_list(question) or _MEANS.search(question):
        return True
    if _ADDITIVE.search(first.quote) or _ADDITIVE.search(second.quote):
        return True
    if max(len(claim.core.split()) for claim in (first, second)) > _SHORT:
        return True
    asked = _OPEN.search(question)
    if not asked:
        return not (names(first.answer) and names(second.answer))
    following = re.findall(r"[^\W\d_]+", question[asked.end() :].lower())
    if following[:2] in (["is", "the"], ["was", "the"]):
        return False
    return not following or following[0] in FUNCTION_WORDS or following[0].endswith("s")


def _different_words(question: str, first: Claim, second: Claim) -> bool:
    """Whether the answers share no word that the question does not have, even with the rest of the other's sentence."""
    asked = stems(question)
    mine, yours = stems(first.answer) - asked, stems(second.answer) - asked
    if not mine or not yours:
        return False
    return not (overlap(mine, stems(second.quote)) or overlap(yours, stems(first.quote)))


def _opposed(question: str, first: str, second: str) -> bool:
    """Whether one sentence denies what the other affirms, in the clauses that speak of what the question asks."""
    asked = stems(question)
    mine, yours = _clause(first, asked), _clause(second, asked)
    here, there = stems(mine), stems(yours)
    if _POLAR.match(question):
        same_thing = all(3 * len(overlap(asked, told)) >= 2 * len(asked) for told in (here, there))
        turned = any(opposite(a, b) for a in here - there for b in there - here)
    else:  # an answer that is the other one denied, word for word; opposites may be two answers
        same_thing = 4 * len(overlap(here, there)) >= 3 * max(len(here), len(there))
        turned = False
    context = here | there | asked
    return same_thing and (_affirms(mine, context) == _affirms(yours, context)) == turned


def _clause(sentence: str, asked: set[str]) -> str:
    """The clause that shares most with the question, the first of equals."""
    return max(CLAUSES.split(sentence), key=lambda clause: len(overlap(asked, stems(clause))))


def _affirms(clause: str, context: set[str]) -> bool:
    """Whether it denies nothing, or an even number of times; "unsafe" denies where the context speaks of "safe"."""
    words = (without_negative_prefix(word) for word in re.findall(r"[^\W\d_]+", clause.lower()))
    prefixed = sum(1 for word in words if word and stem(word) in context)
    return (len(negations(clause)) + prefixed) % 2 == 0


def _same_in_other_words(first: Claim, second: Claim, reader: Reader, threshold: float) -> bool:
    """Whether each sentence bears out the other."""
    return all(
        reader.strictly(one.quote, [other.quote])[0] >= threshold for one, other in ((first, second), (second, first))
    )
