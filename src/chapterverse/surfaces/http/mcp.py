"""`/mcp`: the MCP server over streamable HTTP, beside the rest of the service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from chapterverse.library import AsyncLibrary, Generation
from chapterverse.library.asking import LOCAL

PATH = "/mcp"


class McpEndpoint:
    """An endpoint that serves while it is `running`. It keeps no sessions: any replica may answer any request."""

    def __init__(self, library: AsyncLibrary, generation: Generation = LOCAL) -> None:
        self._library = library
        self._generation = generation
        self._app: ASGIApp | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Enter this in the application's lifespan, once the library is warm: by then the SDK has been imported."""
        from mcp.server.transport_security import TransportSecuritySettings

        from chapterverse.surfaces.mcp.server import create_server

        server = create_server(self._library, self._generation)
        ours = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # hosts and origins are the guard's
        self._app = server.streamable_http_app(streamable_http_path=PATH, stateless_http=True, transport_security=ours)
        async with server.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None
        await self._app(scope, receive, send)
