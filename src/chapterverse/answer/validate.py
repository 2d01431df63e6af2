"""Validate: judge retrieved passages before anything is answered. The verdict binds the answer.

A passage is relevant if the reader says so; the answer is present if a relevant passage holds it with at least
the calibrated probability `answer_threshold`; every quote is an exact slice of its passage.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

from chapterverse.answer.odds import weighed
from chapterverse.errors import AstRagValidationError, InvalidQueryError
from chapterverse.protocols import Reader
from chapterverse.types import Reading

Quality = Literal["Good", "Partial", "Poor"]
Sentences = Callable[[str], Sequence[tuple[int, int]]]
"""Where the sentences of a passage begin and end, in order."""

GOOD_MEAN, POOR_MEAN = 0.6, 0.3
WORTH_A_LOOK = 0.4
"""The chance of an answer from which a passage is read again; what is refused by far is refused at once. Of 225
questions about five books, a closer look at the likeliest passage lets 78 right answers through before the second wrong
one, instead of 70; at the likeliest two 79, which takes twice as long. (Measured from 0.3 on, and with all windows.)"""
MOST_LOOKS = 2
"""The second only where the first leaves another passage likelier: one of twelve questions with an answer has it. Of
575 that long books, short ones and pages in modern prose answer, 428 instead of 417 are answered, of 520 that they
only seem to 31 instead of 30; a third look changes no more than one of them."""
DISTANT_THRESHOLD = 0.9
SELECTION_THRESHOLD = 0.5


class Passage(Protocol):
    """What can be judged: a chunk, or anything else with an id and a text."""

    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...


class Excerpt(NamedTuple):
    """A passage that comes from no index: a selection, a draft."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ValidationSettings:
    """The probabilities from which a judgement counts; the reader is calibrated, so that 0.5 is an even chance."""

    relevance_threshold: float = 0.3
    answer_threshold: float = 0.5
    evidence_threshold: float = 0.5
    """For sentences beside the one that holds the answer."""
    closer_look: bool = True
    """Whether the passage that most probably answers is read again, whole."""

    def __post_init__(self) -> None:
        for name in ("relevance_threshold", "answer_threshold", "evidence_threshold"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise AstRagValidationError(f"{name} is {value!r}; it must be a number from 0 to 1.")

    def for_distant(self) -> ValidationSettings:
        """For a question that is far from everything in its index: the reader must be all but certain."""
        return replace(self, answer_threshold=max(self.answer_threshold, DISTANT_THRESHOLD))

    def for_selection(self) -> ValidationSettings:
        """For a passage that was chosen for the question: an even chance will do, where a book offers many mistakes."""
        return replace(self, answer_threshold=min(self.answer_threshold, SELECTION_THRESHOLD))


@dataclass(frozen=True, slots=True)
class RelevantChunk:
    """One passage's judgement; `summary` is its most relevant sentence, word for word."""

    chunk_id: str
    relevance_score: float
    is_relevant: bool
    summary: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that answers the question, as it stands in its passage, and the sentences around it."""

    chunk_id: str
    quote: str
    sentence_index: int
    context_before: str
    context_after: str


@dataclass(frozen=True, slots=True)
class Validation:
    """The verdict. `readings` are what it rests on, in the order of the passages, so that nobody reads them twice."""

    relevant_chunks: tuple[RelevantChunk, ...]
    answer_present: bool
    evidence: tuple[Evidence, ...]
    retrieval_quality: Quality
    quality_reasoning: str
    processing_time_ms: float = field(compare=False)
    readings: tuple[Reading, ...] = field(repr=False)

    @property
    def answerable(self) -> float:
        """The best chance that a passage holds the answer: `answer_threshold` is held against it."""
        return max((reading.answerable for reading in self.readings), default=0.0)

    def as_dict(self) -> dict[str, Any]:
        """The contract's dictionary."""
        return {
            "relevant_chunks": [asdict(chunk) for chunk in self.relevant_chunks],
            "answer_present": self.answer_present,
            "evidence": [asdict(quote) for quote in self.evidence],
            "retrieval_quality": self.retrieval_quality,
            "quality_reasoning": self.quality_reasoning,
            "processing_time_ms": self.processing_time_ms,
        }


DEFAULTS = ValidationSettings()


def validate_retrieval(
    query: str,
    chunks: Sequence[Passage],
    relevance_threshold: float | None = None,
    *,
    reader: Reader,
    sentences: Sentences,
    settings: ValidationSettings = DEFAULTS,
) -> Validation:
    """Judge passages for a question; a `relevance_threshold` given here goes before the one in `settings`."""
    began = time.perf_counter()
    if relevance_threshold is not None:
        settings = replace(settings, relevance_threshold=relevance_threshold)
    _check(query, chunks)
    readings = _read(query, [chunk.text for chunk in chunks], reader, settings.closer_look)
    pages = [_Page(chunk, sentences(chunk.text), reading) for chunk, reading in zip(chunks, readings, strict=True)]
    relevant = [page for page in pages if page.reading.relevance >= settings.relevance_threshold]
    answering = [page for page in relevant if page.reading.answerable >= settings.answer_threshold]
    answering.sort(key=lambda page: -page.reading.answerable)
    evidence = tuple(quote for page in answering for quote in page.evidence(settings.evidence_threshold))
    quality, reasoning = _grade([page.reading.relevance for page in relevant], len(pages), bool(evidence))
    return Validation(
        relevant_chunks=tuple(page.judgement(query, settings.relevance_threshold) for page in pages),
        answer_present=bool(evidence),
        evidence=evidence,
        retrieval_quality=quality,
        quality_reasoning=reasoning,
        processing_time_ms=round((time.perf_counter() - began) * 1000, 3),
        readings=tuple(readings),
    )


def _read(query: str, texts: Sequence[str], reader: Reader, closer_look: bool) -> list[Reading]:
    """Every passage at a glance; the likeliest, where an answer is likely at all, once more and whole.

    One that is less likely then may leave another the likeliest, which is looked at in its turn.
    """
    seen, looked = list(reader.read(query, texts)), dict[int, float]()
    while True:
        readings = weighed(query, texts, seen)
        place = max(range(len(readings)), key=lambda n: readings[n].answerable, default=0)
        if not closer_look or len(texts) < 2 or place in looked or readings[place].answerable < WORTH_A_LOOK:
            return readings
        if len(looked) == MOST_LOOKS:
            break
        [seen[place]] = reader.read(query, [texts[place]], whole=True)
        looked[place] = seen[place].answerable
    # What was not looked at cannot be more likely than what was.
    surest = max(looked.values())
    seen = [one if n in looked else replace(one, answerable=min(one.answerable, surest)) for n, one in enumerate(seen)]
    return weighed(query, texts, seen)


def _check(query: str, chunks: Sequence[Passage]) -> None:
    if not query.strip():
        raise InvalidQueryError("The question is empty; validation needs one to judge passages by.")
    repeated = sorted(chunk_id for chunk_id, count in Counter(chunk.id for chunk in chunks).items() if count > 1)
    if repeated:
        raise AstRagValidationError(
            f"Each chunk can be judged once; {', '.join(repeated)} came more often.", details={"chunk_ids": repeated}
        )


def _grade(scores: Sequence[float], total: int, answered: bool) -> tuple[Quality, str]:
    """The label and its reason; the mean is over the relevant passages."""
    if not scores:
        return "Poor", f"None of the {total} passages is relevant." if total else "There are no passages to judge."
    mean = sum(scores) / len(scores)
    quality: Quality = "Partial"
    if mean < POOR_MEAN:
        quality = "Poor"
    elif len(scores) >= 2 and answered and mean >= GOOD_MEAN:
        quality = "Good"
    relevant = f"{len(scores)} of {total} passages {'is' if len(scores) == 1 else 'are'} relevant"
    answer = "the answer is in them" if answered else "none of them holds the answer"
    return quality, f"{relevant}, with a mean relevance of {mean:.2f}, and {answer}."


@dataclass(frozen=True, slots=True)
class _Page:
    """A passage with its sentences and its reading."""

    chunk: Passage
    sentences: Sequence[tuple[int, int]]
    reading: Reading

    def judgement(self, query: str, threshold: float) -> RelevantChunk:
        score = self.reading.relevance
        return RelevantChunk(self.chunk.id, score, score >= threshold, self._summary(query))

    def _summary(self, query: str) -> str:
        """The sentence that bears most on the question; by shared words where the reader read no further."""
        if self.reading.evidence:
            best = self.reading.evidence[0]
            return self._quote(*self._covering(best.start, best.end))
        asked = _words(query)
        quotes = [self.chunk.text[start:end] for start, end in self.sentences]
        return max(quotes, key=lambda quote: len(asked & _words(quote)), default="")

    def evidence(self, threshold: float) -> list[Evidence]:
        """The sentence of the best answer span, then others whose own evidence is strong."""
        strong = [(s.start, s.end) for s in self.reading.evidence if s.score >= threshold]
        best = [(s.start, s.end) for s in self.reading.spans[:1]] or [
            (s.start, s.end) for s in self.reading.evidence[:1]
        ]
        ranges = [self._covering(start, end) for start, end in best + strong]
        kept: list[tuple[int, int]] = []
        for first, last in ranges:
            if first <= last and all(last < other[0] or first > other[1] for other in kept):
                kept.append((first, last))
        return [
            Evidence(
                chunk_id=self.chunk.id,
                quote=self._quote(first, last),
                sentence_index=first,
                context_before=self._quote(first - 1, first - 1),
                context_after=self._quote(last + 1, last + 1),
            )
            for first, last in kept
        ]

    def _covering(self, start: int, end: int) -> tuple[int, int]:
        """First and last of the sentences that these characters touch; an empty range if they touch none."""
        touched = [n for n, (first, last) in enumerate(self.sentences) if first < end and last > start]
        return (touched[0], touched[-1]) if touched else (0, -1)

    def _quote(self, first: int, last: int) -> str:
        if not 0 <= first <= last < len(self.sentences):
            return ""
        return self.chunk.text[self.sentences[first][0] : self.sentences[last][1]]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
