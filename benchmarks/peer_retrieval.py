"""Indexes the passages of one task with one peer, asks it every question, and writes the rankings and what they took.

Run by `peers.py`, with the Python of the environment that the peer is installed in:

    python peer_retrieval.py PEER TASK_FOLDER RESULT_JSON

TASK_FOLDER holds `task.json` (passages, questions) and our embedder's vectors for both, `passages.npy` and
`questions.npy`. The hybrid rows of the frameworks use those vectors, and otherwise the framework's own defaults.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

DEPTH = 10
CANDIDATES = 50
"""What each side of a hybrid search brings."""


@dataclass(frozen=True)
class Task:
    folder: Path

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = json.loads((self.folder / "task.json").read_text("utf-8"))
        return found

    @property
    def passages(self) -> list[str]:
        return self._texts["passages"]

    @property
    def questions(self) -> list[str]:
        return self._texts["questions"]

    def vectors(self, which: str) -> list[list[float]]:
        import numpy as np

        found: list[list[float]] = np.load(self.folder / f"{which}.npy").tolist()
        return found

    def known(self) -> dict[str, list[float]]:
        """The vector of every text."""
        texts = [*self.passages, *self.questions]
        return dict(zip(texts, [*self.vectors("passages"), *self.vectors("questions")], strict=True))


Search = Callable[[int], list[int]]
"""From the number of a question to the places of the passages found, best first."""


def chapterverse(task: Task) -> Search:
    """The product as it is: files that are read, cut, embedded and stored, and a search of the index."""
    from chapterverse.answer.retrieve import Retrieval
    from chapterverse.library import Library
    from chapterverse.settings import Settings

    books = task.folder / "passages"
    books.mkdir()
    for place, text in enumerate(task.passages):
        (books / f"{place}.txt").write_text(text, "utf-8")
    library = Library(Settings(home=task.folder / "home"))
    record = library.add(books, index="passages").record
    settings = Retrieval(**{**record.retrieval_defaults, "top_k": CANDIDATES})

    def search(number: int) -> list[int]:
        found = library.search(task.questions[number], settings=settings).found
        places = (int(Path(one.entry.chunk.file_id).stem) for one in found)
        return list(dict.fromkeys(places))[:DEPTH]

    return search


def bm25s(task: Task) -> Search:
    import bm25s as library
    import Stemmer

    def tokens(texts: list[str]) -> Any:
        return library.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)

    index = library.BM25()
    index.index(tokens(task.passages), show_progress=False)

    def search(number: int) -> list[int]:
        found, _ = index.retrieve(tokens([task.questions[number]]), k=DEPTH, show_progress=False)
        places: list[int] = found[0].tolist()
        return places

    return search


def tantivy(task: Task) -> Search:
    import tantivy as library

    builder = library.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_integer_field("place", stored=True)
    index = library.Index(builder.build())
    writer = index.writer()
    for place, text in enumerate(task.passages):
        writer.add_document(library.Document(text=[text], place=[place]))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(number: int) -> list[int]:
        # Punctuation is syntax of its query language.
        query = index.parse_query(re.sub(r"[^\w\s]", " ", task.questions[number]).lower(), ["text"])
        return [searcher.doc(address)["place"][0] for _, address in searcher.search(query, DEPTH).hits]

    return search


def txtai_bm25(task: Task) -> Search:
    from txtai import Embeddings

    index = Embeddings(keyword=True)
    index.index(list(enumerate(task.passages)))
    return lambda number: [int(place) for place, _ in index.search(task.questions[number], DEPTH)]


def txtai_hybrid(task: Task) -> Search:
    import numpy as np
    from txtai import Embeddings

    known = task.known()
    index = Embeddings(
        hybrid=True, method="external", transform=lambda texts: np.array([known[text] for text in texts], np.float32)
    )
    index.index(list(enumerate(task.passages)))
    return lambda number: [int(place) for place, _ in index.search(task.questions[number], DEPTH)]


def _haystack_store(task: Task) -> Any:
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    pairs = zip(task.passages, task.vectors("passages"), strict=True)
    store.write_documents([Document(id=str(i), content=text, embedding=v) for i, (text, v) in enumerate(pairs)])
    return store


def haystack_bm25(task: Task) -> Search:
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

    retriever = InMemoryBM25Retriever(_haystack_store(task), top_k=DEPTH)
    return lambda number: [int(one.id) for one in retriever.run(query=task.questions[number])["documents"]]


def haystack_hybrid(task: Task) -> Search:
    from haystack.components.joiners import DocumentJoiner
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever

    store, vectors = _haystack_store(task), task.vectors("questions")
    lexical = InMemoryBM25Retriever(store, top_k=CANDIDATES)
    dense = InMemoryEmbeddingRetriever(store, top_k=CANDIDATES)
    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=DEPTH)

    def search(number: int) -> list[int]:
        words = lexical.run(query=task.questions[number])["documents"]
        meanings = dense.run(query_embedding=vectors[number])["documents"]
        return [int(document.id) for document in joiner.run(documents=[words, meanings])["documents"]]

    return search


def _llamaindex(task: Task, depth: int) -> tuple[Any, Any]:
    """A BM25 retriever, and the nodes that it holds."""
    import Stemmer
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    pairs = zip(task.passages, task.vectors("passages"), strict=True)
    nodes = [TextNode(id_=str(i), text=text, embedding=vector) for i, (text, vector) in enumerate(pairs)]
    stemmer = Stemmer.Stemmer("english")
    return BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=depth, stemmer=stemmer, language="english"), nodes


def llamaindex_bm25(task: Task) -> Search:
    retriever, _ = _llamaindex(task, DEPTH)
    return lambda number: [int(node.node_id) for node in retriever.retrieve(task.questions[number])]


def llamaindex_hybrid(task: Task) -> Search:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever

    known = task.known()

    class Known(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return known[text]

        def _get_query_embedding(self, query: str) -> list[float]:
            return known[query]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return known[query]

    lexical, nodes = _llamaindex(task, CANDIDATES)
    dense = VectorStoreIndex(nodes, embed_model=Known()).as_retriever(similarity_top_k=CANDIDATES)
    retriever = QueryFusionRetriever(
        [lexical, dense],
        llm=MockLLM(),
        num_queries=1,
        mode="reciprocal_rerank",
        similarity_top_k=DEPTH,
        use_async=False,
    )
    return lambda number: [int(node.node_id) for node in retriever.retrieve(task.questions[number])]


def _langchain(task: Task, depth: int) -> tuple[Any, Any]:
    """A BM25 retriever, and the documents that it holds."""
    from langchain_community.retrievers import BM25Retriever
    from langchain_core.documents import Document

    documents = [Document(text, metadata={"place": i}) for i, text in enumerate(task.passages)]
    return BM25Retriever.from_documents(documents, k=depth), documents


def langchain_bm25(task: Task) -> Search:
    retriever, _ = _langchain(task, DEPTH)
    return lambda number: [one.metadata["place"] for one in retriever.invoke(task.questions[number])]


def langchain_hybrid(task: Task) -> Search:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    known = task.known()

    class Known(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [known[text] for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return known[text]

    lexical, documents = _langchain(task, CANDIDATES)
    store = InMemoryVectorStore(Known())
    store.add_documents(documents)
    dense = store.as_retriever(search_kwargs={"k": CANDIDATES})
    retriever = EnsembleRetriever(retrievers=[lexical, dense], weights=[0.5, 0.5], id_key="place")
    return lambda number: [one.metadata["place"] for one in retriever.invoke(task.questions[number])][:DEPTH]


def paperqa_dense(task: Task) -> Search:
    """It has no lexical search of its own but a hash of token counts, whose tokenizer is fetched; so: our vectors."""
    import asyncio

    from lmi import EmbeddingModel
    from paperqa import Doc, Docs, Settings, Text

    known = task.known()

    class Known(EmbeddingModel):
        name: str = "known"

        async def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [known[text] for text in texts]

    model, docs, settings = Known(), Docs(), Settings()
    doc = Doc(docname="passages", dockey="passages", citation="passages")
    texts = [Text(text=text, name=str(place), doc=doc) for place, text in enumerate(task.passages)]
    asyncio.run(docs.aadd_texts(texts, doc, settings, model))

    def search(number: int) -> list[int]:
        found = asyncio.run(docs.retrieve_texts(task.questions[number], DEPTH, settings, model))
        return [int(one.name) for one in found]

    return search


PEERS: dict[str, Callable[[Task], Search]] = {
    function.__name__: function
    for function in (
        chapterverse,
        bm25s,
        tantivy,
        txtai_bm25,
        txtai_hybrid,
        haystack_bm25,
        haystack_hybrid,
        llamaindex_bm25,
        llamaindex_hybrid,
        langchain_bm25,
        langchain_hybrid,
        paperqa_dense,
    )
}


def main(peer: str, folder: str, output: str) -> None:
    task = Task(Path(folder))
    began = time.perf_counter()
    search = PEERS[peer](task)
    built = time.perf_counter() - began
    rankings, seconds = [], []
    for number in range(len(task.questions)):
        began = time.perf_counter()
        rankings.append(search(number))
        seconds.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {"rankings": rankings, "build_seconds": built, "search_seconds": seconds, "peak_mb": peak}
    Path(output).write_text(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
