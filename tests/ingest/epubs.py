"""EPUB files made by code: whole ones, and the parts of one so that a test can break it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""

METADATA = """<dc:title>The Lighthouse Log</dc:title><dc:creator id="c1">Ada Keeper</dc:creator>
<dc:creator id="c2">Ben Draughtsman</dc:creator><dc:language>en-GB</dc:language>
<meta refines="#c1" property="role">aut</meta><meta refines="#c2" property="role">ill</meta>"""


def document(body: str, head: str = "<title>t</title>") -> str:
    """A content document."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head>{head}</head><body>{body}</body></html>'
    )


def nav(contents: str, page_list: str = "", landmarks: str = "") -> str:
    """An EPUB 3 navigation document; each argument is the inside of a list."""
    lists = {"toc": contents, "page-list": page_list, "landmarks": landmarks}
    return document(
        "".join(
            f'<nav epub:type="{kind}"><h1>{kind}</h1><ol>{items}</ol></nav>' for kind, items in lists.items() if items
        )
    )


def ncx(points: str, pages: str = "") -> str:
    """An EPUB 2 contents list; the arguments are the insides of `navMap` and `pageList`."""
    return (
        f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap>{points}</navMap>'
        f"<pageList>{pages}</pageList></ncx>"
    )


def point(title: str, src: str, inside: str = "") -> str:
    """An entry of an EPUB 2 contents list."""
    return f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{src}"/>{inside}</navPoint>'


def parts(
    documents: Mapping[str, str], contents: str = "", metadata: str = METADATA, guide: str = ""
) -> dict[str, bytes]:
    """The parts of a book by name: `documents` are bodies (or whole documents) by file name, in reading order.

    `contents` is a navigation document or an NCX.
    """
    kind = "toc.ncx" if contents.startswith("<ncx") else "nav.xhtml"
    manifest = "".join(
        f'<item id="i{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(documents, 1)
    )
    if contents:
        media = 'media-type="application/x-dtbncx+xml"'
        media = media if kind == "toc.ncx" else 'media-type="application/xhtml+xml" properties="nav"'
        manifest += f'<item id="toc" href="{kind}" {media}/>'
    spine = "".join(f'<itemref id="ref{number}" idref="i{number}"/>' for number in range(1, len(documents) + 1))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:opf="http://www.idpf.org/2007/opf" version="3.0">'
        f"<metadata>{metadata}</metadata><manifest>{manifest}</manifest><spine>{spine}</spine>{guide}</package>"
    )
    files = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/book.opf": package}
    for name, body in documents.items():
        files[f"OEBPS/{name}"] = body if body.startswith("<?xml") else document(body)
    if contents:
        files[f"OEBPS/{kind}"] = contents
    return {name: text.encode() for name, text in files.items()}


def pack(files: Mapping[str, bytes]) -> bytes:
    """The parts as one file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def epub(documents: Mapping[str, str], contents: str = "", metadata: str = METADATA, guide: str = "") -> bytes:
    """A whole book."""
    return pack(parts(documents, contents, metadata, guide))


def edited(files: dict[str, bytes], name: str, old: str, new: str) -> dict[str, bytes]:
    """The parts with one text changed in one of them."""
    assert old.encode() in files[name]
    return {**files, name: files[name].replace(old.encode(), new.encode())}


def encrypted(files: dict[str, bytes], name: str, algorithm: str) -> dict[str, bytes]:
    """The parts, with one declared as encrypted."""
    return {
        **files,
        "META-INF/encryption.xml": (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
            'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
            f'<enc:EncryptionMethod Algorithm="{algorithm}"/><enc:CipherData><enc:CipherReference URI="{name}"/>'
            "</enc:CipherData></enc:EncryptedData></encryption>"
        ).encode(),
    }
