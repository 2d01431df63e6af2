"""`chapterverse mcp`: the server on stdin and stdout, or on a port of its own."""

from __future__ import annotations

import asyncio

from chapterverse.errors import AstRagValidationError
from chapterverse.library import AsyncLibrary
from chapterverse.surfaces.mcp.server import create_server


def run(http: str | None = None) -> None:
    """Serve until whoever started it goes away; `http` is where to serve streamable HTTP, as `host:port`."""
    asyncio.run(_serve(_parsed(http) if http is not None else None))


async def _serve(http: tuple[str, int] | None) -> None:
    async with AsyncLibrary() as library:
        await library.share()
        server = create_server(library)
        warming = asyncio.create_task(library.warm_up())  # so that the first question need not wait for the models
        try:
            if http is None:
                await server.run_stdio_async()
            else:
                await server.run_streamable_http_async(host=http[0], port=http[1], stateless_http=True)
        finally:
            warming.cancel()
            await asyncio.wait([warming])


def _parsed(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise AstRagValidationError(f"--http is {address!r}; it must be HOST:PORT, such as 127.0.0.1:8000.")
    return host.strip("[]"), int(port)
