"""Reading order: which spans stand in columns, and which lines they make there."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from statistics import median

from chapterverse.ingest.formats.pdf.model import Column, Line, PageContent, Span, Table
from chapterverse.ingest.formats.pdf.page import right_to_left
from chapterverse.ingest.formats.pdf.rows import Row, rows_of
from chapterverse.ingest.formats.pdf.tables import aligned_table, cut_ruled_tables
from chapterverse.ingest.formats.pdf.words import Words

Box = Span | Table

_MAX_DEPTH = 3
_MIN_LINES = 3
"""Running text in a column has at least so many lines."""
_PROSE_CHARACTERS = 18
_MARK = 4
"""Characters of the longest marks of list items."""
_GUTTER = 4.0
_MAX_CANDIDATES = 40
_OUTSETS = (2.0, 8.0)
"""How far to the left of a column's lines the line is drawn that nothing in the column may cross: names set out
from the lines below them stand nearer to the gutter."""
_FILLED = 0.8
"""Lines that reach so far into their space show its true margin; shorter ones do not."""
_USUAL = 0.12
"""So many of a column's lines begin at its margin, at least."""


def read_lines(page: PageContent, words: Words) -> list[Line | Table]:
    """The lines and tables of a page in reading order."""
    spans = _with_initials(page.spans, words)
    tables, rest = cut_ruled_tables(spans, page.rulings, words)
    flow: list[Line | Table] = []
    boxes: list[Box] = [*rest, *tables]
    for column, edge in _columns(boxes, max((box.right for box in boxes), default=0.0), 0):
        flow += _lines(column, edge, page.index, words)
    for item in flow:
        if isinstance(item, Table):
            item.page = page.index
    return flow


def _with_initials(spans: list[Span], words: Words) -> list[Span]:
    """Put large initials back before the line that they open."""
    if not spans:
        return spans
    usual = median(span.size for span in spans)
    kept = list(spans)
    for initial in spans:
        if len(initial.text) > 2 or initial.size < 1.8 * usual or not initial.text[-1:].isalpha():
            continue
        beside = [
            span
            for span in kept
            if span is not initial and span.size < 1.3 * usual and -2 <= span.left - initial.right < 2 * usual
            and initial.y - initial.size < span.y <= initial.y + 2
        ]  # fmt: skip
        if not beside:
            continue
        first = min(beside, key=lambda span: span.y)
        word = first.text.split(maxsplit=1)[0].strip(".,;:!?\"'’”")
        alone = initial.text[-1] in "AIO" and not words.known(initial.text[-1] + word)
        first.text = initial.text + (" " if alone else "") + first.text
        for span in beside:
            span.left = initial.left
        kept.remove(initial)
    return kept


def _columns(boxes: list[Box], edge: float, depth: int) -> list[tuple[list[Box], float]]:
    """Boxes parted into columns, each read to its end before the next, with the right edge of the space they have."""
    gutter = _best_gutter(boxes) if depth < _MAX_DEPTH and len(boxes) > 3 else None
    if gutter is None:
        return [(boxes, edge)] if boxes else []
    columns: list[tuple[list[Box], float]] = []
    whole: list[Box] = []
    for crossing, left, right in _bands(boxes, gutter):
        whole += crossing
        above, left, below = _parted(left, right)
        whole += above
        if _side_by_side(left, right):
            columns += [(whole, edge)] if whole else []
            sides = [(left, gutter - _GUTTER), (right, edge)]
            if _written_after(left, right):  # as in a book that is read from right to left, or one with notes beside it
                sides.reverse()
            columns += [column for side, limit in sides for column in _columns(side, limit, depth + 1)]
            whole = below
        else:
            whole += left + right + below
    return columns + ([(whole, edge)] if whole else [])


def _parted(left: list[Box], right: list[Box]) -> tuple[list[Box], list[Box], list[Box]]:
    """The left side of a band in three: what stands clear above the right side, the column beside it, and what the
    file writes below and after the right side, where text goes on in one column."""
    if not right:
        return [], left, []
    top, floor = _extent(right)
    last = max(box.order for box in right)
    beside = [box for box in left if not (box.top > floor and box.order > last)]
    below = [box for box in left if box.top > floor and box.order > last]
    clear = 0  # _bands gives the boxes from the top down
    for index, (box, after) in enumerate(pairwise(beside), start=1):
        if box.bottom < top and after.top - box.bottom > box.bottom - box.top:
            clear = index
    return beside[:clear], beside[clear:], below


def _best_gutter(boxes: list[Box]) -> float | None:
    """The left edge of a column that most text is set beside; None where there are no columns."""
    lefts = Counter(round(box.left / 2) for box in boxes)
    edges = sorted(left for left, count in lefts.items() if count + lefts[left + 1] + lefts[left - 1] >= 2)
    best, most = None, 0
    for edge, outset in product(edges[1 : _MAX_CANDIDATES + 1], _OUTSETS):
        x = 2 * edge - outset
        if sum(box.right <= x for box in boxes) < 2:
            continue
        bands = ((_parted(left, right)[1], right) for _, left, right in _bands(boxes, x))
        beside = sum(len(left) + len(right) for left, right in bands if _side_by_side(left, right))
        if beside > most:
            best, most = x, beside
    return best


