"""Time runs out: whichever surface asks, the deadline is kept, and of many questions only the last are late."""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from chapterverse.errors import AstRagValidationError, GenerationError
from chapterverse.library import AsyncLibrary
from chapterverse.library.deadline import for_answer
from chapterverse.protocols import Embedded, InputType
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.types import Reading
from tests.answer.stand_ins import WordReader
from tests.surfaces.service import PATIENT, build, events, served, write_books
from tests.surfaces.test_mcp import Assistant, connected

QUESTION = "When was the great bell cast?"
LATE = "before the deadline of 0.5 s. Try again, or allow more time with CHAPTERVERSE_DEADLINE."


class Stuck:
    """What a reader and an embedder wait for once they are stuck."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.free.set()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.free.clear()
        try:
            yield
        finally:
            self.free.set()


class StuckReader(WordReader):
    def __init__(self, stuck: Stuck) -> None:
        super().__init__()
        self._free = stuck.free

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        assert self._free.wait(30)
        return super().read(question, passages, whole=whole)


class StuckEmbedder(FakeEmbedder):
    def __init__(self, stuck: Stuck) -> None:
        super().__init__()
        self._free = stuck.free

    async def embed(self, texts: Sequence[str], input_type: InputType, *rest: Any) -> Embedded:
        assert await asyncio.to_thread(self._free.wait, 30)
        return await super().embed(texts, input_type, *rest)


class BusyReader(WordReader):
    """Every reading takes a while, during which there is no core left for another."""

    def __init__(self) -> None:
        super().__init__()
        self._core = threading.Lock()

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        with self._core:
            time.sleep(0.05)
        return super().read(question, passages, whole=whole)


@contextmanager
def serving(
    home: Path, reader: WordReader, embedder: FakeEmbedder, service: ServiceSettings = PATIENT
) -> Iterator[httpx2.Client]:
    """A service with two books, which this reader reads."""
    embeddings = Embeddings()
    embeddings.registry.register("fake", embedder)
    library = AsyncLibrary(Settings(home=home / "indexes", embedding="fake"), embeddings=embeddings, reader=reader)
    books = write_books(home / "books")
    with served(library, service.model_copy(update={"roots": (str(books),)})) as client:
        build(client, books)
        yield client


def test_of_many_questions_at_once_only_the_last_are_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with serving(tmp_path, BusyReader(), FakeEmbedder()) as client, ThreadPoolExecutor(8) as pool:

        def ask(seconds: float) -> int:
            body = {"question": QUESTION, "options": {"deadlineSeconds": seconds}}
            return client.post("/answer", json=body).status_code

        assert ask(60) == 200
        began = time.perf_counter()
        assert ask(60) == 200
        alone = time.perf_counter() - began
        asked = []
        for _ in range(8):
            asked.append(pool.submit(ask, 4 * alone))
            time.sleep(alone / 20)  # so that it is known who was first
        said = [one.result() for one in asked]
    in_time = said.count(200)
    assert said == [200] * in_time + [504] * (8 - in_time)
    assert 2 <= in_time < 8


def test_the_deadline_is_kept_before_anything_is_drafted(tmp_path: Path) -> None:
    stuck = Stuck()
    with serving(tmp_path, StuckReader(stuck), FakeEmbedder(), ServiceSettings(deadline=0.5)) as client, stuck():
        response = client.post("/ask", json={"question": QUESTION})
        assert (response.status_code, response.headers["Retry-After"]) == (504, "1")
        assert response.json()["detail"] == f"There was no answer {LATE}"
        with client.stream(
            "POST", "/ask", json={"question": QUESTION}, headers={"Accept": "text/event-stream"}
        ) as sent:
            *_, (name, data) = events(sent.iter_lines())
        assert (name, data["detail"]) == ("error", f"There was no answer {LATE}")


def test_a_search_keeps_the_deadline(tmp_path: Path) -> None:
    stuck = Stuck()
    with serving(tmp_path, WordReader(), StuckEmbedder(stuck), ServiceSettings(deadline=0.5)) as client, stuck():
        response = client.post("/search", json={"query": "bells"})
        assert (response.status_code, response.json()["detail"]) == (504, f"The search did not end {LATE}")


@pytest.fixture
def hurried(tmp_path: Path) -> Iterator[tuple[Stuck, Assistant]]:
    """An assistant at a service that has half a second for everything."""
    stuck = Stuck()
    reader, embedder = StuckReader(stuck), StuckEmbedder(stuck)
    with serving(tmp_path, reader, embedder, ServiceSettings(deadline=0.5)) as client:
        for assistant in connected(str(client.base_url.join("/mcp"))):
            yield stuck, assistant


def test_an_assistant_is_told_that_time_ran_out(hurried: tuple[Stuck, Assistant]) -> None:
    stuck, assistant = hurried
    with stuck():
        assert assistant.error("ask", question=QUESTION) == f"Error executing tool ask: There was no answer {LATE}"
        assert assistant.error("search", query="bells") == f"Error executing tool search: The search did not end {LATE}"
    assert "1702" in assistant.structured("ask", question=QUESTION)["answer"]


def test_loading_takes_no_time_of_an_answer() -> None:
    async def load(seconds: float) -> None:
        async with for_answer(0.1) as deadline:
            deadline.pause()
            await asyncio.sleep(0.2)
            deadline.go_on()
            await asyncio.sleep(seconds)

    asyncio.run(load(0.0))
    with pytest.raises(GenerationError, match=r"before the deadline of 0.1 s\.") as caught:
        asyncio.run(load(5.0))
    assert (caught.value.details, caught.value.retryable) == ({"reason": "deadline"}, True)


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.inf, math.nan])
def test_a_deadline_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(AstRagValidationError, match=f"^The deadline is {seconds:g} s; "):
        for_answer(seconds)
