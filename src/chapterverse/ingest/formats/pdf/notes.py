"""Footnotes: small lines at the foot of a page or column that begin with a sign used in the text above."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict

from chapterverse.ingest.formats.pdf.model import NOTE_CLOSE, NOTE_OPEN, Line, Note, Table
from chapterverse.ingest.formats.powers import power

_SMALL = 0.93
_REFERENCE = re.compile(f"{NOTE_OPEN}([^{NOTE_CLOSE}]+){NOTE_CLOSE}")
_START = re.compile(rf"(?:{NOTE_OPEN}([^{NOTE_CLOSE}]+){NOTE_CLOSE}|(\d{{1,3}}|[*†‡§]{{1,2}})[.)]?(?=\s))\s*")

_LIST = re.compile(r", ?")
_LONGEST_RANGE = 30

Notes = dict[tuple[int, str], Note]
"""By page and sign."""


def take_notes(pages: list[list[Line | Table]], body_size: float) -> Notes:
    """Take the footnotes out of the pages."""
    notes: Notes = {}
    for index, flow in enumerate(pages):
        columns: dict[int, list[Line]] = defaultdict(list)
        for item in flow:
            if isinstance(item, Line):
                columns[id(item.column)].append(item)
        taken: set[int] = set()
        for lines in columns.values():
            for note in _foot(lines, body_size, _references(flow)):
                # A sign used twice on a page leads to the first note; what would be lost so stays in the text.
                if notes.setdefault((index, note.marker), note) is note:
                    taken.update(map(id, note.lines))
        if taken:
            pages[index] = [item for item in flow if id(item) not in taken]
    return notes


def _references(flow: list[Line | Table]) -> set[str]:
    """Signs that the text of a page refers to notes by (a line that begins with one is the note itself)."""
    return {
        sign
        for line in flow
        if isinstance(line, Line)
        for match in _REFERENCE.finditer(line.text)
        if match.start() > 0
        for sign in _signs(match[1])
    }


def _signs(raised: str) -> list[str]:
    """The signs of the notes that a raised text refers to: "2,5" are two of them, "2-4" three."""
    signs: list[str] = []
    for part in _LIST.split(raised):
        first, _, last = part.replace("\u2013", "-").partition("-")
        several = range(int(first), int(last) + 1) if first.isdigit() and last.isdigit() else ()
        signs += map(str, several) if 0 < len(several) <= _LONGEST_RANGE else [part]
    return signs


def _foot(lines: list[Line], body_size: float, references: set[str]) -> list[Note]:
    """The notes at the end of a column: small lines, from the first that begins with a sign in use."""
    start = len(lines)
    while start and lines[start - 1].size < _SMALL * body_size:
        start -= 1
    notes: list[Note] = []
    for line in lines[start:]:
        begin = _START.match(line.text)
        marker = (begin[1] or begin[2]) if begin else None
        if begin and marker in references:
            notes.append(Note(marker or "", [line]))
        elif notes:
            notes[-1].lines.append(line)
    return notes


def plain(text: str) -> str:
    """Text in which raised signs are signs like any other, but for powers."""
    return _REFERENCE.sub(_plainly, text)


def _plainly(sign: re.Match[str]) -> str:
    return power(sign[1], sign.string[: sign.start()]) or sign[1]


def body_of(note: Note) -> list[Line]:
    """A note's lines without the sign that opens it."""
    first = dataclasses.replace(note.lines[0], text=_START.sub("", note.lines[0].text, count=1))
    return [first, *note.lines[1:]]


def with_references(line: Line, notes: Notes) -> tuple[str, list[Note]]:
    """A line's text with "[1]" for each reference to a note, and the notes; other raised signs are plain text."""
    found: list[Note] = []

    def write(match: re.Match[str]) -> str:
        signs = _signs(match[1])
        referred = [note for sign in signs if (note := notes.get((line.page, sign)))]
        found.extend(referred)
        after_sentence = match.start() > 0 and line.text[match.start() - 1] in '.,;:!?”"’)'
        if referred or len(signs) > 1 or (after_sentence and match[1].isdigit()):
            return "".join(f"[{sign}]" for sign in signs)
        return _plainly(match)

    return (_REFERENCE.sub(write, line.text), found) if NOTE_OPEN in line.text else (line.text, found)
