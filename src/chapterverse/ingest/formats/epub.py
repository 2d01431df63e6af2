"""EPUB 2 and 3: documents in reading order, outlined by the table of contents, with page labels and CFIs."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.archive import Archive, parse_xml
from chapterverse.ingest.formats.epub_outline import compose, place_contents
from chapterverse.ingest.formats.epub_package import Package, PackageReader, SpineItem, with_characters
from chapterverse.ingest.formats.html import decode, with_end_tags
from chapterverse.ingest.formats.markup.notes import place_notes
from chapterverse.ingest.formats.markup.reader import MarkupReader
from chapterverse.ingest.formats.markup.trees import parse_html, walk_html, walk_xml
from chapterverse.types import ReadOptions

_XHTML = frozenset({"application/xhtml+xml", "text/x-oeb1-document"})
_PICTURES = re.compile(r"image/|audio/|video/")
_SPACES = re.compile(r"\s+")
_MOST_OF_A_COVER = 500
"""Characters: the title, who wrote and made the book; or a contents list without links."""


def parse(data: bytes, composer: Composer, options: ReadOptions) -> None:
    """Tell the composer about each block of the book."""
    archive = Archive(data, options.max_unpacked_mb)
    files = PackageReader(archive, composer)
    package = files.read()
    composer.title = package.titles[0] if package.titles else None
    composer.author = ", ".join(package.authors) or None
    composer.language = package.language
    composer.page_count = len(set(package.page_labels.values())) or None
    reader = MarkupReader(package.page_labels)
    starts = _Documents(archive, files, composer, reader).read(package)
    place_contents(package, starts, reader, composer)
    compose(place_notes(reader.passages, reader.anchors), composer)
    if composer.empty:
        raise UnreadableFileError("no_text", "The book holds no text.")


class _Documents:
    """Reads the documents of the spine into one `MarkupReader`."""

    def __init__(self, archive: Archive, files: PackageReader, composer: Composer, reader: MarkupReader) -> None:
        self._archive = archive
        self._files = files
        self._composer = composer
        self._reader = reader

    def read(self, package: Package) -> dict[str, int]:
        """Read every document; returns the index of the first passage of each."""
        starts: dict[str, int] = {}
        for entry in package.spine:
            name = entry.item.name
            if name in starts or (data := self._data(entry)) is None:
                continue
            if name not in package.unread or _holds_prose(data):
                starts[name] = len(self._reader.passages)
                self._document(entry, data)
        if not starts:
            raise UnreadableFileError("damaged", "None of the book's documents can be read.")
        return starts

    def _data(self, entry: SpineItem) -> bytes | None:
        """A document's bytes, unless it is missing, damaged or no text at all."""
        item = entry.item
        found = self._files.find(item.name)
        if found is None:
            self._composer.warn(f"The document {item.name!r} is missing from the file.")
            return None
        if _PICTURES.match(item.media_type):
            return None
        try:
            data = self._archive.read(found)
        except UnreadableFileError as error:
            if error.reason != "damaged":
                raise
            self._composer.warn(f"The document {item.name!r} is damaged and was left out.")
            return None
        if item.media_type not in _XHTML:
            if b"<" not in data[:1024].replace(b"\0", b""):
                self._composer.warn(f"The document {item.name!r} ({item.media_type}) is no markup and was left out.")
                return None
            self._composer.warn(f"The document {item.name!r} is declared as {item.media_type!r}; it was read as XHTML.")
        return data

    def _document(self, entry: SpineItem, data: bytes) -> None:
        name, reader = entry.item.name, self._reader
        before = len(reader.passages)
        reader.begin(name, entry.cfi)
        try:
            walk_xml(parse_xml(with_characters(data), name), reader)
        except UnreadableFileError as error:
            if error.reason != "damaged":
                raise
            self._composer.warn(f"The markup of {name!r} is broken; it was read as a browser would.")
            root = _as_browsers_do(data, self._composer).root
            if root is not None:
                walk_html(root, reader)
        reader.end()
        if reader.repeated_ids:
            self._composer.warn(f"The document {name!r} uses the id {min(reader.repeated_ids)!r} more than once.")
            reader.repeated_ids.clear()
        if not entry.linear and len(reader.passages) > before:
            self._composer.warn(f"The document {name!r} stands outside the reading order; its text was included.")


def _as_browsers_do(data: bytes, composer: Composer) -> LexborHTMLParser:
    return parse_html(with_end_tags(decode(data, composer)))


def _holds_prose(data: bytes) -> bool:
    """Whether a document that the book calls its cover or contents is more: the first chapter may stand in it, too."""
    body = _as_browsers_do(data, Composer()).body
    if body is None:
        return False
    linked = sum(_length(link) for link in body.css("a[href]"))
    return _length(body) - linked > max(linked, _MOST_OF_A_COVER)


def _length(node: LexborNode) -> int:
    return len(_SPACES.sub(" ", node.text()))
