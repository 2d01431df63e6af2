"""Asking: an index as the book that a question is put to, and the agent that drafts its answer."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from chapterverse.answer.questions import names_nothing
from chapterverse.answer.retrieve import Found, Rerank, Retrieval, retrieve
from chapterverse.answer.topic import ProfileBuilder, Verdict, judge
from chapterverse.answer.validate import Sentences
from chapterverse.index import lexical
from chapterverse.library.clipping import found_within, parts_within
from chapterverse.library.deadline import Deadline
from chapterverse.library.loading import agent_loading
from chapterverse.protocols import EmbeddingUsage, IndexReader, Reader, Vectors
from chapterverse.providers import generation
from chapterverse.providers.settings import Auth
from chapterverse.types import Block, Document, DraftSentence, Entry, Filter, Passage, Point, Reason

_SAMPLE = 600
"""Of about how many chunks those are chosen that stand for a whole book; every file has its first among them."""
_OPENING = 2
"""How many of these are its first."""
_EARLY = 20
"""How many chunks of a single file are never left out of them: a book begins behind its imprint and its contents."""
_CONTENTS = frozenset(("contents", "table of contents"))
"""It names everything and says nothing."""
_IMPRINT = frozenset(
    "imprint|colophon|copyright|uncopyright|title page|licence|license|project gutenberg licence|dedication".split("|")
)
"""What tells of the volume, not of the book."""
_DOCUMENTS = 32
"""How many documents are kept at hand: every citation is checked against its own."""


@dataclass(frozen=True)
class Generation:
    """Who writes: `local`, or `provider:model`, with its key and bounds; without `seconds`, the library's deadline."""

    model: str = "local"
    auth: Auth = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    temperature: float = 0.0
    max_tokens: int = 1024
    seconds: float | None = None


LOCAL = Generation()


class QueryVectors:
    """Embeds a query once where several steps in a row need its vector, and counts what that took."""

    def __init__(self, embed: Callable[[str], Awaitable[tuple[list[float] | None, EmbeddingUsage]]]) -> None:
        self._embed = embed
        self._last: tuple[str, list[float] | None] | None = None
        self.usage = EmbeddingUsage()

    async def __call__(self, text: str) -> list[float] | None:
        if self._last is None or self._last[0] != text:
            vector, usage = await self._embed(text)
            self._last = (text, vector)
            self.usage += usage
        return self._last[1]


class Shelf:
    """Documents that were looked up lately."""

    def __init__(self) -> None:
        self._documents: OrderedDict[tuple[str, str, str], Document] = OrderedDict()

    async def document(self, reader: IndexReader, file_id: str, version: str) -> Document:
        """A document of an index; `version` changes whenever the document does."""
        key = (reader.record.id, file_id, version)
        found = self._documents.get(key) or await reader.document(file_id)
        self._documents[key] = found
        self._documents.move_to_end(key)
        while len(self._documents) > _DOCUMENTS:
            self._documents.popitem(last=False)
        return found

    async def of(self, reader: IndexReader, entry: Entry) -> Document:
        """The document that an entry is from."""
        return await self.document(reader, entry.chunk.file_id, entry.sha256)


