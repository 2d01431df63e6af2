"""Ask a book. Get an answer that quotes it, chapter and verse, or a plain refusal."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chapterverse.ingest.books import Reading, read, sample_book
    from chapterverse.ingest.chunk import chunk
    from chapterverse.library import AsyncLibrary, Library
    from chapterverse.types import Answer, Chunk, Chunking, Document, Place, Spoken, Stage

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncLibrary",
    "Chunk",
    "Chunking",
    "Document",
    "Library",
    "Place",
    "Reading",
    "Spoken",
    "Stage",
    "__version__",
    "chunk",
    "read",
    "sample_book",
]

_HOMES = {
    "chapterverse.ingest.books": ("Reading", "read", "sample_book"),
    "chapterverse.ingest.chunk": ("chunk",),
    "chapterverse.library": ("AsyncLibrary", "Library"),
    "chapterverse.types": ("Answer", "Chunk", "Chunking", "Document", "Place", "Spoken", "Stage"),
}


def __getattr__(name: str) -> Any:
    """Public names are imported when first used, so that the command line starts at once."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
