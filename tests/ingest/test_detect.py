"""A file is what its content says."""

from __future__ import annotations

import io
import zipfile

import pytest

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest import detect


def zipped(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), "x")  # a fixed date, so that every process names the tests alike
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"%PDF-1.7\n...", "a.txt", detect.PDF),
        (b"junk before\n%PDF-1.4", "a.pdf", detect.PDF),
        (bytes(range(128)) + b"%PDF-1.4", "a.bin", detect.PDF),
        (b"# The format\n\nA file starts with `%PDF-1.7`.", "a.md", detect.MARKDOWN),
        (zipped("mimetype", "META-INF/container.xml"), "a.zip", detect.EPUB),
        (zipped("META-INF/CONTAINER.XML"), "a.epub", detect.EPUB),
        (zipped("mimetype").replace(b"x", b"application/epub+zip", 1), "a.epub", detect.EPUB),
        (zipped("[Content_Types].xml", "word/document.xml"), "a.bin", detect.DOCX),
        (zipped("[Content_Types].xml", "Word\\Document.xml"), "a.docx", detect.DOCX),
        (zipped("[Content_Types].xml", "ppt/presentation.xml"), "a.docx", detect.PPTX),
        (b"<!DOCTYPE html><p>x", "a.txt", detect.HTML),
        (b"\n <!-- c --> <HTML><p>x", "a", detect.HTML),
        (b'<?xml version="1.0"?><html xmlns="x">', "a.xml", detect.HTML),
        (b'<?xml version="1.0"?><?xml-stylesheet href="a.css"?>\n<!-- c --><html>', "a", detect.HTML),
        (b"# A\n\ntext", "a.md", detect.MARKDOWN),
        (b"# A\n\ntext", "A.MARKDOWN", detect.MARKDOWN),
        (b"plain", "a.txt", detect.TEXT),
        (b"plain", "README", detect.TEXT),
        (b"From: Ada\nSubject: Clocks\nContent-Type: text/plain\n\nThey strike.", "a.eml", detect.TEXT),
        (b"A letter: hers\n\nContent-Transfer-Encoding: base64", "a.txt", detect.TEXT),
        ("中文".encode("utf-16"), "a.txt", detect.TEXT),
    ],
)
def test_by_content(data: bytes, name: str, expected: str) -> None:
    assert detect.detect(data, name) == expected


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.pdf", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a.png", "unsupported"),
        (bytes(range(256)) * 10, "a.txt", "unsupported"),
        (zipped("readme.txt"), "a.zip", "unsupported"),
        (zipped("books/readme.txt", "swords/", "mimetype"), "a.odt", "unsupported"),
        (zipped(zipped("word/document.xml").decode("latin-1").replace("\0", "?")), "a.zip", "unsupported"),
        (rb"{\rtf1\ansi Hello}", "a.txt", "unsupported"),
        (b'<?xml version="1.0"?>\n<FictionBook><body/></FictionBook>', "a.fb2", "unsupported"),
        (b"%!PS-Adobe-3.0\n", "a.ps", "unsupported"),
        (b"From: Ada\nMIME-Version: 1.0\nContent-Type: multipart/mixed;\n boundary=x\n\n--x", "a.eml", "unsupported"),
        (b"To: x\r\n\ty\r\nContent-Transfer-Encoding: base64\r\n\r\nQ2xvY2tz", "a", "unsupported"),
        (zipped("word/document.xml")[:40], "a.docx", "damaged"),
        (b"PK\x03\x04 cut off", "a.zip", "unsupported"),
        (b'{"a": 1}', "a.json", "unsupported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc", "unsupported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "a.docx", "encrypted"),
    ],
)
def test_what_is_not_read_says_why(data: bytes, name: str, reason: str) -> None:
    with pytest.raises(UnreadableFileError) as caught:
        detect.detect(data, name)
    assert caught.value.reason == reason


def test_wrong_suffix() -> None:
    assert detect.suffix_disagrees(detect.PDF, "book.txt")
    assert not detect.suffix_disagrees(detect.PDF, "book.PDF")
    assert not detect.suffix_disagrees(detect.TEXT, "notes.unknown")
