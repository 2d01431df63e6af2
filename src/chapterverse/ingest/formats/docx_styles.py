"""What a DOCX paragraph's style and numbering make of it: a heading, a caption, a list item with its marker."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from chapterverse.ingest.formats.ooxml import Element, attribute, child, children, is_true, switched_on, value, whole
from chapterverse.ingest.formats.ooxml_text import numeral

T = TypeVar("T")
Role = Literal["paragraph", "title", "caption", "quote", "code", "contents"]

_HEADING_NAME = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
_CONTENTS_NAME = re.compile(r"toc\s*(\d|heading)|table of figures", re.IGNORECASE)
_ROLES: dict[str, Role] = {
    "title": "title",
    "subtitle": "paragraph",
    "caption": "caption",
    "quote": "quote",
    "intense quote": "quote",
    "quotations": "quote",
    "html preformatted": "code",
    "preformatted text": "code",
    "source code": "code",
    "code": "code",
}
STRUCK_OUT = ("w:strike", "w:dstrike")
_LONGEST_CHAIN = 64
_BODY_TEXT = 9
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Style:
    """A style with all that it takes over from the ones it is based on."""

    chain: tuple[str, ...] = ()
    """Its own id, then those it is based on."""
    role: Role = "paragraph"
    level: int | None = None
    """Of a heading, from 1."""
    number_id: str | None = None
    number_level: int | None = None
    hidden: bool = False
    struck: bool = False
    position: str | None = None
    """Of its characters: "superscript", "subscript", "baseline"."""


class Styles:
    """The styles part, looked up by style id."""

    def __init__(self, root: Element | None) -> None:
        self._elements: dict[str, Element] = {}
        self._known: dict[str | None, Style] = {}
        self._default: str | None = None
        for style in children(root, "w:style"):
            style_id = attribute(style, "w:styleId") or ""
            self._elements[style_id] = style
            if is_true(attribute(style, "w:default") or "0") and attribute(style, "w:type") == "paragraph":
                self._default = style_id

    def paragraph(self, style_id: str | None) -> Style:
        return self.get(style_id if style_id is not None else self._default)

    def get(self, style_id: str | None) -> Style:
        if style_id not in self._known:
            self._known[style_id] = self._resolve(style_id)
        return self._known[style_id]

    def number_id(self, style_id: str | None) -> str | None:
        """The numbering that a style of lists stands for."""
        return self.get(style_id).number_id

    def _resolve(self, style_id: str | None) -> Style:
        chain: list[str] = []
        while style_id is not None and style_id not in chain and len(chain) < _LONGEST_CHAIN:
            chain.append(style_id)
            style_id = value(self._elements.get(style_id), "w:basedOn")
        elements = [self._elements[item] for item in chain if item in self._elements]
        names = [value(self._elements.get(item), "w:name") or item for item in chain]
        numbers = [child(item, "w:pPr", "w:numPr") for item in elements]
        level = _first(value(item, "w:ilvl") for item in numbers)
        runs = [child(item, "w:rPr") for item in elements]
        hidden = (switched_on(child(run, "w:vanish")) for run in runs)
        struck = (_first(switched_on(child(run, name)) for run in runs) for name in STRUCK_OUT)
        return Style(
            chain=tuple(chain),
            role=next((role for role in map(_role, names) if role), "paragraph"),
            level=next((found for found in map(self._own_level, chain) if found is not None), 0) or None,
            number_id=_first(value(item, "w:numId") for item in numbers),
            number_level=None if level is None else whole(level, 0, most=8),
            hidden=_first(hidden) or False,
            struck=any(struck),
            position=_first(value(run, "w:vertAlign") for run in runs),
        )

    def _own_level(self, style_id: str) -> int | None:
        """The heading level that the style itself sets, 0 for body text, None where it says nothing."""
        element = self._elements.get(style_id)
        outline = value(element, "w:pPr", "w:outlineLvl")
        if outline is not None:
            return heading_level(outline)
        named = _HEADING_NAME.fullmatch(value(element, "w:name") or style_id)
        return int(named.group(1)) if named else None


def heading_level(outline: str) -> int:
    """The heading level of a `w:outlineLvl`: its levels count from 0, and 9 is body text."""
    level = whole(outline, _BODY_TEXT, most=_BODY_TEXT)
    return 0 if level == _BODY_TEXT else level + 1


def _role(name: str) -> Role | None:
    return "contents" if _CONTENTS_NAME.fullmatch(name) else _ROLES.get(name.lower())


def _first(values: Iterable[T | None]) -> T | None:
    return next((item for item in values if item is not None), None)


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    format: str
    text: str
    restart: int | None
    legal: bool
    after: str
    style: str | None


@dataclass(frozen=True, slots=True)
class _Number:
    """A `w:num`: the list that it counts in, its levels, and where it starts afresh."""

    counts_in: str
    levels: dict[int, _Level]
    starts: dict[int, int]


class Numbering:
    """Counts the list items and numbered headings of a document, in the order in which they are asked for."""

    def __init__(self, root: Element | None, styles: Styles) -> None:
        self._styles = styles
        self._lists = {attribute(item, "w:abstractNumId") or "": item for item in children(root, "w:abstractNum")}
        self._elements = {attribute(item, "w:numId") or "": item for item in children(root, "w:num")}
        self._numbers: dict[str, _Number | None] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._started: set[tuple[str, int]] = set()

    def marker(self, properties: Element | None, style: Style) -> str:
        """The next marker for a paragraph, with the blank that follows it; "- " for a bullet, "" for none."""
        direct = child(properties, "w:numPr")
        number_id = value(direct, "w:numId") or style.number_id
        number = self._number(number_id) if number_id else None
        if number is None or number_id is None:
            return ""
        level = value(direct, "w:ilvl")
        if level is not None:
            index = whole(level, 0, most=8)
        elif value(direct, "w:numId") is not None:
            index = 0
        else:
            index = self._level_of_style(number, style)
        if index not in number.levels:
            return ""
        counts = self._count(number_id, number, index)
        return _written(number.levels, counts, index)

    def _level_of_style(self, number: _Number, style: Style) -> int:
        linked = {item.style: index for index, item in number.levels.items() if item.style}
        return next((linked[item] for item in style.chain if item in linked), style.number_level or 0)

    def _count(self, number_id: str, number: _Number, index: int) -> dict[int, int]:
        counts = self._counts.setdefault(number.counts_in, {})
        if index in number.starts and (number_id, index) not in self._started:
            counts[index] = number.starts[index]
        else:
            counts[index] = counts[index] + 1 if index in counts else number.levels[index].start
        self._started.add((number_id, index))
        for deeper, level in number.levels.items():
            if deeper > index and index < (deeper if level.restart is None else level.restart):
                counts.pop(deeper, None)
        return counts

    def _number(self, number_id: str) -> _Number | None:
        if number_id not in self._numbers:
            self._numbers[number_id] = self._resolve(number_id)
        return self._numbers[number_id]

    def _resolve(self, number_id: str) -> _Number | None:
        element = self._elements.get(number_id)
        counts_in = value(element, "w:abstractNumId")
        definition = self._lists.get(counts_in or "")
        if element is None or counts_in is None or definition is None:
            return None
        linked = value(definition, "w:numStyleLink")
        if linked is not None:  # the levels are those of the list that the numbering style names
            target = self._elements.get(self._styles.number_id(linked) or "")
            counts_in = value(target, "w:abstractNumId") or counts_in
            definition = self._lists.get(counts_in, definition)
        levels = _levels(definition)
        starts: dict[int, int] = {}
        for override in children(element, "w:lvlOverride"):
            levels |= _levels(override)
            start = value(override, "w:startOverride")
            if start is not None:
                starts[whole(attribute(override, "w:ilvl"), 0, most=8)] = whole(start, 1)
        return _Number(counts_in, levels, starts)


def _levels(holder: Element) -> dict[int, _Level]:
    levels = {}
    for item in children(holder, "w:lvl"):
        restart = value(item, "w:lvlRestart")
        levels[whole(attribute(item, "w:ilvl"), 0, most=8)] = _Level(
            start=whole(value(item, "w:start"), 0),
            format=value(item, "w:numFmt") or "decimal",
            text=value(item, "w:lvlText") or "",
            restart=None if restart is None else whole(restart, 0),
            legal=switched_on(child(item, "w:isLgl")) is True,
            after="" if value(item, "w:suff") == "nothing" else " ",
            style=value(item, "w:pStyle"),
        )
    return levels


def _written(levels: dict[int, _Level], counts: dict[int, int], index: int) -> str:
    level = levels[index]
    if level.format == "bullet":
        return "- "

    def numbered(place: re.Match[str]) -> str:
        shown = int(place.group(1)) - 1
        if shown not in levels or levels[shown].format == "none":
            return ""
        count = counts.get(shown, levels[shown].start)
        return numeral(count, "decimal" if level.legal else levels[shown].format)

    text = _PLACE.sub(numbered, level.text).strip()
    return text + level.after if text else ""
