"""The manifest: which collection and generation an index is at, and what it says of itself.

The embedded store keeps the manifest in a file that is only ever replaced whole, the server store in a point of the
collection itself.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chapterverse.errors import AstRagIndexError, AstRagValidationError
from chapterverse.types import EmbeddingModel, IndexRecord, to_dict

SCHEMA_VERSION = 1

_INDEX_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """Where the current generation of an index is, and its record."""

    record: IndexRecord
    collection: str
    generation: int


def check_index_id(index: str) -> None:
    """Index ids become file and collection names."""
    if not _INDEX_ID.fullmatch(index):
        raise AstRagValidationError(
            f"'{index}' cannot be an index id: use up to 100 lower-case letters, digits, '-' and '_'."
        )


def unknown_index(index: str) -> AstRagIndexError:
    return AstRagIndexError(f"There is no index '{index}'.", details={"reason": "unknown", "index": index})


def existing_index(index: str) -> AstRagIndexError:
    return AstRagIndexError(
        f"There is an index '{index}' already, and it was left as it is: add to it, or choose another name.",
        details={"reason": "exists", "index": index},
    )


def manifest_to_json(manifest: Manifest) -> dict[str, Any]:
    """The manifest as it is stored, under the names of the index record's contract."""
    record = manifest.record
    return {
        "schemaVersion": SCHEMA_VERSION,
        "collection": manifest.collection,
        "generation": manifest.generation,
        "indexId": record.id,
        "indexName": record.name,
        "createdAt": record.created_at,
        "updatedAt": record.updated_at,
        "embedding": to_dict(record.embedding),
        "chunking": dict(record.chunking),
        "retrievalDefaults": dict(record.retrieval_defaults),
        "sourceConfig": dict(record.source_config),
        "sync": dict(record.sync),
        "profile": dict(record.profile),
        "calibration": dict(record.calibration),
        "averageLength": record.average_length,
        "words": record.words,
    }


def manifest_from_json(index: str, data: Any) -> Manifest:
    """The inverse of `manifest_to_json`; raises `AstRagIndexError` if it is of another schema, or damaged.

    The id is what the index is kept under, whatever it was when the manifest was written: folders are copied and moved.
    """
    if not isinstance(data, dict):
        raise _damaged(index)
    version = data.get("schemaVersion")
    if isinstance(version, int) and version != SCHEMA_VERSION:
        hint = "update Chapterverse" if version > SCHEMA_VERSION else "remove it, and build it again"
        raise AstRagIndexError(
            f"The index '{index}' has schema version {version}, and this is the Chapterverse of version "
            f"{SCHEMA_VERSION}: {hint}.",
            details={"reason": "schema", "found": version, "expected": SCHEMA_VERSION},
        )
    try:
        record = IndexRecord(
            id=index,
            name=_field(data, "indexName", str),
            created_at=_field(data, "createdAt", str),
            updated_at=_field(data, "updatedAt", str),
            embedding=_embedding(_field(data, "embedding", dict)),
            chunking=_field(data, "chunking", dict),
            retrieval_defaults=_field(data, "retrievalDefaults", dict),
            source_config=_field(data, "sourceConfig", dict),
            sync=_field(data, "sync", dict),
            profile=_field(data, "profile", dict),
            average_length=float(_field(data, "averageLength", int, float)),
            # The first indexes of this schema have neither of these.
            calibration=_field({"calibration": {}, **data}, "calibration", dict),
            words=_field({"words": None, **data}, "words", int, type(None)),
        )
        return Manifest(record, _field(data, "collection", str), _field(data, "generation", int))
    except (KeyError, TypeError) as error:
        raise _damaged(index, error) from error


def _embedding(data: dict[str, Any]) -> EmbeddingModel:
    return EmbeddingModel(_field(data, "provider", str), _field(data, "model", str), _field(data, "dimensions", int))


def _field(data: dict[str, Any], name: str, *kinds: type) -> Any:
    """A field of a manifest, which is of one of these kinds; raises KeyError or TypeError where it is not so."""
    value = data[name]
    if type(value) not in kinds:
        raise TypeError(f"{name} is {value!r}")
    return value


def read_manifest(index: str, path: Path) -> Manifest:
    """The manifest in a file; raises `AstRagIndexError` if there is none or it cannot be understood."""
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise unknown_index(index) from error
    except ValueError as error:
        raise _damaged(index, error) from error
    return manifest_from_json(index, data)


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Replace the manifest in one step that survives a crash of the machine."""
    replace_file(path, json.dumps(manifest_to_json(manifest), indent=1, ensure_ascii=False))


def replace_file(path: Path, text: str, *, private: bool = False) -> None:
    """Write a file so that it is, at any moment, the old one or the whole new one; `private`: for its user alone."""
    temporary = path.with_suffix(".tmp")
    temporary.unlink(missing_ok=True)
    mode = 0o600 if private else 0o666
    try:
        with open(temporary, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make renames in a directory durable, where the platform can."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _damaged(index: str, cause: Exception | None = None) -> AstRagIndexError:
    message = f"The manifest of the index '{index}' is damaged: `chapterverse remove {index}`, and build it again."
    return AstRagIndexError(message, details={"reason": "corrupt"}, cause=cause)
