"""The parts of a library that nobody has given it, as the settings want them. Each is imported when it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chapterverse.answer.validate import ValidationSettings
from chapterverse.protocols import Reader, Store
from chapterverse.providers import EmbeddingCache, Embeddings
from chapterverse.settings import Settings

_CACHE = ".embeddings.sqlite3"


def open_store(settings: Settings) -> Store:
    """The Qdrant server that is configured, or the engine in this process."""
    if settings.qdrant_url:
        from chapterverse.index.remote import ClusterSettings
        from chapterverse.index.server import ServerStore

        key = settings.qdrant_api_key
        return ServerStore(
            settings.qdrant_url,
            key.get_secret_value() if key else None,
            timeout=settings.qdrant_timeout,
            cluster=ClusterSettings(
                settings.qdrant_shards, settings.qdrant_replicas, settings.qdrant_write_consistency
            ),
        )
    from chapterverse.index.edge import EdgeStore

    return EdgeStore(settings.home)


def open_embeddings(settings: Settings) -> Embeddings:
    """Every provider, and what was paid for: kept beside the indexes, also where these are on a server."""
    from chapterverse.index.edge import default_root

    home = (settings.home or default_root()).expanduser()
    return Embeddings(cache=EmbeddingCache(home / _CACHE))


def open_reader() -> Reader:
    """The reader that is shipped with the package; its model is loaded when it first reads."""
    from chapterverse.reading import reader

    return reader.Reader()


def validation_for(reader: Reader, calibration: Mapping[str, Any] | None = None) -> ValidationSettings:
    """When an answer counts as present: from where an index's own calibration says so, or else the reader's.

    A calibration with another reader says nothing about this one. The shipped reader is loaded for this.
    """
    if calibration and calibration["reader"] == reader_name(reader):
        return ValidationSettings(answer_threshold=calibration["answer_threshold"])
    from chapterverse.reading import reader as shipped

    if isinstance(reader, shipped.Reader):
        return ValidationSettings(answer_threshold=reader.answer_threshold)
    return ValidationSettings()


def reader_name(reader: Reader) -> str:
    """Tells readers apart whose probabilities differ: the shipped one by its weights."""
    from chapterverse.reading import reader as shipped

    return reader.fingerprint if isinstance(reader, shipped.Reader) else type(reader).__qualname__
