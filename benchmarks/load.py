"""`POST /ask` under load: 1, 8 and 32 readers at once, on loopback, with the local default.

    python -m benchmarks.load [--seconds N] [--users 1,8,32]

Every user asks questions of the sample book, one after the other, for that long. Before the load each question is
asked once; every answer under load must be the same, but for its time and request id. Results are printed, and kept in
`benchmarks/results/load.md`; the exit code is 1 if an answer failed or differed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server
from typing import Any

import httpx2 as httpx
import numpy as np
import psutil
from benchmarks.environments import circumstances, publish, table

from chapterverse import sample_book
from chapterverse.evaluation import questions
from chapterverse.library import Library
from chapterverse.settings import Settings

EVERY = 12
"""Every so many of the sample's questions are asked."""
OWN = ("timestamp", "request_id")
"""What an answer may have of its own."""
PATIENT = httpx.Timeout(300)


@dataclass
class Load:
    """What so many users at once met with."""

    users: int
    seconds: float = 0.0
    took: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    different: int = 0
    memory_before: float = 0.0
    memory_after: float = 0.0

    @property
    def good(self) -> bool:
        return bool(self.took) and not self.errors and not self.different


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--users", default="1,8,32")
    options = parser.parse_args()
    asked = questions.load(sample_book().parent / "questions.jsonl")[::EVERY]
    bodies = [{"question": one.question} | ({"selected_text": one.selection} if one.selection else {}) for one in asked]
    with tempfile.TemporaryDirectory() as home:
        with Library(Settings(home=Path(home))) as library:
            library.add("sample", index="clocks")
        server, address = _serve(home)
        try:
            async with httpx.AsyncClient(base_url=address, timeout=PATIENT) as client:
                await _ready(client, server)
                alone = [(await _ask(client, body))[1] for body in bodies]
                wrong = [answer for answer in alone if isinstance(answer, str)]
                if wrong:
                    raise SystemExit(f"A single user is not answered: {wrong[0]}")
                process = psutil.Process(server.pid)
                users = [int(number) for number in options.users.split(",")]
                loads = [await _load(client, process, bodies, alone, count, options.seconds) for count in users]
        finally:
            server.terminate()
            server.wait(30)
    publish("load", _report(loads, len(bodies), options.seconds))
    return 0 if all(load.good for load in loads) else 1


def _serve(home: str) -> tuple[subprocess.Popen[bytes], str]:
    with create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    code = "from chapterverse.surfaces.cli import main; main()"
    environment = {**os.environ, "CHAPTERVERSE_HOME": home, "CHAPTERVERSE_DEADLINE": "300"}
    command = [sys.executable, "-c", code, "serve", "--port", str(port)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet), f"http://127.0.0.1:{port}"


async def _ready(client: httpx.AsyncClient, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        try:
            if (await client.get("/health")).status_code == 200:
                return
        except httpx.TransportError:
            await asyncio.sleep(0.2)
    raise SystemExit(f"The service ended with exit code {server.returncode}.")


async def _ask(client: httpx.AsyncClient, body: dict[str, Any]) -> tuple[float, dict[str, Any] | str]:
    """Seconds, and the answer without what is its own; or what went wrong."""
    began = time.perf_counter()
    try:
        response = await client.post("/ask", json=body)
    except httpx.HTTPError as error:
        return time.perf_counter() - began, type(error).__name__
    took = time.perf_counter() - began
    if response.status_code != 200:
        return took, f"HTTP {response.status_code}: {response.text[:120]}"
    return took, {name: value for name, value in response.json().items() if name not in OWN}


async def _load(
    client: httpx.AsyncClient,
    process: psutil.Process,
    bodies: list[dict[str, Any]],
    alone: list[dict[str, Any] | str],
    users: int,
    seconds: float,
) -> Load:
    print(f"{users} users ...", file=sys.stderr)
    load = Load(users, memory_before=process.memory_info().rss / 1e6)
    began = time.perf_counter()

    async def user(first: int) -> None:
        number = first
        while time.perf_counter() - began < seconds:
            number = (number + 1) % len(bodies)
            took, answer = await _ask(client, bodies[number])
            if isinstance(answer, str):
                load.errors[answer] += 1
                continue
            load.took.append(took)
            load.different += json.dumps(answer, sort_keys=True) != json.dumps(alone[number], sort_keys=True)

    await asyncio.gather(*(user(7 * n) for n in range(users)))
    load.seconds = time.perf_counter() - began
    load.memory_after = process.memory_info().rss / 1e6
    return load


def _report(loads: list[Load], asked: int, seconds: float) -> str:
    rows = [_row(load) for load in loads]
    columns = (
        ">users",
        ">answers",
        ">per second",
        ">p50 s",
        ">p95 s",
        ">p99 s",
        ">errors",
        ">different",
        ">MB",
        ">growth",
    )
    errors = [f"- {load.users} users: {count} × {what}" for load in loads for what, count in load.errors.items()]
    parts = [
        "# Under load",
        f"`POST /ask` on loopback, {asked} questions of the sample book in turn, {seconds:.0f} s for each number of"
        f" users, with a deadline that nobody reaches: waiting is measured, not cut off. {circumstances()}",
        table(columns, rows),
        *(["\n".join(errors)] if errors else []),
    ]
    return "\n\n".join(parts)


def _row(load: Load) -> tuple[str, ...]:
    p50, p95, p99 = np.percentile(load.took, [50, 95, 99]) if load.took else (0.0, 0.0, 0.0)
    speed, growth = len(load.took) / load.seconds, load.memory_after - load.memory_before
    counts = (str(load.errors.total()), str(load.different), f"{load.memory_after:.0f}", f"{growth:+.0f}")
    return (str(load.users), str(len(load.took)), f"{speed:.2f}", f"{p50:.2f}", f"{p95:.2f}", f"{p99:.2f}", *counts)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
