"""The sample book, indexed once for all tests that ask it: real parts from end to end, without a key or a socket."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from chapterverse.library import Library
from chapterverse.settings import Settings

INDEX = "clocks"


def exported(shared: Path) -> Path:
    """The index as one file; whichever test process comes first builds it, the others wait for that."""
    path = shared / "clocks.zip"
    with FileLock(shared / "clocks.lock"):
        if not path.exists():
            with Library(Settings(home=shared / "build")) as library:
                library.add("sample", index=INDEX)
                library.export_index(path, INDEX)
    return path


def new_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One more home with the index in it, for tests that open it again and again or change it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    home = tmp_path_factory.mktemp("home")
    with Library(Settings(home=home)) as library:
        library.import_index(exported(shared), INDEX)
    return home


@pytest.fixture(scope="session")
def clocks_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the index in it, of this process alone: the embedded engine serves one process at a time."""
    return new_home(tmp_path_factory)


@pytest.fixture(scope="session")
def clocks(clocks_home: Path) -> Iterator[Library]:
    with Library(Settings(home=clocks_home)) as library:
        yield library
