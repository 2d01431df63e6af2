"""Files that were sent in: kept beside the indexes as long as one has them as a source, so that `sync` finds them."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import platformdirs

from chapterverse.errors import AstRagError, AstRagIndexError
from chapterverse.protocols import Store
from chapterverse.settings import Settings
from chapterverse.types import IndexRecord


class Uploads:
    """The kept files of one store's indexes, each in a folder of its own: no two uploads share a file.

    The folder's name begins with the hash of what is in the file.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        home = settings.home or platformdirs.user_data_path("chapterverse", appauthor=False)
        self._folder = home.expanduser().resolve() / ".uploads"

    def place(self, data: bytes, name: str, known: Collection[Path] = ()) -> Path:
        """Where to keep a file, in a folder that is there; if it is the same as a `known` one, where that is."""
        path = self.same(data, name, known)
        self._folder.mkdir(parents=True, exist_ok=True)
        if path is None:
            return Path(tempfile.mkdtemp(prefix=f"{_digest(data)}-", dir=self._folder)) / name
        path.parent.mkdir(exist_ok=True)
        return path

    def same(self, data: bytes, name: str, known: Collection[Path]) -> Path | None:
        """Which of these kept files is the same, name and all."""
        digest = _digest(data)
        return next((path for path in known if path.name == name and path.parent.name.startswith(digest)), None)

    def of(self, record: IndexRecord) -> list[Path]:
        """The kept files that an index has as sources."""
        paths = [Path(source["address"]) for source in record.source_config.get("sources", [])]
        return [path for path in paths if path.parent.parent == self._folder]

    async def discard(self, paths: Collection[Path]) -> None:
        """Remove those of these files that no index has as a source; where that cannot be told, they stay."""
        if not paths:
            return
        try:
            records = [await self._store.record(key) for key in await self._store.indexes()]
        except AstRagError:
            return
        for path in set(paths).difference(*map(self.of, records)):
            with suppress(OSError):
                path.unlink()
            with suppress(OSError):  # older versions put other names for the same text into the same folder
                path.parent.rmdir()

    @asynccontextmanager
    async def tidied(self, key: str) -> AsyncIterator[None]:
        """Whatever becomes of an index meanwhile: kept files that it had, and that none has any more, go."""
        paths: list[Path] = []
        with suppress(AstRagIndexError):  # it is new, or damaged
            paths = self.of(await self._store.record(key))
        try:
            yield
        finally:
            await self.discard(paths)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
