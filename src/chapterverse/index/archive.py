"""An index as one file, to carry from one store to another: a ZIP archive that needs neither engine to be read.

index.json                  the manifest
documents/<n>.json          a document and its source's record
points/<n>.json, .f32       up to 256 entries with their terms, and their dense vectors as little-endian floats
"""

from __future__ import annotations

import json
import math
import uuid
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from chapterverse.errors import AstRagError, AstRagIndexError, AstRagValidationError
from chapterverse.index.manifest import Manifest, check_index_id, manifest_from_json, manifest_to_json
from chapterverse.index.points import chunk_point, entry_of
from chapterverse.protocols import IndexReader, Store, Writer
from chapterverse.types import IndexRecord, Point, SparseVector, document_from_dict, source_from_dict, to_dict

_BATCH = 256
_UNREADABLE = (  # what reading a ZIP archive raises, encrypted or damaged ones too, and JSON of another shape than ours
    OSError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
)


async def export_index(store: Store, index: str, path: Path, *, replace_old: bool = False) -> None:
    """Write an index to a file, which is there once it is complete; no other file than an older export is replaced.

    With `replace_old`, any is.
    """
    if path.is_file() and not (replace_old or _is_export(path)):
        raise AstRagValidationError(
            f"There is a file {path} already, and it is no exported index: choose another name, or pass replace_old."
        )
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        async with await store.reader(index) as reader:
            with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
                await _write(reader, archive)
        temporary.replace(path)
    except AstRagError:
        raise
    except OSError as error:
        raise AstRagValidationError(f"{path} cannot be written: {error.strerror}.", cause=error) from error
    finally:
        temporary.unlink(missing_ok=True)


async def import_index(
    store: Store,
    path: Path,
    index: str | None = None,
    name: str | None = None,
    *,
    replace_old: bool = False,
    check: Callable[[IndexRecord], object] = lambda _: None,
) -> IndexRecord:
    """Read an index from a file into a store, under its own id and name or others; an id that is taken is an error.

    With `replace_old`, it is replaced when the new one is complete. `check` raises what is wrong with the record in
    the eyes of those who will use it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            described = json.loads(archive.read("index.json"))
            record = manifest_from_json(index or described["indexId"], described).record
            record = replace(record, name=name or record.name)
            check_index_id(record.id)
            check(record)
            # Before a store makes room for vectors of whatever length the archive claims.
            if not _read_points(archive, "points/0.json", record):
                raise ValueError("chunks are missing")
            async with await store.create(record, replace=replace_old) as writer:
                await _read(archive, record, writer)
                await writer.commit(record)
            return record
    except AstRagError as error:
        if not (isinstance(error, AstRagValidationError) or error.details.get("reason") == "corrupt"):
            raise
        raise _no_export(path, error) from error
    except _UNREADABLE as error:
        raise _no_export(path, error) from error


def _is_export(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "index.json" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def _no_export(path: Path, cause: Exception) -> AstRagIndexError:
    message = f"{path} cannot be imported: it is not an index that Chapterverse exported, or it is damaged."
    return AstRagIndexError(message, details={"reason": "corrupt"}, cause=cause)


async def _write(reader: IndexReader, archive: zipfile.ZipFile) -> None:
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


async def _read(archive: zipfile.ZipFile, record: IndexRecord, writer: Writer) -> None:
    """Hand over all that the archive holds; raises ValueError unless every file has as many chunks as it should."""
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for name in _numbered(archive, "documents"):
        data = json.loads(archive.read(name))
        source = source_from_dict(data["source"])
        wanted[source.file_id] = source.chunk_count
        await writer.put_document(document_from_dict(data["document"]), source)
    for name in _numbered(archive, "points"):
        points = _read_points(archive, name, record)
        found.update(point.entry.chunk.file_id for point in points)
        await writer.put(points)
    if not found or found != wanted:
        raise ValueError("chunks are missing")


def _write_points(archive: zipfile.ZipFile, number: int, points: list[Point]) -> None:
    rows: list[dict[str, Any]] = [
        {"entry": chunk_point(point, 0).payload, "terms": to_dict(point.terms)} for point in points
    ]
    archive.writestr(f"points/{number}.json", json.dumps(rows, ensure_ascii=False))
    dense = np.asarray([point.dense for point in points], dtype="<f4")
    archive.writestr(f"points/{number}.f32", dense.tobytes())


def _read_points(archive: zipfile.ZipFile, name: str, record: IndexRecord) -> list[Point]:
    rows = json.loads(archive.read(name))
    dense = np.frombuffer(archive.read(name.replace(".json", ".f32")), dtype="<f4")
    if dense.size != len(rows) * record.embedding.dimensions:
        raise ValueError("vectors are missing, or of another length")
    vectors = dense.reshape(len(rows), record.embedding.dimensions)
    if not np.isfinite(vectors).all():
        raise ValueError("a vector is not finite")
    return [
        Point(entry_of(row["entry"]), vector, _terms(**row["terms"]))
        for row, vector in zip(rows, vectors.tolist(), strict=True)
    ]


def _terms(indices: list[int], values: list[float]) -> SparseVector:
    if len(indices) != len(values) or not all(map(math.isfinite, values)):
        raise ValueError("the terms of a chunk are not what BM25 makes")
    return SparseVector(tuple(indices), tuple(values))


def _numbered(archive: zipfile.ZipFile, folder: str) -> Iterator[str]:
    """The names of the parts, which must be there without a gap."""
    names = [name for name in archive.namelist() if name.startswith(f"{folder}/") and name.endswith(".json")]
    for number in range(len(names)):
        yield f"{folder}/{number}.json"
