"""One page of a PDF as spans and rulings. PDFium is asked about words, not about characters: that makes it fast."""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot, inf
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from chapterverse.ingest.formats.pdf.layers import annotated, flattened, with_annotations, with_watermarks_last
from chapterverse.ingest.formats.pdf.model import HYPHEN, NOTE_CLOSE, NOTE_OPEN, PageContent, Ruling, Span

_WORDS = re.compile(rf"[^\s{HYPHEN}]+{HYPHEN}*")
_BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.I)
_ITALIC = re.compile(r"italic|oblique", re.I)
_NOTE_SIGN = re.compile(r"(\d{1,3}|[*†‡§]{1,2})([.,;:)]?)")
_RAISED = re.compile(r"(\d{1,3}(?:[,\u2013-] ?\d{1,3})*|[*†‡§]{1,2}|[+\u2212\u2013-]\d{0,3})([.,;:)]?)")
_SIGN = re.compile(f"[+\u2212\u2013-]{NOTE_CLOSE}$")
"""The sign of a power, where the file draws its digits by themselves."""
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefe]")
_LIGATURES = str.maketrans({
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st",
    "\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\u2010": "-", "\u2011": "-", "\xa0": " ",
})  # fmt: skip

_WIDE = 1.2
"""A gap of so many ems separates cells or columns, not words."""
_OPEN = 0.9
"""A gap of so many ems is measured where words are drawn at once: TeX parts columns by an em, or a little more."""
_LOOSE = 0.45
"""A gap of so many ems is wider than a space between words usually is."""
_SPACE = 0.15
"""A gap of so many ems separates words, even where the file draws no space."""
_NARROW = 0.08
"""The same behind a sign that is raised or lowered: to PDFium it is a line of its own, which need not end a word."""
_SMALLER = 0.9
"""What is raised or lowered is smaller than this part of the text around it."""
_SMALLEST = 0.4
"""But not smaller than this: what stands so high beside a large letter is the line that it opens."""
_THIN = 3.0
"""A drawn shape thinner than this many points is a ruling."""
_ILLEGIBLE = 2.0
"""Text smaller than this many points is there for machines: hidden anchors of a typesetting system, say."""
_MAX_PATHS = 4000
"""Pages with more shapes than this are drawings; their lines rule no table."""


@dataclass(frozen=True, slots=True)
class _Style:
    size: float
    bold: bool
    italic: bool
    turn: int | None
    """The direction of writing in quarter turns; None for any other slant."""


@dataclass(slots=True)
class _Part:
    """Words, or the part of one, that are drawn in one style."""

    text: str
    left: float
    right: float
    y: float
    style: _Style
    space: float
    """A gap of more ems than this before it separates words: any, where white space is drawn."""


def right_to_left(text: str) -> bool:
    """Whether most of the letters are written from right to left."""
    return len(_RIGHT_TO_LEFT.findall(text)) * 2 > sum(map(str.isalpha, text))


def read_page(document: pdfium.PdfDocument, index: int) -> PageContent:
    """Everything on a page that matters for reading."""
    page = document[index]
    try:
        parts = _read_parts(page)
        own = len(parts)
        if annotated(page):
            page = flattened(document, page, index)
            parts = _read_parts(page)
        turn = _main_turn(parts)
        count = pdfium_c.FPDFPage_CountObjects(page)
        rulings = [_turned_ruling(box, turn) for box in _thin_shapes(page, count)] if parts else []
    finally:
        page.close()
    median = sorted(part.style.size for part in parts)[len(parts) // 2] if parts else 0.0
    least = _ILLEGIBLE if median >= _ILLEGIBLE else 0.0
    uprights = [ruling for ruling in rulings if not ruling.horizontal]

    def spans_of(some: list[_Part]) -> list[Span]:
        here = [part for part in some if part.style.turn == turn and part.style.size >= least]
        return _spans([_turned_part(part, turn) for part in here], uprights)

    spans = with_watermarks_last(with_annotations(spans_of(parts[:own]), spans_of(parts[own:])))
    _append_slanted(spans, [part for part in parts if part.style.turn != turn and part.style.size >= least])
    return PageContent(index, spans, rulings, drawn=count > 0)


def _read_parts(page: Any) -> list[_Part]:
    textpage = page.get_textpage()
    try:
        return list(_parts(textpage))
    finally:
        textpage.close()


def _characters(textpage: Any) -> str:
    """The page's text, one character for each of PDFium's (which are UTF-16 units)."""
    count = pdfium_c.FPDFText_CountChars(textpage)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count * 2 + 2))()
    if pdfium_c.FPDFText_GetText(textpage, 0, count, buffer) - 1 == count:
        text = bytes(buffer)[: count * 2].decode("utf-16-le", "surrogatepass")
        return text if len(text) == count else "".join(map(chr, buffer[:count]))
    codes = (pdfium_c.FPDFText_GetUnicode(textpage, index) for index in range(count))
    return "".join(HYPHEN if code < 3 else chr(code) for code in codes)


