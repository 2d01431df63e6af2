"""What tests of the service share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from chapterverse.library import AsyncLibrary
from chapterverse.settings import Settings
from tests.surfaces.service import served


@pytest.fixture(scope="module")
def client(clocks_home: Path) -> Iterator[httpx2.Client]:
    """A client of the service with the sample book."""
    with served(AsyncLibrary(Settings(home=clocks_home))) as client:
        yield client
