"""How patient a provider's trouble finds us."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from chapterverse.errors import AstRagError
from chapterverse.retry import Retry

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently; waits grow from `wait_initial` to `wait_max`, with jitter."""

    attempts: int = 6
    wait_initial: float = 0.5
    wait_max: float = 20.0
    wait_jitter: float = 1.0
    patience: float = 60.0
    """The longest wait that a provider may ask for; if it asks for more, its error is raised at once."""

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """The call's result; its last error if all attempts fail, or its first that trying again will not mend."""
        retry = Retry(self.attempts, self.wait_initial, self.wait_max, self.wait_jitter)
        return await retry.run(call, self._judge)

    def _judge(self, error: Exception) -> bool | float:
        if not isinstance(error, AstRagError) or not error.retryable:
            return False
        asked = error.details.get("retry_after")
        if asked is None:
            return True
        return float(asked) if asked <= self.patience else False