def _whole(units: str) -> str:
    """Text of UTF-16 units: surrogates paired, ligatures spelt out, marks of unmapped glyphs left out."""
    if not units.isascii():
        units = units.translate(_LIGATURES)
        if any("\ud800" <= unit <= "\udfff" for unit in units):
            units = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return units


class _Glyphs:
    """Asks PDFium about single characters of a page; styles are looked up once for each text object."""

    def __init__(self, textpage: Any) -> None:
        self._page = textpage.raw
        self._styles: dict[int, _Style] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}
        self._box, self._x, self._y = pdfium_c.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
        self._to_box, self._to_x, self._to_y = map(ctypes.byref, (self._box, self._x, self._y))

    def origin(self, index: int) -> tuple[float, float]:
        pdfium_c.FPDFText_GetCharOrigin(self._page, index, self._to_x, self._to_y)
        return self._x.value, self._y.value

    def along(self, index: int) -> float:
        """Where a character begins, along the axis that the page's words run on."""
        pdfium_c.FPDFText_GetCharOrigin(self._page, index, self._to_x, self._to_y)
        return self._x.value + self._y.value  # the words of a run have one of the two in common

    def parted(self, last: int, first: int, gap: float) -> bool:
        """Whether a gap wider than this lies between two characters."""
        left, bottom, right, top = self.box(last)
        other_left, other_bottom, other_right, other_top = self.box(first)
        across = max(other_left - right, left - other_right)
        return max(across, other_bottom - top, bottom - other_top) > gap

    def box(self, index: int) -> tuple[float, float, float, float]:
        pdfium_c.FPDFText_GetLooseCharBox(self._page, index, self._to_box)
        return self._box.left, self._box.bottom, self._box.right, self._box.top

    def text_object(self, index: int) -> int:
        """The address of the text object that a character belongs to; 0 for one that PDFium added."""
        found = pdfium_c.FPDFText_GetTextObject(self._page, index)
        return ctypes.addressof(found.contents) if found else 0

    def is_hyphen(self, index: int) -> bool:
        return bool(pdfium_c.FPDFText_IsHyphen(self._page, index) == 1)

    def style(self, address: int, index: int) -> _Style:
        style = self._styles.get(address)
        if style is None:
            style = self._styles[address] = self._look_up(index)
        return style

    def _look_up(self, index: int) -> _Style:
        matrix = pdfium_c.FS_MATRIX()
        pdfium_c.FPDFText_GetMatrix(self._page, index, matrix)
        size = pdfium_c.FPDFText_GetFontSize(self._page, index) * hypot(matrix.c, matrix.d)
        a, b = matrix.a, matrix.b
        turn = None
        if min(abs(a), abs(b)) < 0.02 * max(abs(a), abs(b)):
            turn = (0 if a > 0 else 2) if abs(a) > abs(b) else (1 if b > 0 else 3)
        return _Style(abs(size) or 1.0, *self._face(index), turn)

    def _face(self, index: int) -> tuple[bool, bool]:
        """Whether a character's font is bold, and whether it is italic."""
        font = pdfium_c.FPDFTextObj_GetFont(pdfium_c.FPDFText_GetTextObject(self._page, index))
        if not font:
            return False, False
        address = ctypes.addressof(font.contents)
        if address not in self._fonts:
            buffer = ctypes.create_string_buffer(256)
            pdfium_c.FPDFFont_GetBaseFontName(font, buffer, len(buffer))
            name = buffer.value.decode("utf-8", "replace")
            bold = bool(_BOLD.search(name)) or pdfium_c.FPDFFont_GetWeight(font) >= 600
            self._fonts[address] = bold, bool(_ITALIC.search(name))
        return self._fonts[address]


def _parts(textpage: Any) -> Iterator[_Part]:
    """The runs of words of a page in the order of the file, each in one style and without a wide gap."""
    text = _characters(textpage)
    glyphs = _Glyphs(textpage)
    end = 0
    for start, stop, address in _runs(text, glyphs):
        space = _SPACE if start == end else -inf if text[end:start].strip("\r\n") else _NARROW
        end = stop
        hyphen = ""
        while stop > start and text[stop - 1] == HYPHEN:
            stop -= 1
            hyphen = HYPHEN if glyphs.is_hyphen(stop) else hyphen
        word, last = _whole(text[start:stop]) + hyphen, max(stop, start + 1)  # a hyphen may be drawn by itself
        yield _part(glyphs, word, start, last, glyphs.style(address, start), space)


