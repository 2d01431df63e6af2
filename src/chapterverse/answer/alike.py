"""Alike: labels that have the words of a question and name another thing: "log in" and "log out", "2" and "2.2"."""

from __future__ import annotations

import re

from chapterverse.answer.questions import content

_OPPOSITES = (("on", "off"), ("in", "out"), ("into", "out"), ("up", "down"), ("over", "under"), ("more", "less"))
_DIRECTION = re.compile(r"\b(?:from|to|into)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"(?<![\w.,−-])[-−]?\w*\d\w*(?:[.,:/–-]\d\w*)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SIGNED = re.compile(r"\b\w+[+#]+")


def opposed(question: str, label: str) -> bool:
    """Whether one says "on" where the other says "off", or both name a way or a change, and name its ends in turn."""
    asked, told = _words(question), _words(label)
    for pair in _OPPOSITES:
        for one, other in (pair, pair[::-1]):
            if one in asked and other in told and one not in told and other not in asked:
                return True
    if not _DIRECTION.search(question) or not _DIRECTION.search(label):
        return False
    shared = content(question) & content(label)
    return _ends(asked, shared) != _ends(told, shared)


def otherwise_numbered(question: str, label: str) -> bool:
    """Whether a label has a number that the question does not have just so, or lacks the sign of a name: "C", "C++"."""
    names = {word.lower() for word in label.split()}
    signed = (name.lower() for name in _SIGNED.findall(question))
    return bool(_numbers(label) - _numbers(question)) or any(
        name not in names and name.rstrip("+#") in names for name in signed
    )


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _ends(words: list[str], shared: frozenset[str]) -> list[str]:
    """The words that both have, in order, each where it comes first."""
    return list(dict.fromkeys(stem for word in words for stem in content(word) if stem in shared))


def _numbers(text: str) -> set[str]:
    return {_THOUSANDS.sub("", number.replace("−", "-").lower()) for number in _NUMBER.findall(text)}
