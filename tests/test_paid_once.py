"""What was paid for is kept beside the indexes, so that an index that failed half-way does not cost twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from chapterverse.errors import AstRagEmbeddingCapabilityError
from chapterverse.library import Library
from chapterverse.library.terms import home_at
from chapterverse.settings import Settings
from tests.providers.stand_ins import COHERE, KEY, reply, script

BOOK = "\n\n".join(
    f"Paragraph {n} tells of bell {n} and of the {n} pulls that it takes to ring it." for n in range(900)
)


@pytest.fixture
def settings(tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("CO_API_URL", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    (tmp_path / "bells.txt").write_text(BOOK)
    return Settings(home=tmp_path / "home", embedding="cohere:embed-v4.0")


def test_a_book_that_failed_half_way_is_not_paid_for_twice(
    settings: Settings, tmp_path: Path, httpserver: HTTPServer
) -> None:
    sizes = {"size": 200, "overlap": 0}
    first = script(httpserver, COHERE, [None, None, reply(400, {"message": "no"})])
    with Library(settings) as library, pytest.raises(AstRagEmbeddingCapabilityError):
        library.add(tmp_path / "bells.txt", chunking=sizes)
    paid = {text for number, body in enumerate(first) if number != 2 for text in body["texts"]}
    httpserver.clear()
    second = script(httpserver, COHERE, [])
    with Library(settings) as library:
        library.add(tmp_path / "bells.txt", chunking=sizes)
        sent = [text for body in second for text in body["texts"] if body["input_type"] == "search_document"]
        assert paid
        assert not paid & set(sent)
        before = len(second)
        for _ in range(2):
            library.search("Which bell takes 700 pulls?")
        assert len(second) == before + 2  # nothing of a question is kept


def test_a_folder_with_nothing_but_what_was_paid_for_is_one_for_indexes(tmp_path: Path) -> None:
    (tmp_path / ".embeddings.sqlite3").write_bytes(b"")
    assert home_at(tmp_path) == tmp_path


def test_whoever_pays_for_nothing_has_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "bells.txt").write_text(BOOK[:500])
    with Library(Settings(home=tmp_path / "home")) as library:
        library.add(tmp_path / "bells.txt")
    assert not list((tmp_path / "home").glob(".embeddings*"))
