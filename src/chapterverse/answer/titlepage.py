"""Titles: what a book says of itself, or a chapter is called, stands in lines, and a reader judges sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chapterverse.answer.facts import names
from chapterverse.answer.questions import asks_about_book, content
from chapterverse.answer.scope import parse_scope, titled, without_scope
from chapterverse.answer.wording import FUNCTION_WORDS

_AUTHOR = re.compile(r"\b(?:authors?|writer)\b|\bwho\w*\b.*\b(?:wrote|written)\b", re.IGNORECASE)
_ANOTHER_THING = re.compile(r"\b(?:when|where|why|how|year|date)\b", re.IGNORECASE)
"""What may be asked of an author too, or of the writing."""
_TITLE = re.compile(r"\b(?:title|titled|called|named?)\b", re.IGNORECASE)
_CALLED = re.compile(rf"{_TITLE.pattern}|\bhead(?:ing|ed)\b", re.IGNORECASE)
_OF_A_TITLE = content("title titled name named called heading headed book novel")
"""All that a question has which asks for the title of a chapter."""
_NAME = r"[A-Z][\w.'’-]*(?:,?\s(?:[A-Z][\w.'’-]*|and|&|de|du|la|of|van|von))*"
_BY_LINES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"^(?i:authors?\s*:|written\s+by\b:?)\s*{_NAME}.*$",
        rf"^(?i:by)\b:?[ ]{_NAME}\.?(?:,.*)?$",
        rf"^(?P<before>.*\S),?\s(?i:by)\s{_NAME}\.?$",
    )
)
"""The surest first."""
_ANOTHER_HAND = re.compile(
    r"(?<!\bwritt)(?:ed|en|wn)$|\b(?:introduction|foreword|preface|notes|illustrations|art)$", re.I
)
"""`Translated by`, `with an introduction by`"""
_MARK = re.compile(r"(?<=\S)(?:\[\w+\]|[\d⁰¹²³⁴-⁹*†‡§]+(?:,[\d⁰¹²³⁴-⁹*†‡§]+)*)")
"""What stands behind a name for a note, or for where its bearer works."""
_JOINT = re.compile(r"[,;&]|\band\b")
_PERSON = re.compile(r"[^\W\d_a-z][\w.'’-]*(?:\s+(?:de|der|du|la|le|van|von|[^\W\d_a-z][\w.'’-]*)){1,4}")
_NO_PERSON = content(
    "university institute department faculty school college academy agency ministry office authority press publisher"
    " publishing company group centre center laboratory society association council foundation ltd inc street city"
    " book books edition editions house sons san new los"
)
_TITLE_LINES = 6
"""How many lines a title page may have before the names of those who wrote it end."""
_NAMED_SO = re.compile(r"^title\s*:\s*\S.*$", re.IGNORECASE | re.MULTILINE)
_LONGEST = 120
"""Signs. What is longer is no line of a title page."""
_LONGEST_TITLE = 90


def asks_for_heading(question: str) -> bool:
    """Whether a question asks what a chapter or section is called: `What is the title of chapter 5?`"""
    named = parse_scope(question).type == "section-specific" and _CALLED.search(question) is not None
    return named and content(without_scope(question)) <= _OF_A_TITLE


def title_line(question: str, opening: str) -> tuple[int, int] | None:
    """The line that a book or chapter opens with which names its author or its title, whichever is asked for."""
    if asks_for_heading(question):
        line = _line(opening)
        return line if titled(parse_scope(question), opening[slice(*line)]) else None
    if not asks_about_book(question):
        return None
    if _AUTHOR.search(question):
        found = (match for by_line in _BY_LINES for match in by_line.finditer(opening))
        by_lines = (match.span() for match in found if _is_by_line(match))
        return next(by_lines, None) or next(_lines_of_names(opening), None)
    if _TITLE.search(question):
        named = _NAMED_SO.search(opening)
        return named.span() if named else _first_line(opening)
    return None


def _is_by_line(match: re.Match[str]) -> bool:
    before = match.groupdict().get("before") or ""
    return len(match[0]) <= _LONGEST and not _ANOTHER_HAND.search(before.rstrip(","))


def may_name_author(question: str, sentence: str) -> bool:
    """Whether a sentence has a name, where a question asks for nothing but who wrote the book."""
    asked = asks_about_book(question) and _AUTHOR.search(question) and not _ANOTHER_THING.search(question)
    return not asked or any(not name.opens for name in names(sentence))


def _lines_of_names(opening: str) -> Iterator[tuple[int, int]]:
    """Lines below the title that have the names of several persons and nothing else, as reports and papers do.

    A title may look like it: "Street Trees and Night Heat". But its words stand in small letters elsewhere. Whoever is
    named alone above them has written it, and they are those it is for; so are they behind "For".
    """
    _, *lines = [match.span() for match in re.finditer(r"\S[^\n]*", opening)][:_TITLE_LINES] or [(0, 0)]
    common = content(" ".join(word for word in opening.split() if word.islower())) | _NO_PERSON
    for start, end in lines:
        line = opening[start:end].rstrip()
        persons = [part.strip() for part in _JOINT.split(_MARK.sub("", line))]
        several = len(persons) > 1 or _MARK.search(line)
        if line.split()[0].lower() in FUNCTION_WORDS:
            continue
        named = content(" ".join(word for word in line.split() if not word.islower()))
        if len(line) <= _LONGEST and several and all(map(_PERSON.fullmatch, persons)) and not named & common:
            yield start, start + len(line)
        elif not several and _PERSON.fullmatch(line) and not named & common:
            return


def _first_line(opening: str) -> tuple[int, int] | None:
    """What an opening begins with, if that can be a title: a short line that ends as no sentence does."""
    start, end = _line(opening)
    line = opening[start:end]
    title = line[:1].isupper() and len(line) <= _LONGEST_TITLE and line[-1] not in ".,;:!"
    return (start, end) if title else None


def _line(opening: str) -> tuple[int, int]:
    start = len(opening) - len(opening.lstrip())
    return start, start + len(opening.lstrip().partition("\n")[0].rstrip())
