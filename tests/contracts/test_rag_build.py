"""`RAG.buildIndex`, `syncIndex` and `inspectIndex`: every field of their requests and responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chapterverse.contracts import RAG, Shelves
from chapterverse.errors import (
    AstRagEmbeddingCapabilityError,
    AstRagError,
    AstRagIndexError,
    AstRagSourceError,
    AstRagValidationError,
)
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings
from tests.contracts.conftest import BOOKS

BUILT = ["indexFileId", "indexName", "chunkCount", "sourceCount", "createdAt", "updatedAt", "warnings"]
SYNCED = {
    *("indexFileId", "dryRun", "persisted", "updatedAt", "warnings"),
    *("addedSources", "updatedSources", "removedSources", "unchangedSources"),
    *("addedChunks", "removedChunks", "reusedChunks", "reembeddedChunks"),
}
INSPECTED = {
    *("schemaVersion", "indexId", "indexName", "createdAt", "updatedAt", "embedding", "chunking", "retrievalDefaults"),
    *("sourceConfig", "sources", "sync", "indexFileId", "chunkCount", "sourceCount", "sizeBytes"),
}


def search(rag: RAG, request: dict[str, Any]) -> dict[str, Any]:
    return rag.search({"query": "bell", **request})


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Shelves]:
    """Shelves for a test that changes what stands on them."""
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    with Shelves(Settings(home=tmp_path / "home", embedding="fake"), embeddings) as shelves:
        yield shelves


@pytest.fixture
def rag(own: Shelves) -> RAG:
    return RAG(own)


def files(rag: RAG, index: str) -> list[str]:
    return [source["fileId"] for source in rag.inspectIndex({"indexFileId": index})["sources"]]


def test_a_build_returns_the_fields_of_the_contract(rag: RAG, books: Path) -> None:
    built = rag.buildIndex({"source": {"folderId": str(books)}, "index": {"indexName": "Project Index"}})
    assert list(built) == BUILT
    assert (built["indexFileId"], built["indexName"], built["sourceCount"]) == ("project-index", "Project Index", 3)
    assert built["chunkCount"] >= 3
    assert built["createdAt"] <= built["updatedAt"]
    assert built["warnings"] == []
    json.dumps(built)


SOURCES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["bells.md", "old/geese.html", "sheep.txt"]),
    ({"includeSubfolders": True}, ["bells.md", "old/geese.html", "sheep.txt"]),
    ({"includeSubfolders": False}, ["bells.md", "sheep.txt"]),
    ({"includeMimeTypes": ["text/plain"]}, ["sheep.txt"]),
    ({"include_mime_types": ("text/plain", "text/html")}, ["old/geese.html", "sheep.txt"]),
    ({"excludeFileIds": ["old/geese.html"]}, ["bells.md", "sheep.txt"]),
    ({"excludeFileIds": []}, ["bells.md", "old/geese.html", "sheep.txt"]),
]


@pytest.mark.parametrize(("source", "expected"), SOURCES)
def test_source(rag: RAG, books: Path, source: dict[str, Any], expected: list[str]) -> None:
    built = rag.buildIndex({"source": {"folderId": str(books), **source}})
    assert files(rag, built["indexFileId"]) == expected
    assert built["indexName"] == "books"


def test_index_file_id_replaces_that_index(rag: RAG, books: Path, tmp_path: Path) -> None:
    request = {"source": {"folderId": str(books)}, "index": {"indexName": "shelf"}}
    first = rag.buildIndex(request)
    with pytest.raises(AstRagIndexError, match=r"index\.indexFileId"):
        rag.buildIndex(request)
    assert files(rag, "shelf") == sorted(BOOKS)
    again = rag.buildIndex(
        {"source": {"folderId": str(books / "sheep.txt")}, "index": {"indexFileId": first["indexFileId"]}}
    )
    assert (again["indexFileId"], again["indexName"], again["sourceCount"]) == ("shelf", "shelf", 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(AstRagIndexError, match="nothing to index"):
        rag.buildIndex({"source": {"folderId": str(tmp_path / "empty")}, "index": {"indexFileId": "shelf"}})
    assert files(rag, "shelf") == ["sheep.txt"]
    with pytest.raises(AstRagIndexError, match="no index 'other'"):
        rag.buildIndex({"source": {"folderId": str(books)}, "index": {"indexFileId": "other"}})


def test_destination_folder(own: Shelves, books: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    built = RAG(own).buildIndex(
        {"source": {"folderId": str(books)}, "index": {"indexName": "shelf", "destinationFolderId": str(elsewhere)}}
    )
    assert built["indexFileId"] == str(elsewhere.resolve() / "shelf")
    assert (elsewhere / "shelf" / "manifest.json").is_file()
    found = RAG(own).search({"indexFileId": built["indexFileId"], "query": "great bell"})
    assert found["results"][0]["fileId"] == "bells.md"
    again = RAG(own).syncIndex({"indexFileId": built["indexFileId"]})
    assert again["indexFileId"] == built["indexFileId"]
    replaced = RAG(own).buildIndex(
        {"source": {"folderId": str(books / "sheep.txt")}, "index": {"indexFileId": built["indexFileId"]}}
    )
    assert (replaced["indexFileId"], replaced["sourceCount"]) == (built["indexFileId"], 1)
    assert own.library().indexes() == []


def test_a_destination_is_never_guessed_nor_ignored(
    own: Shelves, books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    source, there = {"folderId": str(books / "sheep.txt")}, str(tmp_path / "there")
    for blank in ("", " "):
        with pytest.raises(AstRagValidationError, match=r"index\.destinationFolderId is blank"):
            RAG(own).buildIndex({"source": source, "index": {"destinationFolderId": blank}})
    built = RAG(own).buildIndex({"source": source, "index": {"indexName": "shelf", "destinationFolderId": there}})
    again = {"indexFileId": built["indexFileId"], "destinationFolderId": str(tmp_path / "elsewhere")}
    with pytest.raises(AstRagValidationError, match=r"index\.destinationFolderId: the index .* is in '.*there'"):
        RAG(own).buildIndex({"source": source, "index": again})
    assert list((tmp_path / "here").iterdir()) == []
    assert not (tmp_path / "elsewhere").exists()
    same = RAG(own).buildIndex({"source": source, "index": {**again, "destinationFolderId": there}})
    assert same["indexFileId"] == built["indexFileId"]


def test_a_server_keeps_no_index_in_folders(tmp_path: Path, books: Path) -> None:
    settings = Settings(QDRANT_URL="http://127.0.0.1:9", embedding="fake")
    with Shelves(settings) as shelves, pytest.raises(AstRagValidationError, match="QDRANT_URL"):
        RAG(shelves).buildIndex(
            {"source": {"folderId": str(books)}, "index": {"destinationFolderId": str(tmp_path / "elsewhere")}}
        )


EMBEDDINGS: list[tuple[dict[str, Any], tuple[str, str, int]]] = [
    ({}, ("fake", "bag-of-words", 64)),
    ({"provider": "FAKE", "model": "bag-of-words"}, ("fake", "bag-of-words", 64)),
    ({"provider": "custom", "providerOptions": {"adapter": "wide"}}, ("wide", "bag-of-words", 96)),
]


@pytest.mark.parametrize(("embedding", "expected"), EMBEDDINGS)
def test_embedding(rag: RAG, books: Path, embedding: dict[str, Any], expected: tuple[str, str, int]) -> None:
    rag.registerEmbeddingProvider("wide", FakeEmbedder(96))
    built = rag.buildIndex({"source": {"folderId": str(books)}, "embedding": embedding})
    made = rag.inspectIndex({"indexFileId": built["indexFileId"]})["embedding"]
    assert (made["provider"], made["model"], made["dimensions"]) == expected
    options = {"providerOptions": embedding.get("providerOptions", {})}
    assert rag.search({"indexFileId": built["indexFileId"], "query": "the great bell", "embedding": options})["results"]


def test_queries_are_embedded_as_the_index_was(rag: RAG, books: Path) -> None:
    rag.registerEmbeddingProvider("wide", FakeEmbedder(96))
    rag.buildIndex({"source": {"folderId": str(books)}})
    for options in ({"adapter": "wide"}, {"dimensions": 32}):
        with pytest.raises(AstRagEmbeddingCapabilityError, match=r"made with fake:bag-of-words in 64"):
            rag.search({"query": "bell", "embedding": {"providerOptions": options}})
    with pytest.raises(AstRagValidationError, match="supported are providerOptions"):
        rag.search({"query": "bell", "embedding": {"provider": "wide"}})
    for embedding in ({"provider": "nobody"}, {"model": "nothing"}):
        with pytest.raises(AstRagEmbeddingCapabilityError, match=r"nobody|nothing"):
            rag.buildIndex({"source": {"folderId": str(books)}, "index": {"indexName": "x"}, "embedding": embedding})


def test_chunking(rag: RAG, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("A sentence of some length stands here, and another one follows it. " * 40)
    source = {"folderId": str(tmp_path / "long.txt")}
    plain = rag.buildIndex({"source": source, "index": {"indexName": "plain"}})
    sizes = {"chunkSizeChars": 300, "chunkOverlapChars": 50, "minChunkChars": 100}
    fine = rag.buildIndex({"source": source, "index": {"indexName": "fine"}, "chunking": sizes})
    assert fine["chunkCount"] > plain["chunkCount"]
    assert rag.inspectIndex({"indexFileId": "fine"})["chunking"] == sizes
    assert rag.inspectIndex({"indexFileId": "plain"})["chunking"] == {
        "chunkSizeChars": 1200,
        "chunkOverlapChars": 200,
        "minChunkChars": 200,
    }


LIMITS: list[tuple[dict[str, Any], str]] = [
    ({"maxFiles": 2}, "4 files"),
    ({"maxChunks": 2}, "more than 2 chunks"),
    ({"skipParseFailures": False}, "broken"),
    ({"maxFiles": 0}, r"options\.maxFiles: .*equal to 1"),
    ({"maxChunks": 0, "truncate": True}, r"options\.maxChunks: .*equal to 1"),
]


@pytest.mark.parametrize(("options", "message"), LIMITS)
def test_limits_are_errors(rag: RAG, own: Shelves, tmp_path: Path, options: dict[str, Any], message: str) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text(f"{name} says something that can be indexed.\n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing else")
    source = {"folderId": str(tmp_path), "includeSubfolders": False}
    with pytest.raises(AstRagError, match=message):
        rag.buildIndex({"source": source, "options": options})
    assert own.library().indexes() == []
    built = rag.buildIndex({"source": source, "options": {"skipParseFailures": True}})
    assert [(w["fileId"], w["fileName"]) for w in built["warnings"]] == [("broken.pdf", "broken.pdf")]
    assert set(built["warnings"][0]) == {"fileId", "fileName", "reason"}


def test_truncation_is_reported(rag: RAG, books: Path) -> None:
    few = rag.buildIndex({"source": {"folderId": str(books)}, "options": {"maxFiles": 1, "truncate": True}})
    assert (few["sourceCount"], len(few["warnings"])) == (1, 1)
    request = {"source": {"folderId": str(books)}, "index": {"indexName": "short"}}
    short = rag.buildIndex({**request, "options": {"maxChunks": 1, "truncate": True}})
    assert short["chunkCount"] == 1
    assert "maxChunks" in short["warnings"][0]["reason"]


def test_what_a_limit_cut_off_is_taken_once_there_is_room(rag: RAG, tmp_path: Path) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "long.txt").write_text(" ".join(f"Sentence {n} stands here, and another follows it." for n in range(90)))
    source = {"folderId": str(folder)}
    cut = rag.buildIndex({"source": source, "options": {"maxChunks": 2, "truncate": True}})
    assert cut["chunkCount"] == 2
    whole = rag.buildIndex({"source": source, "index": {"indexName": "whole"}})
    trial = rag.syncIndex({"indexFileId": cut["indexFileId"], "dryRun": True})
    done = rag.syncIndex({"indexFileId": cut["indexFileId"]})
    for one in (trial, done):
        counts = (one["updatedSources"], one["reusedChunks"], one["addedChunks"], one["unchangedSources"])
        assert counts == (1, 2, whole["chunkCount"] - 2, 0)
    shown = [rag.inspectIndex({"indexFileId": one["indexFileId"]}) for one in (done, whole)]
    assert shown[0]["sources"] == shown[1]["sources"]
    assert not rag.syncIndex({"indexFileId": cut["indexFileId"]})["persisted"]


def test_sources_that_are_not_there(rag: RAG, tmp_path: Path) -> None:
    with pytest.raises(AstRagSourceError, match="no file or folder"):
        rag.buildIndex({"source": {"folderId": str(tmp_path / "nowhere")}})


def test_sync(rag: RAG, tmp_path: Path) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    for name in ("one", "two", "three"):
        (folder / f"{name}.txt").write_text(f"The book {name} says a thing.\n")
    index = rag.buildIndex({"source": {"folderId": str(folder)}})["indexFileId"]
    (folder / "one.txt").write_text("The book one says another thing.\n")
    (folder / "two.txt").unlink()
    (folder / "four.txt").write_text("The book four is new.\n")
    expected = {"addedSources": 1, "updatedSources": 1, "removedSources": 1, "unchangedSources": 1}
    expected |= {"addedChunks": 2, "removedChunks": 2, "reusedChunks": 1, "reembeddedChunks": 2}
    for request in ({"dryRun": True}, {"options": {"dryRun": True}}, {"dry_run": True}):
        trial = rag.syncIndex({"indexFileId": index, **request})
        assert set(trial) == SYNCED
        assert (trial["dryRun"], trial["persisted"], {key: trial[key] for key in expected}) == (True, False, expected)
    for one, other in ((True, False), (False, True)):
        with pytest.raises(AstRagValidationError, match=r"'dryRun' and 'options\.dryRun' contradict each other"):
            rag.syncIndex({"indexFileId": index, "dryRun": one, "options": {"dryRun": other}})
    assert files(rag, index) == ["one.txt", "three.txt", "two.txt"]
    done = rag.syncIndex({"indexFileId": index})
    assert (done["dryRun"], done["persisted"], {key: done[key] for key in expected}) == (False, True, expected)
    assert done["indexFileId"] == index
    assert files(rag, index) == ["four.txt", "one.txt", "three.txt"]
    assert rag.inspectIndex({})["sync"] == {"syncedAt": done["updatedAt"], **expected}
    narrowed = rag.syncIndex({"indexFileId": index, "source": {"folderId": str(folder), "excludeFileIds": ["one.txt"]}})
    assert narrowed["removedSources"] == 1
    assert rag.syncIndex({"indexFileId": index})["unchangedSources"] == 2
    rebuilt = rag.syncIndex({"indexFileId": index, "chunking": {"chunkSizeChars": 400}})
    assert (rebuilt["persisted"], rag.inspectIndex({})["chunking"]["chunkSizeChars"]) == (True, 400)
    rag.registerEmbeddingProvider("wide", FakeEmbedder(96))
    rag.syncIndex({"indexFileId": index, "embedding": {"provider": "wide"}})
    assert rag.inspectIndex({})["embedding"] == {"provider": "wide", "model": "bag-of-words", "dimensions": 96}
    (folder / "three.txt").write_bytes(b"%PDF-1.7 nothing else")
    with pytest.raises(AstRagError, match="three"):
        rag.syncIndex({"indexFileId": index, "options": {"skipParseFailures": False}})
    (folder / "five.txt").write_text("The book five is one too many.\n")
    with pytest.raises(AstRagValidationError, match="more than 1 chunks"):
        rag.syncIndex({"indexFileId": index, "options": {"maxChunks": 1}})


def test_an_excluded_file_that_is_gone_troubles_no_sync(rag: RAG, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text(f"The book {name} tells of the number {name}.\n")
    source = {"folderId": str(folder), "excludeFileIds": ["one.txt", "none.txt"]}
    built = rag.buildIndex({"source": source})
    assert [warning["fileId"] for warning in built["warnings"]] == ["none.txt"]
    (folder / "one.txt").unlink()
    assert rag.syncIndex({"indexFileId": built["indexFileId"]})["warnings"] == []


def test_inspect(rag: RAG, books: Path) -> None:
    source = {"folderId": str(books), "includeMimeTypes": ["text/plain", "text/markdown"], "excludeFileIds": ["x"]}
    rag.buildIndex({"source": source, "retrieval": {"topK": 3, "rerank": {"enabled": True, "topN": 5}}})
    shown = rag.inspectIndex()
    assert set(shown) == INSPECTED
    assert (shown["schemaVersion"], shown["indexId"], shown["sourceCount"]) == (1, "books", 2)
    assert shown["retrievalDefaults"] == {"topK": 3, "rerank": {"enabled": True, "topN": 5}}
    assert shown["sourceConfig"] == {"sources": [{**source, "folderId": str(books), "includeSubfolders": True}]}
    assert list(shown["sources"][0]) == [
        *("sourceId", "fileId", "fileName", "mimeType", "modifiedTime", "fingerprint", "chunkCount")
    ]
    json.dumps(shown)


def test_which_index(rag: RAG, books: Path) -> None:
    with pytest.raises(AstRagIndexError, match="none yet"):
        rag.inspectIndex()
    rag.buildIndex({"source": {"folderId": str(books)}, "index": {"indexName": "one"}})
    assert rag.search({"query": "bell"})["results"]
    rag.buildIndex({"source": {"folderId": str(books)}, "index": {"indexName": "two"}})
    with pytest.raises(AstRagIndexError, match="one, two"):
        rag.search({"query": "bell"})
    rag.configure({"indexFileId": "two"})
    assert rag.inspectIndex()["indexId"] == "two"
    for blank in ("", " "):
        for method in (rag.inspectIndex, rag.syncIndex, partial(search, rag)):
            with pytest.raises(AstRagValidationError, match="must not be blank"):
                method({"indexFileId": blank})
