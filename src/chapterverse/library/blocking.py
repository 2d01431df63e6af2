"""The library for plain code: blocking calls of the async one, on one background loop."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from chapterverse.index.threads import ClosedStoreError, closed
from chapterverse.library.asynchronous import Asking, AsyncLibrary
from chapterverse.library.catalogue import Parts
from chapterverse.protocols import Reader
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings
from chapterverse.types import AnswerEvent

P = ParamSpec("P")
T = TypeVar("T")


class BackgroundLoop:
    """An event loop in a thread of its own, so that blocking calls work in notebooks and inside a running loop.

    After a fork the thread is gone, so the child starts its own; Ctrl-C cancels what is under way. Nobody needs to
    close it: it ends with what it belongs to.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0
        self._closed = False
        self._stop: Callable[[], object] | None = None
        """Works once, so that a loop which is ending is not stopped in the midst of that."""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine's result."""
        with self._lock:  # or it could come to a loop that has just stopped, and wait for ever
            if self._closed:
                work.close()
                raise closed()
            future = asyncio.run_coroutine_threadsafe(work, self._running())
        try:
            return future.result()
        except CancelledError as error:
            raise (closed(error) if self._closed else error) from error
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop the loop and its thread."""
        with self._lock:
            self._closed = True
        if self._stop is not None:
            self._stop()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or self._pid != os.getpid():
            self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
            thread = threading.Thread(target=_serve, args=(self._loop,), name="chapterverse-loop", daemon=True)
            thread.start()
            self._stop = stop = weakref.finalize(self, _stop, self._loop, self._pid)
            stop.atexit = False
        return self._loop


def _stop(loop: asyncio.AbstractEventLoop, pid: int) -> None:
    with suppress(RuntimeError):  # it has been closed
        if pid == os.getpid():
            loop.call_soon_threadsafe(loop.stop)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(_end_all())
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _end_all() -> None:
    """Cancel what is left. What is past undoing goes on, as long as the process lives."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _blocking(
    method: Callable[Concatenate[AsyncLibrary, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Library, P], T]:
    """The same method for plain code, with the same arguments."""

    @wraps(method)
    def call(self: Library, /, *args: P.args, **kwargs: P.kwargs) -> T:
        asynchronous: Callable[P, Coroutine[Any, Any, T]] = getattr(self._library, method.__name__)
        return self._loop.run(asynchronous(*args, **kwargs))

    call.__qualname__ = f"Library.{method.__name__}"
    return call


class Library:
    """The same for plain, blocking code: in a script, a notebook, or inside a running event loop."""

    add = _blocking(AsyncLibrary.add)
    build = _blocking(AsyncLibrary.build)
    sync = _blocking(AsyncLibrary.sync)
    share = _blocking(AsyncLibrary.share)
    search = _blocking(AsyncLibrary.search)
    ask = _blocking(AsyncLibrary.ask)
    answer_from = _blocking(AsyncLibrary.answer_from)
    document = _blocking(AsyncLibrary.document)
    find = _blocking(AsyncLibrary.find)
    record = _blocking(AsyncLibrary.record)
    vectors = _blocking(AsyncLibrary.vectors)
    indexes = _blocking(AsyncLibrary.indexes)
    survey = _blocking(AsyncLibrary.survey)
    inspect = _blocking(AsyncLibrary.inspect)
    calibrate = _blocking(AsyncLibrary.calibrate)
    remove = _blocking(AsyncLibrary.remove)
    remove_source = _blocking(AsyncLibrary.remove_source)
    export_index = _blocking(AsyncLibrary.export_index)
    import_index = _blocking(AsyncLibrary.import_index)

    def __init__(self, settings: Settings | None = None, **parts: Unpack[Parts]) -> None:
        self._loop = BackgroundLoop()
        self._library = AsyncLibrary(settings, **parts)

    @classmethod
    def open(cls, path: str | Path, settings: Settings | None = None, **parts: Unpack[Parts]) -> Self:
        """A library to ask about the book or the folder of books at `path`; see `AsyncLibrary.open`."""
        library, loop = cls.__new__(cls), BackgroundLoop()
        library._loop, library._library = loop, loop.run(AsyncLibrary.open(path, settings, **parts))
        return library

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the indexes; once is enough."""
        with suppress(ClosedStoreError):  # it was closed before
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

    def stream(self, question: str, **options: Unpack[Asking]) -> Iterator[AnswerEvent]:
        """Ask, and hear of it as it happens; see `AsyncLibrary.stream`."""
        events = self._library.stream(question, **options)

        async def following() -> AnswerEvent | None:
            return await anext(events, None)

        try:
            while (event := self._loop.run(following())) is not None:
                yield event
        finally:
            with suppress(ClosedStoreError):
                self._loop.run(events.aclose())
