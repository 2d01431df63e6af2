"""Who may ask: the checks that come before anything of a request is read.

| check | refused with | why |
|---|---|---|
| the `Host` is a name of this service | 421 | somebody's page could have its own name lead here (DNS rebinding) |
| the `Origin`, if there is one, is ours or an allowed site | 403 | other pages may not make a reader's browser ask |
| the key, if there is one, is right | 401 | |
| the body is not too large | 413 | |
"""

from __future__ import annotations

import hmac
import re
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chapterverse.settings import ServiceSettings
from chapterverse.surfaces.http.errors import error_response

ANY = "*"
FOREIGN = (
    "Pages of this site may not use the service. Whoever runs it names the sites that may, with --allow-origin or"
    " CHAPTERVERSE_ORIGINS."
)
_UNAUTHORIZED, _FORBIDDEN, _TOO_LARGE, _MISDIRECTED = 401, 403, 413, 421
_HOST = re.compile(r"(?:\[(?P<address>[^\]]*:[^\]]*)\]|(?P<name>[^\[\]:/]+))(?::\d*)?")
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
PROBES = frozenset({"/health", "/ready"})
"""For whoever watches over the service, by whatever name they call it; they tell nothing of the books."""
OPEN = ("/chapterverse.js", "/static/")
"""What a browser loads before it can send a key, beside the page at `/`."""
UPLOADS = ("/books",)
"""Where whole books are sent in."""


class Guard:
    """Lets a request through if its host, origin and key are right."""

    def __init__(self, app: ASGIApp, service: ServiceSettings) -> None:
        self._app = app
        self._hosts = {*_THIS_MACHINE, service.host.casefold(), *(host.casefold() for host in service.hosts)}
        self._origins = frozenset(service.origins)
        key = service.api_key
        self._key = key.get_secret_value().encode() if key else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        status, detail = refusal
        headers = {"WWW-Authenticate": "Bearer"} if status == _UNAUTHORIZED else None
        await error_response(scope, status, detail, headers=headers)(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if scope["path"] not in PROBES and not self._is_ours(headers.get("host", "")):
            return _MISDIRECTED, (
                "This service is not known by the name in the Host header. Whoever runs it says by which names it is "
                "reached, with --allow-host or CHAPTERVERSE_HOSTS."
            )
        if not self._may_come_from(headers.get("origin"), headers.get("host", "")):
            return _FORBIDDEN, FOREIGN
        if self._key is not None and not _is_open(scope) and not self._is_key(headers.get("authorization", "")):
            return _UNAUTHORIZED, "Send the service's key, as `Authorization: Bearer KEY`."
        return None

    def _is_ours(self, host: str) -> bool:
        return ANY in self._hosts or _name(host) in self._hosts

    def _may_come_from(self, origin: str | None, host: str) -> bool:
        if origin is None or ANY in self._origins:
            return True
        own = (f"http://{host.casefold()}", f"https://{host.casefold()}")
        return origin.casefold() in (*own, *self._origins)

    def _is_key(self, authorization: str) -> bool:
        assert self._key is not None
        scheme, _, given = authorization.partition(" ")
        # As bytes: in Latin-1, which headers come in, the last byte of an `à` would count as a space.
        return scheme.casefold() == "bearer" and hmac.compare_digest(given.encode("latin-1").strip(), self._key)


def is_this_machine(host: str) -> bool:
    """Whether only this machine itself can reach what listens there."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _name(host: str) -> str | None:
    """A host without its port; None if it is no host."""
    named = _HOST.fullmatch(host)
    return (named["address"] or named["name"]).casefold() if named else None


def _is_open(scope: Scope) -> bool:
    path: str = scope["path"]
    return path in PROBES or path == "/" or path.startswith(OPEN)


class BodyLimit:
    """Refuses a body that is too large: at once where its length is told, else as soon as too much has come."""

    def __init__(self, app: ASGIApp, service: ServiceSettings) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._service.max_upload if scope["path"].startswith(UPLOADS) else self._service.max_body
        detail = f"The body is larger than the {limit:,} bytes that are taken here."
        told = Headers(scope=scope).get("content-length", "")
        if told.isdigit() and int(told) > limit:
            await error_response(scope, _TOO_LARGE, detail)(scope, receive, send)
            return
        came, begun = 0, False

        async def counted() -> Message:
            nonlocal came
            message = await receive()
            came += len(message.get("body", b""))
            if came > limit:
                raise HTTPException(_TOO_LARGE, detail)
            return message

        async def sent(message: Message) -> None:
            nonlocal begun
            if came > limit and not begun:
                return  # whoever read the body tells of it in a way of its own
            begun = True
            await send(message)

        try:
            await self._app(scope, counted, sent)
        except HTTPException:
            if came <= limit:
                raise
        if came > limit and not begun:
            await error_response(scope, _TOO_LARGE, detail)(scope, receive, send)
