"""Binds a Word document: heading styles, real footnotes, numbered lists, tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from docx_styles import NUMBERING_HEAD, STYLES, W
from manuscript import Block, Book, Figure, Listing, Note, Paragraph, Table, Text, texts
from package import OFFICE_RELATIONS, OfficeFile

_TEXT_WIDTH = 6240
"""In twentieths of a point."""

_SECTION = (
    '<w:sectPr><w:pgSz w:w="8391" w:h="11906"/>'
    '<w:pgMar w:top="1440" w:right="1075" w:bottom="1440" w:left="1075" w:header="720" w:footer="720" w:gutter="0"/>'
    "</w:sectPr>"
)
_NOTE_SEPARATORS = "".join(
    f'<w:footnote w:type="{kind}" w:id="{number}"><w:p><w:r><w:{mark}/></w:r></w:p></w:footnote>'
    for number, (kind, mark) in enumerate((("separator", "separator"), ("continuationSeparator",) * 2), -1)
)
_SETTINGS = '<w:footnotePr><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>'


def bind(book: Book) -> bytes:
    file = OfficeFile(book.title, book.author)
    lists = [block for part in book.parts for block in part.all_blocks() if isinstance(block, Listing)]
    notes = [note for part in book.parts for note in part.notes]
    kinds = {"styles": STYLES, "numbering": _numbering(lists), "footnotes": _footnotes(notes), "settings": _SETTINGS}
    for kind, inside in kinds.items():
        file.add(f"word/{kind}.xml", f"wordprocessingml.{kind}", f"<w:{kind} {W}>{inside}</w:{kind}>")
    body = "".join(_body(book, lists)) + _SECTION
    document = f'<w:document {W} xmlns:r="{OFFICE_RELATIONS}"><w:body>{body}</w:body></w:document>'
    relations = [(kind, f"word/{kind}.xml") for kind in kinds]
    file.add_main("word/document.xml", "wordprocessingml.document.main", document, relations)
    return file.pack()


def _body(book: Book, lists: list[Listing]) -> Iterator[str]:
    """Dedication and preface are parts of their own: in Word the book's title is no heading above them."""
    yield _paragraph(book.front.title, "Title")
    for block in book.front.blocks:
        for text in texts(block):
            yield _paragraph(text, "Subtitle")
    for section in book.front.sections:
        yield _paragraph(section.title, "Heading1")
        yield from (_block(block, lists) for block in section.blocks)
    for chapter in book.chapters:
        yield _paragraph(chapter.title, "Heading1")
        yield from (_block(block, lists) for block in chapter.blocks)
        for section in chapter.sections:
            yield _paragraph(section.title, "Heading2")
            yield from (_block(block, lists) for block in section.blocks)


def _block(block: Block, lists: list[Listing]) -> str:
    match block:
        case Paragraph(text, quoted):
            return _paragraph(text, "Quote" if quoted else "BodyText")
        case Figure(caption):
            return _paragraph(caption, "Caption")
        case Listing(items):
            number = next(index for index, each in enumerate(lists, 1) if each is block)
            numbered = f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr>'
            return "".join(_paragraph(item, "ListParagraph", numbered) for item in items)
        case Table(caption, rows):
            title = _paragraph(caption, "Caption", "<w:keepNext/>") if caption else ""
            return title + _table(rows)
    raise TypeError(block)


def _paragraph(text: Text, style: str, properties: str = "") -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{properties}</w:pPr>{_runs(text)}</w:p>'


def _runs(text: Text) -> str:
    runs = ""
    for span in text.spans:
        if span.note:
            mark = f'<w:footnoteReference w:id="{span.note.number}"/>'
            runs += f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr>{mark}</w:r>'
        else:
            look = ("<w:b/>" if span.strong else "") + ("<w:i/>" if span.emphasis else "")
            look = f"<w:rPr>{look}</w:rPr>" if look else ""
            runs += f'<w:r>{look}<w:t xml:space="preserve">{escape(span.text)}</w:t></w:r>'
    return runs


def _table(rows: tuple[tuple[Text, ...], ...]) -> str:
    width = _TEXT_WIDTH // len(rows[0])
    grid = f'<w:gridCol w:w="{width}"/>' * len(rows[0])
    head = "<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>"
    written = ""
    for index, row in enumerate(rows):
        cells = "".join(
            f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>{_paragraph(cell, "TableText")}</w:tc>'
            for cell in row
        )
        written += f"<w:tr>{'' if index else head}{cells}</w:tr>"
    look = (
        f'<w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="{_TEXT_WIDTH}" w:type="dxa"/>'
        '<w:tblLook w:val="0020" w:firstRow="1"/></w:tblPr>'
    )
    space = '<w:p><w:pPr><w:pStyle w:val="TableText"/></w:pPr></w:p>'
    return f"<w:tbl>{look}<w:tblGrid>{grid}</w:tblGrid>{written}</w:tbl>{space}"


def _numbering(lists: Iterable[Listing]) -> str:
    """Each list is an instance of its own, so that numbers start afresh."""
    written = ""
    for number, listing in enumerate(lists, 1):
        start = f'<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{listing.first}"/></w:lvlOverride>'
        kind = f'<w:abstractNumId w:val="{0 if listing.first is None else 1}"/>'
        written += f'<w:num w:numId="{number}">{kind}{start if listing.first else ""}</w:num>'
    return NUMBERING_HEAD + written


def _footnotes(notes: Iterable[Note]) -> str:
    mark = '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteRef/></w:r>'
    space = '<w:r><w:t xml:space="preserve"> </w:t></w:r>'
    written = "".join(
        f'<w:footnote w:id="{note.number}"><w:p><w:pPr><w:pStyle w:val="FootnoteText"/></w:pPr>'
        f"{mark}{space}{_runs(note.text)}</w:p></w:footnote>"
        for note in notes
    )
    return _NOTE_SEPARATORS + written
