"""The library for plain code: blocking calls of the async one, on one background loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from chapterverse.errors import AstRagError
from chapterverse.index.build import BuildResult
from chapterverse.index.sync import SyncResult
from chapterverse.library.asynchronous import AsyncLibrary, SearchResult
from chapterverse.library.catalogue import Inspection
from chapterverse.protocols import Reader
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings
from chapterverse.types import Answer, AnswerEvent, Document, Entry, IndexRecord

T = TypeVar("T")


class BackgroundLoop:
    """An event loop in a thread of its own, so that blocking calls work in notebooks and inside a running loop.

    After a fork the thread is gone, so the child starts its own; Ctrl-C cancels what is under way.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine's result."""
        future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop the loop and its thread."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._pid == os.getpid():
            loop.call_soon_threadsafe(loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                thread = threading.Thread(target=_serve, args=(self._loop,), name="chapterverse-loop", daemon=True)
                thread.start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(_end_all())
    finally:
        loop.close()


async def _end_all() -> None:
    """Cancel what is left. What is past undoing goes on, as long as the process lives."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


class Library:
    """The same for plain, blocking code: in a script, a notebook, or inside a running event loop."""

    def __init__(self, settings: Settings | None = None, **parts: Any) -> None:
        self._loop = BackgroundLoop()
        self._library = AsyncLibrary(settings, **parts)

    @classmethod
    def open(cls, path: str | Path, settings: Settings | None = None, **parts: Any) -> Self:
        """A library to ask about the book or the folder of books at `path`; see `AsyncLibrary.open`."""
        library, loop = cls.__new__(cls), BackgroundLoop()
        library._loop, library._library = loop, loop.run(AsyncLibrary.open(path, settings, **parts))
        return library

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._loop.run(self._library.close())
        self._loop.close()

    def run(self, work: Callable[[AsyncLibrary], Coroutine[Any, Any, T]]) -> T:
        """Wait for what a coroutine does with the async library."""
        return self._loop.run(work(self._library))

    @property
    def settings(self) -> Settings:
        return self._library.settings

    @property
    def embeddings(self) -> Embeddings:
        return self._library.embeddings

    @property
    def reader(self) -> Reader:
        return self._library.reader

    def share(self) -> None:
        """Let the other processes of this machine reach the indexes through this one; see `AsyncLibrary.share`."""
        self._loop.run(self._library.share())

    def add(self, address: str | Path, **options: Any) -> BuildResult | SyncResult:
        """Index a book or a folder; see `AsyncLibrary.add`."""
        return self._loop.run(self._library.add(address, **options))

    def build(self, *what: Any, **options: Any) -> BuildResult:
        """Build an index, or replace one; see `AsyncLibrary.build`."""
        return self._loop.run(self._library.build(*what, **options))

    def sync(self, index: str | None = None, **options: Any) -> SyncResult:
        """Bring an index into step with its sources; see `AsyncLibrary.sync`."""
        return self._loop.run(self._library.sync(index, **options))

    def search(self, query: str, **options: Any) -> SearchResult:
        """The passages of an index that bear on a query; see `AsyncLibrary.search`."""
        return self._loop.run(self._library.search(query, **options))

    def ask(self, question: str, **options: Any) -> Answer:
        """Answer a question from an index, or from a selection alone; see `AsyncLibrary.ask`."""
        return self._loop.run(self._library.ask(question, **options))

    def stream(self, question: str, **options: Any) -> Iterator[AnswerEvent]:
        """Ask, and hear of it as it happens; see `AsyncLibrary.stream`."""
        events = self._library.stream(question, **options)

        async def following() -> AnswerEvent | None:
            return await anext(events, None)

        try:
            while (event := self._loop.run(following())) is not None:
                yield event
        finally:
            self._loop.run(events.aclose())

    def answer_from(self, question: str, entries: Sequence[Entry], **options: Any) -> Answer:
        """Answer from passages that were found before; see `AsyncLibrary.answer_from`."""
        return self._loop.run(self._library.answer_from(question, entries, **options))

    def document(self, file_id: str, index: str | None = None) -> Document:
        """A whole document, as the index holds it."""
        return self._loop.run(self._library.document(file_id, index))

    def find(self, index: str | None = None) -> str:
        """The id of the index that is meant; see `AsyncLibrary.find`."""
        return self._loop.run(self._library.find(index))

    def record(self, index: str | None = None) -> IndexRecord:
        """The record of the index that is meant; see `AsyncLibrary.record`."""
        return self._loop.run(self._library.record(index))

    def vectors(self, chunk_ids: Sequence[str], index: str | None = None) -> dict[str, Sequence[float]]:
        """The embeddings of chunks, by their ids."""
        return self._loop.run(self._library.vectors(chunk_ids, index))

    def indexes(self) -> list[IndexRecord]:
        """Every index whose record can be read, by id."""
        return self._loop.run(self._library.indexes())

    def survey(self) -> tuple[list[Inspection], dict[str, AstRagError]]:
        """What every index holds, and what is wrong with those that cannot be opened; see `AsyncLibrary.survey`."""
        return self._loop.run(self._library.survey())

    def inspect(self, index: str | None = None) -> Inspection:
        """What an index holds."""
        return self._loop.run(self._library.inspect(index))

    def calibrate(self, calibration: Mapping[str, Any], index: str | None = None) -> IndexRecord:
        """Store with an index from where an answer counts as present."""
        return self._loop.run(self._library.calibrate(calibration, index))

    def remove(self, index: str) -> str:
        """Delete an index, a damaged one too; its id."""
        return self._loop.run(self._library.remove(index))

    def remove_source(self, index: str, address: str | Path) -> SyncResult:
        """Drop one of several sources of an index; see `AsyncLibrary.remove_source`."""
        return self._loop.run(self._library.remove_source(index, address))

    def export_index(self, path: Path, index: str | None = None, *, replace_old: bool = False) -> IndexRecord:
        """Write an index to one file."""
        return self._loop.run(self._library.export_index(path, index, replace_old=replace_old))

    def import_index(self, path: Path, index: str | None = None, *, replace_old: bool = False) -> IndexRecord:
        """Read an index from a file; one of the same id is an error, or with `replace_old` replaced."""
        return self._loop.run(self._library.import_index(path, index, replace_old=replace_old))
