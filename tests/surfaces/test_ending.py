"""The service is told to end while it works: what was half done is undone, and whoever waits for it is told."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2

from chapterverse.library import AsyncLibrary, Library
from chapterverse.protocols import Embedded, InputType
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings
from tests.answer.stand_ins import WordReader
from tests.surfaces.service import build, events, free_port, served, small_library, write_books
from tests.surfaces.test_deadline import QUESTION, Stuck, StuckReader
from tests.surfaces.test_serve import is_ready, start

SAID = {"error": "ServiceEnding", "detail": "The service is ending; nothing was changed. Try again."}
MANY = 200


def test_a_build_and_a_sync_are_undone_at_once(tmp_path: Path) -> None:
    books, home = write_books(tmp_path / "books"), tmp_path / "home"
    port = free_port()
    process = start("--port", str(port), "--root", str(books), CHAPTERVERSE_HOME=str(home))
    with (
        process,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=300) as client,
        ThreadPoolExecutor() as pool,
    ):
        while not is_ready(client):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.1)
        build(client, books)
        for n in range(MANY):  # more than are read and embedded until it is told
            (books / f"{n}.md").write_text("\n\n".join(f"Bell {n}-{i} was cast in {1500 + i}." for i in range(500)))
        another = {"source": {"folderId": str(books)}, "index": {"indexName": "Another"}}
        plain = pool.submit(client.post, "/indexes", json=another)
        streaming = {"Accept": "text/event-stream"}
        with client.stream("POST", "/indexes/books/sync", json={}, headers=streaming) as told:
            news = events(told.iter_lines())
            assert next(news)[0] == "progress"
            while "chapterverse_requests_running 3" not in client.get("/metrics").text:
                assert not plain.done()
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            *_, (name, data) = news
        _, log = process.communicate()
    response = plain.result()
    assert (name, {**data, "request_id": ""}) == ("error", {**SAID, "request_id": ""})
    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert {**response.json(), "request_id": ""} == {**SAID, "request_id": ""}
    assert "Traceback" not in log
    assert "Cancel" not in log  # the server's own way to end what takes too long
    with Library(Settings(home=home)) as library:
        assert [record.id for record in library.indexes()] == ["books"]
        assert len(library.inspect("books").sources) == 2


def test_what_the_server_gives_up_waiting_for_is_told_too(tmp_path: Path) -> None:
    stuck = Stuck()
    library = small_library(tmp_path / "home", StuckReader(stuck))
    selected = {"question": QUESTION, "selected_text": "The great bell was cast in 1702."}
    with stuck(), ThreadPoolExecutor() as pool, served(library, grace=1) as client:
        answer = pool.submit(httpx2.post, client.base_url.join("/ask"), json=selected, timeout=30)
        answer.add_done_callback(lambda _: stuck.free.set())  # the service waits for its models before it is gone
        while "chapterverse_requests_running 2" not in client.get("/metrics").text:
            time.sleep(0.01)
    assert (answer.result().status_code, answer.result().headers["Retry-After"]) == (503, "1")
    assert answer.result().json()["error"] == SAID["error"]


class Cancelling(FakeEmbedder):
    """Cancels a build once its index is the new one, when only its profile is missing."""

    build: asyncio.Task[Any]

    async def embed(self, texts: Sequence[str], input_type: InputType, *rest: Any) -> Embedded:
        if input_type == "query":
            self.build.cancel()
            await asyncio.sleep(0.1)
        return await super().embed(texts, input_type, *rest)


def test_what_is_past_undoing_is_brought_to_its_end(tmp_path: Path) -> None:
    embedder, embeddings = Cancelling(), Embeddings()
    embeddings.registry.register("fake", embedder)
    settings = Settings(home=tmp_path / "home", embedding="fake")

    async def added() -> None:
        async with AsyncLibrary(settings, embeddings=embeddings, reader=WordReader()) as library:
            embedder.build = asyncio.create_task(library.add(write_books(tmp_path / "books"), index="books"))
            result = await embedder.build
            assert result.record.profile
            assert await library.record("books") == result.record

    asyncio.run(added())
