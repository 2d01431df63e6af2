"""Composes a document's canonical text: readers of formats say what they see, this keeps offsets and outline true."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from chapterverse.errors import UnreadableFileError
from chapterverse.types import KEPT_BREAK, Block, BlockKind, Document, Notice, Page, PageStart

Piece = str | Page
"""Text, or the mark of a page that begins at this point of it."""

LINE_BREAK = "\x1e"
"""What a reader of a format puts where the author ends a line (verse, an address); a line feed is but a space."""

_BREAKING_KINDS: frozenset[BlockKind] = frozenset({"paragraph", "list", "quote", "footnote"})

_MAX_WARNINGS = 50
"""No reader looks at more; a hostile file could have one for each of its bytes."""

_MAX_BLOCKS = 2_000_000
"""Each takes far more memory than the bytes that make it; a hundred megabytes of prose have half as many."""

_INVISIBLE = re.compile(r"[\u00ad\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_BLANK = re.compile(r"[^\S\n]")
_LONGEST_HEADING = 250
"""What is longer is prose that some markup calls a heading."""
_BLANKS = re.compile(r"[^\S\n]+")
_SPACES = re.compile(r"\s+")
_AROUND_BREAKS = re.compile(r" ?(?:\n ?)+")
_LINE_ENDS = re.compile(r"(?<! ) +\n")
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
_STACK = re.compile(r"(?<![^\w\s\x00-\x7f])[^\w\s\x00-\x7f]{100,}")
"""More marks and symbols in a row than any letter carries accents."""

_NUMBER = re.compile(r"(?:[^\W\d_]+ )?((?:[A-Z]|[0-9]+)(?:\.[0-9]+){0,8})\.?(?![\w.])")
"""A heading's number, alone or after one word. Deeper ones no book has, but a hostile file could."""

_NO_TITLE = re.compile(
    r"(?:(?:table of )?contents|preface|foreword|acknowledge?ments?|prologue)\W*"
    r"|(?:chapter|part|book|letter|canto|act)\s+(?:[0-9]+|[ivxlc]+|(?:the )?first|one)\W*",
    re.IGNORECASE,
)
"""Headings that a book may begin with, and that name a part of it."""


