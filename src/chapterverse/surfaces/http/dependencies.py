"""What a router is given with each request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from chapterverse.library import AsyncLibrary


def _library(request: Request) -> AsyncLibrary:
    library: AsyncLibrary = request.app.state.library
    return library


def _request_id(request: Request) -> str:
    name: str = request.state.id
    return name


TheLibrary = Annotated[AsyncLibrary, Depends(_library)]
"""The library that the application was made for."""
RequestId = Annotated[str, Depends(_request_id)]
"""What this request is called, in its response and in the log."""
