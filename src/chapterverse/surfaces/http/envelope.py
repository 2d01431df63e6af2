"""What every request gets: a name, headers that keep a browser strict, a place in the metrics, and always an answer."""

from __future__ import annotations

import asyncio
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chapterverse.surfaces.http.errors import METHODS, response_to, service_ending
from chapterverse.surfaces.http.metrics import Metrics

REQUEST_ID = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_UNFINISHED = 499
_OTHER = "other"

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Nothing but our own files is loaded or talked to, and nothing inline runs."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Unless a response says otherwise."""


class Envelope:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        name = given if _SANE.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["id"] = name
        status = 0

        async def sealed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = name
                for key, value in HEADERS.items():
                    headers.setdefault(key, value)
            await send(message)

        # What can be got can be asked about: the server leaves out the body.
        asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        began = time.perf_counter()
        self._metrics.began()
        try:
            await self._app(asked, receive, sealed)
        except Exception as error:
            if status:  # it has begun to answer, and can only break off
                raise
            await response_to(scope, error)(scope, receive, sealed)
        except asyncio.CancelledError:  # by the server, which has waited long enough for its end
            if status:
                raise
            await response_to(scope, service_ending())(scope, receive, sealed)
        finally:
            # Clients can make up paths and methods without end, but not what is counted by.
            route = getattr(asked.get("route"), "path", _OTHER)
            method = scope["method"] if scope["method"] in METHODS else _OTHER
            self._metrics.ended(method, route, status or _UNFINISHED, time.perf_counter() - began)
