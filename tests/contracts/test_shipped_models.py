"""The contracts with the models that are shipped: no key, no network, the sample book."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chapterverse.contracts import RAG, Shelves, generate_response, retrieve_chunks, search_book_content
from chapterverse.settings import Settings

QUESTION = "How did Ambrose Kell teach his apprentices?"


@pytest.fixture(scope="module")
def clocks(memory: Path) -> Iterator[Shelves]:
    with Shelves(Settings(home=memory / "shipped")) as shelves:
        RAG(shelves).buildIndex({"source": {"folderId": "sample"}, "index": {"indexName": "clocks"}})
        yield shelves


def answer(shelves: Shelves, question: str, **more: Any) -> dict[str, Any]:
    # A machine that is busy with other tests is slow.
    return RAG(shelves).answer({"question": question, "options": {"deadlineSeconds": 60}, **more})


def test_an_answer_quotes_the_book(clocks: Shelves) -> None:
    response = answer(clocks, QUESTION)
    assert response["status"] == "ok"
    assert "Ambrose Kell" in response["answer"]
    book = clocks.library().document(response["citations"][0]["fileId"]).text
    assert all(citation["snippet"] in book for citation in response["citations"])
    assert response["citations"][0]["page"] is not None
    assert response["usage"]["embedding"]["cost"] == 0


def test_what_the_book_does_not_say_is_refused(clocks: Shelves) -> None:
    response = answer(clocks, "Which team won the football World Cup in 1998?")
    assert (response["status"], response["citations"]) == ("insufficient_context", [])


def test_rerank_by_the_reader(clocks: Shelves) -> None:
    response = RAG(clocks).search({"query": QUESTION, "rerank": {"enabled": True, "topN": 5}})
    scores = [result["rerankScore"] for result in response["results"][:5]]
    assert scores == sorted(scores, reverse=True)
    assert "Ambrose Kell" in response["results"][0]["text"]


def test_the_functions(clocks: Shelves) -> None:
    library = clocks.library()
    chunks = retrieve_chunks(QUESTION, library=library)
    assert any("Ambrose Kell" in chunk.text for chunk in chunks)
    assert all(chunk.page is not None for chunk in chunks)
    found = search_book_content(QUESTION, library=library)["results"]
    assert [result["id"] for result in found] == [chunk.chunk_id for chunk in chunks]
    made = generate_response(QUESTION, found, library=library)
    assert "Ambrose Kell" in made["response"]
    assert all(any(source["quote"] in result["text"] for result in found) for source in made["sources"])
