"""What DOCX and PPTX share: the package with its parts and relations, names of elements, and a walk over them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.archive import Archive, parse_xml, resolve
from chapterverse.types import ReadOptions

Element = etree._Element
Walk = Iterator[tuple[bool, str, Element]]

_OFFICE_2006 = "http://schemas.openxmlformats.org/"
_STRICT = "http://purl.oclc.org/ooxml/"
_VOCABULARIES = {
    "wordprocessingml/main": "w",
    "presentationml/main": "p",
    "drawingml/main": "a",
    "drawingml/chart": "c",
    "drawingml/diagram": "dgm",
    "officeDocument/math": "m",
    "officeDocument/relationships": "r",
}
_PREFIXES = {
    _OFFICE_2006 + "markup-compatibility/2006": "mc",
    _OFFICE_2006 + "package/2006/relationships": "rel",
    "http://schemas.microsoft.com/office/drawing/2014/chartex": "cx",
    "http://schemas.microsoft.com/office/powerpoint/2010/main": "p14",
    "http://purl.org/dc/elements/1.1/": "dc",
    "urn:schemas-microsoft-com:vml": "v",
} | {
    uri: prefix
    for vocabulary, prefix in _VOCABULARIES.items()
    for uri in (_STRICT + vocabulary, _OFFICE_2006 + vocabulary.replace("/", "/2006/"))
}


@lru_cache(maxsize=4096)
def short(tag: str) -> str:
    """A tag as "w:p": the same word for the Transitional and the Strict namespace; ":p" in one that is not known."""
    uri, _, local = tag.rpartition("}")
    return f"{_PREFIXES.get(uri[1:], '')}:{local}" if uri else local


def attribute(element: Element, name: str) -> str | None:
    """The attribute's value; `name` is short, as in "w:val" or "idx"."""
    for key, value in element.attrib.items():
        if short(str(key)) == name:
            return str(value)
    return None


def child(element: Element | None, *path: str) -> Element | None:
    """The first child of each name in turn."""
    for name in path:
        if element is None:
            return None
        for item in element:
            if short(item.tag) == name:
                element = item
                break
        else:
            return None
    return element


def children(element: Element | None, name: str) -> list[Element]:
    return [] if element is None else [item for item in element if short(item.tag) == name]


def descendants(root: Element, name: str) -> list[Element]:
    """All elements of that name at any depth, in order, of alternate content only the kind that is shown."""
    return [element for start, found, element in walk(root) if start and found == name]


def value(element: Element | None, *path: str) -> str | None:
    """The `w:val` of the descendant at `path`: how WordprocessingML writes nearly every property."""
    found = child(element, *path)
    return None if found is None else attribute(found, "w:val")


def is_true(text: str) -> bool:
    return text.lower() in ("1", "true", "on")


def switched_on(element: Element | None) -> bool | None:
    """An on/off property: None where it is not given, on where it has no value."""
    if element is None:
        return None
    return is_true(attribute(element, "w:val") or "1")


def whole(text: str | None, default: int, least: int = 0, most: int = 1_000_000, base: int = 10) -> int:
    """A number out of an attribute, held within bounds that no honest file exceeds."""
    try:
        return min(max(int(text or "", base), least), most)
    except ValueError:
        return default


def nothing_closed(_name: str, _element: Element) -> bool:
    return False


def walk(root: Element, closed: Callable[[str, Element], bool] = nothing_closed) -> Walk:
    """Start (True) and end (False) of each element below `root` in order; what is `closed` is not entered.

    Of alternate content only the first kind is seen: the rest says the same again for older programs.
    """
    branches = [iter(root)]
    path: list[tuple[str, Element]] = []
    while branches:
        element = next(branches[-1], None)
        if element is None:
            branches.pop()
            if path:
                yield False, *path.pop()
            continue
        name = short(element.tag)
        if name in ("mc:Choice", "mc:Fallback") and element.getprevious() is not None:
            continue
        yield True, name, element
        if not len(element) or closed(name, element):
            yield False, name, element
        else:
            path.append((name, element))
            branches.append(iter(element))


@dataclass(frozen=True, slots=True)
class Relation:
    """A pointer from one part to another; `kind` is the last word of its type ("styles", "slide")."""

    kind: str
    target: str


class Package:
    """The parts of an OOXML file; one that is missing or damaged is a warning, unless it is the main one."""

    def __init__(self, data: bytes, composer: Composer, options: ReadOptions) -> None:
        self._archive = Archive(data, options.max_unpacked_mb)
        self._names = {name.replace("\\", "/").lower(): name for name in self._archive.names}
        self._composer = composer
        self._relations: dict[str, dict[str, Relation]] = {}

    def main(self, usual: str, root_name: str) -> tuple[str, Element]:
        """Name and root of the part that the package is about; `usual` is where it lies when nothing says so."""
        name = self.related("", "officeDocument")
        if name is None and self._has(usual):
            self._composer.warn("The file does not say which part is its main one; the usual one was read.")
            name = usual
        if name is None or not self._has(name):
            raise UnreadableFileError("damaged", "The file is damaged: its main part is missing.")
        root = self._parse(name)
        if short(root.tag) != root_name:
            raise UnreadableFileError("unsupported", f"The main part {name!r} is not of the kind that is read here.")
        return name, root

    def part(self, name: str | None) -> Element | None:
        """The root of a part that the file can be read without, or None after a warning."""
        if name is None:
            return None
        if not self._has(name):
            self._composer.warn(f"The part {name!r} is missing from the file.")
            return None
        try:
            return self._parse(name)
        except UnreadableFileError as error:
            if error.reason != "damaged":
                raise
            self._composer.warn(f"{error.explanation} It was left out.")
            return None

    def related(self, part: str, kind: str) -> str | None:
        """The first part that `part` points to with a relation of that kind."""
        return next((item.target for item in self.relations(part).values() if item.kind == kind), None)

    def target(self, part: str, relation_id: str | None) -> str | None:
        """The part that a relation id inside `part` stands for; None, with a warning, where there is none."""
        relation = self.relations(part).get(relation_id or "")
        if relation is None:
            self._composer.warn(f"The part {part!r} points to a part that the file does not name.")
            return None
        return relation.target

    def relations(self, part: str) -> dict[str, Relation]:
        """The relations of a part to others inside the file, by id; "" is the package itself."""
        if part not in self._relations:
            folder, name = posixpath.split(part)
            listing = posixpath.join(folder, "_rels", f"{name}.rels")
            root = self.part(listing) if self._has(listing) else None
            self._relations[part] = {
                item.get("Id", ""): Relation(item.get("Type", "").rpartition("/")[2], resolve(part, target))
                for item in children(root, "rel:Relationship")
                if item.get("TargetMode") != "External" and (target := item.get("Target"))
            }
        return self._relations[part]

    def read_properties(self) -> None:
        """Title, author and language, as the core properties give them."""
        root = self.part(self.related("", "core-properties"))
        for name, field in (("dc:title", "title"), ("dc:creator", "author"), ("dc:language", "language")):
            found = child(root, name)
            text = (found.text or "").strip() if found is not None else ""
            if text:
                setattr(self._composer, field, text)

    def _has(self, name: str) -> bool:
        return name.lower() in self._names

    def _parse(self, name: str) -> Element:
        root = parse_xml(self._archive.read(self._names[name.lower()]), name)
        if root.getroottree().docinfo.internalDTD is not None:
            # The format forbids it, and in UTF-16 it would hide entity declarations from a search of the bytes.
            raise UnreadableFileError("entities", f"The part {name!r} declares a document type, which is refused.")
        return root
