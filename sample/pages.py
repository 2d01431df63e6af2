"""The printed book: the look of each kind of block, the pages, and what page every place of the manuscript is on."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

from manuscript import Block, Book, Chapter, Figure, Listing, Note, Paragraph, Section, Span, Table, Text
from typeset import Line, Style, natural_width, set_row, set_text

WIDTH = 312.0
HEIGHT = 432.0
"""Of the text on a page, in points."""

NOTES_GAP = 14.0
_MIDDLE_PAGE = 120.0

_TITLE = Style(26, 32, align="center", before=_MIDDLE_PAGE, keep=True)
_TITLE_PAGE = Style(13, 19, align="center", left=36, right=36, before=24)
_DEDICATION = Style(12, 18, italic=True, align="center", left=30, right=30, before=_MIDDLE_PAGE)
_CHAPTER = Style(20, 26, align="left", before=48, keep=True)
_SECTION = Style(13, 18, bold=True, align="left", before=16, keep=True)
_FIRST = Style(before=8)
_BODY = Style(indent=16)
_QUOTE = Style(size=11, leading=15, left=20, right=20, before=6)
_ITEM = Style(left=28, before=2)
_MARKER = 14.0
_CAPTION = Style(10, 13, italic=True, align="left", left=16, right=16, before=12, keep=True)
_CELL = Style(9.5, 13, align="left", keep=True)
_HEAD = replace(_CELL, bold=True)
_GUTTER = 10.0
_NOTE = Style(9, 11.5)
_ENTRY = Style(align="left", before=6)


@dataclass(eq=False)
class Page:
    lines: list[Line] = field(default_factory=list)
    notes: list[Line] = field(default_factory=list)
    number: int = 0
    """Counted from 1 through the file."""
    label: str = ""
    """As printed: roman in the front matter."""
    part: str = ""
    """The title of the part of the book that it belongs to."""

    opens: bool = False
    """Whether that part begins here; the page then has no running head, and white space above its title."""

    @property
    def height(self) -> float:
        height = sum(line.before + line.height for line in (*self.lines, *self.notes))
        if not self.opens:
            height -= self.lines[0].before
        return height + (NOTES_GAP if self.notes else 0)


class Pages:
    """All pages of the book, and the way from a place in the manuscript to its page."""

    def __init__(self, front: list[Page], body: list[Page]) -> None:
        self.front, self.body = front, body
        self._starts: dict[Text, list[tuple[int, Page]]] = defaultdict(list)
        for number, page in enumerate(self, 1):
            page.number = number
            page.label = _roman(number) if number <= len(front) else str(number - len(front))
            if page.height > HEIGHT:
                raise ValueError(f"lines that must stay together do not fit on page {page.label}")
            for line in (*page.lines, *page.notes):
                for text, offset in line.starts:
                    self._starts[text].append((offset, page))

    def __iter__(self) -> Iterator[Page]:
        return chain(self.front, self.body)

    def page_of(self, text: Text, offset: int) -> Page:
        starts = self._starts[text]
        return starts[bisect_right(starts, offset, key=lambda start: start[0]) - 1][1]

    def breaks(self, text: Text) -> Iterator[tuple[int, Page]]:
        """The pages that begin in this text, each with the offset of its first character."""
        for page in dict.fromkeys(page for _, page in self._starts[text]):
            first, offset = page.lines[0].starts[0]
            if first is text:
                yield offset, page


def lay_out(book: Book) -> Pages:
    """Set the whole book. The chapters' page numbers do not depend on the front matter, so the contents come last."""
    body: list[Page] = []
    entries: list[tuple[str, int]] = []
    for chapter in book.chapters:
        entries.append((chapter.title.plain, len(body) + 1))
        body += _fill(_chapter(chapter), chapter.short_title)
    return Pages(_front(book, entries), body)


def _front(book: Book, entries: list[tuple[str, int]]) -> list[Page]:
    """Title page, dedication, contents, preface."""
    title_page = [*_heading(book.front.title, _TITLE, 1)]
    for block in book.front.blocks:
        title_page += _block(block, _TITLE_PAGE)
    *before, preface = book.front.sections
    pages = _fill(title_page, book.title)
    for section in before:
        pages += _fill(_front_section(section, _DEDICATION), section.title.plain)
    preface_label = _roman(len(pages) + 2)
    contents = _contents([(preface.title.plain, preface_label), *((title, str(page)) for title, page in entries)])
    pages += _fill(contents, "Contents")
    return pages + _fill(_front_section(preface, None), preface.title.plain)


def _front_section(section: Section, style: Style | None) -> Iterator[Line]:
    yield from _heading(section.title, _CHAPTER, 2)
    yield from _blocks(section.blocks, style)


