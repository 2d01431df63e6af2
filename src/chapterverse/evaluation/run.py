"""Running a question set: every question is asked as a user would ask it, and what came of it is kept as plain data."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from chapterverse.answer.cite import describe
from chapterverse.answer.evidence import find
from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.validate import ValidationSettings
from chapterverse.errors import AstRagAuthError, AstRagError, AstRagValidationError
from chapterverse.evaluation.questions import Question
from chapterverse.evaluation.support import Lookup, Verdict, check
from chapterverse.library import Generation, Library
from chapterverse.library.parts import reader_name, validation_for
from chapterverse.providers.generation import resolve
from chapterverse.types import Answer, Document, Reason, SentenceKind, Status

SCHEMA = 1
DEPTH = 10
"""How many passages of a ranking count."""
PATIENCE = 60.0
"""Seconds that an answer may take while it is measured: what is slow shall be seen to be slow, not cut off."""
BOLD = ValidationSettings(answer_threshold=0.0)
"""Answers whatever it can: what a lower threshold would have said."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Span(_Record):
    """Characters of a document, or of the selection where there is no file."""

    file_id: str | None
    start: int
    end: int

    def meets(self, other: Span) -> bool:
        """Whether half of the shorter one lies in the other."""
        shared = min(self.end, other.end) - max(self.start, other.start)
        return self.file_id == other.file_id and 2 * shared >= min(self.end - self.start, other.end - other.start) > 0


class Gold(Span):
    """A place where the answer stands."""

    of: int | None = None
    """Which of the question's quotes, or of its sections, it is a place of: one may stand in several."""


class Quoted(Span):
    """A citation."""

    quote: str
    place: str


class Said(_Record):
    """A sentence of an answer, with the numbers of its citations, and what the independent check says of it."""

    text: str
    kind: SentenceKind
    citations: list[int]
    verdict: Verdict


class Outcome(_Record):
    """What was answered, and what that took."""

    status: Status
    reason: Reason | None
    text: str
    confidence: float
    answerable: float
    sentences: list[Said]
    citations: list[Quoted]
    passages: list[str]
    """What was offered; of a refusal, the nearest passages."""
    seconds: float
    stages: dict[str, float]
    tokens: int
    """Of embedding and generation, where somebody counts them."""
    dollars: float | None

    @property
    def refused(self) -> bool:
        return self.status in ("refused", "needs_clarification")


class Rating(_Record):
    """What people say of an answer, in the mean."""

    raters: int
    accurate: float | None
    """The share of them who call it accurate and relevant."""
    clarity: float | None
    """1 to 5 points."""


class Case(_Record):
    """One question: what should have been, and what was."""

    question: Question
    gold: list[Gold]
    """Where the answer stands; a question's quotes that are not in the book have no place."""
    rank: int | None
    """Of the first passage that search finds at one of those places."""
    outcome: Outcome | None
    error: str = ""
    """Why there is no outcome."""
    bolder: Outcome | None = None
    """What would have been answered without a threshold, where the threshold refused."""
    stricter: list[Outcome] = []
    """What would have been answered from higher thresholds, each up to its own chance: paragraphs are read then."""
    rating: Rating | None = None
    """Of the outcome, where people have rated it."""

    @property
    def lost(self) -> list[str]:
        """The quotes, or where there are none the sections, that are not in the book or the selection."""
        asked, found = self.question, {one.of for one in self.gold}
        named = asked.quotes or (asked.section if asked.kind == "answerable" else [])
        if None in found:  # kept by an earlier version, which did not tell them apart
            return []
        return [name for n, name in enumerate(named) if n not in found]


class Run(_Record):
    """Everything that came of a question set, and of what it was made."""

    schema_version: int = SCHEMA
    about: dict[str, Any]
    threshold: float
    """The probability from which the index was answered from."""
    cases: list[Case]


def run(
    library: Library,
    questions: Sequence[Question],
    index: str | None = None,
    model: str = "local",
    *,
    curve: bool = True,
    calibrated: bool = True,
    progress: Callable[[Question], None] | None = None,
) -> Run:
    """Ask every question, one after the other.

    With `curve`, what the threshold refuses is asked again without it, and what is answered with one that it does not
    reach. Without `calibrated` the reader's own threshold counts, whatever is stored with the index. A model that is
    unknown, or whose key is missing or refused, is an error at once: no question could be asked.
    """
    resolve(model)
    validation = None if calibrated else validation_for(library.reader)
    runner = _Runner(library, index, Generation(model=model, seconds=PATIENCE), curve, validation)
    cases = []
    for question in questions:
        cases.append(runner.case(question))
        if progress is not None:
            progress(question)
    record = library.record(index)
    threshold = validation_for(library.reader, record.calibration).answer_threshold
    return Run(about=_about(library, index, model), threshold=threshold, cases=cases)


