"""Opening a PDF: what cannot be read is refused with a reason, what PDFium repairs is read with a warning."""

from __future__ import annotations

import ctypes
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.pdf.model import Bookmark, PageContent
from chapterverse.types import ReadOptions

_MAX_BOOKMARKS = 10_000
_MAX_DEPTH = 12
_TAIL = 4096
_HEAD = 1024
_FLATE_RATIO = 1032
"""Deflate cannot expand data by more than this factor."""
_CHUNK = 1 << 20

_STREAM = re.compile(rb"stream\r?\n")
_XREF_ENTRY = re.compile(rb"(\d{10}) (\d{5}) n")
_OBJECT = re.compile(rb"\s*\d+\s+\d+\s+obj\b")
_JUNK_TITLE = re.compile(
    r"^(untitled|unbenannt|document|dokument|title|none|null|unknown|anonymous|user|admin(istrator)?|owner|\W*)\d*$"
    r"|^microsoft (word|powerpoint|excel) - |\.(docx?|pptx?|xlsx?|indd|qxd|tex|dvi|pdf|rtf|odt|html?|wpd|pub|txt)$",
    re.I,
)

_TITLE_BY = re.compile(r"(?P<title>.*\S), by (?P<author>[A-ZÀ-Þ][\w.’'-]*(?: [^\W\d_][\w.’'-]*){1,4})")
_WORD = re.compile(r"\w{3,}")
_FRONT_PAGES = 10
"""So many pages may come before and with the title page and the imprint."""


def open_document(data: bytes, composer: Composer, options: ReadOptions) -> pdfium.PdfDocument:
    """An open document within the limits."""
    if not data.strip(b"\0\t\r\n "):
        raise UnreadableFileError("empty", "the file is empty")
    if b"%PDF-" not in data[:_HEAD]:
        raise UnreadableFileError("damaged", "this is not a PDF: it does not begin with %PDF")
    tail = data.rstrip(b"\0\t\r\n ")[-_TAIL:]
    if b"%%EOF" not in tail and b"startxref" not in tail:
        raise UnreadableFileError("damaged", "the end of the file is missing: it was cut short, so get it again")
    _refuse_bombs(data, options.max_unpacked_mb << 20)
    try:
        document = pdfium.PdfDocument(data, password=options.password)
        document.init_forms()  # which draws the values of fields for which the file has no drawing
    except pdfium.PdfiumError as error:
        raise _refusal(data, error, options) from error
    count = len(document)
    if count > options.max_pages:
        raise UnreadableFileError("pages", f"the file has {count:,} pages, and the limit is {options.max_pages:,}")
    if count == 0:
        raise UnreadableFileError("damaged", "the file has no pages that can be read")
    if document.get_formtype() == pdfium_c.FORMTYPE_XFA_FULL:
        raise UnreadableFileError(
            "no_text",
            "the file is a dynamic form (XFA), whose pages only Adobe's programs draw: print it to a PDF first",
        )
    if attached := pdfium_c.FPDFDoc_GetAttachmentCount(document):
        composer.warn(f"the file has other files attached to it ({attached}), which were not read")
    if not _references_intact(data):
        composer.warn("the file's cross-references are broken; it was repaired while it was read")
    return document


def _refusal(data: bytes, error: pdfium.PdfiumError, options: ReadOptions) -> UnreadableFileError:
    # PDFium keeps its last error from file to file, so it counts only for a file that says it is encrypted.
    code = getattr(error, "err_code", None) if b"/Encrypt" in data else None
    if code == pdfium_c.FPDF_ERR_PASSWORD:
        if options.password is None:
            return UnreadableFileError(
                "encrypted", "the file is encrypted: give its password (--password, or ReadOptions(password=...))"
            )
        return UnreadableFileError("encrypted", "the file is encrypted, and the password given does not open it")
    if code == pdfium_c.FPDF_ERR_SECURITY:
        return UnreadableFileError("encrypted", "the file is encrypted in a way that cannot be opened here")
    return UnreadableFileError("damaged", "the file is damaged beyond repair")


def _refuse_bombs(data: bytes, limit: int) -> None:
    """Refuse a file with a stream, other than a picture, that inflates beyond the limit."""
    for match in _STREAM.finditer(data):
        start = match.end()
        head = data[max(0, start - 512) : start].rpartition(b"obj")[2]
        layers = head.count(b"/FlateDecode") + head.count(b"/Fl ")
        if not layers or re.search(rb"/Subtype\s*/Image", head):
            continue
        stop = data.find(b"endstream", start)
        raw = memoryview(data)[start : stop if stop >= 0 else len(data)]
        if len(raw) * _FLATE_RATIO**layers <= limit:
            continue
        inflated: Iterable[bytes | memoryview] = (raw[at : at + _CHUNK] for at in range(0, len(raw), _CHUNK))
        for _ in range(layers):
            inflated = _inflate(inflated)
        total = 0
        for chunk in inflated:
            total += len(chunk)
            if total > limit:
                raise UnreadableFileError("bomb", f"a part of the file inflates to more than {limit >> 20} MB")