def _runs(text: str, glyphs: _Glyphs) -> Iterator[tuple[int, int, int]]:
    """Start, end and text object of each run of words that one text object draws."""
    begin = word = end = 0
    address = -1
    along = em = 0.0
    for match in _WORDS.finditer(text):
        start, stop = match.span()
        here, x = glyphs.text_object(start), glyphs.along(start)
        together = here == address and text[end - 1] != HYPHEN and "\n" not in text[end:start]
        if together and abs(x - along) > (0.4 * (end - word) + 1) * em:
            # A word of a usual width would leave no room for a gap; only the others are measured.
            together = not glyphs.parted(end - 1, start, _OPEN * em)
        if together:
            word, end, along = start, stop, x
            continue
        if end:
            yield from _cut(glyphs, begin, word, end, address)
        begin, word, end, address, along = start, start, stop, here, x
        em = glyphs.style(here, start).size
    if end:
        yield from _cut(glyphs, begin, word, end, address)


def _cut(glyphs: _Glyphs, begin: int, word: int, end: int, address: int) -> Iterator[tuple[int, int, int]]:
    """A run, cut where its last word passes from one text object into another."""
    if glyphs.text_object(end - 1) != address:
        for index in range(word + 1, end):
            here = glyphs.text_object(index)
            if here not in (address, 0):
                yield begin, index, address
                begin, address = index, here
    yield begin, end, address


def _part(glyphs: _Glyphs, word: str, start: int, stop: int, style: _Style, space: float) -> _Part:
    x, y = glyphs.origin(start)
    left, bottom, right, top = glyphs.box(stop - 1)
    if style.turn in (0, 2):
        near, far = (min(x, left), max(x, right)) if style.turn == 0 else (max(x, right), min(x, left))
        return _Part(word, near, far, y, style, space)
    near, far = (min(y, bottom), max(y, top)) if style.turn == 1 else (max(y, top), min(y, bottom))
    return _Part(word, near, far, x, style, space)  # along the direction of writing; _turned_part sets the signs


def _main_turn(parts: list[_Part]) -> int:
    """The direction in which most of the page is written."""
    turns = Counter[int]()
    for part in parts:
        if part.style.turn is not None:
            turns[part.style.turn] += len(part.text)
    return turns.most_common(1)[0][0] if turns else 0


_SIGNS = {0: (1, -1), 1: (1, 1), 2: (-1, 1), 3: (-1, -1)}
"""For each quarter turn, the signs that make x grow along the writing and y grow downwards across it."""


def _turned_part(part: _Part, turn: int) -> _Part:
    along, across = _SIGNS[turn]
    return _Part(part.text, part.left * along, part.right * along, part.y * across, part.style, part.space)


def _turned_ruling(box: tuple[float, float, float, float], turn: int) -> Ruling:
    left, bottom, right, top = box
    along, across = _SIGNS[turn]
    xs, ys = ((left, right), (bottom, top)) if turn in (0, 2) else ((bottom, top), (left, right))
    xs, ys = sorted(x * along for x in xs), sorted(y * across for y in ys)  # type: ignore[assignment]
    return Ruling(xs[0], ys[0], xs[1], ys[1])


def _thin_shapes(page: Any, count: int) -> Iterator[tuple[float, float, float, float]]:
    """Boxes of the drawn lines and of the edges of drawn rectangles."""
    edges = [ctypes.c_float() for _ in range(4)]
    paths = 0
    for index in range(count):
        shape = pdfium_c.FPDFPage_GetObject(page, index)
        if pdfium_c.FPDFPageObj_GetType(shape) != pdfium_c.FPDF_PAGEOBJ_PATH:
            continue
        paths += 1
        if paths > _MAX_PATHS:
            return
        if not pdfium_c.FPDFPageObj_GetBounds(shape, *edges):
            continue
        left, bottom, right, top = (edge.value for edge in edges)
        if right - left <= _THIN or top - bottom <= _THIN:
            yield left, bottom, right, top
        elif pdfium_c.FPDFPath_CountSegments(shape) <= 5:
            yield from ((left, bottom, right, bottom), (left, top, right, top))
            yield from ((left, bottom, left, top), (right, bottom, right, top))
        else:
            yield from _segments(shape)


