"""Offers: what the sources of an index have now, under the ids that the index knows their files by."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import PurePosixPath
from typing import Any

from chapterverse.errors import AstRagAuthError, AstRagError, AstRagSourceError, UnreadableFileError
from chapterverse.ingest import detect
from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.library.terms import check_text
from chapterverse.protocols import Source
from chapterverse.providers.service import Preview
from chapterverse.types import Notice, ReadOptions, SourceItem, SourceRecord

_STAYS = (
    "What the index has of this source stays as it was. If it is gone for good, drop it with remove_source, or add the"
    " place where it is now as replacing it."
)


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

    @property
    def choice(self) -> str:
        """Which of its files are asked for, in words."""
        defaults = SourceSpec(self.address)
        names = ("include", "exclude", "exclude_file_ids", "include_subfolders", "include_mime_types")
        given = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(defaults, name)}
        told = [f"{name} {_in_words(value)}" for name, value in given.items()]
        return " and ".join(told) or "no patterns"

    def options(self, **more: Any) -> SourceOptions:
        return SourceOptions(
            include=self.include,
            exclude=self.exclude,
            exclude_file_ids=frozenset(self.exclude_file_ids),
            include_subfolders=self.include_subfolders,
            allow_private_addresses=self.allow_private_addresses,
            **more,
        )


def _in_words(value: object) -> str:
    return ", ".join(map(repr, value)) if isinstance(value, tuple) else str(value)


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
    """What one source has: its items by file id, the fingerprints of all its files, and what it left out."""

    spec: SourceSpec
    source: Source
    held: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of what an index has of it, by the ids there."""
    items: dict[str, SourceItem] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    """Also of files that the index holds, which are there and could not be looked at: they are as they were."""
    notices: list[Notice] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """The ids of its files in the index."""
        return [index_id(self.spec, file_id) for file_id in self.fingerprints]


@dataclass(frozen=True)
class Offers:
    """What several sources have, no two of them under the same id."""

    specs: tuple[SourceSpec, ...]
    """All of them."""
    listed: tuple[Offer, ...] = ()
    """What those have that could be listed."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints by id of what an index holds and keeps of sources that are not listed."""
    moved: frozenset[str] = frozenset()
    """Ids of files that an index holds as another source's."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """By the ids of files whose source has moved aside: those under which an index holds them."""
    unlisted: tuple[Notice, ...] = ()
    """Why sources could not be listed."""

    @property
    def homes(self) -> dict[str, str]:
        """The addresses of the sources that the files of those listed are from, by id."""
        return _homes(self.listed)

    @property
    def fingerprints(self) -> dict[str, str]:
        """Of all that the index shall have, by id."""
        offered = {index_id(o.spec, file_id): mark for o in self.listed for file_id, mark in o.fingerprints.items()}
        return {**self.kept, **offered}

    @property
    def notices(self) -> list[Notice]:
        return [*self.unlisted, *(notice for offer in self.listed for notice in offer.notices)]


def gather(
    specs: Sequence[SourceSpec], ingestion: Ingestion, held: Sequence[SourceRecord] = (), kept: Collection[str] = ()
) -> Offers:
    """What the sources of these specs have, for an index that has `held`, of which it has `kept` from others.

    The index also keeps what it has of a source that cannot be listed, if another can be.
    """
    own = [one for one in held if one.file_id not in kept]
    listed, unlisted = _listed(specs, ingestion, own)
    there = {offer.spec.address for offer in listed}
    marks = {
        one.file_id: one.fingerprint for one in held if one.file_id in kept or (unlisted and one.source_id not in there)
    }
    former = [offer.spec for offer in listed]
    placed = iter(_apart(listed, marks))
    return Offers(
        specs=tuple(spec if spec.address in unlisted else next(placed).spec for spec in specs),
        listed=tuple(listed),
        kept=marks,
        moved=_moved(listed, held),
        renamed=_renamed(former, listed),
        unlisted=tuple(Notice(address, address, f"{error.message} {_STAYS}") for address, error in unlisted.items()),
    )


def _listed(
    specs: Sequence[SourceSpec], ingestion: Ingestion, held: Sequence[SourceRecord]
) -> tuple[list[Offer], dict[str, AstRagError]]:
    """What the sources have and, where an index has `held` of them, why some cannot be listed, if not all of them."""
    addresses = {spec.address for spec in specs}
    listed: list[Offer] = []
    unlisted: dict[str, AstRagError] = {}
    for spec in specs:
        others = addresses - {spec.address}
        try:
            own = {one.file_id: one.fingerprint for one in held if one.source_id not in others}
            listed.append(_look(spec, ingestion, own))
        except (AstRagSourceError, AstRagAuthError) as error:
            if not (held and ingestion.skip_failures):
                raise
            unlisted[spec.address] = error
    if unlisted and not listed:
        raise next(iter(unlisted.values()))
    return listed, unlisted


def _apart(offers: Sequence[Offer], taken: Collection[str]) -> Sequence[Offer]:
    """The same, so placed that no id is used twice."""
    used = set(taken)
    for offer in offers:
        offer.spec = _placed(offer, used)
        used.update(offer.ids)
    return offers


def _moved(offers: Sequence[Offer], held: Sequence[SourceRecord]) -> frozenset[str]:
    """The files that an index holds as another source's."""
    homes = _homes(offers)
    return frozenset(one.file_id for one in held if homes.get(one.file_id, one.source_id) != one.source_id)


