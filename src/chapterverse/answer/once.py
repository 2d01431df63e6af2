"""Once: what a reader has read for a question is not read again for it, and nothing is read when that is over."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError

from chapterverse.protocols import Reader
from chapterverse.types import Reading, Support


class OncePerQuestion:
    """A reader that reads nothing twice for one question: validation, drafting and the gate ask alike.

    Passages that were left half-read beside better ones are read on when they are asked for among themselves; what they
    seemed to say beside the others stands, unless they are read whole.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._read: dict[tuple[str, str], Reading] = {}
        self._whole: set[tuple[str, str]] = set()
        self._over = False

    def end(self) -> None:
        """The question is over: what a thread still does for it stops where it would read on."""
        self._over = True

    @property
    def _living(self) -> Reader:
        if self._over:
            raise CancelledError
        return self._reader

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        asked = list(dict.fromkeys(passages))
        known = self._whole if whole else self._read
        missing = [text for text in asked if (question, text) not in known]
        if asked and not whole and not missing and not any(self._read[question, text].spans for text in asked):
            return self._living.read(question, passages)
        if missing:
            found = self._living.read(question, missing, whole=whole)
            self._read.update({(question, text): one for text, one in zip(missing, found, strict=True)})
        if whole:
            self._whole.update((question, text) for text in missing)
        return [self._read[question, text] for text in passages]

    def supports(self, claim: str, passages: Sequence[str]) -> list[Support]:
        return self._living.supports(claim, passages)

    def strictly(self, claim: str, passages: Sequence[str]) -> list[float]:
        return self._living.strictly(claim, passages)
