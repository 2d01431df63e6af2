"""The independent check: is everything that an answer says in the book? The gate has no part in it.

It knows three things only: the text of the document (or the selection), the offsets that a citation states, and the
fixed notices. A quote must stand in the document at its offsets, character by character, and a sentence must consist
of the words of what it cites. Sentences that a language model has worded cannot be checked this way; they count as
unchecked, never as supported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Literal

from chapterverse.answer.prompts import REFUSALS, is_notice
from chapterverse.types import Answer, AnswerSentence, Citation, Document

Verdict = Literal["supported", "unsupported", "unchecked"]
Lookup = Callable[[str], Document]


def check(answer: Answer, lookup: Lookup, selection: str | None = None) -> list[Verdict]:
    """A verdict on every sentence; a refusal is one sentence, which must be one of the exact ones."""
    if not answer.sentences:
        return ["supported" if answer.text in REFUSALS else "unsupported"]
    return [_verdict(sentence, answer, lookup, selection) for sentence in answer.sentences]


def _verdict(sentence: AnswerSentence, answer: Answer, lookup: Lookup, selection: str | None) -> Verdict:
    if sentence.kind == "notice":
        return "supported" if is_notice(sentence.text, answer.question) else "unsupported"
    cited = [answer.citations[number] for number in sentence.citations]
    if not cited or not all(_stands(citation, lookup, selection) for citation in cited):
        return "unsupported"
    if sentence.kind == "statement":
        return "unchecked"
    return "supported" if _fold(sentence.text) in _fold(" ".join(one.quote for one in cited)) else "unsupported"


def _stands(citation: Citation, lookup: Lookup, selection: str | None) -> bool:
    """Whether the quote is what the source has at the stated offsets, and the source is the one that is named."""
    if citation.file_id is None:
        text = selection or ""
        named = hashlib.sha256(text.encode()).hexdigest() == citation.sha256
    else:
        document = lookup(citation.file_id)
        text, named = document.text, document.sha256 == citation.sha256
    return named and bool(citation.quote) and text[citation.start : citation.end] == citation.quote


def _fold(text: str) -> str:
    return " ".join(text.split())
