"""What every `Store` must do. Subclass it and give it a `store` fixture: an empty store, closed afterwards."""

from __future__ import annotations

import asyncio
import math
import random
import string
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from chapterverse.errors import AstRagEmbeddingCapabilityError, AstRagIndexError, AstRagValidationError
from chapterverse.index import lexical
from chapterverse.protocols import Store, Writer
from chapterverse.types import Filter, Page, Point, SparseVector
from tests.index.books import AVERAGE_LENGTH, book, build, held, points, record, source, texts, vector

WHALE = book(
    "sea/whale.md",
    "Call me by my name, said the sailor of the whale ship.",
    "The whale surfaced near the ship and the ship turned.",
    "Nobody on the island had seen a whale before the storm.",
    "The storm took the ship; the sailor reached the island.",
    chapters=("Loomings", "The  Island"),
    source_url="https://books.example/whale",
)
GARDEN = book(
    "garden.pdf",
    "Roses want sun, and a gardener who cuts them in March.",
    "A gardener waters the roses in the evening.",
    "To be or not to be is not a question for roses.",
    mime_type="application/pdf",
    chapters=("Roses",),
)
TALK = book(
    "talk.pptx",
    "Whales and roses compared.",
    "Thank you for listening.",
    mime_type="application/vnd.ms-powerpoint",
    paged=False,
    slides=True,
)
BOOKS = (WHALE, GARDEN, TALK)
ALL = [point for document in BOOKS for point in points(document)]


def chunk(document_paragraph: str) -> str:
    """The id of the chunk whose text starts so."""
    [found] = [p.entry.chunk.id for p in ALL if p.entry.chunk.text.startswith(document_paragraph)]
    return found


FILTERS = {
    "no condition": (Filter(), lambda e: True),
    "chunks": (Filter(chunk_ids=(chunk("Thank"), "nowhere")), lambda e: e.chunk.text.startswith("Thank")),
    "files": (Filter(file_ids=("garden.pdf", "talk.pptx")), lambda e: e.chunk.file_id != "sea/whale.md"),
    "no file": (Filter(file_ids=()), lambda e: False),
    "mime types": (Filter(mime_types=("application/pdf",)), lambda e: e.mime_type == "application/pdf"),
    "source url": (
        Filter(source_urls=("https://books.example/whale",)),
        lambda e: e.chunk.file_id == "sea/whale.md",
    ),
    "chapter, spelt differently": (Filter(chapters=("THE ISLAND",)), lambda e: e.chunk.place.chapter == "The  Island"),
    "part of a chapter's name": (Filter(chapters=("Island",)), lambda e: False),
    "section": (Filter(sections=("roses.1",)), lambda e: e.chunk.place.section == "Roses.1"),
    "a chapter's name as a section": (Filter(sections=("Loomings",)), lambda e: e.chunk.place.chapter == "Loomings"),
    "pages": (Filter(pages=(2, 3)), lambda e: bool(e.chunk.place.first_page) and 2 <= e.ordinal + 1 <= 3),
    "pages between those of any chunk": (Filter(pages=(5, 9)), lambda e: False),
    "page label": (Filter(page_labels=("ii",)), lambda e: bool(e.chunk.place.first_page) and e.ordinal == 1),
    "read so far": (Filter(read_until=2), lambda e: bool(e.chunk.place.first_page) and e.ordinal < 2),
    "slides": (Filter(slides=(2,)), lambda e: e.chunk.place.slide == 2),
    "two conditions": (
        Filter(file_ids=("sea/whale.md",), pages=(1, 1)),
        lambda e: e.chunk.file_id == "sea/whale.md" and e.ordinal == 0,
    ),
}


def bm25(query: str, corpus: list[str]) -> list[float]:
    """BM25 by the book, over the same words but none of the same code."""
    bags = [Counter(lexical.terms(text)) for text in corpus]
    scores = []
    for bag in bags:
        length, score = sum(bag.values()), 0.0
        for term in set(lexical.query_vector(query).indices):
            df = sum(term in other for other in bags)
            idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
            score += idf * bag[term] * 2.2 / (bag[term] + 1.2 * (0.25 + 0.75 * length / AVERAGE_LENGTH))
        scores.append(score)
    return scores