class _Runner:
    def __init__(
        self,
        library: Library,
        index: str | None,
        generation: Generation,
        curve: bool,
        validation: ValidationSettings | None,
    ) -> None:
        self._library, self._index, self._generation, self._curve = library, index, generation, curve
        self._validation = validation
        inspection = library.inspect(index)
        self._settings = Retrieval(**{**inspection.record.retrieval_defaults, "top_k": DEPTH})
        self._files = [source.file_id for source in inspection.sources]
        self._document: Lookup = cache(lambda file_id: library.document(file_id, index))

    def case(self, question: Question) -> Case:
        gold = list(self._places(question))
        rank = None
        try:
            rank = self._rank(question, gold) if gold and question.selection is None else None
            outcome = self._ask(question, self._validation)
            bold = self._curve and outcome.reason == "answer_absent"
            bolder = self._ask(question, BOLD) if bold else None
            stricter = list(self._stricter(question, outcome)) if self._curve and question.selection is None else []
        except AstRagAuthError:
            raise
        except AstRagError as error:
            return Case(question=question, gold=gold, rank=rank, outcome=None, error=error.message)
        return Case(question=question, gold=gold, rank=rank, outcome=outcome, bolder=bolder, stricter=stricter)

    def _stricter(self, question: Question, said: Outcome) -> Iterable[Outcome]:
        """What comes in place of an answer that a higher threshold refuses: what stands in a single paragraph."""
        while not said.refused and said.answerable < 1:
            above = math.nextafter(said.answerable, 1)
            again = self._ask(question, ValidationSettings(answer_threshold=above))
            if again.refused:
                return
            if again.answerable < above:  # a rule answers, and asks for no threshold
                again = again.model_copy(update={"answerable": 1.0})
            yield again
            said = again

    def _ask(self, question: Question, validation: ValidationSettings | None = None) -> Outcome:
        began = time.perf_counter()
        answer = self._library.ask(
            question.question,
            selection=question.selection,
            index=self._index if question.selection is None else None,
            generation=self._generation,
            validation=validation,
        )
        return outcome(answer, time.perf_counter() - began, self._document, question.selection)

    def _places(self, question: Question) -> Iterable[Gold]:
        """Where a question's quotes stand in the books; without quotes, its sections."""
        if question.selection is not None:
            yield from _found(question.quotes, None, question.selection)
            return
        for file_id in self._files if question.has_answer else ():
            document = self._document(file_id)
            if question.quotes:
                yield from _found(question.quotes, file_id, document.text)
            else:
                yield from _sections(question.section, document)

    def _rank(self, question: Question, gold: Sequence[Span]) -> int | None:
        found = self._library.search(question.question, index=self._index, settings=self._settings).found
        chunks = (one.entry.chunk for one in found)
        spans = (Span(file_id=chunk.file_id, start=chunk.start, end=chunk.end) for chunk in chunks)
        return next((n for n, span in enumerate(spans, 1) if any(span.meets(one) for one in gold)), None)


def _found(quotes: Sequence[str], file_id: str | None, text: str) -> Iterable[Gold]:
    for n, quote in enumerate(quotes):
        for start, end in find(quote, text):
            yield Gold(file_id=file_id, start=start, end=end, of=n)


def _sections(names: Sequence[str], document: Document) -> Iterable[Gold]:
    """Where a heading stands over several sections, each of them is a place of its own."""
    for n, name in enumerate(names):
        under = [name in block.headings for block in document.blocks]
        for inside, pairs in groupby(zip(under, document.blocks, strict=True), key=itemgetter(0)):
            if inside:
                blocks = [block for _, block in pairs]
                yield Gold(file_id=document.file_id, start=blocks[0].start, end=blocks[-1].end, of=n)


def outcome(answer: Answer, seconds: float, lookup: Lookup, selection: str | None = None) -> Outcome:
    """An answer as plain data, every sentence of it checked."""
    verdicts = check(answer, lookup, selection)
    embedding, generation = (answer.usage.get(part, {}) for part in ("embedding", "generation"))
    return Outcome(
        status=answer.status,
        reason=answer.reason,
        text=answer.text,
        confidence=answer.confidence,
        answerable=answer.answerable,
        sentences=[
            Said(text=said.text, kind=said.kind, citations=list(said.citations), verdict=verdict)
            for said, verdict in zip(answer.sentences, verdicts, strict=True)
        ]
        if answer.sentences
        else [Said(text=answer.text, kind="notice", citations=[], verdict=verdicts[0])],
        citations=[
            Quoted(file_id=one.file_id, start=one.start, end=one.end, quote=one.quote, place=describe(one))
            for one in answer.citations
        ],
        passages=[passage.text for passage in answer.passages],
        seconds=seconds,
        stages=dict(answer.timings),
        tokens=sum(value for part in (embedding, generation) for name, value in part.items() if "tokens" in name),
        dollars=embedding.get("cost", 0.0) if not generation.get("input_tokens") else None,
    )


def _about(library: Library, index: str | None, model: str) -> dict[str, Any]:
    record = library.record(index)
    return {
        "index": record.id,
        "name": record.name,
        "files": len(library.inspect(index).sources),
        "embedding": f"{record.embedding.provider}:{record.embedding.model}",
        "model": model,
        "reader": reader_name(library.reader),
        "calibrated": bool(record.calibration),
        "chapterverse": version("chapterverse"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def save(path: Path, measured: Run) -> None:
    """Write a run as JSON."""
    path.write_text(measured.model_dump_json(indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Run:
    """Read a run; raises `AstRagValidationError` if the file is none."""
    try:
        return Run.model_validate_json(path.read_bytes())
    except OSError as error:
        raise AstRagValidationError(f"The run in {path} cannot be read: {error.strerror}.", cause=error) from error
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(str(part) for part in fault["loc"]) or fault["msg"]
        message = f"{path} is not a run that `chapterverse eval --json` of this version has written (see {field})."
        raise AstRagValidationError(message, cause=error) from error
