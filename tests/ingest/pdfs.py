"""PDF files made for tests, one function for each; and the page truth of what was read from one.

Well-formed pages are drawn with reportlab. What no library would write (broken, looping, bloated files) is written
byte by byte.
"""

from __future__ import annotations

import io
import random
import re
import shutil
import subprocess
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Sequence

from pypdf import PdfReader, PdfWriter
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

from chapterverse.types import Document

WIDTH, HEIGHT = 612.0, 792.0
LEFT, RIGHT, TOP, BOTTOM = 72.0, 540.0, 700.0, 90.0
PITCH = 14.0

Draw = Callable[[Canvas], None]


# --- well-formed files -----------------------------------------------------------------------------------------------


def drawn(*pages: Draw, title: str = "", author: str = "", password: str | None = None) -> bytes:
    """A file of pages, each drawn by a function."""
    out = io.BytesIO()
    encryption = StandardEncryption(password, canPrint=1) if password else None
    canvas = Canvas(out, pagesize=(WIDTH, HEIGHT), invariant=1, encrypt=encryption)
    canvas.setTitle(title)
    canvas.setAuthor(author)
    for draw in pages:
        canvas.setFont("Times-Roman", 11)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def text_at(canvas: Canvas, x: float, y: float, text: str, size: float = 11, font: str = "Times-Roman") -> None:
    canvas.setFont(font, size)
    canvas.drawString(x, y, text)


def column(canvas: Canvas, lines: Iterable[str], x: float = LEFT, y: float = TOP, size: float = 11) -> float:
    """Lines one below the other; a line that begins with a tab is indented. Returns where the next line would go."""
    for line in lines:
        text_at(canvas, x + (14 if line.startswith("\t") else 0), y, line.strip("\t"), size)
        y -= PITCH
    return y


def lines(texts: Iterable[str], y: float = TOP) -> Draw:
    """A page of lines."""

    def draw(canvas: Canvas) -> None:
        column(canvas, texts, y=y)

    return draw


def filled(text: str, width: float = RIGHT - LEFT, size: float = 11) -> list[str]:
    """Text cut into lines as wide as a column."""
    return list(simpleSplit(text, "Times-Roman", size, width))


def simple(*texts: str) -> bytes:
    """A page for each text."""
    return drawn(*(lines(filled(text)) for text in texts))


SENTENCES = (
    "The keeper of the lower tower wound the great clock every evening before the lamps were lit. "
    "Nobody in the village could remember a night when the bell had failed to strike. "
    "When the river rose in the spring of that year, the weights had to be carried up the hill by hand. "
    "A boy of eleven counted the strokes and wrote them down in a ledger bound in green cloth. "
    "The ledger is still kept in a drawer of the schoolhouse, under a map of the coast. "
)


