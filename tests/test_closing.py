"""A library that is closed, collected, or left behind by a fork: what it held is free, and who still asks is told."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chapterverse.errors import AstRagIndexError, AstRagSourceError, StoreUnreachableError
from chapterverse.library import Library
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings


@pytest.fixture
def home(tmp_path: Path) -> Path:
    book = tmp_path / "bells.md"
    book.write_text("# Bells\n\nThe great bell weighs forty hundredweight.\n")
    with opened(tmp_path / "home") as library:
        library.add(book)
    return tmp_path / "home"


def opened(home: Path) -> Library:
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    return Library(Settings(home=home, embedding="fake"), embeddings=embeddings)


def test_closed_twice_is_closed_and_says_so(home: Path) -> None:
    library = opened(home)
    events = library.stream("How heavy is the great bell?")
    next(events)
    library.close()
    library.close()
    for ask in (lambda: library.search("bell"), library.indexes, library.sync, lambda: next(events)):
        with pytest.raises(StoreUnreachableError, match="has been closed") as caught:
            ask()
        assert caught.value.details["reason"] == "closed"
    events.close()


def test_closing_while_others_ask_leaves_the_index_to_whoever_comes_next(home: Path) -> None:
    library = opened(home)
    asking = threading.Barrier(9)

    def ask() -> str:
        assert library.search("bell").found
        asking.wait()
        while True:
            try:
                library.search("bell")
            except StoreUnreachableError as error:
                return str(error.details["reason"])

    with ThreadPoolExecutor(8) as others:
        answers = [others.submit(ask) for _ in range(8)]
        asking.wait()
        library.close()
        assert {answer.result(60) for answer in answers} == {"closed"}
    with opened(home) as another:
        assert another.search("bell").found


def test_libraries_that_nobody_closes_leave_nothing_running(home: Path) -> None:
    assert opened(home).search("bell").found
    before = threading.active_count()
    for _ in range(8):
        assert opened(home).search("bell").found
    assert threading.active_count() <= before + 4  # the last ones may be ending still


def test_a_second_library_is_told_that_the_first_is_in_the_same_process(home: Path) -> None:
    with opened(home) as first, opened(home) as second:
        assert first.search("bell").found
        with pytest.raises(AstRagIndexError, match=r"is in use by process .* That is this process: close the library"):
            second.search("bell")


def test_no_name_of_a_folder_has_a_nul() -> None:
    with pytest.raises(AstRagSourceError, match="no file or folder"):
        Library.open("a\0b")


FORKING = """
import os, sys
from pathlib import Path
from tests.test_closing import opened

home = Path(sys.argv[1])
library = opened(home)
assert library.search("bell").found
child = os.fork()
if not child:
    try:
        library.search("bell")
    except ConnectionRefusedError as error:
        print("refused:", error, flush=True)
    library.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert library.search("bell").found  # the child has taken nothing along
library.close()
child = os.fork()
if not child:
    with opened(home) as another:
        print("found:", len(another.search("bell").found), flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX alone")
def test_a_process_that_was_forked_is_told_to_open_its_own(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING, str(home)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    refused, found = done.stdout.splitlines()
    assert refused.startswith("refused: This library was opened by process ")
    assert refused.endswith("shares its indexes).")
    assert found == "found: 1"
