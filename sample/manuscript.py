"""The manuscript: Markdown chapters become one typographic source and one small tree that every binding walks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

_NOTE_MARK = re.compile(r"\[\^(\w+)\]")
_NOTE_TEXT = re.compile(r"^\[\^(\w+)\]: (.+)\n?", re.MULTILINE)
_CAPTION = re.compile(r"(Figure|Table) \d+\.\d+\. ")
_MARKDOWN = MarkdownIt("commonmark").enable("table")
_BYLINE = re.compile(r"by ([^,]+)")
_OPENING_DOUBLE = re.compile(r'(?<![^\s(*|])"(?=[\w*£])')
_OPENING_SINGLE = re.compile(r"(?<![^\s(*|“])'(?=[\w*£])")


@dataclass(frozen=True)
class Span:
    """Characters of one style, or (with no characters) the mark of a footnote."""

    text: str
    emphasis: bool = False
    strong: bool = False
    note: Note | None = None


@dataclass(frozen=True, eq=False)
class Text:
    """A run of prose. Compared by identity: a place in the book is a `Text` and an offset in its `plain` characters."""

    spans: tuple[Span, ...]

    @cached_property
    def plain(self) -> str:
        return "".join(span.text for span in self.spans)

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(span.note for span in self.spans if span.note)


@dataclass(frozen=True, eq=False)
class Note:
    """A footnote, numbered through the whole book."""

    number: int
    text: Text


@dataclass(frozen=True)
class Paragraph:
    text: Text
    quoted: bool = False


@dataclass(frozen=True)
class Listing:
    """A list of one level; `first` is the number of its first item, or None when it has bullets."""

    items: tuple[Text, ...]
    first: int | None = None

    def marker(self, index: int) -> str:
        return "–" if self.first is None else f"{self.first + index}."


@dataclass(frozen=True)
class Figure:
    """A figure of which this edition prints the caption."""

    caption: Text


@dataclass(frozen=True)
class Table:
    caption: Text | None
    rows: tuple[tuple[Text, ...], ...]
    """The first row is the head."""


Block = Paragraph | Listing | Figure | Table


@dataclass(frozen=True)
class Section:
    title: Text
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Chapter(Section):
    """Its own blocks are those before its first section."""

    sections: tuple[Section, ...]

    @property
    def short_title(self) -> str:
        """The title without "Chapter N:", for running heads."""
        return self.title.plain.split(": ", 1)[-1]

    def texts(self) -> Iterator[Text]:
        """All prose in reading order; the text of a footnote follows the text that refers to it."""
        for part in (self, *self.sections):
            yield part.title
            for text in (text for block in part.blocks for text in texts(block)):
                yield text
                yield from (note.text for note in text.notes)

    def all_blocks(self) -> Iterator[Block]:
        for part in (self, *self.sections):
            yield from part.blocks

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(note for text in self.texts() for note in text.notes)


@dataclass(frozen=True)
class Book:
    markdown: str
    front: Chapter
    """The title page is its title and blocks; dedication and preface are its sections."""
    chapters: tuple[Chapter, ...]

    @property
    def parts(self) -> tuple[Chapter, ...]:
        """Front matter and chapters."""
        return (self.front, *self.chapters)

    @property
    def title(self) -> str:
        return self.front.title.plain

    @property
    def author(self) -> str:
        for block in self.front.blocks:
            if isinstance(block, Paragraph) and (byline := _BYLINE.match(block.text.plain)):
                return byline[1]
        raise ValueError("the title page has no line 'by AUTHOR'")


def texts(block: Block) -> Iterator[Text]:
    """The prose of a block in reading order."""
    match block:
        case Paragraph(text):
            yield text
        case Listing(items):
            yield from items
        case Figure(caption):
            yield caption
        case Table(caption, rows):
            if caption:
                yield caption
            for row in rows:
                yield from row


def read(folder: Path) -> Book:
    """Read the chapter files in the order of their names; the first one is the front matter."""
    sources: list[str] = []
    notes = 0
    for path in sorted(folder.glob("*.md")):
        source, notes = _renumber(typographic(path.read_text("utf-8").strip()), notes)
        sources.append(source)
    front, *chapters = (_chapter(source) for source in sources)
    return Book("\n\n".join(sources) + "\n", front, tuple(chapters))


def typographic(source: str) -> str:
    """Typewriter quotation marks become a printer's."""
    source = _OPENING_SINGLE.sub("‘", _OPENING_DOUBLE.sub("“", source))
    return source.replace('"', "”").replace("'", "’")


