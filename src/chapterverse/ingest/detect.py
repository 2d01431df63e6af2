"""What a file is, by its content; its name decides only between kinds of plain text."""

from __future__ import annotations

import re
import struct
from pathlib import PurePosixPath

from chapterverse.errors import UnreadableFileError

PDF = "application/pdf"
EPUB = "application/epub+zip"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
HTML = "text/html"
MARKDOWN = "text/markdown"
TEXT = "text/plain"

SUFFIXES: dict[str, tuple[str, ...]] = {
    PDF: (".pdf",),
    EPUB: (".epub",),
    DOCX: (".docx", ".docm", ".dotx"),
    PPTX: (".pptx", ".pptm", ".ppsx", ".potx"),
    HTML: (".html", ".htm", ".xhtml"),
    MARKDOWN: (".md", ".markdown", ".mdx", ".mkd", ".qmd", ".rmd"),
    TEXT: (".txt", ".text", ".rst", ".asc", ".log", ".csv", ".tsv", ""),
}
SUPPORTED = tuple(SUFFIXES)

_NOT_BOOKS = frozenset(
    ".json .jsonl .ipynb .yml .yaml .toml .ini .cfg .conf .lock .xml .svg .css .scss .less .js .mjs .ts .tsx .jsx"
    " .py .pyi .sh .bat .ps1 .c .h .cpp .hpp .rs .go .java .rb .php .pl .sql .r .bib .map .opf .ncx".split()
)
"""Text that is code or data: in a folder it lies beside the book, and is not part of it."""

_MEDIA = frozenset(
    ".png .jpg .jpeg .gif .webp .avif .heic .bmp .tif .tiff .ico .mp3 .m4a .ogg .wav .flac .mp4 .mov .avi .mkv .webm"
    " .woff .woff2 .ttf .otf .eot .gz .bz2 .xz .7z .rar .tar .pyc .so .dll .exe".split()
)

_WRITTEN_FOR_PROGRAMS = (
    (re.compile(rb"\{\\rtf"), "It is an RTF file; save it as DOCX"),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml\s"), "It is an XML file; a book is best converted to EPUB"),
    (re.compile(rb"%!PS"), "It is a PostScript file; convert it to PDF"),
    (
        re.compile(
            rb"(?:From .*\n)?(?:[\w-]+:.*\n(?:[ \t].*\n)*?)*?"
            rb"Content-(?:Type:\s*multipart/|Transfer-Encoding:\s*(?:base64|quoted-printable))",
            re.I,
        ),
        "It is a mail or a web archive with its text in parts or encoded; save it as HTML or PDF",
    ),
)
"""Text all the same, by how it begins: none that anybody reads."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_DIRECTORY_END = b"PK\x05\x06"
_ZIP_STARTS = (b"PK\x03\x04", _ZIP_DIRECTORY_END)
_ZIP_ENTRY = re.compile(rb"PK\x01\x02.{42}(?:(meta-inf[/\\]container\.xml)|(word[/\\])|(ppt[/\\]))", re.I | re.S)
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body")
_PDF = b"%PDF-"
_BLANK = b"\xef\xbb\xbf\0 \t\r\n"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_SAMPLE = 65_536


def detect(data: bytes, name: str) -> str:
    """The MIME type of a file; raises `UnreadableFileError` for what Chapterverse does not read."""
    if not data:
        raise UnreadableFileError("empty", "The file is empty (0 bytes).")
    suffix = PurePosixPath(name.lower()).suffix
    if data[:1024].lstrip(_BLANK).startswith(_PDF):
        return PDF
    if data.startswith(_ZIP_STARTS):
        return _zip_kind(data, suffix)
    if data.startswith(_OLE):
        return _ole_kind(data)
    binary = _looks_binary(data)
    if _PDF in data[:1024] and (binary or suffix in SUFFIXES[PDF]):  # readers forgive junk in front of a PDF
        return PDF
    if binary:
        raise _unsupported("It is not a text file")
    if _looks_html(data) or suffix in SUFFIXES[HTML]:
        return HTML
    for start, what in _WRITTEN_FOR_PROGRAMS:
        if start.match(data, 0, _SAMPLE):
            raise _unsupported(what)
    if suffix in SUFFIXES[MARKDOWN]:
        return MARKDOWN
    if suffix in _NOT_BOOKS:
        raise _unsupported(f"A {suffix} file is code or data")
    return TEXT


def may_be_book(name: str) -> bool:
    """False for what usually lies beside books: pictures, code, data. Only the content tells for certain."""
    return PurePosixPath(name.lower()).suffix not in _NOT_BOOKS | _MEDIA


def suffix_disagrees(mime_type: str, name: str) -> bool:
    """Whether a file's suffix promises another format than its content holds."""
    suffix = PurePosixPath(name.lower()).suffix
    known = {suffix for suffixes in SUFFIXES.values() for suffix in suffixes if suffix}
    return suffix in known and suffix not in SUFFIXES[mime_type]


def _unsupported(why: str) -> UnreadableFileError:
    return UnreadableFileError(
        "unsupported", f"{why}. Chapterverse reads PDF, EPUB, DOCX, PPTX, HTML, Markdown and plain text."
    )


def _zip_kind(data: bytes, suffix: str) -> str:
    """By the names in the zip's directory, which is searched but not unpacked: this is not the sandbox."""
    end = data.rfind(_ZIP_DIRECTORY_END)
    if end < 0 or end + 22 > len(data):
        if any(suffix in SUFFIXES[kind] for kind in (EPUB, DOCX, PPTX)):
            message = "The file is damaged or cut off: its zip directory is missing. Copy or download it again."
            raise UnreadableFileError("damaged", message)
        raise _unsupported("It is a damaged zip file")
    (size,) = struct.unpack_from("<I", data, end + 12)
    found = {entry.lastindex for entry in _ZIP_ENTRY.finditer(data, max(0, end - size), end)}
    for kind, group in ((EPUB, 1), (DOCX, 2), (PPTX, 3)):
        if group in found:
            return kind
    if b"mimetypeapplication/epub+zip" in data[:100]:
        return EPUB
    raise _unsupported("It is a zip file, but neither EPUB, DOCX nor PPTX")


def _ole_kind(data: bytes) -> str:
    if "EncryptedPackage".encode("utf-16-le") in data:
        message = "The document is protected by a password. Remove the protection in Office and add it again."
        raise UnreadableFileError("encrypted", message)
    raise _unsupported("It is an old Office file; save it as DOCX or PPTX")


def _looks_binary(data: bytes) -> bool:
    if data[:2] in _UTF16_BOMS or data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return False
    sample = data[:_SAMPLE]
    zeros = sample.count(0)
    if zeros:
        # UTF-16 without a mark: every other byte of Western text is zero.
        return not (0.3 < zeros / len(sample) < 0.6 and min(sample[::2].count(0), sample[1::2].count(0)) < zeros / 20)
    controls = sum(sample.count(byte) for byte in range(32) if byte not in (7, 8, 9, 10, 12, 13, 27))
    return controls > len(sample) * 0.02


def _looks_html(data: bytes) -> bool:
    start = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    while start.startswith((b"<?xml", b"<!--")):
        start = start.partition(b"?>" if start.startswith(b"<?") else b"-->")[2].lstrip()
    return start.startswith(_HTML_STARTS)
