"""One way to ask for a page or file over HTTP: bounded in size and time, patient with passing trouble."""

from __future__ import annotations

import email.utils
import gzip
import io
import time
import weakref
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import httpcore2
import httpx2

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.sources.guard import check_time, time_limit
from chapterverse.ingest.sources.options import SourceOptions
from chapterverse.retry import Retry

USER_AGENT = "chapterverse"
MAX_REDIRECTS = 8
MAX_PATIENCE = 60.0
"""The longest `Retry-After`, in seconds, that is waited for."""

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_MAX_ERROR_BYTES = 64 * 1024
_TIMEOUTS = (httpx2.TimeoutException, httpcore2.TimeoutException)
_NETWORK = (httpx2.TransportError, httpcore2.NetworkError, httpcore2.ProtocolError)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered, in full."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    redirect: str | None = None
    """Where the server says to look instead."""

    @property
    def mime_type(self) -> str:
        """Without its parameters, in lower case; empty if the server does not say."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def modified_time(self) -> str | None:
        said = _date(self.headers.get("last-modified", ""))
        return said.isoformat(timespec="seconds").replace("+00:00", "Z") if said else None

    @property
    def is_passing(self) -> bool:
        """Whether the status speaks of trouble that may be over soon."""
        return self.status in _PASSING


class Http:
    """A client for one source; its connections are closed when the source is let go."""

    def __init__(self, options: SourceOptions, transport: httpx2.BaseTransport | None = None) -> None:
        self._options = options
        self._client = httpx2.Client(
            transport=transport,
            timeout=options.timeout_seconds,
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip"},
        )
        weakref.finalize(self, self._client.close)

    def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        check: Callable[[str], None] | None = None,
        mime_types: Collection[str] = (),
        is_passing: Callable[[Reply], bool] | None = None,
    ) -> Reply:
        """Ask for `url`, following redirects; `check` may refuse each address on the way by raising.

        A good reply of a type that is not among `mime_types` (if any are given) is refused before its body is read.
        `is_passing` may tell passing trouble from replies whose status alone does not.
        """
        for _ in range(MAX_REDIRECTS + 1):
            if check is not None:
                check(url)
            reply = self._patiently(url, headers or {}, mime_types, is_passing)
            if reply.redirect is None:
                return reply
            if not reply.redirect.startswith(("http://", "https://")):
                raise UnreadableFileError("refused", f"The address redirects away from the web, to {reply.redirect}.")
            url = reply.redirect
        raise UnreadableFileError("redirects", f"The address redirects more than {MAX_REDIRECTS} times.")

    def _patiently(
        self,
        url: str,
        headers: Mapping[str, str],
        mime_types: Collection[str],
        is_passing: Callable[[Reply], bool] | None,
    ) -> Reply:
        def once() -> Reply:
            reply = self._once(url, headers, mime_types)
            if reply.is_passing or (is_passing is not None and is_passing(reply)):
                raise _PassingTrouble(reply)
            return reply

        try:
            return Retry(self._options.attempts).run_blocking(once, _wait)
        except _PassingTrouble as trouble:
            return trouble.reply
        except _TIMEOUTS as error:
            message = f"The server did not answer within {self._options.timeout_seconds:g} s."
            raise UnreadableFileError("timeout", message, cause=error, retryable=True) from error
        except _NETWORK as error:
            message = f"The server cannot be reached: {str(error).rstrip('.')}."
            raise UnreadableFileError("unreachable", message, cause=error, retryable=True) from error

    def _once(self, url: str, headers: Mapping[str, str], mime_types: Collection[str]) -> Reply:
        with time_limit(self._options.max_seconds), self._client.stream("GET", url, headers=headers) as response:
            if not response.is_success:
                target = str(response.next_request.url.copy_with(fragment=None)) if response.next_request else None
                return Reply(url, response.status_code, response.headers, self._explanation(response), target)
            reply = Reply(url, response.status_code, response.headers, b"")
            if mime_types and reply.mime_type not in mime_types:
                raise UnreadableFileError("unsupported", f"The server sends {reply.mime_type}, which is not read.")
            return Reply(url, response.status_code, response.headers, self._body(response))

    def _body(self, response: httpx2.Response) -> bytes:
        """The whole body, unpacked by us: a client that unpacks as it reads can be made to fill the memory."""
        limit = self._options.max_bytes
        declared = response.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            raise self._too_large()
        body = _head(response, limit + 1)
        if len(body) > limit:
            raise self._too_large()
        return self._unpacked(response, body)

    def _explanation(self, response: httpx2.Response) -> bytes:
        """What a server says of a failure; nothing, if that fails too."""
        try:
            return self._unpacked(response, _head(response, _MAX_ERROR_BYTES))
        except UnreadableFileError:
            return b""

    def _unpacked(self, response: httpx2.Response, body: bytes) -> bytes:
        match response.headers.get("content-encoding", "identity").strip().lower():
            case "" | "identity":
                return body
            case "gzip" | "x-gzip":
                return gunzip(body, self._options.max_bytes)
            case other:
                raise UnreadableFileError("unsupported", f"The server packs its reply in a way not asked for: {other}.")

    def _too_large(self) -> UnreadableFileError:
        return UnreadableFileError("too_large", f"The file is over {self._options.max_file_mb} MB (max_file_mb).")


def gunzip(data: bytes, limit: int) -> bytes:
    """Unpacked gzip data; more than `limit` bytes, or damage, are refused."""
    try:
        unpacked = gzip.GzipFile(fileobj=io.BytesIO(data)).read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFileError("damaged", f"The packed data is damaged: {error}.", cause=error) from error
    if len(unpacked) > limit:
        raise UnreadableFileError("bomb", f"The data unpacks to more than {limit // (1024 * 1024)} MB.")
    return unpacked


class _PassingTrouble(Exception):
    """A reply after which it is worth to try again."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(f"HTTP {reply.status}")
        self.reply = reply


def _wait(error: Exception) -> bool | float:
    """Whether to try again after an error and, if the server says so, after how many seconds."""
    if not isinstance(error, _PassingTrouble):
        return isinstance(error, _TIMEOUTS + _NETWORK)
    said = error.reply.headers.get("retry-after", "").strip()
    if not said:
        return True
    date = _date(said)
    if said.isdecimal():
        seconds = float(said)
    elif date is not None:
        seconds = date.timestamp() - time.time()
    else:
        return True
    return max(seconds, 0.0) if seconds <= MAX_PATIENCE else False


def _date(text: str) -> datetime | None:
    try:
        return email.utils.parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _head(response: httpx2.Response, length: int) -> bytes:
    """At most the first `length` bytes of a body, as they come over the wire."""
    body = bytearray()
    for piece in response.iter_raw():
        check_time()
        body += piece[: length - len(body)]
        if len(body) >= length:
            break
    return bytes(body)
