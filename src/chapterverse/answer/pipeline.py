"""The path of a question: topic gate, retrieve, validate, draft, gate, cite: each is one step, taken in this order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import zip_longest
from typing import Any, TypeVar

from chapterverse.answer.abbreviations import written_out
from chapterverse.answer.cite import Cited, cite, text_of
from chapterverse.answer.conflicts import DEFAULTS as CONFLICTS
from chapterverse.answer.conflicts import Conflict, find_conflicts
from chapterverse.answer.entries import answer_below, entries, section_named
from chapterverse.answer.evidence import find
from chapterverse.answer.firstperson import in_first_person, names_somebody
from chapterverse.answer.gate import DEFAULT, PLAIN, Gate, Passed
from chapterverse.answer.joining import joined
from chapterverse.answer.layout import lay_out
from chapterverse.answer.narrower import SURE, WORTH_IT, narrowed
from chapterverse.answer.needs import Book, Mind
from chapterverse.answer.once import OncePerQuestion
from chapterverse.answer.prompts import (
    CONFLICT,
    CONFLICT_SELECTION,
    EMPTY_QUESTION,
    NOT_IN_BOOK,
    NOT_IN_SELECTION,
    NOTICES,
)
from chapterverse.answer.questions import (
    asks_about_book,
    asks_for_list,
    asks_for_theme,
    content,
    parts,
    points_at_text,
    queries,
    quoted,
    spoken_of,
)
from chapterverse.answer.retrieve import Found
from chapterverse.answer.tables import row_told
from chapterverse.answer.titlepage import asks_for_heading, title_line
from chapterverse.answer.validate import Quality, Validation, validate_retrieval
from chapterverse.types import (
    Answer,
    Chunk,
    Document,
    DraftSentence,
    Entry,
    Passage,
    Reading,
    Reason,
    Spoken,
    Stage,
    StageName,
    Status,
)

T = TypeVar("T")

_THEME_PASSAGES = 12
_RELATED = 0.03
"""From which chance of being about the question a half-read passage is read on, to see whether it contradicts."""
_OPENING = 3
"""How many chunks, from the first, may say who wrote a book and what it is called: elsewhere another book is meant."""
_BY_RULE = 0.95
"""How sure it is that a line of the title page, or the row of a range or a name, tells what is asked: a guess, no set
of questions has enough of them."""
_NEAREST = 3
"""How many passages a refusal shows as related."""


Watch = Callable[[Stage | Spoken], None]
"""Is told what happens on the way to an answer."""


async def ask(
    question: str,
    mind: Mind,
    book: Book | None = None,
    selection: str | None = None,
    watch: Watch = lambda _: None,
) -> Answer:
    """Answer from a book, or from a selection alone: then no book is needed, and none is touched."""
    once = OncePerQuestion(mind.reader)
    try:
        return await _asked(question, replace(mind, reader=once), book, selection, watch)
    finally:
        once.end()


async def _asked(question: str, mind: Mind, book: Book | None, selection: str | None, watch: Watch) -> Answer:
    answer = await _Ask(question, mind, book, selection, watch).run()
    if book is not None and answer.reason == "answer_absent" and names_somebody(question):
        asked = in_first_person(question, await book.author())
        if asked:
            again = await _Ask(asked, mind, book, None, watch, timings=dict(answer.timings)).run()
            answer = again if again.status == "ok" else replace(answer, timings=again.timings)
    return replace(answer, question=question)


@dataclass
class _Ask:
    """One question on its way."""

    question: str
    mind: Mind
    book: Book | None
    selection: str | None
    watch: Watch
    passages: list[Passage] = field(default_factory=list)
    passed: list[Passed] = field(default_factory=list)
    cited: Cited = field(default_factory=lambda: Cited((), ()))
    """What was said so far: all that passed, but for notices that still wait for a first sentence of the book."""
    documents: dict[str, Document] = field(default_factory=dict)
    quality: Quality = "Poor"
    answerable: float = 0.0
    timings: dict[str, float] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)

    async def run(self) -> Answer:
        reason = await self._timed("retrieve", self._collect())
        if reason is not None:
            return self._refusal(reason)
        verdicts = await self._timed("validate", self._validate())
        if not self._may_answer(verdicts):
            verdicts = await self._timed("validate", self._validate_narrowed()) or verdicts
        if not self._may_answer(verdicts):
            return self._refusal("answer_absent" if self.selection is None else "selection_lacks_answer")
        conflicts = await self._timed("conflicts", self._conflicts(verdicts))
        sides = await self._run(partial(self._that_pass, conflicts)) if conflicts else []
        if sides:
            for sentence in sides:
                await self._say(sentence, self.passages)
        else:
            await self._timed("draft", self._draft())
        if not self.cited.sentences:
            return self._refusal("not_supported")
        return self._written("conflict" if sides else None, verdicts)

    async def _collect(self) -> Reason | None:
        """What the answer may rest on; without any, why."""
        if self.selection is not None:
            self.mind = replace(self.mind, validation=self.mind.validation.for_selection())
            self.mind.draft.prepare()
            self.passages = [Passage("S1", self.selection)]
            return None
        assert self.book is not None
        verdict = await self.book.about(self.question)
        if verdict.decision in ("out_of_scope", "empty_question"):
            return verdict.decision
        usual = self.mind.validation
        if verdict.distant:
            self.mind = replace(self.mind, validation=usual.for_distant())
        self.mind.draft.prepare()
        if asks_for_theme(self.question):
            entries = await self.book.chunks(_THEME_PASSAGES)
            self.passages = [_whole(entry, f"S{n}") for n, entry in enumerate(entries, 1)]
            return None if entries else "no_matches"
        found, reason = await self._find(self.book)
        self.passages = await joined(found, 1, self.book.document)
        meant = written_out(self.question, [passage.text for passage in self.passages])
        known = meant != self.question
        if known:
            self.question = meant
            found, reason = await self._find(self.book)
            self.passages = await joined(found, 1, self.book.document)
        if known or self._quotes_book():
            self.mind = replace(self.mind, validation=usual)
        return None if found else reason or "no_matches"

    def _quotes_book(self) -> bool:
        """Whether the question has words of a passage in quotation marks: then it is about it, however it sounds."""
        said = [words.casefold() for words in quoted(self.question)]
        return any(find(words, passage.text.casefold()) for words in said for passage in self.passages)

    async def _find(self, book: Book) -> tuple[list[Found], Reason | None]:
        """Candidates, as many as one search brings; of a question with several parts, the best of each in turn."""
        about_book = asks_about_book(self.question)
        if about_book and (opening := await book.opening(_OPENING)):
            return [Found(entry, 0.0) for entry in opening], None
        if asks_for_heading(self.question):
            entries = await book.chunks(_THEME_PASSAGES)  # a chapter's first is among them
            headed = [Found(entry, 0.0) for entry in entries if title_line(self.question, entry.chunk.text)]
            return headed, "answer_absent" if entries else "no_matches"
        searches = [await book.find(query) for query in queries(self.question)]
        ranked = [one for rank in zip_longest(*(found for found, _ in searches)) for one in rank if one is not None]
        unique: dict[Chunk, Found] = {}
        for one in ranked:
            unique.setdefault(one.entry.chunk, one)
        most = max(len(found) for found, _ in searches)
        named = spoken_of(self.question)
        found = [one for one in unique.values() if not named or named & content(one.entry.chunk.text)][:most]
        if found and about_book:
            return [one for one in found if one.entry.ordinal < _OPENING], "answer_absent"
        return found, searches[0][1] or ("answer_absent" if unique else None)

    async def _validate(self) -> list[Validation]:
        """A verdict on every part of the question: one that is absent must not hide another that is there.

        One that leans on another gets no closer look: it is read anew for the draft, with what the other found.
        """
        asked = zip(queries(self.question), parts(self.question), strict=True)
        return [await self._judged(query, self.passages, closer_look=not part.leans) for query, part in asked]

    async def _validate_narrowed(self) -> list[Validation]:
        """Verdicts on single paragraphs, which then are all that is answered from; none if they do not answer.

        Those that stand under the question itself need no more than the usual chance; a heading proves less.
        """
        if self.selection is not None:
            return []
        for head, least in ((answer_below, 0.0), (section_named, SURE)):
            below = entries(self.question, self.passages, self.mind.sentences, head)
            if verdicts := await self._validate_only(below, least):
                return verdicts
        narrow = narrowed(self.question, self.passages) if self.answerable >= WORTH_IT else []
        return await self._validate_only(narrow, SURE)

    async def _validate_only(self, narrow: list[Passage], least: float) -> list[Validation]:
        passages, mind = self.passages, self.mind
        if not narrow:
            return []
        least = max(mind.validation.answer_threshold, least)
        self.passages, self.mind = narrow, replace(mind, validation=replace(mind.validation, answer_threshold=least))
        verdicts = await self._validate()
        if any(verdict.answer_present for verdict in verdicts):
            return verdicts
        self.passages, self.mind = passages, mind
        return []

    async def _judged(self, question: str, passages: Sequence[Passage], *, closer_look: bool = True) -> Validation:
        settings = self.mind.validation
        judge = partial(
            validate_retrieval,
            question,
            passages,
            reader=self.mind.reader,
            sentences=self.mind.sentences,
            settings=settings if closer_look else replace(settings, closer_look=False),
        )
        return await self._run(judge)

    def _may_answer(self, verdicts: Sequence[Validation]) -> bool:
        """The verdict binds. A theme, or a question about nothing but the selection, has no answer to look for.

        Nor has the reader where a line of the title page names what is asked, or a row by its name or a range.
        """
        order: tuple[Quality, ...] = ("Good", "Partial", "Poor")
        self.quality = min((verdict.retrieval_quality for verdict in verdicts), key=order.index)
        if asks_for_theme(self.question) or (self.selection is not None and points_at_text(self.question)):
            self.answerable = 1.0
            return True
        if self._told_by_rule:
            self.answerable = _BY_RULE
            return True
        self.answerable = max(verdict.answerable for verdict in verdicts)
        return any(verdict.answer_present for verdict in verdicts)

    @property
    def _told_by_rule(self) -> bool:
        texts = [passage.text for passage in self.passages]
        if any(title_line(self.question, text) for text in texts):
            return True
        sheets = [lay_out(text, self.mind.sentences(text)) for text in texts if "|" in text]
        return any(row_told(query, sheets) for query in queries(self.question))

    async def _conflicts(self, verdicts: Sequence[Validation]) -> list[Conflict]:
        if len(verdicts) > 1 or not verdicts[0].answer_present or asks_for_theme(self.question):
            return []
        return await self._run(partial(self._look_for_conflicts, verdicts[0].readings))

    def _look_for_conflicts(self, readings: Sequence[Reading]) -> list[Conflict]:
        """What was not worth reading on for an answer may hold another, if there is one that is sure enough.

        What others say against each other is no contradiction of the passage that most probably answers.
        """
        best = max(range(len(readings)), key=lambda n: readings[n].answerable)
        if readings[best].answerable < CONFLICTS.answer_threshold:
            return []
        unread = [
            passage.text
            for passage, reading in zip(self.passages, readings, strict=True)
            if not reading.spans and reading.relevance >= _RELATED
        ]
        more = dict(zip(unread, self.mind.reader.read(self.question, unread), strict=True))
        found = find_conflicts(
            self.question,
            self.passages,
            reader=self.mind.reader,
            sentences=self.mind.sentences,
            readings=[more.get(passage.text, one) for passage, one in zip(self.passages, readings, strict=True)],
        )
        likeliest = self.passages[best].id
        return [one for one in found if likeliest in (one.first.chunk_id, one.second.chunk_id)]

    def _both_sides(self, conflicts: Sequence[Conflict]) -> list[DraftSentence]:
        statements = dict.fromkeys(side for conflict in conflicts for side in (conflict.first, conflict.second))
        notice = CONFLICT if self.selection is None else CONFLICT_SELECTION
        quotes = [DraftSentence(one.quote, (one.chunk_id,), one.quote, "quote") for one in statements]
        return [DraftSentence(notice, kind="notice"), *quotes[:4]]

    def _that_pass(self, conflicts: Sequence[Conflict]) -> list[DraftSentence]:
        """What contradicts each other, as far as both sides can be said: one alone contradicts nothing."""
        while conflicts:
            (notice, *sides), gate = self._both_sides(conflicts), self._new_gate()
            fallen = {side.quote for side in sides if not gate.check_one(side)}
            if not fallen:
                return [notice, *sides]
            self.gate.issues += gate.issues
            conflicts = [one for one in conflicts if not fallen & {one.first.quote, one.second.quote}]
        return []

    async def _draft(self) -> None:
        search = None if self.selection is not None else self._search
        offered, self.usage = await self.mind.draft(
            self.question,
            self.passages,
            reader=self.mind.reader,
            threshold=self.mind.validation.answer_threshold,
            search=search,
            say=self._say,
        )
        self.passages = list(offered)

    async def _search(self, query: str) -> list[Passage]:
        """What the agent's tool brings: judged like everything else, and given ids by the agent."""
        assert self.book is not None
        found, _ = await self.book.find(query)
        known = {passage.entry.chunk for passage in self.passages if passage.entry}
        fresh = [one for one in found if one.entry.chunk not in known]
        passages = await joined(fresh, len(self.passages) + 1, self.book.document)
        verdict = await self._judged(query, passages) if passages else None
        if verdict is None or not verdict.answer_present:
            return []
        relevant = {chunk.chunk_id for chunk in verdict.relevant_chunks if chunk.is_relevant}
        return [passage for passage in passages if passage.id in relevant]

    async def _say(self, drafted: DraftSentence, offered: Sequence[Passage]) -> None:
        """Let a sentence out if it passes the gate; a notice waits until there is a sentence that it goes with."""
        self.passages = list(offered)
        passed = await self._timed("gate", self._run(partial(self._gated, drafted)))
        self.passed += passed
        if passed and any(sentence.kind != "notice" for sentence in self.passed):
            await self._timed("cite", self._cite())

    def _gated(self, drafted: DraftSentence) -> list[Passed]:
        self.gate.offer(self.passages)
        return self.gate.check_one(drafted)

    @cached_property
    def gate(self) -> Gate:
        return self._new_gate()

    def _new_gate(self) -> Gate:
        plain = len(parts(self.question)) == 1 and not (asks_for_theme(self.question) or asks_for_list(self.question))
        limits = PLAIN if plain else DEFAULT
        return Gate(self.passages, self.mind.reader, self.mind.sentences, limits, self.question)

    async def _cite(self) -> None:
        """Chapter and verse for what has passed by now; the sentences that are new are spoken."""
        used = {quote.passage for sentence in self.passed for quote in sentence.quotes}
        for passage in self.passages:
            if passage.id in used and passage.entry and self.book:
                self.documents[passage.entry.chunk.file_id] = await self.book.document(passage.entry)
        spoken = len(self.cited.sentences)
        self.cited = cite(self.passed, self.passages, self.documents.get)
        for sentence in self.cited.sentences[spoken:]:
            self.watch(Spoken(sentence, tuple(self.cited.citations[n] for n in sentence.citations)))

    def _written(self, status: Status | None, verdicts: Sequence[Validation]) -> Answer:
        sentences, citations = self.cited
        absent = any(s.kind == "notice" and s.text not in NOTICES for s in sentences)
        used = {citation.id for citation in citations}
        chances = [
            reading.answerable if verdict.answer_present else reading.relevance
            for verdict in verdicts
            for passage, reading in zip(self.passages, verdict.readings, strict=False)
            if passage.id in used
        ]
        if self._told_by_rule:
            chances.append(_BY_RULE)
        confidence = max(chances, default=0.0) * min((s.support for s in sentences), default=1.0)
        text = text_of([sentence.text for sentence in sentences])
        answer = self._answer(text, status or ("partial" if absent else "ok"), None, confidence)
        return replace(answer, sentences=sentences, citations=citations)

    def _refusal(self, reason: Reason) -> Answer:
        if reason == "empty_question":
            return self._answer(EMPTY_QUESTION, "needs_clarification", reason, 0.0)
        text = NOT_IN_BOOK if self.selection is None else NOT_IN_SELECTION
        self.passages = self.passages[:_NEAREST] if reason != "out_of_scope" else []
        return self._answer(text, "refused", reason, 0.0)

    def _answer(self, text: str, status: Status, reason: Reason | None, confidence: float) -> Answer:
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
            issues=tuple(self.gate.issues),
            usage=self.usage,
            timings=self.timings,
            answerable=self.answerable,
            answer_threshold=self.mind.validation.answer_threshold,
        )

    async def _timed(self, stage: StageName, work: Awaitable[T]) -> T:
        """Do the work of a stage; what other stages do in the meantime is theirs."""
        if stage not in self.timings:
            self.timings[stage] = 0.0
            self.watch(Stage(stage))
        began, before = time.perf_counter(), sum(self.timings.values())
        try:
            return await work
        finally:
            inner = sum(self.timings.values()) - before
            self.timings[stage] = round(self.timings[stage] + time.perf_counter() - began - inner, 6)

    async def _run(self, work: Callable[[], T]) -> T:
        """Model work goes to a worker thread, so that the event loop never waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self.mind.executor, work)


def _whole(entry: Entry, key: str) -> Passage:
    return Passage(key, entry.chunk.text, entry.chunk.start, entry)
