"""Shelving: what the sources of an index offer now, read and cut as far as it is wanted."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from chapterverse.errors import UnreadableFileError
from chapterverse.index.build import CutFile
from chapterverse.ingest import detect
from chapterverse.ingest.chunk import chunk
from chapterverse.ingest.read import Outcome, read_all
from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.library.terms import check_text
from chapterverse.protocols import IndexReader, Source
from chapterverse.providers.service import Preview
from chapterverse.types import Chunk, Chunking, Document, Notice, ReadOptions, SourceItem


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """A source as an index remembers it, so that it can be read again."""

    address: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    exclude_file_ids: tuple[str, ...] = ()
    include_subfolders: bool = True
    include_mime_types: tuple[str, ...] | None = None
    allow_private_addresses: bool = False
    prefix: str = ""
    """Stands before the ids of its files where another source of the index has equal ones."""

    def __post_init__(self) -> None:
        check_text(**asdict(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SourceSpec:
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
        return cls(**fields)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it, so that a record is the same before and after it was stored."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def options(self, **more: Any) -> SourceOptions:
        return SourceOptions(
            include=self.include,
            exclude=self.exclude,
            exclude_file_ids=frozenset(self.exclude_file_ids),
            include_subfolders=self.include_subfolders,
            allow_private_addresses=self.allow_private_addresses,
            **more,
        )


@dataclass(frozen=True)
class Ingestion:
    """How files are taken in: the limits, whom to tell how far it has come, and whom to ask before it costs money."""

    options: ReadOptions = ReadOptions()
    max_files: int | None = None
    max_chunks: int | None = None
    truncate: bool = False
    """Take the first files and chunks where there are too many, and report it, rather than refuse."""
    skip_failures: bool = True
    """Leave out a file that cannot be read, with a warning, rather than stop."""
    on_cut: Callable[[int], None] | None = None
    """Told how many chunks a file was cut into, before they are embedded."""
    on_file: Callable[[str], None] | None = None
    on_chunks: Callable[[int], None] | None = None
    confirm: Callable[[Preview], bool] | None = None
    """Asked before anything paid is sent; False stops it."""
    drive_token: str | None = field(default=None, repr=False)
    """An OAuth token for Google Drive, in place of Google's default credentials."""


@dataclass
class Offer:
    """What one source has: its items by file id, their fingerprints, and what it left out."""

    spec: SourceSpec
    source: Source
    items: dict[str, SourceItem] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)


def look(spec: SourceSpec, taken: Collection[str], ingestion: Ingestion) -> Offer:
    """List a source and fingerprint its files. Ids that are `taken` by other sources get this one's name in front."""
    limits: dict[str, Any] = {"max_files": ingestion.max_files, "truncate": ingestion.truncate}
    source = open_source(spec.address, spec.options(access_token=ingestion.drive_token, **limits))
    offer = Offer(spec, source)
    for item in source.items():
        try:
            data = source.fetch(item)
            mime_type = detect.detect(data, item.file_name)
        except UnreadableFileError as error:
            if error.reason in ("unsupported", "empty"):
                offer.notices.append(Notice(item.file_id, item.file_name, error.explanation))
            else:  # why, whoever reads it will say
                offer.items[item.file_id], offer.fingerprints[item.file_id] = item, "unreadable"
            continue
        if spec.include_mime_types is None or {mime_type, item.mime_type} & set(spec.include_mime_types):
            offer.items[item.file_id] = item
            offer.fingerprints[item.file_id] = hashlib.sha256(data).hexdigest()
    offer.notices.extend(source.notices)
    if not spec.prefix and not offer.items.keys().isdisjoint(taken):
        offer.spec = replace(spec, prefix=PurePosixPath(spec.address.replace("\\", "/")).name or spec.address)
    return offer


class _Chosen:
    """A source narrowed to some of its items, under the ids that the index knows them by."""

    def __init__(self, offer: Offer, wanted: Collection[str]) -> None:
        self.notices = offer.notices
        self._offer = offer
        self._items = {
            file_id: item for item in offer.items.values() if (file_id := index_id(offer.spec, item.file_id)) in wanted
        }

    def items(self) -> Iterator[SourceItem]:
        for file_id, item in self._items.items():
            yield replace(item, file_id=file_id)

    def fetch(self, item: SourceItem) -> bytes:
        return self._offer.source.fetch(self._items[item.file_id])


def index_id(spec: SourceSpec, file_id: str) -> str:
    """A file's id in the index."""
    return f"{spec.prefix}/{file_id}" if spec.prefix else file_id


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
    reader: IndexReader, wanted: Collection[str], chunking: Chunking, ingestion: Ingestion
) -> AsyncGenerator[CutFile, None]:
    """Cut files that an index holds from the text that it has of them: their sources may be out of reach by now."""
    for source in await reader.sources():
        if source.file_id in wanted:
            document = await reader.document(source.file_id)
            yield _cut(source.source_id, document, await asyncio.to_thread(chunk, document, chunking), ingestion)
            if ingestion.on_file is not None:
                ingestion.on_file(source.file_id)


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
            yield replace(file, chunks=file.chunks[:room], embed_texts=file.embed_texts[:room])
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
