"""Building, syncing, exporting and importing, on the embedded store."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from chapterverse.errors import AstRagIndexError, AstRagValidationError, StoreUnreachableError
from chapterverse.index import lexical
from chapterverse.index.archive import export_index, import_index
from chapterverse.index.build import CutFile, build_index
from chapterverse.index.collection import GenerationReader
from chapterverse.index.edge import EdgeStore
from chapterverse.index.server import ServerStore
from chapterverse.index.sync import SyncResult, plan_sync, sync_index
from chapterverse.protocols import Vectors
from chapterverse.types import Document, EmbeddingModel, Filter, IndexRecord, Notice, SourceRecord
from tests.conformance.store import GARDEN, TALK, WHALE
from tests.index.books import book, held, record, source, texts, vector
from tests.index.shelves import CountingEmbed, cut, files, fingerprints
from tests.index.standin import StandIn

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(root: Path) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(root / "indexes")
    yield store
    await store.close()


async def sync(
    store: EdgeStore,
    *offered: Document,
    embed: CountingEmbed | None = None,
    target: IndexRecord | None = None,
    unreadable: Sequence[Document] = (),
    keep_failed: bool = False,
    dry_run: bool = False,
    max_chunks: int | None = None,
) -> SyncResult:
    """Sync as the library does: fingerprint everything, cut what the plan asks for."""
    base = await store.record("shelf")
    plan = await plan_sync(store, base, target or base, fingerprints(*offered, *unreadable))
    wanted = [document for document in offered if document.file_id in plan.to_cut]
    return await sync_index(
        store,
        plan,
        files(*wanted),
        embed or CountingEmbed(),
        keep_failed=keep_failed,
        dry_run=dry_run,
        max_chunks=max_chunks,
    )


def sources(result: SyncResult) -> tuple[int, int, int, int]:
    return result.added_sources, result.updated_sources, result.removed_sources, result.unchanged_sources


def chunks(result: SyncResult) -> tuple[int, int, int, int]:
    return result.added_chunks, result.removed_chunks, result.reused_chunks, result.reembedded_chunks


def paragraphs(document: Document) -> set[str]:
    return {chunk.text for chunk in cut(document).chunks}


LONG = book("long.md", *(f"Whale {i} is long: {'krill and brine ' * 40}" for i in range(30)))


async def whales(store: EdgeStore, index: str) -> dict[str, float]:
    """The BM25 scores of every chunk that tells of a whale."""
    async with await store.reader(index) as reader:
        found = await reader.search_lexical(lexical.query_vector("whale"), None, 1000)
        return {entry.chunk.id: score for entry, score in await held(reader, found)}


Parts = dict[str, bytes]
"""The members of an exported index."""

Damage = Callable[[Parts], Parts]


def described(**changes: object) -> Damage:
    """An index that says something else of itself."""

    def damage(parts: Parts) -> Parts:
        return {**parts, "index.json": json.dumps({**json.loads(parts["index.json"]), **changes}).encode()}

    damage.__name__ = ", ".join(f"{name} {value}" for name, value in changes.items())
    return damage


def a_list(parts: Parts) -> Parts:
    return {**parts, "index.json": b"[]"}


def nothing(parts: Parts) -> Parts:
    return {**parts, "index.json": b"null"}


def no_points(parts: Parts) -> Parts:
    return {name: content for name, content in parts.items() if not name.startswith("points/")}


def no_documents(parts: Parts) -> Parts:
    return {name: content for name, content in parts.items() if not name.startswith("documents/")}


def no_number(parts: Parts) -> Parts:
    return {**parts, "points/0.f32": b"\x00\x00\xc0\x7f" + parts["points/0.f32"][4:]}


def no_weights(parts: Parts) -> Parts:
    rows = json.loads(parts["points/0.json"])
    return {
        **parts,
        "points/0.json": json.dumps([{**row, "terms": {"indices": [1], "values": []}} for row in rows]).encode(),
    }


def a_source_of_text(parts: Parts) -> Parts:
    return {**parts, "documents/0.json": b'{"source": "x", "document": []}'}


DAMAGE: list[Damage] = [
    a_list,
    nothing,
    no_points,
    no_documents,
    no_number,
    no_weights,
    a_source_of_text,
    described(indexName=None),
    described(embedding={"provider": "fake", "model": "toy", "dimensions": "16"}),
    described(embedding={"provider": "fake", "model": "toy", "dimensions": 8}),
    described(embedding={"provider": "fake", "model": "toy", "dimensions": 10**9}),
    described(embedding={"provider": "fake", "model": "toy", "dimensions": -1}),
    described(calibration=[1]),
    described(chunking="big"),
    described(averageLength=None),
]


class TestBuild:
    async def test_what_is_built(self, store: EdgeStore) -> None:
        seen: list[int] = []
        noticed = replace(TALK, notices=(Notice("talk.pptx", "talk.pptx", "a picture was left out"),))
        result = await build_index(
            store, record(), files(WHALE, GARDEN, noticed), CountingEmbed(), progress=seen.append
        )
        assert (result.chunk_count, result.source_count) == (9, 3)
        assert result.warnings == noticed.notices
        assert result.record == await store.record("shelf")
        assert result.record.updated_at > result.record.created_at
        assert seen == [9]
        assert await texts(store) == paragraphs(WHALE) | paragraphs(GARDEN) | paragraphs(TALK)
        async with await store.reader("shelf") as reader:
            hits = await reader.search_dense(vector("Roses: A gardener waters the roses in the evening."), None, 1)
            [(entry, score)] = await held(reader, hits)
            assert score == pytest.approx(1.0, abs=2e-3)
            assert entry.chunk.text == "A gardener waters the roses in the evening."
            assert [(s.file_id, s.chunk_count) for s in await reader.sources()] == [
                ("garden.pdf", 3),
                ("sea/whale.md", 4),
                ("talk.pptx", 2),
            ]

    async def test_average_length_is_measured(self, store: EdgeStore) -> None:
        result = await build_index(store, record(), files(WHALE), CountingEmbed())
        assert result.record.average_length == lexical.average_length(paragraphs(WHALE))
        assert result.record.words == lexical.word_count(paragraphs(WHALE))

    async def test_weights_are_relative_to_all_batches(self, store: EdgeStore) -> None:
        short = book("short.md", *(f"Whale {i}." for i in range(300)))
        result = await build_index(store, record(), files(short, LONG), CountingEmbed())
        everything = [chunk.text for one in (short, LONG) for chunk in cut(one).chunks]
        assert result.record.average_length == pytest.approx(lexical.average_length(everything))
        assert result.record.words == lexical.word_count(everything)
        mean = result.record.average_length
        async with await store.reader("shelf") as reader:
            async for point in reader.points():
                wanted = lexical.document_vector(point.entry.chunk.text, mean)
                assert point.terms.indices == wanted.indices
                assert point.terms.values == pytest.approx(wanted.values, rel=1e-3)

    async def test_many_batches_and_repeated_texts(self, store: EdgeStore) -> None:
        embed = CountingEmbed()
        long = book("long.md", *(f"Paragraph number {i}." for i in range(700)))
        copy = replace(long, file_id="copy.md")
        seen: list[int] = []
        result = await build_index(store, record(), files(long, copy), embed, progress=seen.append)
        assert result.chunk_count == 1400
        assert seen == [256, 512, 768, 1024, 1280, 1400]
        assert 700 <= len(embed.texts) <= 1400
        async with await store.reader("shelf") as reader:
            assert (await reader.stats()).chunks == 1400
            assert [e.chunk.text for e in await reader.window("copy.md", 500, 501)] == [
                "Paragraph number 500.",
                "Paragraph number 501.",
            ]

    async def test_nothing_to_index(self, store: EdgeStore) -> None:
        with pytest.raises(AstRagIndexError, match="nothing to index"):
            await build_index(store, record(), files(), CountingEmbed())
        assert await store.indexes() == []

    async def test_too_many_chunks(self, store: EdgeStore) -> None:
        await build_index(store, record(), files(GARDEN), CountingEmbed())
        with pytest.raises(AstRagValidationError, match="more than 6 chunks"):
            await build_index(store, record(), files(WHALE, GARDEN), CountingEmbed(), max_chunks=6)
        assert await texts(store) == paragraphs(GARDEN)

    async def test_a_failing_embedding_leaves_the_old_index(self, store: EdgeStore) -> None:
        await build_index(store, record(), files(GARDEN), CountingEmbed())

        async def fail(texts: Sequence[str]) -> Vectors:
            raise ConnectionError("the provider is down")

        with pytest.raises(ConnectionError, match="provider is down"):
            await build_index(store, record(), files(WHALE), fail)
        assert await texts(store) == paragraphs(GARDEN)

    async def test_a_failing_file_leaves_the_old_index(self, store: EdgeStore) -> None:
        await build_index(store, record(), files(GARDEN), CountingEmbed())

        async def broken() -> AsyncIterator[CutFile]:
            yield cut(book("long.md", *(f"Paragraph number {i}." for i in range(300))))
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="disk is gone"):
            await build_index(store, record(), broken(), CountingEmbed())
        assert await texts(store) == paragraphs(GARDEN)
        await build_index(store, record(), files(WHALE), CountingEmbed())
        assert await texts(store) == paragraphs(WHALE)


class TestSync:
    @pytest.fixture(autouse=True)
    async def shelf(self, store: EdgeStore) -> None:
        await build_index(store, record(), files(WHALE, GARDEN), CountingEmbed())

    async def test_nothing_changed(self, store: EdgeStore) -> None:
        before, embed = await store.record("shelf"), CountingEmbed()
        result = await sync(store, WHALE, GARDEN, embed=embed)
        assert sources(result) == (0, 0, 0, 2)
        assert chunks(result) == (0, 0, 7, 0)
        assert not result.persisted
        assert result.record == before == await store.record("shelf")
        assert embed.texts == []

    async def test_an_edit_embeds_only_the_changed_chunk(self, store: EdgeStore) -> None:
        edited = book(
            "garden.pdf",
            "Roses want sun, and a gardener who cuts them in March.",
            "A new paragraph pushes the rest one page back.",
            "A gardener waters the roses in the evening.",
            "To be or not to be is not a question for roses.",
            mime_type="application/pdf",
            chapters=("Roses",),
        )
        embed = CountingEmbed()
        result = await sync(store, WHALE, edited, embed=embed)
        assert embed.texts == ["Roses: A new paragraph pushes the rest one page back."]
        assert sources(result) == (0, 1, 0, 1)
        assert chunks(result) == (1, 0, 7, 1)
        assert result.persisted
        assert result.record == await store.record("shelf")
        async with await store.reader("shelf") as reader:
            moved = await reader.window("garden.pdf", 2, 2)
            assert moved[0].chunk.place.first_page == edited.pages[2].page
            assert {point.entry.sha256 async for point in reader.points(Filter(file_ids=("garden.pdf",)))} == {
                edited.sha256
            }
            assert await reader.document("garden.pdf") == edited
            hits = await reader.search_dense(vector(f"Roses: {moved[0].chunk.text}"), None, 1)
            assert [entry for entry, _ in await held(reader, hits)] == moved

    async def test_files_come_and_go(self, store: EdgeStore) -> None:
        result = await sync(store, GARDEN, TALK)
        assert sources(result) == (1, 0, 1, 1)
        assert chunks(result) == (2, 4, 3, 2)
        assert await texts(store) == paragraphs(GARDEN) | paragraphs(TALK)
        async with await store.reader("shelf") as reader:
            assert [source.file_id for source in await reader.sources()] == ["garden.pdf", "talk.pptx"]

    async def test_a_renamed_file_reuses_its_embeddings(self, store: EdgeStore) -> None:
        embed = CountingEmbed()
        renamed = replace(WHALE, file_id="ocean/whale.md")
        result = await sync(store, renamed, GARDEN, embed=embed)
        assert embed.texts == []
        assert sources(result) == (1, 0, 1, 1)
        assert chunks(result) == (4, 4, 7, 0)
        async with await store.reader("shelf") as reader:
            files_of = {point.entry.chunk.file_id async for point in reader.points()}
        assert files_of == {"ocean/whale.md", "garden.pdf"}

    async def test_a_dry_run_counts_the_same_and_changes_nothing(self, store: EdgeStore) -> None:
        embed, before = CountingEmbed(), await store.record("shelf")
        edited = book("garden.pdf", "Only this is left.", mime_type="application/pdf")
        trial = await sync(store, TALK, edited, embed=embed, dry_run=True)
        assert embed.texts == []
        assert not trial.persisted
        assert await store.record("shelf") == before
        assert await texts(store) == paragraphs(WHALE) | paragraphs(GARDEN)
        real = await sync(store, TALK, edited, embed=embed)
        assert replace(real, persisted=False, record=trial.record) == trial
        assert await texts(store) == paragraphs(TALK) | paragraphs(edited)

    async def test_a_file_that_cannot_be_read_any_more(self, store: EdgeStore) -> None:
        broken = replace(GARDEN, sha256="0" * 64)
        kept = await sync(store, WHALE, unreadable=[broken], keep_failed=True)
        assert sources(kept) == (0, 0, 0, 2)
        assert chunks(kept) == (0, 0, 7, 0)
        assert await texts(store) == paragraphs(WHALE) | paragraphs(GARDEN)
        lost = await sync(store, WHALE, unreadable=[broken])
        assert sources(lost) == (0, 0, 1, 1)
        assert chunks(lost) == (0, 3, 4, 0)
        assert await texts(store) == paragraphs(WHALE)

    async def test_a_new_file_that_cannot_be_read(self, store: EdgeStore) -> None:
        for keep_failed in (True, False):
            result = await sync(store, WHALE, GARDEN, unreadable=[TALK], keep_failed=keep_failed)
            assert sources(result) == (0, 0, 0, 2)
            assert chunks(result) == (0, 0, 7, 0)

    async def test_other_chunking_rebuilds_and_reuses_equal_texts(self, store: EdgeStore) -> None:
        embed = CountingEmbed()
        target = replace(await store.record("shelf"), chunking={"size": 50})
        result = await sync(store, WHALE, GARDEN, embed=embed, target=target)
        assert embed.texts == []
        assert sources(result) == (0, 0, 0, 2)
        assert chunks(result) == (0, 0, 7, 0)
        assert result.persisted
        assert (await store.record("shelf")).chunking == {"size": 50}
        assert await texts(store) == paragraphs(WHALE) | paragraphs(GARDEN)

    async def test_another_model_rebuilds_and_embeds_everything(self, store: EdgeStore) -> None:
        embed = CountingEmbed()
        target = replace(await store.record("shelf"), embedding=EmbeddingModel("fake", "other", 16))
        result = await sync(store, WHALE, GARDEN, embed=embed, target=target)
        assert len(embed.texts) == 7
        assert chunks(result) == (0, 0, 0, 7)
        stored = await store.record("shelf")
        assert stored.embedding.model == "other"
        assert stored.created_at == record().created_at

    async def test_a_source_that_has_become_empty_does_not_empty_the_index(self, store: EdgeStore) -> None:
        with pytest.raises(AstRagIndexError, match="Nothing would be left"):
            await sync(store)
        assert await texts(store) == paragraphs(WHALE) | paragraphs(GARDEN)

    async def test_too_many_chunks(self, store: EdgeStore) -> None:
        with pytest.raises(AstRagValidationError, match="more than 8 chunks"):
            await sync(store, WHALE, GARDEN, TALK, max_chunks=8)
        assert await texts(store) == paragraphs(WHALE) | paragraphs(GARDEN)

    @pytest.mark.parametrize("chunking", [{"size": 100}, {"size": 50}], ids=["update", "rebuild"])
    async def test_what_was_learnt_of_the_index_meanwhile(self, store: EdgeStore, chunking: dict[str, int]) -> None:
        base, learnt = await store.record("shelf"), {"answer_threshold": 0.7}
        plan = await plan_sync(store, base, replace(base, chunking=chunking), fingerprints(WHALE, GARDEN, TALK))
        async with await store.update("shelf") as writer:
            await writer.commit(replace(base, calibration=learnt, profile={"words": ["whale"]}))
        wanted = [document for document in (WHALE, GARDEN, TALK) if document.file_id in plan.to_cut]
        result = await sync_index(store, plan, files(*wanted), CountingEmbed())
        assert result.record == await store.record("shelf")
        assert (result.record.calibration, result.record.profile) == (learnt, {})

    @pytest.mark.parametrize("counted", [True, False])
    async def test_weights_do_not_depend_on_which_file_came_first(self, store: EdgeStore, counted: bool) -> None:
        await sync(store, WHALE)
        if not counted:
            async with await store.update("shelf") as writer:
                await writer.commit(replace(writer.record, words=None))
        await sync(store, WHALE, LONG, embed=(embed := CountingEmbed()))
        assert len(embed.texts) == len(paragraphs(LONG)), "nothing is embedded again"
        at_once = await build_index(store, record("other"), files(LONG, WHALE), CountingEmbed())
        grown = await store.record("shelf")
        assert (grown.words, grown.average_length) == (at_once.record.words, at_once.record.average_length)
        assert await whales(store, "shelf") == pytest.approx(await whales(store, "other"), rel=1e-3)
        await sync(store, WHALE)
        assert (await store.record("shelf")).words == lexical.word_count(paragraphs(WHALE))
        await build_index(store, record("other"), files(WHALE), CountingEmbed())
        assert await whales(store, "shelf") == pytest.approx(await whales(store, "other"), rel=1e-3)

    async def test_weights_stay_while_the_mean_length_is_near(self, store: EdgeStore) -> None:
        before = await store.record("shelf")
        after = (await sync(store, WHALE, GARDEN, TALK)).record
        assert after.average_length == before.average_length
        assert after.words == lexical.word_count(paragraphs(WHALE) | paragraphs(GARDEN) | paragraphs(TALK))

    async def test_a_plan_that_is_out_of_date(self, store: EdgeStore) -> None:
        base = await store.record("shelf")
        plan = await plan_sync(store, base, base, fingerprints(WHALE, TALK))
        await sync(store, GARDEN)
        with pytest.raises(AstRagIndexError, match="changed by somebody else") as refused:
            await sync_index(store, plan, files(TALK), CountingEmbed())
        assert refused.value.retryable
        assert await texts(store) == paragraphs(GARDEN)

    async def test_a_plan_takes_no_longer_than_its_files_are_many(
        self, store: EdgeStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        many = [replace(source(WHALE), file_id=f"{number}.md") for number in range(10_000)]

        async def sources(_: GenerationReader) -> list[SourceRecord]:
            return many

        monkeypatch.setattr(GenerationReader, "sources", sources)
        base = await store.record("shelf")
        began = time.process_time()
        plan = await plan_sync(store, base, base, {one.file_id: one.fingerprint for one in many})
        assert time.process_time() - began < 2
        assert (len(plan.unchanged), plan.is_empty) == (10_000, True)


class TestArchive:
    async def test_an_index_moves_to_a_server_and_back(self, store: EdgeStore, root: Path) -> None:
        await build_index(store, record(), files(WHALE, GARDEN, TALK), CountingEmbed())
        built = await store.record("shelf")
        await export_index(store, "shelf", root / "shelf.zip")
        standin = StandIn(root)
        server = ServerStore(standin.url)
        assert await import_index(server, root / "shelf.zip", "moved") == replace(built, id="moved")
        await export_index(server, "moved", root / "moved.zip")
        assert await import_index(store, root / "moved.zip", "back") == replace(built, id="back")
        await server.close()
        standin.stop()
        async with await store.reader("shelf") as first, await store.reader("back") as second:
            assert await first.sources() == await second.sources()
            assert await first.document("sea/whale.md") == await second.document("sea/whale.md")
            for query in ("whale ship", "roses"):
                terms = lexical.query_vector(query)
                words = [await held(r, await r.search_lexical(terms, None, 9)) for r in (first, second)]
                scores = [{entry.chunk.id: score for entry, score in found} for found in words]
                assert scores[0] == scores[1]
                dense = [await held(r, await r.search_dense(vector(query), None, 9)) for r in (first, second)]
                assert dense[0] == dense[1]

    async def test_what_is_not_an_archive_is_refused(self, store: EdgeStore, root: Path) -> None:
        await build_index(store, record(), files(WHALE), CountingEmbed())
        await export_index(store, "shelf", root / "good.zip")
        content = (root / "good.zip").read_bytes()
        (root / "cut.zip").write_bytes(content[: len(content) // 2])
        (root / "text.zip").write_text("no archive")
        with zipfile.ZipFile(root / "good.zip") as good, zipfile.ZipFile(root / "gap.zip", "w") as gap:
            for name in good.namelist():
                if name != "points/0.f32":
                    gap.writestr(name, good.read(name))
        for name in ("cut.zip", "text.zip", "gap.zip", "absent.zip"):
            with pytest.raises(AstRagIndexError, match="cannot be imported"):
                await import_index(store, root / name, "other")
        assert await store.indexes() == ["shelf"]
        assert not list(root.glob("*.tmp"))

    @pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
    async def test_what_is_damaged_is_refused_before_anything_is_stored(
        self, store: EdgeStore, root: Path, damage: Damage
    ) -> None:
        await build_index(store, record(), files(WHALE, GARDEN), CountingEmbed())
        await export_index(store, "shelf", root / "good.zip")
        with zipfile.ZipFile(root / "good.zip") as good:
            parts = {name: good.read(name) for name in good.namelist()}
        with zipfile.ZipFile(root / "bad.zip", "w") as bad:
            for name, content in damage(parts).items():
                bad.writestr(name, content)
        with pytest.raises(AstRagIndexError, match=r"bad\.zip cannot be imported") as refused:
            await import_index(store, root / "bad.zip", "other")
        assert refused.value.details["reason"] == "corrupt"
        assert await store.indexes() == ["shelf"]

    async def test_flipped_bytes_are_refused(self, store: EdgeStore, root: Path) -> None:
        await build_index(store, record(), files(WHALE, GARDEN), CountingEmbed())
        await export_index(store, "shelf", root / "good.zip")
        good = (root / "good.zip").read_bytes()
        for at in range(40, len(good), len(good) // 23):
            (root / "bad.zip").write_bytes(
                good[:at] + bytes(byte ^ 0xFF for byte in good[at : at + 8]) + good[at + 8 :]
            )
            with pytest.raises(AstRagIndexError, match="cannot be imported"):
                await import_index(store, root / "bad.zip", "other")
        assert await store.indexes() == ["shelf"]

    async def test_an_export_replaces_no_file_of_another_kind(self, store: EdgeStore, root: Path) -> None:
        await build_index(store, record(), files(WHALE), CountingEmbed())
        notes = root / "notes.txt"
        notes.write_text("mine")
        with pytest.raises(AstRagValidationError, match=r"notes\.txt already, and it is no exported index"):
            await export_index(store, "shelf", notes)
        assert notes.read_text() == "mine"
        for _ in range(2):
            await export_index(store, "shelf", root / "shelf.zip")
        await export_index(store, "shelf", notes, replace_old=True)
        assert await import_index(store, notes, "copy") == replace(await store.record("shelf"), id="copy")
        with pytest.raises(AstRagValidationError, match=r"nowhere/a\.zip cannot be written: No such file or directory"):
            await export_index(store, "shelf", root / "nowhere" / "a.zip")
        assert not list(root.glob("*.tmp"))

    async def test_a_server_that_is_down_is_not_blamed_on_the_archive(self, store: EdgeStore, root: Path) -> None:
        await build_index(store, record(), files(WHALE), CountingEmbed())
        await export_index(store, "shelf", root / "shelf.zip")
        standin = StandIn(root)
        standin.stop()
        server = ServerStore(standin.url, attempts=1)
        with pytest.raises(StoreUnreachableError):
            await import_index(server, root / "shelf.zip")
        await server.close()
