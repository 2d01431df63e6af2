"""`chapterverse mcp`: the server on stdin and stdout, or on a port of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Route

from chapterverse.errors import AstRagValidationError
from chapterverse.library import AsyncLibrary, Generation
from chapterverse.providers.generation import resolve
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.mcp.server import create_server


def run_stdio(model: str) -> None:
    """Serve until whoever started it closes stdin. Nothing but the protocol is written to stdout."""
    resolve(model)  # raises if it is unknown, or its key is missing
    asyncio.run(_serve_stdio(Generation(model=model)))


def run_http(address: str, model: str) -> None:
    """Serve `/mcp` alone until interrupted, under the rules of the service."""
    from chapterverse.surfaces.http.serving import check, check_address, listen

    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise AstRagValidationError(f"--http is {address!r}; it must be HOST:PORT, such as 127.0.0.1:8000.")
    settings, service = Settings(), ServiceSettings(host=host.strip("[]"), port=int(port), model=model)
    check(settings, service)
    check_address(service.host, service.port, host_option="--http", port_option="--http")
    listen(http_app(AsyncLibrary(settings), service), service)


def http_app(library: AsyncLibrary, service: ServiceSettings) -> Starlette:
    """`/mcp` alone; it closes the library when it ends."""
    from chapterverse.surfaces.http.errors import add_handlers
    from chapterverse.surfaces.http.layers import layers
    from chapterverse.surfaces.http.mcp import PATH, McpEndpoint
    from chapterverse.surfaces.http.metrics import Metrics
    from chapterverse.surfaces.http.policy import generation

    endpoint = McpEndpoint(library, generation(service))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with _long_lived(library) as warming, endpoint.running(warming):
            yield

    app = Starlette(routes=[Route(PATH, endpoint)], middleware=layers(service, Metrics()), lifespan=lifespan)
    add_handlers(app)
    return app


async def _serve_stdio(generation: Generation) -> None:
    library = AsyncLibrary()
    async with _long_lived(library):
        await create_server(library, generation).run_stdio_async()


@asynccontextmanager
async def _long_lived(library: AsyncLibrary) -> AsyncIterator[asyncio.Task[None]]:
    """Shared with the other processes of this machine, and its models loaded meanwhile for the first question."""
    async with library:
        await library.share()
        warming = asyncio.create_task(library.warm_up())
        try:
            yield warming
        finally:
            warming.cancel()
            await asyncio.wait([warming])
