"""The order of reading a PDF, and the telling of it to the composer."""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Iterator
from typing import cast

import pypdfium2 as pdfium

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer, Piece
from chapterverse.ingest.formats.pdf.file import bookmarks, open_document, page_label, read_metadata
from chapterverse.ingest.formats.pdf.furniture import remove_furniture
from chapterverse.ingest.formats.pdf.headings import infer_headings, match_bookmarks, open_unprinted
from chapterverse.ingest.formats.pdf.layout import read_lines
from chapterverse.ingest.formats.pdf.model import HYPHEN, Line, Note, PageContent, Passage
from chapterverse.ingest.formats.pdf.notes import Notes, body_of, plain, take_notes, with_references
from chapterverse.ingest.formats.pdf.page import read_page
from chapterverse.ingest.formats.pdf.passages import Spacing, build_passages, is_full, without_leaders
from chapterverse.ingest.formats.pdf.words import Words
from chapterverse.ingest.spread import spread
from chapterverse.types import BlockKind, Page, ReadOptions

_MIN_BOOKMARKS = 2
"""A single bookmark is no outline."""
_SAMPLE = 400


def parse(data: bytes, composer: Composer, options: ReadOptions) -> None:
    """Read a PDF."""
    document = open_document(data, composer, options)
    try:
        pages = _read_pages(document, composer)
        read_metadata(document, composer, pages)
        outline = bookmarks(document, composer)
    finally:
        document.close()
    remove_furniture(pages)
    words = Words(span.text for page in pages for span in page.spans)
    flows = spread(lambda index: read_lines(pages[index], words), len(pages))
    spacing = Spacing([item for flow in flows for item in flow if isinstance(item, Line)])
    notes = take_notes(flows, spacing.body_size)
    unprinted = match_bookmarks(outline, flows) if len(outline) >= _MIN_BOOKMARKS else None
    passages = build_passages([item for flow in flows for item in flow], spacing)
    if unprinted is None:
        passages = infer_headings(passages, spacing.body_size)
    else:
        open_unprinted(passages, unprinted)
    _Teller(composer, pages, notes, words).tell(passages)


def _read_pages(document: pdfium.PdfDocument, composer: Composer) -> list[PageContent]:
    """Every page; those without a text layer are reported and left empty."""
    pages: list[PageContent] = []
    scanned: list[int] = []
    broken: list[int] = []
    garbled: list[int] = []
    for index, read in enumerate(spread(lambda index: _read_page(document, index), len(document))):
        page = read or PageContent(index, [], [], drawn=False)
        if read is None:
            broken.append(index + 1)
        if page.spans and _is_garbled(page):
            garbled.append(index + 1)
            page.spans = []
        elif not page.spans and page.drawn:
            scanned.append(index + 1)
        page.label = page_label(document, index)
        pages.append(page)
    if not any(page.spans for page in pages):
        raise _nothing_to_read(scanned, broken, garbled)
    _report(composer, scanned, "no text layer (scanned image)")
    _report(composer, garbled, "text that cannot be decoded (the fonts do not say which letters they draw)")
    _report(composer, broken, "damaged content")
    return pages


def _read_page(document: pdfium.PdfDocument, index: int) -> PageContent | None:
    """A page, or None if it is damaged."""
    try:
        return read_page(document, index)
    except pdfium.PdfiumError:
        return None


def _is_garbled(page: PageContent) -> bool:
    """Whether the characters are mostly code points without meaning."""
    text = "".join(span.text for span in page.spans)[:_SAMPLE]
    return 2 * sum(unicodedata.category(char) in ("Co", "Cn", "Cc") or char == "\ufffd" for char in text) > len(text)


def _nothing_to_read(scanned: list[int], broken: list[int], garbled: list[int]) -> UnreadableFileError:
    if broken and not scanned:
        return UnreadableFileError("damaged", "none of the file's pages can be read")
    if garbled and not scanned:
        return UnreadableFileError("no_text", "the fonts do not say which letters they draw: run OCR on the file first")
    return UnreadableFileError(
        "no_text", "no page has a text layer: the file holds scanned images or blank pages, so run OCR on it first"
    )


def _report(composer: Composer, numbers: list[int], problem: str) -> None:
    """Warn about pages; runs of them are folded."""
    for first, last in _runs(numbers):
        if first == last:
            composer.warn(f"page {first} has {problem}: it is not indexed")
        else:
            composer.warn(f"pages {first}-{last} have {problem}: they are not indexed")


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    start = previous = None
    for number in numbers:
        if previous is not None and start is not None and number != previous + 1:
            yield start, previous
            start = None
        start = number if start is None else start
        previous = number
    if start is not None and previous is not None:
        yield start, previous


class _Teller:
    """Tells the composer the passages, with the pages that they begin on and run over, and their notes."""

    def __init__(self, composer: Composer, pages: list[PageContent], notes: Notes, words: Words) -> None:
        self._composer = composer
        self._pages = [Page(page.index + 1, page.label) for page in pages]
        self._notes = notes
        self._words = words
        self._page: int | None = None
        self._told: set[int] = set()

    def tell(self, passages: list[Passage]) -> None:
        for passage in passages:
            for title, level in passage.sections:
                self._composer.section(title, level)
            if passage.table:
                self._turn_to(passage.page)
                self._composer.add("table", plain(passage.table.text))
                continue
            pieces, notes = self._pieces(passage.lines)
            if passage.kind == "heading":
                self._composer.heading(pieces, passage.level or 1)
            else:
                self._composer.add(cast(BlockKind, passage.kind), pieces)
            self._tell_notes(notes)
        self._tell_notes(list(self._notes.values()))  # those that only another note refers to

    def _tell_notes(self, notes: list[Note]) -> None:
        """Tell each note once, and after it the notes that it refers to itself."""
        waiting = deque(notes)
        while waiting:
            note = waiting.popleft()
            if id(note) in self._told:
                continue
            self._told.add(id(note))
            pieces, more = self._pieces(body_of(note))
            self._composer.add("footnote", [f"[{note.marker}] ", *pieces])
            waiting.extend(more)

    def _turn_to(self, page: int) -> None:
        if page != self._page:
            self._page = page
            place = self._pages[page]
            self._composer.page(place.number, place.label)

    def _pieces(self, lines: list[Line]) -> tuple[list[Piece], list[Note]]:
        """The running text of lines, with a mark where a page begins inside it."""
        self._turn_to(lines[0].page)
        pieces: list[Piece] = []
        found: list[Note] = []
        pending, before = "", lines[0]
        for line in lines:
            text, notes = with_references(line, self._notes)
            found += notes
            text = without_leaders(text.strip())
            if pending:
                pieces.append(self._words.glue(pending, text, is_full(before, line)))
            if line.page != self._page:
                self._page = line.page
                pieces.append(self._pages[line.page])
            pending, before = text, line
        pieces.append(pending.replace(HYPHEN, "-"))
        return pieces, found
