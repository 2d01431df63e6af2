"""The sample book, indexed once for all tests that ask it: real parts from end to end, without a key or a socket."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from chapterverse.library import Library
from chapterverse.settings import Settings

INDEX = "clocks"


def new_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One more home with the index in it; whichever test process comes first builds it, the others wait for that."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    built = shared / "clocks"
    with FileLock(shared / "clocks.lock"):
        if not built.exists():
            with Library(Settings(home=shared / "building")) as library:
                library.add("sample", index=INDEX)
            (shared / "building").rename(built)
    return shutil.copytree(built, tmp_path_factory.mktemp("clocks") / "home")


@pytest.fixture(scope="module")
def clocks_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the index in it, of this module alone."""
    return new_home(tmp_path_factory)


@pytest.fixture(scope="session")
def clocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library(Settings(home=new_home(tmp_path_factory))) as library:
        yield library
