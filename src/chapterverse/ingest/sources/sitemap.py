"""Sitemaps: the lists of pages that a site offers to readers like us, plain or packed, one or an index of many."""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from chapterverse.ingest.formats.archive import parse_xml
from chapterverse.ingest.sources.http import gunzip

_GZIP = b"\x1f\x8b"
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Sitemap:
    pages: tuple[tuple[str, str | None], ...]
    """Addresses, with the time of their last change where it is told."""
    sitemaps: tuple[str, ...]


def parse(data: bytes, max_bytes: int) -> Sitemap | None:
    """Read a sitemap; None if the data is something else. Raises `UnreadableFileError` for a damaged one."""
    if data.startswith(_GZIP):
        data = gunzip(data, max_bytes)
    if b"<urlset" not in data[:_HEAD] and b"<sitemapindex" not in data[:_HEAD]:
        return None
    root = parse_xml(data, "sitemap", recover=True)
    pages: list[tuple[str, str | None]] = []
    sitemaps: list[str] = []
    for entry in root:
        address = _text(entry, "loc")
        if address is None:
            continue
        if etree.QName(entry).localname == "sitemap":
            sitemaps.append(address)
        else:
            pages.append((address, _text(entry, "lastmod")))
    return Sitemap(tuple(pages), tuple(sitemaps))


def _text(entry: etree._Element, name: str) -> str | None:
    for child in entry:
        if etree.QName(child).localname == name:
            return (child.text or "").strip() or None
    return None
