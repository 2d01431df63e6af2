"""Reads elements into passages: one reading for HTML and EPUB, whichever parser built the tree.

A driver of `trees.py` tells the reader of every element and text in document order, so that no depth of nesting
matters. The reader keeps the passages in a list; notes find their place afterwards (`notes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chapterverse.ingest.composer import LINE_BREAK, Piece
from chapterverse.ingest.formats.equations import join_argument, root
from chapterverse.ingest.formats.markup.passages import (
    MOST_DEFINITIONS,
    Anchor,
    NoteRef,
    Passage,
    define,
    named_again,
    target,
)
from chapterverse.ingest.formats.markup.rules import (
    BLOCKS,
    KINDS,
    NOTE_TYPES,
    dropped,
    list_marker,
    numbering,
    page_label,
    tokens,
)
from chapterverse.ingest.formats.markup.table import Table
from chapterverse.ingest.formats.pictures import told
from chapterverse.ingest.formats.powers import raise_power
from chapterverse.types import BlockKind, Page

_LONGEST_REFERENCE = 12
_LONGEST_LABEL = 20
"""Characters of a page mark; more are words of the book."""
_DEEPEST_CFI = 256
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(slots=True)
class _Frame:
    """An open element."""

    tag: str
    step: str = ""
    block: bool = False
    block_depth: int = 0
    """How deep the innermost open block stands: this element, if it is one."""
    kind: BlockKind = "paragraph"
    heading: _Heading | None = None
    math: bool = False
    begin: int = 0
    """Of an element of an equation: how many pieces of the passage stood before it."""
    arguments: int = 0
    anchor: Anchor | None = None
    counter: Callable[[Mapping[str, str]], str] | None = None
    cut: _Cut | None = None
    entry: str = ""
    """Which part of a glossary's entry this is or stands in: "dt", "dd", or none."""


@dataclass(slots=True)
class _Heading:
    level: int


@dataclass(slots=True)
class _Cut:
    """A point of the buffer from which a link's, page mark's or power's text is taken back when its element closes."""

    passages: int
    pieces: int
    inked: bool
    target: str = ""
    is_note: bool = False
    is_page: bool = False
    is_raised: bool = False
    label: str = ""


