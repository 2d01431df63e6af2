"""The embedded store: conformance, and what only it must do."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge

from chapterverse.errors import AstRagIndexError, StoreUnreachableError
from chapterverse.index import lexical, shard
from chapterverse.index.edge import EdgeStore
from chapterverse.index.manifest import replace_file
from chapterverse.index.points import RawPoint
from chapterverse.types import Hit
from tests.conformance.store import GARDEN, WHALE, StoreConformance
from tests.index.books import build, held, points, record, texts
from tests.index.crashing import CHUNKS, version


@pytest.fixture
async def store(root: Path) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(root)
    yield store
    await store.close()


class TestEdgeStore(StoreConformance):
    pass


def run_child(code: str, *args: str, **kwargs: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *args], stdout=subprocess.PIPE, text=True, **kwargs)  # type: ignore[call-overload,no-any-return]


async def check_version(root: Path, at_least: int) -> int:
    """Open the index after a crash: it must be at one version, this one or the next, whole and without remains."""
    store = EdgeStore(root)
    number = int((await store.record("shelf")).updated_at)
    assert number in (at_least, at_least + 1)
    expected = version(number)
    assert await texts(store) == {point.entry.chunk.text for document in expected for point in points(document)}
    async with await store.reader("shelf") as reader:
        assert [await reader.document(document.file_id) for document in expected] == expected
        hits = await reader.search_lexical(lexical.query_vector("version steady"), None, 1000)
        assert len(hits) == 2 * CHUNKS + 1
    await store.close()
    assert len(list((root / "shelf").glob("c-*"))) == 1
    return number


@pytest.mark.anyio
@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.full)])
async def test_killed_at_any_moment_it_is_the_old_index_or_the_whole_new_one(root: Path, kills: int) -> None:
    store = EdgeStore(root)
    await build(store, *version(0))
    async with await store.update("shelf") as writer:
        await writer.commit(record(updated_at="0"))
    await store.close()
    current, dice = 0, random.Random(kills)
    for _ in range(kills):
        command = [sys.executable, "-m", "tests.index.crashing", str(root), str(current + 1)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            current = int(child.stdout.readline())
            time.sleep(dice.uniform(0, 0.6))
            child.send_signal(signal.SIGKILL)
            current = int(([current, *child.stdout.read().split()])[-1])
        current = await check_version(root, current)


HOLD = """
import asyncio, sys
from pathlib import Path
from chapterverse.index.edge import EdgeStore

