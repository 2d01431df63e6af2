"""Equations on one line of readable text: (a+b)/2, x^n, 10³, √(x)."""

from __future__ import annotations

import re
from typing import Any

from chapterverse.ingest.formats.powers import raise_power

_ATOM = re.compile(r"\w+|.?")
_RAISED = {"msup": 2, "msubsup": 3, "munderover": 3}
"""Which argument of an element of MathML stands above the first."""
_JOINING = frozenset({"mfrac", "mtr", "mtable", *_RAISED})
_LONGEST = 1000
"""Characters of an argument; a hostile page could nest longer ones thousands deep."""
_LETTERS = re.compile(r"\w")


def grouped(text: str) -> str:
    """In brackets, unless it is one letter, number or word."""
    return text if _ATOM.fullmatch(text) else f"({text})"


def join_argument(parent: str, nth: int, pieces: list[Any], start: int) -> None:
    """Set the nth argument of an element of MathML, the pieces from `start` on, beside those before it."""
    taken = pieces[start : start + _LONGEST + 1] if parent in _JOINING else []
    if not taken or not all(isinstance(piece, str) for piece in taken) or sum(map(len, taken)) > _LONGEST:
        return
    text = "".join(taken).strip()
    if parent == "mfrac":
        pieces[start:] = [grouped(text), *(["/"] if nth == 1 else [])]
    elif parent in ("mtr", "mtable"):
        pieces[start:] = [text, " "]
    elif _RAISED.get(parent) == nth and _LETTERS.search(text):
        raise_power(pieces, start)
        if "".join(pieces[start:]).strip() == text:
            pieces[start:] = ["^", grouped(text)]


def root(pieces: list[Any], start: int) -> None:
    """What stands under a root of MathML, the pieces from `start` on, in brackets."""
    pieces.insert(start, "√(")
    pieces.append(")")
