"""The deadline of an answer or a search, whichever surface asked for it."""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Self

from chapterverse.errors import AstRagError, AstRagRetrievalError, AstRagValidationError, GenerationError


class Deadline:
    """Whatever is done in its block ends before the deadline, or an error says that it did not.

    Waiting for others counts, loading does not: it happens once, and the same question would be in time thereafter.
    """

    def __init__(self, seconds: float | None, late: type[AstRagError], what: str) -> None:
        if seconds is not None and not (0 < seconds < math.inf):
            raise AstRagValidationError(f"The deadline is {seconds:g} s; it must be more than 0, and end at some time.")
        self._limit = asyncio.timeout(seconds)
        self._seconds, self._late, self._what = seconds, late, what
        self._left: float | None = None

    def pause(self) -> None:
        """Something is being loaded: no time counts until it is there."""
        if (when := self._limit.when()) is not None:
            self._left = when - asyncio.get_running_loop().time()
            self._limit.reschedule(None)

    def go_on(self) -> None:
        """It is there. Without a pause before it, nothing changes."""
        if self._left is not None:
            self._limit.reschedule(asyncio.get_running_loop().time() + self._left)
            self._left = None

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError as passed:
            raise self._late(
                f"{self._what} before the deadline of {self._seconds:g} s. Try again, or allow more time with"
                " CHAPTERVERSE_DEADLINE.",
                details={"reason": "deadline"},
                cause=passed,
            ) from passed


def for_answer(seconds: float) -> Deadline:
    """Of a question."""
    return Deadline(seconds, GenerationError, "There was no answer")


def for_search(seconds: float | None) -> Deadline:
    """Of a search; without `seconds`, it may take as long as it takes."""
    return Deadline(seconds, AstRagRetrievalError, "The search did not end")
