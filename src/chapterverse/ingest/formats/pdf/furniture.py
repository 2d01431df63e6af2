"""Running heads and page numbers: found by repetition at the same height, taken out of the text, kept as labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise, takewhile

from chapterverse.ingest.formats.pdf.model import PageContent
from chapterverse.ingest.formats.pdf.rows import Row, cells_of, rows_of

_EDGE_ROWS = 3
"""A head or foot has at most so many rows,"""
_MARGIN = 0.12
"""and stands in this part of the height that the book prints on."""
_REPEATS = 3
_PROVEN = 0.25
"""A place on the page is one for running heads when so many pages prove it."""
_MAX_HEAD = 90
_LEADING = 1.2
"""How far lines usually are from each other, in sizes of their type."""
_APART = 1.3
"""The body is away from it by so many times the usual pitch, and by so many times the spacing within either."""
_ASIDE = 3.0
"""So many ems part a page number from the words of a running head that change from chapter to chapter,"""
_SAME_SIZE = 1.05
"""which is at most by so much larger than the text."""
_NUMBER = re.compile(r"(?<![\w.,])(\d{1,5}|[ivxlc]{1,7}|[IVXLC]{1,7})(?![\w,]|\.\d)")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(slots=True)
class _Edge:
    """The rows at the top or at the bottom of a page, outermost first: those in the margin, and two further in."""

    rows: list[Row]
    count: int

    @property
    def margin(self) -> list[Row]:
        return self.rows[: self.count]


def remove_furniture(pages: list[PageContent]) -> None:
    """Take running heads and feet out of the pages; printed page numbers become labels where the file has none."""
    rows = [rows_of(page.spans) for page in pages]
    edges = _edges(rows)
    _mark_repeated(edges, Counter(row.words for page in rows for row in page))
    pitch = _usual_pitch(pages)
    _mark_numbered(edges, [page.label for page in pages], _SAME_SIZE * pitch / _LEADING)
    apart = [[_outermost(edge, pitch) for edge in page] for page in edges]
    slots = Counter(row.slot for page in apart for found in page for row in found)
    proven = {slot for slot, count in slots.items() if count >= _REPEATS}
    has_labels = any(page.label for page in pages)
    for page, found, places in zip(pages, apart, edges, strict=True):
        removed = [row for rows in found for row in rows]
        for edge in places:
            removed += [row for row in edge.margin[:1] if row.furniture and row.slot in proven and row not in removed]
        gone = {id(span) for row in removed for span in row.spans}
        if gone:
            page.spans = [span for span in page.spans if id(span) not in gone]
        labels = [label for row in removed for label in row.labels]
        if labels and not has_labels:
            page.label = labels[-1]


def _edges(pages: list[list[Row]]) -> list[tuple[_Edge, _Edge]]:
    """For each page, its top margin and its bottom margin."""
    heights = [row.y for page in pages for row in page]
    top, bottom = min(heights, default=0.0), max(heights, default=0.0)
    margin = _MARGIN * (bottom - top)
    edges = []
    for rows in pages:
        heads = sum(row.y <= top + margin for row in rows[:_EDGE_ROWS])
        feet = sum(row.y >= bottom - margin for row in rows[-_EDGE_ROWS:])
        edges.append((_Edge(rows[: heads + 2], heads), _Edge(rows[: -feet - 3 : -1], feet)))
    return edges


def _usual_pitch(pages: list[PageContent]) -> float:
    pitches = sorted(
        span.size * _LEADING
        for page in pages[:: max(1, len(pages) // 50)]
        for span in page.spans
        if len(span.text) > 20
    )
    return pitches[len(pitches) // 2] if pitches else 12.0


def _mark_repeated(edges: list[tuple[_Edge, _Edge]], everywhere: Counter[str]) -> None:
    """Mark the rows whose words, or whose page number in the same words, recur at the same height.

    What stands as often elsewhere on the pages is part of the text, and only happens to open or close some of them.
    """
    same: dict[tuple[str, object], list[Row]] = defaultdict(list)
    numbered: dict[tuple[object, ...], list[tuple[Row, str]]] = defaultdict(list)
    for page, (heads, feet) in enumerate(edges):
        for row in {id(row): row for row in (*heads.margin, *feet.margin)}.values():
            text = row.words
            if re.search(r"[^\W\d]{2}", text):
                same[text, row.slot].append(row)
            for match in list(_NUMBER.finditer(text))[:3]:
                value = _value(match[1])
                if value:
                    pattern = text[: match.start()] + "#" + text[match.end() :]
                    numbered[pattern, row.slot, match[1].isdigit(), value - page].append((row, match[1]))
    enough = _enough(edges)
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


def _enough(edges: list[tuple[_Edge, _Edge]]) -> int:
    return _REPEATS if len(edges) > 2 * _REPEATS else 2


def _mark_numbered(edges: list[tuple[_Edge, _Edge]], labels: list[str | None], largest: float) -> None:
    """Mark the rows at one height whose number stands by itself and is their page's label, or keeps step with pages.

    Whatever else they say, those are the heads of chapters too short to repeat theirs.
    """
    alike: dict[tuple[object, ...], list[tuple[Row, str]]] = defaultdict(list)
    for page, (heads, feet) in enumerate(edges):
        for row in (*heads.margin, *feet.margin):
            for number in _set_apart(row) if row.size <= largest else ():
                value = _value(number)
                step = () if number == labels[page] else (number.isdigit(), value - page)
                if value:
                    alike[round(row.y / 4), round(row.size * 2), *step].append((row, number))
    for found in alike.values():
        if len({id(row) for row, _ in found}) >= _enough(edges):
            for row, label in found:
                row.furniture = True
                row.labels.append(label)


def _set_apart(row: Row) -> list[str]:
    """The numbers that stand by themselves at the left or at the right of a row."""
    cells = cells_of(row)
    apart = [True, *(right.left - left.right >= _ASIDE * row.size for left, right in pairwise(cells)), True]
    ends = {0, len(cells) - 1}
    return [cells[n].text for n in ends if apart[n] and apart[n + 1] and _NUMBER.fullmatch(cells[n].text)]


def _mark_alike(edges: list[tuple[_Edge, _Edge]], slots: set[object]) -> None:
    """Mark outermost rows that stand where running heads are proven to stand, and look like them: the heads of
    chapters too short to repeat theirs."""
    for heads, feet in edges:
        for row in (*heads.margin[:1], *feet.margin[:1]):
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


def _outermost(edge: _Edge, pitch: float) -> list[Row]:
    """The marked rows at the edge, as far as a gap sets them off from the rows that stay.

    The gap is wider than the spacing on either side of it: that tells a running head from the repeated head of a table.
    """
    rows = edge.rows
    marked = len(list(takewhile(lambda row: row.furniture, edge.margin)))
    gaps = [abs(row.y - before.y) for before, row in pairwise(rows)]
    while 0 < marked < len(rows):
        gap, beside = gaps[marked - 1], [*gaps[max(marked - 2, 0) : marked - 1], *gaps[marked : marked + 1]]
        if gap >= _APART * max([pitch, *beside]):
            break
        marked -= 1
    return rows[:marked] if marked < len(rows) else []
