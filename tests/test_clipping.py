"""Nothing outside a scope is shown, and nothing within it is lost, however sections lie in chunks: by property."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from chapterverse.answer.joining import joined
from chapterverse.answer.retrieve import Found
from chapterverse.index.points import fold
from chapterverse.ingest.chunk import chunk
from chapterverse.ingest.composer import Composer
from chapterverse.library.clipping import found_within
from chapterverse.types import Chunk, Chunking, Document, Entry, Filter, Page, Passage

SECTION = st.tuples(
    st.sampled_from(["Summary", "Secret", "Notes"]), st.integers(2, 3), st.lists(st.integers(1, 60), max_size=4)
)
"""Its name and level, and how many words each of its paragraphs has."""
SMALL = Chunking(400, 100, 200)


def written(sections: Sequence[tuple[str, int, list[int]]]) -> Document:
    """A chapter in which every word stands once; a page ends within every paragraph."""
    composer, words = Composer(), (f"w{n}" for n in count())
    pages = (Page(number) for number in count(2))
    composer.page(1)
    composer.heading("Chapter", 1)
    for name, level, paragraphs in sections:
        composer.heading(name, level)
        for length in paragraphs:
            said = [next(words) for _ in range(length)]
            middle = length // 2
            composer.add("paragraph", [" ".join(said[:middle]), next(pages), " " + " ".join(said[middle:]) + "."])
    return composer.document(file_id="f", file_name="f.txt", mime_type="text/plain", sha256="0")


def offered(document: Document, where: Filter, match: Sequence[bool] = ()) -> list[Passage]:
    """The passages of all chunks that may lie within a filter, but for those that a search does not bring."""
    found = [
        Found(Entry(piece, n, "f.txt", "F", "text/plain", "0", ""), 1 / (n + 1))
        for n, piece in enumerate(chunk(document, SMALL))
        if _matches(piece, where) and (match[n % len(match)] if match else True)
    ]

    async def passages() -> list[Passage]:
        async def lookup(_: Entry) -> Document:
            return document

        return await joined(await found_within(found, where, lookup), 1, lookup)

    return asyncio.run(passages())


def _matches(piece: Chunk, where: Filter) -> bool:
    """As the index has it: a chunk that lies there by a part of it."""
    if where.sections is not None and not {*map(fold, where.sections)} & {*map(fold, piece.sections)}:
        return False
    first = piece.place.first_page
    return where.read_until is None or (first is not None and (first.number or 0) <= where.read_until)


def words_of(*texts: str) -> set[str]:
    return {word for text in texts for word in re.findall(r"\bw\d+\b", text)}


def words_under(document: Document, name: str) -> set[str]:
    inside = (block for block in document.blocks if name in block.headings)
    return words_of(*(document.text[block.start : block.end] for block in inside))


@given(st.lists(SECTION, min_size=1, max_size=8), st.lists(st.booleans(), max_size=5))
@settings(deadline=None, max_examples=200)
def test_all_of_a_section_is_offered_and_nothing_else(
    sections: list[tuple[str, int, list[int]]], match: list[bool]
) -> None:
    document = written(sections)
    where, wanted = Filter(sections=("summary",)), words_under(document, "Summary")
    passages = offered(document, where)
    assert words_of(*(passage.text for passage in passages)) == wanted
    for passage in [*passages, *offered(document, where, match)]:
        assert words_of(passage.text) <= wanted
        assert document.text[passage.start : passage.start + len(passage.text)] == passage.text
        assert passage.entry is not None
        assert "Summary" in passage.entry.chunk.place.headings


@given(st.lists(SECTION, min_size=1, max_size=8), st.integers(1, 12), st.booleans())
@settings(deadline=None, max_examples=200)
def test_all_that_was_read_is_offered_and_nothing_else(
    sections: list[tuple[str, int, list[int]]], page: int, within: bool
) -> None:
    document = written(sections)
    end = document.end_of_page(page)
    read = words_of(document.text[:end])
    passages = offered(document, Filter(sections=("summary",) if within else None, read_until=page))
    assert words_of(*(passage.text for passage in passages)) == (
        read & words_under(document, "Summary") if within else read
    )
    named = {name for passage in passages if passage.entry for name in passage.entry.chunk.sections}
    assert named <= {name for block in document.blocks if block.start < end for name in block.headings}
