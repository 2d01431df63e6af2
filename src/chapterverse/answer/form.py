"""The form that a model answers in, whole and while it is still being written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from chapterverse.answer import prompts
from chapterverse.types import DraftSentence, SentenceKind

_OPENING = re.compile(r'\s*\{\s*"sentences"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()
LONGEST = 100_000
"""How many characters an answer may have: one that goes on is none, however it would end."""


def _encodable(text: str) -> str:
    text.encode()  # half a character, as JSON can write it, can neither be read nor sent on
    return text


Text = Annotated[str, AfterValidator(_encodable)]


class DraftedSentence(BaseModel):
    """A sentence as a model must write it."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    citations: list[Text]
    quote: Text


class DraftOutput(BaseModel):
    """An answer as a model must write it: no sentences where the passages do not answer."""

    model_config = ConfigDict(extra="forbid")

    sentences: list[DraftedSentence]
    absent: list[Text]
    """Parts of the question that are not answered, in its own words."""


class Arriving:
    """The sentences of an answer that comes in pieces, each as soon as it is complete.

    An answer that puts something before its sentences yields none: they are to be had when it is whole.
    """

    def __init__(self) -> None:
        self._text = ""
        self._at: int | None = None

    @property
    def endless(self) -> bool:
        return len(self._text) > LONGEST

    def feed(self, piece: str) -> Iterator[DraftedSentence]:
        self._text += piece
        if "}" not in piece:
            return  # no sentence ends here
        if self._at is None:
            opening = _OPENING.match(self._text)
            if opening is None:
                return
            self._at = opening.end()
        while True:
            between = _BETWEEN.match(self._text, self._at)
            try:
                value, end = _DECODER.raw_decode(self._text, between.end() if between else self._at)
                sentence = DraftedSentence.model_validate(value)
            except (ValueError, RecursionError):  # not complete yet, the end of the list, or not of the form
                return
            self._at = end
            yield sentence


def as_draft(sentence: DraftedSentence, question: str, selected: bool = False) -> DraftSentence:
    """The sentence as the gate takes it."""
    return DraftSentence(sentence.text, tuple(sentence.citations), sentence.quote, _kind(sentence, question, selected))


def absences(output: DraftOutput, question: str, selected: bool) -> list[DraftSentence]:
    """A notice in fixed words for each part of the question that an answer calls absent."""
    notices = [_absent(selected) + part.strip() for part in output.absent]
    # What a model calls a part of the question may be anything; only words of the question are repeated to the user.
    return [DraftSentence(text, kind="notice") for text in notices if _may_say(text, question, selected)]


def _absent(selected: bool) -> str:
    phrase = prompts.PART_ABSENT_SELECTION if selected else prompts.PART_ABSENT
    return phrase.removesuffix("{part}")


def _may_say(text: str, question: str, selected: bool) -> bool:
    """Whether a text is the notice that a model may give, of a part of this question."""
    fitting = text.startswith(_absent(selected)) and prompts.is_notice(text, question)
    return fitting and prompts.leaves_something(text, question)


def _kind(sentence: DraftedSentence, question: str, selected: bool) -> SentenceKind:
    # a model may call a part absent; that the book refuses or contradicts itself is for the pipeline to say
    if _may_say(sentence.text, question, selected):
        return "notice"
    return "quote" if sentence.quote.split() == sentence.text.split() != [] else "statement"
