"""An embedded index's folder: who holds it, and what in it is ours to remove."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from chapterverse.errors import AstRagIndexError
from chapterverse.index.manifest import replace_file
from chapterverse.types import to_dict

MANIFEST = "manifest.json"
_LOCK = "lock"
_HOLDER = "holder.json"
_COLLECTION = "c-"


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that has an embedded index open."""

    pid: int
    command: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.command}) since {self.since}"


def this_process() -> Holder:
    # Not the whole command line: it may hold a key.
    command = " ".join([Path(sys.argv[0]).name, *(word for word in sys.argv[1:2] if word.isalpha())])
    return Holder(os.getpid(), command, datetime.now(UTC).isoformat(timespec="seconds"))


class IndexFolder:
    """Holds an index's folder for this process; the system lets go of it when the process dies, however it dies."""

    def __init__(self, index: str, path: Path) -> None:
        self.index = index
        self.path = path
        if path.exists() and not (path / _LOCK).exists() and any(path.iterdir()):
            raise AstRagIndexError(f"{path} is in the way: it is not empty, and it is not an index.")
        path.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(path / _LOCK, timeout=0, thread_local=False)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise _locked(index, read_holder(path)) from error
        self._sign()

    def _sign(self) -> None:
        """Say who holds it. Only the lock counts: where nothing can be written, reading and removing must go on."""
        try:
            replace_file(self.path / _HOLDER, json.dumps(to_dict(this_process())))
        except OSError:
            with suppress(OSError):  # one that died may have signed
                (self.path / _HOLDER).unlink(missing_ok=True)

    @property
    def manifest(self) -> Path:
        return self.path / MANIFEST

    def collection(self, name: str) -> Path:
        return self.path / f"{_COLLECTION}{name}"

    def remove_collections(self, *, but: set[str]) -> None:
        """Remove all collections but these: what a crash has left behind, or what nobody needs any more."""
        kept = {self.collection(name) for name in but}
        for path in self.path.glob(f"{_COLLECTION}*"):
            if path not in kept:
                shutil.rmtree(path)

    def release(self) -> None:
        (self.path / _HOLDER).unlink(missing_ok=True)
        self._lock.release()

    def remove(self) -> None:
        """Remove what is ours, and the folder itself unless somebody has put other things into it."""
        self.remove_collections(but=set())
        for name in (MANIFEST, _HOLDER, _LOCK):
            (self.path / name).unlink(missing_ok=True)
        self._lock.release()
        with suppress(OSError):
            self.path.rmdir()


def is_index(folder: Path) -> bool:
    """Whether a folder is an index; a manifest alone may be that of a web app."""
    return (folder / MANIFEST).exists() and any(folder.glob(f"{_COLLECTION}*"))


def abandoned(root: Path) -> list[str]:
    """The ids of indexes whose first build has not been committed: under way, or crashed."""
    return [path.parent.name for path in root.glob(f"*/{_LOCK}") if not (path.parent / MANIFEST).exists()]


def read_holder(folder: Path) -> Holder | None:
    """Who holds an index's folder, as far as that has been written down."""
    try:
        return Holder(**json.loads((folder / _HOLDER).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def _locked(index: str, holder: Holder | None) -> AstRagIndexError:
    if holder and holder.pid == os.getpid():
        hint = "That is this process: close the library in it that has the index open (`close()`), or ask that one."
    else:
        hint = (
            "An embedded index belongs to one process at a time: wait for that one, or stop it. While `chapterverse"
            " serve` runs, all other commands work through it; a Qdrant server (set QDRANT_URL) takes any number of"
            " processes."
        )
    return AstRagIndexError(
        f"The index '{index}' is in use by {holder or 'another process'}. {hint}",
        details={"reason": "locked", "holder": to_dict(holder) if holder else None},
        retryable=True,
    )
