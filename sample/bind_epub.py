"""Binds an EPUB 3 that EPUB 2 readers can also open, with a list of the printed book's pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import escape

from bind_html import STYLE
from manuscript import Book, Chapter
from markup import Markup
from package import DATE, pack
from pages import Page, Pages

_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_CONTAINER = f"""{_XML}\
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""


@dataclass(frozen=True)
class _File:
    """A chapter's file: NAME.xhtml."""

    name: str
    chapter: Chapter
    pages: tuple[Page, ...]
    """Those that begin in it."""


def bind(book: Book, pages: Pages) -> bytes:
    identifier = uuid5(NAMESPACE_URL, book.title).urn
    files = list(_files(book, pages))
    markup = Markup(pages)
    parts = {
        "META-INF/container.xml": _CONTAINER,
        "EPUB/style.css": STYLE,
        "EPUB/book.opf": _package(book, identifier, files),
        "EPUB/nav.xhtml": _navigation(book, files),
        "EPUB/toc.ncx": _ncx(book, identifier, files),
    }
    for file in files:
        parts[f"EPUB/{file.name}.xhtml"] = _chapter(file, markup)
    return pack(parts, mimetype="application/epub+zip")


def _files(book: Book, pages: Pages) -> Iterator[_File]:
    for number, chapter in enumerate(book.parts):
        begins = tuple(page for text in chapter.texts() for _, page in pages.breaks(text))
        yield _File(f"chapter-{number:02}" if number else "front", chapter, begins)


def _document(title: str, body: str) -> str:
    return f"""{_XML}\
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="en-GB" lang="en-GB">
<head><title>{escape(title)}</title><link rel="stylesheet" type="text/css" href="style.css"/></head>
{body}
</html>
"""


def _chapter(file: _File, markup: Markup) -> str:
    kind = ("bodymatter", "chapter") if file.name != "front" else ("frontmatter", "titlepage")
    section = f'<section epub:type="{kind[1]}">\n{markup.chapter(file.chapter, file.name)}\n</section>'
    return _document(file.chapter.title.plain, f'<body epub:type="{kind[0]}">\n{section}\n</body>')


def _package(book: Book, identifier: str, files: list[_File]) -> str:
    manifest = "\n".join(
        f'<item id="{file.name}" href="{file.name}.xhtml" media-type="application/xhtml+xml"/>' for file in files
    )
    spine = "\n".join(f'<itemref idref="{file.name}"/>' for file in files)
    return f"""{_XML}\
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book-id" xml:lang="en-GB">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="book-id">{identifier}</dc:identifier>
<dc:title>{escape(book.title)}</dc:title>
<dc:creator>{escape(book.author)}</dc:creator>
<dc:language>en-GB</dc:language>
<dc:date>{DATE[:10]}</dc:date>
<dc:source id="printed">{identifier}-printed</dc:source>
<meta property="dcterms:modified">{DATE}</meta>
<meta refines="#printed" property="source-of">pagination</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">pageNavigation</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityHazard">none</meta>
<meta property="schema:accessibilitySummary">All content is text.</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="style" href="style.css" media-type="text/css"/>
{manifest}
</manifest>
<spine toc="ncx">
{spine}
</spine>
</package>
"""


def _navigation(book: Book, files: list[_File]) -> str:
    contents = "\n".join(_entry(file) for file in files)
    pages = "\n".join(
        f'<li><a href="{file.name}.xhtml#page-{page.label}">{page.label}</a></li>'
        for file in files
        for page in file.pages
    )
    body = f"""\
<body>
<nav epub:type="toc" id="toc">
<h1>Contents</h1>
<ol>
{contents}
</ol>
</nav>
<nav epub:type="page-list" hidden="">
<ol>
{pages}
</ol>
</nav>
<nav epub:type="landmarks" hidden="">
<ol>
<li><a epub:type="bodymatter" href="{files[1].name}.xhtml">Start of the text</a></li>
</ol>
</nav>
</body>"""
    return _document(book.title, body)


def _entry(file: _File) -> str:
    sections = "\n".join(
        f'<li><a href="{file.name}.xhtml#{file.name}-{index}">{escape(section.title.plain)}</a></li>'
        for index, section in enumerate(file.chapter.sections, 1)
    )
    link = f'<a href="{file.name}.xhtml">{escape(file.chapter.title.plain)}</a>'
    return f"<li>{link}<ol>\n{sections}\n</ol></li>" if sections else f"<li>{link}</li>"


def _ncx(book: Book, identifier: str, files: list[_File]) -> str:
    """The contents and pages as EPUB 2 lists them."""
    points: list[str] = []
    targets: list[str] = []
    for file in files:
        inside = "\n".join(
            _point(section.title.plain, f"{file.name}.xhtml#{file.name}-{index}")
            for index, section in enumerate(file.chapter.sections, 1)
        )
        points.append(_point(file.chapter.title.plain, f"{file.name}.xhtml", inside))
        targets += [
            f'<pageTarget id="ncx-page-{page.label}" type="{"normal" if page.label.isdigit() else "front"}"'
            f"><navLabel><text>{page.label}</text></navLabel>"
            f'<content src="{file.name}.xhtml#page-{page.label}"/></pageTarget>'
            for page in file.pages
        ]
    return f"""{_XML}\
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">
<head><meta name="dtb:uid" content="{identifier}"/></head>
<docTitle><text>{escape(book.title)}</text></docTitle>
<navMap>
{"".join(points)}</navMap>
<pageList>
<navLabel><text>Pages</text></navLabel>
{chr(10).join(targets)}
</pageList>
</ncx>
"""


def _point(title: str, target: str, inside: str = "") -> str:
    name = target.replace(".xhtml", "").replace("#", "-at-")
    label = f"<navLabel><text>{escape(title)}</text></navLabel>"
    return f'<navPoint id="ncx-{name}">{label}<content src="{target}"/>{inside}</navPoint>\n'
