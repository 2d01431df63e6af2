"""The outline: bookmarks matched to the lines that they name; without bookmarks, what type and words make plain."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict

from chapterverse.ingest.formats.pdf.model import Bookmark, Line, Passage, Table
from chapterverse.ingest.formats.pdf.passages import CHAPTER, is_contents_line

_NAMED = re.compile(
    r"(?:preface|prologue|epilogue|introduction|foreword|conclusions?|acknowledge?ments|afterword|glossary|references"
    r"|bibliography|abstract|summary|index|contents|table of contents|notes)$",
    re.I,
)
_NOT_WORDS = re.compile(r"[\W_]+")
_MAX_LENGTH = 160
_MAX_LINES = 4
_LARGER = 1.15
_MAX_LEVELS = 4

Style = tuple[float, bool]


def match_bookmarks(bookmarks: list[Bookmark], pages: list[list[Line | Table]]) -> dict[int, list[Bookmark]]:
    """Mark the lines that bookmarks name as headings; the bookmarks whose words are not printed, by page."""
    unprinted: dict[int, list[Bookmark]] = defaultdict(list)
    for bookmark in bookmarks:
        if bookmark.page >= len(pages):
            continue
        lines = [line for line in pages[bookmark.page] if isinstance(line, Line) and not is_contents_line(line.text)]
        found = _named_lines(bookmark, lines)
        for line in found:
            line.level = bookmark.level
        if not found:
            unprinted[bookmark.page].append(bookmark)
    return unprinted


def _folded(text: str) -> str:
    return _NOT_WORDS.sub("", text).casefold()


def _named_lines(bookmark: Bookmark, lines: list[Line]) -> list[Line]:
    """The lines that print a bookmark's title: those set largest, then those nearest to where it points."""
    title = _folded(bookmark.title)
    matches: list[list[Line]] = []
    for start, line in enumerate(lines):
        text = ""
        for stop in range(start, min(start + _MAX_LINES, len(lines))):
            text += _folded(lines[stop].text)
            if text == title and line.level is None:
                matches.append(_with_number(lines, start, stop))
            if not title.startswith(text):
                break
    if not title or not matches:
        return []
    return max(matches, key=lambda found: (round(found[0].size), -abs(found[0].y - (bookmark.y or 0.0))))


def _with_number(lines: list[Line], start: int, stop: int) -> list[Line]:
    """A heading's lines, with "Chapter 1" on a line of its own above them."""
    if start and lines[start - 1].level is None and CHAPTER.fullmatch(lines[start - 1].text.strip()):
        start -= 1
    return lines[start : stop + 1]


def open_unprinted(passages: list[Passage], unprinted: dict[int, list[Bookmark]]) -> None:
    """Let bookmarks whose words are not printed open at the first passage of their page that lies below them."""
    by_page: dict[int, list[Passage]] = defaultdict(list)
    for passage in passages:
        by_page[passage.page].append(passage)
    filled = sorted(by_page)
    for page, bookmarks in unprinted.items():
        later = bisect_right(filled, page)
        fallback = by_page[filled[later]][0] if later < len(filled) else None
        for bookmark in bookmarks:
            below = (p for p in by_page.get(page, ()) if bookmark.y is None or _bottom(p) > bookmark.y)
            place = next(below, fallback)
            if place:
                place.sections.append((bookmark.title, bookmark.level))


def _bottom(passage: Passage) -> float:
    return passage.table.bottom if passage.table else passage.lines[0].y


def infer_headings(passages: list[Passage], body_size: float) -> list[Passage]:
    """Headings by their type and words, for a file without bookmarks; returns the passages with titles joined."""
    candidates = [_is_candidate(passage, body_size) for passage in passages]
    _drop_contents(passages, candidates)
    headings = [passage for passage, candidate in zip(passages, candidates, strict=True) if candidate]
    levels = _levels(headings)
    for passage in headings:
        passage.kind, passage.level = "heading", levels[_style(passage)]
    return _joined_titles(passages)


def _text(passage: Passage) -> str:
    return " ".join(line.text.strip() for line in passage.lines)


def _style(passage: Passage) -> Style:
    line = passage.lines[0]
    return round(line.size * 2) / 2, line.bold


def _is_candidate(passage: Passage, body_size: float) -> bool:
    if passage.kind not in ("paragraph", "list") or len(passage.lines) > _MAX_LINES:
        return False
    text, line = _text(passage), passage.lines[0]
    if len(text) > _MAX_LENGTH or not re.search(r"[^\W\d_]{2}|^[IVXLC\d]+\.?$", text) or is_contents_line(text):
        return False
    if text.lower().startswith("by ") or text[-1] in ",;" or text[0] in "•–-*":
        return False
    size, bold = _style(passage)
    if CHAPTER.match(text):
        named = CHAPTER.fullmatch(text) or text[-1] not in ".?!" or size >= _LARGER * body_size
        return bool(named) and size >= body_size
    if _NAMED.match(text):
        return size >= body_size and (bold or size > 1.05 * body_size or text.isupper())
    if size >= _LARGER * body_size:
        return not (text[-1] == "." and len(passage.lines) > 1) and len(text.split()) <= 20
    alone = len(passage.lines) == 1 and not line.italic and text[-1] not in ".:?!"
    return bold and size >= 0.98 * body_size and alone and len(text.split()) <= 12


def _drop_contents(passages: list[Passage], candidates: list[bool]) -> None:
    """A chapter named twice is named in the contents first: what is set largest, or else comes last, is its heading."""
    named: dict[str, list[int]] = defaultdict(list)
    for index, passage in enumerate(passages):
        chapter = CHAPTER.match(_text(passage)) if candidates[index] else None
        if chapter:
            named[_folded(chapter[0])].append(index)
    for places in named.values():
        heading = max(places, key=lambda index: (*_style(passages[index]), index))
        for index in places:
            if index != heading and _style(passages[index]) != _style(passages[heading]):
                candidates[index] = False
                passages[index].kind = "list"


def _levels(headings: list[Passage]) -> dict[Style, int]:
    """A level for each style: chapters are level 1, what is set larger too, and smaller styles lie below."""
    styles = Counter(_style(passage) for passage in headings)
    chapters = Counter(_style(passage) for passage in headings if CHAPTER.match(_text(passage)))
    pages = {style: {p.page for p in headings if _style(p) == style} for style in styles}
    ordered = sorted(styles, reverse=True)
    first = chapters.most_common(1)[0][0] if chapters else None
    if first is None:
        once = [style for style in ordered if styles[style] == 1 and pages[style] <= {0, 1}]
        first = next((style for style in ordered if style not in once), None)
    levels: dict[Style, int] = {}
    level = 1
    for style in ordered:
        levels[style] = level
        if first is not None and style <= first:
            level = min(level + 1, _MAX_LEVELS)
    return levels


def _joined_titles(passages: list[Passage]) -> list[Passage]:
    """ "Chapter 1" and the title set below it are one heading."""
    joined: list[Passage] = []
    for passage in passages:
        last = joined[-1] if joined else None
        if (
            last
            and last.kind == passage.kind == "heading"
            and last.page == passage.page
            and CHAPTER.fullmatch(_text(last).strip())
            and not CHAPTER.match(_text(passage))
        ):
            last.lines += passage.lines
        else:
            joined.append(passage)
    return joined
