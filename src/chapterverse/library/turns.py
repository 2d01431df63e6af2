"""Turns: the model work of several questions at once, done for whoever asked first."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from itertools import count
from queue import PriorityQueue
from typing import Any, TypeVar

T = TypeVar("T")


class Turns:
    """Threads for model work. Of what waits for one, they do the earliest question's work first.

    Questions that shared the cores evenly would slow each other down alike, and all of them be late; as it is, the
    first ones are answered in time, and only the last ones can be late. What orders them is a number, not a lock that
    is held from beginning to end: while a question waits for a store, a provider or a hosted model, it is in nobody's
    way.

    The reader spreads each piece of work over all cores by itself. So there are half as many threads as cores: on two
    cores, 16 questions at once take a fifth longer than with two threads, but the first has the machine to itself.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // 2), thread_name_prefix="chapterverse-model")
        self._waiting: PriorityQueue[tuple[int, int, Future[Any], Callable[[], Any]]] = PriorityQueue()
        self._questions, self._pieces = count(), count()

    def next(self) -> Executor:
        """Where the next question's work is done: behind that of all before it."""
        return _Turn(partial(self._put, next(self._questions)))

    def _put(self, question: int, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        self._waiting.put((question, next(self._pieces), future, work))
        self._threads.submit(self._do_first)
        return future

    def _do_first(self) -> None:
        *_, future, work = self._waiting.get_nowait()
        if not future.set_running_or_notify_cancel():
            return  # nobody waits for it any more
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)


class _Turn(Executor):
    def __init__(self, put: Callable[[Callable[[], Any]], Future[Any]]) -> None:
        self._put = put

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        return self._put(partial(fn, *args, **kwargs))
