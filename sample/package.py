"""Packs parts into zips whose bytes depend on nothing but the parts (and the zlib that deflates them)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from io import BytesIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

DATE = "2025-01-01T00:00:00Z"
"""The date that every file bears."""

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE_TYPE = "application/vnd.openxmlformats-officedocument"


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


class OfficeFile:
    """An Office file in the making: it writes the content types and relationships of the parts it is given."""

    def __init__(self, title: str, author: str) -> None:
        self._parts: dict[str, str] = {}
        self._types: dict[str, str] = {}
        self._relations: list[tuple[str, str]] = []
        self._add(
            "docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml", _core(title, author)
        )
        self._relations.append((f"{_PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"))

    def add(self, name: str, kind: str, xml: str, relations: Iterable[tuple[str, str]] = ()) -> None:
        """Add a part; its relations, (kind, other part), get the ids rId1, rId2, ..."""
        self._add(name, f"{_OFFICE_TYPE}.{kind}+xml", xml)
        relations = [(f"{OFFICE_RELATIONS}/{kind}", other) for kind, other in relations]
        if relations:
            folder, file = posixpath.split(name)
            self._parts[f"{folder}/_rels/{file}.rels"] = _relationships(relations, folder)

    def add_main(self, name: str, kind: str, xml: str, relations: Iterable[tuple[str, str]]) -> None:
        """Add the part that the file is about."""
        self.add(name, kind, xml, relations)
        self._relations.insert(0, (f"{OFFICE_RELATIONS}/officeDocument", name))

    def pack(self) -> bytes:
        overrides = "".join(
            f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in sorted(self._types.items())
        )
        types = (
            f'{XML}<Types xmlns="{_PACKAGE}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
        )
        relations = _relationships(self._relations, "")
        return pack({**self._parts, "[Content_Types].xml": types, "_rels/.rels": relations})

    def _add(self, name: str, content_type: str, xml: str) -> None:
        self._parts[name] = XML + xml
        self._types[name] = content_type


def _relationships(relations: Iterable[tuple[str, str]], folder: str) -> str:
    entries = "".join(
        f'<Relationship Id="rId{index}" Type="{kind}" Target="{posixpath.relpath(other, folder or ".")}"/>'
        for index, (kind, other) in enumerate(relations, 1)
    )
    return f'{XML}<Relationships xmlns="{_PACKAGE}/relationships">{entries}</Relationships>'


def _core(title: str, author: str) -> str:
    return (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>{escape(author)}</dc:creator><dc:language>en-GB</dc:language>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{DATE}</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{DATE}</dcterms:modified></cp:coreProperties>'
    )
