"""The parts of a library that nobody has given it, as the settings want them. Each is imported when it is needed."""

from __future__ import annotations

from chapterverse.answer.validate import ValidationSettings
from chapterverse.protocols import Reader, Store
from chapterverse.settings import Settings


def open_store(settings: Settings) -> Store:
    """The Qdrant server that is configured, or the engine in this process."""
    if settings.qdrant_url:
        from chapterverse.index.server import ServerStore

        key = settings.qdrant_api_key
        return ServerStore(settings.qdrant_url, key.get_secret_value() if key else None)
    from chapterverse.index.edge import EdgeStore

    return EdgeStore(settings.home)


def open_reader() -> Reader:
    """The reader that is shipped with the package; its model is loaded when it first reads."""
    from chapterverse.reading import reader

    return reader.Reader()


def validation_for(reader: Reader) -> ValidationSettings:
    """When an answer counts as present: from where the shipped reader's calibration says so; it is loaded for that."""
    from chapterverse.reading import reader as shipped

    if isinstance(reader, shipped.Reader):
        return ValidationSettings(answer_threshold=reader.answer_threshold)
    return ValidationSettings()


def warm_up(reader: Reader) -> None:
    """Import the agent's SDK and load the reader, which take seconds."""
    import chapterverse.answer.agent

    assert chapterverse.answer.agent
    reader.read("Is it ready?", ["It is ready."])
