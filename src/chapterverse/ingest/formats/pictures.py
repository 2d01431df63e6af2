"""The words that stand for a picture (`alt`): text where they tell what it shows, and no name of a file or a badge."""

from __future__ import annotations

_FEWEST_WORDS = 4


def told(alt: str) -> str:
    """The words, if they are a sentence, as those of a caption are; else nothing."""
    words = alt.split()
    ends = alt.rstrip("\"'”’)] \n").endswith((".", "!", "?"))
    return " ".join(words) if ends and len(words) >= _FEWEST_WORDS else ""
