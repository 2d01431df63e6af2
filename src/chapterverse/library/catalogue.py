"""The indexes of a store: found by their names, looked at, calibrated, carried elsewhere and removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypedDict

from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.validate import ValidationSettings
from chapterverse.errors import AstRagError, AstRagIndexError, AstRagValidationError
from chapterverse.index.archive import export_index, import_index
from chapterverse.library.parts import open_embeddings, open_store
from chapterverse.library.recorded import specs_of
from chapterverse.library.terms import check_text, former_slug, slug
from chapterverse.library.uploads import Uploads
from chapterverse.protocols import Reader, Store
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings
from chapterverse.types import Chunking, IndexRecord, IndexStats, SourceRecord


@dataclass(frozen=True, slots=True)
class Inspection:
    """An index, the files in it and how much they are."""

    record: IndexRecord
    sources: tuple[SourceRecord, ...]
    stats: IndexStats


class Parts(TypedDict, total=False):
    """What a library can be given instead of the parts that it would open."""

    store: Store | None
    embeddings: Embeddings | None
    reader: Reader | None


class Catalogue:
    """The indexes of one store."""

    def __init__(
        self,
        settings: Settings | None = None,
        store: Store | None = None,
        embeddings: Embeddings | None = None,
        reader: Reader | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.store = store or open_store(self.settings)
        self.embeddings = embeddings or open_embeddings(self.settings)
        self.uploads = Uploads(self.store, self.settings)
        self._reader = reader

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def share(self) -> None:
        """Let the other processes of this machine reach the indexes through this one, which is going to live long."""
        await self.store.share()

    async def close(self) -> None:
        """Let go of the store and of connections to providers."""
        await self.embeddings.close()
        await self.store.close()

    async def find(self, index: str | None = None) -> str:
        """The id of the index that is meant: the one named, the configured one, or the only one there is."""
        there = await self.store.indexes()
        wanted = self.settings.index or None if index is None else index
        if not isinstance(wanted, str | None):
            raise AstRagValidationError(f"index must be a text, not {wanted!r}.")
        if wanted is not None:
            key = wanted if wanted in there else await self.id_for(wanted)
            if key not in there:
                raise AstRagIndexError(
                    f"There is no index {wanted!r}. {_listing(there)}", details={"reason": "unknown", "index": wanted}
                )
            return key
        if len(there) != 1:
            hint = " Name one of them." if there else ""
            raise AstRagIndexError(
                f"Which index? {_listing(there)}{hint}", details={"reason": "unknown", "indexes": list(there)}
            )
        return there[0]

    async def id_for(self, name: str) -> str:
        """The id that an index of this name has, or would have."""
        key, former = slug(name), former_slug(name)
        if key == former or key in await self.store.indexes():
            return key
        older = [record for record in await self.indexes() if record.id == former]
        return former if any(slug(record.name) == key for record in older) else key

    async def record(self, index: str | None = None) -> IndexRecord:
        """The record of the index that is meant; see `find`."""
        return await self.store.record(await self.find(index))

    async def indexes(self) -> list[IndexRecord]:
        """Every index, by id, but for those whose record cannot be read; `survey` says why."""
        records = []
        for key in await self.store.indexes():
            with suppress(AstRagIndexError, AstRagValidationError):
                records.append(await self.store.record(key))
        return records

    async def survey(self) -> tuple[list[Inspection], dict[str, AstRagError]]:
        """What every index holds, and what is wrong, by their ids, with those that cannot be opened."""
        inspections: list[Inspection] = []
        troubles: dict[str, AstRagError] = {}
        for key in await self.store.indexes():
            try:
                inspections.append(await self.inspect(key))
            except (AstRagIndexError, AstRagValidationError) as error:  # the name of a folder may be no id
                troubles[key] = error
        return inspections, troubles

    async def inspect(self, index: str | None = None) -> Inspection:
        """What an index holds."""
        record = await self.record(index)
        async with await self.store.reader(record.id) as reader:
            return Inspection(record, tuple(await reader.sources()), await reader.stats())

    async def calibrate(self, calibration: Mapping[str, Any], index: str | None = None) -> IndexRecord:
        """Store with an index from where an answer counts as present; an empty one leaves that to the reader again."""
        async with await self.store.update(await self.find(index)) as writer:
            record = replace(writer.record, calibration=calibration)
            await writer.commit(record)
        return record

    async def remove(self, index: str) -> str:
        """Delete an index, a damaged one too, or what an unfinished build has left of one; its id."""
        try:
            key = await self.find(index)
        except AstRagIndexError as unknown:
            return await self._clear(slug(index), unknown)
        async with self.uploads.tidied(key):
            await self.store.delete(key)
        return key

    async def _clear(self, key: str, unknown: AstRagIndexError) -> str:
        try:
            await self.store.delete(key)
        except AstRagIndexError as error:
            raise unknown if error.details.get("reason") == "unknown" else error from None
        return key

    async def export_index(self, path: Path, index: str | None = None, *, replace_old: bool = False) -> IndexRecord:
        """Write an index to one file; no file but an older export is replaced, or with `replace_old` any."""
        record = await self.record(index)
        await export_index(self.store, record.id, path, replace_old=replace_old)
        return record

    async def import_index(self, path: Path, index: str | None = None, *, replace_old: bool = False) -> IndexRecord:
        """Read an index from a file; one of the same id is an error, or with `replace_old` replaced."""
        key = await self.id_for(index) if index else None
        return await import_index(self.store, path, key, index, replace_old=replace_old, check=_check_record)


def _check_record(record: IndexRecord) -> None:
    """Raise what using the record would: stores keep what the library stores in it without looking."""
    Chunking(**record.chunking)
    Retrieval(**record.retrieval_defaults)
    specs_of(record)
    if record.calibration:
        ValidationSettings(answer_threshold=record.calibration["answer_threshold"])
        check_text(reader=record.calibration["reader"])


def _listing(names: Sequence[str]) -> str:
    return f"There are: {', '.join(names)}." if names else "There are none yet: `chapterverse add BOOK` makes one."
