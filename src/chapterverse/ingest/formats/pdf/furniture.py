"""Running heads and page numbers: found by repetition at the same height, taken out of the text, kept as labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from chapterverse.ingest.formats.pdf.model import PageContent, Span

_EDGE_ROWS = 3
"""Heads and feet are looked for in so many rows at the top and at the bottom."""
_REPEATS = 3
_PROVEN = 0.25
"""A place on the page is one for running heads when so many pages prove it."""
_MAX_HEAD = 90
_APART = 1.3
"""The body begins at least so many line pitches away."""
_NUMBER = re.compile(r"(?<![\w.,])(\d{1,5}|[ivxlc]{1,7}|[IVXLC]{1,7})(?![\w,]|\.\d)")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(slots=True)
class Row:
    """Spans of any column that share a baseline."""

    spans: list[Span]
    y: float
    size: float
    furniture: bool = False
    labels: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(span.text for span in sorted(self.spans, key=lambda span: span.left))

    @property
    def slot(self) -> tuple[object, ...]:
        """The height and the look that the rows of a running head have in common."""
        return round(self.y / 4), round(self.size * 2), self.spans[0].bold, self.spans[0].italic

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


def rows_of(spans: list[Span]) -> list[Row]:
    """Spans grouped by baseline, from the top of the page down."""
    rows: list[Row] = []
    for span in sorted(spans, key=lambda span: span.y):
        if rows and span.y - rows[-1].y < 0.45 * max(span.size, rows[-1].size):
            rows[-1].spans.append(span)
            rows[-1].size = max(span.size, rows[-1].size)
        else:
            rows.append(Row([span], span.y, span.size))
    return rows


def remove_furniture(pages: list[PageContent]) -> None:
    """Take running heads and feet out of the pages; printed page numbers become labels where the file has none."""
    rows = [rows_of(page.spans) for page in pages]
    edges = [(page[: _EDGE_ROWS + 1], page[: -_EDGE_ROWS - 2 : -1]) for page in rows]
    pitch = _usual_pitch(pages)
    _mark_repeated(edges, Counter(row.words for page in rows for row in page))
    has_labels = any(page.label for page in pages)
    for page, (heads, feet) in zip(pages, edges, strict=True):
        removed = _outermost(heads, pitch) + _outermost(feet, pitch)
        gone = {id(span) for row in removed for span in row.spans}
        if gone:
            page.spans = [span for span in page.spans if id(span) not in gone]
        labels = [label for row in removed for label in row.labels]
        if labels and not has_labels:
            page.label = labels[-1]


def _usual_pitch(pages: list[PageContent]) -> float:
    pitches = sorted(
        span.size * 1.2 for page in pages[:: max(1, len(pages) // 50)] for span in page.spans if len(span.text) > 20
    )
    return pitches[len(pitches) // 2] if pitches else 12.0


def _mark_repeated(edges: list[tuple[list[Row], list[Row]]], everywhere: Counter[str]) -> None:
    """Mark the rows whose words, or whose page number in the same words, recur at the same height.

    What stands as often elsewhere on the pages is part of the text, and only happens to open or close some of them.
    """
    same: dict[tuple[str, object], list[Row]] = defaultdict(list)
    numbered: dict[tuple[object, ...], list[tuple[Row, str]]] = defaultdict(list)
    for page, (heads, feet) in enumerate(edges):
        for row in {id(row): row for row in (*heads[:_EDGE_ROWS], *feet[:_EDGE_ROWS])}.values():
            text = row.words
            if re.search(r"[^\W\d]{2}", text):
                same[text, row.slot].append(row)
            for match in list(_NUMBER.finditer(text))[:3]:
                value = _value(match[1])
                if value:
                    pattern = text[: match.start()] + "#" + text[match.end() :]
                    numbered[pattern, row.slot, match[1].isdigit(), value - page].append((row, match[1]))
    enough = min(_REPEATS, max(len(edges), 2))
    proven: Counter[object] = Counter()
    for (text, slot), rows in same.items():
        if len(rows) >= enough and 2 * len(rows) >= everywhere[text]:
            proven[slot] += len(rows)
            for row in rows:
                row.furniture = True
    _mark_alike(edges, {slot for slot, count in proven.items() if count >= _PROVEN * len(edges)})
    for found in numbered.values():
        if len(found) >= enough:
            for row, label in found:
                row.furniture = True
                row.labels.append(label)


def _mark_alike(edges: list[tuple[list[Row], list[Row]]], slots: set[object]) -> None:
    """Mark outermost rows that stand where running heads are proven to stand, and look like them: the heads of
    chapters too short to repeat theirs."""
    for heads, feet in edges:
        for row in (*heads[:1], *feet[:1]):
            if row.slot in slots and len(row.text) <= _MAX_HEAD and row.text[-1:] not in ".,;:":
                row.furniture = True


def _value(number: str) -> int:
    """What a number in Arabic or Roman digits says; 0 for letters that only look like one."""
    if number.isdigit():
        return int(number)
    digits = [_ROMAN[letter] for letter in number.lower()]
    value = sum(-d if d < max(digits[i:]) else d for i, d in enumerate(digits))
    return value if _roman(value) == number.lower() else 0


def _roman(value: int) -> str:
    text = ""
    for number, letters in ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv")):
        text += letters * (value // number)
        value %= number
    return text + "i" * value


def _outermost(rows: list[Row], pitch: float) -> list[Row]:
    """The marked rows at the edge (outermost first), as far as a gap sets them off from the rows that stay.

    The gap is what tells a running head from the heading of a table that is repeated on every page.
    """
    marked = 0
    while marked < min(len(rows), _EDGE_ROWS) and rows[marked].furniture:
        marked += 1
    while 0 < marked < len(rows) and abs(rows[marked].y - rows[marked - 1].y) < _APART * pitch:
        marked -= 1
    return rows[:marked]
