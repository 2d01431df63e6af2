"""A file or a folder on this machine: recursive, in a fixed order, and never outside of its root."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from chapterverse.errors import AstRagSourceError, UnreadableFileError
from chapterverse.ingest.detect import may_be_book
from chapterverse.ingest.sources.options import SourceOptions, is_hidden
from chapterverse.types import Notice, SourceItem

# Opening a pipe would wait for its writer; O_BINARY and O_CLOEXEC exist where they matter.
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def find(address: str) -> Path | None:
    """The path that an address names, if there is one."""
    try:
        path = Path(address).expanduser()
        return path if address and path.exists() else None
    except (OSError, RuntimeError, ValueError):  # a name too long, no home, a NUL: nothing of that name can exist
        return None


class FolderSource:
    """The files of a folder, or a single file. Ids are paths relative to the root, with `/`, composed (NFC)."""

    def __init__(self, root: Path, options: SourceOptions) -> None:
        self.notices: list[Notice] = []
        self.unseen: set[str] = set()
        self._address = str(root)
        self._name = root.name
        self._root = Path(os.path.realpath(root))
        self._options = options
        self._paths: dict[str, str] = {}
        """Where each id lies on the disk, whose spelling of a name may differ."""
        self._left: set[str] = set()
        """Ids that were to be left out, and were."""

    def items(self) -> Iterator[SourceItem]:
        self.notices.clear()
        self.unseen.clear()
        self._paths.clear()
        self._left.clear()
        if self._root.is_dir():
            walk = _Walk(self._root, self._options, self.notices, self.unseen)
            found = walk.files()
            if walk.is_empty:  # without so much as a hidden file: a place for a disk, perhaps
                self.unseen.add("")
                why = "The folder is empty. If it should not be, see whether its disk is mounted."
                self.notices.append(Notice(self._address, self._name, why))
        else:
            found = {self._name: str(self._root)}
        items: list[SourceItem] = []
        for path, location in sorted(found.items(), key=lambda entry: (_readable(entry[0]), entry[0])):
            item = self._item(path, location)
            if item is not None:
                self._paths[item.file_id] = location
                items.append(item)
        self._options.tell_unmet(self._left, self.notices, self.unseen)
        self.notices.sort(key=lambda notice: notice.file_id)
        yield from self._options.limit(
            items, self._address, self.notices, counts=lambda item: may_be_book(item.file_name)
        )

    def fetch(self, item: SourceItem) -> bytes:
        try:
            return self._read(self._paths.get(item.file_id) or self._location(item.file_id))
        except OSError as error:
            raise UnreadableFileError(
                "unreachable", f"The file cannot be opened: {error.strerror}.", file=item.file_id, cause=error
            ) from error
        except UnreadableFileError as error:
            raise UnreadableFileError(error.reason, error.explanation, file=item.file_id) from error

    def _item(self, path: str, location: str) -> SourceItem | None:
        file_id = _readable(path)
        name = file_id.rpartition("/")[2]
        if file_id in self._options.exclude_file_ids:
            self._left.add(file_id)
            return None
        if file_id in self._paths:
            self.notices.append(Notice(file_id, name, "Left out: another file has this name in other code points."))
            return None
        try:
            found = Path(location).stat()
        except OSError as error:
            self._miss(file_id, f"it cannot be looked at ({error.strerror})")
            return None
        if not stat.S_ISREG(found.st_mode):
            self._miss(file_id, "it is not a regular file (a pipe, socket or device)")
            return None
        if found.st_size > self._options.max_bytes:
            self._miss(file_id, f"it is over {self._options.max_file_mb} MB")
            return None
        if _undecodable(path):
            self.notices.append(Notice(file_id, name, "The name is not valid Unicode; odd bytes are shown as \\x…."))
        changed = datetime.fromtimestamp(found.st_mtime, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return SourceItem(file_id, name, size=found.st_size, modified_time=changed)

    def _miss(self, file_id: str, why: str) -> None:
        self.unseen.add(file_id)
        self.notices.append(_left_out(file_id, why))

    def _location(self, file_id: str) -> str:
        """Where a file lies that was not listed here, but by another process, say."""
        return str(self._root / file_id if self._root.is_dir() else self._root)

    def _read(self, location: str) -> bytes:
        """The bytes of a file that is looked at again now: since the listing it may have become something else."""
        real = Path(os.path.realpath(location, strict=True))
        if real != self._root and self._root not in real.parents:
            raise UnreadableFileError("traversal", "The file lies outside of the folder.")
        with os.fdopen(os.open(real, _OPEN), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise UnreadableFileError("unsupported", "It is not a regular file.")
            data = stream.read(self._options.max_bytes + 1)
        if len(data) > self._options.max_bytes:
            raise UnreadableFileError("too_large", f"The file is over {self._options.max_file_mb} MB.")
        return data


class _Walk:
    """One walk through a folder. Links wait until all real files are known, so that a file never counts twice."""

    def __init__(self, root: Path, options: SourceOptions, notices: list[Notice], unseen: set[str]) -> None:
        self.is_empty = True
        self._root = str(root)
        self._options = options
        self._notices = notices
        self._unseen = unseen
        self._files: dict[str, str] = {}
        self._taken: set[str] = set()
        self._walked: set[str] = set()
        self._links: list[tuple[str, str]] = []

    def files(self) -> dict[str, str]:
        """Relative path → location, for every file that is asked for."""
        self._enter("", self._root)
        while self._links:
            self._links.sort()
            self._follow(*self._links.pop(0))
        return self._files

    def _enter(self, path: str, location: str) -> None:
        """Walk a folder and all below it."""
        folders = [(path, location)]
        while folders:
            path, location = folders.pop()
            real = os.path.realpath(location)
            if not self._inside(real):
                self._miss(path, "it lies outside of the folder")
            elif real in self._walked:
                why = "this folder was already read; a link or mount leads back to it"
                self._notices.append(_left_out(_readable(path), why))
            else:
                self._walked.add(real)
                folders.extend(self._children(path, real))

    def _children(self, path: str, location: str) -> list[tuple[str, str]]:
        """Take the files of one folder, remember its links, and return its subfolders."""
        folders: list[tuple[str, str]] = []
        try:
            with os.scandir(location) as entries:
                for entry in entries:
                    self.is_empty = False
                    child = f"{path}/{entry.name}" if path else entry.name
                    if entry.is_symlink():
                        self._links.append((child, entry.path))
                    elif entry.is_dir(follow_symlinks=False):
                        if self._may_enter(child):
                            folders.append((child, entry.path))
                    else:
                        self._take(child, entry.path)
        except OSError as error:
            if not path:
                raise AstRagSourceError(f"The folder {location!r} cannot be read ({error.strerror}).") from error
            self._miss(path, f"the folder cannot be read ({error.strerror})")
        return folders

    def _follow(self, path: str, location: str) -> None:
        try:
            real = os.path.realpath(location, strict=True)
        except OSError as error:
            if self._options.selects(_readable(path)):
                self._miss(path, f"the link leads nowhere ({error.strerror})")
            return
        if Path(real).is_dir():
            if self._may_enter(path):
                self._enter(path, location)
        elif not self._options.selects(_readable(path)):
            return
        elif not self._inside(real):
            self._miss(path, "the link leads out of the folder")
        else:
            self._take(path, real)

    def _take(self, path: str, location: str) -> None:
        if location not in self._taken and self._options.selects(_readable(path)):
            self._taken.add(location)
            self._files[path] = location

    def _may_enter(self, path: str) -> bool:
        if not self._options.include_subfolders:
            return False
        return (self._options.wants_hidden or not is_hidden(path)) and not self._options.excludes(_readable(path) + "/")

    def _inside(self, real: str) -> bool:
        return real == self._root or real.startswith(self._root.rstrip(os.sep) + os.sep)

    def _miss(self, path: str, why: str) -> None:
        self._unseen.add(_readable(path))
        self._notices.append(_left_out(_readable(path), why))


def _left_out(file_id: str, why: str) -> Notice:
    return Notice(file_id, file_id.rpartition("/")[2], f"Left out: {why}.")


def _undecodable(path: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in path)


def _readable(path: str) -> str:
    """A path as an id: composed, and with bytes or halves of characters that no Unicode text can hold written out."""
    if _undecodable(path):
        path = path.encode("utf-8", "surrogateescape" if os.name != "nt" else "surrogatepass").decode(
            "utf-8", "backslashreplace"
        )
    return unicodedata.normalize("NFC", path)
