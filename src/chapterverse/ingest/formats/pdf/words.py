"""Joining lines into running text: hyphens at line ends, dashes, and scripts without spaces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from chapterverse.ingest.formats.pdf.model import HYPHEN

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LAST = re.compile(r"([^\W_]+(?:[-'’][^\W_]+)*)$")
_FIRST = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_BROKEN_NUMBER = (re.compile(r"(?<![\d.,])\d{1,3}\.$"), re.compile(r"\d{1,3}\s?%"))
"""`18.` at the end of a line, and `2%` at the beginning of the next: narrow cells break there."""
_COMPOUNDING = frozenset(
    "all cross eighty ex fifty forty ill half high long low mid ninety quasi self seventy short sixty so thirty twenty"
    " vice well".split()
)
"""First parts of compounds that keep their hyphen, when the book itself does not show how it writes the word."""
_PREFIXES = frozenset("after counter down fore inter over super trans under with".split())
"""What English writes as one with the word behind it."""
_PARTICIPLE = re.compile(r"[^\W\d_]{2,}(?:ed|ing)")
_SHORTEST_PART = 4
_OFTEN = 2
_CUT = re.compile(rf"[^\W_]+[-\u00ad{HYPHEN}]\s*\Z")
"""A part of a word, at the end of a line."""


class Words:
    """The words of a book as it writes them inside lines: the evidence for whether a hyphen belongs to a word."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._seen: Counter[str] = Counter()
        for line in lines:
            self._seen.update(_WORD.findall(_CUT.sub("", line.lower())))
        self._english = 100 * self._seen["the"] > self._seen.total()

    def known(self, word: str) -> bool:
        return self._seen[word.lower()] > 0

    def glue(self, before: str, after: str, full: bool = True) -> str:
        """One line made ready to be followed directly by the next: hyphen dropped or kept, or a space added.

        A dash at the end of a line that is `full` stands between words; in a line of verse it ends the line.
        """
        if before.endswith((HYPHEN, "-", "\u00ad")) and after[:1].isalnum():
            stem = before[:-1]
            if stem[-1:].isalnum():
                return stem + ("-" if self._keeps_hyphen(stem, after, soft=before.endswith("\u00ad")) else "")
        before = before.replace(HYPHEN, "-")
        if _BROKEN_NUMBER[0].search(before) and _BROKEN_NUMBER[1].match(after):
            return before
        if not before or (full and re.search(r"\S[—–]$", before) and after[:1].isalnum()):
            return before
        if _UNSPACED.match(before[-1]) and _UNSPACED.match(after):
            return before
        return before + " "

    def _keeps_hyphen(self, stem: str, after: str, soft: bool) -> bool:
        left, right = _LAST.search(stem), _FIRST.match(after)
        if soft or not left or not right:
            return not soft
        first, second = left[1], right[0]
        if (second[0].isupper() and not first.isupper()) or second[0].isdigit() or first[-1].isdigit():
            return True
        whole, compound = (first + second).lower(), f"{first}-{second}".lower()
        if self._seen[whole] != self._seen[compound]:
            return self._seen[compound] > self._seen[whole]
        return "-" in first or first.lower() in _COMPOUNDING or self._is_compound(first.lower(), second.lower())

    def _is_compound(self, first: str, second: str) -> bool:
        """Whether English joins two words of the book by a hyphen, as in "straight-grained" and "clock-making"."""
        return (
            self._english
            and bool(_PARTICIPLE.fullmatch(second))
            and first not in _PREFIXES
            and all(len(part) >= _SHORTEST_PART and self._seen[part] >= _OFTEN for part in (first, second))
        )


def join(words: Words, texts: Iterable[str]) -> str:
    """Lines as one text."""
    result = ""
    for text in texts:
        result = words.glue(result, text) + text if result else text
    return result.replace(HYPHEN, "-")
