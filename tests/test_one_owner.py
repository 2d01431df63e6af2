"""One process owns the indexes and serves the rest: the service, stdio clients and a terminal at the same time."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from tests.clocks import INDEX, clocks_home

__all__ = ["clocks_home"]

COMMAND = [sys.executable, "-c", "from chapterverse.surfaces.cli import main; main()"]
QUESTION = "Who taught apprentices with a seven-pound weight?"


@pytest.fixture(scope="module")
def home(clocks_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("owned") / "home"
    shutil.copytree(clocks_home, home)
    return home


@pytest.fixture(scope="module")
def service(home: Path) -> Iterator[httpx2.Client]:
    """`chapterverse serve`, and a client of it; it holds the index, for it has been asked."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serving = [*COMMAND, "serve", "--port", str(port)]
    with (
        subprocess.Popen(serving, env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        try:
            while True:
                assert child.poll() is None
                try:
                    client.get("/health")
                    break
                except httpx2.ConnectError:
                    time.sleep(0.1)
            assert_answers(client)
            yield client
        finally:
            child.terminate()


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "CHAPTERVERSE_HOME": str(home), "COLUMNS": "200", "NO_COLOR": "1"}


def chapterverse(home: Path, *arguments: str | Path) -> str:
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(home), check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_answers(client: httpx2.Client) -> None:
    response = client.post("/ask", json={"question": QUESTION, "index": INDEX})
    assert response.status_code == 200, response.text
    assert "Ambrose Kell" in response.json()["answer"]


def test_all_answer_at_the_same_time(home: Path, service: httpx2.Client) -> None:
    with ThreadPoolExecutor() as pool:
        terminal = pool.submit(chapterverse, home, "ask", QUESTION, "--index", INDEX, "--json")
        found = pool.submit(chapterverse, home, "search", "seven-pound weight", "--index", INDEX, "--json")
        assert_answers(service)
        assert "Ambrose Kell" in terminal.result()
        assert "seven-pound" in found.result()


def test_a_terminal_may_add_what_the_service_then_answers(home: Path, service: httpx2.Client, tmp_path: Path) -> None:
    book = tmp_path / "harbour.md"
    book.write_text("# The harbour\n\nThe harbour master of Nethercombe is called Odile Marrant.\n")
    chapterverse(home, "add", book, "--quiet")
    asked = {"question": "What is the harbour master of Nethercombe called?", "index": "harbour"}
    assert "Odile Marrant" in service.post("/ask", json=asked).json()["answer"]
    book.write_text("# The harbour\n\nThe harbour master of Nethercombe is called Beatrix Lorne.\n")
    chapterverse(home, "sync", "--index", "harbour", "--quiet")
    assert "Beatrix Lorne" in service.post("/ask", json=asked).json()["answer"]
    assert json.loads(chapterverse(home, "inspect", "harbour", "--json"))["chunks"] == 1
    chapterverse(home, "remove", "harbour", "--yes")
    assert service.post("/ask", json=asked).status_code == 404
