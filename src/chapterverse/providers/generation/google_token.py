"""Access tokens of Google's sign-in, renewed when they have run out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx2

_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_TIMEOUT = 10.0


class _Answer(NamedTuple):
    """What Google's library wants to know of a reply."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class GoogleToken:
    """A token on demand, from the credentials that Google's own tools have left on the machine."""

    def __init__(self) -> None:
        self._credentials: Any = None
        self._lock = threading.Lock()

    async def __call__(self) -> str:
        return await asyncio.to_thread(self._fresh)

    def _fresh(self) -> str:
        import google.auth

        with self._lock:
            if self._credentials is None:
                self._credentials, _ = google.auth.default(scopes=_SCOPES)
            if not self._credentials.valid:
                self._credentials.refresh(_ask)
            return str(self._credentials.token)


def _ask(
    url: str,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float | None = None,
    **_: Any,
) -> _Answer:
    """Google's library speaks through us, so that it needs no HTTP client of its own."""
    from google.auth import exceptions

    try:
        reply = httpx2.request(method, url, content=body, headers=headers, timeout=timeout or _TIMEOUT)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise exceptions.TransportError(error) from error  # type: ignore[no-untyped-call]
    return _Answer(reply.status_code, reply.headers, reply.content)
