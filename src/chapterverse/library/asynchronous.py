"""The library for code that runs in an event loop: what `Indexes` keeps is searched and asked here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

from chapterverse.answer.courtesy import without_courtesy
from chapterverse.answer.needs import Mind
from chapterverse.answer.pipeline import Watch, ask
from chapterverse.answer.questions import asks_for_theme, speaks_of_theme, theme_of
from chapterverse.answer.retrieve import Diagnostics, Found, Retrieval, retrieve
from chapterverse.answer.scope import (
    FULL_BOOK,
    Outline,
    QueryScope,
    asked_there,
    may_be_elsewhere,
    parse_scope,
    resolve_names,
    resolve_scope,
)
from chapterverse.answer.titlepage import asks_for_heading
from chapterverse.answer.unmet import EMPTY_SCOPE, unmet_condition
from chapterverse.answer.validate import ValidationSettings
from chapterverse.index import lexical
from chapterverse.ingest.sentences import split
from chapterverse.library.asking import (
    LOCAL,
    Generation,
    GivenContent,
    IndexedBook,
    QueryVectors,
    Shelf,
    Writer,
)
from chapterverse.library.catalogue import Parts
from chapterverse.library.clipping import found_within, parts_within
from chapterverse.library.deadline import Deadline, for_answer, for_search
from chapterverse.library.embedding import FROM_ENVIRONMENT, Access, made_with
from chapterverse.library.indexes import Indexes
from chapterverse.library.loading import agent_loading
from chapterverse.library.parts import open_reader, validation_for
from chapterverse.library.terms import check_alone, check_question, check_selection, check_text, context_of, home_at
from chapterverse.library.turns import Turns
from chapterverse.protocols import EmbeddingUsage, IndexReader, Reader
from chapterverse.providers.generation import resolve
from chapterverse.settings import Settings
from chapterverse.types import Answer, AnswerEvent, Document, Entry, Filter, IndexRecord, Issue


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, with its raw scores and how it went."""

    query: str
    record: IndexRecord
    settings: Retrieval
    found: tuple[Found, ...]
    diagnostics: Diagnostics
    usage: EmbeddingUsage

    @property
    def nothing_because(self) -> str | None:
        """Why nothing was found, where nothing was."""
        if self.found:
            return None
        if self.diagnostics.empty_because == "below_threshold":
            return f"no passage scores {self.settings.min_score:g} or more"
        return self.diagnostics.unmet or "no passage has any of these words"


class Asking(TypedDict, total=False):
    """What `ask` takes beside the question, but for `watch`: `stream` tells of everything itself."""

    selection: str | None
    index: str | None
    settings: Retrieval | None
    where: Filter | None
    scope: QueryScope | None
    history: Sequence[Mapping[str, str]]
    generation: Generation
    access: Access
    validation: ValidationSettings | None


