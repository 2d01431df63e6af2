"""`chapterverse serve`: what must hold before the service listens, and the server that it runs on."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from chapterverse.errors import AstRagError, AstRagValidationError
from chapterverse.library import AsyncLibrary
from chapterverse.library.terms import resolve_address
from chapterverse.providers.generation import resolve
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.http.app import create_app
from chapterverse.surfaces.http.errors import log
from chapterverse.surfaces.http.guard import ANY, is_this_machine
from chapterverse.surfaces.http.policy import is_path

_GRACE = 5.0
"""Seconds that the server waits, beyond the deadline of an answer, for what is under way when it is told to end."""


def serve(**given: Any) -> None:
    """Serve until told to end; what is not given comes from the environment."""
    settings, service = Settings(), ServiceSettings(**given)
    check(settings, service)
    check_address(service.host, service.port, host_option="--host", port_option="--port")
    if service.unprotected and not service.api_key and not is_this_machine(service.host):
        log.warning("Listening on %s without a key: whoever reaches it can read and change all books.", service.host)
    several = service.workers > 1
    if several:  # each of them makes its own application, from the environment
        os.environ.update(as_environment(given))
    listen(f"{__name__}:application" if several else create_app(AsyncLibrary(settings), service), service)


def listen(app: ASGIApp | str, service: ServiceSettings) -> None:
    """Run an application, or so many workers that each make theirs, until told to end."""
    uvicorn.run(
        app,
        factory=isinstance(app, str),
        host=service.host,
        port=service.port,
        workers=service.workers,
        server_header=False,
        timeout_graceful_shutdown=int(service.deadline + _GRACE),
    )


def application() -> FastAPI:
    """The application of one worker."""
    return create_app(AsyncLibrary(), ServiceSettings())


def check(settings: Settings, service: ServiceSettings) -> None:
    """Refuse what would be unsafe, or could not work; each refusal says what to do instead."""
    if not (service.api_key or service.unprotected or is_this_machine(service.host)):
        raise AstRagValidationError(
            f"{service.host} can be reached by others, who could read and change all books. Set CHAPTERVERSE_API_KEY,"
            " or say --unprotected if something in front of the service asks who is there."
        )
    if ANY in service.origins and not service.api_key:
        raise AstRagValidationError(
            "With --allow-origin '*' any web page that is open on this machine could read the books. Name the sites, or"
            " set CHAPTERVERSE_API_KEY."
        )
    if ANY in service.hosts and not (service.api_key or service.unprotected):
        raise AstRagValidationError(
            "With --allow-host '*' any web page could reach the service under a name of its own and read the books."
            " Name the hosts, set CHAPTERVERSE_API_KEY, or say --unprotected if something in front of the service"
            " asks who is there."
        )
    if service.workers > 1 and not settings.qdrant_url:
        raise AstRagValidationError(
            f"{service.workers} workers cannot share an embedded index, which belongs to one process at a time. Keep"
            " the indexes on a Qdrant server (QDRANT_URL), or leave out --workers: one process answers many at once."
        )
    for root in service.roots:
        if is_path(root) and not Path(resolve_address(root)).exists():
            raise AstRagValidationError(f"--root: there is no file or folder {root!r}.")
    resolve(service.model)  # raises if it is unknown, or its key is missing


def check_address(host: str, port: int, *, host_option: str, port_option: str) -> None:
    """Refuse an address that cannot be listened on, before anything is loaded; the options are what can be changed."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            if os.name == "posix":  # as the server itself does: connections that have just ended are not in the way
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, ValueError) as error:  # a ValueError: what can be no name, for it is too long or holds a NUL
        number, why = getattr(error, "errno", None), getattr(error, "strerror", None) or "it is no name of a host"
        if number == errno.EADDRINUSE:
            said = f"Port {port} of {host} is taken. End what listens there, or choose another port ({port_option})."
        elif isinstance(error, socket.gaierror | ValueError) or number == errno.EADDRNOTAVAIL:
            said = f"{host!r} cannot be listened on: {why}. Name an address of this machine ({host_option})."
        else:
            said = f"Port {port} of {host} cannot be listened on: {why}. Choose another port ({port_option})."
        raise AstRagError(said, cause=error) from error


def as_environment(given: Mapping[str, Any]) -> dict[str, str]:
    """Settings as the environment variables that they are read from."""
    return {
        f"CHAPTERVERSE_{name.upper()}": ",".join(value) if isinstance(value, list | tuple) else str(value)
        for name, value in given.items()
    }
