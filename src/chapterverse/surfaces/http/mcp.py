"""`/mcp`: the MCP server over streamable HTTP, beside the rest of the service."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chapterverse.library import AsyncLibrary, Generation
from chapterverse.surfaces.http.bodies import once
from chapterverse.surfaces.http.errors import error_response

PATH = "/mcp"
_TAKEN, _NOT_ALLOWED = "POST", 405


class McpEndpoint:
    """An endpoint that serves while it is `running`. It keeps no sessions: any replica may answer any request."""

    def __init__(self, library: AsyncLibrary, generation: Generation) -> None:
        self._library = library
        self._generation = generation
        self._app: asyncio.Future[ASGIApp]
        self._warm: asyncio.Task[None]

    @asynccontextmanager
    async def running(self, warm: asyncio.Task[None]) -> AsyncIterator[None]:
        """Enter this in the application's lifespan. Requests wait until the SDK is imported and the library `warm`."""
        self._warm = warm
        self._app = asyncio.get_running_loop().create_future()
        over = asyncio.Event()
        serving = asyncio.create_task(self._serve(over))
        serving.add_done_callback(self._tell)
        try:
            yield
        finally:
            over.set()
            await serving

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Without a session there is nothing to tell but answers: a stream that is opened with GET would only be held
        # open, and waited for when the service ends. The protocol has it refused with 405.
        if scope["method"] != _TAKEN:
            detail = f"{scope['method']} cannot be used on this path. It takes: {_TAKEN}."
            await error_response(scope, _NOT_ALLOWED, detail, headers={"Allow": _TAKEN})(scope, receive, send)
            return
        receive = await _said_once(receive)
        await asyncio.wait([self._warm])
        await (await asyncio.shield(self._app))(scope, receive, send)

    def _tell(self, serving: asyncio.Task[None]) -> None:
        """A server that could not start fails the requests that wait for it, and those to come."""
        if not self._app.done() and not serving.cancelled() and (error := serving.exception()):
            self._app.set_exception(error)

    async def _serve(self, over: asyncio.Event) -> None:
        await asyncio.to_thread(import_module, "chapterverse.surfaces.mcp.server")  # its SDK takes seconds
        from mcp.server.transport_security import TransportSecuritySettings

        from chapterverse.surfaces.mcp.server import create_server

        server = create_server(self._library, self._generation)
        ours = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # hosts and origins are the guard's
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            transport_security=ours,
            max_request_body_size=sys.maxsize,  # and how large a body may be is `BodyLimit`'s
        )
        async with server.session_manager.run():
            self._app.set_result(app)
            await over.wait()


async def _said_once(receive: Receive) -> Receive:
    """The same messages, of which those of the body have come: no name is given twice in it, as the SDK would allow."""
    messages: list[Message] = []
    while not messages or messages[-1].get("more_body"):
        messages.append(await receive())
    with suppress(ValueError, RecursionError):  # what is no JSON, the SDK tells of in the protocol's own way
        json.loads(b"".join(message.get("body", b"") for message in messages), object_pairs_hook=once)
    coming = iter(messages)

    async def again() -> Message:
        return next(coming, None) or await receive()

    return again
