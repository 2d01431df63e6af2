"""A real server on loopback, for tests: the whole application over HTTP, and small books behind it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette

from chapterverse.library import AsyncLibrary
from chapterverse.protocols import Reader
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.http import create_app
from tests.answer.stand_ins import WordReader

PATIENT = ServiceSettings(deadline=300)
"""Machines that test are busy."""

BELL = "# Bells\n\nThe great bell was cast in 1702. It weighs forty-one hundredweight.\n"
MILL = "# Mills\n\nThe mill at Quillbridge burned down in 1811. Nobody was hurt.\n"


@contextmanager
def served(
    library: AsyncLibrary,
    service: ServiceSettings = PATIENT,
    make: Callable[[AsyncLibrary, ServiceSettings], Starlette] = create_app,
    *,
    grace: int | None = None,
) -> Iterator[httpx2.Client]:
    """A client of the service, which ends with the block; it waits `grace` seconds for what is under way then."""
    app = make(library, service)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=grace))
    listening = socket.socket()  # bound here, so that nobody else can take its port before it is listened on
    listening.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        with httpx2.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=300) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def small_library(home: Path, reader: Reader | None = None) -> AsyncLibrary:
    """A library whose models are stand-ins that take no time."""
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    return AsyncLibrary(Settings(home=home, embedding="fake"), embeddings=embeddings, reader=reader or WordReader())


def write_books(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bells.md").write_text(BELL)
    (folder / "mills.md").write_text(MILL)
    return folder


def build(client: httpx2.Client, folder: Path, name: str = "Books") -> dict[str, Any]:
    response = client.post("/indexes", json={"source": {"folderId": str(folder)}, "index": {"indexName": name}})
    assert response.status_code == 201, response.text
    body: dict[str, Any] = response.json()
    return body


def events(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Server-sent events as they come, each with its name."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))