class AsyncLibrary(Indexes):
    """Indexes in one store that can be searched and asked. Use it as an async context manager."""

    on_answer: Callable[[Answer], None] | None = None
    """Is told of every answer to `ask`, whichever surface asked."""

    @classmethod
    async def open(cls, path: str | Path, settings: Settings | None = None, **parts: Unpack[Parts]) -> Self:
        """A library to ask about the book or the folder of books at `path`: indexed if it is not, in step if it is.

        A path of indexes, an empty folder or a new one opens the library that is kept there.
        """
        settings = settings or Settings()
        home = home_at(path)
        library = cls(settings.model_copy(update={"home": home}) if home else settings, **parts)
        try:
            if home is None:
                await library.keep(path)
        except BaseException:
            await library.close()
            raise
        return library

    @cached_property
    def _turns(self) -> Turns:
        """Where models run."""
        return Turns()

    @cached_property
    def _shelf(self) -> Shelf:
        return Shelf()

    @cached_property
    def reader(self) -> Reader:
        """What judges passages; opened when it is first needed, for that takes a while."""
        return self._reader or open_reader()

    async def search(
        self,
        query: str,
        *,
        index: str | None = None,
        settings: Retrieval | None = None,
        where: Filter | None = None,
        scope: QueryScope = FULL_BOOK,
        access: Access = FROM_ENVIRONMENT,
        seconds: float | None = None,
    ) -> SearchResult:
        """The passages of an index that bear on a query, best first; within so many `seconds`, if they are given."""
        query = check_question(query)
        async with for_search(seconds):
            record = await self.record(index)
            async with await self.store.reader(record.id) as reader:
                settings = settings or Retrieval(**record.retrieval_defaults)
                within = await self._within(reader, where, scope)
                vector, usage = await self._query_vector(record, query, settings, access)
                found, diagnostics = await retrieve(
                    reader,
                    query,
                    vector=vector,
                    terms=lexical.query_vector(query),
                    settings=settings,
                    where=within,
                    rerank=partial(self._relevances, self._turns.next()),
                )
                found = await found_within(found, within, partial(self._shelf.of, reader))
                below = diagnostics.empty_because == "below_threshold"
                if not (found or below) and await self._is_empty(reader, within):
                    diagnostics.unmet = await unmet_condition(reader, where, scope)
        return SearchResult(query, record, settings, tuple(found[: settings.top_k]), diagnostics, usage)

    async def ask(
        self,
        question: str,
        *,
        selection: str | None = None,
        index: str | None = None,
        settings: Retrieval | None = None,
        where: Filter | None = None,
        scope: QueryScope | None = None,
        history: Sequence[Mapping[str, str]] = (),
        generation: Generation = LOCAL,
        access: Access = FROM_ENVIRONMENT,
        validation: ValidationSettings | None = None,
        watch: Watch = lambda _: None,
    ) -> Answer:
        """Answer a question from an index, or from a selection alone; what neither says is refused.

        Without a `scope`, the question's own words may name one ("… in Chapter 3"); a "section 309" that the book does
        not have is taken for one of something else. `validation` says when an answer counts as present; without it, the
        index's calibration does, or the reader's own. `watch` is told which stage begins, and each sentence as soon as
        it has passed the gate.
        """
        said = check_question(question)
        question = without_courtesy(said)
        async with self._deadline(generation) as deadline:
            if selection is not None:
                check_alone(index, where, scope)
                mind = await self._mind(generation, deadline, validation)
                answer = await ask(question, mind, selection=check_selection(selection), watch=watch)
                return self._heard(replace(answer, question=said))
            record = await self.record(index)
            mind = await self._mind(generation, deadline, validation, record.calibration)
            async with await self.store.reader(record.id) as reader:
                settings = settings or Retrieval(**record.retrieval_defaults)
                question, where = await self._by_title(reader, question, where)
                given, scope = scope is not None, scope or parse_scope(question)
                if not (given or asks_for_theme(question) or asks_for_heading(question)):
                    if await self._is_elsewhere(reader, scope):
                        scope = FULL_BOOK
                    else:
                        question = asked_there(question)
                within = await self._within(reader, where, scope)
                embed = QueryVectors(lambda text: self._query_vector(record, text, settings, access))
                context, rerank = context_of(question, history), partial(self._relevances, mind.executor)
                book = IndexedBook(reader, embed, settings, within, self._shelf, rerank, context)
                answer = self._heard(replace(await ask(question, mind, book, watch=watch), question=said))
                if answer.reason in ("no_matches", "out_of_scope") and await self._is_empty(reader, within):
                    unmet = await unmet_condition(reader, where, scope)
                    answer = replace(answer, issues=(*answer.issues, Issue(EMPTY_SCOPE, unmet)))
        return replace(answer, usage={"embedding": asdict(embed.usage), "generation": dict(answer.usage)})

    def _heard(self, answer: Answer) -> Answer:
        if self.on_answer is not None:
            self.on_answer(answer)
        return answer

    async def stream(self, question: str, **options: Unpack[Asking]) -> AsyncGenerator[AnswerEvent]:
        """Ask, and hear of it as it happens: stages, sentences that have passed the gate, and last the whole answer.

        Takes what `ask` takes, and ends as it ends. Whoever stops listening stops the work.
        """
        events: asyncio.Queue[AnswerEvent | None] = asyncio.Queue()
        asking = asyncio.create_task(self.ask(question, watch=events.put_nowait, **options))
        asking.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield await asking
        finally:
            asking.cancel()
            await asyncio.wait([asking])

    async def answer_from(
        self,
        question: str,
        entries: Sequence[Entry],
        generation: Generation = LOCAL,
        validation: ValidationSettings | None = None,
    ) -> Answer:
        """Answer from passages that were found before, and from nothing else; each is a document of its own."""
        said = check_question(question)
        async with self._deadline(generation) as deadline:
            mind = await self._mind(generation, deadline, validation)
            return replace(await ask(without_courtesy(said), mind, GivenContent(entries)), question=said)

    def _deadline(self, generation: Generation) -> Deadline:
        return for_answer(self.settings.deadline if generation.seconds is None else generation.seconds)

    async def _mind(
        self,
        generation: Generation,
        deadline: Deadline,
        validation: ValidationSettings | None = None,
        calibration: Mapping[str, Any] | None = None,
    ) -> Mind:
        service = resolve(generation.model, auth=generation.auth, options=generation.options)
        turn = self._turns.next()
        writer = Writer(split, turn, deadline, service, generation.temperature, generation.max_tokens)
        if validation is None:
            deadline.pause()
            validation = await asyncio.to_thread(validation_for, self.reader, calibration)  # the reader is loaded
            deadline.go_on()
        return Mind(self.reader, split, writer, validation, turn)

    async def document(self, file_id: str, index: str | None = None) -> Document:
        """A whole document, as the index holds it."""
        record = await self.record(index)
        async with await self.store.reader(record.id) as reader:
            return await self._shelf.document(reader, file_id, record.updated_at)

    async def warm_up(self) -> None:
        """Load what the first question would otherwise wait for."""
        await asyncio.shield(asyncio.wrap_future(agent_loading()))
        await asyncio.to_thread(self.reader.read, "Is it ready?", ["It is ready."])

    async def vectors(self, chunk_ids: Sequence[str], index: str | None = None) -> dict[str, Sequence[float]]:
        """The embeddings of chunks, by their ids."""
        record = await self.record(index)
        async with await self.store.reader(record.id) as reader:
            points = reader.points(Filter(chunk_ids=tuple(chunk_ids)))
            return {point.entry.chunk.id: point.dense async for point in points}

    async def _query_vector(
        self, record: IndexRecord, query: str, settings: Retrieval, access: Access
    ) -> tuple[list[float] | None, EmbeddingUsage]:
        if settings.mode == "lexical":
            return None, EmbeddingUsage()
        target = made_with(self.embeddings.registry, record.embedding, access)
        embedded = await self.embeddings.embed(target, [query], "query")
        return embedded.vectors[0].tolist(), embedded.usage

    async def _relevances(self, turn: Executor | None, question: str, passages: Sequence[str]) -> list[float]:
        read = asyncio.get_running_loop().run_in_executor(turn, self.reader.read, question, passages)
        return [reading.answerable for reading in await read]

    async def _by_title(self, reader: IndexReader, question: str, where: Filter | None) -> tuple[str, Filter | None]:
        """A question for the theme of a book that it names by its title, as one of "the book", and where that is."""
        if not speaks_of_theme(question):
            return question, where
        for source in await reader.sources():
            if asked := theme_of(source.title, question):
                return asked, _both(Filter(file_ids=(source.file_id,)), where)
        return theme_of(reader.record.name, question) or question, where

    async def _is_elsewhere(self, reader: IndexReader, scope: QueryScope) -> bool:
        """Whether a question names a place that is not in this book, and need not be."""
        if not may_be_elsewhere(scope):
            return False
        return not await reader.count(await self._within(reader, None, scope))

    async def _is_empty(self, reader: IndexReader, within: Filter | None) -> bool:
        """Whether a place was named, and nothing is there: not even in a part of a chunk that every condition meets."""
        if within is None:
            return False
        async for point in reader.points(within):
            if await parts_within(point.entry, within, partial(self._shelf.of, reader)):
                return False
        return True

    async def _within(self, reader: IndexReader, where: Filter | None, scope: QueryScope) -> Filter | None:
        check_text(scope=scope.identifier, **(asdict(where) if where else {}))
        if where is not None and (where.chapters or where.sections):
            where = resolve_names(where, await _outline(reader))
        if scope.type == "full-book":
            return where
        return _both(resolve_scope(scope, await _outline(reader)), where)


async def _outline(reader: IndexReader) -> Outline:
    return [path for source in await reader.sources() for path in source.outline]


def _both(scope: Filter | None, where: Filter | None) -> Filter | None:
    """What lies in the scope and passes the filter; a scope names a file, chapters, sections, pages or slides only."""
    if scope is None or where is None:
        return scope or where
    given = {key: value for key, value in asdict(where).items() if value is not None}
    for key, names in asdict(scope).items():
        if names is not None and key in given:
            given[key] = tuple(name for name in names if name in given[key])
    return replace(scope, **given)
