"""The server store over HTTP: against a stand-in on the embedded engine, and a real server if QDRANT_URL is set."""

from __future__ import annotations

import asyncio
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel
from pytest_httpserver import HTTPServer
from qdrant_client import models
from qdrant_client.http.exceptions import UnexpectedResponse

from chapterverse.answer.prompts import NOT_IN_BOOK
from chapterverse.errors import (
    AstRagAuthError,
    AstRagIndexError,
    AstRagRetrievalError,
    RetrievalError,
    StoreUnreachableError,
)
from chapterverse.index.collection import GenerationWriter
from chapterverse.index.points import all_of, is_any, tagged
from chapterverse.index.remote import RemoteCollection
from chapterverse.index.server import ServerStore
from chapterverse.library import Library
from chapterverse.library.parts import open_store
from chapterverse.settings import Settings
from chapterverse.types import Filter
from tests.conformance.store import GARDEN, WHALE, StoreConformance
from tests.index import published
from tests.index.books import build, points, record, texts
from tests.index.published import REQUESTS
from tests.index.standin import StandIn

GENERATED = {
    ("PUT", "/collections/{}"): models.CreateCollection,
    ("PUT", "/collections/{}/index"): models.CreateFieldIndex,
    ("PUT", "/collections/{}/points"): models.PointsList,
    ("POST", "/collections/{}/points"): models.PointRequest,
    ("POST", "/collections/{}/points/payload"): models.SetPayload,
    ("POST", "/collections/{}/points/payload/delete"): models.DeletePayload,
    ("POST", "/collections/{}/points/query"): models.QueryRequest,
    ("POST", "/collections/{}/points/scroll"): models.ScrollRequest,
    ("POST", "/collections/{}/points/count"): models.CountRequest,
    ("POST", "/collections/aliases"): models.ChangeAliasesOperation,
}
SERVERS = ["stand-in", *(["real"] if os.environ.get("QDRANT_URL") else [])]
WITH_A_KEY = SERVERS if os.environ.get("QDRANT_API_KEY") else SERVERS[:1]


class Served(NamedTuple):
    """Where a server is, and how long what it no longer needs is kept for those who are reading it."""

    url: str
    key: str | None
    grace: float


@pytest.fixture
def standin(root: Path) -> Iterator[StandIn]:
    standin = StandIn(root)
    yield standin
    standin.stop()


@pytest.fixture(params=SERVERS)
def served(request: pytest.FixtureRequest, root: Path) -> Iterator[Served]:
    if request.param == "real":
        # It may be far away: its readers get longer to finish before what they read is dropped.
        yield Served(os.environ["QDRANT_URL"], os.environ.get("QDRANT_API_KEY"), grace=4.0)
        return
    standin = StandIn(root, api_key="right")
    yield Served(standin.url, "right", grace=0.4)
    standin.stop()


@pytest.fixture
async def store(served: Served) -> AsyncIterator[ServerStore]:
    store = ServerStore(served.url, served.key, grace=served.grace, namespace=f"test-{uuid.uuid4().hex}")
    yield store
    for index in await store.indexes():
        await store.delete(index)
    await store.close()


class TestServerStore(StoreConformance):
    pass


def test_a_book_is_added_asked_and_kept_in_step(served: Served, root: Path) -> None:
    """The product on a server, with the models that ship."""
    index, folder = f"test-{uuid.uuid4().hex}", root / "shelf"
    folder.mkdir()
    (folder / "bell.md").write_text("# The bell\n\nThe great bell of Ashby was cast in 1702 by Josiah Penhale.\n")
    (folder / "mill.md").write_text("# The mill\n\nThe mill at Ashby grinds barley for the brewers of the town.\n")
    settings = Settings(QDRANT_URL=served.url, QDRANT_API_KEY=served.key, home=root / "home")
    with Library(settings) as library:
        library.add(folder, index=index)
        try:
            answer = library.ask("Who cast the great bell?", index=index)
            assert "Josiah Penhale" in answer.text
            assert answer.citations[0].quote in (folder / "bell.md").read_text()
            assert library.ask("Who owns the great bell?", index=index).text == NOT_IN_BOOK
            found = library.search("Ashby", index=index, where=Filter(file_ids=("mill.md",))).found
            assert [one.entry.chunk.file_id for one in found] == ["mill.md"]
            (folder / "bell.md").unlink()
            (folder / "mill.md").rename(folder / "watermill.md")
            library.sync(index)
            assert {source.file_id for source in library.inspect(index).sources} == {"watermill.md"}
            assert library.ask("Who cast the great bell?", index=index).text == NOT_IN_BOOK
        finally:
            library.remove(index)
        assert index not in {record.id for record in library.indexes()}


@pytest.mark.anyio
@pytest.mark.parametrize("served", WITH_A_KEY, indirect=True)
@pytest.mark.parametrize("key", [None, "wrong"])
async def test_only_the_right_key_opens_a_server_that_has_one(served: Served, key: str | None) -> None:
    store = ServerStore(served.url, key, attempts=1)
    with pytest.raises(AstRagAuthError, match="QDRANT_API_KEY"):
        await store.indexes()
    await store.close()


