"""Receipts are checked again quote by quote: in place, moved, gone, or without their document."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chapterverse.answer.cite import cite, text_of
from chapterverse.answer.gate import Passed
from chapterverse.answer.prompts import CONFLICT, NOT_IN_BOOK, PART_ABSENT
from chapterverse.answer.receipt import load, receipt, save, verify
from chapterverse.errors import AstRagValidationError
from chapterverse.types import Answer, Document, Passage
from tests.answer.test_cite import DOCUMENT, PASSAGE, located


def answered(*quotes: str, passage: Passage = PASSAGE) -> dict[str, Any]:
    passed = [Passed(quote, "quote", (located(quote, passage),)) for quote in quotes]
    sentences, citations = cite(passed, [passage], {"book.md": DOCUMENT}.get)
    answer = Answer(
        "How many hands?",
        " ".join(quotes),
        "ok",
        None,
        sentences,
        citations,
        (passage,),
        0.9,
        "Good",
        "2026-01-01T00:00:00Z",
    )
    return receipt(answer, index_id="i1", index_name="books")


def states(data: dict[str, Any], document: Document | None) -> list[str]:
    return [verdict.state for verdict in verify(data, lambda file_id: document)]


def test_a_receipt_survives_the_disk_and_is_ok(tmp_path: Path) -> None:
    data = answered("It had one hand.", "It stopped often.")
    save(tmp_path / "receipt.json", data)
    loaded = load(tmp_path / "receipt.json")
    assert loaded == json.loads(json.dumps(data))
    assert loaded["index"] == {"id": "i1", "name": "books"}
    assert loaded["versions"]["chapterverse"]
    assert states(loaded, DOCUMENT) == ["ok", "ok"]


def test_a_quote_that_moved_is_found_at_its_new_place() -> None:
    text = "A new preface.\n\n" + DOCUMENT.text
    blocks = tuple(replace(b, start=b.start + 16, end=b.end + 16) for b in DOCUMENT.blocks)
    moved = replace(DOCUMENT, text=text, blocks=blocks, sha256="b" * 64)
    (verdict,) = verify(answered("It had one hand."), lambda file_id: moved)
    assert verdict.state == "moved"
    assert verdict.start is not None
    assert text[verdict.start : verdict.end] == "It had one hand."
    assert verdict.place is not None
    assert verdict.place.section == "Its hand"


def test_a_quote_that_is_gone_is_stale_and_a_document_that_is_gone_is_missing() -> None:
    data = answered("It had one hand.")
    changed = replace(DOCUMENT, text=DOCUMENT.text.replace("one hand", "two hands"), sha256="b" * 64)
    assert states(data, changed) == ["stale"]
    assert states(data, None) == ["missing"]


def test_a_forged_quote_is_told_from_a_changed_book() -> None:
    data = answered("It had one hand.")
    data["citations"][0]["quote"] = data["sentences"][0]["text"] = data["answer"] = "It had ten hands."
    (verdict,) = verify(data, lambda file_id: DOCUMENT)
    assert verdict.state == "stale"
    assert "unchanged" in verdict.message


def test_a_selection_is_checked_against_the_receipt_itself() -> None:
    passage = Passage("S1", "The clock had one hand.", 0)
    data = answered("The clock had one hand.", passage=passage)
    assert states(data, None) == ["ok"]
    data["citations"][0]["place"]["headings"] = ["A chapter"]
    assert states(data, None) == ["altered"]
    data["selection"] = "The clock had two hands."
    assert states(data, None) == ["stale"]
    data["selection"] = None
    assert states(data, None) == ["missing"]


def altered(data: dict[str, Any]) -> list[str]:
    return [one.message for one in verify(data, lambda file_id: DOCUMENT) if one.state == "altered"]


def test_an_answer_that_says_other_than_its_quotes_is_altered() -> None:
    data = answered("It had one hand.", "It stopped often.")
    assert altered({**data, "answer": "It had ten hands."}) == ["The answer is not what its sentences say."]
    forged = json.loads(json.dumps({**data, "answer": "It had ten hands. It stopped often."}))
    forged["sentences"][0]["text"] = "It had ten hands."
    assert altered(forged) == ["This sentence is not what it cites: It had ten hands."]
    for kind, citations in (("statement", []), ("statement", [7]), ("notice", [0]), ("quote", ["0"]), ("other", [0])):
        forged["sentences"][0].update(kind=kind, citations=citations)
        assert "This sentence is not what it cites: It had ten hands." in altered(forged)


def test_a_receipt_that_cites_nothing_is_a_refusal_or_altered() -> None:
    data = answered("It had one hand.")
    assert "The receipt cites nothing, and is no refusal: there is nothing to verify." in altered(
        {**data, "citations": []}
    )
    assert altered({**data, "citations": [], "sentences": [], "answer": "It had ten hands.", "status": "refused"})
    refusal = {**data, "citations": [], "sentences": [], "answer": NOT_IN_BOOK}
    assert altered(refusal) == ['The status is "ok"; of such an answer it is "refused".']
    (verdict,) = verify({**refusal, "status": "refused"}, lambda file_id: None)
    assert verdict.state == "ok"
    assert "refusal" in verdict.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("title",), "Another book"),
        (("file_name",), "other.md"),
        (("source_url",), "https://elsewhere.example/"),
        (("place", "headings"), ["Another chapter", "Its hand"]),
        (("place", "first_page"), {"number": 7, "label": "v"}),
        (("place", "last_page", "label"), "xii"),
        (("place", "slide"), 3),
        (("place",), "page 7"),
        (("snippet",), "It had one hand. It was made of gold."),
    ],
)
def test_each_field_that_the_book_can_tell_is_checked(path: tuple[str, ...], value: object) -> None:
    data = json.loads(json.dumps(answered("It had one hand.")))
    assert states(data, DOCUMENT) == ["ok"]
    field = data["citations"][0]
    for name in path[:-1]:
        field = field[name]
    field[path[-1]] = value
    (verdict,) = verify(data, lambda file_id: DOCUMENT)
    assert verdict.state == "altered"
    assert ".".join(path) in verdict.message


def test_all_that_differs_is_told_at_once() -> None:
    data = answered("It had one hand.")
    data["citations"][0].update(title="Another book", mime_type="text/html")
    (message,) = altered(data)
    assert 'title is "Another book" in the receipt, and "' in message
    assert 'mime_type is "text/html"' in message


def test_a_quote_in_place_in_another_document_is_stale_and_not_altered() -> None:
    data = answered("It had one hand.")
    renamed = replace(DOCUMENT, title="The second edition", sha256="b" * 64)
    (verdict,) = verify(data, lambda file_id: renamed)
    assert verdict.state == "stale"
    assert "sha256" in verdict.message
    assert "The second edition" in verdict.message
    data["citations"][0]["sha256"] = "c" * 64
    assert states(data, DOCUMENT) == ["stale"]


@pytest.mark.parametrize("status", ["partial", "conflict", "refused", "fine", None])
def test_a_status_that_the_answer_does_not_have_is_altered(status: str | None) -> None:
    assert any("status" in message for message in altered({**answered("It had one hand."), "status": status}))


@pytest.mark.parametrize(
    ("notice", "status"),
    [(CONFLICT, "conflict"), (PART_ABSENT.format(part="How many hands?"), "partial")],
)
def test_notices_have_their_status(notice: str, status: str) -> None:
    data = answered("It had one hand.")
    data["sentences"] = [{"text": notice, "kind": "notice", "citations": []}, *data["sentences"]]
    data["answer"] = text_of([sentence["text"] for sentence in data["sentences"]])
    assert altered({**data, "status": status}) == []
    assert len(altered(data)) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"index": "clocks"},
        {"index": {"id": 5}},
        {"answer": 5},
        {"sentences": None},
        {"sentences": ["It had one hand."]},
        {"citations": [{"id": "S1", "quote": "It", "start": 0, "end": 2, "file_id": ["book.md"]}]},
        {"question": "half a \ud83d smile"},
    ],
)
def test_a_receipt_of_another_shape_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    (tmp_path / "x.json").write_text(json.dumps({**answered("It had one hand."), **change}))
    with pytest.raises(AstRagValidationError, match=r"x\.json is not a receipt"):
        load(tmp_path / "x.json")


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000, "", "[]", '{"question": 1}', '{"schema": 1, "question": "", "answer": "", "citations": [{}]}'],
)
def test_what_is_no_receipt_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(AstRagValidationError, match=r"x\.json"):
        load(tmp_path / "x.json")


def test_a_receipt_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AstRagValidationError, match=r"nosuch\.json cannot be read: No such file"):
        load(tmp_path / "nosuch.json")


def test_another_schema_is_refused() -> None:
    with pytest.raises(AstRagValidationError, match="schema 2"):
        verify({**answered("It had one hand."), "schema": 2}, lambda file_id: DOCUMENT)
