"""Ranks the passages of one task with one peer, and writes the ranking of each question.

Run by `retrieval.py`, with the Python of the environment that the peer is installed in:

    python peer_retrieval.py PEER TASK_FOLDER RANKINGS_JSON

TASK_FOLDER holds `task.json` (passages, questions) and our embedder's vectors for both, `passages.npy` and
`questions.npy`. The hybrid rows of the frameworks use those vectors, and otherwise the framework's own defaults.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
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


Rankings = Iterator[list[int]]


def bm25s(task: Task) -> Rankings:
    import bm25s as library
    import Stemmer

    def tokens(texts: list[str]) -> Any:
        return library.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)

    index = library.BM25()
    index.index(tokens(task.passages), show_progress=False)
    found, _ = index.retrieve(tokens(task.questions), k=DEPTH, show_progress=False)
    yield from found.tolist()


def tantivy(task: Task) -> Rankings:
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
    for question in task.questions:
        # Punctuation is syntax of its query language.
        query = index.parse_query(re.sub(r"[^\w\s]", " ", question).lower(), ["text"])
        yield [searcher.doc(address)["place"][0] for _, address in searcher.search(query, DEPTH).hits]


def _haystack_store(task: Task) -> Any:
    from haystack import Document
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    pairs = zip(task.passages, task.vectors("passages"), strict=True)
    store.write_documents([Document(id=str(i), content=text, embedding=v) for i, (text, v) in enumerate(pairs)])
    return store


def haystack_bm25(task: Task) -> Rankings:
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

    retriever = InMemoryBM25Retriever(_haystack_store(task), top_k=DEPTH)
    for question in task.questions:
        yield [int(document.id) for document in retriever.run(query=question)["documents"]]


def haystack_hybrid(task: Task) -> Rankings:
    from haystack.components.joiners import DocumentJoiner
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever

    store = _haystack_store(task)
    lexical = InMemoryBM25Retriever(store, top_k=CANDIDATES)
    dense = InMemoryEmbeddingRetriever(store, top_k=CANDIDATES)
    joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=DEPTH)
    for question, vector in zip(task.questions, task.vectors("questions"), strict=True):
        sides = [lexical.run(query=question)["documents"], dense.run(query_embedding=vector)["documents"]]
        yield [int(document.id) for document in joiner.run(documents=sides)["documents"]]


def _llamaindex(task: Task, depth: int) -> tuple[Any, Any]:
    """A BM25 retriever, and the nodes that it holds."""
    import Stemmer
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    pairs = zip(task.passages, task.vectors("passages"), strict=True)
    nodes = [TextNode(id_=str(i), text=text, embedding=vector) for i, (text, vector) in enumerate(pairs)]
    stemmer = Stemmer.Stemmer("english")
    return BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=depth, stemmer=stemmer, language="english"), nodes


def llamaindex_bm25(task: Task) -> Rankings:
    retriever, _ = _llamaindex(task, DEPTH)
    for question in task.questions:
        yield [int(node.node_id) for node in retriever.retrieve(question)]


def llamaindex_hybrid(task: Task) -> Rankings:
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
    for question in task.questions:
        yield [int(node.node_id) for node in retriever.retrieve(question)]


def _langchain(task: Task, depth: int) -> tuple[Any, Any]:
    """A BM25 retriever, and the documents that it holds."""
    from langchain_community.retrievers import BM25Retriever
    from langchain_core.documents import Document

    documents = [Document(text, metadata={"place": i}) for i, text in enumerate(task.passages)]
    return BM25Retriever.from_documents(documents, k=depth), documents


def langchain_bm25(task: Task) -> Rankings:
    retriever, _ = _langchain(task, DEPTH)
    for question in task.questions:
        yield [document.metadata["place"] for document in retriever.invoke(question)]


def langchain_hybrid(task: Task) -> Rankings:
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
    for question in task.questions:
        yield [document.metadata["place"] for document in retriever.invoke(question)][:DEPTH]


PEERS: dict[str, Callable[[Task], Rankings]] = {
    function.__name__: function
    for function in (
        bm25s,
        tantivy,
        haystack_bm25,
        haystack_hybrid,
        llamaindex_bm25,
        llamaindex_hybrid,
        langchain_bm25,
        langchain_hybrid,
    )
}


def main(peer: str, folder: str, output: str) -> None:
    Path(output).write_text(json.dumps(list(PEERS[peer](Task(Path(folder))))))


if __name__ == "__main__":
    main(*sys.argv[1:])
