"""What is read out of passages, drafted, cited and answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chapterverse.types.documents import Place
from chapterverse.types.index import Entry


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Characters of a passage, and how strongly they are meant, from 0 to 1."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What one passage says to a question."""

    relevance: float
    """How much the passage bears on the question, answered or not."""
    answerable: float
    """Calibrated probability that the passage holds the answer."""
    spans: tuple[AnswerSpan, ...] = ()
    """Where the answer is, best first; empty where the passage was not worth reading to its end."""
    evidence: tuple[AnswerSpan, ...] = ()
    """The sentences that bear on the question, best first."""
    cited: tuple[AnswerSpan, ...] = ()
    """The part of the evidence to quote: the sentence of the best span, and what is likely to answer beside it."""


@dataclass(frozen=True, slots=True)
class Support:
    """How far one passage bears out a claim, and the sentence that says so best."""

    probability: float
    """That someone who looks the claim up in the passage would say it is there; small additions are forgiven."""
    start: int
    end: int


SentenceKind = Literal["quote", "statement", "notice"]
"""The book's own words; a model's words that the book bears out; one of our fixed phrases."""

Status = Literal["ok", "partial", "conflict", "refused", "needs_clarification"]

Reason = Literal[
    "empty_question",
    "out_of_scope",
    "no_matches",
    "below_threshold",
    "answer_absent",
    "not_supported",
    "selection_lacks_answer",
]
"""Why nothing was answered."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What an answer may rest on, under the id it is offered by (`S1`…): a slice of a document, or a selection."""

    id: str
    text: str
    start: int = 0
    """Where the text begins in its document; 0 for a selection."""
    entry: Entry | None = None
    """The indexed chunk it was found by; None for a selection."""
    vector_score: float | None = None
    lexical_score: float | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence as a generator wrote it, with the passages it cites and the words in them that it rests on."""

    text: str
    citations: tuple[str, ...] = ()
    quote: str = ""
    kind: SentenceKind = "statement"


@dataclass(frozen=True, slots=True)
class Citation:
    """Chapter and verse of one quote, with everything that is needed to check it again."""

    id: str
    chunk_id: str | None
    quote: str
    start: int
    """Offsets of the quote in the document's text, or in the selection."""
    end: int
    snippet: str
    """The passage around the quote."""
    place: Place
    title: str | None = None
    file_id: str | None = None
    file_name: str | None = None
    mime_type: str | None = None
    source_url: str | None = None
    sha256: str | None = None
    """Of the document's bytes; of the selection's text for a selection."""
    score: float = 0.0
    vector_score: float | None = None
    lexical_score: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that passed the gate; `citations` are indexes into the answer's citations."""

    text: str
    kind: SentenceKind
    citations: tuple[int, ...] = ()
    support: float = 1.0
    """The reader's calibrated probability that its evidence bears it out."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A sentence that did not pass the gate, and why; or, without a sentence, why there was nothing to look at."""

    code: str
    message: str
    sentence: str = ""
    citation: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said to a question, and on what grounds. A refusal is an answer without citations."""

    question: str
    text: str
    status: Status
    reason: Reason | None
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    """What was offered; of a refusal, the nearest passages, which do not answer."""
    confidence: float
    retrieval_quality: Literal["Good", "Partial", "Poor"]
    timestamp: str
    issues: tuple[Issue, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each stage."""
    answerable: float = 0.0
    """The calibrated probability, of a refusal too, that what was found holds the answer; the threshold is for this.
    It is 1 where there is no answer to look for: a theme, the meaning of a selection."""
    answer_threshold: float = 0.0
    """From where `answerable` was enough for this question."""


StageName = Literal["retrieve", "validate", "conflicts", "draft", "gate", "cite"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of the path of a question begins."""

    name: StageName


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence that has passed the gate, as it will stand in the answer, with the citations that it points to."""

    sentence: AnswerSentence
    citations: tuple[Citation, ...] = ()


AnswerEvent = Stage | Spoken | Answer
"""What happens to a question; the whole answer comes last."""
