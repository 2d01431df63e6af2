"""How errors are told: with which HTTP status, by the table of `docs/contracts.md`, and in which words."""

from __future__ import annotations

import re

from chapterverse.answer.prompts import SEARCH_FAILED
from chapterverse.errors import (
    AstRagAuthError,
    AstRagEmbeddingCapabilityError,
    AstRagError,
    AstRagGroundingError,
    AstRagIndexError,
    AstRagRetrievalError,
    AstRagSourceError,
    AstRagValidationError,
)

STATUS: tuple[tuple[type[AstRagError], int], ...] = (
    (AstRagValidationError, 400),
    (AstRagEmbeddingCapabilityError, 400),
    (AstRagAuthError, 502),
    (AstRagSourceError, 502),
    (AstRagIndexError, 500),
    (AstRagRetrievalError, 503),
    (AstRagGroundingError, 502),
    (AstRagError, 500),
)
"""The status of each kind of error, unless its reason has one of its own."""

REASON: dict[tuple[type[AstRagError], str], int] = {
    (AstRagIndexError, "unknown"): 404,
    (AstRagIndexError, "locked"): 409,
    (AstRagIndexError, "exists"): 409,
    (AstRagIndexError, "empty"): 409,
    (AstRagRetrievalError, "deadline"): 504,
    (AstRagGroundingError, "deadline"): 504,
}
"""By `details["reason"]`."""

SENT_IN, RATE_LIMITED, UNAVAILABLE = 422, 429, 503


def http_status(error: AstRagError) -> int:
    """The status for an error."""
    if error.details.get("status") == RATE_LIMITED:
        return RATE_LIMITED
    if error.details.get("sent_in"):  # the file that cannot be read is the request's own, and no source of ours
        return SENT_IN
    kind, status = next((kind, status) for kind, status in STATUS if isinstance(error, kind))
    return REASON.get((kind, str(error.details.get("reason"))), status)


_ROOT = r"(?:[A-Za-z]:\\|~?/)"
_FOLDERS = re.compile(rf"""(?<=['"`]){_ROOT}(?:[^/\\'"`]+[/\\])+|(?<![\w:/.]){_ROOT}(?:[^\s/\\'"`:*?<>|]+[/\\])+""")
"""The folders before a file's name, on any system; not those of a web address."""


def public_message(error: AstRagError) -> str:
    """What others may read of an error: neither where the store is, nor in which folders files are."""
    if isinstance(error, AstRagRetrievalError) and http_status(error) == UNAVAILABLE:
        return SEARCH_FAILED
    return without_folders(error.message)


def without_folders(text: str) -> str:
    """A text whose files are named without the folders they are in."""
    return _FOLDERS.sub("", text)
