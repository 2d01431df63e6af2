"""Word documents (DOCX): the text that Word would show with all changes accepted, in the order of the body."""

from __future__ import annotations

from collections.abc import Iterator

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.docx_runs import (
    Fields,
    Note,
    Paragraph,
    ParagraphReader,
    joins_next,
    left_out,
    number_notes,
)
from chapterverse.ingest.formats.docx_styles import Numbering, Style, Styles, heading_level
from chapterverse.ingest.formats.docx_tables import Grid, is_empty_by_rule, is_frame
from chapterverse.ingest.formats.ooxml import Element, Package, attribute, child, short, switched_on, value, walk
from chapterverse.ingest.formats.ooxml_drawing import add_graphic
from chapterverse.types import ReadOptions

_PARAGRAPHS = frozenset({"w:p", "m:oMathPara"})


def parse(data: bytes, composer: Composer, options: ReadOptions) -> None:
    """Tell the composer what the document says."""
    package = Package(data, composer, options)
    part, document = package.main("word/document.xml", "w:document")
    body = child(document, "w:body")
    if body is None:
        raise UnreadableFileError("damaged", "The file is damaged: the document has no body.")
    package.read_properties()
    _Reader(package, part, document, composer).read(body)


class _Reader:
    """Walks the stories of a document: its body, and the text boxes and notes that hang on its paragraphs."""

    def __init__(self, package: Package, part: str, document: Element, composer: Composer) -> None:
        def related(kind: str) -> Element | None:
            return package.part(package.related(part, kind))

        self._package = package
        self._part = part
        self._composer = composer
        self._styles = Styles(related("styles"))
        self._numbering = Numbering(related("numbering"), self._styles)
        notes = number_notes(document, related("settings"), related("footnotes"), related("endnotes"))
        self._paragraphs = ParagraphReader(self._styles, notes)
        self._fields = self._fields_of(document)
        self._unfinished: Paragraph | None = None
        self._code: list[str] = []
        self._has_title = False

    def read(self, body: Element) -> None:
        """Add every block; what is anchored in a block comes right after it."""
        stories = [self._blocks(body)]
        while stories:
            block = next(stories[-1], None)
            boxed = len(stories) > 1
            if block is None:
                stories.pop()
                attached = self._add(self._take_unfinished(), boxed)
            elif short(block.tag) == "w:txbxContent":
                stories.append(self._blocks(block))
                continue
            else:
                attached = self._block(block, boxed)
            if attached:
                stories.append(iter(attached))
        self._add_code()

    def _blocks(self, story: Element) -> Iterator[Element]:
        """Paragraphs and tables in order, out of whatever wraps them."""
        for start, name, element in walk(story, _closed_in_story):
            if start and (name in _PARAGRAPHS or _is_table(name, element)):
                yield element
            elif start:
                self._note_inclusion(name)

    def _block(self, block: Element, boxed: bool) -> list[Element]:
        """Add a block and return what is anchored in it."""
        name = short(block.tag)
        if name in _PARAGRAPHS:
            return self._add(self._take(block), boxed)
        attached = self._add(self._take_unfinished(), boxed)
        self._add_code()
        if name == "w:tbl":
            table = self._table(block)
            self._composer.add("table", table.text)
            self._add_notes(table.notes)
            attached += table.attached
        elif name == "v:textpath":
            self._composer.add("paragraph", attribute(block, "string") or "")
        else:
            add_graphic(block, self._package, self._part, self._composer)
        return attached

    def _take(self, element: Element) -> Paragraph | None:
        """The paragraph, with the ones before it that run on into it; None when it runs on itself."""
        paragraph = self._paragraphs.read(element, self._fields)
        if self._unfinished is not None:
            paragraph = self._unfinished.continued(paragraph)
        self._unfinished = paragraph if joins_next(paragraph.properties) else None
        return None if self._unfinished is paragraph else paragraph

    def _take_unfinished(self) -> Paragraph | None:
        """A paragraph that runs on where nothing follows."""
        paragraph, self._unfinished = self._unfinished, None
        return paragraph

    def _add(self, paragraph: Paragraph | None, boxed: bool) -> list[Element]:
        if paragraph is None:
            return []
        style = self._style(paragraph)
        text = self._marked(paragraph, style)
        if style.role != "code":
            self._add_code()
        if text:
            self._add_text(text, paragraph, style, boxed)
        self._add_notes(paragraph.notes)
        return paragraph.attached

    def _add_text(self, text: str, paragraph: Paragraph, style: Style, boxed: bool) -> None:
        if style.role == "contents":
            return
        outline = value(paragraph.properties, "w:outlineLvl")
        level = style.level if outline is None else heading_level(outline)
        if level and not boxed:
            text = paragraph.text if text == f"- {paragraph.text}" else text
            self._composer.heading(text, level, title=paragraph.without_notes(text))
        elif style.role == "code":
            self._code.append(text)
        elif style.role == "title":
            if not self._has_title:
                self._composer.title = text  # what is printed wins over what the file's properties say
                self._has_title = True
            self._composer.add("paragraph", text)
        elif style.role == "paragraph" and text != paragraph.text:
            self._composer.add("list", text)
        else:
            self._composer.add(style.role, text)

    def _add_code(self) -> None:
        """Paragraphs of code that follow each other are the lines of one block."""
        if self._code:
            self._composer.add("code", "\n".join(self._code))
            self._code.clear()

    def _style(self, paragraph: Paragraph) -> Style:
        return self._styles.paragraph(value(paragraph.properties, "w:pStyle"))

    def _marked(self, paragraph: Paragraph, style: Style) -> str:
        """The paragraph's text behind its number or bullet; a paragraph that shows nothing but a number is empty."""
        mark = child(paragraph.properties, "w:rPr")
        shown = bool(paragraph.text.strip())
        if not shown and switched_on(child(mark, "w:vanish")):
            return ""
        marker = self._numbering.marker(paragraph.properties, style)
        return marker + paragraph.text if shown else ""

    def _add_notes(self, notes: list[Note]) -> None:
        if notes:
            self._add_code()
        for note in notes:
            if note.body is None:
                self._composer.warn(f"The text of note {note.label} is missing from the file.")
            else:
                text = self._one_line(note.body).strip().removeprefix(note.label).lstrip()
                self._composer.add("footnote", f"[{note.label}] {text}")

    def _one_line(self, story: Element) -> str:
        """A story of its own on one line."""
        outer, self._fields = self._fields, self._fields_of(story)
        lines: list[str] = []
        for block in self._blocks(story):
            if short(block.tag) == "w:tbl":
                lines.append(self._table(block).text.replace("\n", "; "))
            elif (paragraph := self._take(block)) is not None:
                lines.append(self._marked(paragraph, self._style(paragraph)))
        if (paragraph := self._take_unfinished()) is not None:
            lines.append(paragraph.text)
        self._fields = outer
        return " ".join(lines)

    def _fields_of(self, story: Element) -> Fields:
        fields = Fields(story)
        if not fields.balanced:
            self._composer.warn("The document holds a field that never ends; all of its text was kept.")
        return fields

    def _table(self, table: Element) -> Paragraph:
        """A table as lines, with the notes of all its cells and all that is anchored in them."""
        found = Paragraph()
        grid = Grid()

        def add(paragraph: Paragraph | None) -> None:
            if paragraph is not None:
                grid.add(self._marked(paragraph, self._style(paragraph)))
                found.notes.extend(paragraph.notes)
                found.attached.extend(paragraph.attached)

        for start, name, element in walk(table, _closed_in_table):
            if start and name in _PARAGRAPHS:
                add(self._take(element))
            elif start:
                self._note_inclusion(name)
                grid.open(name, element)
            else:
                if name == "w:tc":
                    add(self._take_unfinished())
                grid.close(name, element)
        found.text = grid.text
        return found

    def _note_inclusion(self, name: str) -> None:
        if name in ("w:altChunk", "w:subDoc"):
            self._composer.warn("The document includes another file, which was not read.")


def _is_table(name: str, element: Element) -> bool:
    return name == "w:tbl" and not is_frame(element)


def _closed_in_story(name: str, element: Element) -> bool:
    return name in _PARAGRAPHS or _is_table(name, element) or left_out(name, element)


def _closed_in_table(name: str, element: Element) -> bool:
    return name in _PARAGRAPHS or is_empty_by_rule(name, element)
