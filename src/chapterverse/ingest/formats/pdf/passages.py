"""Lines become passages: paragraphs, list items and captions, also across columns and pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

from chapterverse.ingest.formats.pdf.model import HYPHEN, NOTE_CLOSE, Line, Passage, Table

_BULLET = re.compile(r"[-–•▪●○◦‣·*➢✓□■]\s")
_NUMBERED = re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s|[A-Z]\)\s")
_LEADER = re.compile(r"(?:\s?[.·_…]){4,}\s*")
_MIN_LEADERS = ("..", ". .", "··", "__", "……")
_CONTENTS = re.compile(_LEADER.pattern + r"(?:\d+|[ivxlcIVXLC]+)?$")
_CAPTION = re.compile(
    r"(?:figure|fig\.|table|exhibit|chart|plate|map|illustration|box|diagram)\s+"
    r"(?:[A-Z]?\d+[a-z]?(?:[.\-–]\d+[a-z]?)*|[IVXLC]+)(?:\s*[.:|—–-]\s|\s*$|\s+(?=(?-i:[A-Z“\"])))",
    re.I,
)
CHAPTER = re.compile(
    r"(?:chapter|part|book|section|appendix|canto|act|kapitel|teil|chapitre|capítulo)\s+"
    r"(?:\d{1,3}|[ivxlc]+|[a-z]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b\W*",
    re.I,
)
"""The name of a chapter, as it is written in contents and headings."""
_SENTENCE_END = re.compile(r"[.!?…:。！？][\"'”’)\]»*]*$")
_GAP = 1.3
_EVEN = 0.05
_RUN = 3
_FULL = 0.75
"""So many equal distances, between lines of which so many are full, are those of paragraphs, however wide they are."""
_INDENT = 0.7
_SAME_SIZE = 0.07
_FLOATING = frozenset({"table", "caption", "footnote"})
_MAX_FLOATS = 6


class Spacing:
    """How a book spaces its lines: the usual pitch for each size of type."""

    def __init__(self, lines: list[Line]) -> None:
        pitches: dict[int, Counter[float]] = defaultdict(Counter)
        sizes: Counter[float] = Counter()
        for before, line in pairwise(lines):
            sizes[round(line.size * 2) / 2] += len(line.text)
            pitch = line.y - before.y
            if line.column is before.column and same_size(before, line) and 0 < pitch < 3 * line.size:
                pitches[round(line.size * 2)][round(pitch * 2) / 2] += 1
        if lines:
            sizes[round(lines[0].size * 2) / 2] += len(lines[0].text)
        self.body_size = sizes.most_common(1)[0][0] if sizes else 10.0
        self._pitches = {size: counts.most_common(1)[0][0] for size, counts in pitches.items()}
        self._even = self._evenly_wide(lines)

    def pitch(self, size: float) -> float:
        """The distance of the lines of one paragraph."""
        usual = self._pitches.get(round(size * 2), 1.2 * size)
        return usual if abs(size - self.body_size) < 0.5 else min(usual, 1.5 * size)

    def is_even(self, line: Line) -> bool:
        """Whether a line stands as far below the one before as those around it: a text on every other line, say, in a
        book that has most of its lines closer."""
        return id(line) in self._even

    def _evenly_wide(self, lines: list[Line]) -> set[int]:
        even: set[int] = set()
        run = lines[:1]
        for line in [*lines[1:], None]:
            if line is not None and self._goes_on(run, line):
                run.append(line)
                continue
            full = sum(is_full(before, here) for before, here in pairwise(run))
            if len(run) > _RUN and full >= _FULL * (len(run) - 1):
                even.update(map(id, run[1:]))
            if line is not None:
                run = [run[-1], line] if self._goes_on(run[-1:], line) else [line]
        return even

    def _goes_on(self, run: list[Line], line: Line) -> bool:
        """Whether a line is as far below a run of lines as these are from each other, and wider than usual."""
        before, pitch = run[-1], line.y - run[-1].y
        if line.column is not before.column or not same_size(before, line):
            return False
        if len(run) > 1 and abs(pitch - (before.y - run[-2].y)) > _EVEN * line.size:
            return False
        return _GAP * self.pitch(line.size) < pitch < 3 * line.size


def same_size(one: Line, other: Line) -> bool:
    return abs(one.size - other.size) <= _SAME_SIZE * max(one.size, other.size)


def ends_sentence(text: str) -> bool:
    return bool(_SENTENCE_END.search((text.split(NOTE_CLOSE)[-1] or text[:-3])[-8:]))


def is_contents_line(text: str) -> bool:
    """A line of a table of contents: leader dots up to a page number."""
    return any(leader in text for leader in _MIN_LEADERS) and bool(_CONTENTS.search(text))


def without_leaders(text: str) -> str:
    """Leader dots as one sign."""
    return _LEADER.sub(" … ", text) if any(leader in text for leader in _MIN_LEADERS) else text


def build_passages(flow: list[Line | Table], spacing: Spacing) -> list[Passage]:
    """The passages of a book, in reading order."""
    passages: list[Passage] = []
    following: list[Line | Table | None] = [*flow[1:], None]
    indenting = _indents_paragraphs(flow, spacing)
    for item, after in zip(flow, following, strict=True):
        if isinstance(item, Table):
            passages.append(Passage("table", table=item))
            continue
        last = passages[-1] if passages else None
        if last and last.lines and last.lines[-1].column is item.column:
            if not _begins(last, item, after, spacing):
                last.lines.append(item)
                continue
        else:
            open_passage = _open_passage(passages)
            if open_passage and _continues(open_passage, item, indenting):
                open_passage.lines.append(item)
                continue
        passages.append(Passage(_kind(item), [item], level=item.level))
    return passages


def _kind(line: Line) -> str:
    """What a passage that begins with this line is."""
    if line.level is not None:
        return "heading"
    if _BULLET.match(line.text) or _NUMBERED.match(line.text) or is_contents_line(line.text):
        return "list"
    return "caption" if _CAPTION.match(line.text) else "paragraph"


def _begins(passage: Passage, line: Line, after: Line | Table | None, spacing: Spacing) -> bool:
    """Whether a line opens a new passage in the column of the last one."""
    before = passage.lines[-1]
    if line.level != before.level:
        return True
    if not same_size(before, line) or _spaced_off(passage, line, spacing):
        return True
    if line.level is not None:
        return False
    if _BULLET.match(line.text) or is_contents_line(line.text) or is_contents_line(before.text):
        return True
    if passage.kind == "caption":
        return before.italic != line.italic or before.bold != line.bold
    fits = not is_full(before, line)
    if fits and CHAPTER.match(line.text) and line.text[0].isupper():
        return True
    if fits and (before.bold != line.bold or before.italic != line.italic):
        return True
    if _NUMBERED.match(line.text) and (fits or ends_sentence(before.text)) and passage.kind in ("list", "paragraph"):
        return passage.kind == "list" or ends_sentence(before.text) or _hangs(line, after)
    return _indented_anew(passage, line) or (fits and _ended(before, line, spacing))


def _spaced_off(passage: Passage, line: Line, spacing: Spacing) -> bool:
    """Whether a line stands further below the last one than lines of a paragraph do."""
    before, usual = passage.lines[-1], spacing.pitch(line.size)
    own = [here.y - above.y for above, here in pairwise(passage.lines[-3:])]
    if len(own) == 2 and min(own) > 0:
        usual = min(usual, max(own))
    pitch = line.y - before.y
    return not 0 <= pitch <= _GAP * usual and not (spacing.is_even(line) and is_full(before, line))


def _hangs(line: Line, after: Line | Table | None) -> bool:
    return isinstance(after, Line) and after.column is line.column and after.left > line.left + _INDENT * line.size


def _indented_anew(passage: Passage, line: Line) -> bool:
    """Whether a line's left edge says that a paragraph begins: indented, or (with hanging indents) set out."""
    before, em = passage.lines[-1], line.size
    margin = line.column.left
    if passage.kind == "list":
        return line.left < passage.lines[0].left - 0.3 * em
    if min(line.left, before.left) > margin + _INDENT * em and _centred(before, line):
        return False
    if line.left > margin + _INDENT * em and before.left < line.left - _INDENT * em:
        return line.left < margin + 5 * em and (not is_full(before, line) or ends_sentence(before.text))
    if len(passage.lines) > 1 and line.left < before.left - _INDENT * em:
        return True
    return line.left < margin - _INDENT * em <= before.left - _INDENT * em


