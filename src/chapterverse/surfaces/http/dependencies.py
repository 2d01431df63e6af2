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


def read_of_the_address(request: Request) -> None:
    """Refuse what an address says where nothing reads it: a trial that is asked for there would be carried out."""
    read = [parameter.alias for parameter in request.scope["route"].dependant.query_params]
    told = [name for name, _ in request.query_params.multi_items()]
    if twice := next((name for name in read if told.count(name) > 1), None):
        raise AstRagValidationError(f"{twice}: it stands in the address more than once.")
    if said := next((name for name in told if name not in read), None):
        mend = f"What is read there: {', '.join(read)}." if read else "Put it into the body, or leave it out."
        raise AstRagValidationError(f"{said}: it stands in the address, where nothing reads it. {mend}")


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
ADDRESS_READ = Depends(read_of_the_address)
"""For routes that would do something else than was asked, if they left out what they are told."""
WARM = Depends(_warm)
"""For routes that need the models: while they are being loaded, no time counts."""
