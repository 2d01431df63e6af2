"""Sets prose in lines, remembering the place in the manuscript at which each line begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from manuscript import Note, Span, Text
from reportlab.pdfbase.pdfmetrics import stringWidth

_SHRINK, _STRETCH = 0.93, 1.35
"""How far the spaces of a justified line may give before a word is divided instead."""

_PLAIN_WORD = re.compile(r"[a-z]{7,}")
_SYLLABLES = re.compile(r"(?<=[aeiouy])[b-df-hj-np-tv-xz](?=[b-df-hj-np-tv-xz][aeiouy])")
_INSEPARABLE = re.compile(r"[bcdfgkpt][lr]|[cgpstw]h|ck|n[gk]|s[ck-np-tw]|tw|gn|w.|ll|..(ing|ings|ed|en|er|ers)$")
"""Where the simple rule "divide between two consonants" would err: pairs that make one sound, and endings."""


@dataclass(frozen=True)
class Style:
    """How a kind of prose is set; measures are in points."""

    size: float = 11.5
    leading: float = 16
    bold: bool = False
    italic: bool = False
    align: Literal["justify", "left", "center"] = "justify"
    indent: float = 0
    """Of the first line."""
    left: float = 0
    right: float = 0
    before: float = 0
    keep: bool = False
    """Stays on one page, and on the page of what follows."""


@dataclass(frozen=True)
class Piece:
    """Characters in one font."""

    text: str
    font: str
    size: float
    rise: float = 0

    @property
    def width(self) -> float:
        return float(stringWidth(self.text, self.font, self.size))


@dataclass(frozen=True)
class Word:
    pieces: tuple[Piece, ...]
    offset: int
    notes: tuple[Note, ...] = ()

    @property
    def width(self) -> float:
        return sum(piece.width for piece in self.pieces)


@dataclass(frozen=True)
class Segment:
    """Words of one line that are set together, and what is added to each space between them."""

    x: float
    pieces: tuple[Piece, ...]
    stretch: float = 0


@dataclass(frozen=True)
class Line:
    height: float
    segments: tuple[Segment, ...]
    starts: tuple[tuple[Text, int], ...]
    """The places in the manuscript that this line begins with: one, or one for each cell of a table's row."""
    notes: tuple[Note, ...] = ()
    before: float = 0
    keep: bool = False
    """No page may end after this line."""
    ruled: bool = False
    outline: int | None = None
    """The level at which this line stands in the outline."""


def set_text(text: Text, style: Style, measure: float) -> list[Line]:
    """Break prose into lines; one line alone is left neither at the foot nor at the head of a page."""
    rows = list(_break(list(_words(text, style)), style, measure - style.left - style.right))
    lines = []
    for index, (words, divided) in enumerate(rows):
        last = index == len(rows) - 1
        indent = style.left + (0 if index else style.indent)
        segment = _segment(words, style, indent, measure - style.right, justify=not last)
        keep = style.keep or divided or (not last and index in (0, len(rows) - 2))
        notes = tuple(note for word in words for note in word.notes)
        start = (text, words[0].offset)
        lines.append(Line(style.leading, (segment,), (start,), notes, 0 if index else style.before, keep))
    return lines


def set_row(cells: Iterable[Text], style: Style, columns: list[tuple[float, float]]) -> list[Line]:
    """A row of a table: each cell is set in its column (x, width)."""
    cells = list(cells)
    set_cells = [set_text(cell, style, width) for cell, (_, width) in zip(cells, columns, strict=True)]
    lines = []
    for index in range(max(map(len, set_cells))):
        segments = tuple(
            replace(lines_of[index].segments[0], x=x)
            for lines_of, (x, _) in zip(set_cells, columns, strict=True)
            if index < len(lines_of)
        )
        starts = () if index else tuple((cell, 0) for cell in cells)
        lines.append(Line(style.leading, segments, starts, keep=True))
    return lines


def natural_width(text: Text, style: Style) -> float:
    """The width of prose set in one line."""
    words = list(_words(text, style))
    return sum(word.width for word in words) + _space(style) * (len(words) - 1)


