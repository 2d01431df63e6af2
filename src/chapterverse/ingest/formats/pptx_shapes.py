"""Shapes on a slide: the order in which a reader takes them, and their paragraphs with bullets and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from chapterverse.ingest.formats.ooxml import (
    Element,
    attribute,
    child,
    children,
    descendants,
    is_true,
    short,
    walk,
    whole,
)
from chapterverse.ingest.formats.ooxml_drawing import paragraph_text
from chapterverse.ingest.formats.ooxml_text import numeral

FURNITURE = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
"""Placeholders for what repeats on every slide: date, footer, header, slide number; and the picture on a notes page."""

_SHAPES = frozenset({"p:sp", "p:cxnSp", "p:graphicFrame"})
_BULLETS = frozenset({"a:buNone", "a:buChar", "a:buBlip", "a:buAutoNum"})
_AUTO_NUMBER = re.compile(
    r"(arabic|alphaLc|alphaUc|romanLc|romanUc|circleNum)\w*?(ParenBoth|ParenR|Period|Minus|Plain)"
)
_NUMERALS = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle",
}
_PUNCTUATION = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Minus": "{} -", "Plain": "{}"}


@dataclass(frozen=True, slots=True)
class _Item:
    """A shape, or a group with its shapes in order, and where it lies in its parent's coordinates."""

    left: int
    top: int
    height: int
    shapes: list[Element]


class Layout:
    """A slide layout with its master: placeholders on a slide take over what they do not set themselves."""

    def __init__(self, layout: Element | None, master: Element | None, defaults: Element | None) -> None:
        shapes = [] if layout is None else [item for item in descendants(layout, "p:sp") if placeholder(item)]
        masters = [] if master is None else [item for item in descendants(master, "p:sp") if placeholder(item)]
        self._by_index = {_placeholder_index(item): item for item in reversed(shapes)}
        self._by_role = {_role(item): item for item in reversed(shapes)}
        self._of_master = {_role(item): item for item in reversed(masters)}
        self._styles = child(master, "p:txStyles")
        self._defaults = defaults

    def inherited(self, shape: Element) -> list[Element]:
        """The placeholders of layout and master that a placeholder follows, nearest first."""
        if placeholder(shape) is None:
            return []
        role = _role(shape)
        nearest = self._by_index.get(_placeholder_index(shape)) if role == "body" else self._by_role.get(role)
        return [item for item in (nearest, self._of_master.get(role)) if item is not None]

    def text_styles(self, shape: Element) -> list[Element | None]:
        """The list styles that rule a shape's paragraphs, nearest first."""
        bodies = [child(item, "p:txBody", "a:lstStyle") for item in (shape, *self.inherited(shape))]
        if placeholder(shape) is None:
            return [*bodies, self._defaults]
        return [*bodies, child(self._styles, "p:titleStyle" if _role(shape) == "title" else "p:bodyStyle")]


def placeholder(shape: Element) -> str | None:
    """The kind of placeholder that a shape is ("title", "body", "obj" …), None for one that is none."""
    if not len(shape):
        return None
    found = child(shape[0], "p:nvPr", "p:ph")
    return None if found is None else attribute(found, "type") or "obj"


def _placeholder_index(shape: Element) -> str:
    found = child(shape[0], "p:nvPr", "p:ph")
    return "0" if found is None else attribute(found, "idx") or "0"


def _role(shape: Element) -> str:
    """What a placeholder is on the master, which knows fewer kinds than a layout."""
    kind = placeholder(shape) or ""
    if kind in ("title", "ctrTitle"):
        return "title"
    return kind if kind in FURNITURE else "body"


