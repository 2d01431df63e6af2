"""`chapterverse serve` as a process of its own: it starts, answers, and ends when it is told to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from pytest_httpserver import HTTPServer

from tests.chat_server import ChatServer, Said, draft_json
from tests.surfaces.service import free_port

QUOTE = "The great bell was cast in 1702."
ASKED = {"question": "When was the great bell cast?", "selected_text": f"{QUOTE} It weighs forty-one hundredweight."}


def start(*arguments: str, command: str = "serve", **environment: str) -> subprocess.Popen[str]:
    call = [sys.executable, "-c", "from chapterverse.surfaces.cli import main; main()", command, *arguments]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CHAPTERVERSE_", "QDRANT_"))}
    return subprocess.Popen(
        call, env={**clean, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def test_questions_that_are_being_answered_are_answered_before_it_ends(tmp_path: Path, httpserver: HTTPServer) -> None:
    chat = ChatServer(httpserver, [Said(draft_json((QUOTE, ["S1"], QUOTE)), after=2.0)])
    port = free_port()
    process = start(
        *("--port", str(port), "--model", "openai-compatible:m", "--deadline", "300"),
        CHAPTERVERSE_HOME=str(tmp_path),
        OPENAI_COMPATIBLE_BASE_URL=chat.base_url,
    )
    with process, httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=300) as client:
        while not is_ready(client):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.1)
        with ThreadPoolExecutor() as pool:
            answer = pool.submit(client.post, "/ask", json=ASKED)
            while not chat.bodies:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            assert (answer.result().status_code, answer.result().json()["answer"]) == (200, QUOTE)
        _, log = process.communicate()
    assert "Application shutdown complete." in log
    assert "Traceback" not in log
    assert process.returncode == -signal.SIGTERM  # as whoever sent it expects


def is_ready(client: httpx2.Client) -> bool:
    try:
        return client.get("/ready").status_code == 200
    except httpx2.ConnectError:
        return False


@pytest.mark.parametrize("command", [["serve", "--port"], ["mcp", "--http"]])
def test_a_port_that_is_taken_is_named(command: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        name, option = command
        with start(option, port if name == "serve" else f"127.0.0.1:{port}", command=name) as process:
            _, log = process.communicate()
    assert (process.returncode, log.count("\n")) == (1, 1)
    assert log.startswith(f"chapterverse: Port {port} of 127.0.0.1 is taken.")
    assert f"choose another port ({option})" in log


@pytest.mark.parametrize(("command", "host"), [("serve", "a" * 64), ("mcp", "192.0.2.1"), ("mcp", "nowhere.invalid")])
def test_a_host_that_cannot_be_listened_on_is_named(command: str, host: str) -> None:
    option = "--host" if command == "serve" else "--http"
    address = [option, host] if command == "serve" else [option, f"{host}:0"]
    with start(*address, command=command, CHAPTERVERSE_UNPROTECTED="1") as process:
        _, log = process.communicate()
    assert (process.returncode, log.count("\n")) == (1, 1)
    assert log.startswith(f"chapterverse: {host!r} cannot be listened on: ")
    assert log.endswith(f"Name an address of this machine ({option}).\n")


def test_mcp_alone_does_not_wait_for_ever_when_it_is_told_to_end(tmp_path: Path) -> None:
    port = free_port()
    serving = ("--http", f"127.0.0.1:{port}")
    with start(*serving, command="mcp", CHAPTERVERSE_HOME=str(tmp_path), CHAPTERVERSE_DEADLINE="1") as process:
        while not _is_listening(port):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.1)
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(
                b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
            )
            assert client.recv(100).startswith(b"HTTP/1.1 100")  # somebody waits for the body, which never comes
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=60)
            finally:
                process.kill()


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "Set CHAPTERVERSE_API_KEY"),
        (["--workers", "2"], "cannot share an embedded index"),
        (["--deadline", "inf"], "deadline (CHAPTERVERSE_DEADLINE): Input should be a finite number."),
    ],
)
def test_it_says_why_it_does_not_start(arguments: list[str], said: str) -> None:
    with start(*arguments) as process:
        _, log = process.communicate()
    assert process.returncode == 2
    assert said in log
    assert "Traceback" not in log