async def main():
    store = EdgeStore(Path(sys.argv[1]))
    reader = await store.reader("shelf")
    print("held", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.anyio
async def test_a_second_process_is_told_who_holds_the_index(root: Path, store: EdgeStore) -> None:
    first = EdgeStore(root)
    await build(first, WHALE)
    await first.close()
    with run_child(HOLD, str(root)) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        for ask in (store.reader, store.update, store.delete):
            with pytest.raises(AstRagIndexError, match=f"process {child.pid} ") as refused:
                await ask("shelf")
            assert refused.value.retryable
            assert refused.value.details["holder"]["pid"] == child.pid
        with pytest.raises(AstRagIndexError, match=str(child.pid)):
            await store.create(record())
        assert await store.indexes() == ["shelf"]
        assert (await store.record("shelf")).name == "My shelf"
        child.kill()
        child.wait()
        assert len(await texts(store)) == 4, "the holder died without letting go, and the index is free"


@pytest.mark.anyio
async def test_closing_frees_the_index(root: Path, store: EdgeStore) -> None:
    other = EdgeStore(root)
    await build(other, WHALE)
    with pytest.raises(AstRagIndexError, match=f"process {os.getpid()}"):
        await store.reader("shelf")
    await other.close()
    assert len(await texts(store)) == 4


@pytest.mark.anyio
async def test_damage_is_named(root: Path) -> None:
    async def fail_with(reason: str) -> str:
        store = EdgeStore(root)
        with pytest.raises(AstRagIndexError) as failed:
            await store.reader("shelf")
        await store.close()
        assert failed.value.details["reason"] == reason
        return failed.value.message

    store = EdgeStore(root)
    await build(store, WHALE)
    await store.close()
    manifest = root / "shelf" / "manifest.json"
    good = manifest.read_text()
    manifest.write_text(good[:50])
    assert "`chapterverse remove shelf`, and build it again" in await fail_with("corrupt")
    manifest.write_text("[]")
    await fail_with("corrupt")
    manifest.write_text(json.dumps({**json.loads(good), "schemaVersion": 99}))
    assert "update Chapterverse" in await fail_with("schema")
    manifest.write_text(json.dumps({**json.loads(good), "schemaVersion": 0}))
    assert "remove it, and build it again" in await fail_with("schema")
    manifest.write_text(json.dumps({**json.loads(good), "embedding": None}))
    await fail_with("corrupt")
    manifest.write_text(good)
    [collection] = (root / "shelf").glob("c-*")
    (collection / "edge_config.json").unlink()
    shutil.rmtree(collection / "segments")
    await fail_with("corrupt")


ORPHAN = """
import asyncio, os, signal, sys, time
from pathlib import Path
from chapterverse.index.edge import EdgeStore

async def main():
    await EdgeStore(Path(sys.argv[1])).reader("shelf")
    child = os.fork()
    if not child:
        time.sleep(60)
        os._exit(0)
    print(child, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.anyio
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX alone")
async def test_an_index_that_an_orphan_still_has_open_is_not_called_damaged(root: Path, store: EdgeStore) -> None:
    first = EdgeStore(root)
    await build(first, WHALE)
    await first.close()
    with run_child(ORPHAN, str(root)) as child:
        assert child.stdout is not None
        orphan = int(child.stdout.readline())
    try:
        with pytest.raises(AstRagIndexError, match="still open in a process that was forked") as failed:
            await store.reader("shelf")
        assert failed.value.details["reason"] == "locked"
    finally:
        os.kill(orphan, signal.SIGKILL)
    for _ in range(100):
        try:
            assert len(await texts(store)) == 4
            break
        except AstRagIndexError:  # it is ending
            await asyncio.sleep(0.05)
    assert len(await texts(store)) == 4


REFUSED = """
import asyncio, resource, sys
from pathlib import Path
from chapterverse.errors import StoreUnreachableError
from chapterverse.index.edge import EdgeStore

async def main():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    try:
        await EdgeStore(Path(sys.argv[1])).reader("shelf")
    except StoreUnreachableError as error:
        print(error)

asyncio.run(main())
"""


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="where the system limits the size of files as Linux does")
async def test_what_the_system_refuses_is_not_called_damage(root: Path, store: EdgeStore) -> None:
    first = EdgeStore(root)
    await build(first, WHALE)
    await first.close()
    said = run_child(REFUSED, str(root)).communicate()[0]
    assert "'shelf' cannot be opened (File too large), and nothing need be wrong with it" in said
    assert len(await texts(store)) == 4


@pytest.mark.anyio
@pytest.mark.parametrize("delete_first", [True, False])
async def test_a_damaged_index_can_be_replaced(root: Path, store: EdgeStore, delete_first: bool) -> None:
    damaged = EdgeStore(root)
    await build(damaged, WHALE)
    await damaged.close()
    (root / "shelf" / "manifest.json").write_text("{}")
    if delete_first:
        await store.delete("shelf")
        assert not (root / "shelf").exists()
    await build(store, GARDEN)
    assert len(await texts(store)) == 3
    assert len(list((root / "shelf").glob("c-*"))) == 1


@pytest.mark.anyio
async def test_whoever_stops_waiting_for_a_writer_leaves_none_open(store: EdgeStore) -> None:
    await build(store, WHALE)
    with store._mutex:
        waiting = asyncio.create_task(store.update("shelf"))
        await asyncio.sleep(0.05)  # until a thread has begun
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await asyncio.gather(*store._closing)
    async with await store.update("shelf") as writer:
        await writer.put(points(GARDEN))


@pytest.mark.anyio
async def test_other_peoples_folders_are_left_alone(root: Path, store: EdgeStore) -> None:
    (root / "shelf").mkdir()
    (root / "shelf" / "photo.jpg").write_bytes(b"precious")
    with pytest.raises(AstRagIndexError, match="in the way"):
        await store.create(record())
    await build(store, WHALE, index="other")
    (root / "other" / "notes.txt").write_text("mine")
    await store.delete("other")
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*.*")) == ["other/notes.txt", "shelf/photo.jpg"]


@pytest.mark.anyio
async def test_a_first_build_that_crashed_is_cleared_away(root: Path, store: EdgeStore) -> None:
    crashed = root / "crashed"
    (crashed / "c-0123").mkdir(parents=True)
    (crashed / "lock").touch()
    (crashed / "c-0123" / "segment").write_bytes(b"half")
    await build(store, WHALE)
    assert not crashed.exists()
    assert await store.indexes() == ["shelf"]


@pytest.mark.anyio
async def test_what_an_unfinished_build_has_left_can_be_deleted(root: Path, store: EdgeStore) -> None:
    (root / "crashed" / "c-0123").mkdir(parents=True)
    (root / "crashed" / "lock").touch()
    await store.delete("crashed")
    assert list(root.iterdir()) == []
    async with await store.create(record()):
        with pytest.raises(AstRagIndexError, match="no index 'shelf'"):
            await store.delete("shelf")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A disk that has as many MB left as its only item says; where there is none, nothing can be written at all."""
    left = [1000]

    def write(path: Path, text: str, *, private: bool = False) -> None:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace_file(path, text, private=private)

    monkeypatch.setattr(shard, "_free", lambda path: left[0] * 1_000_000)
    monkeypatch.setattr("chapterverse.index.folder.replace_file", write)
    return left


@pytest.mark.anyio
async def test_a_build_on_a_full_disk_is_refused_and_leaves_nothing(
    root: Path, store: EdgeStore, disk: list[int]
) -> None:
    disk[0] = 100
    with pytest.raises(StoreUnreachableError, match="100 MB left, and 128 MB are needed") as refused:
        await store.create(record())
    assert str(root / "shelf") in refused.value.message
    assert refused.value.details["reason"] == "full"
    disk[0] = 200
    async with await store.create(record()) as writer:
        disk[0] = 40
        with pytest.raises(StoreUnreachableError, match="40 MB left, and 64 MB are needed"):
            await writer.put(points(WHALE))
    assert list(root.iterdir()) == []


@pytest.mark.anyio
async def test_an_index_on_a_full_disk_is_read_and_removed(root: Path, store: EdgeStore, disk: list[int]) -> None:
    first = EdgeStore(root)
    await build(first, WHALE)
    async with await first.update("shelf") as writer:
        await writer.put(points(GARDEN))
        disk[0] = 0
        with pytest.raises(StoreUnreachableError, match="0 MB left"):
            await writer.remove(file_ids=[WHALE.file_id])
    await first.close()
    assert len(await texts(store)) == len(points(WHALE)), "what could not be undone is not seen"
    with pytest.raises(StoreUnreachableError, match="0 MB left"):
        await store.update("shelf")
    disk[0] = 1000
    async with await store.update("shelf") as writer:
        await writer.commit(record())
    assert len(await texts(store)) == len(points(WHALE)), "the next writer has undone it"
    disk[0] = 0
    await store.delete("shelf")
    assert list(root.iterdir()) == []


@pytest.mark.anyio
async def test_a_folder_that_cannot_be_used_is_a_refused_connection(root: Path) -> None:
    (root / "file").touch()
    store = EdgeStore(root / "file")
    with pytest.raises(ConnectionRefusedError) as refused:
        await store.create(record())
    assert isinstance(refused.value, StoreUnreachableError)
    await store.close()


@pytest.mark.anyio
async def test_bm25_counts_only_what_is_there(store: EdgeStore) -> None:
    """The engine's own statistics still count deleted points until the index is opened again."""
    await build(store, WHALE, GARDEN)
    query = lexical.query_vector("roses and whale")

    async def scores() -> dict[str, float]:
        async with await store.reader("shelf") as reader:
            found = await held(reader, await reader.search_lexical(query, None, 10))
            return {entry.chunk.id: score for entry, score in found}

    both = await scores()
    async with await store.update("shelf") as writer:
        await writer.remove(file_ids=[GARDEN.file_id])
        assert await scores() == pytest.approx(both)
        await writer.commit(record())
    after = await scores()
    await build(store, WHALE)
    assert after == pytest.approx(await scores())


@pytest.mark.anyio
async def test_what_has_died_is_deleted(root: Path) -> None:
    store = EdgeStore(root)
    await build(store, WHALE, GARDEN)
    async with await store.update("shelf") as writer:
        await writer.put(points(WHALE))
        await writer.remove(file_ids=[GARDEN.file_id])
        await writer.commit(record())
    await store.close()
    [collection] = (root / "shelf").glob("c-*")
    engine = qdrant_edge.EdgeShard.load(str(collection))
    assert engine.info().points_count == len(points(WHALE)) + 1
    engine.close()


def test_engines_are_imported_only_where_they_are_used() -> None:
    code = "import sys, chapterverse.index.{}; print([m for m in ('qdrant_edge', 'qdrant_client') if m in sys.modules])"
    for module, engines in (("sync", []), ("archive", []), ("edge", ["qdrant_edge"])):
        found = subprocess.run([sys.executable, "-c", code.format(module)], capture_output=True, text=True, check=True)
        assert found.stdout.strip() == str(engines)


@pytest.mark.parametrize("older", [False, True], ids=["new", "made before there were codes"])
def test_the_nearest_by_their_codes_are_the_nearest_by_the_whole_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: bool
) -> None:
    draw = np.random.default_rng(3)
    middles = draw.standard_normal((40, 384))
    near = middles[draw.integers(0, 40, 3_040)] + 0.8 * draw.standard_normal((3_040, 384))
    vectors, queries = np.split(near / np.linalg.norm(near, axis=1, keepdims=True), [3_000])
    if older:
        monkeypatch.setattr(qdrant_edge, "TurboQuantQuantizationConfig", lambda **_: None)
    ids = [str(uuid.UUID(int=n)) for n in range(len(vectors))]
    raw = [
        RawPoint(one, {"tags": ["kind:chunk"], "born": 1}, row.tolist()) for one, row in zip(ids, vectors, strict=True)
    ]

    async def search(found: shard.Shard) -> list[list[Hit]]:
        return [await found.query(1, query.tolist(), {}, 10) for query in queries]

    with ThreadPoolExecutor(1) as executor:
        made = shard.Shard.create("books", tmp_path / "c", 384, executor)
        asyncio.run(made.upsert(raw))
        made.close()
        loaded = shard.Shard.load("books", "books", tmp_path / "c", executor)
        hits = asyncio.run(search(loaded))
        loaded.close()
    whole = queries @ vectors.T
    nearest = np.argsort(-whole, axis=1)[:, :10]
    found = sum(
        len({hit.point for hit in row} & {ids[n] for n in best}) for row, best in zip(hits, nearest, strict=True)
    )
    assert found >= 0.99 * nearest.size
    for row, scores in zip(hits, whole, strict=True):
        assert [hit.score for hit in row] == pytest.approx([scores[ids.index(hit.point)] for hit in row], abs=1e-3)
