"""Packs XML parts into a zip whose bytes depend on nothing but the parts (and the zlib that deflates them)."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

__all__ = ["DATE", "XML", "escape", "pack", "relationships"]

DATE = "2025-01-01T00:00:00Z"
"""The date that every file bears."""

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"


def pack(parts: Mapping[str, str], mimetype: str | None = None) -> bytes:
    """A zip of the parts in the order of their names; a mimetype comes first and is stored, as EPUB wants it."""
    data = BytesIO()
    with ZipFile(data, "w") as archive:
        if mimetype:
            archive.writestr(_entry("mimetype", ZIP_STORED), mimetype)
        for name in sorted(parts):
            archive.writestr(_entry(name, ZIP_DEFLATED), parts[name].encode())
    return data.getvalue()


def _entry(name: str, compression: int) -> ZipInfo:
    entry = ZipInfo(name, (2025, 1, 1, 0, 0, 0))
    entry.compress_type = compression
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


def relationships(*targets: tuple[str, str]) -> str:
    """An Office relationships part: (type, target) pairs that get the ids rId1, rId2, ..."""
    entries = "".join(
        f'<Relationship Id="rId{index}" Type="{kind}" Target="{target}"/>'
        for index, (kind, target) in enumerate(targets, 1)
    )
    return f'{XML}<Relationships xmlns="{_RELATIONSHIPS}">{entries}</Relationships>'
