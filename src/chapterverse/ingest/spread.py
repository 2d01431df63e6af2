"""Work on many numbered things, shared out between this process and copies of it.

PDFium must not be used by two threads at once: more cores than one take more processes.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_FEW = 12
"""So many things are done before a copy of a process has begun."""
_MOST = 4
"""Copies share one file's memory and time, and other files are read beside it."""
_MAX_FILE = 1024

_processes = 1


def allow_copies() -> None:
    """Let this process be copied. It must be without threads: a copy has only the one that made it."""
    global _processes
    if sys.platform == "linux":  # others have no fork, or libraries that do not survive one
        _processes = min(os.cpu_count() or 1, _MOST)


def spread(work: Callable[[int], T], count: int) -> list[T]:
    """What `work` makes of each number below `count`, in their order."""
    shares = min(_processes, max(1, count // _FEW))
    copies = [_Copy(work, range(share, count, shares)) for share in range(1, shares)]
    results: list[Any] = [None] * count
    try:
        results[::shares] = [work(number) for number in range(0, count, shares)]
        for share, copy in enumerate(copies, start=1):
            results[share::shares] = copy.results()
    finally:
        for copy in copies:
            copy.end()
    return results


class _Copy:
    """A copy of this process, which does a share of the work and hands it over."""

    def __init__(self, work: Callable[[int], Any], share: range) -> None:
        self._work, self._share = work, share
        source, target = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            self._run(target)
        os.close(target)
        self._source = os.fdopen(source, "rb")

    def results(self) -> list[Any]:
        """What it has made; whatever befell it there, befalls this process if it does the same."""
        try:
            return list(pickle.load(self._source))  # noqa: S301 (from a copy of ourselves, which may do no more than we)
        except (EOFError, pickle.UnpicklingError):
            return [self._work(number) for number in self._share]

    def end(self) -> None:
        self._source.close()
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)

    def _run(self, target: int) -> None:
        """All that the copy does; it never returns."""
        try:
            os.closerange(0, target)  # who waits for this process's own answer must see when it ends without one
            os.closerange(target + 1, _MAX_FILE)
            with os.fdopen(target, "wb") as stream:
                pickle.dump([self._work(number) for number in self._share], stream, pickle.HIGHEST_PROTOCOL)
        finally:
            os._exit(0)
