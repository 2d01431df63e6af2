"""Every way in which a provider can fail, as one of our own errors. Adapters describe, this module decides.

- no key, 401, 402, 403, 498, a key refused by other means: `AstRagAuthError`
- 400, 404, 413, 422, any other 4xx: `AstRagEmbeddingCapabilityError`
- 408, 429, 5xx, a timeout, no connection: `AstRagRetrievalError`, retryable
- an answer that cannot be read, a quota that is spent: `AstRagRetrievalError`, not retryable
"""

from __future__ import annotations

import email.utils
import re
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chapterverse.errors import (
    AstRagAuthError,
    AstRagEmbeddingCapabilityError,
    AstRagError,
    AstRagRetrievalError,
)

_KEY_REFUSED = frozenset({401, 402, 403, 498})
_PASSING = frozenset({408, 429})
_MAX_QUOTE = 300
_SECONDS = re.compile(r"\d{1,9}(\.\d+)?")
_SHORTEST_SECRET = 6
"""A shorter key is a placeholder, and would be found in every other word."""


@dataclass(frozen=True, slots=True)
class Provider:
    """What an error message must say about a provider."""

    name: str
    title: str
    key_variables: tuple[str, ...]
    other_way: str = ""
    """To be let in without one of these."""

    @property
    def ways_in(self) -> str:
        """What to do to be let in, and the way to go on without."""
        ways = [f"set {' or '.join(self.key_variables)}", "give the key as `auth`", self.other_way]
        return ", or ".join(filter(None, ways)) + "; to go on without a key, use the provider `local`."


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, as an adapter saw it; `status` is that of the HTTP answer, or None if none came."""

    message: str
    status: int | None = None
    retry_after: float | None = None
    key_refused: bool = False
    """The provider says so by other means than the status."""
    quota_spent: bool = False
    """Waiting will not help."""
    broke_off: bool = False
    """It had begun to answer."""


UNREADABLE = Failure("there are no vectors in it", 200)


def missing_key(provider: Provider) -> AstRagAuthError:
    """Names the variable to set, and the way to go on without a key."""
    return AstRagAuthError(
        f"{provider.title} needs a key: {provider.ways_in}",
        details={"provider": provider.name, "variables": list(provider.key_variables)},
    )


def error_for(provider: Provider, failure: Failure, key: str | None, cause: BaseException) -> AstRagError:
    """The error to raise for a failure; the key appears nowhere in it, not even if the provider echoed it."""
    secret = key if key and len(key) >= _SHORTEST_SECRET else None
    said = _without(failure.message, secret)
    details: dict[str, Any] = {"provider": provider.name, "status": failure.status}
    shown = None if secret and secret in "".join(traceback.format_exception(cause)) else cause
    status = failure.status
    if failure.key_refused or status in _KEY_REFUSED:
        message = f"{provider.title} refused the key ({said}). For another one, {provider.ways_in}"
        return AstRagAuthError(message, details=details, cause=shown)
    if status is None:
        message = f"{provider.title} {'broke off' if failure.broke_off else 'cannot be reached'}: {said}."
        return AstRagRetrievalError(message, details=details, cause=shown)
    if status < 400:
        moved = status >= 300
        what = (
            f"sends to another address (HTTP {status})" if moved else "answered with something that is not embeddings"
        )
        message = f"{provider.title} {what}: {said}. Check its address."
        return AstRagRetrievalError(message, details=details, cause=shown, retryable=False)
    if status in _PASSING or status >= 500:
        details["retry_after"] = failure.retry_after
        what = "asks for patience" if status == 429 else "is in trouble"
        message = f"{provider.title} {'has no quota left' if failure.quota_spent else what} (HTTP {status}): {said}."
        return AstRagRetrievalError(message, details=details, cause=shown, retryable=not failure.quota_spent)
    message = f"{provider.title} refused the request (HTTP {status}): {said}."
    return AstRagEmbeddingCapabilityError(message, details=details, cause=shown)


def _without(message: str, secret: str | None) -> str:
    text = " ".join(message.split())
    text = text.replace(secret, "[key]") if secret else text
    return (text[:_MAX_QUOTE] + "…" if len(text) > _MAX_QUOTE else text).rstrip(".") or "no reason given"


def retry_after(headers: Mapping[str, str] | None) -> float | None:
    """How many seconds the provider asks to wait, as a number or as a date; None if it is neither."""
    given = {name.lower(): value for name, value in (headers or {}).items()}
    milliseconds = given.get("retry-after-ms", "")
    if _SECONDS.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    value = given.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    date = email.utils.parsedate_tz(value) if value else None
    try:
        return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None
    except (ValueError, OverflowError):  # a day that no calendar has
        return None
