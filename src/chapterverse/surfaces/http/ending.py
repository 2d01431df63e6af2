"""When the service is told to end: servers tell an application so only after all that is under way is over."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def told_to_end(ending: asyncio.Event) -> Iterator[None]:
    """Set `ending` at the signals that end a process; whoever else handles them does so as before."""
    if threading.current_thread() is not threading.main_thread():  # where there are no signals
        yield
        return
    loop = asyncio.get_running_loop()
    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}

    def tell(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(ending.set)
        handler = handlers[signal.Signals(number)]
        assert callable(handler)
        handler(number, frame)

    handled = [one for one, handler in handlers.items() if callable(handler)]
    for one in handled:
        signal.signal(one, tell)
    try:
        yield
    finally:
        for one in handled:
            signal.signal(one, handlers[one])
