"""What is laid over a page, form fields and notes typed on it, and what is printed under its text.

Comments that have to be opened are not seen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from statistics import median

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from chapterverse.ingest.formats.pdf.model import Span

_SAME_LINE = 0.8
"""So many ems may the values of fields stand above or below their labels."""
_LARGE = 2.0
"""A watermark is so much larger than the lines that run through it."""
_COVERED = 2
"""So many lines do, at least; through other large type none does."""
_MOST_MARKS = 20
"""A page with more large type than this is a drawing."""

_UNSEEN = (pdfium_c.FPDF_ANNOT_LINK, pdfium_c.FPDF_ANNOT_POPUP)


def annotated(page: pdfium.PdfPage) -> bool:
    """Whether anything but links lies on a page."""
    for index in range(pdfium_c.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium_c.FPDFPage_GetAnnot(page, index)
        kind = pdfium_c.FPDFAnnot_GetSubtype(annotation)
        pdfium_c.FPDFPage_CloseAnnot(annotation)
        if kind not in _UNSEEN:
            return True
    return False


def flattened(document: pdfium.PdfDocument, page: pdfium.PdfPage, index: int) -> pdfium.PdfPage:
    """The page again, with what lies on it as the end of its content: PDFium knows no other text."""
    pdfium_c.FPDFPage_Flatten(page, pdfium_c.FLAT_NORMALDISPLAY)
    page.close()
    return document[index]


def with_annotations(spans: list[Span], laid_over: list[Span]) -> list[Span]:
    """The spans of a page, with each that is laid over it behind the one that it follows, as if drawn with it."""
    if not laid_over:
        return spans
    downwards = sorted(spans, key=_height)
    following: dict[int, list[Span]] = defaultdict(list)
    for added in sorted(laid_over, key=lambda span: (span.y, span.left)):
        following[id(_followed(added, downwards))].append(added)
    ordered = following[id(None)] + [one for span in spans for one in (span, *following[id(span)])]
    for order, span in enumerate(ordered):
        span.order = order
    return ordered


def _followed(added: Span, downwards: list[Span]) -> Span | None:
    """The span that stands nearest to the left in the same line, or else above."""
    reach = _SAME_LINE * added.size
    first = bisect_left(downwards, added.y - reach, key=_height)
    line = downwards[first : bisect_right(downwards, added.y + reach, key=_height)]
    before = [span for span in line if span.left < added.left]
    if before:
        return max(before, key=lambda span: span.right)
    return downwards[first - 1] if first else None


def _height(span: Span) -> float:
    return span.y


def with_watermarks_last(spans: list[Span]) -> list[Span]:
    """The spans of a page, with the large type that its lines run through ("DRAFT") below them all."""
    if not spans:
        return spans
    usual = median(span.size for span in spans)
    large = [span for span in spans if span.size >= _LARGE * usual]
    marks = [span for span in large if _is_run_through(span, spans)] if len(large) <= _MOST_MARKS else []
    below = max(span.bottom for span in spans)
    for mark in marks:
        below += 3 * mark.size
        mark.y = below
    under = set(map(id, marks))
    return [span for span in spans if id(span) not in under] + marks


def _is_run_through(mark: Span, spans: list[Span]) -> bool:
    """Whether several lines of common size stand where this large type does."""
    lines = {
        round(span.y)
        for span in spans
        if _LARGE * span.size <= mark.size
        and mark.top < span.y <= mark.bottom
        and min(span.right, mark.right) - max(span.left, mark.left) > mark.size
    }
    return len(lines) >= _COVERED
