"""Reading order: which spans stand in columns, and which lines they make there."""

from __future__ import annotations

from collections import Counter
from statistics import median

from chapterverse.ingest.formats.pdf.furniture import Row, rows_of
from chapterverse.ingest.formats.pdf.model import Column, Line, PageContent, Span, Table
from chapterverse.ingest.formats.pdf.page import right_to_left
from chapterverse.ingest.formats.pdf.tables import aligned_run, aligned_table, cut_ruled_tables
from chapterverse.ingest.formats.pdf.words import Words

Box = Span | Table

_MAX_DEPTH = 3
_MIN_LINES = 3
"""A column has at least so many lines."""
_PROSE_CHARACTERS = 18
_GUTTER = 4.0
_MAX_CANDIDATES = 40


def read_lines(page: PageContent, words: Words) -> list[Line | Table]:
    """The lines and tables of a page in reading order."""
    spans = _with_initials(page.spans, words)
    tables, rest = cut_ruled_tables(spans, page.rulings, words)
    flow: list[Line | Table] = []
    groups = _columns([*rest, *tables], 0)
    for boxes in groups:
        flow += _lines(boxes, page.index)
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


def _columns(boxes: list[Box], depth: int) -> list[list[Box]]:
    """Boxes parted into columns, each read to its end before the next."""
    gutter = _best_gutter(boxes) if depth < _MAX_DEPTH and len(boxes) >= 2 * _MIN_LINES else None
    if gutter is None:
        return [boxes] if boxes else []
    columns: list[list[Box]] = []
    whole: list[Box] = []
    for crossing, left, right in _bands(boxes, gutter):
        whole += crossing
        if _side_by_side(left, right):
            columns += [whole] if whole else []
            columns += _columns(left, depth + 1) + _columns(right, depth + 1)
            whole = []
        else:
            whole += left + right
    return columns + ([whole] if whole else [])


def _best_gutter(boxes: list[Box]) -> float | None:
    """The left edge of a column that most text is set beside; None where there are no columns."""
    lefts = Counter(round(box.left / 2) for box in boxes)
    edges = sorted(left for left, count in lefts.items() if count + lefts[left + 1] + lefts[left - 1] >= _MIN_LINES)
    best, most = None, 0
    for edge in edges[1 : _MAX_CANDIDATES + 1]:
        x = 2 * edge - 2.0
        if sum(box.right <= x for box in boxes) < _MIN_LINES:
            continue
        beside = sum(
            len(left) + len(right) for _, left, right in _bands(boxes, x) if _side_by_side(left, right)
        )  # fmt: skip
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
    if len(left) < _MIN_LINES or len(right) < _MIN_LINES:
        return False
    if min(box.left for box in right) - max(box.right for box in left) < _GUTTER:
        return False
    (top1, bottom1), (top2, bottom2) = _extent(left), _extent(right)
    if min(bottom1, bottom2) - max(top1, top2) < 0.4 * min(bottom1 - top1, bottom2 - top2):
        return False
    if max(box.order for box in left) < min(box.order for box in right):
        return True  # the file itself writes one column after the other
    return _prose(left) and _prose(right)


def _extent(boxes: list[Box]) -> tuple[float, float]:
    return min(box.top for box in boxes), max(box.bottom for box in boxes)


def _prose(boxes: list[Box]) -> bool:
    """Whether lines fill their column, as running text does."""
    lines = [box for box in boxes if isinstance(box, Span)]
    if len(lines) < _MIN_LINES or median(len(line.text) for line in lines) < _PROSE_CHARACTERS:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    return 2 * sum(line.right - line.left > 0.7 * width for line in lines) >= len(lines)


def _lines(boxes: list[Box], page: int) -> list[Line | Table]:
    """The lines and tables of one column from the top down."""
    column = Column(min(box.left for box in boxes), max(box.right for box in boxes))
    rows = rows_of([box for box in boxes if isinstance(box, Span)])
    flow: list[tuple[float, Line | Table]] = [(box.top, box) for box in boxes if isinstance(box, Table)]
    at = 0
    while at < len(rows):
        count = aligned_run(rows, at) if len(rows[at].spans) > 1 else 0
        if count:
            table = aligned_table(rows[at : at + count])
            flow.append((table.top, table))
        else:
            flow.append((rows[at].y - 0.75 * rows[at].size, _line(rows[at], page, column)))
        at += count or 1
    lines = [item for _, item in sorted(flow, key=lambda entry: entry[0])]
    starts = Counter(round(line.left) for line in lines if isinstance(line, Line))
    if starts:
        column.left = float(min(left for left, count in starts.items() if count == max(starts.values())))
    return lines


def _line(row: Row, page: int, column: Column) -> Line:
    spans = sorted(row.spans, key=lambda span: span.left)
    if right_to_left(row.text):
        spans.reverse()
    text = spans[0].text
    for before, span in zip(spans, spans[1:], strict=False):
        close = abs(span.left - before.right) < 0.1 * span.size and not text.endswith(" ")
        text += ("" if close else " ") + span.text
    main = max(spans, key=lambda span: len(span.text))
    left, right = min(span.left for span in spans), max(span.right for span in spans)
    return Line(text, left, right, main.y, main.size, main.bold, main.italic, page, column)
