"""Raised numbers: "10" with a small 3 above it is no 103, so powers and square metres keep their raised digits."""

from __future__ import annotations

import re
from typing import Any

_RAISED = str.maketrans("0123456789+-\u2212\u2013", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
_POWER = re.compile(r"[+\u2212\u2013-]?[0-9]{1,3}")
_BASE = re.compile(r"(?:[0-9]|(?<![^\W\d_])(?<!['’])(?:[kcdmnµμ]?m|ft|yd)|/(?:s|h|min))\Z")
"""What a power may follow: any other word that a raised number follows has a note."""
_REACH = 6
"""More characters than any base has."""


def power(text: str, before: str) -> str | None:
    """A raised text in raised characters, if it is a power of what stands before it."""
    return text.translate(_RAISED) if _POWER.fullmatch(text) and _BASE.search(before[-_REACH:]) else None


def raise_power(pieces: list[Any], start: int) -> None:
    """Write the pieces from `start` on in raised characters, if they are a power of what stands before them."""
    text = "".join(piece if isinstance(piece, str) else "\n" for piece in pieces[start:])
    near = pieces[max(0, start - _REACH) : start]
    if (raised := power(text, "".join(_end(piece) for piece in near))) is not None:
        pieces[start:] = [raised]


def _end(piece: object) -> str:
    """How a piece ends; a number that is a note's is no base."""
    return piece[-_REACH:] if isinstance(piece, str) else " "