def _centred(before: Line, line: Line) -> bool:
    return abs(before.left + before.right - line.left - line.right) < line.size


def is_full(before: Line, line: Line) -> bool:
    """Whether a line had no room for the first word of the next one."""
    return _room(before) <= _first_word_width(line)


def _room(line: Line) -> float:
    """The free space at the end of a line."""
    return line.column.right - line.right


def _first_word_width(line: Line) -> float:
    """What the first word of a line would take at the end of the line before, with its space and some tolerance."""
    return (len(line.text.split(maxsplit=1)[0]) + 2) * line.width_per_character


def _ended(before: Line, line: Line, spacing: Spacing) -> bool:
    """Whether a line that has room for the next word ends a paragraph."""
    if line.text[:1].islower() or line.size > 1.15 * spacing.body_size:
        return False
    if ends_sentence(before.text):
        return True
    width = before.column.right - before.column.left
    return _room(before) > 0.5 * width and before.text[-1:] not in ",;-–—" + HYPHEN


def _open_passage(passages: list[Passage]) -> Passage | None:
    """The passage that the text of a new column or page may go on with: the last one, floating ones left aside."""
    for passage in reversed(passages[-_MAX_FLOATS:]):
        if passage.kind not in _FLOATING:
            return passage if passage.kind in ("paragraph", "list") else None
    return None


def _continues(passage: Passage, line: Line, indenting: bool) -> bool:
    """Whether the first line of a column goes on with a passage of the column before."""
    before = passage.lines[-1]
    if line.level is not None or not same_size(before, line) or before.bold != line.bold:
        return False
    if before.page + 1 < line.page or _kind(line) != "paragraph" or is_contents_line(before.text):
        return False
    if before.text.endswith((HYPHEN, "-")):
        return line.text[:1].isalnum()
    full = is_full(before, line)
    if line.text[:1].islower():
        return full or not ends_sentence(before.text)
    if line.left > line.column.left + _INDENT * line.size:
        return False
    return full and (indenting or not ends_sentence(before.text)) and passage.kind == "paragraph"


def _indents_paragraphs(flow: list[Line | Table], spacing: Spacing) -> bool:
    """Whether the book indents the first lines of its paragraphs, so that a line that is not indented goes on."""
    indented = flush = 0
    for before, line in pairwise(flow):
        if not isinstance(before, Line) or not isinstance(line, Line) or before.column is not line.column:
            continue
        if abs(line.size - spacing.body_size) > 0.5 or not same_size(before, line):
            continue
        starts = ends_sentence(before.text) and not is_full(before, line)
        if starts and line.left > line.column.left + _INDENT * line.size:
            indented += 1
        elif starts:
            flush += 1
    return indented > 3 * flush
