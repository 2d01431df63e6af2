"""Files as a caller hands them to a build or a sync, and an embedding that remembers what it was asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import numpy as np

from chapterverse.index.build import CutFile
from chapterverse.protocols import Vectors
from chapterverse.types import Document
from tests.index.books import points, vector


class CountingEmbed:
    """Embeds, and lists every text that it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def __call__(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return np.array([vector(text) for text in texts], dtype=np.float32)


def cut(document: Document) -> CutFile:
    """One chunk per paragraph; the text to embed has the chapter in front."""
    chunks = [point.entry.chunk for point in points(document)]
    return CutFile("shelf", document, chunks, [f"{chunk.place.chapter}: {chunk.text}" for chunk in chunks])


async def files(*documents: Document) -> AsyncIterator[CutFile]:
    for document in documents:
        yield cut(document)


def fingerprints(*documents: Document) -> dict[str, str]:
    return {document.file_id: document.sha256 for document in documents}
