"""Trees of markup: HTML parsed with care, and drivers that tell a `MarkupReader` of any tree without recursion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.formats.markup.reader import MarkupReader

_EPUB = "{http://www.idpf.org/2007/ops}"
_CFI_SPECIAL = str.maketrans({char: f"^{char}" for char in "^[](),;="})


_MARK = re.compile(
    r"""<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<(/?)([a-z][^\s/>]*+)(?:"[^"]*+"|'[^']*+'|[^'">])*+""",
    re.IGNORECASE | re.DOTALL,
)
_CLOSED_BY_NEXT = frozenset(
    "area base br col dd dt embed hr img input li link meta option p param source td th track tr wbr".split()
)
_FORMATTING = frozenset("a b big code em font i nobr s small strike strong tt u".split())
_HARMLESS_TAGS = 2_000
_DEEPEST = 5_000
_MOST_REPEATS = 2_000_000


def walk_xml(root: etree._Element, reader: MarkupReader) -> None:
    """Read an XML tree."""
    if not reader.open(local_name(root), _xml_attributes(root), ""):
        return
    reader.text(root.text)
    open_elements: list[tuple[etree._Element, Iterator[etree._Element]]] = [(root, iter(root))]
    ordinals = [0]
    while open_elements:
        element, children = open_elements[-1]
        child = next(children, None)
        if child is None:
            reader.close()
            open_elements.pop()
            ordinals.pop()
            if open_elements:
                reader.text(element.tail)
            continue
        if not isinstance(child.tag, str):  # a reference to an entity that nobody declared
            reader.text(child.text)
            reader.text(child.tail)
            continue
        ordinals[-1] += 2
        attributes = _xml_attributes(child)
        if reader.open(local_name(child), attributes, cfi_step(ordinals[-1], attributes.get("id"))):
            reader.text(child.text)
            open_elements.append((child, iter(child)))
            ordinals.append(0)
        else:
            reader.text(child.tail)


def walk_html(root: LexborNode, reader: MarkupReader, skip: Set[int] = frozenset()) -> None:
    """Read an HTML tree, but for the nodes whose `mem_id` is in `skip`."""
    ancestors: list[LexborNode] = []
    ordinals = [0]
    node: LexborNode | None = root
    while node is not None:
        entered = _enter(node, reader, skip, ordinals)
        if entered and (child := node.first_child) is not None:
            ancestors.append(node)
            ordinals.append(0)
            node = child
            continue
        if entered:
            reader.close()
        while ancestors and node.next is None:
            node = ancestors.pop()
            ordinals.pop()
            reader.close()
        node = node.next if ancestors else None


def _enter(node: LexborNode, reader: MarkupReader, skip: Set[int], ordinals: list[int]) -> bool:
    """Tell the reader of one node; True if its children are to be read too."""
    if node.is_text_node:
        reader.text(node.text_content)
        return False
    if not node.is_element_node:
        return False
    ordinals[-1] += 2
    if node.mem_id in skip:
        return False
    attributes = {name: value or "" for name, value in node.attributes.items()}
    tag = node.tag or ""
    if tag == "ol" and "reversed" in attributes and "start" not in attributes:
        attributes["start"] = str(sum(1 for child in node.iter() if child.tag == "li"))
    step = "" if len(ordinals) == 1 else cfi_step(ordinals[-1], attributes.get("id"))
    return reader.open(tag, attributes, step)


def local_name(element: etree._Element) -> str:
    """An element's name without its namespace."""
    return str(element.tag).rpartition("}")[2].lower()


def cfi_step(ordinal: int, identifier: str | None) -> str:
    """One step of an EPUB CFI: elements have even numbers, and ids are asserted."""
    return f"/{ordinal}[{identifier.translate(_CFI_SPECIAL)}]" if identifier else f"/{ordinal}"


def _xml_attributes(element: etree._Element) -> dict[str, str]:
    """Attributes under the names that HTML gives them."""
    attributes = {}
    for name, value in element.attrib.items():
        key = str(name)
        attributes["epub:type" if key == f"{_EPUB}type" else key.rpartition("}")[2]] = str(value)
    if "reversed" in attributes and "start" not in attributes:
        attributes["start"] = str(sum(1 for child in element if local_name(child) == "li"))
    return attributes


def parse_html(text: str) -> LexborHTMLParser:
    """Parse a page that has been looked over for markup that explodes."""
    _refuse_explosive(text)
    return LexborHTMLParser(text)


def _refuse_explosive(text: str) -> None:
    """A parser takes square time over deep nesting, and repeats unclosed formatting in every later paragraph."""
    if text.count("<") <= _HARMLESS_TAGS:
        return
    unclosed: Counter[str] = Counter()
    depth = formatting = repeats = 0
    for mark in _MARK.finditer(text):
        tag = (mark.group(3) or "").lower()
        if tag not in _CLOSED_BY_NEXT and tag:
            change = (-1 if unclosed[tag] else 0) if mark.group(2) else 1
            unclosed[tag] += change
            depth += change
            formatting += change if tag in _FORMATTING else 0
        repeats += formatting
        if depth > _DEEPEST or repeats > _MOST_REPEATS:
            raise UnreadableFileError("bomb", "The page nests its elements deeper than any browser would follow.")
