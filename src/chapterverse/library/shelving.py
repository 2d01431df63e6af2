"""Shelving: files that sources offer, or that an index holds already, read and cut as far as they are wanted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import replace

from chapterverse.index.build import CutFile
from chapterverse.ingest.chunk import chunk
from chapterverse.ingest.read import Outcome, read_all
from chapterverse.library.offers import Ingestion, Offer, index_id
from chapterverse.protocols import IndexReader
from chapterverse.types import Chunk, Chunking, Document, Notice, SourceItem


class _Chosen:
    """A source narrowed to some of its items, under the ids that the index knows them by."""

    def __init__(self, offer: Offer, wanted: Collection[str]) -> None:
        self.notices = offer.notices
        self.unseen = offer.source.unseen
        self._offer = offer
        self._items = {
            file_id: item for item in offer.items.values() if (file_id := index_id(offer.spec, item.file_id)) in wanted
        }

    def items(self) -> Iterator[SourceItem]:
        for file_id, item in self._items.items():
            yield replace(item, file_id=file_id)

    def fetch(self, item: SourceItem) -> bytes:
        return self._offer.source.fetch(self._items[item.file_id])


async def cut_files(
    offers: Sequence[Offer],
    wanted: Collection[str],
    chunking: Chunking,
    ingestion: Ingestion,
    failed: list[Notice],
) -> AsyncGenerator[CutFile, None]:
    """Read and cut the wanted files, in order; what cannot be read is added to `failed`, or raised."""
    for offer in offers:
        outcomes = read_all(_Chosen(offer, wanted), ingestion.options)
        reading = threading.Lock()
        try:
            while (done := await asyncio.to_thread(_next, outcomes, chunking, reading)) is not None:
                outcome, chunks = done
                if outcome.document is None:
                    assert outcome.error is not None
                    if not ingestion.skip_failures:
                        raise outcome.error
                    failed.extend(outcome.notices)
                    continue
                yield _cut(offer.spec.address, outcome.document, chunks, ingestion)
                if ingestion.on_file is not None:
                    ingestion.on_file(outcome.document.file_id)
        finally:
            await asyncio.to_thread(_close, outcomes, reading)


async def cut_again(
    reader: IndexReader,
    wanted: Mapping[str, str],
    homes: Mapping[str, str],
    chunking: Chunking,
    ingestion: Ingestion,
) -> AsyncGenerator[CutFile, None]:
    """Cut files that an index holds from the text that it has of them: their sources may be out of reach by now.

    Under the ids that they are `wanted` for, and as from the sources that they have by these, in `homes`: both may be
    others than they were.
    """
    for source in await reader.sources():
        if source.file_id in wanted:
            held = await reader.document(source.file_id)
            document = replace(held, file_id=wanted[source.file_id])
            home = homes.get(document.file_id, source.source_id)
            yield _cut(home, document, await asyncio.to_thread(chunk, document, chunking), ingestion)
            if ingestion.on_file is not None:
                ingestion.on_file(document.file_id)


def _cut(source_id: str, document: Document, chunks: Sequence[Chunk], ingestion: Ingestion) -> CutFile:
    if ingestion.on_cut is not None:
        ingestion.on_cut(len(chunks))
    return CutFile(source_id, document, chunks, [embedding_text(document, piece) for piece in chunks])


async def truncated(
    files: AsyncGenerator[CutFile, None], ingestion: Ingestion, left_out: list[Notice]
) -> AsyncGenerator[CutFile, None]:
    """The files themselves; with `truncate`, as far as `max_chunks` go, and with a notice where they end."""
    room = ingestion.max_chunks if ingestion.truncate else None
    async for file in files:
        if room is None or len(file.chunks) <= room:
            room = None if room is None else room - len(file.chunks)
            yield file
            continue
        reason = (
            f"There are more than {ingestion.max_chunks:,} chunks (maxChunks): the rest, from here on, is left out."
        )
        left_out.append(Notice(file.document.file_id, file.document.file_name, reason))
        if room:
            yield replace(file, chunks=file.chunks[:room], embed_texts=file.embed_texts[:room], is_whole=False)
        return


def _next(
    outcomes: Generator[Outcome, None, None], chunking: Chunking, reading: threading.Lock
) -> tuple[Outcome, list[Chunk]] | None:
    with reading:
        outcome = next(outcomes, None)
    if outcome is None:
        return None
    return outcome, chunk(outcome.document, chunking) if outcome.document else []


def _close(outcomes: Generator[Outcome, None, None], reading: threading.Lock) -> None:
    """Stop reading. A thread cannot be cancelled: whatever it waits for comes first, if the build was given up then."""
    with reading:
        outcomes.close()


def embedding_text(document: Document, piece: Chunk) -> str:
    """What stands for a chunk in the vector space: its outline path, then its text."""
    path = list(dict.fromkeys([document.title, *piece.place.headings]))
    return f"{' > '.join(path)}\n{piece.text}"
