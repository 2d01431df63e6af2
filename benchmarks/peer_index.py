"""Builds an index of given vectors with one engine, or searches it, and prints what that took as one line of JSON.

Run by `index.py`, with the Python of the environment that the engine is installed in:

    python peer_index.py ENGINE build|search FOLDER

FOLDER holds `vectors.npy`, `texts.txt` (one line each) and `files.npy` (the file that each belongs to), `queries.npy`
and `questions.txt`, and `truth.npy`: the ten nearest vectors of each query. Every engine returns the texts it found.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

TOP = 10
BATCH = 1000
WARM_UP = 5


@dataclass(frozen=True)
class Corpus:
    folder: Path

    def load(self, name: str) -> Any:
        return np.load(self.folder / f"{name}.npy")

    def lines(self, name: str) -> list[str]:
        return (self.folder / f"{name}.txt").read_text("utf-8").splitlines()

    def batches(self) -> Iterator[tuple[list[int], Any, list[str], list[int]]]:
        """Numbers, vectors, texts and files of so many chunks at a time."""
        vectors, texts, files = self.load("vectors"), self.lines("texts"), self.load("files").tolist()
        for start in range(0, len(texts), BATCH):
            numbers = list(range(start, min(start + BATCH, len(texts))))
            yield numbers, vectors[numbers], texts[start : start + BATCH], files[start : start + BATCH]


Search = Callable[[int, int | None], list[int]]
"""The numbers of the nearest chunks to a query, by its number; in one file only, if one is given."""


class Engine(Protocol):
    def build(self, corpus: Corpus, home: Path) -> None: ...

    def searches(self, corpus: Corpus, home: Path) -> dict[str, Search]: ...


class Chapterverse:
    """The embedded store; `words` searches its second, lexical vector, and `hybrid` is all that a search does."""

    def build(self, corpus: Corpus, home: Path) -> None:
        from chapterverse.index.edge import EdgeStore
        from chapterverse.types import EmbeddingModel, IndexRecord

        async def build() -> None:
            store = EdgeStore(home)
            width = corpus.load("queries").shape[1]
            record = IndexRecord("bench", "Bench", EmbeddingModel("local", "any", width), "", "", average_length=180.0)
            async with await store.create(record) as writer:
                for numbers, vectors, texts, files in corpus.batches():
                    rows = zip(numbers, vectors.tolist(), texts, files, strict=True)
                    await writer.put([self._point(*row) for row in rows])
                await writer.commit(record)
            await store.close()

        asyncio.run(build())

    @staticmethod
    def _point(number: int, vector: list[float], text: str, file: int) -> Any:
        from chapterverse.index import lexical
        from chapterverse.types import Chunk, Entry, Page, Place, Point

        page = Page(number % 300 + 1, str(number % 300 + 1))
        place = Place((f"Chapter {number % 20}", f"Section {number % 200}"), page, page)
        name = f"book-{file}.md"
        chunk = Chunk(str(number), name, 0, len(text), text, place, place.headings)
        entry = Entry(chunk, number, name, f"Book {file}", "text/markdown", "0" * 64, f"{number:064x}")
        return Point(entry, vector, lexical.document_vector(text, 180.0))

    def searches(self, corpus: Corpus, home: Path) -> dict[str, Search]:
        from chapterverse.answer.retrieve import Retrieval, retrieve
        from chapterverse.index import lexical
        from chapterverse.index.edge import EdgeStore
        from chapterverse.types import Filter, Hit

        loop = asyncio.new_event_loop()
        reader = loop.run_until_complete(EdgeStore(home).reader("bench"))
        queries = corpus.load("queries").tolist()
        questions = corpus.lines("questions")
        words = [lexical.query_vector(line) for line in questions]
        settings = Retrieval(top_k=TOP, min_score=0.0)

        def where(file: int | None) -> Filter | None:
            return None if file is None else Filter(file_ids=(f"book-{file}.md",))

        async def with_texts(search: Awaitable[Sequence[Hit]]) -> list[int]:
            entries = await reader.entries([hit.point for hit in await search])
            return [int(entry.chunk.id) for entry in entries.values()]

        def dense(query: int, file: int | None) -> list[int]:
            return loop.run_until_complete(with_texts(reader.search_dense(queries[query], where(file), TOP)))

        def lexically(query: int, file: int | None) -> list[int]:
            return loop.run_until_complete(with_texts(reader.search_lexical(words[query], where(file), TOP)))

        def hybrid(query: int, file: int | None) -> list[int]:
            found, _ = loop.run_until_complete(
                retrieve(
                    reader,
                    questions[query],
                    vector=queries[query],
                    terms=words[query],
                    settings=settings,
                    where=where(file),
                )
            )
            return [int(one.entry.chunk.id) for one in found]

        return {"vectors": dense, "words": lexically, "hybrid": hybrid}


class Chroma:
    def _collection(self, home: Path) -> Any:
        import chromadb

        client = chromadb.PersistentClient(str(home), chromadb.Settings(anonymized_telemetry=False))
        return client.get_or_create_collection("bench", metadata={"hnsw:space": "cosine"}, embedding_function=None)

    def build(self, corpus: Corpus, home: Path) -> None:
        collection = self._collection(home)
        for numbers, vectors, texts, files in corpus.batches():
            named = [{"file": file} for file in files]
            collection.add([str(n) for n in numbers], embeddings=vectors, documents=texts, metadatas=named)

    def searches(self, corpus: Corpus, home: Path) -> dict[str, Search]:
        collection, queries = self._collection(home), corpus.load("queries")

        def dense(query: int, file: int | None) -> list[int]:
            where = None if file is None else {"file": file}
            found = collection.query(query_embeddings=queries[query : query + 1], n_results=TOP, where=where)
            return [int(one) for one in found["ids"][0]]

        return {"vectors": dense}


class Lancedb:
    """Without an index of its own over the vectors, which is its default: exact."""

    def build(self, corpus: Corpus, home: Path) -> None:
        import lancedb

        table = None
        for numbers, vectors, texts, files in corpus.batches():
            rows = [
                {"number": n, "vector": v, "text": t, "file": f}
                for n, v, t, f in zip(numbers, vectors, texts, files, strict=True)
            ]
            if table is None:
                table = lancedb.connect(str(home)).create_table("bench", rows)
            else:
                table.add(rows)
        assert table is not None
        table.optimize()

    def searches(self, corpus: Corpus, home: Path) -> dict[str, Search]:
        import lancedb

        table, queries = lancedb.connect(str(home)).open_table("bench"), corpus.load("queries")

        def dense(query: int, file: int | None) -> list[int]:
            search = table.search(queries[query]).distance_type("cosine").limit(TOP)
            if file is not None:
                search = search.where(f"file = {file}", prefilter=True)
            return [int(row["number"]) for row in search.to_list()]

        return {"vectors": dense}


class QdrantLocal:
    """The pure Python mode of `qdrant-client`."""

    def build(self, corpus: Corpus, home: Path) -> None:
        from qdrant_client import QdrantClient, models

        client = QdrantClient(path=str(home))
        width = corpus.load("queries").shape[1]
        client.create_collection("bench", models.VectorParams(size=width, distance=models.Distance.COSINE))
        for numbers, vectors, texts, files in corpus.batches():
            payloads = [{"text": text, "file": file} for text, file in zip(texts, files, strict=True)]
            client.upsert("bench", models.Batch(ids=[*numbers], vectors=vectors.tolist(), payloads=payloads))
        client.close()

    def searches(self, corpus: Corpus, home: Path) -> dict[str, Search]:
        from qdrant_client import QdrantClient, models

        client, queries = QdrantClient(path=str(home)), corpus.load("queries")

        def dense(query: int, file: int | None) -> list[int]:
            match = models.FieldCondition(key="file", match=models.MatchValue(value=file)) if file is not None else None
            where = models.Filter(must=[match]) if match else None
            found = client.query_points("bench", queries[query], query_filter=where, limit=TOP)
            return [int(point.id) for point in found.points]

        return {"vectors": dense}


ENGINES: dict[str, type[Engine]] = {
    "chapterverse": Chapterverse,
    "chroma": Chroma,
    "lancedb": Lancedb,
    "qdrant_local": QdrantLocal,
}


def build(engine: Engine, corpus: Corpus, home: Path) -> dict[str, Any]:
    began = time.perf_counter()
    engine.build(corpus, home)
    seconds = time.perf_counter() - began
    files = [path.stat() for path in home.rglob("*") if path.is_file()]
    # Blocks, not lengths: some engines allot far more than they fill.
    return {"seconds": seconds, "disk": sum(getattr(one, "st_blocks", 0) * 512 or one.st_size for one in files)}


def search(engine: Engine, corpus: Corpus, home: Path) -> dict[str, Any]:
    before = _peak()
    searches = engine.searches(corpus, home)
    truth, files = corpus.load("truth"), int(corpus.load("files").max()) + 1
    measured: dict[str, Any] = {}
    for name, find in searches.items():
        for kind in ("plain", "filtered"):
            taken, hits = [], 0
            for query in range(len(truth)):
                began = time.perf_counter()
                found = find(query, None if kind == "plain" else query % files)
                taken.append(time.perf_counter() - began)
                hits += len(set(found[:TOP]) & set(truth[query].tolist()))
            p50, p95 = np.quantile(taken[WARM_UP:], [0.5, 0.95]) * 1000
            measured[f"{name} {kind}"] = {"p50": float(p50), "p95": float(p95)}
            if (name, kind) == ("vectors", "plain"):
                measured["recall"] = hits / truth.size
    return {**measured, "memory": _peak() - before}


def _peak() -> int:
    """The most memory that was resident, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux counts the parent's memory, too, in what `getrusage` says
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    name, mode, folder = sys.argv[1:]
    corpus, home = Corpus(Path(folder)), Path(folder) / f"home-{name}"
    print(json.dumps({"build": build, "search": search}[mode](ENGINES[name](), corpus, home)))


if __name__ == "__main__":
    main()
