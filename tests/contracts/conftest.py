"""One small shelf of books, indexed once with a deterministic embedder on the real embedded engine."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterverse.contracts import RAG, Shelves
from chapterverse.library import Library
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings
from tests.answer.stand_ins import WordReader

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the sources of the SDK have a stray escape or two
    import cohere  # noqa: F401

BOOKS = {
    "bells.md": "# Chapter 1: Bells\n\nThe great bell weighs forty hundredweight.\n\n## Casting\n\nIt was cast in 1741"
    " by Amos Reed.\n\n# Chapter 2: Ropes\n\nThe ropes are made of Italian hemp, and the bell hangs from oak.\n",
    "sheep.txt": "A fleece weighs seven pounds in a good year. Sheep wear bells on the high moor.\n",
    "old/geese.html": "<html><head><title>Geese</title></head><body><h1>Geese</h1><p>Geese guard the yard, and no bell"
    " is louder.</p></body></html>",
}
_KEYS = ("OPENAI_", "COHERE_", "CO_API", "GEMINI_", "GOOGLE_", "OPENROUTER_", "PERPLEXITY_", "PPLX_", "QDRANT_")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(_KEYS):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def memory() -> Iterator[Path]:
    """A folder, in memory where the system has that."""
    shm = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=shm if shm.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def books(memory: Path) -> Path:
    folder = memory / "books"
    for name, text in BOOKS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="session")
def shelves(memory: Path) -> Iterator[Shelves]:
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    with Shelves(Settings(home=memory / "home", embedding="fake"), embeddings, reader=WordReader()) as shelves:
        yield shelves


@pytest.fixture(scope="session")
def index(shelves: Shelves, books: Path) -> str:
    built = RAG(shelves).buildIndex({"source": {"folderId": str(books)}, "index": {"indexName": "Project Index"}})
    return str(built["indexFileId"])


@pytest.fixture
def rag(shelves: Shelves) -> RAG:
    return RAG(shelves)


@pytest.fixture
def library(shelves: Shelves, index: str) -> Library:
    return shelves.library()
