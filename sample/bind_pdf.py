"""Binds the PDF: draws the pages, with outline, page labels and metadata."""

from __future__ import annotations

from io import BytesIO

from manuscript import Book
from pages import HEIGHT, NOTES_GAP, WIDTH, Page, Pages
from reportlab import rl_config
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from typeset import Line, Segment

_PAPER = (419.53, 595.28)  # A5
_LEFT = (_PAPER[0] - WIDTH) / 2
_TOP = _PAPER[1] - 76
_HEAD_Y = _PAPER[1] - 52
_FOLIO_Y = 44


def bind(book: Book, pages: Pages) -> bytes:
    """The standard fonts are used in WinAnsi encoding, so that every character of the file has a known meaning."""
    rl_config.useA85 = 0
    data = BytesIO()
    canvas = Canvas(data, pagesize=_PAPER, pageCompression=1, invariant=1, lang="en-GB", initialFontName="Times-Roman")
    canvas.setTitle(book.title)
    canvas.setAuthor(book.author)
    canvas.setSubject("The sample book of Chapterverse")
    canvas.setCreator("sample/build.py")
    canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
    canvas.addPageLabel(len(pages.front), style="ARABIC", start=1)
    canvas.showOutline()
    for part in (pages.front, pages.body):
        for index, page in enumerate(part, 1):
            _draw(canvas, page, page.part if index % 2 else book.title)
    canvas.save()
    return data.getvalue()


def _draw(canvas: Canvas, page: Page, head: str) -> None:
    if not page.opens:
        _center(canvas, head, "Times-Italic", _HEAD_Y)
    if page.number > 1:  # a title page bears no number
        _center(canvas, page.label, "Times-Roman", _FOLIO_Y)
    y = _TOP + (0 if page.opens else page.lines[0].before)
    for line in page.lines:
        y -= line.before + line.height
        _draw_line(canvas, line, y)
    if page.notes:
        y = _TOP - HEIGHT + sum(line.height for line in page.notes)
        canvas.line(_LEFT, y + NOTES_GAP / 2, _LEFT + WIDTH / 4, y + NOTES_GAP / 2)
        for line in page.notes:
            y -= line.height
            _draw_line(canvas, line, y)
    canvas.showPage()


def _center(canvas: Canvas, text: str, font: str, y: float) -> None:
    canvas.setFont(font, 9.5)
    canvas.drawString((_PAPER[0] - stringWidth(text, font, 9.5)) / 2, y, text)


def _draw_line(canvas: Canvas, line: Line, y: float) -> None:
    baseline = y + line.height * 0.28
    if line.outline:
        title = line.starts[0][0].plain
        key = f"{canvas.getPageNumber()}-{y:.0f}"
        canvas.bookmarkHorizontal(key, 0, y + line.height)
        canvas.addOutlineEntry(title, key, line.outline - 1, closed=line.outline == 1)
    for segment in line.segments:
        _draw_segment(canvas, segment, baseline)
    if line.ruled:
        canvas.setLineWidth(0.5)
        canvas.line(_LEFT, y, _LEFT + WIDTH, y)


def _draw_segment(canvas: Canvas, segment: Segment, baseline: float) -> None:
    """One string for each font, spaces included: what extracts the text need not guess where words end."""
    text = canvas.beginText(_LEFT + segment.x, baseline)
    text.setWordSpace(segment.stretch)
    for piece in segment.pieces:
        text.setFont(piece.font, piece.size)
        text.setRise(piece.rise)
        text.textOut(piece.text)
    canvas.drawText(text)
