"""An EPUB's package: what the book is called, which documents it is made of, and what its contents list says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from html.entities import html5
from urllib.parse import unquote

from lxml import etree

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer, clean
from chapterverse.ingest.formats.archive import Archive, parse_xml
from chapterverse.ingest.formats.markup.passages import target
from chapterverse.ingest.formats.markup.trees import cfi_step, local_name

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_MIMETYPE = b"application/epub+zip"
_PACKAGE = "application/oebps-package+xml"
_FONT_OBFUSCATION = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
_NOT_READ = frozenset({"cover", "toc"})


@dataclass(frozen=True, slots=True)
class Item:
    """A file of the book as its manifest lists it."""

    name: str
    media_type: str
    properties: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SpineItem:
    """A document in reading order, and the CFI path that leads to it."""

    item: Item
    cfi: str
    linear: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents; `target` is a document's name, with a fragment where there is one."""

    title: str
    level: int
    target: str


@dataclass(slots=True)
class Package:
    """Everything about a book but its text."""

    titles: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    language: str | None = None
    spine: list[SpineItem] = field(default_factory=list)
    contents: list[Entry] = field(default_factory=list)
    page_labels: dict[str, str] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    """Whole documents that only repeat the cover or the table of contents."""


class PackageReader:
    """Reads the package of one archive; what is out of order but readable is reported to the composer."""

    def __init__(self, archive: Archive, composer: Composer) -> None:
        self._archive = archive
        self._composer = composer
        self._by_folded_name = {_folded(name): name for name in archive.names}

    def read(self) -> Package:
        self._check_mimetype()
        name = self._package_name()
        root = self.xml(name)
        package = Package()
        items = self._manifest(root, name)
        self._metadata(root, package)
        self._spine(root, items, package)
        self._refuse_encrypted({entry.item.name for entry in package.spine})
        self._navigation(root, name, items, package)
        return package

    def find(self, name: str) -> str | None:
        """The archive's own spelling of a name; None if there is no such file."""
        if name in self._archive:
            return name
        found = self._by_folded_name.get(_folded(name))
        if found:
            self._composer.warn(f"The book names {name!r}, but the file is called {found!r}.")
        return found

    def xml(self, name: str) -> etree._Element:
        """A part of the book as XML; bad markup is forgiven, and reported."""
        data = with_characters(self._archive.read(name))
        try:
            return parse_xml(data, name)
        except UnreadableFileError as error:
            if error.reason != "damaged":
                raise
            root = parse_xml(data, name, recover=True)
            self._composer.warn(f"The markup of {name!r} is broken; it was read as far as it could be.")
            return root

    def _check_mimetype(self) -> None:
        names = list(self._archive.names)
        if "mimetype" not in self._archive or self._archive.read("mimetype").strip() != _MIMETYPE:
            self._composer.warn("The 'mimetype' part is missing or wrong; the file was read as an EPUB all the same.")
        elif names[0] != "mimetype":
            self._composer.warn("The 'mimetype' part is not the first of the file.")

    def _package_name(self) -> str:
        if _CONTAINER in self._archive:
            for element in _all(self.xml(_CONTAINER), "rootfile"):
                if element.get("media-type", _PACKAGE) != _PACKAGE:
                    continue  # the same book as a PDF, say
                name = self.find(unquote(element.get("full-path", "")))
                if name:
                    return name
        found = next((name for name in self._archive.names if name.lower().endswith(".opf")), None)
        if found is None:
            raise UnreadableFileError("damaged", "The file has no package document, so it cannot be read as an EPUB.")
        self._composer.warn(f"{_CONTAINER!r} does not lead to a package document; {found!r} was used.")
        return found

    def _manifest(self, root: etree._Element, base: str) -> dict[str, Item]:
        items: dict[str, Item] = {}
        for element in _all(root, "item"):
            href, identifier = element.get("href", ""), element.get("id", "")
            if identifier in items:
                self._composer.warn(f"The manifest uses the id {identifier!r} twice; the first one counts.")
                continue
            name = target(base, href).partition("#")[0]
            if href and not re.match(r"[a-z][a-z0-9+.-]*:", href, re.IGNORECASE):
                properties = frozenset(element.get("properties", "").split())
                items[identifier] = Item(name, element.get("media-type", ""), properties)
        return items

    def _metadata(self, root: etree._Element, package: Package) -> None:
        refined = {
            (str(meta.get("refines", "")).lstrip("#"), str(meta.get("property", "")), _text(meta))
            for meta in _all(root, "meta")
        }
        for element in _all(root, "title"):
            main = (element.get("id", ""), "title-type", "main") in refined
            package.titles.insert(0 if main else len(package.titles), _text(element))
        creators = [element for element in _all(root, "creator") if _text(element)]
        authors = [
            element
            for element in creators
            if _attribute(element, "role") == "aut" or (element.get("id", ""), "role", "aut") in refined
        ]
        package.authors = [_text(element) for element in authors or creators]
        package.language = next((_text(element) for element in _all(root, "language") if _text(element)), None)

    def _spine(self, root: etree._Element, items: dict[str, Item], package: Package) -> None:
        steps = [(2 * number, child) for number, child in enumerate(root.iterchildren("*"), 1)]
        for step, spine in steps:
            if local_name(spine) != "spine":
                continue
            for number, itemref in enumerate(spine.iterchildren("*"), 1):
                item = items.get(itemref.get("idref", ""))
                if item is None:
                    self._composer.warn(f"The reading order names {itemref.get('idref')!r}, which no manifest item is.")
                    continue
                path = cfi_step(step, spine.get("id")) + cfi_step(2 * number, itemref.get("id"))
                package.spine.append(SpineItem(item, path, itemref.get("linear") != "no"))
        if not package.spine:
            self._composer.warn("The package has no reading order; documents were read in the manifest's order.")
            package.spine = [SpineItem(item, "/6") for item in items.values() if "html" in item.media_type]

    def _refuse_encrypted(self, documents: set[str]) -> None:
        """Obfuscated fonts are harmless; encrypted documents mean that the book is locked."""
        if _ENCRYPTION not in self._archive:
            return
        for element in _all(self.xml(_ENCRYPTION), "EncryptedData"):
            algorithm = next((method.get("Algorithm") for method in _all(element, "EncryptionMethod")), "")
            names = {unquote(reference.get("URI", "")).lstrip("/") for reference in _all(element, "CipherReference")}
            if algorithm not in _FONT_OBFUSCATION and names & documents:
                raise UnreadableFileError(
                    "encrypted", f"The book is protected: {min(names & documents)!r} is encrypted (DRM)."
                )

    def _navigation(self, root: etree._Element, base: str, items: dict[str, Item], package: Package) -> None:
        nav = next((item for item in items.values() if "nav" in item.properties), None)
        ncx = next((item for item in items.values() if item.media_type == "application/x-dtbncx+xml"), None)
        for reference in _all(root, "reference"):
            if reference.get("type") in _NOT_READ:
                package.unread.add(target(base, reference.get("href", "")))
        if nav is not None and (name := self.find(nav.name)):
            package.unread.add(nav.name)
            _read_nav(self.xml(name), name, package)
        if ncx is not None and not package.contents and (name := self.find(ncx.name)):
            _read_ncx(self.xml(name), name, package)
        if all(entry.item.name in package.unread for entry in package.spine):
            package.unread.clear()  # the book is one document, of which the contents list is a part
        if not package.contents:
            self._composer.warn("The book has no table of contents that can be read; its headings make the outline.")


