"""Sentences as exact spans of a document's text, found block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from chapterverse.ingest.pairs import short_pairs, within
from chapterverse.types import KEPT_BREAK, Block, Document

_ROW_KINDS = frozenset({"table", "code"})
"""Kinds whose every line is a sentence of its own: a row or a line of code is quoted whole."""

_WHOLE_KINDS = frozenset({"heading", "caption"})

_MARKER = re.compile(r"(?:[-*•–]|\(?(?:[0-9]{1,3}|[A-Za-z]|[ivxlc]{1,6})[.)]|\[\w{1,5}\])[^\S\n]+")
_STOP_INSIDE = re.compile(r"[.?!…].")
"""Where the splitter could cut at all."""
_OTHER_STOPS = re.compile(r"(?<=[。！？｡؟۔।॥])[\"'”’」』）)]*\s*")
"""Full stops of other scripts, which the splitter (trained on English) does not know."""
_UNIT_STOPS = re.compile(
    r"(?<![\w.,])(?:"
    r"[0-9](?:[0-9.,/]*[0-9])? ?(?:[kmµμ]?g|[kcmµμ]?m|t|[cdm]?l|m?L|ft|yd|lbs?|oz|s|min|h|[km][AVW]|k?Wh|Hz|bar)"
    r"(?:/[hms])?[²³]?"
    r"|(?<=[a-z] )(?!(?:1[0-9]|20)[0-9]{2} )[0-9](?:[0-9.,]*[0-9])? ?[AVW]"  # not: in 1902 A. Smith came
    r"|[A-HJ-Z] (?:and|or|to) [A-Z]"  # models A and B
    r")\. +(?=[A-Z][a-z ])"
    r"(?![NESW] |\w+ (?:St|Street|Ave|Avenue|Rd|Road|Blvd)\b)"  # not: 3 m. N of York, 40 W. Broad Street
)
"""Ends of sentences that look like initials or abbreviations to the splitter: amounts, and things named by letters."""
_NO_END = re.compile(
    r"\. [a-z&|;-]"  # a stop alone is a word of a command: git add . && git commit
    r"|[(\[]?(?i:toms?|vols|chs|chaps?|tabs?|arts|fols|nn|vv|max|excl)\. "
    r"(?:[a-z0-9]|(?!I\b)[IVXLC]+\b|I(?:[,;:.)–-]| and [IVX]))"
    r"|[(\[]?(?:Lt|Cmdr|Profs|MM|Mme|Mlle)\. \w"
)
"""A word and what follows, where the splitter cuts though no sentence ends: commands, references, titles new to it."""
_REACH = 12
"""More characters than any of those words has."""
_NUMBERED = re.compile(
    r"(?:[A-Z][^\W\d_]{1,20}\.? |§ ?)?(?:[0-9]{1,3}(?:\.[0-9]{1,3})*[a-z]?|[IVXLC]{1,7})\. "  # Step 5.1.6. Filters
)
"""What a line begins with where its number belongs to what follows: headings, captions, steps."""
_NOTE = re.compile(r"(?:\[\w{1,5}\])+\s*")
_SPEECH_ENDS = re.compile(r"[!?…—-][\"'”’»]\s*\Z")
_SPEAKER = re.compile(
    r"(?:(?:the|my|his|her|our|their) [\w-]{1,20} |[A-Z][\w.’'-]{0,20} ){1,3}"
    r"(?:said|says|asked|asks|cried|replied|answered|added|called|shouted|whispered|exclaimed|murmured|muttered)\b"
)
"""Who says what was said: “Where?” Tom asked."""
_GOES_ON = frozenset(")]},;:”")
"""Marks that no sentence begins with."""

_LONG_BLOCK = 1_000_000
"""A block this long has no paragraphs to speak of; it is split by piece to keep the splitter's memory small."""


class Span(NamedTuple):
    start: int
    end: int


def sentences(document: Document) -> Iterator[Span]:
    """Every sentence, in order. Only white space lies between them, and none crosses a block."""
    for block in document.blocks:
        yield from block_sentences(document.text, block)