def in_reading_order(tree: Element, layout: Layout) -> list[Element]:
    """The shapes that a slide shows, row by row and from the left; what is grouped stays together."""
    groups: list[list[_Item]] = [[]]
    for start, name, element in walk(tree, _closed):
        if start and name == "p:grpSp":
            groups.append([])
        elif name == "p:grpSp":
            items = _by_rows(groups.pop())
            if items:
                shapes = [shape for item in items for shape in item.shapes]
                groups[-1].append(_placed(element, shapes, layout) or _Item(items[0].left, items[0].top, 0, shapes))
        elif start and name in _SHAPES and not _is_hidden(element):
            groups[-1].append(_placed(element, [element], layout) or _Item(0, 0, 0, [element]))
    return [shape for item in _by_rows(groups[0]) for shape in item.shapes]


def _closed(name: str, element: Element) -> bool:
    return name in _SHAPES or (name == "p:grpSp" and _is_hidden(element))


def _is_hidden(shape: Element) -> bool:
    properties = child(shape[0], "p:cNvPr") if len(shape) else None
    return properties is not None and is_true(attribute(properties, "hidden") or "0")


def _placed(shape: Element, shapes: list[Element], layout: Layout) -> _Item | None:
    """The shape with its own position, or the one that it takes over from its layout."""
    for holder in (shape, *layout.inherited(shape)):
        for frame in (child(holder, "p:spPr", "a:xfrm"), child(holder, "p:grpSpPr", "a:xfrm"), child(holder, "p:xfrm")):
            offset, extent = child(frame, "a:off"), child(frame, "a:ext")
            if offset is not None and extent is not None:
                return _Item(_length(offset, "x"), _length(offset, "y"), _length(extent, "cy"), shapes)
    return None


def _length(element: Element, name: str) -> int:
    return whole(attribute(element, name), 0, -(2**40), 2**40)


def _by_rows(items: list[_Item]) -> list[_Item]:
    """From the top, and from the left where items begin at about the same height: within half of the lower one's."""
    rows: list[list[_Item]] = []
    for item in sorted(items, key=lambda item: item.top):
        first = rows[-1][0] if rows else None
        if first is not None and item.top - first.top <= min(item.height, first.height) // 2:
            rows[-1].append(item)
        else:
            rows.append([item])
    return list(chain.from_iterable(sorted(row, key=lambda item: item.left) for row in rows))


def text_blocks(body: Element, styles: Sequence[Element | None]) -> Iterator[tuple[Literal["list", "paragraph"], str]]:
    """The paragraphs of a text body that say something; those with a bullet or number are items of a list."""
    counts: dict[int, tuple[str, int]] = {}
    for paragraph in children(body, "a:p"):
        text = paragraph_text(paragraph).strip()
        if not text:
            continue
        properties = child(paragraph, "a:pPr")
        level = whole(attribute(properties, "lvl") if properties is not None else None, 0, most=8)
        bullet = _bullet(properties, level, styles)
        kind = "a:buNone" if bullet is None else short(bullet.tag)
        for deeper in [item for item in counts if item > level or (item == level and kind != "a:buAutoNum")]:
            del counts[deeper]
        if bullet is None or kind == "a:buNone":
            yield "paragraph", text
        elif kind == "a:buAutoNum":
            yield "list", f"{_next_number(bullet, level, counts)} {text}"
        else:
            yield "list", f"- {text}"


def _bullet(properties: Element | None, level: int, styles: Iterable[Element | None]) -> Element | None:
    inherited = (child(style, f"a:lvl{level + 1}pPr") for style in styles)
    for holder in (properties, *inherited):
        if holder is not None:
            for item in holder:
                if short(item.tag) in _BULLETS:
                    return item
    return None


def _next_number(bullet: Element, level: int, counts: dict[int, tuple[str, int]]) -> str:
    scheme = attribute(bullet, "type") or "arabicPeriod"
    start = whole(attribute(bullet, "startAt"), 1)
    before, count = counts.get(level, ("", 0))
    count = count + 1 if before == f"{scheme}{start}" else start
    counts[level] = (f"{scheme}{start}", count)
    found = _AUTO_NUMBER.fullmatch(scheme)
    digits, punctuation = found.groups() if found else ("arabic", "Period")
    return _PUNCTUATION[punctuation].format(numeral(count, _NUMERALS.get(digits, "decimal")))