def _homes(offers: Sequence[Offer]) -> dict[str, str]:
    return {file_id: offer.spec.address for offer in offers for file_id in offer.ids}


def _renamed(former: Sequence[SourceSpec], offers: Sequence[Offer]) -> dict[str, str]:
    """The ids that an index has of files that get others now, by the new ones."""
    return {
        new: old
        for spec, offer in zip(former, offers, strict=True)
        for file_id in offer.fingerprints
        if (new := index_id(offer.spec, file_id)) != (old := index_id(spec, file_id)) and old in offer.held
    }


def _look(spec: SourceSpec, ingestion: Ingestion, held: Mapping[str, str]) -> Offer:
    """List a source and fingerprint its files, for an index that has `held` of it."""
    limits: dict[str, Any] = {"max_files": ingestion.max_files, "truncate": ingestion.truncate}
    options = spec.options(access_token=ingestion.drive_token, read_before=bool(held), **limits)
    source = open_source(spec.address, options)
    offer = Offer(spec, source, held)
    for item in source.items():
        try:
            data = source.fetch(item)
            mime_type = detect.detect(data, item.file_name)
        except UnreadableFileError as error:
            if error.reason in ("unsupported", "empty") and index_id(spec, item.file_id) not in held:
                offer.notices.append(Notice(item.file_id, item.file_name, error.explanation))
            else:  # why, whoever reads it will say
                offer.items[item.file_id], offer.fingerprints[item.file_id] = item, "unreadable"
            continue
        if spec.include_mime_types is None or {mime_type, item.mime_type} & set(spec.include_mime_types):
            offer.items[item.file_id] = item
            offer.fingerprints[item.file_id] = hashlib.sha256(data).hexdigest()
    offer.notices.extend(source.notices)
    _keep_unseen(offer)
    return offer


def _keep_unseen(offer: Offer) -> None:
    """What the index has of a source, and what is there and could not be looked at, is as it was."""
    unseen, address, prefix = offer.source.unseen, offer.spec.address, index_id(offer.spec, "")
    if offer.held and "" in unseen and not offer.fingerprints:
        raise AstRagSourceError(f"Nothing of {address} could be listed. {offer.notices[-1].reason}")
    there = len(offer.fingerprints)
    for file_id, mark in offer.held.items():
        own = file_id.removeprefix(prefix)
        if file_id.startswith(prefix) and not unseen.isdisjoint(_above(own)):
            offer.fingerprints.setdefault(own, mark)
    kept = len(offer.fingerprints) - there
    if kept and "" in unseen:
        reason = f"Not all of it could be listed: of the files that the index has, {kept:,} were not met and stay."
        offer.notices.append(Notice(address, address, reason))


def _above(file_id: str) -> list[str]:
    """A file and the folders that it lies in, by their ids, up to the whole source."""
    return ["", file_id, *(file_id[:place] for place, char in enumerate(file_id) if char == "/")]


def _placed(offer: Offer, taken: Collection[str]) -> SourceSpec:
    """The source with the first prefix under which no id of its files is `taken`: the one it has, if that will do."""
    for prefix in _prefixes(offer.spec):
        spec = replace(offer.spec, prefix=prefix)
        if not any(index_id(spec, file_id) in taken for file_id in offer.fingerprints):
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
