"""Puts each note right after the passage that refers to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from chapterverse.ingest.composer import Piece
from chapterverse.ingest.formats.markup.passages import Anchor, NoteRef, Passage
from chapterverse.types import Page

_LONGEST_NOTE = 20
"""Passages; a link whose target is longer leads to a section of the book, not to a note."""

_RETURN_MARKS = " \t\n\u00a0\u21a9\ufe0e\u2191\u23ce^"


def place_notes(passages: Sequence[Passage], anchors: Mapping[str, Anchor]) -> list[Passage]:
    """The passages in reading order, each note behind its first reference; pages stay true on both sides of it."""
    spans = _spans(passages, anchors)
    if not spans:
        return list(passages)
    owned = {index for first, end in spans.items() for index in range(first, end)}
    emptied = _emptied_headings(passages, owned)
    pages = _pages_at_start(passages)
    placed: set[int] = set()
    result: list[Passage] = []
    shown: Page | None = None
    for index in range(len(passages)):
        if index in owned or index in emptied:
            continue
        queue = [index]
        for current in queue:  # grows while it is read: notes may refer to notes
            passage = passages[current]
            if (page := pages[current]) is not None and page != shown:
                passage.pieces.insert(0, page)
            shown = next((piece for piece in reversed(passage.pieces) if isinstance(piece, Page)), page or shown)
            result.append(passage)
            for reference in passage.references:
                note = reference.note
                if note is not None and note not in placed:
                    placed.add(note)
                    queue += _as_note(passages, range(note, spans[note]), reference.label)
    return result


def _spans(passages: Sequence[Passage], anchors: Mapping[str, Anchor]) -> dict[int, int]:
    """Every note that the text leads to: its first passage, and the one after its last."""
    spans: dict[int, int] = {}
    owner: dict[int, int] = {}
    referring = [(index, references) for index, passage in enumerate(passages) if (references := passage.references)]
    for index, references in referring:
        for reference in references:
            anchor = anchors.get(reference.target)
            if anchor is None or not _is_note(passages, anchor) or anchor.start <= index < anchor.end:
                continue
            span = range(anchor.start, anchor.end)
            if all(owner.get(part, anchor.start) == anchor.start for part in span):
                reference.note = anchor.start
                spans[anchor.start] = max(anchor.end, spans.get(anchor.start, 0))
                owner.update(dict.fromkeys(span, anchor.start))
    reached = _reached(passages, spans, owner)
    for _, references in referring:
        for reference in references:
            if reference.note not in reached:
                reference.note = None
    return {first: end for first, end in spans.items() if first in reached}


def _is_note(passages: Sequence[Passage], anchor: Anchor) -> bool:
    return (
        anchor.opens
        and 0 < anchor.end - anchor.start <= _LONGEST_NOTE
        and anchor.end <= len(passages)
        and all(passage.kind != "heading" and not passage.sections for passage in passages[anchor.start : anchor.end])
    )


def _reached(passages: Sequence[Passage], spans: Mapping[int, int], owner: Mapping[int, int]) -> set[int]:
    """The notes that a chain of references from the text itself leads to: verses that link each other are no notes."""
    reached: set[int] = set()
    queue = [index for index in range(len(passages)) if index not in owner]
    for index in queue:
        for reference in passages[index].references:
            if reference.note is not None and reference.note not in reached:
                reached.add(reference.note)
                queue += range(reference.note, spans[reference.note])
    return reached


def _emptied_headings(passages: Sequence[Passage], owned: set[int]) -> set[int]:
    """Headings such as "Notes" that have nothing left under them once the notes are placed."""
    emptied = set()
    for index, passage in enumerate(passages):
        if passage.kind != "heading" or index + 1 not in owned:
            continue
        following = index + 1
        while following in owned:
            following += 1
        if following == len(passages) or passages[following].kind == "heading" or passages[following].sections:
            emptied.add(index)
    return emptied


def _pages_at_start(passages: Sequence[Passage]) -> list[Page | None]:
    """The page in force where each passage begins, before any note is moved."""
    pages: list[Page | None] = []
    current: Page | None = None
    for passage in passages:
        pages.append(current)
        current = next((piece for piece in reversed(passage.pieces) if isinstance(piece, Page)), current)
    return pages


def _as_note(passages: Sequence[Passage], span: range, label: str) -> list[int]:
    """Turn passages into a footnote "[1] The note." whose own label and way back are gone; those left with text."""
    kept = [index for index in span if any(char.isalnum() for char in passages[index].text)]
    for position, index in enumerate(kept):
        passage = passages[index]
        passage.kind, passage.marker = "footnote", "" if position else f"[{label}] "
        if not position:
            _strip_label(passage, label)
        if isinstance(last := passage.pieces[-1], str):
            passage.pieces[-1] = last.rstrip(_RETURN_MARKS)
    return kept


def _strip_label(passage: Passage, label: str) -> None:
    """Take away the label that the note itself begins with, and a way back before or behind it."""
    pieces = passage.pieces
    start = end = next((index for index, piece in enumerate(pieces) if not isinstance(piece, Page)), len(pieces))
    head = ""
    while end < len(pieces) and _is_plain(piece := pieces[end]):
        head += str(piece)
        end += 1
    head = head.lstrip(_RETURN_MARKS)
    own = re.match(rf"\s*[\[(]?{re.escape(label)}[\])]?(?![^\W_])[.:)]?\s*", head)
    pieces[start:end] = [head[own.end() :].lstrip(_RETURN_MARKS) if own else head]


def _is_plain(piece: Piece | NoteRef) -> bool:
    return isinstance(piece, str) or (isinstance(piece, NoteRef) and piece.note is None)
