"""What a site's robots.txt allows us, by RFC 9309: the longest rule wins, with `*` and `$` in paths."""

from __future__ import annotations

import string
from dataclasses import dataclass
from urllib.parse import quote, unquote

MAX_BYTES = 500 * 1024
"""What the standard asks a reader to look at; the rest of a longer file is not."""


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules that hold for us: (allowed, path pattern)."""

    rules: tuple[tuple[bool, str], ...] = ()
    delay: float = 0.0
    """Seconds to leave between two requests."""
    sitemaps: tuple[str, ...] = ()

    def allows(self, path: str) -> bool:
        """Whether a path (with its query) may be asked for."""
        path = _spelling(path)
        fitting = [(len(pattern), allowed) for allowed, pattern in self.rules if _fits(pattern, path)]
        return max(fitting)[1] if fitting else True


def parse(data: bytes, agent: str) -> Robots:
    """Read a robots.txt for the agent of this name, or for all agents where it is not named."""
    named = _Group()
    everyone = _Group()
    sitemaps: list[str] = []
    current: list[_Group] = []
    in_head = False
    for line in data[:MAX_BYTES].decode("utf-8-sig", "replace").splitlines():
        key, _, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if key == "user-agent":
            if not in_head:
                current = []
            in_head = True
            if value == "*":
                current.append(everyone)
            elif value.lower() == agent:
                current.append(named)
                named.found = True
        elif key == "sitemap":
            sitemaps.append(value)
        elif key in {"allow", "disallow", "crawl-delay"}:
            in_head = False
            for group in current:
                group.add(key, value)
    group = named if named.found else everyone
    return Robots(tuple(group.rules), group.delay, tuple(sitemaps))


class _Group:
    def __init__(self) -> None:
        self.found = False
        self.rules: list[tuple[bool, str]] = []
        self.delay = 0.0

    def add(self, key: str, value: str) -> None:
        if key == "crawl-delay":
            self.delay = float(value) if value.replace(".", "", 1).isdecimal() else 0.0
        elif value:
            self.rules.append((key == "allow", _spelling(value)))


def _spelling(path: str) -> str:
    """One spelling for each path, however its characters are escaped."""
    return quote(unquote(path), safe=string.punctuation)


def _fits(pattern: str, path: str) -> bool:
    """Match from the start of the path. Piece by piece: a regular expression could be made to take for ever."""
    anchored = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not rest:
        return not anchored or path == first
    at = len(first)
    for piece in rest[:-1] if anchored else rest:
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return not anchored or (path.endswith(rest[-1]) and len(path) - len(rest[-1]) >= at)
