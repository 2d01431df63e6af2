"""Trying again, and only where it may help. Each wait is logged, and nothing is ever printed."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import sleep
from typing import TypeVar

T = TypeVar("T")

Judge = Callable[[Exception], bool | float]
"""Whether an error may pass; a number is how many seconds to wait for that."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how patiently; waits double from `wait_initial` up to `wait_max`, with jitter."""

    attempts: int
    wait_initial: float = 0.1
    wait_max: float = 30.0
    wait_jitter: float = 1.0

    async def run(self, call: Callable[[], Awaitable[T]], judge: Judge) -> T:
        """The call's result; its last error if all attempts fail, or its first that will not pass."""
        for attempt in range(1, self.attempts):
            try:
                return await call()
            except Exception as error:
                seconds = self._wait(attempt, error, judge)
            await asyncio.sleep(seconds)
        return await call()

    def run_blocking(self, call: Callable[[], T], judge: Judge) -> T:
        """The same for code without an event loop."""
        for attempt in range(1, self.attempts):
            try:
                return call()
            except Exception as error:
                seconds = self._wait(attempt, error, judge)
            sleep(seconds)
        return call()

    def _wait(self, attempt: int, error: Exception, judge: Judge) -> float:
        """How long to wait before the next attempt; raises the error where that would not help."""
        verdict = judge(error)
        if verdict is False:
            raise error
        grown = min(self.wait_max, self.wait_initial * 2 ** (attempt - 1) + random.uniform(0, self.wait_jitter))
        seconds = grown if verdict is True else float(verdict)
        _log.info("Attempt %d of %d failed, the next is in %.1f s: %s", attempt, self.attempts, seconds, error)
        return seconds
