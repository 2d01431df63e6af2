"""The application factory: what is set up once for all routers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Route

from chapterverse import __version__
from chapterverse.library import AsyncLibrary
from chapterverse.settings import ServiceSettings
from chapterverse.surfaces.http import asking, books, chat, errors, indexes, openapi, page, policy, status, uploads
from chapterverse.surfaces.http.ending import told_to_end
from chapterverse.surfaces.http.layers import layers
from chapterverse.surfaces.http.mcp import PATH, McpEndpoint
from chapterverse.surfaces.http.metrics import Metrics

_ROUTERS = (asking.router, books.router, chat.router, indexes.router, page.router, status.router, uploads.router)


def create_app(library: AsyncLibrary, service: ServiceSettings | None = None) -> FastAPI:
    """The application; it closes the library when it ends."""
    service = service or ServiceSettings()
    assistants = McpEndpoint(library, policy.generation(service))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.ending = asyncio.Event()
        await library.share()
        app.state.warm = asyncio.create_task(library.warm_up())
        try:
            with told_to_end(app.state.ending):
                async with assistants.running(app.state.warm):
                    yield
        finally:
            await asyncio.wait([app.state.warm])
            await library.close()

    # Its own pages about the API load scripts from elsewhere; /openapi.json tells the same.
    metrics = Metrics()
    app = FastAPI(
        title="Chapterverse",
        version=__version__,
        lifespan=lifespan,
        middleware=layers(service, metrics),
        docs_url=None,
        redoc_url=None,
    )
    app.state.library = library
    app.state.service = service
    app.state.configuration = policy.configuration(service)
    app.state.metrics = metrics
    library.on_answer = metrics.answered
    errors.add_handlers(app)
    for router in _ROUTERS:
        app.include_router(router)
    app.router.routes.append(Route(PATH, assistants, include_in_schema=False))
    app.openapi = lambda: openapi.describe(app)  # type: ignore[method-assign]
    return app
