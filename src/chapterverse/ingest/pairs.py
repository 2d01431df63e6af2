"""Quotations and brackets that open and close within a line: no sentence begins or ends inside a short one."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

_OPENED_BY = {
    ")": "(",
    "]": "[",
    "”": "“„",
    "“": "„",
    "’": "‘‚",
    "‘": "‚",
    "»": "«",
    "」": "「",
    "』": "『",
    "）": "（",
    '"': '"',
    "'": "'",
}
_OPENERS = frozenset("([“„‘‚«「『（")
_MARK = re.compile(f"[{re.escape(''.join(_OPENERS.union(_OPENED_BY)))}]")
_OPENS = re.compile(r"(?<![^\s(\[{<“‘\"'=/—–-])[\"'](?=[^\s,;:!?)\]])")
"""A straight mark where a quotation may begin: neither inches nor an apostrophe inside a word."""
_CLOSES = re.compile(r"(?<=\S)\"(?!\w)|(?<=[.,;:!?…—-])['’‘](?!\w)|[^\"'’‘]")
"""A mark where one may end; an apostrophe closes one only behind the punctuation of speech."""
_LONGEST = 200
"""A longer speech is cut into its sentences: a quote of it all would say little in many words."""


class Pair(NamedTuple):
    start: int
    end: int


def short_pairs(text: str, start: int, end: int) -> list[Pair]:
    """The short pairs of a line in order; those that stand inside another are part of it."""
    pairs: list[Pair] = []
    opened: list[int] = []
    for mark in _MARK.finditer(text, start, end):
        at, sign = mark.start(), mark[0]
        begun = _partner(text, at, opened) if sign in _OPENED_BY and _CLOSES.match(text, at) else None
        if begun is not None:
            pair = Pair(opened[begun], at + 1)
            del opened[begun:]
            if pair.end - pair.start <= _LONGEST:
                while pairs and pairs[-1].start > pair.start:
                    pairs.pop()
                pairs.append(pair)
        elif sign in _OPENERS or _OPENS.match(text, at):
            opened.append(at)
    return pairs


def _partner(text: str, at: int, opened: list[int]) -> int | None:
    """Which of the open marks a closing one answers: the last of its kind that is near enough."""
    wanted = _OPENED_BY[text[at]]
    for number in range(len(opened) - 1, -1, -1):
        if at - opened[number] >= _LONGEST:
            break
        if text[opened[number]] in wanted:
            return number
    return None


def within(pairs: list[Pair], place: int) -> bool:
    """Whether a place lies inside one of the pairs."""
    before = bisect_left(pairs, (place,)) - 1
    return before >= 0 and place < pairs[before].end
