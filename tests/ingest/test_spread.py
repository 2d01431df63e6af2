"""Work that a process shares out to copies of itself; each test is a process of its own, without threads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from reportlab.pdfgen.canvas import Canvas

from chapterverse.ingest.read import read
from chapterverse.ingest.sandbox import Sandbox
from chapterverse.ingest.spread import spread
from chapterverse.types import SourceItem
from tests.ingest.pdfs import column, drawn
from tests.ingest.reading import parse

BEGINNING = """
import os, signal, sys
from chapterverse.ingest.spread import allow_copies, spread
os.cpu_count = lambda: 3
allow_copies()
ours = os.getpid()
def elsewhere(): return os.getpid() != ours
"""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes copy themselves on Linux alone")


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", BEGINNING + script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@on_linux
def test_results_come_in_order_from_several_processes() -> None:
    found = run(
        "found = spread(lambda number: (number, os.getpid()), 50)\n"
        "print([number for number, _ in found] == list(range(50)), len({process for _, process in found}))"
    )
    assert found == "True 3"


@on_linux
def test_little_work_is_not_shared_out() -> None:
    assert run("print(set(spread(lambda number: elsewhere(), 20)))") == "{False}"


@on_linux
@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), signal.SIGSEGV)", "1 / 0"])
def test_what_a_copy_does_not_deliver_is_done_here(end: str) -> None:
    script = f"""
def work(number):
    if elsewhere() and number > 30: {end}
    return number * number
print(spread(work, 50) == [number * number for number in range(50)])
"""
    assert run(script) == "True"


@on_linux
def test_what_fails_everywhere_fails_here_and_leaves_no_process() -> None:
    script = """
def work(number):
    if number == 31: raise ValueError("page 31")
    return number
try:
    spread(work, 50)
except ValueError as error:
    print(error)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")
"""
    assert run(script).splitlines() == ["page 31", "alone"]


@on_linux
def test_more_than_a_pipe_holds_is_handed_over() -> None:
    assert run("print(sum(map(len, spread(lambda number: 'x' * 1_000_000, 48))))") == "48000000"


def test_without_leave_nothing_is_copied() -> None:
    assert set(spread(lambda _: os.getpid(), 100)) == {os.getpid()}


def test_a_long_pdf_reads_the_same_in_the_sandbox_as_in_one_process() -> None:
    data = drawn(*(lambda canvas, page=page: _page(canvas, page) for page in range(1, 61)))
    with Sandbox() as sandbox:
        assert read(data, SourceItem("a.pdf", "a.pdf"), sandbox=sandbox) == parse(data, "a.pdf")


def _page(canvas: Canvas, page: int) -> None:
    column(canvas, [f"The lamp of room {page} was lit at {page} minutes past ten.", f"Nobody saw it on floor {page}."])