class MarkupReader:
    """Hears of elements in document order and collects passages; one reader may read many documents of a book."""

    def __init__(self, page_labels: Mapping[str, str] | None = None) -> None:
        self.passages: list[Passage] = []
        self.anchors: dict[str, Anchor] = {}
        self.repeated_ids: set[str] = set()
        self._page_labels = page_labels or {}
        self._base = ""
        self._cfi: str | None = None
        self._anchor_log: list[Anchor] = []
        self._frames = [_Frame("", block=True)]
        self._tables: list[Table] = []
        self._buffer: list[Piece | NoteRef] = []
        self._inked = False
        self._pictures: list[str] = []
        """What is told of the pictures since the last passage."""
        self._marker = ""
        self._terms = 0
        """How many of the last passages are terms that wait for their definition."""
        self._terms_anchors = 0
        self._defined: list[Passage] = []
        """Terms that have a definition and may get another."""
        self._definitions = 0
        self._defines_again = False

    def begin(self, base: str, cfi: str | None = None) -> None:
        """A document named `base` begins; `cfi` is the path of its item in the spine."""
        self._base, self._cfi = base, cfi
        if label := self._page_labels.get(base):
            self._buffer.append(Page(label=label))

    def end(self) -> None:
        """The document ends; page marks that no text followed belong to the next one."""
        self._flush()

    def text(self, text: str | None) -> None:
        if not text or (self._frames[-1].math and text.isspace()):
            return
        self._buffer.append(text)
        self._inked = self._inked or not text.isspace()

    def open(self, tag: str, attributes: Mapping[str, str], step: str) -> bool:
        """An element opens; False if its content is to be passed over (it is then not closed either)."""
        types = tokens(attributes)
        parent = self._frames[-1]
        if dropped(tag, attributes, types, in_heading=parent.heading is not None):
            return False
        frame = _Frame(tag, step, kind=KINDS.get(tag, parent.kind), heading=parent.heading)
        frame.block_depth, frame.math, frame.begin = parent.block_depth, parent.math or tag == "math", len(self._buffer)
        frame.entry = tag if tag in ("dt", "dd") else parent.entry
        if types & NOTE_TYPES:
            frame.kind = "footnote"
        if parent.heading is not None:
            self._inside_heading(frame, parent)
        elif tag in BLOCKS:
            if tag == "figcaption":  # it tells what the picture shows
                self._pictures.clear()
            self._flush()
            frame.block, frame.block_depth = True, len(self._frames)
            self._open_block(frame, parent, attributes)
        frame.anchor = self._anchor(attributes)
        self._frames.append(frame)
        self._open_inline(frame, parent, attributes, types)
        return True

    def close(self) -> None:
        """The innermost open element ends."""
        frame = self._frames[-1]
        if frame.cut is not None:
            self._close_cut(frame.cut)
        if frame.tag == "q":
            self.text("”")
        elif frame.math:
            self._close_math(frame, self._frames[-2])
        if frame.block:
            self._flush()
            self._close_block(frame)
            if frame.anchor is not None:
                frame.anchor.end = len(self.passages)
        elif frame.tag in BLOCKS:
            self._buffer.append(" ")
        self._frames.pop()

    def _close_math(self, frame: _Frame, parent: _Frame) -> None:
        if frame.begin > len(self._buffer):  # a block has begun inside, as none should
            return
        if frame.tag == "msqrt":
            root(self._buffer, frame.begin)
        parent.arguments += 1
        join_argument(parent.tag, parent.arguments, self._buffer, frame.begin)

    def _inside_heading(self, frame: _Frame, parent: _Frame) -> None:
        """Blocks inside a heading are one line; the parts of a heading group are told apart by a colon."""
        if frame.tag not in BLOCKS:
            return
        if parent.tag == "hgroup" and self._inked:
            while isinstance(last := self._buffer[-1], str) and last.isspace():
                self._buffer.pop()
            ends_open = isinstance(last, str) and last.rstrip()[-1:].isalnum()
            self._buffer.append(": " if ends_open else " ")
        else:
            self._buffer.append(" ")
        if parent.heading is not None and (level := _heading_level(frame.tag)):
            parent.heading.level = min(parent.heading.level, level)

    def _open_block(self, frame: _Frame, parent: _Frame, attributes: Mapping[str, str]) -> None:
        tag = frame.tag
        if (level := _heading_level(tag)) or tag == "hgroup":
            frame.heading = _Heading(level or 6)
        elif tag in ("ol", "ul", "menu"):
            frame.counter = numbering(tag, attributes)
        elif tag == "li":
            self._marker += parent.counter(attributes) if parent.counter else list_marker("ul", 0)
        elif tag == "dl":
            self._terms, self._defined = 0, []
        elif tag == "dt" and not self._terms:
            self._terms_anchors, self._definitions, self._defined = len(self._anchor_log), 0, []
        elif tag == "dd":
            self._definitions += 1
            self._defines_again = bool(self._defined) and self._definitions <= MOST_DEFINITIONS
        elif tag == "table":
            if self._tables:
                self._tables[-1].open_table()
            self._tables.append(Table(len(self.passages), len(self._anchor_log), attributes))
        elif self._tables and tag in ("thead", "tbody", "tfoot"):
            self._tables[-1].open_group()
        elif self._tables and tag == "tr":
            self._tables[-1].open_row(parent.tag == "thead")
        elif self._tables and tag in ("td", "th"):
            self._tables[-1].open_cell(len(self.passages), attributes, tag == "th")

    def _close_block(self, frame: _Frame) -> None:
        if frame.tag == "li":
            self._marker = ""
        elif frame.tag == "dd":
            self._terms = 0
        elif frame.tag == "dl":
            self._defined = []
        elif self._tables and frame.tag in ("td", "th"):
            self._tables[-1].close_cell(len(self.passages))
        elif frame.tag == "table":
            self._close_table(self._tables.pop())

    def _close_table(self, table: Table) -> None:
        """A table of data becomes one passage; one that only lays out a page leaves its passages as they are."""
        captions, pieces = table.fuse(self.passages)
        if pieces is None:
            return
        self.passages[table.start :] = [*captions, Passage("table", pieces, cfi=self._place(len(self._frames) - 1))]
        last = len(self.passages) - 1
        for anchor in self._anchor_log[table.anchors :]:
            anchor.start, anchor.end, anchor.opens = min(anchor.start, last), min(anchor.end, last + 1), False

    def _open_inline(self, frame: _Frame, parent: _Frame, attributes: Mapping[str, str], types: frozenset[str]) -> None:
        label = self._page_label(attributes)
        if "pagebreak" in types:
            frame.cut = self._cut(is_page=True, label=label or page_label(attributes))
        elif label:
            self._buffer.append(Page(label=label))
        elif frame.tag == "a" and "#" in attributes.get("href", ""):
            is_note = "noteref" in types or parent.tag == "sup"
            frame.cut = self._cut(target=target(self._base, attributes["href"]), is_note=is_note)
        elif frame.tag == "sup" and parent.cut is not None:
            parent.cut.is_note = bool(parent.cut.target)
        elif frame.tag == "sup" and "noteref" not in types:
            frame.cut = self._cut(is_raised=True)
        elif frame.tag == "br":
            self._buffer.append(LINE_BREAK)
        elif frame.tag == "img" and (words := told(attributes.get("alt", ""))):
            self._pictures.append(words)
        elif frame.tag == "q":
            self.text("“")

    def _cut(
        self,
        target: str = "",
        is_note: bool = False,
        is_page: bool = False,
        is_raised: bool = False,
        label: str = "",
    ) -> _Cut:
        return _Cut(len(self.passages), len(self._buffer), self._inked, target, is_note, is_page, is_raised, label)

    def _close_cut(self, cut: _Cut) -> None:
        if cut.passages != len(self.passages) or not (cut.is_page or cut.is_note or cut.is_raised):
            return
        text = "".join(str(piece) for piece in self._buffer[cut.pieces :] if not isinstance(piece, Page))
        if cut.is_page and len(text.strip()) <= _LONGEST_LABEL:
            del self._buffer[cut.pieces :]
            self._inked = cut.inked
            if label := cut.label or page_label({"title": text}):
                self._buffer.append(Page(label=label))
        elif cut.is_raised:
            raise_power(self._buffer, cut.pieces)
        elif 0 < len(text.strip()) <= _LONGEST_REFERENCE:
            self._buffer[cut.pieces :] = [NoteRef(text, cut.target)]

    def _page_label(self, attributes: Mapping[str, str]) -> str:
        name = _identifier(attributes) if self._page_labels else ""
        return self._page_labels.get(f"{self._base}#{name}", "") if name else ""

    def _anchor(self, attributes: Mapping[str, str]) -> Anchor | None:
        name = _identifier(attributes)
        if not name:
            return None
        key = f"{self._base}#{name}"
        if key in self.anchors:
            self.repeated_ids.add(name)
            return None
        anchor = Anchor(len(self.passages), len(self.passages) + 1, opens=not self._inked)
        self.anchors[key] = anchor
        self._anchor_log.append(anchor)
        return anchor

    def _flush(self) -> None:
        """What stands in the buffer becomes a passage of the innermost block."""
        shown, self._pictures = " ".join(self._pictures), []
        if not self._inked:
            self._buffer = [piece for piece in self._buffer if isinstance(piece, Page)]
            if not shown:
                return
            self._buffer.append(shown)
        depth = self._frames[-1].block_depth
        frame = self._frames[depth]
        kind: BlockKind = frame.kind if self._inked or frame.kind == "list" else "caption"
        passage = Passage(kind, self._buffer, cfi=self._place(depth))
        if frame.heading is not None:
            passage.kind, passage.level = "heading", frame.heading.level
        elif frame.kind != "code":
            passage.marker = self._marker
        self._place_entry(frame, passage)
        self._buffer, self._inked, self._marker = [], False, ""

    def _place_entry(self, frame: _Frame, passage: Passage) -> None:
        """A passage goes behind the others; one that defines the terms before it becomes one with them."""
        plain = passage.kind == "list"
        defines = frame.entry == "dd" and plain and not passage.marker
        if defines and self._defines_again and (terms := named_again(self._defined, passage)):
            passage = define(terms, passage)
        elif defines and self._terms:
            self._defined = self.passages[-self._terms :]
            passage = define(self._defined, passage)
            del self.passages[-self._terms :]
            place = len(self.passages)
            for anchor in self._anchor_log[self._terms_anchors :]:
                anchor.start, anchor.end = min(anchor.start, place), min(anchor.end, place + 1)
        self._defines_again = False
        self._terms = self._terms + 1 if frame.entry == "dt" and plain else 0
        self.passages.append(passage)

    def _place(self, depth: int) -> str | None:
        """The EPUB CFI of the element at `depth`."""
        if self._cfi is None or depth > _DEEPEST_CFI:
            return None
        return f"epubcfi({self._cfi}!{''.join(frame.step for frame in self._frames[: depth + 1])})"


def _identifier(attributes: Mapping[str, str]) -> str:
    return attributes.get("id") or attributes.get("name") or ""


def _heading_level(tag: str) -> int:
    return int(tag[1]) if tag in _HEADINGS else 0
