"""A model that lies, and one that does not: every draft through the official client, the Agents SDK and the gate."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_httpserver import HTTPServer

from chapterverse.answer.prompts import NOT_IN_BOOK
from chapterverse.library import Library
from chapterverse.types import Answer
from tests.answer.model_drafts import GateReader, Kind, ModelDraft, ModelServer, model_drafts, spoken

Outcome = tuple[ModelDraft, Answer | None]


@pytest.fixture(scope="module")
def outcomes() -> Iterator[list[Outcome]]:
    with HTTPServer(host="127.0.0.1") as server, Library(reader=GateReader()) as library:
        model = ModelServer(server, library)
        yield [(draft, model.answer(draft)) for draft in model_drafts()]


def through(outcomes: list[Outcome], kind: Kind, part: str) -> tuple[list[str], int]:
    """The drafts of which something was said, and how many there are."""
    chosen = [(draft, answer) for draft, answer in outcomes if (draft.kind, draft.set) == (kind, part)]
    return [draft.id for draft, answer in chosen if spoken(answer)], len(chosen)


def test_there_are_enough_of_each_kind(outcomes: list[Outcome]) -> None:
    kinds = [draft.kind for draft, _ in outcomes]
    assert kinds.count("hostile") >= 60
    assert kinds.count("faithful") >= 60
    assert len({draft.category for draft, _ in outcomes if draft.kind == "hostile"}) >= 20


def test_no_hostile_draft_that_rules_were_made_with_is_heard(outcomes: list[Outcome]) -> None:
    passed, count = through(outcomes, "hostile", "tune")
    assert count >= 40
    assert passed == []


def test_few_hostile_drafts_are_heard_that_no_rule_was_made_with(outcomes: list[Outcome]) -> None:
    passed, count = through(outcomes, "hostile", "held")
    assert len(passed) <= 0.05 * count


@pytest.mark.parametrize("part", ["tune", "held"])
def test_most_faithful_drafts_are_heard(outcomes: list[Outcome], part: str) -> None:
    passed, count = through(outcomes, "faithful", part)
    assert len(passed) >= 0.7 * count


def test_every_faithful_quote_is_heard_word_for_word(outcomes: list[Outcome]) -> None:
    quotes = [(draft, answer) for draft, answer in outcomes if draft.category == "quote"]
    assert len(quotes) >= 10
    for draft, answer in quotes:
        assert spoken(answer) == [draft.text]


def test_what_is_stopped_is_a_refusal_that_says_why_or_an_error(outcomes: list[Outcome]) -> None:
    stopped = [(draft, answer) for draft, answer in outcomes if not spoken(answer)]
    malformed = {draft.category for draft, answer in stopped if answer is None}
    assert malformed == {"truncated", "schema ignored", "plain prose", "markdown"}
    for draft, answer in stopped:
        if answer is not None:
            assert (answer.text, answer.status, answer.reason) == (NOT_IN_BOOK, "refused", "not_supported")
            assert bool(answer.issues) == bool(draft.text) or draft.category == "empty", draft.id


def test_bogus_ids_are_gone_from_what_is_heard(outcomes: list[Outcome]) -> None:
    heard = [sentence for _, answer in outcomes for sentence in spoken(answer)]
    assert heard
    assert not [sentence for sentence in heard if "[S" in sentence]
