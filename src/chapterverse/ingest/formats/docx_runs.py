"""A DOCX paragraph as text: runs, fields, note references, and the boxes and graphics that hang on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from chapterverse.ingest.formats.docx_styles import STRUCK_OUT, Style, Styles
from chapterverse.ingest.formats.ooxml import (
    Element,
    attribute,
    child,
    children,
    is_true,
    switched_on,
    value,
    walk,
    whole,
)
from chapterverse.ingest.formats.ooxml_drawing import GRAPHICS
from chapterverse.ingest.formats.ooxml_math import linear
from chapterverse.ingest.formats.ooxml_text import numeral, public, symbol
from chapterverse.ingest.formats.powers import raise_power

_CHARACTERS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-", "m:oMathPara": " "}
_ATTACHED = GRAPHICS | {"w:txbxContent", "v:textpath"}
_DELETED = frozenset({"w:del", "w:moveFrom"})
_CLOSED = _DELETED | {"w:pPr", "w:rPr", "w:sdtPr", "w:rt", "m:oMath", "w:txbxContent"}
_FIELD_PARTS = frozenset({"w:fldChar", "w:instrText", "w:fldSimple"})
_FIELDS_LEFT_OUT = frozenset({"TOC", "TOA", "PAGE", "NUMPAGES", "SECTIONPAGES"})


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or endnote at its first reference; `body` is None where the file lacks it."""

    label: str
    body: Element | None


@dataclass(slots=True)
class Paragraph:
    """A paragraph's text, the notes it refers to, and the text boxes and graphics that are anchored in it."""

    properties: Element | None = None
    text: str = ""
    notes: list[Note] = field(default_factory=list)
    attached: list[Element] = field(default_factory=list)

    def continued(self, other: Paragraph) -> Paragraph:
        """Both as one: the second's mark is the one that remains, and a mark carries the properties."""
        return Paragraph(
            other.properties, self.text + other.text, self.notes + other.notes, self.attached + other.attached
        )

    def without_notes(self, text: str) -> str:
        for note in self.notes:
            text = text.replace(f"[{note.label}]", "", 1)
        return text


def joins_next(properties: Element | None) -> bool:
    """Whether the paragraph runs on into the next: its mark is deleted, or it is a drop capital in a frame."""
    mark = child(properties, "w:rPr")
    frame = child(properties, "w:framePr")
    dropped = frame is not None and attribute(frame, "w:dropCap") in ("drop", "margin")
    return dropped or any(child(mark, name) is not None for name in _DELETED)


def left_out(name: str, element: Element) -> bool:
    """Deleted content, and content controls that hold a table of contents or only the prompt to fill them in."""
    if name != "w:sdt":
        return name in _DELETED
    properties = child(element, "w:sdtPr")
    gallery = value(properties, "w:docPartObj", "w:docPartGallery")
    return gallery == "Table of Contents" or switched_on(child(properties, "w:showingPlcHdr")) is True


class Notes:
    """The footnotes or the endnotes of a document, labelled in the order of their references."""

    def __init__(self, root: Element | None, name: str, number_format: str, start: int) -> None:
        self._bodies = {attribute(item, "w:id"): item for item in children(root, name)}
        self._format = number_format
        self._next = start
        self._labels: dict[str | None, str] = {}

    def refer(self, note_id: str | None, own_mark: str) -> tuple[str, Note | None]:
        """The label of a reference, and the note itself when this is the first one to it."""
        if note_id in self._labels:
            return self._labels[note_id], None
        label = own_mark
        if not label:
            label = numeral(self._next, self._format)
            self._next += 1
        self._labels[note_id] = label
        return label, Note(label, self._bodies.get(note_id))


def number_notes(
    document: Element, settings: Element | None, footnotes: Element | None, endnotes: Element | None
) -> dict[str, Notes]:
    """The notes by the name of the element that refers to them; the two kinds never share a format."""
    section = next(document.iter("{*}sectPr"), None)
    formats = {"footnote": "decimal", "endnote": "lowerRoman"}
    starts = {"footnote": 1, "endnote": 1}
    for kind in formats:
        for holder in (settings, section):
            properties = child(holder, f"w:{kind}Pr")
            formats[kind] = value(properties, "w:numFmt") or formats[kind]
            starts[kind] = whole(value(properties, "w:numStart"), starts[kind])
    if footnotes is not None and formats["endnote"] == formats["footnote"]:
        formats["endnote"] = "upperRoman" if formats["footnote"] == "lowerRoman" else "lowerRoman"
    return {
        f"w:{kind}Reference": Notes(root, f"w:{kind}", formats[kind], starts[kind])
        for kind, root in (("footnote", footnotes), ("endnote", endnotes))
    }


@dataclass(slots=True)
class _Field:
    muted: bool
    code: list[str] = field(default_factory=list)


