"""Vectors that were paid for, kept so that nothing is paid for twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from chapterverse.errors import AstRagIndexError
from chapterverse.protocols import InputType, Vectors
from chapterverse.providers.catalog import Target

_MAX_VARIABLES = 500


class EmbeddingCache:
    """One SQLite file, open to many threads and processes at once. It holds hashes of texts, never the texts.

    It is opened, and made, when it is first used: whoever pays for nothing has none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The vectors that are there."""
        found: dict[bytes, Vectors] = {}
        with self._lock:
            for start in range(0, len(keys), _MAX_VARIABLES):
                some = keys[start : start + _MAX_VARIABLES]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608 (only marks)
                try:
                    rows = self._db.execute(query, some).fetchall()
                except sqlite3.Error as error:
                    raise self._unusable(error) from error
                found.update((key, np.frombuffer(vector, dtype="<f4").astype(np.float32)) for key, vector in rows)
        return found

    def put(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep vectors; all of them or none."""
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()]
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise self._unusable(error) from error

    def close(self) -> None:
        with self._lock:
            if self._open is not None:
                self._open.close()
            self._open = None

    @property
    def _db(self) -> sqlite3.Connection:
        if self._open is None:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                opened = sqlite3.connect(self._path, timeout=30.0, isolation_level=None, check_same_thread=False)
                opened.execute("PRAGMA journal_mode=WAL")
                opened.execute("PRAGMA synchronous=NORMAL")
                opened.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
            except (sqlite3.Error, OSError) as error:
                raise self._unusable(error) from error
            self._open = opened
        return self._open

    def _unusable(self, error: Exception) -> AstRagIndexError:
        message = f"The embedding cache {self._path} cannot be used: {error}. It may be deleted: it only saves cost."
        return AstRagIndexError(message, details={"path": str(self._path)}, cause=error)


def cache_keys(target: Target, input_type: InputType, texts: Iterable[str]) -> list[bytes]:
    """A key for each text: equal exactly if the provider, asked the same way, would be sent the same text."""
    address = target.options.get("base_url")
    scope = json.dumps([target.provider, address, target.model, target.dimensions, input_type]).encode()
    return [hashlib.sha256(scope + b"\0" + text.encode("utf-8", "surrogatepass")).digest() for text in texts]
