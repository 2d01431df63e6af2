"""The invariants of chunking, by property: on documents of any shape, and on each format of the sample book."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chapterverse
from chapterverse.errors import AstRagValidationError
from chapterverse.ingest.books import sample_book
from chapterverse.ingest.chunk import chunk
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.sentences import sentences
from chapterverse.types import Chunking, Document, Page

WORDS = st.sampled_from("the clock struck. Twelve? Dr. Kell, 3.5 feet! 時計。 ساعة؟ ⏰ naïve well-known".split())
PROSE = st.lists(WORDS, min_size=1, max_size=120).map(" ".join)
LONG = st.integers(1, 3000).map(lambda n: "x" * n)
TEXT = st.one_of(PROSE, LONG, st.text(min_size=1, max_size=80))
PART = st.one_of(
    st.tuples(st.just("heading"), TEXT, st.integers(1, 4)),
    st.tuples(st.sampled_from(["paragraph", "list", "table", "code", "footnote", "caption"]), TEXT, st.none()),
    st.tuples(st.just("page"), TEXT, st.integers(1, 900)),
    st.tuples(st.just("slide"), TEXT, st.integers(1, 90)),
    st.tuples(st.just("across"), TEXT, st.integers(1, 900)),
)
CHUNKING = st.tuples(st.integers(200, 1500), st.integers(0, 1500), st.integers(0, 1500)).map(
    lambda n: Chunking(n[0], n[1] % n[0], n[2] % (n[0] + 1))
)


def compose(parts: list[tuple[str, str, int | None]]) -> Document:
    composer = Composer()
    for kind, text, number in parts:
        if kind == "heading":
            composer.heading(text, number or 1)
        elif kind == "page":
            composer.page(number, str(number))
            composer.add("paragraph", text)
        elif kind == "slide":
            composer.slide(number or 1)
            composer.add("paragraph", text)
        elif kind == "across":
            composer.add("paragraph", [text, Page(number, None), " and on " + text])
        else:
            composer.add(kind, text)  # type: ignore[arg-type]
    return composer.document(file_id="f", file_name="f.txt", mime_type="text/plain", sha256="0")


def check(document: Document, chunking: Chunking) -> None:
    chunks = chunk(document, chunking)
    covered = bytearray(len(document.text))
    for piece in chunks:
        assert document.text[piece.start : piece.end] == piece.text
        assert piece.text.strip() == piece.text != ""
        assert len(piece.text) <= chunking.size
        assert piece.place.first_page == document.page_at(piece.start)
        assert piece.place.last_page == document.page_at(piece.end - 1)
        covered[piece.start : piece.end] = b"\1" * len(piece.text)
        blocks = [block for block in document.blocks if block.start < piece.end and block.end > piece.start]
        assert len({block.headings[:1] for block in blocks}) == 1, "a chunk crosses a chapter"
        assert len({block.slide for block in blocks}) == 1, "a chunk crosses a slide"
        assert piece.place.slide == blocks[0].slide
        assert piece.place.headings in {block.headings for block in blocks}
    assert all(covered[i] or char.isspace() for i, char in enumerate(document.text))
    assert len({piece.id for piece in chunks}) == len(chunks)
    assert [piece.start for piece in chunks] == sorted(piece.start for piece in chunks)


@settings(max_examples=150, deadline=None)
@given(st.lists(PART, min_size=1, max_size=30), CHUNKING)
def test_invariants_on_any_document(parts: list[tuple[str, str, int | None]], chunking: Chunking) -> None:
    document = compose(parts)
    if document.blocks:
        check(document, chunking)


@settings(max_examples=100, deadline=None)
@given(st.lists(PART, min_size=1, max_size=30))
def test_sentences_hold_every_character_and_never_overlap(parts: list[tuple[str, str, int | None]]) -> None:
    document = compose(parts)
    end = 0
    for span in sentences(document):
        assert span.start >= end
        assert not document.text[end : span.start].strip()
        end = span.end
    assert not document.text[end:].strip()


@pytest.mark.parametrize("suffix", [".md", ".pdf", ".epub", ".docx", ".pptx", ".html"])
@pytest.mark.parametrize("chunking", [Chunking(), Chunking(200, 0, 0), Chunking(500, 400, 300)])
def test_invariants_on_the_sample_book(suffix: str, chunking: Chunking) -> None:
    check(chapterverse.read(sample_book(suffix)), chunking)


def test_sentences_are_whole_unless_longer_than_a_chunk() -> None:
    document = chapterverse.read(sample_book(".md"))
    starts = {span.start for span in sentences(document)}
    ends = {span.end for span in sentences(document)}
    longest = max(span.end - span.start for span in sentences(document))
    for piece in chunk(document, Chunking(max(longest, 1200), 200, 200)):
        assert piece.start in starts
        assert piece.end in ends


def test_overlap_repeats_whole_sentences_within_its_length() -> None:
    text = " ".join(f"Sentence number {i} is about the clock of tower {i}." for i in range(100))
    document = compose([("paragraph", text, None)])
    chunks = chunk(document, Chunking(600, 120, 100))
    overlaps = [before.end - after.start for before, after in pairwise(chunks)]
    assert all(0 < overlap <= 120 for overlap in overlaps[:-1])
    assert all(chunk_.text.startswith("Sentence number") for chunk_ in chunks)
    no_overlap = chunk(document, Chunking(600, 0, 100))
    assert sum(len(piece.text) for piece in no_overlap) <= len(text)


def test_a_short_chapter_stays_whole_and_a_trailing_piece_is_not_alone() -> None:
    long_text = " ".join(f"The weight at tower {i} falls through {i} feet." for i in range(60))
    document = compose(
        [("heading", "One", 1), ("paragraph", "Brief.", None), ("heading", "Two", 1), ("paragraph", long_text, None)]
    )
    chunks = chunk(document, Chunking(1000, 100, 300))
    assert chunks[0].text == "One\n\nBrief."
    assert all(len(piece.text) >= 300 for piece in chunks[1:])


def test_an_edit_elsewhere_keeps_ids_and_equal_chunks_differ() -> None:
    same = "The same words in both places, long enough to be a chunk of their own in this small test of ids. " * 3
    parts = [("heading", f"Chapter {i}", 1) for i in range(1, 4)]
    before = compose([x for part in parts for x in (part, ("paragraph", same, None))])
    after = compose([("heading", "Chapter 0", 1), ("paragraph", "New. " * 50, None)] + [
        x for part in parts for x in (part, ("paragraph", same, None))
    ])  # fmt: skip
    old, new = [c.id for c in chunk(before)], [c.id for c in chunk(after)]
    assert len(set(old)) == len(old) == 3
    assert new[-3:] == old
    twice = compose([("slide", same, 1), ("slide", same, 2)])
    first, second = chunk(twice)
    assert first.text == second.text
    assert first.id != second.id


def test_ids_are_the_same_in_another_process() -> None:
    book = sample_book(".md")
    code = (
        "import chapterverse, sys; from chapterverse.ingest.chunk import chunk;"
        "print(' '.join(c.id for c in chunk(chapterverse.read(sys.argv[1]))))"
    )
    command = [sys.executable, "-c", code, str(book)]
    other = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert other.stdout.split() == [piece.id for piece in chunk(chapterverse.read(book))]


def test_a_chunk_that_spans_two_sections_names_both() -> None:
    document = compose([
        ("heading", "Chapter", 1), ("heading", "A", 2), ("paragraph", "Short.", None),
        ("heading", "B", 2), ("paragraph", "Also short.", None),
    ])  # fmt: skip
    (piece,) = chunk(document)
    assert piece.sections == ("Chapter", "A", "B")
    assert piece.place.chapter == "Chapter"
    assert piece.place.section == "A"


@pytest.mark.parametrize(
    ("size", "overlap", "minimum", "named"),
    [
        (199, 0, 0, "size"),
        (1200, 1200, 200, "overlap"),
        (1200, 1500, 200, "overlap"),
        (1200, -1, 200, "overlap"),
        (1200, 200, 1201, "minimum"),
        (1200, 200, -5, "minimum"),
        (1200.0, 200, 200, "size"),
        (True, 200, 200, "size"),
        ("1200", 200, 200, "size"),
        (1200, None, 200, "overlap"),
    ],
)
def test_bad_settings_are_refused_by_name(size: object, overlap: object, minimum: object, named: str) -> None:
    with pytest.raises(AstRagValidationError, match=named):
        Chunking(size, overlap, minimum)  # type: ignore[arg-type]
