"""An EPUB's outline: the table of contents decides chapters and levels, and printed headings are said once."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.epub_package import Entry, Package
from chapterverse.ingest.formats.markup.passages import Passage
from chapterverse.ingest.formats.markup.reader import MarkupReader

_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(r"(?:(?:chapter|part|book|section|appendix|letter|act|volume)\s+\w+|[0-9]+|[ivxlc]+)\W*", re.I)
_LONGEST_RUN = 3
"""Headings in a row that may print one title between them ("Chapter 1", "The Cellar")."""

_NEAR = 4
"""Passages after the start of a chapter among which its title may still be printed."""


def place_contents(package: Package, starts: Mapping[str, int], reader: MarkupReader, composer: Composer) -> None:
    """Note at each passage which entries of the table of contents begin there."""
    for entry in _without_half_title(package):
        index = _start(entry, starts, reader)
        if index is None:
            if entry.target.partition("#")[0] not in package.unread:
                composer.warn(f"The contents entry {entry.title!r} leads to {entry.target!r}, which is not there.")
        elif index < len(reader.passages) and entry.title:
            reader.passages[index].sections.append((entry.title, entry.level))


def compose(passages: Sequence[Passage], composer: Composer) -> None:
    """Tell the composer all passages; a heading is a level below its chapter's by as much as the markup says."""
    index, level, rank = 0, 0, 0
    awaited, awaited_until = "", -1
    while index < len(passages):
        passage = passages[index]
        begun = index
        for title, level in passage.sections:
            count = _printing(title, passages, index)
            rank = passages[index].level if count else 0
            if count:
                _write_title(passages[index : index + count], title, level, composer)
                index += count
                awaited = ""
            else:
                composer.section(title, level)
                awaited, awaited_until = title, index + _NEAR
        if index > begun:
            continue
        if awaited and index < awaited_until and passage.kind == "heading" and _says(passage.text, awaited):
            composer.add("heading", passage.rendered(), passage.cfi)
            awaited, rank = "", passage.level
        else:
            passage.write(composer, level + max(0, passage.level - rank))
        index += 1


def _without_half_title(package: Package) -> list[Entry]:
    """The entries, with those below the book's own title raised: the title of a book is no chapter of it."""
    titles = [_words(title) for title in package.titles]
    result: list[Entry] = []
    raised_below: int | None = None
    for number, entry in enumerate(package.contents):
        if raised_below is not None and entry.level <= raised_below:
            raised_below = None
        result.append(Entry(entry.title, entry.level - (raised_below is not None), entry.target))
        has_more = any(below.level > entry.level for below in package.contents[number + 1 : number + 2])
        if raised_below is None and has_more and any(title.startswith(_words(entry.title)) for title in titles):
            raised_below = entry.level
    return result


def _start(entry: Entry, starts: Mapping[str, int], reader: MarkupReader) -> int | None:
    """The passage that an entry leads to; a heading of its title will do where its fragment is not to be found."""
    name, _, fragment = entry.target.partition("#")
    if name not in starts:
        return None
    if not fragment:
        return starts[name]
    anchor = reader.anchors.get(entry.target)
    if anchor is not None:
        before = anchor.start - 1
        if before >= starts[name] and _is_title(reader.passages[before], entry.title):
            return before  # the anchor stands behind the heading that it is meant for
        return anchor.start
    first, order = starts[name], sorted(starts.values())
    position = bisect_right(order, first)
    end = order[position] if position < len(order) else len(reader.passages)
    return next((index for index in range(first, end) if _is_title(reader.passages[index], entry.title)), None)


def _printing(title: str, passages: Sequence[Passage], start: int) -> int:
    """How many headings, from `start` on, print the title between them."""
    text, found = "", 0
    for count in range(1, _LONGEST_RUN + 1):
        index = start + count - 1
        if index >= len(passages) or passages[index].kind != "heading" or (count > 1 and passages[index].sections):
            break
        if count > 1 and not found and not _NUMBERED.fullmatch(text.strip()):
            break
        text += " " + passages[index].text
        if _words(title) in _words(text):
            return count
        if _words(text) in _words(title):
            found = count
    return found


def _write_title(headings: Sequence[Passage], title: str, level: int, composer: Composer) -> None:
    """Print the headings that make up a title as one; the longer of the two forms names the chapter."""
    printed = Passage("heading", list(headings[0].pieces), level, cfi=headings[0].cfi)
    for heading in headings[1:]:
        printed.pieces += [": ", *heading.pieces]
    if _words(title) in _words(printed.text):
        printed.write(composer)
    else:
        composer.section(title, level)
        composer.add("heading", printed.rendered(), printed.cfi)


def _is_title(passage: Passage, title: str) -> bool:
    return passage.kind == "heading" and not passage.sections and _words(passage.text) == _words(title)


def _says(heading: str, title: str) -> bool:
    """Whether one is part of the other, word by word."""
    return _words(heading) in _words(title) or _words(title) in _words(heading)


def _words(text: str) -> str:
    """The words of a title, with a space on either side of each, so that `in` compares whole words."""
    return " " + " ".join(word.casefold() for word in _WORD.findall(text)) + " "