def _segments(shape: Any) -> Iterator[tuple[float, float, float, float]]:
    """The straight level or upright segments of a path that draws many lines at once."""
    matrix = pdfium_c.FS_MATRIX()
    pdfium_c.FPDFPageObj_GetMatrix(shape, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    here: tuple[float, float] | None = None
    for index in range(min(pdfium_c.FPDFPath_CountSegments(shape), _MAX_PATHS)):
        segment = pdfium_c.FPDFPath_GetPathSegment(shape, index)
        pdfium_c.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        if here and pdfium_c.FPDFPathSegment_GetType(segment) == pdfium_c.FPDF_SEGMENT_LINETO:
            (x0, x1), (y0, y1) = sorted((here[0], point[0])), sorted((here[1], point[1]))
            if min(x1 - x0, y1 - y0) <= 0.5:
                yield x0, y0, x1, y1
        here = point


def _spans(parts: list[_Part], uprights: list[Ruling]) -> list[Span]:
    """Join the parts that stand next to each other on one baseline, with no line drawn between them."""
    uprights.sort(key=_centre)
    spans: list[Span] = []
    weight: Counter[_Style] = Counter()
    for part in parts:
        last = spans[-1] if spans else None
        if last is None or not _joins(last, part) or _ruled_off(last, part, uprights):
            style = part.style
            look = style.size, style.bold, style.italic
            spans.append(Span(part.text, part.left, part.right, part.y, *look, len(spans)))
            weight = Counter({style: len(part.text)})
            continue
        _join(last, part)
        weight[part.style] += len(part.text)
        main = weight.most_common(1)[0][0]
        last.size, last.bold, last.italic = main.size, main.bold, main.italic
        last.y = part.y if main == part.style else last.y
    return spans


def _joins(last: Span, part: _Part) -> bool:
    """Whether a part goes on where a span ends."""
    em = max(last.size, part.style.size)
    if last.text.endswith(HYPHEN) and abs(part.y - last.y) > 0.5 * em:
        return False
    gap = last.left - part.right if part.left < last.left and right_to_left(part.text) else part.left - last.right
    if not -0.5 * em < gap < _WIDE * em:
        return False
    if abs(part.y - last.y) <= 0.12 * em:
        return True
    smaller = min(last.size, part.style.size)
    return _SMALLEST * em < smaller < _SMALLER * em and abs(part.y - last.y) < 0.6 * em and gap < 0.5 * em


def _centre(ruling: Ruling) -> float:
    return (ruling.left + ruling.right) / 2


def _ruled_off(last: Span, part: _Part, uprights: list[Ruling]) -> bool:
    middle = part.y - 0.3 * part.style.size
    first, stop = (bisect_left(uprights, x, key=_centre) for x in (last.right - 2, part.left + 2))
    return any(ruling.top <= middle <= ruling.bottom for ruling in uprights[first:stop])


def _join(span: Span, part: _Part) -> None:
    """Append a part to a span; a small raised number is marked as a reference to a note."""
    em = max(span.size, part.style.size)
    gap = max(part.left - span.right, span.left - part.right)
    if (span.italic or span.bold) and span.text.endswith("f"):
        gap += 0.12 * em  # the letter reaches over the space that follows it
    space = " " if gap > part.space * em else ""
    text = part.text
    raised = part.style.size < _SMALLER * span.size and span.y - part.y > 0.15 * span.size
    sign = _RAISED.fullmatch(text)
    if raised and sign:
        opening = "" if _SIGN.search(span.text) and sign[1].isdigit() else NOTE_OPEN
        span.text = span.text if opening else span.text[:-1]
        text, space = f"{opening}{sign[1]}{NOTE_CLOSE}{sign[2]}", ""
    leading = _NOTE_SIGN.fullmatch(span.text)
    if leading and span.size < _SMALLER * part.style.size and part.y - span.y > 0.15 * part.style.size:
        span.text, space = f"{NOTE_OPEN}{leading[1]}{NOTE_CLOSE}", " "
    if gap > _LOOSE * em:
        span.gaps.append((len(span.text), span.right, part.left))
    if span.text.endswith(HYPHEN):
        span.text = span.text[:-1] + "-"
    span.text += space + text
    span.left, span.right = min(span.left, part.left), max(span.right, part.right)


def _append_slanted(spans: list[Span], parts: list[_Part]) -> None:
    """Text across the page's direction (a stamp, an axis title) comes last, in the order of the file."""
    below = max((span.bottom for span in spans), default=0.0)
    run: list[_Part] = []
    for part in [*parts, None]:
        if run and (part is None or part.style != run[-1].style or abs(part.y - run[-1].y) > 0.5 * part.style.size):
            below += 3 * run[0].style.size
            text, style = " ".join(piece.text for piece in run), run[0].style
            left = min((span.left for span in spans), default=0.0)
            spans.append(Span(text, left, left + 1, below, style.size, style.bold, style.italic, len(spans)))
            run = []
        if part is not None:
            run.append(part)
