"""Scope: where in the book a question wants to be answered from, said outright or in its own words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from chapterverse.answer.wording import AUXILIARIES
from chapterverse.errors import InvalidQueryError
from chapterverse.types import Filter

ScopeType = Literal["full-book", "section-specific", "page-specific"]
SCOPE_TYPES: tuple[ScopeType, ...] = ("full-book", "section-specific", "page-specific")

Outline = Sequence[tuple[str, ...]]
"""Every heading path of the books that are asked, chapter first."""

_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_NUMERALS = {100: "c", 90: "xc", 50: "l", 40: "xl", 10: "x", 9: "ix", 5: "v", 4: "iv", 1: "i"}
_ENDLESS = 16
"""So many digits are no number of anything in a book."""
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
).split()
_ORDINALS = (
    "- first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_NUMBER = rf"(?:[0-9]{{1,4}}(?:\.[0-9]+)*|[ivxlc]{{1,8}}|{'|'.join(_WORDS[1:])})"
_TO = r"(?:[-–]|\bto\b|\bthrough\b)"
"""Between the first and the last of several."""
_MOST_PAGES = 10_000
"""How many pages a range may have: each is a name that is looked for."""
_DIVISIONS = "chapter|part|section|slide|book|volume|act|canto|stave|letter|lesson|lecture|unit|module"
_NAMED = re.compile(
    rf"\b(?P<kind>(?:{_DIVISIONS}|clause|article|schedule|annex|appendix|pages?)\s+|(?:ch|pp?)\.\s*)"
    rf"(?P<number>{_NUMBER}|[a-z])(?:\s*{_TO}\s*(?P<last>{_NUMBER}|[0-9]{{5,}}))?(?![\w-])",
    re.IGNORECASE,
)
_NTH = re.compile(rf"\bthe\s+(?P<number>{'|'.join(_ORDINALS[1:])})\s+(?P<kind>{_DIVISIONS})\b", re.IGNORECASE)
_LEADING = re.compile(rf"(?P<kind>[a-z]+\.?\s+)?(?P<number>{_NUMBER})(?![\w-])", re.IGNORECASE)
_MORE = re.compile(r"\s*(?:and|or|&)\s*[0-9]")
"""`chapter 2 and 3`"""
_WITHIN = re.compile(r"\s*,\s*|\s+(?:of|in|on)\s+", re.IGNORECASE)
"""`page 45 of chapter 3`"""
_PLACED = re.compile(r"(?:^|,?\s+)(?:in|on|from|within|under|according\s+to)\s+(?:the\s+)?$", re.IGNORECASE)
"""`…, according to chapter 3`"""
_DOES = re.compile(r"\bwhat\s+(?:does|do|did)\s+(?:the\s+)?$", re.IGNORECASE)
_SAY_ABOUT = re.compile(
    r"\s+(?:say|tell|state|teach|write|explain)(?:\s+(?:us|me|you))?\s+(?=(?:about|of|on)\s)", re.IGNORECASE
)
_SECTIONS = ("section", "clause", "article")
"""What a heading may be that has a number alone: `13. Assignment`."""
_KINDS = {"ch.": "chapter", "p.": "page", "pages": "page", "pp.": "page"}


@dataclass(frozen=True, slots=True)
class QueryScope:
    """The whole book, a section of it, or pages; `description` is for people."""

    type: ScopeType = "full-book"
    identifier: str | None = None
    description: str = "the whole book"

    def __post_init__(self) -> None:
        if self.type not in SCOPE_TYPES:
            raise InvalidQueryError(f"scope type is {self.type!r}; it must be one of {', '.join(SCOPE_TYPES)}.")
        if self.type != "full-book" and not (self.identifier or "").strip():
            raise InvalidQueryError(f"A {self.type} scope needs an identifier, such as 'Chapter 3' or '45'.")
        if self.type == "full-book" and (self.identifier or "").strip():
            raise InvalidQueryError(
                "scope.identifier: a full-book scope has none. Leave it out, or make the scope section-specific or"
                " page-specific."
            )


FULL_BOOK = QueryScope()


def parse_scope(question: str) -> QueryScope:
    """The scope that a question names: "…in Chapter 3", "on page 45", "slide 7"; the whole book if it names none.

    Also if it names several: `Compare chapter 2 with chapter 3` cannot be answered from one of them.
    """
    named = _named(question)
    return FULL_BOOK if named is None else _scope(named)


def without_scope(question: str) -> str:
    """A question without the words that name its scope."""
    named = _named(question)
    return question if named is None else f"{question[: named.start()]} {question[named.end() :]}"


def asked_there(question: str) -> str:
    """What a question asks of the scope that it names, for whoever reads that scope alone.

    Pages do not tell of themselves that they are in chapter 3. Where the question needs those words, it keeps them.
    """
    named = _named(question)
    if named is None:
        return question
    before, after = question[: named.start()], question[named.end() :]
    does, say, placed = _DOES.search(before), _SAY_ABOUT.match(after), _PLACED.search(before)
    if does and say:
        asked = f"{before[: does.start()]}what is said {after[say.end() :]}"
    elif placed:
        asked = f"{before[: placed.start()]} {after.lstrip(' ,:')}".strip()
    else:
        return question
    asked = re.sub(r"\s+(?=[?.!]*$)", "", asked)
    words = re.findall(r"\w+", asked.lower())
    stands = len(words) > 2 and words[-1] not in AUXILIARIES and _named(asked) is None
    return asked if stands else question


def may_be_elsewhere(scope: QueryScope) -> bool:
    """Whether a question may name a scope of something else than the book: a section of a law, a part of a letter."""
    return scope.type == "section-specific" and not (scope.identifier or "").startswith("chapter ")


def _named(question: str) -> re.Match[str] | None:
    """Where a question names its scope, if it names one."""
    found = [match for match in _NAMED.finditer(question) if _is_number(match)] or [*_NTH.finditer(question)]
    several = len({_scope(match).identifier for match in found}) > 1 and not _nested(question, found)
    return None if not found or several or _MORE.match(question, found[0].end()) else found[0]


def _nested(question: str, found: Sequence[re.Match[str]]) -> bool:
    """Whether there are two names, and one is of a place within the other."""
    first, second, *more = found
    between = question[first.end() : second.start()]
    return not more and _kind(first) != _kind(second) and _WITHIN.fullmatch(between) is not None


def _is_number(named: re.Match[str]) -> bool:
    """Whether a scope's number is one, or a letter that stands for one; it does not in `the part a mentor plays`."""
    number, kind = named["number"], _kind(named)
    as_roman = number in "ivx" and kind in ("chapter", "page")
    return len(number) > 1 or not number.islower() or kind == "appendix" or as_roman


