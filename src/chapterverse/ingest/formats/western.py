"""Bytes of the languages of Western Europe: which of the encodings of Windows, Macintosh and DOS makes words of them.

What decides is how such languages write: no capital with an accent inside a word, no quotation mark between letters.
A guess by the frequency of letters goes wrong here, since a text has few accents to count.
"""

from __future__ import annotations

import re

_ENCODINGS = ("cp1252", "mac_roman", "cp850")
"""The likelier first."""
_MOST_BAD = 0.02
_MOST_ACCENTED = 0.25
"""Of all letters; those of other alphabets look like nothing but accented ones."""
_SMALL, _LARGE = "àáâãäåæçèéêëìíîïñòóôõöøùúûüÿœß", "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜŸŒ"
_SIGNS = "‘’“”„‚…–—•†‡°§©®™«»¡¿£€¥¢×÷±µ¶·ªº¹²³¼½¾´\xa0\xad"
_LETTER = rf"[A-Za-z{_SMALL}{_LARGE}]"
_BAD = re.compile(
    rf"[^\x00-\x7f{_SMALL}{_LARGE}{_SIGNS}]|(?<=[a-z{_SMALL}])[{_LARGE}]|[{_SMALL}{_LARGE}]{{3,}}"
    rf"|(?<={_LETTER})[‘“”„‚•†‡§©«¡¿£€¥¢¶°](?={_LETTER})|(?<={_LETTER})[¹³¼½¾ªº¿´]|õ(?!e)"
)
"""What no such text has; of "õ" some have much, but so has Hungarian, of which it is another letter."""


def western_encoding(sample: bytes) -> str | None:
    """The encoding that makes a text of some bytes as those languages write it; None if it is of other languages."""
    bad = {encoding: _bad(sample, encoding) for encoding in _ENCODINGS}
    best = min(_ENCODINGS, key=lambda encoding: bad[encoding])
    return best if bad[best] <= _MOST_BAD else None


def _bad(sample: bytes, encoding: str) -> float:
    """How much of what is not ASCII cannot be right."""
    text = sample.decode(encoding, "replace")
    others = sum(char > "\x7f" for char in text)
    accented = sum(char in _SMALL or char in _LARGE for char in text)
    if accented > _MOST_ACCENTED * sum(char.isalpha() for char in text):
        return 1.0
    return sum(len(found[0]) for found in _BAD.finditer(text)) / max(others, 1)