def _renumber(source: str, last: int) -> tuple[str, int]:
    """Number a chapter's footnotes on from the last of the chapter before, in the order of their marks."""
    body = _NOTE_TEXT.sub("", source)
    labels = [mark[1] for mark in _NOTE_MARK.finditer(body)]
    texts_of = {note[1] for note in _NOTE_TEXT.finditer(source)}
    if len(labels) != len(set(labels)) or set(labels) != texts_of:
        raise ValueError(f"footnote marks {labels} and texts {sorted(texts_of)} do not pair")
    numbers = {label: last + index for index, label in enumerate(labels, 1)}
    return _NOTE_MARK.sub(lambda mark: f"[^{numbers[mark[1]]}]", source), last + len(labels)


def _chapter(source: str) -> Chapter:
    notes: dict[int, Note] = {}
    for label, text in _NOTE_TEXT.findall(source):
        notes[int(label)] = Note(int(label), _text(_tree(text).children[0], {}))
    parts: list[tuple[Text, list[Block]]] = []
    for node in _tree(_NOTE_TEXT.sub("", source)).children:
        if node.type == "heading":
            parts.append((_text(node, notes), []))
        else:
            _append(parts[-1][1], node, notes)
    (title, blocks), *sections = parts
    return Chapter(title, tuple(blocks), tuple(Section(name, tuple(inside)) for name, inside in sections))


def _tree(source: str) -> SyntaxTreeNode:
    return SyntaxTreeNode(_MARKDOWN.parse(source))


def _append(blocks: list[Block], node: SyntaxTreeNode, notes: dict[int, Note]) -> None:
    """Add what a Markdown block says; a table takes the caption that stands before it."""
    match node.type:
        case "paragraph":
            text = _text(node, notes)
            blocks.append(Figure(text) if _CAPTION.match(text.plain) else Paragraph(text))
        case "blockquote":
            blocks.extend(Paragraph(_text(child, notes), quoted=True) for child in node.children)
        case "bullet_list" | "ordered_list":
            first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
            blocks.append(Listing(tuple(_text(item.children[0], notes) for item in node.children), first))
        case "table":
            rows = tuple(
                tuple(_text(cell, notes) for cell in row.children) for part in node.children for row in part.children
            )
            caption = None
            if blocks and isinstance(last := blocks[-1], Figure) and last.caption.plain.startswith("Table"):
                caption = last.caption
                blocks.pop()
            blocks.append(Table(caption, rows))
        case other:
            raise ValueError(f"the manuscript uses {other!r}, which the bindings do not know")


def _text(node: SyntaxTreeNode, notes: dict[int, Note]) -> Text:
    """The prose of a heading, paragraph or cell. A caption is set in italics as a whole, so its emphasis is dropped."""
    spans = list(_spans(node.children[0].children, notes)) if node.children else []
    if _CAPTION.match(spans[0].text if spans else ""):
        spans = [Span(span.text, note=span.note) for span in spans]
    return Text(tuple(spans))


def _spans(
    nodes: list[SyntaxTreeNode], notes: dict[int, Note], emphasis: bool = False, strong: bool = False
) -> Iterator[Span]:
    for node in nodes:
        match node.type:
            case "text":
                for index, part in enumerate(_NOTE_MARK.split(node.content)):
                    if index % 2:
                        yield Span("", note=notes[int(part)])
                    elif part:
                        yield Span(part, emphasis, strong)
            case "softbreak":
                yield Span(" ", emphasis, strong)
            case "em":
                yield from _spans(node.children, notes, True, strong)
            case "strong":
                yield from _spans(node.children, notes, emphasis, True)
            case other:
                raise ValueError(f"the manuscript uses {other!r}, which the bindings do not know")
