"""The seams of Chapterverse: what a part must offer to stand in for another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from chapterverse.types import SourceItem


class Source(Protocol):
    """A place that books come from: a folder, a web site, a Drive folder."""

    def items(self) -> Iterator[SourceItem]:
        """Every file on offer, in a deterministic order; raises `AstRagSourceError` if they cannot be listed."""
        ...

    def fetch(self, item: SourceItem) -> bytes:
        """The bytes of one file; raises `UnreadableFileError` if they cannot be had."""
        ...