def _folded(name: str) -> str:
    """A name without what zip programs change: its case, the form of its accents, characters written as %20."""
    return unicodedata.normalize("NFC", unquote(name)).lower()


def with_characters(data: bytes) -> bytes:
    """XHTML whose named entities are characters already, since no document type is ever loaded for them."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = re.sub(r"^<\?xml.*?\?>", "", data.decode("utf-16", "replace"))
        data = text.encode()
    return _ENTITY.sub(_character, data)


def _character(match: re.Match[bytes]) -> bytes:
    name = match.group(1)
    characters = "" if name in _XML_ENTITIES else html5.get(f"{name.decode()};", "")
    return "".join(f"&#{ord(char)};" for char in characters).encode() or match.group(0)


def _read_nav(root: etree._Element, base: str, package: Package) -> None:
    for nav in _all(root, "nav"):
        types = set(nav.get(_EPUB_TYPE, "").split())
        if "toc" in types:
            package.contents += _leading_somewhere(_nav_entries(nav, base))
        elif "page-list" in types:
            package.page_labels |= {target(base, link.get("href", "")): _text(link) for link in _all(nav, "a")}
        elif "landmarks" in types:
            links = (link for link in _all(nav, "a") if not _NOT_READ.isdisjoint(link.get(_EPUB_TYPE, "").split()))
            package.unread |= {target(base, link.get("href", "")) for link in links}


def _nav_entries(nav: etree._Element, base: str) -> Iterator[Entry]:
    """Entries of an EPUB 3 contents list."""
    for element in nav.iter("{*}a", "{*}span"):
        parent = element.getparent()
        if parent is not None and local_name(parent) == "li":
            level = sum(1 for ancestor in element.iterancestors("{*}ol"))
            yield Entry(_text(element), level, _place(base, element.get("href")))


def _read_ncx(root: etree._Element, base: str, package: Package) -> None:
    entries: list[Entry] = []
    for point in root.iter("{*}navPoint", "{*}pageTarget"):
        source = next((child.get("src", "") for child in point.iterchildren("{*}content")), "")
        title = next((_text(child) for child in point.iterchildren("{*}navLabel")), "")
        if local_name(point) == "pagetarget":
            package.page_labels[target(base, source)] = title or point.get("value", "")
        else:
            level = 1 + sum(1 for ancestor in point.iterancestors("{*}navPoint"))
            entries.append(Entry(title, level, _place(base, source)))
    package.contents += _leading_somewhere(entries)


def _place(base: str, href: str | None) -> str:
    return target(base, href) if href else ""


def _leading_somewhere(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries with their place: a title without a link begins where the first entry below it does."""
    unlinked: list[Entry] = []
    for entry in entries:
        if not entry.target:
            unlinked.append(entry)
            continue
        yield from (replace(above, target=entry.target) for above in unlinked if above.level < entry.level)
        unlinked.clear()
        yield entry


def _all(root: etree._Element, name: str) -> Iterator[etree._Element]:
    """Every descendant of that local name, whatever its namespace."""
    return root.iter(f"{{*}}{name}")


def _attribute(element: etree._Element, name: str) -> str:
    """An attribute by its local name, whatever its namespace."""
    return next((str(value) for key, value in element.attrib.items() if str(key).rpartition("}")[2] == name), "")


def _text(element: etree._Element) -> str:
    return clean("".join(str(part) for part in element.itertext())).strip()
