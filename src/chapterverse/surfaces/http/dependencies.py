"""What a router is given with each request."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from chapterverse.contracts.requests import Configuration
from chapterverse.errors import AstRagValidationError
from chapterverse.library import AsyncLibrary
from chapterverse.settings import ServiceSettings
from chapterverse.surfaces.http.metrics import Metrics


def _library(request: Request) -> AsyncLibrary:
    library: AsyncLibrary = request.app.state.library
    return library


def _service(request: Request) -> ServiceSettings:
    service: ServiceSettings = request.app.state.service
    return service


def _configuration(request: Request) -> Configuration:
    configuration: Configuration = request.app.state.configuration
    return configuration


def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


def _request_id(request: Request) -> str:
    name: str = request.state.id
    return name


async def _warm(request: Request) -> None:
    await asyncio.wait([request.app.state.warm])


def writing(service: Annotated[ServiceSettings, Depends(_service)]) -> None:
    """Refuse what changes an index where the service only answers."""
    if service.read_only:
        raise HTTPException(403, "This service only answers: indexes cannot be changed over HTTP.")


def told_in_the_body(request: Request) -> None:
    """Refuse what an address says where nothing reads it: a trial that is asked for there would be carried out."""
    if said := next(iter(request.query_params), None):
        raise AstRagValidationError(f"{said}: it stands in the address, where nothing reads it. Put it into the body.")


TheLibrary = Annotated[AsyncLibrary, Depends(_library)]
"""The library that the application was made for."""
TheService = Annotated[ServiceSettings, Depends(_service)]
"""What the service goes by."""
TheConfiguration = Annotated[Configuration, Depends(_configuration)]
"""The same, as far as requests of the RAG surface leave it open."""
TheMetrics = Annotated[Metrics, Depends(_metrics)]
"""What the service has counted."""
RequestId = Annotated[str, Depends(_request_id)]
"""What this request is called, in its response and in the log."""
WRITING = Depends(writing)
"""For routes that change an index."""
BODY_ONLY = Depends(told_in_the_body)
"""For routes that take all they are told from the body."""
WARM = Depends(_warm)
"""For routes that need the models: while they are being loaded, no time counts."""