def _words(text: Text, style: Style) -> Iterator[Word]:
    """Split prose at its spaces; a footnote's mark belongs to the word before it."""
    pieces: list[Piece] = []
    notes: list[Note] = []
    start = offset = 0
    for span in text.spans:
        if span.note:
            notes.append(span.note)
            pieces.append(Piece(str(span.note.number), _font(style), style.size * 0.62, style.size * 0.36))
        for index, part in enumerate(re.split(r"(\s+)", span.text)):
            offset += len(part)
            if index % 2:
                if pieces:
                    yield Word(tuple(pieces), start, tuple(notes))
                pieces, notes, start = [], [], offset
            elif part:
                pieces.append(_piece(part, span, style))
    if pieces:
        yield Word(tuple(pieces), start, tuple(notes))


def _piece(text: str, span: Span, style: Style) -> Piece:
    text.encode("cp1252")  # the standard fonts have no other characters: better to fail than to print a blank
    return Piece(text, _font(style, span), style.size)


def _font(style: Style, span: Span | None = None) -> str:
    """Emphasis inside italics is upright."""
    bold = style.bold or bool(span and span.strong)
    italic = style.italic != bool(span and span.emphasis)
    face = {(False, False): "Roman", (True, False): "Bold", (False, True): "Italic", (True, True): "BoldItalic"}
    return f"Times-{face[bold, italic]}"


def _space(style: Style) -> float:
    return style.size / 4


def _break(words: list[Word], style: Style, measure: float) -> Iterator[tuple[list[Word], bool]]:
    """The words of each line, and whether its last word goes on in the next line."""
    space = _space(style)
    words = words[::-1]
    line: list[Word] = []
    room = measure - style.indent
    while words:
        word = words.pop()
        width = sum(each.width for each in line)
        if width + word.width + space * _SHRINK * len(line) <= room:
            line.append(word)
            continue
        loose = style.align == "justify" and len(line) > 1 and (room - width) / (len(line) - 1) > space * _STRETCH
        divided = _divide(word, room - width - space * len(line)) if loose else None
        if divided:
            line.append(divided[0])
        words.append(divided[1] if divided else word)
        yield line, divided is not None
        line, room = [], measure
    if line:
        yield line, False


def _divide(word: Word, room: float) -> tuple[Word, Word] | None:
    """Divide a word so that its first part fits: after a hyphen of its own, or with a hyphen between syllables."""
    first, *rest = word.pieces
    for cut, hyphen in sorted(_cuts(first.text), reverse=True):
        head = replace(first, text=first.text[:cut] + hyphen)
        if head.width <= room:
            tail = replace(first, text=first.text[cut:])
            return Word((head,), word.offset), Word((tail, *rest), word.offset + cut, word.notes)
    return None


def _cuts(text: str) -> Iterator[tuple[int, str]]:
    for hyphen in re.finditer(r"(?<=\w\w)-(?=\w\w)", text):
        yield hyphen.end(), ""
    plain = _PLAIN_WORD.match(text)
    if plain:
        for syllable in _SYLLABLES.finditer(plain[0]):
            cut = syllable.end()
            if cut >= 3 and len(plain[0]) - cut >= 3 and not _INSEPARABLE.match(plain[0], cut - 1):
                yield cut, "-"


def _segment(words: list[Word], style: Style, left: float, right: float, justify: bool) -> Segment:
    """Words side by side, their pieces joined where the font goes on."""
    pieces: list[Piece] = []
    for index, word in enumerate(words):
        for piece in word.pieces:
            glue = " " if index and piece is word.pieces[0] else ""
            if pieces and replace(pieces[-1], text="") == replace(piece, text=""):
                pieces[-1] = replace(pieces[-1], text=pieces[-1].text + glue + piece.text)
            elif pieces and pieces[-1].rise == 0:
                pieces[-1] = replace(pieces[-1], text=pieces[-1].text + glue)
                pieces.append(piece)
            else:
                pieces.append(replace(piece, text=glue + piece.text))
    room = right - left - sum(piece.width for piece in pieces)
    if style.align == "center":
        return Segment(left + room / 2, tuple(pieces))
    stretch = room / (len(words) - 1) if style.align == "justify" and justify and len(words) > 1 else 0
    return Segment(left, tuple(pieces), stretch)
