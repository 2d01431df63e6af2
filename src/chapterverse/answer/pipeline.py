"""The path of a question: topic gate, retrieve, validate, draft, gate, cite: each is one step, taken in this order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol, TypeVar

from chapterverse.answer.cite import cite
from chapterverse.answer.conflicts import Conflict, find_conflicts
from chapterverse.answer.gate import DEFAULT, PLAIN, Gated, check
from chapterverse.answer.prompts import CONFLICT, CONFLICT_SELECTION, NOT_IN_BOOK, NOT_IN_SELECTION, NOTICES
from chapterverse.answer.questions import asks_for_list, asks_for_theme, parts, points_at_text
from chapterverse.answer.retrieve import Found
from chapterverse.answer.topic import Verdict
from chapterverse.answer.validate import DEFAULTS, Quality, Validation, ValidationSettings, validate_retrieval
from chapterverse.protocols import Reader
from chapterverse.types import Answer, Document, DraftSentence, Entry, Issue, Passage, Reading, Reason, Status, Support

T = TypeVar("T")

Sentences = Callable[[str], Sequence[tuple[int, int]]]
_LONGEST_PASSAGE = 2600
_THEME_PASSAGES = 12
_NEAREST = 3
"""How many passages a refusal shows as related."""


class Book(Protocol):
    """What a question needs of an index, within its scope."""

    async def about(self, question: str) -> Verdict:
        """Whether the question can be about the book at all; no search is made for this."""
        ...

    async def find(self, query: str) -> tuple[list[Found], Reason | None]:
        """Candidates, best first; without any, why."""
        ...

    async def chunks(self, limit: int) -> list[Entry]:
        """The scope itself, in reading order, thinned to `limit` chunks."""
        ...

    async def document(self, entry: Entry) -> Document:
        """The whole document that an entry is from."""
        ...


class Drafter(Protocol):
    """The agent: writes a draft from passages, and may search again where it is allowed to."""

    async def __call__(
        self,
        question: str,
        passages: Sequence[Passage],
        *,
        reader: Reader,
        search: Callable[[str], Awaitable[list[Passage]]] | None,
        deadline: float,
    ) -> tuple[Sequence[DraftSentence], Sequence[Passage], dict[str, Any]]: ...


@dataclass(frozen=True)
class Mind:
    """What judges and writes: the reader, the splitter of sentences, and the agent."""

    reader: Reader
    sentences: Sentences
    draft: Drafter
    validation: ValidationSettings = DEFAULTS
    seconds: float = 5.0
    """How long an answer may take."""
    executor: Executor | None = None


async def ask(question: str, mind: Mind, book: Book | None = None, selection: str | None = None) -> Answer:
    """Answer from a book, or from a selection alone: then no book is needed, and none is touched."""
    return await _Ask(question, replace(mind, reader=_Once(mind.reader)), book, selection).run()


@dataclass
class _Ask:
    """One question on its way."""

    question: str
    mind: Mind
    book: Book | None
    selection: str | None
    passages: list[Passage] = field(default_factory=list)
    quality: Quality = "Poor"
    timings: dict[str, float] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)

    async def run(self) -> Answer:
        deadline = asyncio.get_running_loop().time() + self.mind.seconds
        reason = await self._timed("retrieve", self._collect())
        if reason is not None:
            return self._refusal(reason)
        verdicts = await self._timed("validate", self._validate())
        if not self._may_answer(verdicts):
            return self._refusal("answer_absent" if self.selection is None else "selection_lacks_answer")
        conflicts = await self._timed("conflicts", self._conflicts(verdicts))
        draft = self._both_sides(conflicts) if conflicts else await self._timed("draft", self._draft(deadline))
        gated = await self._timed("gate", self._gate(draft))
        if all(sentence.kind == "notice" for sentence in gated.sentences):
            return self._refusal("not_supported", gated.issues)
        return await self._timed("cite", self._cite(gated, conflicts, verdicts))

    async def _collect(self) -> Reason | None:
        """What the answer may rest on; without any, why."""
        if self.selection is not None:
            self.passages = [Passage("S1", self.selection)]
            return None
        assert self.book is not None
        if (await self.book.about(self.question)).decision == "out_of_scope":
            return "out_of_scope"
        if asks_for_theme(self.question):
            entries = await self.book.chunks(_THEME_PASSAGES)
            self.passages = [_whole(entry, f"S{n}") for n, entry in enumerate(entries, 1)]
            return None if entries else "no_matches"
        found, reason = await self.book.find(self.question)
        self.passages = await self._joined(found, 1)
        return None if found else reason or "no_matches"

    async def _joined(self, found: Sequence[Found], first: int) -> list[Passage]:
        """Candidates as passages, best first; neighbours are one passage, exactly as their document has it."""
        runs: list[list[Found]] = []
        for one in sorted(found, key=lambda one: (one.entry.chunk.file_id, one.entry.ordinal)):
            if runs and _adjacent(runs[-1], one):
                runs[-1].append(one)
            else:
                runs.append([one])
        ranked = sorted(runs, key=lambda run: min(found.index(one) for one in run))
        return [await self._passage(run, f"S{n}") for n, run in enumerate(ranked, first)]

    async def _passage(self, run: Sequence[Found], key: str) -> Passage:
        best = max(run, key=lambda one: one.final)
        start, end = min(one.entry.chunk.start for one in run), max(one.entry.chunk.end for one in run)
        if len(run) == 1:
            text = best.entry.chunk.text
        else:
            assert self.book is not None
            text = (await self.book.document(best.entry)).text[start:end]
        return Passage(key, text, start, best.entry, best.vector, best.lexical, best.final)

    async def _validate(self) -> list[Validation]:
        """A verdict on every part of the question: one that is absent must not hide another that is there."""
        return [await self._judged(part.asked, self.passages) for part in parts(self.question)]

    async def _judged(self, question: str, passages: Sequence[Passage]) -> Validation:
        judge = partial(
            validate_retrieval,
            question,
            passages,
            reader=self.mind.reader,
            sentences=self.mind.sentences,
            settings=self.mind.validation,
        )
        return await self._run(judge)

    def _may_answer(self, verdicts: Sequence[Validation]) -> bool:
        """The verdict binds. A theme, or a question about nothing but the selection, has no answer to look for."""
        order: tuple[Quality, ...] = ("Good", "Partial", "Poor")
        self.quality = min((verdict.retrieval_quality for verdict in verdicts), key=order.index)
        if asks_for_theme(self.question) or (self.selection is not None and points_at_text(self.question)):
            return True
        return any(verdict.answer_present for verdict in verdicts)

    async def _conflicts(self, verdicts: Sequence[Validation]) -> list[Conflict]:
        if len(verdicts) > 1 or not verdicts[0].answer_present or asks_for_theme(self.question):
            return []
        look = partial(
            find_conflicts,
            self.question,
            self.passages,
            reader=self.mind.reader,
            sentences=self.mind.sentences,
            readings=verdicts[0].readings,
        )
        return await self._run(look)

    def _both_sides(self, conflicts: Sequence[Conflict]) -> list[DraftSentence]:
        statements = dict.fromkeys(side for conflict in conflicts for side in (conflict.first, conflict.second))
        notice = CONFLICT if self.selection is None else CONFLICT_SELECTION
        quotes = [DraftSentence(one.quote, (one.chunk_id,), one.quote, "quote") for one in statements]
        return [DraftSentence(notice, kind="notice"), *quotes[:4]]

    async def _draft(self, deadline: float) -> Sequence[DraftSentence]:
        search = None if self.selection is not None else self._search
        sentences, offered, self.usage = await self.mind.draft(
            self.question, self.passages, reader=self.mind.reader, search=search, deadline=deadline
        )
        self.passages = list(offered)
        return sentences

    async def _search(self, query: str) -> list[Passage]:
        """What the agent's tool brings: judged like everything else, and given ids by the agent."""
        assert self.book is not None
        found, _ = await self.book.find(query)
        known = {passage.entry.chunk.id for passage in self.passages if passage.entry}
        fresh = [one for one in found if one.entry.chunk.id not in known]
        passages = await self._joined(fresh, len(self.passages) + 1)
        verdict = await self._judged(query, passages) if passages else None
        if verdict is None or not verdict.answer_present:
            return []
        relevant = {chunk.chunk_id for chunk in verdict.relevant_chunks if chunk.is_relevant}
        return [passage for passage in passages if passage.id in relevant]

    async def _gate(self, draft: Sequence[DraftSentence]) -> Gated:
        plain = len(parts(self.question)) == 1 and not (asks_for_theme(self.question) or asks_for_list(self.question))
        reader, sentences = self.mind.reader, self.mind.sentences
        limits = PLAIN if plain else DEFAULT
        return await self._run(partial(check, draft, self.passages, reader, sentences, limits, self.question))

    async def _cite(self, gated: Gated, conflicts: Sequence[Conflict], verdicts: Sequence[Validation]) -> Answer:
        documents: dict[str, Document] = {}
        for passage in self.passages:
            if passage.entry and self.book and passage.entry.chunk.file_id not in documents:
                documents[passage.entry.chunk.file_id] = await self.book.document(passage.entry)
        cited = cite(gated.sentences, self.passages, documents.get)
        absent = any(s.kind == "notice" and s.text not in NOTICES for s in cited.sentences)
        status: Status = "conflict" if conflicts else "partial" if absent else "ok"
        used = {citation.id for citation in cited.citations}
        chances = [
            reading.answerable if verdict.answer_present else reading.relevance
            for verdict in verdicts
            for passage, reading in zip(self.passages, verdict.readings, strict=False)
            if passage.id in used
        ]
        confidence = max(chances, default=0.0) * min((s.support for s in cited.sentences), default=1.0)
        lines = [sentence.text for sentence in cited.sentences]
        text = ("\n" if any("\n" in line for line in lines) else " ").join(lines)
        answer = self._answer(text, status, None, confidence, gated.issues)
        return replace(answer, sentences=cited.sentences, citations=cited.citations)

    def _refusal(self, reason: Reason, issues: tuple[Issue, ...] = ()) -> Answer:
        text = NOT_IN_BOOK if self.selection is None else NOT_IN_SELECTION
        self.passages = self.passages[:_NEAREST] if reason != "out_of_scope" else []
        return self._answer(text, "refused", reason, 0.0, issues)

    def _answer(
        self, text: str, status: Status, reason: Reason | None, confidence: float, issues: tuple[Issue, ...]
    ) -> Answer:
        return Answer(
            question=self.question,
            text=text,
            status=status,
            reason=reason,
            sentences=(),
            citations=(),
            passages=tuple(self.passages),
            confidence=round(confidence, 4),
            retrieval_quality=self.quality,
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            issues=issues,
            usage=self.usage,
            timings=self.timings,
        )

    async def _timed(self, stage: str, work: Awaitable[T]) -> T:
        began = time.perf_counter()
        try:
            return await work
        finally:
            self.timings[stage] = round(time.perf_counter() - began, 6)

    async def _run(self, work: Callable[[], T]) -> T:
        """Model work goes to a worker thread, so that the event loop never waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self.mind.executor, work)


class _Once:
    """A reader that reads nothing twice for one question: validation, drafting and the gate ask alike."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._read: dict[tuple[str, str], Reading] = {}

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        missing = [text for text in dict.fromkeys(passages) if (question, text) not in self._read]
        for text, reading in zip(missing, self._reader.read(question, missing) if missing else (), strict=True):
            self._read[question, text] = reading
        return [self._read[question, text] for text in passages]

    def supports(self, claim: str, passages: Sequence[str]) -> list[Support]:
        return self._reader.supports(claim, passages)


def _adjacent(run: Sequence[Found], one: Found) -> bool:
    last, piece = run[-1].entry, one.entry
    return (
        last.chunk.file_id == piece.chunk.file_id
        and last.ordinal + 1 == piece.ordinal
        and last.chunk.place.chapter == piece.chunk.place.chapter
        and piece.chunk.end - run[0].entry.chunk.start <= _LONGEST_PASSAGE
    )


def _whole(entry: Entry, key: str) -> Passage:
    return Passage(key, entry.chunk.text, entry.chunk.start, entry)
