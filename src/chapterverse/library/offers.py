"""Offers: what the sources of an index have now, under the ids that the index knows their files by."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import PurePosixPath
from typing import Any

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest import detect
from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.library.terms import check_text
from chapterverse.protocols import Source
from chapterverse.providers.service import Preview
from chapterverse.types import Notice, ReadOptions, SourceItem


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


@dataclass(frozen=True)
class Offers:
    """What several sources have, no two of them under the same id."""

    listed: tuple[Offer, ...]
    kept: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints by id of what an index holds and keeps, though none of these sources offers it."""

    @property
    def fingerprints(self) -> dict[str, str]:
        """Of all that the index shall have, by id."""
        offered = {index_id(o.spec, file_id): mark for o in self.listed for file_id, mark in o.fingerprints.items()}
        return {**self.kept, **offered}

    @property
    def specs(self) -> list[SourceSpec]:
        return [offer.spec for offer in self.listed]

    @property
    def notices(self) -> list[Notice]:
        return [notice for offer in self.listed for notice in offer.notices]


def gather(specs: Sequence[SourceSpec], ingestion: Ingestion, kept: Mapping[str, str]) -> Offers:
    """What the sources of these specs have, beside what is `kept` of others."""
    taken = set(kept)
    offers = []
    for spec in specs:
        offer = _look(spec, ingestion)
        offer.spec = _placed(offer, taken)
        taken.update(index_id(offer.spec, file_id) for file_id in offer.items)
        offers.append(offer)
    return Offers(tuple(offers), kept)


def _look(spec: SourceSpec, ingestion: Ingestion) -> Offer:
    """List a source and fingerprint its files."""
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
    return offer


def _placed(offer: Offer, taken: Collection[str]) -> SourceSpec:
    """The source with the first prefix under which no id of its files is `taken`: the one it has, if that will do."""
    for prefix in _prefixes(offer.spec):
        spec = replace(offer.spec, prefix=prefix)
        if not any(index_id(spec, file_id) in taken for file_id in offer.items):
            return spec
    raise AssertionError("numbers do not end")


def _prefixes(spec: SourceSpec) -> Iterator[str]:
    """The prefix that a source has, then its name, and then that with a number."""
    yield spec.prefix
    name = PurePosixPath(spec.address.replace("\\", "/")).name or spec.address
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def index_id(spec: SourceSpec, file_id: str) -> str:
    """A file's id in the index."""
    return f"{spec.prefix}/{file_id}" if spec.prefix else file_id
