"""The topic gate: three indexes, each of which answers what the others refuse; and the sample book, never refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapterverse.answer.topic import ProfileBuilder, Verdict, judge
from chapterverse.index.lexical import query_vector
from chapterverse.index.lexical import terms as all_terms
from chapterverse.ingest.chunk import chunk
from chapterverse.ingest.read import read
from chapterverse.ingest.sentences import split
from chapterverse.protocols import InputType, Vectors
from chapterverse.providers.local import LocalEmbedder
from chapterverse.types import SourceItem

BOOKS = Path(__file__).parent / "books"
SAMPLE = files("chapterverse") / "sample"
EMBEDDER = LocalEmbedder()
MODELS = [card.name for card in EMBEDDER.capabilities().models]

OWN = {
    "cookbook": (
        "How do I bake a cake?",
        "How long should dough rise?",
        "Why does a sponge collapse in the oven?",
        "What goes into mayonnaise?",
        "How do I know that jam has set?",
        "At what temperature do you roast chicken?",
        "How do I keep greens from going grey?",
        "What should I do with shellfish that will not open?",
    ),
    "physics": (
        "How fast does light travel?",
        "What did Rutherford discover?",
        "Why can no heat engine be perfect?",
        "What is the half-life of carbon 14?",
        "How does a rocket work in space?",
        "What happens to the frequency of a siren as an ambulance passes?",
        "What is Ohm's law?",
        "Why do objects weigh less on the lunar surface?",
    ),
    "clocks": (
        "How does a fusee work?",
        "Who invented rack striking?",
        "How do I make a pendulum clock run faster?",
        "What is recoil in an escapement?",
        "How often should a turret timepiece be lubricated?",
        "What evens out the pull of a mainspring?",
        "How do I silver a chapter ring?",
        "Which timber were grandfather cases made from?",
    ),
}
REFUSED = {
    "cookbook": ("What did Rutherford discover?", "How does a fusee work?", "What is recoil in an escapement?"),
    "physics": (
        "How do I bake a cake?",
        "Which timber were grandfather cases made from?",
        "Who invented rack striking?",
    ),
    "clocks": ("How do I bake a cake?", "What did Rutherford discover?", "What goes into mayonnaise?"),
}
OF_ANY_BOOK = (
    "What is this book about?",
    "Who is the author?",
    "Summarise the second chapter.",
    "Why?",
    "What is it for?",
)


def content_terms(text: str) -> tuple[int, ...]:
    return query_vector(text).indices


@cache
def embedded(model: str, texts: tuple[str, ...], input_type: InputType) -> Vectors:
    return asyncio.run(EMBEDDER.embed(texts, input_type, model, {}, {})).vectors


def profile_of(data: bytes, name: str, model: str) -> dict[str, Any]:
    texts = tuple(piece.text for piece in chunk(read(data, SourceItem(name, name))))
    return built(texts, model)


def built(texts: Sequence[str], model: str) -> dict[str, Any]:
    builder = ProfileBuilder()
    for text, vector in zip(texts, embedded(model, tuple(texts), "document"), strict=True):
        builder.add(text, vector.tolist(), all_terms(text))
    probes = tuple(builder.probes(split))
    return builder.build(embedded(model, probes, "query"))


@cache
def book(name: str, model: str) -> dict[str, Any]:
    return profile_of((BOOKS / f"{name}.md").read_bytes(), f"{name}.md", model)


@cache
def sample(model: str) -> dict[str, Any]:
    name = "the-clocks-of-harrow-vale.md"
    return profile_of((SAMPLE / name).read_bytes(), name, model)


def ask(profile: dict[str, Any], question: str, model: str) -> Verdict:
    return judge(profile, question, content_terms, embedded(model, (question,), "query")[0])


def questions(kind: str) -> list[str]:
    rows = map(json.loads, (SAMPLE / "questions.jsonl").read_text("utf-8").splitlines())
    return [row["question"] for row in rows if row["kind"] == kind]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", OWN)
def test_no_book_refuses_its_own_questions(name: str, model: str) -> None:
    refused = [q for q in OWN[name] if ask(book(name, model), q, model).decision == "out_of_scope"]
    assert refused == []


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", REFUSED)
def test_each_book_refuses_what_the_others_answer(name: str, model: str) -> None:
    for question in REFUSED[name]:
        assert ask(book(name, model), question, model).decision == "out_of_scope", question
        owner = next(other for other, own in OWN.items() if question in own)
        assert ask(book(owner, model), question, model).decision != "out_of_scope", question


@pytest.mark.parametrize("model", MODELS)
def test_a_question_in_known_words_may_still_be_distant(model: str) -> None:
    verdict = ask(book("clocks", model), "Are you a real man?", model)
    assert (verdict.decision, verdict.distant) == ("uncertain", True)
    assert not any(ask(book("clocks", model), question, model).distant for question in OWN["clocks"])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("question", "distant"),
    [
        ("How many towers did Napoleon build in the valley?", True),
        ("What does NASA do?", True),
        ("How many towers did Kell build in the valley?", False),
        ("Carpenters of the valley: who were they?", False),  # it may be capitalised as the first word alone
        ("Is it OK if a household clock is cleaned every nine years?", False),
    ],
)
def test_a_name_that_no_page_has_makes_a_question_distant(question: str, distant: bool, model: str) -> None:
    verdict = ask(sample(model), question, model)
    assert (verdict.decision != "out_of_scope", verdict.distant) == (True, distant)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", OWN)
def test_most_questions_of_other_books_need_no_retrieval(name: str, model: str) -> None:
    others = [q for other, own in OWN.items() if other != name for q in own]
    refused = [q for q in others if ask(book(name, model), q, model).decision == "out_of_scope"]
    assert len(refused) >= len(others) / 3


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["physics", "clocks"])
@pytest.mark.parametrize("question", ["What's the weather today?", "How do I bake a cake?"])
def test_weather_and_cake_are_refused_where_they_are_foreign(name: str, question: str, model: str) -> None:
    verdict = ask(book(name, model), question, model)
    assert verdict.decision == "out_of_scope"
    assert verdict.reason.startswith("0 of the question's 2 words occur in the index")


@pytest.mark.parametrize("model", MODELS)
def test_a_cookbook_answers_the_cake_question(model: str) -> None:
    assert ask(book("cookbook", model), "How do I bake a cake?", model).decision == "in_scope"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("question", OF_ANY_BOOK)
def test_questions_that_fit_any_book_are_never_refused(question: str, model: str) -> None:
    for name in OWN:
        assert ask(book(name, model), question, model).decision != "out_of_scope"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["answerable", "absent"])
def test_the_sample_book_refuses_nothing_that_is_about_it(kind: str, model: str) -> None:
    asked = questions(kind)
    assert len(asked) == {"answerable": 138, "absent": 58}[kind]
    assert [q for q in asked if ask(sample(model), q, model).decision == "out_of_scope"] == []


@pytest.mark.parametrize("model", MODELS)
def test_a_profile_is_small_plain_and_the_same_in_any_order(model: str) -> None:
    texts = [piece.text for piece in chunk(read((BOOKS / "clocks.md").read_bytes(), SourceItem("c.md", "c.md")))]
    profile = built(texts, model)
    assert json.loads(json.dumps(profile)) == profile
    assert built(texts[::-1], model) == profile
    assert len(json.dumps(sample(model))) < 64 * 1024


def test_a_profile_of_a_large_index_stays_under_64_kb() -> None:
    rng = np.random.default_rng(7)
    builder = ProfileBuilder()
    for number in range(3000):
        words = rng.integers(0, 2**32, 60)
        vector = rng.normal(size=3072).tolist() if number % 50 == 0 else [0.1] * 3072
        builder.add(" ".join(map(str, words)), vector, words.tolist())
    probes = builder.probes(lambda text: [(0, 100), (101, 201), (202, len(text))])
    profile = builder.build(rng.normal(size=(len(probes), 3072)).astype(np.float32))
    assert 32 * 1024 < len(json.dumps(profile)) < 64 * 1024


def test_too_little_to_judge_by_refuses_nothing() -> None:
    builder = ProfileBuilder()
    text = "A single short text about bees."
    builder.add(text, [1.0, 0.0], all_terms(text))
    probes = builder.probes(split)
    profile = builder.build(np.ones((len(probes), 2), np.float32))
    for known in (profile, {}):
        assert judge(known, "How do I file my tax return?", content_terms, [0.0, 1.0]).decision == "uncertain"
    assert judge(profile, "How do I file my tax return?", content_terms, None).decision == "uncertain"
