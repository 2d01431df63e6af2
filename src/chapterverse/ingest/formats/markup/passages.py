"""What is read from markup, before it is composed: passages, references to notes, and where ids stand."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from urllib.parse import unquote

from chapterverse.ingest.composer import Composer, Piece
from chapterverse.types import BlockKind, Page

_LEADING_ON = (":", ",", ";", "=", "-", "–", "—", "?")
"""What a term may end with itself to lead on to its definition, or a question to its answer."""

LONGEST_TERM = 200
MOST_DEFINITIONS = 20
"""How long a term may be, and how many definitions may have it, to be repeated with each: a quote must name it."""


@dataclass(slots=True)
class NoteRef:
    """A link that may lead to a note: it reads "[1]" once the note is found, and as plain text if there is none."""

    text: str
    target: str
    note: int | None = None

    @property
    def label(self) -> str:
        return self.text.strip().strip("[](){}^").strip(". ") or self.text.strip()

    def __str__(self) -> str:
        return self.text if self.note is None else f"[{self.label}]"


@dataclass(slots=True)
class Passage:
    """A block before it is composed."""

    kind: BlockKind
    pieces: list[Piece | NoteRef]
    level: int = 0
    marker: str = ""
    cfi: str | None = None
    sections: list[tuple[str, int]] = field(default_factory=list)
    """Entries of the table of contents, with their levels, that begin here."""

    @property
    def references(self) -> list[NoteRef]:
        return [piece for piece in self.pieces if isinstance(piece, NoteRef)]

    @property
    def text(self) -> str:
        return "".join(str(piece) for piece in self.pieces if not isinstance(piece, Page))

    def rendered(self) -> list[Piece]:
        """Text and page marks, with neighbouring texts joined so that the composer sees whole words."""
        result: list[Piece] = []
        texts: list[str] = []
        for piece in (self.marker, *self.pieces):
            if isinstance(piece, Page):
                result += ["".join(texts), piece]
                texts.clear()
            else:
                texts.append(str(piece))
        return [*result, "".join(texts)]

    def write(self, composer: Composer, level: int | None = None) -> None:
        """Tell the composer; a table of contents may decide a heading's `level`, and no outline shows "[1]"."""
        level = self.level if level is None else level
        if self.kind != "heading":
            composer.add(self.kind, self.rendered(), self.cfi)
        else:
            composer.heading(self.rendered(), level, self.cfi, self._without_notes())

    def _without_notes(self) -> str:
        notes = [reference for reference in self.references if reference.note is not None]
        kept = (str(piece) for piece in self.pieces if not isinstance(piece, Page) and piece not in notes)
        return "".join(kept).strip()


def define(terms: list[Passage], passage: Passage) -> Passage:
    """A definition behind the terms that it defines: "Stoat, Ermine: A small animal." """
    pieces: list[Piece | NoteRef] = []
    for term in terms:
        pieces += [", ", *stripped(term.pieces)] if pieces else stripped(term.pieces)
    ends_open = not (isinstance(last := pieces[-1], str) and last.endswith(_LEADING_ON))
    return Passage(
        passage.kind,
        [*pieces, ": " if ends_open else " ", *stripped(passage.pieces)],
        marker=terms[0].marker,
        cfi=terms[0].cfi,
    )


def named_again(terms: list[Passage], passage: Passage) -> list[Passage]:
    """The terms as they stand before their next definition: without notes and pages, which they have already."""
    names = ["".join(piece for piece in term.pieces if isinstance(piece, str)) for term in terms]
    kept = [name for name in names if name.strip()] if sum(map(len, names)) <= LONGEST_TERM else []
    return [Passage(passage.kind, [name], cfi=passage.cfi) for name in kept]


def stripped(pieces: list[Piece | NoteRef]) -> list[Piece | NoteRef]:
    """The pieces without spaces at either end."""
    while pieces and isinstance(first := pieces[0], str):
        pieces[0] = first.lstrip()
        if pieces[0]:
            break
        del pieces[0]
    while pieces and isinstance(last := pieces[-1], str):
        pieces[-1] = last.rstrip()
        if pieces[-1]:
            break
        del pieces[-1]
    return pieces


@dataclass(slots=True)
class Anchor:
    """Where an element with an id stands: the passages it spans, and whether it opens the first of them."""

    start: int
    end: int
    opens: bool


def target(base: str, href: str) -> str:
    """The name, and fragment where there is one, that a link inside the document `base` leads to."""
    path, mark, fragment = href.partition("#")
    name = posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(path))) if path else base
    return f"{name}{mark}{unquote(fragment)}"
