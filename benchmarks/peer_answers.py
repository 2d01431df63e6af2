"""Asks one system three questions the way its own guide shows, and prints what it says, or how it fails, as JSON.

Run by `peers.py`, without keys and without a network: `python peer_answers.py NAME`.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

BOOK = (
    "The lighthouse at Cape Morrow was built in 1857 by the engineer Edith Vane.",
    "Its lamp burned whale oil until 1871, when it was changed to paraffin.",
    "The keeper climbed two hundred and twelve steps every evening to light it.",
)
QUESTIONS = (
    "Who built the lighthouse at Cape Morrow?",
    "What was the name of the first keeper of the lighthouse?",
    "How do I bake a chocolate cake?",
)
Ask = Callable[[str], str]


def chapterverse() -> Ask:
    from chapterverse.library import Library
    from chapterverse.settings import Settings

    folder = Path(tempfile.mkdtemp())
    (folder / "book.txt").write_text("\n\n".join(BOOK), "utf-8")
    library = Library(Settings(home=folder / "home"))
    library.add(folder / "book.txt")
    return lambda question: library.ask(question).text


def txtai() -> Ask:
    from txtai import RAG, Embeddings

    embeddings = Embeddings(content=True)
    embeddings.index(BOOK)
    rag = RAG(embeddings, "Qwen/Qwen3-0.6B", template="Answer from the context.\n{question}\n{context}")
    return lambda question: str(rag(question))


def haystack() -> Ask:
    from haystack import Document
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.dataclasses import ChatMessage
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents([Document(content=text) for text in BOOK])
    retriever, generator = InMemoryBM25Retriever(store), OpenAIChatGenerator()

    def ask(question: str) -> str:
        found = "\n".join(str(document.content) for document in retriever.run(query=question)["documents"])
        prompt = ChatMessage.from_user(f"Answer from the context.\n{found}\n{question}")
        return str(generator.run(messages=[prompt])["replies"][0].text)

    return ask


def llamaindex() -> Ask:
    from llama_index.core import Document, VectorStoreIndex

    engine = VectorStoreIndex.from_documents([Document(text=text) for text in BOOK]).as_query_engine()
    return lambda question: str(engine.query(question))


def langchain() -> Ask:
    from langchain_classic.chat_models import init_chat_model
    from langchain_community.retrievers import BM25Retriever

    retriever, model = BM25Retriever.from_texts(list(BOOK)), init_chat_model("openai:gpt-4o-mini")

    def ask(question: str) -> str:
        found = "\n".join(document.page_content for document in retriever.invoke(question))
        return str(model.invoke(f"Answer from the context.\n{found}\n{question}").content)

    return ask


def paperqa() -> Ask:
    import asyncio

    from paperqa import Docs

    path = Path(tempfile.mkdtemp()) / "book.txt"
    path.write_text("\n\n".join(BOOK), "utf-8")
    docs = Docs()
    asyncio.run(docs.aadd(path, citation="The lighthouse", docname="lighthouse"))
    return lambda question: str(asyncio.run(docs.aquery(question)).answer)


SYSTEMS: dict[str, Callable[[], Ask]] = {
    function.__name__: function for function in (chapterverse, txtai, haystack, llamaindex, langchain, paperqa)
}


def main(name: str) -> None:
    try:
        ask = SYSTEMS[name]()
        said = [ask(question) for question in QUESTIONS]
    except Exception as error:
        message = " ".join(str(error).split()).strip(" *")
        said = [f"fails: {type(error).__name__}: {message[:160]}", "", ""]
    print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1])
