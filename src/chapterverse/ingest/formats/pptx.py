"""Slide decks (PPTX): slides in the order of the show, each with its title, its shapes in reading order, its notes."""

from __future__ import annotations

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.merged_cells import filled_down
from chapterverse.ingest.formats.ooxml import (
    Element,
    Package,
    attribute,
    child,
    children,
    descendants,
    is_true,
    short,
    walk,
)
from chapterverse.ingest.formats.ooxml_drawing import GRAPHICS, add_graphic, body_text
from chapterverse.ingest.formats.ooxml_text import table_text
from chapterverse.ingest.formats.pptx_shapes import FURNITURE, Layout, in_reading_order, placeholder, text_blocks
from chapterverse.types import ReadOptions

_TITLES = frozenset({"title", "ctrTitle"})
_UNNAMED_SECTION = "Default Section"
"""What PowerPoint calls the slides before the first section that somebody named."""


def parse(data: bytes, composer: Composer, options: ReadOptions) -> None:
    """Tell the composer what the deck says."""
    package = Package(data, composer, options)
    part, presentation = package.main("ppt/presentation.xml", "p:presentation")
    package.read_properties()
    slides = children(child(presentation, "p:sldIdLst"), "p:sldId")
    if len(slides) > options.max_pages:
        raise UnreadableFileError("pages", f"The deck has {len(slides):,} slides; {options.max_pages:,} are allowed.")
    deck = _Deck(package, presentation, composer)
    sections = _sections(presentation)
    for number, slide in enumerate(slides, start=1):
        composer.slide(number)
        section = sections.get(attribute(slide, "id") or "", "")
        composer.section(section, 1)
        deck.read(package.target(part, attribute(slide, "r:id")), number, heading_level=2 if section else 1)


def _sections(presentation: Element) -> dict[str, str]:
    """The name of the section that a slide belongs to, by the slide's id."""
    return {
        attribute(slide, "id") or "": name
        for section in descendants(presentation, "p14:section")
        if (name := attribute(section, "name") or "") != _UNNAMED_SECTION
        for slide in descendants(section, "p14:sldId")
    }


class _Deck:
    """Reads slide after slide; layouts are looked up once."""

    def __init__(self, package: Package, presentation: Element, composer: Composer) -> None:
        self._package = package
        self._composer = composer
        self._defaults = child(presentation, "p:defaultTextStyle")
        self._layouts: dict[str | None, Layout] = {}

    def read(self, part: str | None, number: int, heading_level: int) -> None:
        slide = self._package.part(part)
        if part is None or slide is None:
            self._composer.warn(f"Slide {number} is missing from the file.")
            return
        if not is_true(attribute(slide, "show") or "1"):
            self._composer.warn(f"Slide {number} is hidden in the show; it was read all the same.")
        tree = child(slide, "p:cSld", "p:spTree")
        layout = self._layout(self._package.related(part, "slideLayout"))
        shapes = in_reading_order(tree, layout) if tree is not None else []
        title = next((shape for shape in shapes if placeholder(shape) in _TITLES), None)
        if title is not None:
            self._add_title(title, number, heading_level)
        for shape in shapes:
            if shape is not title and placeholder(shape) not in FURNITURE:
                self._add_shape(shape, part, layout)
        self._add_notes(part)

    def _layout(self, part: str | None) -> Layout:
        if part not in self._layouts:
            master = self._package.related(part, "slideMaster") if part else None
            self._layouts[part] = Layout(self._package.part(part), self._package.part(master), self._defaults)
        return self._layouts[part]

    def _add_title(self, shape: Element, number: int, level: int) -> None:
        text = body_text(child(shape, "p:txBody"))
        if text and number == 1 and placeholder(shape) == "ctrTitle":
            self._composer.title = text  # what is printed wins over what the file's properties say
        self._composer.heading(text, level)

    def _add_shape(self, shape: Element, part: str, layout: Layout) -> None:
        body = child(shape, "p:txBody")
        if body is not None:
            for kind, text in text_blocks(body, layout.text_styles(shape)):
                self._composer.add(kind, text)
        if short(shape.tag) != "p:graphicFrame":
            return
        for start, name, element in walk(shape):
            if start and name == "a:tbl":
                self._composer.add("table", _table(element))
            elif start and name in GRAPHICS:
                add_graphic(element, self._package, part, self._composer)

    def _add_notes(self, part: str) -> None:
        notes = self._package.part(self._package.related(part, "notesSlide"))
        if notes is None:
            return
        for shape in descendants(notes, "p:sp"):
            body = child(shape, "p:txBody")
            if placeholder(shape) == "body" and body is not None:
                lines = (text for _, text in text_blocks(body, [child(body, "a:lstStyle")]))
                self._composer.add("notes", "\n".join(lines))


def _table(table: Element) -> str:
    """One line for each row; a cell that a merged one covers is there in the file, too."""
    return table_text(filled_down([_cell(cell) for cell in children(row, "a:tc")] for row in children(table, "a:tr")))


def _cell(cell: Element) -> str | None:
    """The text of a cell; None if it goes on from the row above."""
    if is_true(attribute(cell, "hMerge") or "0"):
        return ""
    return None if is_true(attribute(cell, "vMerge") or "0") else body_text(child(cell, "a:txBody"))
