"""How chunks and documents lie in a collection."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from chapterverse.index.points import chunk_point, document_of, document_points, entry_of, fold, point_id
from chapterverse.types import Page, Place
from tests.conformance.store import WHALE
from tests.index.books import points, source


@pytest.mark.parametrize(
    ("place", "pages"),
    [
        (Place(), None),
        (Place(("Only a chapter",)), None),
        (Place(("C", "S"), Page(2, "ii"), Page(4, "iv")), [2, 3, 4]),
        (Place(("C",), Page(7, None), Page(7, None), cfi="epubcfi(/6/4!/2)"), [7]),
        (Place(("C",), Page(None, "45"), Page(None, "46")), None),
        (Place(("C",), slide=3), None),
    ],
)
def test_a_chunk_is_read_back_as_it_was(place: Place, pages: list[int] | None) -> None:
    [point, *_] = points(WHALE)
    point = replace(point, entry=replace(point.entry, chunk=replace(point.entry.chunk, place=place)))
    stored = chunk_point(point, 5)
    assert entry_of(stored.payload) == point.entry
    assert stored.payload.get("on_pages") == pages
    assert stored.payload["born"] == 5
    assert None not in stored.payload.values()


def test_a_chunk_has_another_point_in_another_generation() -> None:
    [point, *_] = points(WHALE)
    assert chunk_point(point, 1).id == chunk_point(point, 1).id != chunk_point(point, 2).id
    assert point_id("a", "b") != point_id("ab")


def test_a_document_with_a_part_missing_is_not_put_together() -> None:
    noise = replace(WHALE, text=random.Random(5).randbytes(900_000).hex())
    stored = [point.payload for point in document_points(noise, source(WHALE), 1)]
    assert len(stored) > 2
    assert document_of(stored[::-1]) == noise
    for missing in range(len(stored)):
        with pytest.raises(ValueError, match="missing"):
            document_of(stored[:missing] + stored[missing + 1 :])


def test_headings_are_folded() -> None:
    assert fold("  The\u00a0ＳＥＡ \n of Straße ") == "the sea of strasse"
