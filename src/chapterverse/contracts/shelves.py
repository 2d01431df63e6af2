"""The libraries of this process. An embedded index can be open once in a process, so that all surfaces share them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Self

from chapterverse.errors import AstRagValidationError
from chapterverse.index.edge import default_root
from chapterverse.library import Library
from chapterverse.library.parts import open_embeddings
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings


class Shelves:
    """Libraries by the folder that their indexes are kept in, opened when first needed; they share their providers."""

    def __init__(self, settings: Settings | None = None, embeddings: Embeddings | None = None, **parts: Any) -> None:
        self.settings = settings or Settings()
        self.embeddings = embeddings or open_embeddings(self.settings)
        self._parts = parts
        self._libraries: dict[Path | None, Library] = {}
        self._lock = threading.Lock()

    def library(self, folder: str | Path | None = None) -> Library:
        """The library of a folder; None is the one that the settings name."""
        place = Path(folder).expanduser().resolve() if folder is not None else None
        if place == (self.settings.home or default_root()).expanduser().resolve():
            place = None
        if place is not None and self.settings.qdrant_url:
            raise AstRagValidationError(
                f"Indexes are kept on the server at QDRANT_URL, and not in folders: leave out {str(folder)!r}."
            )
        with self._lock:
            if place not in self._libraries:
                settings = self.settings if place is None else self.settings.model_copy(update={"home": place})
                self._libraries[place] = Library(settings, embeddings=self.embeddings, **self._parts)
            return self._libraries[place]

    def close(self) -> None:
        with self._lock:
            libraries, self._libraries = list(self._libraries.values()), {}
        for library in libraries:
            library.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_opening = threading.Lock()
_default: list[Shelves] = []


def default_shelves() -> Shelves:
    """Those of whoever brings none, with the settings of the environment; open as long as the process runs."""
    with _opening:
        if not _default:
            _default.append(Shelves())
        return _default[0]


def default_library() -> Library:
    return default_shelves().library()
