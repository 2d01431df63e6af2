"""The application factory: what is set up once for all routers."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request

from chapterverse import __version__
from chapterverse.library import AsyncLibrary
from chapterverse.surfaces.http import asking, errors, indexes, status


def create_app(library: AsyncLibrary) -> FastAPI:
    """The application; it closes the library when it ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await library.share()
        await library.warm_up()
        yield
        await library.close()

    app = FastAPI(title="Chapterverse", version=__version__, lifespan=lifespan)
    app.state.library = library
    errors.add_handlers(app)

    @app.middleware("http")
    async def name_request(request: Request, call_next: Any) -> Any:
        request.state.id = uuid.uuid4().hex
        response = await call_next(request)
        response.headers["X-Request-Id"] = request.state.id
        return response

    for router in (asking.router, indexes.router, status.router):
        app.include_router(router)
    return app
