"""Sources: the places that books come from. `open_source` turns an address into one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chapterverse.errors import AstRagSourceError
from chapterverse.ingest.sources.options import SourceOptions

if TYPE_CHECKING:
    from chapterverse.protocols import Source

__all__ = ["SourceOptions", "open_source"]

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)
"""At least two letters, so that `C:` is a disk."""

SUPPORTED = "a file or folder on this machine, https://… (a page or a sitemap), or gdrive:<id> (a Google Drive folder)"


def open_source(address: str, options: SourceOptions | None = None) -> Source:
    """The source at an address; nothing is read yet."""
    options = options or SourceOptions()
    address = address.strip()
    scheme = _SCHEME.match(address)
    # The web and Drive bring an HTTP client along: readers of local files should not wait for it.
    match scheme.group(1).lower() if scheme else "":
        case "http" | "https":
            from chapterverse.ingest.sources.web import WebSource

            return WebSource(address, options)
        case "gdrive":
            from chapterverse.ingest.sources.drive import DriveSource

            return DriveSource(address.partition(":")[2], options)
    from chapterverse.ingest.sources.folder import FolderSource, find

    root = find(address)
    if root is None and scheme:
        raise AstRagSourceError(f"{scheme.group(0)} addresses are not supported. Give {SUPPORTED}.")
    if root is None:
        raise AstRagSourceError(f"There is no file or folder {address!r} here. Give {SUPPORTED}.")
    return FolderSource(root, options)
