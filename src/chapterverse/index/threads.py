"""The threads that an embedded store works in, which say so themselves once they are gone."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from chapterverse.errors import StoreUnreachableError

T = TypeVar("T")


class ClosedStoreError(StoreUnreachableError):
    """Whoever holds the indexes has closed them, or is another process than this one."""

    def __init__(self, message: str, *, cause: Exception | None = None) -> None:
        super().__init__(message, details={"reason": "closed"}, cause=cause, retryable=False)


def closed(cause: Exception | None = None) -> ClosedStoreError:
    return ClosedStoreError("This library has been closed: open another one.", cause=cause)


class Threads(ThreadPoolExecutor):
    """Threads of this process alone: in one that was forked from it they do not exist, and work would wait for ever."""

    def __init__(self, count: int) -> None:
        super().__init__(count, thread_name_prefix="chapterverse-index")
        self._pid = os.getpid()

    @property
    def are_here(self) -> bool:
        return self._pid == os.getpid()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        if not self.are_here:
            raise ClosedStoreError(
                f"This library was opened by process {self._pid}, which this one was forked from: open another one here"
                " (after that one has been closed, or shares its indexes)."
            )
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError as error:
            raise closed(error) from error
