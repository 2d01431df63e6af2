"""One process owns the indexes and serves the rest: the service, stdio clients and a terminal at the same time."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters

from tests.clocks import INDEX

COMMAND = [sys.executable, "-c", "from chapterverse.surfaces.cli import main; main()"]
LATE = "before the deadline"
"""What those are told, and told to try again, who ask a machine that is busy with so many."""
QUESTION = "Who taught apprentices by handing them a weight?"


@pytest.fixture(scope="module")
def service(clocks_home: Path) -> Iterator[httpx2.Client]:
    """`chapterverse serve`, and a client of it; it holds the index, for it has been asked."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serving = [*COMMAND, "serve", "--port", str(port), "--deadline", "300"]
    with (
        subprocess.Popen(
            serving, env=environment(clocks_home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as child,
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
    for _ in range(10):
        done = subprocess.run(command, capture_output=True, text=True, env=environment(home), check=False, timeout=120)
        if LATE not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_answers(client: httpx2.Client) -> None:
    response = client.post("/ask", json={"question": QUESTION, "index": INDEX})
    assert response.status_code == 200, response.text
    assert "Ambrose Kell" in response.json()["answer"]


def assistant(home: Path, both: threading.Barrier) -> str:
    """What an MCP client, which starts `chapterverse mcp`, is answered while the other one is there too."""
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=environment(home))

    async def ask() -> str:
        async with Client(server, mode="legacy") as client:
            await asyncio.to_thread(both.wait, 120)
            asked = {"question": QUESTION, "index": INDEX}
            for _ in range(10):
                result = await client.call_tool("ask", asked)
                if LATE not in str(result.content):
                    break
            await asyncio.to_thread(both.wait, 120)
        assert not result.is_error, result.content
        return str(result.content)

    return asyncio.run(ask())


def test_all_answer_at_the_same_time(clocks_home: Path, service: httpx2.Client) -> None:
    both = threading.Barrier(2)
    with ThreadPoolExecutor(4) as pool:
        assistants = [pool.submit(assistant, clocks_home, both) for _ in range(2)]
        terminal = pool.submit(chapterverse, clocks_home, "ask", QUESTION, "--index", INDEX, "--json")
        found = pool.submit(chapterverse, clocks_home, "search", "seven-pound weight", "--index", INDEX, "--json")
        assert_answers(service)
        assert "seven-pound" in found.result()
        for answer in (*assistants, terminal):
            assert "Ambrose Kell" in answer.result()


def test_a_terminal_may_add_what_the_service_then_answers(
    clocks_home: Path, service: httpx2.Client, tmp_path: Path
) -> None:
    book = tmp_path / "harbour.md"
    book.write_text("# The harbour\n\nThe harbour master of Nethercombe is called Odile Marrant.\n")
    chapterverse(clocks_home, "add", book, "--quiet")
    asked = {"question": "What is the harbour master of Nethercombe called?", "index": "harbour"}
    assert "Odile Marrant" in service.post("/ask", json=asked).json()["answer"]
    book.write_text("# The harbour\n\nThe harbour master of Nethercombe is called Beatrix Lorne.\n")
    chapterverse(clocks_home, "sync", "--index", "harbour", "--quiet")
    assert "Beatrix Lorne" in service.post("/ask", json=asked).json()["answer"]
    assert json.loads(chapterverse(clocks_home, "inspect", "harbour", "--json"))["chunks"] == 1
    chapterverse(clocks_home, "remove", "harbour", "--yes")
    assert service.post("/ask", json=asked).status_code == 404