def _kind(named: re.Match[str]) -> str:
    kind = named["kind"].strip().lower()
    return _KINDS.get(kind, kind)


def _scope(named: re.Match[str]) -> QueryScope:
    kind, number = _kind(named), named["number"]
    if number.lower() in _ORDINALS:
        number = str(_ORDINALS.index(number.lower()))
    last = named.groupdict().get("last")
    identifier = f"{number}-{last}" if last else number
    if kind == "page":
        return QueryScope("page-specific", identifier, f"page {identifier}")
    return QueryScope("section-specific", f"{kind} {identifier}", f"{kind.capitalize()} {identifier}")


def named_scope(section: str | None, pages: str | None) -> QueryScope | None:
    """The scope that a section ("Chapter 3", a title, even "page 45") or pages ("45", "12-15") name, if any."""
    if section is not None and pages is not None:
        raise InvalidQueryError("Give a chapter or pages, not both.")
    if pages is not None:
        return QueryScope("page-specific", pages, f"page {pages}")
    if section is None:
        return None
    named = parse_scope(section) if _NAMED.fullmatch(section.strip()) else FULL_BOOK
    return named if named.type == "page-specific" else QueryScope("section-specific", section, section)


def resolve_scope(scope: QueryScope, outline: Outline) -> Filter | None:
    """The filter that a scope means in these books; one that names nothing in them matches nothing."""
    if scope.type == "full-book":
        return None
    identifier = (scope.identifier or "").strip()
    if scope.type == "page-specific":
        return _pages(identifier)
    slide = re.fullmatch(rf"slide\s+({_NUMBER})", identifier, re.IGNORECASE)
    if slide:
        return Filter(slides=(number_of(slide[1]) or 0,))
    chapters, sections = _headings(outline)
    for matching in (_exactly, _partly):
        if chosen := matching(identifier, chapters, True):
            return Filter(chapters=tuple(chosen))
        if chosen := matching(identifier, sections, False):
            return Filter(sections=tuple(chosen))
    return Filter(sections=())


