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
from chapterverse.answer.receipt import RECEIPT, Verdict, load, receipt, save
from chapterverse.answer.receipt import verify as verify_with
from chapterverse.errors import AstRagValidationError
from chapterverse.ingest.sentences import split
from chapterverse.types import Answer, Document, Passage
from tests.answer.stand_ins import WordReader
from tests.answer.test_cite import DOCUMENT, PASSAGE, located


def answered(*quotes: str, passage: Passage = PASSAGE) -> dict[str, Any]:
    return written([Passed(quote, "quote", (located(quote, passage),)) for quote in quotes], passage)


def stated(statement: str, *quotes: str) -> dict[str, Any]:
    return written([Passed(statement, "statement", tuple(located(quote) for quote in quotes))])


def written(passed: list[Passed], passage: Passage = PASSAGE) -> dict[str, Any]:
    sentences, citations = cite(passed, [passage], {"book.md": DOCUMENT}.get)
    answer = Answer(
        "How many hands?",
        " ".join(one.text for one in passed),
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


def verify(data: dict[str, Any], document: Document | None = DOCUMENT) -> list[Verdict]:
    """What becomes of quotes and sentences; that a receipt was changed at all has tests of its own."""
    return [one for one in verify_with(data, lambda _: document, WordReader(), split) if one.id != RECEIPT]


def as_written(data: dict[str, Any]) -> Verdict:
    (verdict,) = (one for one in verify_with(data, lambda _: DOCUMENT, WordReader(), split) if one.id == RECEIPT)
    return verdict


def states(data: dict[str, Any], document: Document | None) -> list[str]:
    return [verdict.state for verdict in verify(data, document)]


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
    (verdict,) = verify(answered("It had one hand."), moved)
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
    (verdict,) = verify(data)
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
    return [one.message for one in verify(data) if one.state == "altered"]


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
    (verdict,) = verify({**refusal, "status": "refused"}, None)
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
    (verdict,) = verify(data)
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
    (verdict,) = verify(data, renamed)
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


def test_a_statement_must_pass_the_gate_again() -> None:
    honest = stated("The clock had one hand and stopped often.", "It had one hand.", "It stopped often.")
    assert {verdict.state for verdict in verify(honest)} == {"ok"}
    for forged in ("The clock had ten hands and stopped often.", "Its maker never stopped it.", "."):
        data = json.loads(json.dumps(honest))
        data["answer"] = data["sentences"][0]["text"] = forged
        told = [verdict.message for verdict in verify(data) if verdict.state == "unsupported"]
        assert len(told) == 1
        assert told[0].startswith(f"What it cites does not bear this sentence out: {forged} (")


def test_what_a_statement_is_judged_by_moves_with_its_quote_and_is_found_without_being_told() -> None:
    data = json.loads(json.dumps(stated("The clock had one hand.", "It had one hand.")))
    text = "A new preface.\n\n" + DOCUMENT.text
    blocks = tuple(replace(b, start=b.start + 16, end=b.end + 16) for b in DOCUMENT.blocks)
    assert states(data, replace(DOCUMENT, text=text, blocks=blocks, sha256="b" * 64)) == ["moved"]
    older = {name: value for name, value in data.items() if name not in ("passages", "sha256")}
    assert states(older, DOCUMENT) == ["ok"]
    older["answer"] = older["sentences"][0]["text"] = "The clock had ten hands."
    assert states(older, DOCUMENT) == ["ok", "unsupported"]


def test_a_part_of_a_sentence_that_says_what_the_whole_does_not_is_unsupported() -> None:
    told = replace(PASSAGE, text="Nobody says that it had ten hands.", start=0, entry=None)
    data = json.loads(json.dumps(answered("it had ten hands.", passage=told)))
    assert states(data, None) == ["ok", "unsupported"]


def test_an_answer_that_was_emptied_is_altered() -> None:
    data = answered("It had one hand.")
    assert altered({**data, "answer": "", "sentences": []}) == ["No sentence rests on what is cited: It had one hand."]
    data["sentences"] = [{"text": CONFLICT, "kind": "notice", "citations": [0]}]
    assert f"This sentence is not what it cites: {CONFLICT}" in altered({**data, "answer": CONFLICT})


def test_an_offset_that_was_changed_is_altered_and_of_another_version_moved() -> None:
    data = answered("It had one hand.")
    data["citations"][0]["start"] -= 1
    (message,) = altered(data)
    assert message == "The quote stands at 40 of the unchanged document, not at 39."
    data["versions"] = {"chapterverse": "0.0"}
    assert states(data, DOCUMENT) == ["moved"]


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Who?"}, {"confidence": 1}, {"timestamp": ""}, {"reason": "no_matches"}, {"selection": "text"},
        {"index": {"id": "i1", "name": "Another"}}, {"answer": NOT_IN_BOOK, "status": "refused", "sentences": [],
         "citations": []}, {"note": "added"}, {"sha256": None},
    ],
)  # fmt: skip
def test_what_no_book_can_tell_of_is_held_by_the_hash(change: dict[str, Any], tmp_path: Path) -> None:
    save(tmp_path / "receipt.json", answered("It had one hand."))
    data = load(tmp_path / "receipt.json")
    assert (as_written(data).state, "not signed" in as_written(data).message) == ("ok", True)
    assert as_written(dict(reversed(data.items()))).state == "ok"
    assert as_written({**data, **change}).state == "altered"
    del data["sha256"]
    assert (as_written(data).state, "has no hash" in as_written(data).message) == ("ok", True)


@pytest.mark.parametrize(
    "change",
    [
        {"index": "clocks"},
        {"passages": [{"id": "S1", "start": "0", "end": 9}]},
        {"passages": None},
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
        verify({**answered("It had one hand."), "schema": 2})
