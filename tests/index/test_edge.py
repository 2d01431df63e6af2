"""The embedded store: conformance, and what only it must do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from chapterverse.index.edge import EdgeStore
from tests.conformance.store import StoreConformance


@pytest.fixture
async def store(root: Path) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(root)
    yield store
    await store.close()


class TestEdgeStore(StoreConformance):
    pass
