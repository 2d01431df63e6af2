"""One process owns the indexes, and the others work through it: conformance, and what can go wrong between them."""

from __future__ import annotations

import asyncio
import json
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chapterverse.errors import AstRagIndexError, StoreUnreachableError
from chapterverse.index import forwarded
from chapterverse.index.edge import EdgeStore
from chapterverse.index.owner import find_owner
from chapterverse.index.wire import error_from_json, error_to_json, receive, send
from tests.conformance.store import GARDEN, WHALE, StoreConformance
from tests.index.books import build, points, record, texts


@pytest.fixture
async def owner(root: Path) -> AsyncIterator[EdgeStore]:
    store = EdgeStore(root)
    await store.share()
    yield store
    await store.close()


@pytest.fixture
async def store(root: Path, owner: EdgeStore) -> AsyncIterator[EdgeStore]:
    """A store of which every call is forwarded."""
    del owner  # it serves
    store = EdgeStore(root)
    yield store
    await store.close()


class TestForwardedStore(StoreConformance):
    pass


SHARE = """
import asyncio, sys
from pathlib import Path
from chapterverse.index.edge import EdgeStore

async def main():
    store = EdgeStore(Path(sys.argv[1]))
    await store.share()
    print("shared", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@contextmanager
def other_process(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that owns the indexes, until it is killed."""
    command = [sys.executable, "-c", SHARE, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "shared\n"
        yield child
        child.kill()


@pytest.mark.anyio
async def test_an_owner_that_dies_is_named_and_then_replaced(root: Path) -> None:
    store = EdgeStore(root)
    with other_process(root) as child:
        await build(store, WHALE)
        assert str(child.pid) in (root / "shelf" / "holder.json").read_text()
        reader = await store.reader("shelf")
        writer = await store.update("shelf")
        await writer.put(points(GARDEN))
        child.kill()
        child.wait()
        for call in (reader.stats(), writer.commit(record())):
            with pytest.raises(StoreUnreachableError, match=f"process {child.pid} .* has gone away") as gone:
                await call
            assert gone.value.retryable
        await reader.close()
        await writer.abort()
    assert (root / "owner.json").exists(), "it had no time to tidy up"
    assert len(await texts(store)) == 4, "the index is free, and what was not committed is undone"
    assert not (root / "owner.json").exists()
    await store.close()


@pytest.mark.anyio
async def test_an_owner_that_does_not_answer_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = EdgeStore(root)
    with other_process(root) as child:
        await build(store, WHALE)
        child.send_signal(signal.SIGSTOP)
        monkeypatch.setattr(forwarded, "_PATIENCE", 0.1)
        with pytest.raises(StoreUnreachableError, match=f"process {child.pid} .* does not answer") as failed:
            await store.reader("shelf")
        assert failed.value.retryable
    await store.close()


@pytest.mark.anyio
async def test_a_process_that_is_killed_leaves_nothing_open(root: Path, owner: EdgeStore) -> None:
    await build(owner, WHALE)
    code = SHARE.replace("await store.share()", "writer = await store.update('shelf')")
    with subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert await asyncio.to_thread(child.stdout.readline) == b"shared\n"
        with pytest.raises(AstRagIndexError, match="is being written"):
            await owner.update("shelf")
        child.kill()
    for _ in range(100):
        try:
            writer = await owner.update("shelf")
            break
        except AstRagIndexError:
            await asyncio.sleep(0.05)
    await writer.abort()
    assert len(await texts(owner)) == 4


@pytest.mark.anyio
async def test_the_next_one_that_shares_takes_over(root: Path) -> None:
    first, second, third = EdgeStore(root), EdgeStore(root), EdgeStore(root)
    await first.share()
    await second.share()
    await build(second, WHALE)
    address = find_owner(root)
    await first.close()
    assert find_owner(root) is None
    assert len(await texts(second)) == 4
    assert find_owner(root) not in (None, address)
    assert len(await texts(third)) == 4
    await third.close()
    await second.close()


@pytest.mark.anyio
async def test_what_a_process_holds_already_it_keeps_when_an_owner_comes(root: Path) -> None:
    early, owner = EdgeStore(root), EdgeStore(root)
    await build(early, WHALE)
    await owner.share()
    assert len(await texts(early)) == 4
    with pytest.raises(AstRagIndexError, match="is in use by process"):
        await owner.reader("shelf")
    await build(early, GARDEN, index="other")
    assert len(await texts(owner, "other")) == 3
    await early.close()
    assert len(await texts(owner)) == 4
    await owner.close()


@pytest.mark.anyio
async def test_only_who_knows_the_secret_is_let_in(root: Path, owner: EdgeStore) -> None:
    await build(owner, WHALE)
    path = root / "owner.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    address = find_owner(root)
    assert address is not None
    assert address.token not in repr(address)
    incoming, outgoing = await asyncio.open_connection("127.0.0.1", address.port)
    outgoing.write(b"x" * len(address.token))
    await send(outgoing, {"do": "delete", "index": "shelf"})
    with pytest.raises((EOFError, ConnectionResetError)):
        await receive(incoming)
    outgoing.close()
    assert await owner.indexes() == ["shelf"]


@pytest.mark.anyio
async def test_an_owner_of_another_version_is_not_spoken_to(root: Path, owner: EdgeStore, store: EdgeStore) -> None:
    await build(owner, WHALE)
    path = root / "owner.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "protocol": 99}))
    with pytest.raises(AstRagIndexError, match="another version of Chapterverse: restart it"):
        await store.reader("shelf")
    path.write_text("{")
    with pytest.raises(AstRagIndexError, match=r"owner\.json cannot be understood"):
        await store.reader("shelf")


@pytest.mark.anyio
async def test_a_call_that_is_given_up_does_not_answer_the_next(store: EdgeStore) -> None:
    await build(store, WHALE)
    reader = await store.reader("shelf")
    slow = asyncio.create_task(reader.stats())
    await asyncio.sleep(0)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    with pytest.raises(StoreUnreachableError):
        await reader.sources()
    await reader.close()
    assert len(await texts(store)) == 4


def test_errors_keep_their_kind() -> None:
    locked = AstRagIndexError("in use", details={"reason": "locked", "path": Path("x")}, retryable=True)
    again = error_from_json(error_to_json(locked))
    assert type(again) is AstRagIndexError
    assert (again.message, again.details, again.retryable) == ("in use", {"reason": "locked", "path": "x"}, True)
    surprise = error_from_json(error_to_json(KeyError("where")))
    assert "KeyError('where')" in surprise.message
    assert error_from_json({**error_to_json(locked), "kind": "annotations"}).message == "in use"
