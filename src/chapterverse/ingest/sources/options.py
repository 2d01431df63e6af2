"""What a source is asked for: which files, how many, and the limits that keep a hostile place harmless."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from chapterverse.errors import AstRagValidationError
from chapterverse.types import Notice, SourceItem


@dataclass(frozen=True)
class SourceOptions:
    """How a source is listed and read. Every source obeys the first group; the others name their source."""

    include: tuple[str, ...] = ()
    """Patterns of paths to take; none means all. See `matches` for what a pattern can say."""
    exclude: tuple[str, ...] = ()
    """Patterns of paths to leave; they win over `include`."""
    exclude_file_ids: frozenset[str] = frozenset()
    read_before: bool = False
    """Files that were left out then may be gone by now, and nobody needs to hear of it."""
    include_subfolders: bool = True
    max_files: int | None = None
    """More files than this are an error, unless `truncate` asks to take the first ones and report it."""
    truncate: bool = False
    max_file_mb: int = 200

    allow_private_addresses: bool = False
    """Web: also read from this machine and the local network."""
    timeout_seconds: float = 30.0
    """Web and Drive: how long the other side may stay silent."""
    max_seconds: float = 300.0
    """Web and Drive: how long one download may take in all."""
    attempts: int = 4
    """Web and Drive: how often a request is tried when the trouble looks passing."""

    credentials_file: Path | None = None
    """Drive: a service account's key or an authorised user's file. Without it, Google's default credentials."""
    access_token: str | None = field(default=None, repr=False)
    """Drive: a ready OAuth token, used as it is."""
    drive_url: str = "https://www.googleapis.com/drive/v3"

    def __post_init__(self) -> None:
        for name in ("include", "exclude", "exclude_file_ids"):
            if isinstance(getattr(self, name), str):
                raise AstRagValidationError(f"{name} takes a list, not one text.")
        for name in ("max_files", "max_file_mb", "timeout_seconds", "max_seconds", "attempts"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise AstRagValidationError(f"{name} is {value}; it must be more than 0.")

    @property
    def max_bytes(self) -> int:
        return self.max_file_mb * 1024 * 1024

    @property
    def wants_hidden(self) -> bool:
        """Whether an include pattern names a hidden file or folder: only then are any looked at."""
        return any(is_hidden(pattern) for pattern in self.include)

    def selects(self, path: str) -> bool:
        """Whether the file at a relative path is asked for."""
        patterns = tuple(p for p in self.include if is_hidden(p)) if is_hidden(path) else self.include
        if is_hidden(path) and not patterns:
            return False
        if patterns and not any(matches(pattern, path) for pattern in patterns):
            return False
        return not self.excludes(path)

    def excludes(self, path: str) -> bool:
        """Whether a file, or a folder written with its final slash, is left with all that is in it."""
        return any(matches(pattern, path) for pattern in self.exclude)

    def tell_unmet(self, met: Set[str], notices: list[Notice], unseen: Set[str]) -> None:
        """Tell of ids to leave out that no file had: a slip of the pen, unless some files could not be looked at."""
        if unseen or self.read_before:
            return
        for file_id in sorted(self.exclude_file_ids - met):
            why = "No file here that would be read has this id, so leaving it out (exclude_file_ids) changes nothing."
            notices.append(Notice(file_id, file_id, why))

    def limit(
        self,
        items: list[SourceItem],
        address: str,
        notices: list[Notice],
        *,
        at_least: bool = False,
        counts: Callable[[SourceItem], bool] = lambda _: True,
    ) -> list[SourceItem]:
        """The items themselves, or, where those that count are too many, an error or the first of them with a notice.

        `at_least` says that the search for items was given up when they became too many.
        """
        places = [place for place, item in enumerate(items) if counts(item)]
        if self.max_files is None or len(places) <= self.max_files:
            return items
        count = f"{'at least ' if at_least else ''}{len(places):,}"
        found = f"{address} holds {count} files; max_files is {self.max_files:,}"
        if not self.truncate:
            raise AstRagValidationError(
                f"{found}. Raise max_files, choose fewer with include or exclude, or ask to truncate.",
                details={"found": len(places), "max_files": self.max_files},
            )
        notices.append(Notice(address, address, f"{found}: only the first {self.max_files:,} were taken."))
        return items[: places[self.max_files]]


_UNFINISHED = ("~", ".bak", ".tmp", ".part", ".crdownload")
"""How names end that editors give to the old or half-saved text of a file, and browsers to one that is still coming."""


def is_hidden(path: str) -> bool:
    """Whether a part of the path begins with a dot, or is what an editor, office program or browser leaves there.

    A backup holds what its author has struck out since: no answer is to quote it.
    """
    return any(map(_is_hidden, path.split("/")))


def _is_hidden(name: str) -> bool:
    if name.startswith((".", "~$")):
        return name not in {".", ".."}
    is_autosave = len(name) > 2 and name[0] == name[-1] == "#"
    return is_autosave or name.endswith(_UNFINISHED)


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern, read as in a .gitignore file, names this path or a folder above it.

    `*` and `?` stay within a name, `**` spans folders, `[a-z]` is one of a set. A pattern without a slash
    holds at any depth, one with a slash from the root; a final slash means a folder.
    """
    return _expression(unicodedata.normalize("NFC", pattern)).match(path) is not None


@lru_cache(maxsize=512)
def _expression(pattern: str) -> re.Pattern[str]:
    only_folder = pattern.endswith("/")
    pattern = pattern.rstrip("/")
    anywhere = "/" not in pattern
    body = "".join(_translate(token) for token in _TOKENS.findall(pattern.lstrip("/")))
    expression = ("(?:.*/)?" if anywhere else "") + body + ("/.*" if only_folder else "(?:/.*)?") + r"\Z"
    try:
        return re.compile(expression, re.DOTALL)
    except re.error as error:
        raise AstRagValidationError(f"The pattern {pattern!r} cannot be understood: {error}.", cause=error) from error


_TOKENS = re.compile(r"/\*\*/|\*\*/|/\*\*|\*\*|\[[!^]?\]?[^\]/]*\]|.", re.DOTALL)
_WILD = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _translate(token: str) -> str:
    if token in _WILD:
        return _WILD[token]
    if len(token) > 2 and token[0] == "[":
        negated = token[1] in "!^"
        members = re.sub(r"([\\\[\]^&~|])", r"\\\1", token[2 if negated else 1 : -1])
        return f"(?!/)[{'^' if negated else ''}{members}]"
    return re.escape(token)