def _bands(boxes: list[Box], x: float) -> list[tuple[list[Box], list[Box], list[Box]]]:
    """From the top down: what crosses the line at x, and then what stands to the left and to the right of it."""
    bands: list[tuple[list[Box], list[Box], list[Box]]] = [([], [], [])]
    floor = float("-inf")
    for box in sorted(boxes, key=lambda box: box.top):
        if box.left < x < box.right or _middle(box) < floor:
            if bands[-1][1] or bands[-1][2]:
                bands.append(([], [], []))
            bands[-1][0].append(box)
            floor = max(floor, box.bottom) if box.left < x < box.right else floor
        else:
            bands[-1][1 if box.right <= x else 2].append(box)
    return bands


def _middle(box: Box) -> float:
    return (box.top + box.bottom) / 2


def _side_by_side(left: list[Box], right: list[Box]) -> bool:
    """Whether two sides of a band are columns of text, and not the cells of rows."""
    if len(left) < 2 or len(right) < 2:
        return False
    if min(box.left for box in right) - max(box.right for box in left) < _GUTTER:
        return False
    (top1, bottom1), (top2, bottom2) = _extent(left), _extent(right)
    if min(bottom1, bottom2) - max(top1, top2) < 0.4 * min(bottom1 - top1, bottom2 - top2):
        return False
    for first, second in ((left, right), (right, left)):
        if _written_after(second, first) and not (second is left and _marks(left)):
            return min(box.bottom for box in second) < max(box.top for box in first)  # it begins beside the first
    return _prose(left) and _prose(right)


def _written_after(second: list[Box], first: list[Box]) -> bool:
    """Whether the file itself writes one column after the other."""
    return max(box.order for box in first) < min(box.order for box in second)


def _marks(boxes: list[Box]) -> bool:
    """Whether most are the bullets or numbers of items, and no words."""
    return median(len(box.text) for box in boxes) <= _MARK


def _extent(boxes: list[Box]) -> tuple[float, float]:
    return min(box.top for box in boxes), max(box.bottom for box in boxes)


def _prose(boxes: list[Box]) -> bool:
    """Whether lines fill their column, or their columns, as running text does."""
    columns: list[list[Span]] = []
    edge = float("-inf")
    for span in sorted((box for box in boxes if isinstance(box, Span)), key=lambda span: span.left):
        if span.left - edge >= _GUTTER:
            columns.append([])
        columns[-1].append(span)
        edge = max(edge, span.right)
    return bool(columns) and all(map(_fills, columns))


def _fills(lines: list[Span]) -> bool:
    if len(lines) < _MIN_LINES or median(len(line.text) for line in lines) < _PROSE_CHARACTERS:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    return 2 * sum(line.right - line.left > 0.7 * width for line in lines) >= len(lines)


def _lines(boxes: list[Box], edge: float, page: int, words: Words) -> list[Line | Table]:
    """The lines and tables of one column from the top down."""
    left, right = min(box.left for box in boxes), max(box.right for box in boxes)
    column = Column(left, right if right - left > _FILLED * (edge - left) else edge)
    rows = rows_of([box for box in boxes if isinstance(box, Span)])
    flow: list[tuple[float, Line | Table]] = [(box.top, box) for box in boxes if isinstance(box, Table)]
    at = 0
    while at < len(rows):
        parted = len(rows[at].spans) > 1 or rows[at].spans[0].gaps
        found = aligned_table(rows, at, words) if parted else None
        if found:
            table, count = found
            flow.append((table.top, table))
            at += count
        else:
            flow.append((rows[at].y - 0.75 * rows[at].size, _line(rows[at], page, column)))
            at += 1
    lines = [item for _, item in sorted(flow, key=lambda entry: entry[0])]
    if right_to_left("".join(item.text for item in lines if isinstance(item, Line))):
        column.left, column.right = -right, -left
        for line in lines:
            if isinstance(line, Line):  # its beginning is where a line of other scripts has it: at the smaller x
                line.left, line.right = -line.right, -line.left
    starts = Counter(round(line.left) for line in lines if isinstance(line, Line))
    usual = [left for left, count in starts.items() if count > 1 and count >= _USUAL * len(lines)]
    column.left = float(min(usual, default=column.left))
    return lines


def _line(row: Row, page: int, column: Column) -> Line:
    spans = sorted(row.spans, key=lambda span: span.left)
    if right_to_left(row.text):
        spans.reverse()
    text = spans[0].text
    for before, span in pairwise(spans):
        close = abs(span.left - before.right) < 0.1 * span.size and not text.endswith(" ")
        text += ("" if close else " ") + span.text
    main = max(spans, key=lambda span: len(span.text))
    left, right = min(span.left for span in spans), max(span.right for span in spans)
    return Line(text, left, right, main.y, main.size, main.bold, main.italic, page, column)