@dataclass
class IndexedBook:
    """One generation of an index, within the scope of one question."""

    reader: IndexReader
    embed: Callable[[str], Awaitable[list[float] | None]]
    settings: Retrieval
    where: Filter | None
    shelf: Shelf
    rerank: Rerank
    context: str = ""
    """What was said before, where the question leans on it; it steers the search and is never evidence."""

    async def about(self, question: str) -> Verdict:
        if not self.context and self.where is None and names_nothing(question):
            return Verdict("empty_question", "Nothing says what the question speaks of.")
        asked = f"{self.context} {question}".strip()
        profile = self.reader.record.profile
        vector = await self.embed(asked) if profile else None
        return judge(profile, asked, lambda text: lexical.query_vector(text).indices, vector)

    async def find(self, query: str) -> tuple[list[Found], Reason | None]:
        asked = f"{self.context} {query}".strip()
        found, diagnostics = await retrieve(
            self.reader,
            asked,
            vector=await self.embed(asked),
            terms=lexical.query_vector(asked),
            settings=self.settings,
            where=self.where,
            rerank=self.rerank,
        )
        found = await found_within(found, self.where, self.document)
        found = [one for one in found if not _is_under(one.entry, _CONTENTS)]
        reason: Reason | None = None
        if not found:
            reason = "below_threshold" if diagnostics.empty_because == "below_threshold" else "no_matches"
        return found, reason

    async def chunks(self, limit: int) -> list[Entry]:
        """Where the scope has more chunks than that: how its one file begins, and those nearest to the mean of all."""
        early, opening = (_EARLY, _OPENING) if len(await self._files()) == 1 else (0, 0)
        every = max(1, -(-await self.reader.count(self.where) // _SAMPLE))
        points = [
            point
            async for point in self.reader.points(self.where)
            if point.entry.ordinal % every == 0 or point.entry.ordinal < early
        ]
        points = [point for point in points if not _is_under(point.entry, _CONTENTS | _IMPRINT)] or points
        points.sort(key=lambda point: (point.entry.chunk.file_id, point.entry.ordinal))
        if len(points) > limit:
            points = standing_for_all(points, opening, limit)
        return [part for point in points for part in await self._parts(point.entry)]

    async def _parts(self, entry: Entry) -> list[Entry]:
        return await parts_within(entry, self.where, self.document)

    async def opening(self, limit: int) -> list[Entry]:
        if len(await self._files()) != 1:
            return []
        entries = [point.entry async for point in self.reader.points(self.where) if point.entry.ordinal < limit]
        entries = [entry for entry in entries if not _is_under(entry, _CONTENTS)]
        entries.sort(key=lambda entry: entry.ordinal)
        return [part for entry in entries for part in await self._parts(entry)]

    async def author(self) -> str | None:
        sources = {source.file_id: source.fingerprint for source in await self.reader.sources()}
        files = await self._files()
        if len(files) != 1 or files[0] not in sources:
            return None
        return (await self.shelf.document(self.reader, files[0], sources[files[0]])).author

    async def _files(self) -> Sequence[str]:
        return (self.where and self.where.file_ids) or [source.file_id for source in await self.reader.sources()]

    async def document(self, entry: Entry) -> Document:
        return await self.shelf.of(self.reader, entry)


@dataclass
class GivenContent:
    """Passages that somebody else has found, as the book that a question is put to."""

    entries: Sequence[Entry]

    async def about(self, question: str) -> Verdict:  # noqa: ARG002
        return Verdict("uncertain", "The content was chosen for the question.")

    async def find(self, query: str) -> tuple[list[Found], Reason | None]:  # noqa: ARG002
        return [Found(entry, 0.0) for entry in self.entries], None

    async def chunks(self, limit: int) -> list[Entry]:
        return list(self.entries[:limit])

    async def opening(self, limit: int) -> list[Entry]:  # noqa: ARG002
        return []  # which of them begin a book, nobody says

    async def author(self) -> str | None:
        return None

    async def document(self, entry: Entry) -> Document:
        text = entry.chunk.text
        block = Block(0, len(text), "paragraph", entry.chunk.place.headings)
        return Document(
            entry.chunk.file_id, entry.file_name, entry.mime_type, entry.sha256, entry.title, text, (block,)
        )


def standing_for_all(points: Sequence[Point], first: int, limit: int) -> list[Point]:
    """So many points that stand for all, in their order: the first ones, and those nearest to the mean."""
    vectors = np.array([point.dense for point in points], np.float32)
    near = vectors @ vectors.mean(0)
    near[:first] = np.inf
    return [points[n] for n in sorted(np.argsort(-near, kind="stable")[:limit])]


def _is_under(entry: Entry, names: frozenset[str]) -> bool:
    """Whether a chunk stands under such a heading."""
    return any(heading.casefold() in names for heading in entry.chunk.place.headings[-1:])


async def make_profile(
    reader: IndexReader, embed_queries: Callable[[Sequence[str]], Awaitable[Vectors]], sentences: Sentences
) -> dict[str, Any]:
    """The topic profile of an index, from all that it holds."""
    builder = ProfileBuilder()
    terms = cache(lexical.terms)  # many chunks stand under one heading
    async for point in reader.points():
        sections = point.entry.chunk.sections
        named = chain.from_iterable(map(terms, sections))
        builder.add("\n".join((*sections, point.entry.chunk.text)), point.dense, chain(point.terms.indices, named))
    probes = await asyncio.to_thread(builder.probes, sentences)  # both would hold up who asks meanwhile
    return await asyncio.to_thread(builder.build, await embed_queries(probes))


class Writer:
    """The agent on the local model, or on a hosted one. What it needs is loaded while the book is still searched."""

    def __init__(
        self,
        sentences: Sentences,
        executor: Executor,
        deadline: Deadline,
        service: generation.HostedModelService | None = None,
        temperature: float = 0.0,
        max_tokens: int = 1024,
    ) -> None:
        self._sentences, self._executor, self._deadline, self._service = sentences, executor, deadline, service
        self._temperature, self._max_tokens = temperature, max_tokens

    def prepare(self) -> None:
        if not agent_loading().done():
            self._deadline.pause()

    async def __call__(
        self,
        question: str,
        passages: Sequence[Passage],
        *,
        reader: Reader,
        threshold: float,
        search: Callable[[str], Awaitable[list[Passage]]] | None,
        say: Callable[[DraftSentence, Sequence[Passage]], Awaitable[None]],
    ) -> tuple[Sequence[Passage], dict[str, Any]]:
        await asyncio.shield(asyncio.wrap_future(agent_loading()))  # others may wait for it too
        self._deadline.go_on()
        from chapterverse.answer import agent, models

        service, sentences = self._service, self._sentences
        local = models.LocalModel(reader, sentences, self._executor, threshold)
        model = models.HostedModel(service) if service else local
        drafted = await agent.draft(
            question,
            passages,
            model=model,
            say=say,
            settings=agent.AgentSettings(temperature=self._temperature, max_tokens=self._max_tokens),
            search=search,
        )
        return drafted.passages, asdict(drafted.usage)
