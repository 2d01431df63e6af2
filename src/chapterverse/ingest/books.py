"""Books as plain documents: everything at an address, one book, or the sample."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from chapterverse.errors import AstRagSourceError
from chapterverse.ingest.read import Outcome, read_all
from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.types import Document, Notice, ReadOptions


class Reading:
    """The reading of everything at an address: iterate over it for the outcome of each file."""

    def __init__(
        self,
        address: str | Path,
        source_options: SourceOptions = SourceOptions(),
        options: ReadOptions = ReadOptions(),
        include_mime_types: Collection[str] | None = None,
    ) -> None:
        address = sample_book() if address == "sample" else address
        self._source = open_source(str(address), source_options)
        self._options = options
        self._include = include_mime_types
        self.found = 0
        """How many files the source has offered so far."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the source left out, and why; complete once all outcomes have been seen."""
        return tuple(self._source.notices)

    def __iter__(self) -> Iterator[Outcome]:
        self.found = 0
        return read_all(self._source, self._options, self._include, on_item=lambda _: self._count())

    def _count(self) -> None:
        self.found += 1


def read(path: str | Path, *, password: str | None = None) -> Document:
    """One book as a document; raises `UnreadableFileError` that says why if it cannot be read."""
    outcomes = list(Reading(path, options=ReadOptions(password=password)))
    if len(outcomes) == 1 and outcomes[0].document:
        return outcomes[0].document
    if len(outcomes) == 1 and outcomes[0].error:
        raise outcomes[0].error
    raise AstRagSourceError(f"{path} holds {len(outcomes)} files, not one book; iterate over Reading({str(path)!r}).")


def sample_book(suffix: str = ".pdf") -> Path:
    """The book that comes with the package, in one of its formats."""
    return Path(__file__).parent.parent / "sample" / f"the-clocks-of-harrow-vale{suffix}"
