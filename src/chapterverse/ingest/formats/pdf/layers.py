"""What is laid over a page, form fields and notes typed on it, and what is printed under its text.

Comments that have to be opened are not seen.
"""

from __future__ import annotations

from math import inf
from statistics import median

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from chapterverse.ingest.formats.pdf.model import Span

_LARGE = 2.0
_COVERED = 2
"""So many lines run through a watermark, at least; through other large type none does."""

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
    spans = list(spans)
    for added in laid_over:
        nearest = min(range(len(spans)), key=lambda index: _distance(spans[index], added), default=-1)
        before = nearest >= 0 and _distance(spans[nearest], added) < (inf, inf)
        spans.insert(nearest + 1 if before else 0, added)
    for order, span in enumerate(spans):
        span.order = order
    return spans


def _distance(span: Span, added: Span) -> tuple[float, float]:
    """How far a span stands to the left in the same line, or else above."""
    below = added.y - span.y
    if abs(below) < 0.6 * max(span.size, added.size):
        return (0.0, added.left - span.right) if span.left < added.left else (inf, inf)
    return (below, abs(added.left - span.left)) if below > 0 else (inf, inf)


def with_watermarks_last(spans: list[Span]) -> list[Span]:
    """The spans of a page, with the large type that its lines run through ("DRAFT") below them all."""
    if not spans:
        return spans
    usual = median(span.size for span in spans)
    marks = [span for span in spans if span.size >= _LARGE * usual and _runs_through(span, spans)]
    below = max(span.bottom for span in spans)
    for mark in marks:
        below += 3 * mark.size
        mark.y = below
    under = set(map(id, marks))
    return [span for span in spans if id(span) not in under] + marks


def _runs_through(mark: Span, spans: list[Span]) -> bool:
    """Whether several lines of common size stand where this large type does."""
    lines = {
        round(span.y)
        for span in spans
        if _LARGE * span.size <= mark.size
        and mark.top < span.y <= mark.bottom
        and min(span.right, mark.right) - max(span.left, mark.left) > mark.size
    }
    return len(lines) >= _COVERED