def _inflate(chunks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Inflate piece by piece; damaged data end the stream, as they do in PDFium."""
    inflater = zlib.decompressobj()
    try:
        for chunk in chunks:
            pending = chunk
            while pending and not inflater.eof:
                yield inflater.decompress(pending, _CHUNK)
                pending = inflater.unconsumed_tail
    except zlib.error:
        return


def _references_intact(data: bytes) -> bool:
    """Whether the last cross-reference section is where the file says, and its offsets lead to objects."""
    base = max(data.find(b"%PDF-"), 0)
    found = re.search(rb"startxref\s+(\d+)", data[-_TAIL:][data[-_TAIL:].rfind(b"startxref") :])
    if not found:
        return False
    start = base + int(found[1])
    if _OBJECT.match(data, start):
        return True
    if data[start : start + 24].lstrip()[:4] != b"xref":
        return False
    stop = data.find(b"trailer", start)
    if stop < 0:
        return False
    offsets = (base + int(entry[1]) for entry in _XREF_ENTRY.finditer(data, start, stop))
    return all(_OBJECT.match(data, offset) for offset in offsets)


def read_metadata(document: pdfium.PdfDocument, composer: Composer, pages: list[PageContent]) -> None:
    """Title, author and language, unless a program filled them in on its own."""
    title, author = (document.get_metadata_value(key).strip() for key in ("Title", "Author"))
    if titled := _TITLE_BY.fullmatch(title):
        title, author = titled["title"], titled["author"]
    elif not _names(pages[:_FRONT_PAGES], author):
        author = ""
    composer.title = None if _JUNK_TITLE.search(title) else title or None
    composer.author = None if _JUNK_TITLE.search(author) else author or None
    composer.page_count = len(document)


def _names(pages: list[PageContent], author: str) -> bool:
    """Whether a book names its author. Who only typed it, and who sold the program, stand in the metadata alone."""
    front = " ".join(span.text for page in pages for span in page.spans).casefold()
    return all(word in front for word in _WORD.findall(author.casefold()))


def page_label(document: pdfium.PdfDocument, index: int) -> str | None:
    """The label that the file itself gives to a page."""
    return document.get_page_label(index).strip() or None


def bookmarks(document: pdfium.PdfDocument, composer: Composer) -> list[Bookmark]:
    """The file's outline in reading order; one that loops is refused, an endless one is cut."""
    found: list[Bookmark] = []
    seen: set[int] = set()
    stack = [(pdfium_c.FPDFBookmark_GetFirstChild(document, None), 1)]
    while stack:
        entry, level = stack.pop()
        if not entry:
            continue
        address = ctypes.addressof(entry.contents)
        if address in seen:
            raise UnreadableFileError("damaged", "Its bookmarks run in a circle: it is damaged or made to do harm.")
        if len(seen) >= _MAX_BOOKMARKS:
            composer.warn("the file's bookmarks are endless; they were cut")
            break
        seen.add(address)
        stack.append((pdfium_c.FPDFBookmark_GetNextSibling(document, entry), level))
        if level < _MAX_DEPTH:
            stack.append((pdfium_c.FPDFBookmark_GetFirstChild(document, entry), level + 1))
        bookmark = _bookmark(document, entry, level)
        if bookmark:
            found.append(bookmark)
    return _pointing(found)


def _pointing(found: list[Bookmark]) -> list[Bookmark]:
    """Bookmarks that point somewhere: one that only groups others, but not all, opens where the first of them does."""
    several = sum(bookmark.level == 1 for bookmark in found) > 1
    for above, below in reversed(list(pairwise(found))):
        if above.page < 0 and below.level > above.level and (several or above.level > 1):
            above.page, above.y = below.page, below.y
    return [bookmark for bookmark in found if bookmark.page >= 0]


def _bookmark(document: pdfium.PdfDocument, entry: Any, level: int) -> Bookmark | None:
    size = pdfium_c.FPDFBookmark_GetTitle(entry, None, 0)
    if not 2 < size < 4096:
        return None
    buffer = ctypes.create_string_buffer(size)
    pdfium_c.FPDFBookmark_GetTitle(entry, buffer, size)
    title = buffer.raw[: size - 2].decode("utf-16-le", "ignore").strip()
    target = pdfium_c.FPDFBookmark_GetDest(document, entry)
    page = pdfium_c.FPDFDest_GetDestPageIndex(document, target) if target else -1
    if not title:
        return None
    flags = [ctypes.c_int() for _ in range(3)]
    numbers = [ctypes.c_float() for _ in range(3)]
    located = page >= 0 and pdfium_c.FPDFDest_GetLocationInPage(target, *flags, *numbers)
    y = -numbers[1].value if located and flags[1].value else None
    return Bookmark(level, title, page, y)