def block_sentences(text: str, block: Block) -> Iterator[Span]:
    """The sentences of one block; a list item's marker belongs to its first sentence."""
    if block.kind in _WHOLE_KINDS:
        yield Span(block.start, block.end)
    elif block.kind in _ROW_KINDS:
        yield from _lines(text, block.start, block.end)
    else:
        for line in _joined(text, block.start, block.end):
            yield from _prose(text, line)


def split(text: str) -> list[Span]:
    """The sentences of a loose piece of prose (a draft, a selection)."""
    return [span for line in _joined(text, 0, len(text)) for span in _prose(text, line)]


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        span = _strip(text, start, stop)
        if span.start < span.end:
            yield span
        start = stop + 1


def _joined(text: str, start: int, end: int) -> Iterator[Span]:
    """The lines; those that a sentence may go on over (of verse, of an address) are one."""
    before: Span | None = None
    for line in _lines(text, start, end):
        if before and _goes_on(text, before, line):
            before = Span(before.start, line.end)
            continue
        if before:
            yield before
        before = line
    if before:
        yield before


def _goes_on(text: str, before: Span, line: Span) -> bool:
    """Whether one line ends for its looks only; what looks like a row or an item is one."""
    kept = text[before.end : line.start] == KEPT_BREAK
    return kept and text.rfind(" |", before.start, before.end) < 0 and not _MARKER.match(text, line.start, line.end)


def _prose(text: str, line: Span) -> Iterator[Span]:
    if text.find("\n", line.start, line.end) < 0:
        yield from _cut(text, line)
        return
    flat = text[line.start : line.end].replace("\n", " ")
    for start, end in _cut(flat, Span(0, len(flat))):
        yield Span(line.start + start, line.start + end)


def _cut(text: str, line: Span) -> Iterator[Span]:
    from nupunkt import sent_spans

    marker = _MARKER.match(text, line.start, line.end)
    first = line.start
    body = marker.end() if marker else first
    pairs = short_pairs(text, body, line.end)
    for piece in _pieces(text, body, line.end):
        cuts = {stop.end() for stop in _OTHER_STOPS.finditer(text, piece.start, piece.end)}
        if _STOP_INSIDE.search(text, piece.start, piece.end):
            # Only where sentences begin is taken from the splitter: no character can fall between two of them.
            starts = (_behind_note(text, piece.start + start) for start, _ in sent_spans(text[piece.start : piece.end]))
            cuts |= {start for start in starts if piece.start < start < piece.end and not _inside(text, body, start)}
            cuts.update(stop.end() for stop in _UNIT_STOPS.finditer(text, piece.start, piece.end))
        cuts = {cut for cut in cuts if not within(pairs, cut)}
        for start, end in pairwise(sorted({piece.start, *cuts, piece.end})):
            span = _strip(text, start, end)
            if span.start < span.end:
                yield Span(first if span.start == body else span.start, span.end)


def _behind_note(text: str, start: int) -> int:
    """Where a sentence begins, if the splitter begins it with the mark of a note, which is glued to the one before."""
    note = _NOTE.match(text, start)
    return note.end() if note and start and not text[start - 1].isspace() else start


def _inside(text: str, first: int, start: int) -> bool:
    """Whether a sentence that the splitter begins here goes on from the one before; the line begins at `first`."""
    if text[start] in _GOES_ON:
        return True
    if text[start].islower() and text[max(first, start - _REACH) : start].rstrip().endswith(("!", "?")):
        return True
    if _SPEECH_ENDS.search(text[max(first, start - _REACH) : start]) and _SPEAKER.match(text, start):
        return True
    if text[start - 2 : start] != ". ":
        return False
    if _NUMBERED.fullmatch(text, first, start):
        return True
    word = text[max(first, start - _REACH) : start - 1].rpartition(" ")[2]
    return _NO_END.match(f"{word} {text[start : start + _REACH]}") is not None


def _pieces(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > _LONG_BLOCK:
        cut = text.rfind(" ", start, start + _LONG_BLOCK) + 1 or start + _LONG_BLOCK
        yield Span(start, cut)
        start = cut
    if start < end:
        yield Span(start, end)


def _strip(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