def book(pages: int = 8, seed: int = 1) -> bytes:
    """A book in running prose: paragraphs across pages, running heads left and right, page numbers, hyphenation."""
    chance = random.Random(seed)
    words = SENTENCES.replace(".", "").lower().split()
    sentences = [" ".join(chance.choices(words, k=chance.randint(9, 22))).capitalize() + "." for _ in range(pages * 28)]
    text = "\n".join(" ".join(sentences[i : i + 4]) for i in range(0, len(sentences), 4))
    printed = [line for paragraph in text.split("\n") for line in _hyphenated("\t" + paragraph)]
    per_page = int((TOP - BOTTOM) / PITCH)

    def page(number: int) -> Draw:
        def draw(canvas: Canvas) -> None:
            head = "The Clockmaker's Ledger" if number % 2 else "Of Bells and Rivers"
            text_at(canvas, LEFT, 740, head, 9, "Times-Italic")
            text_at(canvas, 300, 50, str(number + 20), 9)
            column(canvas, printed[(number - 1) * per_page : number * per_page])

        return draw

    return drawn(*(page(number) for number in range(1, len(printed) // per_page + 1)))


def _hyphenated(paragraph: str) -> list[str]:
    """Lines of a paragraph; the first word of every third line is cut in two, as a typesetter would."""
    lines = filled(paragraph.strip("\t"), width=RIGHT - LEFT - 40)
    for index in range(1, len(lines), 3):
        first, _, rest = lines[index].partition(" ")
        if len(first) > 6 and first.isalpha():
            lines[index - 1] += f" {first[:3]}-"
            lines[index] = f"{first[3:]} {rest}"
    return [("\t" if not i and paragraph.startswith("\t") else "") + line for i, line in enumerate(lines)]


def in_columns(columns: Sequence[Sequence[str]], title: str = "", row_by_row: bool = False) -> bytes:
    """A page in columns under a title, drawn column by column or, as some programs do, row by row."""
    gap = 24.0
    width = (RIGHT - LEFT - gap * (len(columns) - 1)) / len(columns)
    laid = [filled(" ".join(lines), width=width) for lines in columns]

    def draw(canvas: Canvas) -> None:
        text_at(canvas, LEFT, 740, title, 18, "Times-Bold")
        places = [(c, r) for c, lines in enumerate(laid) for r in range(len(lines))]
        for c, r in sorted(places, key=lambda place: place[1]) if row_by_row else places:
            text_at(canvas, LEFT + c * (width + gap), TOP - r * PITCH, laid[c][r])

    return drawn(draw)


def table_rows(canvas: Canvas, rows: Sequence[Sequence[str]], xs: Sequence[float], y: float, ruled: bool) -> float:
    """A table, with or without drawn lines; a None-like empty string is an empty cell."""
    height = 18.0
    for row in rows:
        for x, cell in zip(xs, row, strict=False):
            text_at(canvas, x + 4, y - 13, cell, 10)
        y -= height
    if ruled:
        top = y + height * len(rows)
        for index in range(len(rows) + 1):
            canvas.line(xs[0], top - index * height, xs[-1], top - index * height)
        for x in xs:
            canvas.line(x, top, x, y)
    return y


def form(fields: Sequence[tuple[str, str]], drawn_values: bool = True) -> bytes:
    """A page of labels, and after them the fields with their values; programs may leave the drawing of those to us."""

    def draw(canvas: Canvas) -> None:
        column(canvas, [label for label, _ in fields])
        for row, (label, value) in enumerate(fields):
            canvas.acroForm.textfield(
                name=label, value=value, x=250, y=TOP - row * PITCH - 5, width=200, height=12, fontSize=9
            )

    data = drawn(draw)
    return data if drawn_values else data.replace(b"/AP ", b"/XX ")


def typed_on(text: str, note: str, kind: bytes = b"FreeText") -> bytes:
    """A page with a note laid over it, below its text."""
    pages = _pages([_show(text)])
    pages[3] = pages[3].replace(b"/Type /Page ", b"/Type /Page /Annots [6 0 R] ", 1)
    font = b"/Resources << /Font << /F1 3 0 R >> >>"
    drawing = b"BT /F1 9 Tf 2 5 Td (%s) Tj ET" % note.encode("latin-1")
    annotation = b"<< /Type /Annot /Subtype /%s /F 4 /Rect [72 500 400 520] /Contents (A comment) /AP << /N 7 0 R >> >>"
    shape = stream(drawing, b"/Type /XObject /Subtype /Form /BBox [0 0 328 20] " + font)
    return raw(*pages, annotation % kind, shape)


def scanned(pages: Sequence[str | None]) -> bytes:
    """Pages with a text, or for None with nothing but a picture."""
    image = b"q 500 0 0 700 50 40 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"
    contents = [image if text is None else _show(text) for text in pages]
    return raw(*_pages(contents))


# --- written byte by byte --------------------------------------------------------------------------------------------


def raw(*objects: bytes, trailer: bytes = b"") -> bytes:
    """A file of objects numbered from 1 (the catalogue), with a cross-reference table."""
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(out)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def _show(text: str) -> bytes:
    return b"BT /F1 11 Tf 72 700 Td (%s) Tj ET" % text.encode("latin-1")


_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def _pages(
    contents: Sequence[bytes], catalogue: bytes = b"", resources: bytes = b"", font: bytes = _FONT
) -> list[bytes]:
    """Catalogue (1), page tree (2), font (3), and a page and its content for each entry."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalogue,
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(contents)),
        font,
    ]
    for index, content in enumerate(contents):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> %s >> >>" % (5 + 2 * index, resources)
        )
        objects.append(stream(content))
    return objects


def mapped(*lines: str) -> bytes:
    """Lines in any script: a font whose codes are mapped to the characters, as in files of real programs.

    Each line is drawn from left to right in the order given; a character beyond the basic plane is one code.
    """
    codes = {char: 33 + index for index, char in enumerate(dict.fromkeys("".join(lines)))}
    pairs = b"".join(b"<%02x> <%s>\n" % (code, _utf16(char)) for char, code in codes.items())
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Test def /CMapType 2 def"
        b" 1 begincodespacerange <00> <ff> endcodespacerange %d beginbfchar\n%sendbfchar endcmap end end"
        % (len(codes), pairs)
    )
    shown = b" 0 -14 Td ".join(b"<%s> Tj" % b"".join(b"%02x" % codes[char] for char in line) for line in lines)
    objects = _pages(
        [b"BT /F1 11 Tf 72 700 Td " + shown + b" ET"],
        font=b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 33 /LastChar 255 /Widths [%s]"
        b" /ToUnicode 6 0 R >>" % b" ".join([b"600"] * 223),
    )
    return raw(*objects, stream(cmap))


def _utf16(char: str) -> bytes:
    return unicodedata.normalize("NFC", char).encode("utf-16-be").hex().encode()


def labelled(labels: bytes, *texts: str) -> bytes:
    """Pages with the page labels of a number tree."""
    return raw(*_pages([_show(text) for text in texts], b"/PageLabels << /Nums [%s] >>" % labels))


def outlined(entries: Sequence[tuple[str, int]], texts: Sequence[str]) -> bytes:
    """Pages with one level of bookmarks: title and page from 0."""
    objects = _pages([_show(text) for text in texts], b"/Outlines %d 0 R" % (4 + 2 * len(texts)))
    root = len(objects) + 1
    objects.append(b"<< /First %d 0 R /Last %d 0 R /Count %d >>" % (root + 1, root + len(entries), len(entries)))
    for index, (title, page) in enumerate(entries):
        following = b"/Next %d 0 R" % (root + index + 2) if index + 1 < len(entries) else b""
        objects.append(
            b"<< /Title (%s) /Parent %d 0 R /Dest [%d 0 R /Fit] %s >>"
            % (title.encode("latin-1"), root, 4 + 2 * page, following)
        )
    return raw(*objects)


def dynamic_form() -> bytes:
    """A page that only asks for another program, which would draw the form from its XML."""
    catalogue = b"/NeedsRendering true /AcroForm << /Fields [] /XFA 6 0 R >>"
    return raw(
        *_pages([_show("Please wait...")], catalogue), stream(b"<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'/>")
    )


def with_attachment(text: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(simple(text)))
    writer.add_attachment("other.pdf", simple("Another book."))
    return _written(writer)


def _written(writer: PdfWriter) -> bytes:
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def grouped(parts: Sequence[tuple[str, Sequence[str]]]) -> bytes:
    """A page for each chapter; bookmarks of the chapters point to it, and those of the parts above them nowhere."""
    chapters = [chapter for _, chapters in parts for chapter in chapters]
    writer = PdfWriter(clone_from=io.BytesIO(simple(*chapters)))
    page = 0
    for title, below in parts:
        parent = writer.add_outline_item(title, None)
        for chapter in below:
            writer.add_outline_item(chapter, page, parent=parent)
            page += 1
    return _written(writer)


# --- broken and hostile files ----------------------------------------------------------------------------------------


def zero_byte() -> bytes:
    return b""


def garbage() -> bytes:
    return random.Random(3).randbytes(5000)


def header_only() -> bytes:
    return b"%PDF-1.7\nnothing of a PDF follows\n%%EOF\n"


def encrypted(password: str = "stork") -> bytes:
    return drawn(lines(["The secret of the tower is the second key."]), password=password)


def truncated() -> bytes:
    data = book(3)
    return data[: len(data) * 2 // 3]


def broken_xref() -> bytes:
    """The cross-reference table is where the file says, but all its offsets are wrong."""
    data = raw(*_pages([_show("Read me although my table is wrong.")]))
    return re.sub(rb"(\d{10}) 00000 n", lambda match: b"%010d 00000 n" % (int(match[1]) + 7), data)


def misplaced_xref() -> bytes:
    """The file says that its cross-reference table is where it is not."""
    return re.sub(rb"startxref\n\d+", b"startxref\n7", raw(*_pages([_show("Read me although my table is lost.")])))


def flate_bomb(layers: int = 1, gigabytes: int = 2) -> bytes:
    """A content stream that inflates to gigabytes of white space, deflated once or more often."""
    deflater = zlib.compressobj(9)
    block = b" " * (1 << 24)
    head = deflater.compress(block) + deflater.flush(zlib.Z_FULL_FLUSH)
    more = deflater.compress(block) + deflater.flush(zlib.Z_FULL_FLUSH)  # repeats: a full flush forgets what was before
    content = head + more * (gigabytes * 64)
    for _ in range(layers - 1):
        content = zlib.compress(content, 9)
    objects = _pages([_show("Nobody gets here.")])
    objects[4] = stream(content, b"/Filter [%s]" % b" ".join([b"/FlateDecode"] * layers))
    return raw(*objects)


def recursive_form(times: int = 2) -> bytes:
    """A form that draws itself: once is a chain, twice is a tree that no memory holds."""
    objects = _pages([_show("Before the form.") + b" /X1 Do"], resources=b"/XObject << /X1 6 0 R >>")
    entries = b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /X1 6 0 R >> >>"
    return raw(*objects, stream(b"/X1 Do " * times, entries))


def looping_outline() -> bytes:
    """Bookmarks of which the second is followed by the first, and each is its own child."""
    objects = _pages([_show("A page with endless bookmarks.")], b"/Outlines 6 0 R")
    bookmark = b"<< /Title (Round) /Parent 6 0 R /Next %d 0 R /First %d 0 R /Dest [4 0 R /Fit] >>"
    return raw(*objects, b"<< /First 7 0 R /Last 8 0 R /Count 2 >>", bookmark % (8, 7), bookmark % (7, 8))


def many_pages(count: int = 200_000) -> bytes:
    objects = _pages([_show("The same page over and over.")])
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b"4 0 R " * count, count)
    return raw(*objects)


def looping_page_tree() -> bytes:
    """A page tree that contains itself."""
    objects = _pages([_show("A page below a tree that grows into itself.")])
    objects[1] = b"<< /Type /Pages /Kids [2 0 R 4 0 R] /Count 3 >>"
    return raw(*objects)


def no_pages() -> bytes:
    return raw(b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>")


def lost_page() -> bytes:
    """Two pages, of which the second is missing from the file."""
    objects = _pages([_show("The first page is here."), _show("never")])
    objects[5] = b"null"
    return raw(*objects)


def unmapped_font() -> bytes:
    """Text whose characters are private: it can be seen but not read."""
    return mapped("\ue001\ue002\ue003\ue004 \ue005\ue006\ue007\ue008 \ue009\ue00a\ue00b\ue00c")


HOSTILE: dict[str, Callable[[], bytes]] = {
    function.__name__: function
    for function in (
        zero_byte, garbage, header_only, encrypted, truncated, broken_xref, misplaced_xref, flate_bomb, recursive_form,
        looping_outline, many_pages, looping_page_tree, no_pages, lost_page, unmapped_font,
    )
}  # fmt: skip
"""Every broken or hostile file, by name."""


# --- page truth ------------------------------------------------------------------------------------------------------


def independent_pages(data: bytes) -> list[str]:
    """The text of each page by another extractor: poppler where it is installed, else pypdf."""
    if shutil.which("pdftotext"):
        done = subprocess.run(["pdftotext", "-", "-"], input=data, capture_output=True, check=True)
        return done.stdout.decode().split("\f")[:-1]
    return [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]


def untrue_sentences(document: Document, data: bytes, count: int = 50, seed: int = 7) -> list[str]:
    """Of so many random sentences of a document, those that another extractor does not find on the pages claimed."""
    pages = [letters(text) for text in independent_pages(data)]
    spans = [
        (block.start + match.start(), block.start + match.end())
        for block in document.blocks
        if block.kind == "paragraph"
        for match in re.finditer(r"[^.!?]{30,400}[.!?]", document.text[block.start : block.end])
    ]
    sample = random.Random(seed).sample(spans, min(count, len(spans)))
    return [document.text[start:end] for start, end in sample if not _is_true(document, start, end, pages)]


def _is_true(document: Document, start: int, end: int, pages: list[str]) -> bool:
    while document.text[start].isspace():
        start += 1
    place = document.place(start, end)
    assert place.first_page
    assert place.last_page
    first, last = (pages[(page.number or 0) - 1] for page in (place.first_page, place.last_page))
    sentence = letters(document.text[start:end])
    if place.first_page == place.last_page:
        return sentence in first
    return any(sentence[:cut] in first and sentence[cut:] in last for cut in range(1, len(sentence)))


def letters(text: str) -> str:
    """Letters and digits only: white space, hyphens and the shapes of quotation marks are matters of taste."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).casefold()