def titled(scope: QueryScope, line: str) -> bool:
    """Whether a line is the heading of this chapter or section, and has a title beside its number."""
    identifier = scope.identifier or ""
    number = _LEADING.match(_fold(line))
    named = number is not None and re.search(r"[^\W\d_]", line[number.end() :]) is not None
    return named and scope.type == "section-specific" and bool(_partly(identifier, [line], chapter=True))


def resolve_names(where: Filter, outline: Outline) -> Filter:
    """A filter whose chapters and sections may be named as in a scope; a name that is nobody's stays as it is."""
    chapters, sections = _headings(outline)
    return replace(
        where,
        chapters=_resolved(where.chapters, chapters, chapter=True),
        sections=_resolved(where.sections, sections, chapter=False),
    )


def _headings(outline: Outline) -> tuple[list[str], list[str]]:
    """Every chapter, and every section, once."""
    chapters, sections = (list(dict.fromkeys(path[level] for path in outline if path)) for level in (0, -1))
    return chapters, sections


def _resolved(names: Sequence[str] | None, headings: Sequence[str], *, chapter: bool) -> tuple[str, ...] | None:
    if names is None:
        return None
    found = ((_exactly(name, headings, chapter) or _partly(name, headings, chapter) or [name]) for name in names)
    return tuple(dict.fromkeys(heading for one in found for heading in one))


def number_of(text: str) -> int | None:
    """A number in digits, Roman numerals or words."""
    text = text.lower()
    if text.isdecimal() and len(text) < _ENDLESS:
        return int(text)
    if text in _WORDS:
        return _WORDS.index(text)
    if not _is_roman(text):
        return None
    values = [_ROMAN[letter] for letter in text]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def _pages(identifier: str) -> Filter:
    """Pages as citations name them: printed labels are what a reader sees, so they are what a page means."""
    named = re.sub(r"^(?:pages?|pp?\.)\s*", "", identifier, flags=re.IGNORECASE).strip()
    first, *more = (one.strip() for one in re.split(_TO, named, maxsplit=1, flags=re.IGNORECASE))
    if not more:
        return Filter(page_labels=(first,))
    low, high = number_of(first), number_of(more[0])
    numerals = {_is_roman(end) for end in (first, more[0])}
    if low is None or high is None or low > high or len(numerals) > 1:
        raise InvalidQueryError(
            f"{identifier!r} is not a range of pages; write it as '12-15' or 'iv-vii', from the first to the last."
        )
    if high - low >= _MOST_PAGES:
        raise InvalidQueryError(f"{identifier!r} has more than {_MOST_PAGES:,} pages; name a shorter range.")
    labels = (_roman(page) if True in numerals else str(page) for page in range(low, high + 1))
    return Filter(page_labels=tuple(label.upper() if first.isupper() else label for label in labels))


def _roman(number: int) -> str:
    numeral = ""
    for value, letters in _NUMERALS.items():
        count, number = divmod(number, value)
        numeral += letters * count
    return numeral


def _is_roman(text: str) -> bool:
    return bool(text) and all(letter in _ROMAN for letter in text.lower())


def _exactly(identifier: str, headings: Iterable[str], _: bool) -> list[str]:
    """Headings that an identifier names in full."""
    wanted = _words(identifier)
    return [heading for heading in headings if _words(heading) == wanted]


def _partly(identifier: str, headings: Iterable[str], chapter: bool) -> list[str]:
    """Headings that an identifier names by a part of them, or by their number ("Chapter 3", "III", "3.2")."""
    wanted = _fold(identifier)
    number = _LEADING.fullmatch(wanted)
    if number is None:
        words = _words(identifier)
        return [heading for heading in headings if words and words in _words(heading)]
    kind = (number["kind"] or "").strip().rstrip(".")
    return [heading for heading in headings if _numbered(_fold(heading), kind, number["number"], chapter)]


def _numbered(heading: str, kind: str, number: str, chapter: bool) -> bool:
    """Whether a heading carries this number: under the same word, or, for a chapter, with no word at all."""
    found = _LEADING.match(heading)
    if found is None:
        return False
    word = (found["kind"] or "").strip().rstrip(".")
    if word and kind and word != kind:
        return False
    if not word and not (chapter or kind in ("", *_SECTIONS)):
        return False
    value = number_of(number)
    same = found["number"] == number or (value is not None and number_of(found["number"]) == value)
    return same and (bool(word) or kind in ("", "chapter", *_SECTIONS))


def _words(text: str) -> str:
    """A heading as names are compared: contents may part by a colon what the page parts by a line."""
    return " ".join(re.findall(r"\w+(?:\.\d+)*", _fold(text)))


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
