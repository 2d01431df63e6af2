"""A process that keeps writing versions of an index, by building and by updating in turn, until it is killed."""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path

from chapterverse.index.edge import EdgeStore
from chapterverse.types import Document
from tests.index.books import book, points, record, source

CHUNKS = 40


def version(number: int) -> list[Document]:
    """Version n of two books: one that changes throughout, one of which only the first paragraph changes."""
    steady = [f"Paragraph {i} of the steady book stays." for i in range(CHUNKS)]
    return [
        book("moving.md", *(f"Version {number}, paragraph {i}." for i in range(CHUNKS))),
        book("steady.md", f"Version {number} of the steady book.", *steady),
    ]


async def main(root: Path, start: int) -> None:
    store = EdgeStore(root)
    for number in count(start):
        moving, steady = version(number)
        if number % 3 == 0:
            writer = await store.create(record())
            await writer.put([*points(moving), *points(steady)])
        else:
            writer = await store.update("shelf")
            await writer.remove(file_ids=["moving.md"], chunk_ids=[points(version(number - 1)[1])[0].entry.chunk.id])
            for point in points(moving):
                await writer.put([point])
            await writer.put(points(steady)[:1])
        for document in (moving, steady):
            await writer.put_document(document, source(document))
        await writer.commit(record(updated_at=str(number)))
        print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