def _contents(entries: list[tuple[str, str]]) -> Iterator[Line]:
    yield from _heading(_plain("Contents"), _CHAPTER, 2)
    for title, label in entries:
        line = set_text(_plain(title), _ENTRY, WIDTH)[0]
        number = set_text(_plain(label), _ENTRY, WIDTH)[0].segments[0]
        at = WIDTH - natural_width(_plain(label), _ENTRY)
        yield replace(line, segments=(*line.segments, replace(number, x=at)))


def _chapter(chapter: Chapter) -> Iterator[Line]:
    yield from _heading(chapter.title, _CHAPTER, 1)
    yield from _blocks(chapter.blocks)
    for section in chapter.sections:
        yield from _heading(section.title, _SECTION, 2)
        yield from _blocks(section.blocks)


def _heading(text: Text, style: Style, level: int) -> list[Line]:
    first, *rest = set_text(text, style, WIDTH)
    return [replace(first, outline=level), *rest]


def _blocks(blocks: Iterable[Block], style: Style | None = None) -> Iterator[Line]:
    """Paragraphs after the first are indented, unless something other than a paragraph stands between."""
    follows = False
    for block in blocks:
        yield from _block(block, style or (_BODY if follows else _FIRST))
        follows = isinstance(block, Paragraph) and not block.quoted


def _block(block: Block, style: Style) -> list[Line]:
    match block:
        case Paragraph(text, quoted):
            return set_text(text, _QUOTE if quoted else style, WIDTH)
        case Figure(caption):
            return set_text(caption, replace(_CAPTION, keep=False), WIDTH)
        case Listing(items):
            return [line for index, item in enumerate(items) for line in _item(item, block.marker(index))]
        case Table(caption, rows):
            return [*(set_text(caption, _CAPTION, WIDTH) if caption else ()), *_table(rows)]


def _item(text: Text, marker: str) -> list[Line]:
    first, *rest = set_text(text, _ITEM, WIDTH)
    mark = set_text(_plain(marker), _ITEM, WIDTH)[0].segments[0]
    return [replace(first, segments=(replace(mark, x=_MARKER), *first.segments)), *rest]


def _table(rows: tuple[tuple[Text, ...], ...]) -> list[Line]:
    """Ruled below the head and at the end; a table is never divided."""
    columns = _columns(rows)
    lines: list[Line] = []
    for index, row in enumerate(rows):
        set_lines = set_row(row, _CELL if index else _HEAD, columns)
        if index in (0, len(rows) - 1):
            set_lines[-1] = replace(set_lines[-1], ruled=True)
        lines += set_lines
    lines[0] = replace(lines[0], before=4)
    lines[-1] = replace(lines[-1], keep=False)
    return lines


def _columns(rows: tuple[tuple[Text, ...], ...]) -> list[tuple[float, float]]:
    """Place and width of each column: its natural width where there is room, else the widest give way.

    Space that is left over goes between the columns.
    """
    wanted = [
        max(natural_width(cell, _CELL if index else _HEAD) for index, cell in enumerate(column)) + 1
        for column in zip(*rows, strict=True)
    ]
    room = WIDTH - _GUTTER * (len(wanted) - 1)
    limit = max(wanted)
    while sum(min(width, limit) for width in wanted) > room:
        limit -= 1
    widths = [min(width, limit) for width in wanted]
    step = (room - sum(widths)) / max(len(widths) - 1, 1) + _GUTTER
    return [(sum(widths[:index]) + step * index, width) for index, width in enumerate(widths)]


def _fill(lines: Iterable[Line], part: str) -> list[Page]:
    """Fill pages with lines, and the foot of each page with the notes that its lines refer to."""
    pages: list[Page] = []
    page = Page(part=part, opens=True)
    for group in _groups(lines):
        notes = [line for each in group for note in each.notes for line in _note(note)]
        longer = replace(page, lines=page.lines + group, notes=page.notes + notes)
        if longer.height > HEIGHT:
            pages.append(page)
            longer = Page(group, notes, part=part)
        page = longer
    return [*pages, page]


def _groups(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Lines that stay together on a page."""
    group: list[Line] = []
    for line in lines:
        group.append(line)
        if not line.keep:
            yield group
            group = []


def _note(note: Note) -> list[Line]:
    lines = set_text(Text((Span("", note=note), Span(" "), *note.text.spans)), _NOTE, WIDTH)
    return [replace(line, starts=((note.text, max(0, line.starts[0][1] - 1)),), notes=()) for line in lines]


def _plain(text: str) -> Text:
    return Text((Span(text),))


def _roman(number: int) -> str:
    numeral = ""
    for value, digits in ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
        numeral += digits * (number // value)
        number %= value
    return numeral
