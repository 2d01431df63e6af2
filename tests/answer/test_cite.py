"""Citations give the exact characters of the document, and the place of the quote itself."""

from __future__ import annotations

import hashlib

import pytest

from chapterverse.answer.cite import cite, describe, sources
from chapterverse.answer.evidence import Located
from chapterverse.answer.gate import Passed
from chapterverse.errors import AstRagIndexError
from chapterverse.types import Block, Chunk, Document, Entry, Page, PageStart, Passage, Place

TEXT = "Chapter 1\n\nThe clock was made in 1641.\n\nIt had one hand. It stopped often."
DOCUMENT = Document(
    file_id="book.md",
    file_name="book.md",
    mime_type="text/markdown",
    sha256="a" * 64,
    title="A Book",
    text=TEXT,
    blocks=(
        Block(0, 9, "heading", ("Chapter 1",)),
        Block(11, 38, "paragraph", ("Chapter 1",)),
        Block(40, len(TEXT), "paragraph", ("Chapter 1", "Its hand")),
    ),
    pages=(PageStart(0, Page(5, "iv")), PageStart(40, Page(6, "v"))),
    source_url="https://example.org/book",
)
CHUNK = Chunk("c1", "book.md", 11, len(TEXT), TEXT[11:], Place(("Chapter 1",), Page(5, "iv"), Page(6, "v")))
ENTRY = Entry(CHUNK, 0, "book.md", "A Book", "text/markdown", "a" * 64, "e", "https://example.org/book")
PASSAGE = Passage("S1", CHUNK.text, CHUNK.start, ENTRY, vector_score=0.7, lexical_score=3.1, score=0.8)


def located(quote: str, passage: Passage = PASSAGE) -> Located:
    start = passage.text.index(quote)
    return Located(passage.id, start, start + len(quote), quote)


def test_offsets_place_and_scores_are_those_of_the_quote() -> None:
    passed = [Passed("It had one hand.", "quote", (located("It had one hand."),))]
    (sentence,), (citation,) = cite(passed, [PASSAGE], {"book.md": DOCUMENT}.get)
    assert TEXT[citation.start : citation.end] == citation.quote == "It had one hand."
    assert citation.place == Place(("Chapter 1", "Its hand"), Page(6, "v"), Page(6, "v"))
    assert (citation.id, citation.chunk_id, citation.file_id, citation.sha256) == ("S1", "c1", "book.md", "a" * 64)
    assert (citation.score, citation.vector_score, citation.lexical_score) == (0.8, 0.7, 3.1)
    assert (sentence.text, sentence.kind, sentence.citations) == ("It had one hand.", "quote", (0,))


def test_without_the_document_the_place_is_that_of_the_chunk() -> None:
    passed = [Passed("It had one hand.", "quote", (located("It had one hand."),))]
    _, (citation,) = cite(passed, [PASSAGE], lambda file_id: None)
    assert citation.place == CHUNK.place
    assert TEXT[citation.start : citation.end] == citation.quote


def test_a_chunk_that_is_not_in_its_document_is_an_error() -> None:
    changed = Document(**{**{f: getattr(DOCUMENT, f) for f in DOCUMENT.__slots__}, "text": "x" * len(TEXT)})
    with pytest.raises(AstRagIndexError, match="build the index again"):
        cite([Passed("It had one hand.", "quote", (located("It had one hand."),))], [PASSAGE], lambda file_id: changed)


def test_a_quote_is_cited_once_and_in_order_of_use() -> None:
    first, second = located("It stopped often."), located("It had one hand.")
    passed = [Passed("a", "statement", (first,)), Passed("b", "statement", (second, first)), Passed("c", "notice")]
    sentences, citations = cite(passed, [PASSAGE], {"book.md": DOCUMENT}.get)
    assert [c.quote for c in citations] == ["It stopped often.", "It had one hand."]
    assert [s.citations for s in sentences] == [(0,), (1, 0), ()]


def test_a_snippet_is_a_slice_of_the_passage_around_the_quote() -> None:
    text = "word " * 200 + "The quote is here. " + "more " * 200
    passage = Passage("S1", text, 0)
    _, (citation,) = cite([Passed("x", "statement", (located("The quote is here.", passage),))], [passage], {}.get)
    assert citation.snippet in text
    assert citation.quote in citation.snippet
    assert citation.snippet.split()[0] in ("word", "The")
    assert len(citation.snippet) <= 330


def test_a_selection_is_named_as_such_and_hashed() -> None:
    passage = Passage("S1", "The clock had one hand.", 0)
    _, citations = cite([Passed("x", "quote", (located("one hand", passage),))], [passage], {}.get)
    assert citations[0].sha256 == hashlib.sha256(passage.text.encode()).hexdigest()
    assert passage.text[citations[0].start : citations[0].end] == "one hand"
    assert sources(citations) == ("selected text",)


def test_sources_say_title_chapter_section_and_page_once() -> None:
    passed = [
        Passed("a", "quote", (located("It had one hand."), located("It stopped often."))),
        Passed("b", "quote", (located("The clock was made in 1641.\n\nIt had one hand."),)),
    ]
    _, citations = cite(passed, [PASSAGE], {"book.md": DOCUMENT}.get)
    assert sources(citations) == ("A Book, Chapter 1, Its hand, page v", "A Book, Chapter 1, pages iv–v")
    assert describe(citations[0]) == "A Book, Chapter 1, Its hand, page v"