def clean(text: str, kind: BlockKind = "heading") -> str:
    """Canonical characters: composed (NFC), no invisible ones, white space folded as far as the kind allows."""
    if LINE_BREAK in text:
        if kind in _BREAKING_KINDS:
            return _AROUND_BREAKS.sub(KEPT_BREAK, "\n".join(map(clean, text.split(LINE_BREAK))))
        text = text.replace(LINE_BREAK, " " if kind == "table" else "\n")
    text = _composed(_INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    if kind == "code":
        return _LINE_ENDS.sub("\n", _BLANK.sub(" ", text.expandtabs(4)))
    if kind == "notes":
        return _LINE_ENDS.sub("\n", _BLANKS.sub(" ", text))
    return (_BLANKS if kind == "table" else _SPACES).sub(" ", text)


def _composed(text: str) -> str:
    """Unicode NFC. Putting accents in order takes square time in their number, so endless piles of them go first."""
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", _STACK.sub(_without_accents, text))


def _without_accents(stack: re.Match[str]) -> str:
    return "".join(char for char in stack.group() if not unicodedata.combining(char))


def _is_under(title: str, other: str) -> bool:
    """Whether a title's number goes on from another's, as "Strategy 1.1.1" does from "1.1 Emissions"."""
    number, above = _NUMBER.match(title), _NUMBER.match(other)
    return bool(number and above and number[1].startswith(above[1] + "."))


class Composer:
    """Collects blocks in reading order. Metadata are plain attributes that a reader sets when it finds them."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.author: str | None = None
        self.language: str | None = None
        self.page_count: int | None = None
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._pages: list[PageStart] = []
        self._path: list[tuple[int, str]] = []
        self._slide: int | None = None
        self._next_page: Page | None = None
        self._warnings: dict[str, None] = {}

    @property
    def empty(self) -> bool:
        return not self._blocks

    @property
    def headings(self) -> tuple[str, ...]:
        """The outline path in force."""
        return tuple(title for _, title in self._path)

    def warn(self, reason: str) -> None:
        """Report something a user should know about the file; saying it twice is saying it once."""
        self._warnings[reason] = None

    def page(self, number: int | None = None, label: str | None = None) -> None:
        """A new page begins with whatever is added next."""
        self._next_page = Page(number, label)

    def slide(self, number: int) -> None:
        """A new slide begins: its outline starts afresh."""
        self._slide = number
        self._path.clear()

    def heading(self, text: str | Iterable[Piece], level: int, cfi: str | None = None, title: str = "") -> None:
        """A heading opens a new place in the outline; level 1 is a chapter. Its `title` there may lack its notes."""
        pieces: list[Piece] = [text] if isinstance(text, str) else list(text)
        printed = "".join(piece for piece in pieces if isinstance(piece, str))
        title = clean(title).strip() or clean(printed).strip()
        if not title:
            return
        if len(title) > _LONGEST_HEADING:
            self.add("paragraph", pieces, cfi)
            return
        self._close(title, level)
        while self._path and self._path[-1][1] == title:
            self._path.pop()
        self._path.append((level, title))
        self.add("heading", pieces, cfi)

    def section(self, title: str, level: int) -> None:
        """Open a place in the outline that the text itself does not print (an EPUB contents entry, say)."""
        title = clean(title).strip()
        self._close(title, level)
        if title:
            self._path.append((level, title))

    def add(self, kind: BlockKind, text: str | Iterable[Piece], cfi: str | None = None) -> None:
        """Add a block; `Page` marks among the pieces say where in it a page begins. Blank text adds nothing."""
        pieces: list[Piece] = [text] if isinstance(text, str) else list(text)
        content, marks = _join(pieces, kind)
        if not content:
            if marks:
                self._next_page = marks[-1][1]
            return
        if len(self._blocks) == _MAX_BLOCKS:
            raise UnreadableFileError("bomb", f"The file holds more than {_MAX_BLOCKS:,} paragraphs.")
        if self._blocks:
            tight = kind == "list" == self._blocks[-1].kind
            self._append("\n" if tight else "\n\n")
        start = self._length
        if self._next_page is not None:
            marks.insert(0, (0, self._next_page))
            self._next_page = None
        for offset, page in marks:
            self._mark(start + offset, page)
        self._append(content)
        self._blocks.append(Block(start, self._length, kind, self.headings, self._slide, cfi))

    def document(
        self,
        *,
        file_id: str,
        file_name: str,
        mime_type: str,
        sha256: str,
        source_url: str | None = None,
        modified_time: str | None = None,
    ) -> Document:
        """The finished document."""
        return Document(
            file_id=file_id,
            file_name=file_name,
            mime_type=mime_type,
            sha256=sha256,
            title=clean(self.title or "").strip() or self._first_heading() or file_name,
            text="".join(self._parts),
            blocks=tuple(self._blocks),
            pages=tuple(self._pages),
            author=clean(self.author or "").strip() or None,
            language=self.language,
            source_url=source_url,
            modified_time=modified_time,
            page_count=self.page_count,
            notices=tuple(Notice(file_id, file_name, reason) for reason in self._reasons()),
        )

    def _reasons(self) -> list[str]:
        reasons = list(self._warnings)
        more = len(reasons) - _MAX_WARNINGS
        return [*reasons[:_MAX_WARNINGS], f"{more:,} more warnings are not shown."] if more > 0 else reasons

    def _close(self, title: str, level: int) -> None:
        """Leave what lies as deep as a title or deeper, unless its number places it there: 1.1.1 lies under 1.1."""
        while self._path:
            depth, above = self._path[-1]
            if depth < level or (depth == level and _is_under(title, above)):
                break
            self._path.pop()

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _mark(self, offset: int, page: Page) -> None:
        if self._pages and self._pages[-1].start == offset:
            self._pages[-1] = PageStart(offset, page)  # a page without text: the next one begins here too
        else:
            self._pages.append(PageStart(offset, page))

    def _first_heading(self) -> str | None:
        """The first heading, unless it names a part of the book only."""
        first = next((block.headings[-1] for block in self._blocks if block.kind == "heading" and block.headings), "")
        return None if _NO_TITLE.fullmatch(first) else first or None


def _join(pieces: list[Piece], kind: BlockKind) -> tuple[str, list[tuple[int, Page]]]:
    """Clean text of the pieces, and the offset in it at which each page among them begins."""
    text = ""
    marks: list[tuple[int, Page]] = []
    for piece in pieces:
        if isinstance(piece, Page):
            marks.append((len(text), piece))
            continue
        part = clean(piece, kind)
        if kind == "code":
            part = part if text else _BLANK_LINES.sub("", part)  # the first line keeps its indentation, too
        elif not text or text[-1].isspace():
            part = part.lstrip()
        text += part
    text = text.rstrip()
    return text, [(min(offset, max(len(text) - 1, 0)), page) for offset, page in marks]