@pytest.mark.anyio
class StoreConformance:
    async def test_an_empty_store_knows_no_index(self, store: Store) -> None:
        assert await store.indexes() == []
        for ask in (store.record, store.reader, store.update, store.delete):
            with pytest.raises(AstRagIndexError, match="no index 'shelf'"):
                await ask("shelf")

    async def test_ids_that_could_not_be_names_are_refused(self, store: Store) -> None:
        for index in ("", "..", "a/b", "A", "x" * 101):
            with pytest.raises(AstRagValidationError):
                await store.create(record(index))

    async def test_what_was_built_is_read_back(self, store: Store) -> None:
        await build(store, *BOOKS)
        await build(store, GARDEN, index="other")
        assert await store.indexes() == ["other", "shelf"]
        assert await store.record("shelf") == record()
        async with await store.reader("shelf") as reader:
            assert reader.record == record()
            assert await reader.sources() == sorted(map(source, BOOKS), key=lambda s: s.file_id)
            for document in BOOKS:
                assert await reader.document(document.file_id) == document
            with pytest.raises(AstRagIndexError, match=r"holds no file 'lost\.md'"):
                await reader.document("lost.md")
            stats = await reader.stats()
            assert (stats.chunks, stats.sources) == (len(ALL), len(BOOKS))

    async def test_points_keep_entries_and_vectors(self, store: Store) -> None:
        await build(store, *BOOKS)
        async with await store.reader("shelf") as reader:
            stored = {point.entry.chunk.id: point async for point in reader.points()}
        assert len(stored) == len(ALL)
        for point in ALL:
            found = stored[point.entry.chunk.id]
            assert found.entry == point.entry
            assert found.terms.indices == point.terms.indices
            assert found.terms.values == pytest.approx(point.terms.values, rel=1e-3)
            assert found.dense == pytest.approx(point.dense, abs=1e-3)

    async def test_fetch_and_window(self, store: Store) -> None:
        await build(store, *BOOKS)
        wanted = [chunk("Thank"), chunk("Roses want"), chunk("The whale")]
        async with await store.reader("shelf") as reader:
            found = await reader.fetch([wanted[0], "nowhere", *wanted[1:]])
            assert [entry.chunk.id for entry in found] == wanted
            assert [entry.ordinal for entry in await reader.window("sea/whale.md", 1, 2)] == [1, 2]
            assert [entry.ordinal for entry in await reader.window("talk.pptx", -1, 9)] == [0, 1]

    async def test_dense_scores_are_cosines(self, store: Store) -> None:
        await build(store, *BOOKS)
        query = vector("a question")
        expected = sorted((float(np.dot(query, p.dense)), p.entry.chunk.id) for p in ALL)[::-1]
        async with await store.reader("shelf") as reader:
            found = await held(reader, await reader.search_dense([3 * x for x in query], None, 5))
        assert [entry.chunk.id for entry, _ in found] == [chunk_id for _, chunk_id in expected[:5]]
        assert [score for _, score in found] == pytest.approx([score for score, _ in expected[:5]], abs=2e-3)

    @pytest.mark.parametrize("query", ["whale ship", "Who cuts roses in March?", "to be or not to be"])
    async def test_lexical_scores_are_bm25(self, store: Store, query: str) -> None:
        await build(store, *BOOKS)
        scored = zip(bm25(query, [p.entry.chunk.text for p in ALL]), (p.entry.chunk.id for p in ALL), strict=True)
        expected = {chunk_id: score for score, chunk_id in scored if score > 0}
        async with await store.reader("shelf") as reader:
            found = await held(reader, await reader.search_lexical(lexical.query_vector(query), None, 100))
        assert {entry.chunk.id: score for entry, score in found} == pytest.approx(expected, rel=1e-3)
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)

    async def test_points_are_scored_as_searches_score_them(self, store: Store) -> None:
        await build(store, *BOOKS)
        query, terms = vector("a question"), lexical.query_vector("whale ship")
        async with await store.reader("shelf") as reader:
            by_meaning = await reader.search_dense(query, None, 100)
            by_words = await reader.search_lexical(terms, None, 100)
            cosines = {hit.point: hit.score for hit in by_meaning}
            words = {hit.point: hit.score for hit in by_words}
            assert 0 < len(words) < len(cosines) == len(ALL)
            assert await reader.score_dense(query, list(words)) == pytest.approx({key: cosines[key] for key in words})
            assert await reader.score_lexical(terms, list(cosines)) == pytest.approx(words)
            assert await reader.score_dense(query, []) == await reader.score_lexical(terms, []) == {}

    async def test_a_chunk_over_several_pages_was_begun_on_the_first_of_them(self, store: Store) -> None:
        [point, *_] = points(WHALE)
        place = replace(point.entry.chunk.place, first_page=Page(2, "ii"), last_page=Page(4, "iv"))
        long = replace(point, entry=replace(point.entry, chunk=replace(point.entry.chunk, place=place)))
        async with await store.create(record()) as writer:
            await writer.put([long])
            await writer.commit(record())
        async with await store.reader("shelf") as reader:
            assert [await reader.count(Filter(read_until=page)) for page in (1, 2, 3, 4, 5)] == [0, 1, 1, 1, 1]

    async def test_entries_come_in_the_order_asked_for(self, store: Store) -> None:
        await build(store, *BOOKS)
        await build(store, book("new.md", "Something new."), index="other")
        async with await store.reader("shelf") as reader, await store.reader("other") as other:
            [unknown] = await other.search_dense(vector("a question"), None, 1)
            for p in ALL:
                [hit] = await reader.search_dense(p.dense, None, 1)
                assert await reader.entries([hit.point]) == {hit.point: p.entry}
            found = [hit.point for hit in await reader.search_dense(vector("a question"), None, 100)]
            for asked in (found, found[::-1], found[5:2:-1]):
                assert list(await reader.entries(asked)) == asked
                assert list(await reader.entries([asked[0], unknown.point, *asked[1:]])) == asked
            assert await reader.entries([unknown.point]) == await reader.entries([]) == {}

    async def test_entries_are_of_the_generation_that_was_searched(self, store: Store) -> None:
        await build(store, *BOOKS)
        old = points(WHALE)[1]
        moved = replace(old, entry=replace(old.entry, ordinal=40))
        async with await store.reader("shelf") as reader:
            hits = await reader.search_dense(old.dense, None, 100)
            async with await store.update("shelf") as writer:
                await writer.put([moved])
                await writer.remove(file_ids=["garden.pdf"])
                commit = asyncio.create_task(writer.commit(record()))
                before = [entry for entry, _ in await held(reader, hits)]
                await reader.close()
                await commit
        async with await store.reader("shelf") as reader:
            after = [entry for entry, _ in await held(reader, await reader.search_dense(old.dense, None, 100))]
        assert before[0] == old.entry
        assert len(before) == len(ALL)
        assert after[0] == moved.entry
        assert len(after) == len(ALL) - len(points(GARDEN))

    async def test_a_question_without_words_finds_nothing(self, store: Store) -> None:
        await build(store, *BOOKS)
        async with await store.reader("shelf") as reader:
            assert await reader.search_lexical(lexical.query_vector("?!"), None, 10) == []
            assert await reader.search_lexical(lexical.query_vector("zeppelin"), None, 10) == []

    @pytest.mark.parametrize("name", FILTERS)
    async def test_filters(self, store: Store, name: str) -> None:
        where, holds = FILTERS[name]
        await build(store, *BOOKS)
        expected = {p.entry.chunk.id for p in ALL if holds(p.entry)}
        terms = tuple(sorted({term for p in ALL for term in p.terms.indices}))
        async with await store.reader("shelf") as reader:
            by_meaning = await held(reader, await reader.search_dense(vector("a question"), where, 100))
            every_word = SparseVector(terms, (1.0,) * len(terms))
            by_words = await held(reader, await reader.search_lexical(every_word, where, 100))
            listed = [point.entry.chunk.id async for point in reader.points(where)]
            assert await reader.count(where) == len(expected)
        assert {entry.chunk.id for entry, _ in by_meaning} == expected
        assert {entry.chunk.id for entry, _ in by_words} == expected
        assert sorted(listed) == sorted(expected)

    async def test_vectors_of_the_wrong_length_are_refused(self, store: Store) -> None:
        await build(store, GARDEN)
        async with await store.reader("shelf") as reader:
            with pytest.raises(AstRagEmbeddingCapabilityError, match=r"fake:toy \(16 dimensions\).*has 3"):
                await reader.search_dense([1.0, 0.0, 0.0], None, 5)
        async with await store.update("shelf") as writer:
            with pytest.raises(AstRagEmbeddingCapabilityError):
                await writer.put([replace(points(WHALE)[0], dense=[1.0])])

    async def test_a_chunk_without_words_is_stored(self, store: Store) -> None:
        rule = book("rule.md", "* * *")
        await build(store, rule)
        async with await store.reader("shelf") as reader:
            [found] = [point async for point in reader.points()]
        assert found.terms == SparseVector((), ())

    async def test_a_long_document_is_kept_whole(self, store: Store) -> None:
        noise = "".join(random.Random(7).choices(string.ascii_letters + "äß—鯨 ", k=1_500_000))
        await build(store, book("long.md", noise[:20], noise))
        async with await store.reader("shelf") as reader:
            assert await reader.document("long.md") == book("long.md", noise[:20], noise)
            assert [source.file_id for source in await reader.sources()] == ["long.md"]
            assert (await reader.stats()).sources == 1

    async def test_a_build_is_unseen_until_it_is_committed(self, store: Store) -> None:
        async with await store.create(record()) as writer:
            await writer.put(points(WHALE))
            assert await store.indexes() == []
            with pytest.raises(AstRagIndexError):
                await store.reader("shelf")
        assert await store.indexes() == []

    async def test_a_build_replaces_an_index_at_once(self, store: Store) -> None:
        await build(store, WHALE)
        old = await texts(store)
        pinned = await store.reader("shelf")
        async with await store.create(record(name="Replaced")) as writer:
            await writer.put(points(GARDEN))
            assert await texts(store) == old
            commit = asyncio.create_task(writer.commit(record(name="Replaced")))
            assert {p.entry.chunk.text async for p in pinned.points()} == old
            await pinned.close()
            await commit
        assert await texts(store) == {p.entry.chunk.text for p in points(GARDEN)}
        assert (await store.record("shelf")).name == "Replaced"

    async def test_an_update_replaces_removes_and_keeps(self, store: Store) -> None:
        await build(store, *BOOKS)
        old = await texts(store)
        moved = replace(points(WHALE)[1], entry=replace(points(WHALE)[1].entry, ordinal=40))
        shorter = book("garden.pdf", "Only one rose is left.", mime_type="application/pdf")
        async with await store.update("shelf") as writer:
            await writer.put([moved, *points(shorter)])
            await writer.remove(chunk_ids=[chunk("Call me"), *(p.entry.chunk.id for p in points(GARDEN))])
            await writer.put_document(shorter, source(shorter))
            await writer.remove(file_ids=["talk.pptx"])
            assert await texts(store) == old
            await writer.commit(record(updated_at="later"))
        assert await texts(store) == {
            *(p.entry.chunk.text for p in points(WHALE)[1:]),
            "Only one rose is left.",
        }
        assert (await store.record("shelf")).updated_at == "later"
        async with await store.reader("shelf") as reader:
            assert [entry.ordinal for entry in await reader.fetch([moved.entry.chunk.id])] == [40]
            assert await reader.document("garden.pdf") == shorter
            assert [found.file_id for found in await reader.sources()] == ["garden.pdf", "sea/whale.md"]
            with pytest.raises(AstRagIndexError):
                await reader.document("talk.pptx")

    async def test_what_is_removed_and_put_again_stays(self, store: Store) -> None:
        await build(store, *BOOKS)
        async with await store.update("shelf") as writer:
            await writer.remove(file_ids=["garden.pdf"])
            await writer.put(points(GARDEN)[:1])
            await writer.put_document(GARDEN, source(GARDEN))
            await writer.commit(record())
        async with await store.reader("shelf") as reader:
            listed = [p.entry.chunk.id async for p in reader.points(Filter(file_ids=("garden.pdf",)))]
            assert listed == [chunk("Roses want")]
            assert await reader.document("garden.pdf") == GARDEN

    async def test_an_update_that_is_aborted_changes_nothing(self, store: Store) -> None:
        await build(store, *BOOKS)
        old = await texts(store)
        async with await store.update("shelf") as writer:
            await writer.put(points(book("new.md", "Something new.")))
            await writer.remove(file_ids=["garden.pdf"])
        assert await texts(store) == old
        async with await store.update("shelf") as writer:
            await writer.commit(record())
        assert await texts(store) == old
        async with await store.reader("shelf") as reader:
            assert len(await reader.sources()) == len(BOOKS)

    async def test_a_reader_sees_one_generation(self, store: Store) -> None:
        await build(store, WHALE)
        old = await texts(store)
        query = lexical.query_vector("whale ship")
        async with await store.reader("shelf") as reader:
            async with await store.update("shelf") as writer:
                await writer.remove(file_ids=["sea/whale.md"])
                await writer.put(points(GARDEN))
                commit = asyncio.create_task(writer.commit(record()))
                for _ in range(3):
                    assert {p.entry.chunk.text async for p in reader.points()} == old
                    assert len(await reader.search_lexical(query, None, 10)) == 4
                    assert await reader.document("sea/whale.md") == WHALE
            await reader.close()
            await commit
        assert await texts(store) == {p.entry.chunk.text for p in points(GARDEN)}

    async def test_readers_during_updates_see_a_whole_generation(self, store: Store) -> None:
        def generation(number: int) -> list[str]:
            return [f"Generation {number} says {word}." for word in ("north", "south", "east", "west")]

        await build(store, book("news.md", *generation(0)))
        done = False

        async def update() -> None:
            nonlocal done
            for number in range(1, 6):
                async with await store.update("shelf") as writer:
                    await writer.remove(file_ids=["news.md"])
                    for point in points(book("news.md", *generation(number))):
                        await writer.put([point])
                    await writer.commit(record())
            done = True

        updating = asyncio.create_task(update())
        seen = set()
        while not done:
            found = await texts(store)
            numbers = {text.split()[1] for text in found}
            assert len(found) == 4
            assert len(numbers) == 1
            seen |= numbers
            await asyncio.sleep(0)
        await updating
        assert len(seen) > 1
        assert await texts(store) == set(generation(5))

    async def test_a_writer_knows_the_record_that_it_starts_from(self, store: Store) -> None:
        async with await store.create(record(name="First")) as writer:
            assert writer.record == record(name="First")
            await writer.commit(record(name="Second"))
        async with await store.update("shelf") as writer:
            assert writer.record == record(name="Second")
            await writer.commit(replace(writer.record, calibration={"answer_threshold": 0.7}))
        assert await store.record("shelf") == record(name="Second", calibration={"answer_threshold": 0.7})

    async def test_a_writer_reads_what_it_has_written(self, store: Store) -> None:
        async def written(writer: Writer) -> dict[str, Point]:
            return {point.entry.chunk.id: point async for point in writer.points()}

        async with await store.create(record()) as writer:
            assert await written(writer) == {}
            await writer.put([*points(WHALE), *points(GARDEN)])
            assert set(await written(writer)) == {p.entry.chunk.id for p in (*points(WHALE), *points(GARDEN))}
            await writer.commit(record())
        old = await texts(store)
        heavier = [replace(p, terms=lexical.document_vector(p.entry.chunk.text, 80.0)) for p in points(WHALE)]
        async with await store.update("shelf") as writer:
            await writer.remove(file_ids=["garden.pdf"])
            await writer.put([*heavier, *points(TALK)])
            found = await written(writer)
            assert set(found) == {p.entry.chunk.id for p in (*points(WHALE), *points(TALK))}
            for point in heavier:
                one = found[point.entry.chunk.id]
                assert one.entry == point.entry
                assert one.dense == pytest.approx(point.dense, abs=1e-3)
                assert one.terms.values == pytest.approx(point.terms.values, rel=1e-3)
            assert await texts(store) == old

    async def test_one_writer_at_a_time(self, store: Store) -> None:
        await build(store, WHALE)
        async with await store.update("shelf") as writer:
            with pytest.raises(AstRagIndexError, match="is being written") as refused:
                await store.update("shelf")
            assert refused.value.retryable
            await writer.commit(record())
        with pytest.raises(AstRagIndexError, match="closed"):
            await writer.commit(record())
        async with await store.update("shelf") as writer:
            await writer.commit(record())

    async def test_what_shall_not_be_replaced_is_left_as_it_is(self, store: Store) -> None:
        async with await store.create(record(), replace=False) as writer:
            with pytest.raises(AstRagIndexError, match="is being written") as refused:
                await store.create(record(), replace=False)
            assert refused.value.retryable
            await writer.put(points(WHALE))
            await writer.commit(record())
        with pytest.raises(AstRagIndexError, match="There is an index 'shelf' already") as refused:
            await store.create(record(), replace=False)
        assert refused.value.details["reason"] == "exists"
        assert await texts(store) == {p.entry.chunk.text for p in points(WHALE)}

    async def test_a_deleted_index_is_gone_and_can_be_built_again(self, store: Store) -> None:
        await build(store, WHALE)
        await store.delete("shelf")
        assert await store.indexes() == []
        with pytest.raises(AstRagIndexError):
            await store.reader("shelf")
        await build(store, GARDEN)
        assert await texts(store) == {p.entry.chunk.text for p in points(GARDEN)}
