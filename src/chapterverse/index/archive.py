"""An index as one file, to carry from one store to another: a ZIP archive that needs neither engine to be read.

index.json                  the manifest
documents/<n>.json          a document and its source's record
points/<n>.json, .f32       up to 256 entries with their terms, and their dense vectors as little-endian floats
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from chapterverse.errors import AstRagError, AstRagIndexError
from chapterverse.index.manifest import Manifest, manifest_from_json, manifest_to_json
from chapterverse.index.points import chunk_point, entry_of
from chapterverse.protocols import Store
from chapterverse.types import IndexRecord, Point, SparseVector, document_from_dict, source_from_dict, to_dict

_BATCH = 256


async def export_index(store: Store, index: str, path: Path) -> None:
    """Write an index to a file, which is there once it is complete."""
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        async with await store.reader(index) as reader:
            with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("index.json", json.dumps(manifest_to_json(Manifest(reader.record, "", 0))))
                for number, source in enumerate(await reader.sources()):
                    document = await reader.document(source.file_id)
                    data = {"source": to_dict(source), "document": to_dict(document)}
                    archive.writestr(f"documents/{number}.json", json.dumps(data, ensure_ascii=False))
                batch: list[Point] = []
                written = 0
                async for point in reader.points():
                    batch.append(point)
                    if len(batch) == _BATCH:
                        _write_points(archive, written, batch)
                        batch, written = [], written + 1
                _write_points(archive, written, batch)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


async def import_index(store: Store, path: Path, index: str | None = None, *, replace_old: bool = False) -> IndexRecord:
    """Read an index from a file into a store, under its own id or another; one that has it already is an error.

    With `replace_old`, it is replaced when the new one is complete.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            described = json.loads(archive.read("index.json"))
            record = manifest_from_json(index or described["indexId"], described).record
            async with await store.create(record, replace=replace_old) as writer:
                for name in _numbered(archive, "documents"):
                    data = json.loads(archive.read(name))
                    await writer.put_document(document_from_dict(data["document"]), source_from_dict(data["source"]))
                for name in _numbered(archive, "points"):
                    await writer.put(_read_points(archive, name, record))
                await writer.commit(record)
            return record
    except AstRagError:
        raise
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        message = f"{path} cannot be imported: it is not an index that Chapterverse exported, or it is damaged."
        raise AstRagIndexError(message, details={"reason": "corrupt"}, cause=error) from error


def _write_points(archive: zipfile.ZipFile, number: int, points: list[Point]) -> None:
    rows: list[dict[str, Any]] = [
        {"entry": chunk_point(point, 0).payload, "terms": asdict(point.terms)} for point in points
    ]
    archive.writestr(f"points/{number}.json", json.dumps(rows, ensure_ascii=False))
    dense = np.asarray([point.dense for point in points], dtype="<f4")
    archive.writestr(f"points/{number}.f32", dense.tobytes())


def _read_points(archive: zipfile.ZipFile, name: str, record: IndexRecord) -> list[Point]:
    rows = json.loads(archive.read(name))
    dense = np.frombuffer(archive.read(name.replace(".json", ".f32")), dtype="<f4")
    vectors = dense.reshape(len(rows), record.embedding.dimensions).tolist()
    return [
        Point(
            entry_of(row["entry"]),
            vector,
            SparseVector(tuple(row["terms"]["indices"]), tuple(row["terms"]["values"])),
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]


def _numbered(archive: zipfile.ZipFile, folder: str) -> Iterator[str]:
    """The names of the parts, which must be there without a gap."""
    names = [name for name in archive.namelist() if name.startswith(f"{folder}/") and name.endswith(".json")]
    for number in range(len(names)):
        yield f"{folder}/{number}.json"
