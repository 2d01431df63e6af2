"""Cite: from sentences that passed the gate to citations that give chapter and verse."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from chapterverse.answer.evidence import Located
from chapterverse.answer.gate import Passed
from chapterverse.answer.layout import gap
from chapterverse.answer.prompts import SOURCE_SELECTION
from chapterverse.errors import AstRagIndexError
from chapterverse.types import AnswerSentence, Citation, Document, Page, Passage, Place

Lookup = Callable[[str], Document | None]
"""A document by its file id; None where it cannot be had."""

_SNIPPET = 320
"""How many characters of a passage are shown around a quote, at the most."""


class Cited(NamedTuple):
    """An answer's sentences, and the citations that they point to by number."""

    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]


def cite(passed: Sequence[Passed], passages: Sequence[Passage], lookup: Lookup) -> Cited:
    """Citations in the order of their first use; a quote that two sentences rest on is cited once."""
    offered = {passage.id: passage for passage in passages}
    quotes = list(dict.fromkeys(quote for sentence in passed for quote in sentence.quotes))
    sentences = tuple(
        AnswerSentence(s.text, s.kind, tuple(dict.fromkeys(quotes.index(q) for q in s.quotes)), s.support)
        for s in passed
    )
    return Cited(sentences, tuple(_citation(quote, offered[quote.passage], lookup) for quote in quotes))


def text_of(sentences: Sequence[str]) -> str:
    """What an answer's sentences make together; a list or a table keeps its lines."""
    return "".join([*sentences[:1], *(gap(one, other) + other for one, other in pairwise(sentences))])


def _citation(quote: Located, passage: Passage, lookup: Lookup) -> Citation:
    start, end = passage.start + quote.start, passage.start + quote.end
    snippet = _snippet(passage.text, quote.start, quote.end)
    entry = passage.entry
    if entry is None:
        sha256 = hashlib.sha256(passage.text.encode()).hexdigest()
        return Citation(
            quote.passage, None, quote.quote, start, end, snippet, Place(), sha256=sha256, score=passage.score
        )
    document = lookup(entry.chunk.file_id)
    if document is not None and document.text[start:end] != quote.quote:
        raise AstRagIndexError(
            f"The index holds a chunk of {entry.file_name} that is not in its document; build the index again.",
            details={"file_id": entry.chunk.file_id, "chunk_id": entry.chunk.id},
        )
    return Citation(
        id=quote.passage,
        chunk_id=entry.chunk.id,
        quote=quote.quote,
        start=start,
        end=end,
        snippet=snippet,
        place=document.place(start, end) if document is not None else entry.chunk.place,
        title=entry.title,
        file_id=entry.chunk.file_id,
        file_name=entry.file_name,
        mime_type=entry.mime_type,
        source_url=entry.source_url,
        sha256=entry.sha256,
        score=passage.score,
        vector_score=passage.vector_score,
        lexical_score=passage.lexical_score,
    )


def _snippet(text: str, start: int, end: int) -> str:
    """The passage around a quote, cut between words; always a slice of it."""
    spare = max(0, _SNIPPET - (end - start)) // 2
    first, last = max(0, start - spare), min(len(text), end + spare)
    while 0 < first < start and not text[first - 1].isspace():
        first += 1
    while end < last < len(text) and not text[last].isspace():
        last -= 1
    return text[first:last].strip()


def sources(citations: Sequence[Citation]) -> tuple[str, ...]:
    """What an answer really cites, each place once."""
    return tuple(dict.fromkeys(describe(citation) for citation in citations))


def describe(citation: Citation) -> str:
    """A citation's place in words: title, chapter, section, page or slide."""
    if citation.chunk_id is None:
        return SOURCE_SELECTION
    return in_words(citation.title or citation.file_name, citation.place)


def in_words(title: str | None, place: Place) -> str:
    """A place of a book: title, chapter, section, page or slide."""
    pages = _pages(place.first_page, place.last_page)
    slide = f"slide {place.slide}" if place.slide is not None else None
    parts = (title, place.chapter, place.section, pages, slide)
    return ", ".join(dict.fromkeys(part for part in parts if part))  # a short text's title is often its chapter's too


def _pages(first: Page | None, last: Page | None) -> str | None:
    names = list(dict.fromkeys(page.name for page in (first, last) if page is not None))
    known = [name for name in names if name]
    if not known:
        return None
    return f"page {known[0]}" if len(known) == 1 else f"pages {known[0]}–{known[-1]}"