@pytest.mark.parametrize(
    ("schema", "model"),
    [
        *((REQUESTS[call].schema, model) for call, model in GENERATED.items()),
        (published.FILTER, models.Filter),
        (published.FIELD_CONDITION, models.FieldCondition),
        (published.HAS_ID, models.HasIdCondition),
        (published.RANGE, models.Range),
        (published.DENSE_PARAMS, models.VectorParams),
        (published.SPARSE_PARAMS, models.SparseVectorParams),
        (published.SPARSE, models.SparseVector),
        (published.NEW_ALIAS, models.CreateAlias),
    ],
)
def test_the_schemas_of_requests_are_the_published_ones(schema: dict[str, Any], model: type[BaseModel]) -> None:
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    assert set(schema["properties"]) <= set(fields)
    assert set(schema["required"]) == {name for name, field in fields.items() if field.is_required()}


@pytest.fixture
async def shelf(standin: StandIn) -> AsyncIterator[ServerStore]:
    """A store with one index, that gives up soon."""
    store = ServerStore(standin.url, grace=0.0, attempts=2, lease=2)
    await build(store, WHALE)
    yield store
    await store.close()


@pytest.mark.anyio
class TestErrors:
    async def test_nothing_listens(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        store = ServerStore(f"http://127.0.0.1:{port}", attempts=1)
        with pytest.raises(ConnectionRefusedError, match="QDRANT_URL") as refused:
            await store.indexes()
        assert isinstance(refused.value, StoreUnreachableError)
        assert refused.value.retryable
        await store.close()

    async def test_nothing_answers(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            store = ServerStore(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=1, attempts=1)
            started = time.monotonic()
            with pytest.raises(StoreUnreachableError, match="Timeout"):
                await store.indexes()
            assert time.monotonic() - started < 30
            await store.close()

    async def test_something_else_answers(self, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/").respond_with_data("welcome to my home page")
        store = ServerStore(httpserver.url_for(""))
        with pytest.raises(RetrievalError, match="not seem to be a Qdrant server"):
            await store.indexes()
        await store.close()

    async def test_a_refusal_is_told_in_the_servers_words(self, shelf: ServerStore) -> None:
        collection = RemoteCollection(shelf._server, "chapterverse.shelf")
        with pytest.raises(RetrievalError, match=r"answered 400 Bad Request \(.*not found for \"colour\" of"):
            await collection.count(1, all_of(is_any("colour", ["red"])))

    async def test_a_server_that_is_too_old(self, root: Path) -> None:
        standin = StandIn(root, version="1.9.7")
        store = ServerStore(standin.url)
        with pytest.raises(RetrievalError, match=r"version 1\.9\.7; 1\.10 or newer"):
            await store.indexes()
        await store.close()
        standin.stop()

    async def test_a_hiccup_is_retried(self, shelf: ServerStore, standin: StandIn) -> None:
        standin.fail_next = [503]
        assert (await shelf.record("shelf")).id == "shelf"
        assert standin.fail_next == []

    async def test_a_server_in_trouble(self, shelf: ServerStore, standin: StandIn) -> None:
        standin.fail_next = [500, 500]
        with pytest.raises(AstRagRetrievalError, match="answered 500") as failed:
            await shelf.record("shelf")
        assert failed.value.retryable
        assert isinstance(failed.value.cause, UnexpectedResponse)

    async def test_a_refused_request_is_not_repeated(self, shelf: ServerStore, standin: StandIn) -> None:
        standin.requests.clear()
        standin.fail_next = [422]
        with pytest.raises(UnexpectedResponse) as failed:
            await shelf.record("shelf")
        assert isinstance(failed.value, RetrievalError)
        assert (failed.value.status_code, failed.value.retryable) == (422, False)
        assert len(standin.requests) == 1

    async def test_a_collection_that_vanished_under_a_reader(self, shelf: ServerStore) -> None:
        async with await shelf.reader("shelf") as reader:
            await shelf.delete("shelf")
            with pytest.raises(AstRagIndexError, match="any more"):
                await reader.stats()

    async def test_an_index_of_another_schema(self, shelf: ServerStore, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("chapterverse.index.manifest.SCHEMA_VERSION", 0)
        with pytest.raises(AstRagIndexError, match="update Chapterverse"):
            await shelf.record("shelf")


@pytest.mark.anyio
class TestSharing:
    async def test_cluster_settings_reach_the_server(self, standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("QDRANT_URL", standin.url)
        for name, value in {"SHARDS": 6, "REPLICAS": 2, "WRITE_CONSISTENCY": 1, "TIMEOUT": 7}.items():
            monkeypatch.setenv(f"QDRANT_{name}", str(value))
        store = open_store(Settings())
        await build(store, GARDEN)
        [created] = standin.created
        assert created["shard_number"] == 6
        assert created["replication_factor"] == 2
        assert created["write_consistency_factor"] == 1
        await store.close()

    async def test_another_process_sees_a_commit_at_once(self, shelf: ServerStore, standin: StandIn) -> None:
        other = ServerStore(standin.url)
        async with await shelf.update("shelf") as writer:
            await writer.put(points(GARDEN))
            assert len(await texts(other)) == 4
            await writer.commit(record())
        assert len(await texts(other)) == 7
        await other.close()

    async def test_a_writer_that_died_is_undone_by_the_next(self, shelf: ServerStore, standin: StandIn) -> None:
        other = ServerStore(standin.url, lease=2, grace=0.0)
        dead = await other.update("shelf")
        await dead.put(points(GARDEN))
        await dead.remove(file_ids=[WHALE.file_id])
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            if "Lease" in repr(task):
                task.cancel()
        with pytest.raises(AstRagIndexError, match="is being written by process"):
            await shelf.update("shelf")
        await asyncio.sleep(3)
        async with await shelf.update("shelf") as writer:
            await writer.commit(record())
        assert await texts(shelf) == {point.entry.chunk.text for point in points(WHALE)}
        with pytest.raises(AstRagIndexError, match="taken over"):
            await dead.commit(record())
        await other.close()

    async def test_a_slow_writer_keeps_its_lease(self, shelf: ServerStore) -> None:
        async with await shelf.update("shelf") as writer:
            await asyncio.sleep(3)
            with pytest.raises(AstRagIndexError, match="is being written"):
                await shelf.update("shelf")
            await writer.put(points(GARDEN))
            await writer.commit(record())
        assert len(await texts(shelf)) == 7

    async def test_an_update_of_an_index_that_was_built_anew_fails(self, shelf: ServerStore) -> None:
        async with await shelf.update("shelf") as writer:
            await build(shelf, GARDEN)
            with pytest.raises(AstRagIndexError):
                await writer.commit(record())
        assert await texts(shelf) == {point.entry.chunk.text for point in points(GARDEN)}

    async def test_what_has_died_is_deleted(self, shelf: ServerStore, standin: StandIn) -> None:
        async with await shelf.update("shelf") as writer:
            await writer.put(points(WHALE))
            await writer.commit(record())
        assert standin.point_count == len(points(WHALE)) + 2, "chunks, a document and the manifest"

    async def test_of_two_builds_that_begin_at_once_at_most_one_goes_on(self, standin: StandIn) -> None:
        stores = [ServerStore(standin.url, grace=0.5) for _ in range(2)]
        begun = await asyncio.gather(
            *(store.create(record(), replace=False) for store in stores), return_exceptions=True
        )
        writers = [one for one in begun if isinstance(one, GenerationWriter)]
        refusals = [str(one) for one in begun if isinstance(one, AstRagIndexError)]
        assert len(writers) <= 1
        assert len(writers) + len(refusals) == 2
        assert all("is being written by" in one for one in refusals)
        for writer in writers:
            await writer.put(points(WHALE))
            await writer.commit(record())
            assert len(await texts(stores[0])) == 4
        assert len(standin.collections) == len(writers)
        for store in stores:
            await store.close()

    async def test_a_build_that_gave_way_meanwhile_is_no_obstacle(
        self, standin: StandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = ServerStore(standin.url, grace=0.0)
        client = store._server.client
        listed = client.get_collections

        async def with_one_that_is_gone() -> models.CollectionsResponse:
            found = await listed()
            gone = models.CollectionDescription(name="chapterverse.shelf.gone")
            return models.CollectionsResponse(collections=[*found.collections, gone])

        monkeypatch.setattr(client, "get_collections", with_one_that_is_gone)
        writer = await store.create(record(), replace=False)
        await writer.put(points(WHALE))
        await writer.commit(record())
        assert len(await texts(store)) == 4
        await store.close()

    async def test_an_index_made_meanwhile_is_not_replaced(self, shelf: ServerStore, standin: StandIn) -> None:
        other = ServerStore(standin.url, grace=0.0)
        writer = await other.create(record("new"), replace=False)
        await writer.put(points(GARDEN))
        await shelf._change_alias("new", old=None, new=standin.aliases["chapterverse.shelf"])
        with pytest.raises(AstRagIndexError, match="already"):
            await writer.commit(record("new"))
        await writer.abort()
        assert len(await texts(shelf, "new")) == 4
        await other.close()

    async def test_a_damaged_index_can_be_deleted(self, shelf: ServerStore) -> None:
        collection = RemoteCollection(shelf._server, "chapterverse.shelf")
        await collection.set_payload(all_of(tagged("kind", "manifest")), {"manifest": {}})
        with pytest.raises(AstRagIndexError, match="is damaged: `chapterverse remove shelf`"):
            await shelf.record("shelf")
        await shelf.delete("shelf")
        assert await shelf.indexes() == []

    async def test_builds_leave_one_collection(self, shelf: ServerStore, standin: StandIn) -> None:
        writer = await shelf.create(record())
        await writer.put(points(GARDEN))
        await writer.abort()
        await build(shelf, GARDEN)
        assert len(standin.collections) == 1