class Fields:
    """The fields that are open at a point of a story: no instruction is text, and not every result is."""

    def __init__(self, story: Element) -> None:
        marks = [attribute(item, "w:fldCharType") for item in story.iter("{*}fldChar")]
        self.balanced = marks.count("begin") == marks.count("end")
        self._open: list[_Field] = []
        self._muted = 0

    @property
    def muted(self) -> bool:
        """Whether text here is left out. A field that never ends must not swallow the rest of the book."""
        return self._muted > 0 and self.balanced

    def see(self, name: str, element: Element) -> None:
        """The start of an element that is part of a field."""
        kind = attribute(element, "w:fldCharType")
        if name == "w:fldSimple":
            self._begin(_Field(_is_left_out(attribute(element, "w:instr") or "")))
        elif name == "w:instrText":
            if self._open:
                self._open[-1].code.append(element.text or "")
        elif kind == "begin":
            self._begin(_Field(muted=True))
        elif kind == "separate" and self._open:
            current = self._open[-1]
            if current.muted and not _is_left_out("".join(current.code)):
                current.muted = False
                self._muted -= 1
        elif kind == "end":
            self.end()

    def end(self) -> None:
        if self._open:
            self._muted -= self._open.pop().muted

    def _begin(self, opened: _Field) -> None:
        self._open.append(opened)
        self._muted += opened.muted


def _is_left_out(code: str) -> bool:
    return next(iter(code.split()), "").upper() in _FIELDS_LEFT_OUT


class ParagraphReader:
    """Reads one paragraph at a time; numbers its note references as it goes."""

    def __init__(self, styles: Styles, notes: dict[str, Notes]) -> None:
        self._styles = styles
        self._notes = notes

    def read(self, element: Element, fields: Fields) -> Paragraph:
        properties = child(element, "w:pPr")
        paragraph = Paragraph(properties)
        style = self._styles.paragraph(value(properties, "w:pStyle"))
        pieces: list[str] = []
        hidden = False
        font: str | None = None
        is_raised = False
        for start, name, item in walk(element, _closed):
            if not start:
                if name == "w:fldSimple":
                    fields.end()
            elif name == "w:r":
                named = self._named_style(item)
                hidden = _is_hidden(child(item, "w:rPr"), style, named)
                font = _font(item)
                position = value(item, "w:rPr", "w:vertAlign") or named.position or style.position
                is_raised = position == "superscript"
            elif name in _FIELD_PARTS:
                if not (hidden or fields.muted):
                    pieces.append(_chosen(item))
                fields.see(name, item)
            elif hidden or fields.muted:
                continue
            elif name in self._notes:
                mark = _own_mark(item)
                hidden = bool(mark)  # the mark is the rest of this run
                pieces.append(self._reference(name, item, mark, paragraph))
            elif name in _ATTACHED:
                paragraph.attached.append(item)
            else:
                pieces.append(_characters(name, item, font))
                if is_raised:
                    raise_power(pieces, len(pieces) - 1)
        paragraph.text = "".join(pieces)
        return paragraph

    def _reference(self, name: str, element: Element, mark: str, paragraph: Paragraph) -> str:
        label, note = self._notes[name].refer(attribute(element, "w:id"), mark)
        if note is not None:
            paragraph.notes.append(note)
        return f"[{label}]"

    def _named_style(self, run: Element) -> Style:
        style_id = value(run, "w:rPr", "w:rStyle")
        return Style() if style_id is None else self._styles.get(style_id)


def _is_hidden(run: Element | None, style: Style, named: Style) -> bool:
    """Whether a run is hidden or struck out, by its own properties, its style, or the style of its paragraph."""
    struck = [switched_on(child(run, name)) for name in STRUCK_OUT]
    if any(struck) or (struck == [None, None] and (named.struck or style.struck)):
        return True
    direct = switched_on(child(run, "w:vanish"))
    return style.hidden or named.hidden if direct is None else direct


def _closed(name: str, element: Element) -> bool:
    return name in _CLOSED or left_out(name, element)


def _characters(name: str, element: Element, font: str | None) -> str:
    if name == "w:t":
        return public(element.text or "", font)
    if name == "w:sym":
        return symbol(whole(attribute(element, "w:char"), 0, base=16), attribute(element, "w:font"))
    if name == "m:oMath":
        return linear(element)
    return _CHARACTERS.get(name, "")


def _chosen(mark: Element) -> str:
    """What is chosen in a drop-down list or a check box of an older form: its field has no result that says so."""
    form = child(mark, "w:ffData")
    entries = [attribute(entry, "w:val") or "" for entry in children(child(form, "w:ddList"), "w:listEntry")]
    if entries:
        chosen = whole(value(form, "w:ddList", "w:result") or value(form, "w:ddList", "w:default"), 0)
        return entries[chosen] if 0 <= chosen < len(entries) else ""
    box = child(form, "w:checkBox")
    if box is None:
        return ""
    ticked = switched_on(child(box, "w:checked"))
    return "☒" if (switched_on(child(box, "w:default")) if ticked is None else ticked) else "☐"


def _font(run: Element) -> str | None:
    fonts = child(run, "w:rPr", "w:rFonts")
    return None if fonts is None else attribute(fonts, "w:ascii") or attribute(fonts, "w:hAnsi")


def _own_mark(reference: Element) -> str:
    """The mark that the author chose in place of a number: the rest of the run that refers to the note."""
    run = reference.getparent()
    if run is None or not is_true(attribute(reference, "w:customMarkFollows") or "0"):
        return ""
    return "".join(_characters(name, item, _font(run)) for start, name, item in walk(run, _closed) if start).strip()
