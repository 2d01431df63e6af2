"""Work that is past undoing is brought to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def finished(work: Awaitable[T]) -> T:
    """The result of work that makes public what was written: a cancellation comes too late, and changes nothing.

    Whoever cancels can so rely on it: either all was undone, or there is a result.
    """
    task = asyncio.ensure_future(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    return task.result()
