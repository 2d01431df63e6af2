"""Retrieval tasks made of public question sets, and the figures that a ranking earns on them."""

from __future__ import annotations

import json
import lzma
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DEPTH = 10
"""How many passages of a ranking count."""
METRICS = ("Recall@1", "Recall@5", "MRR@10", "nDCG@10")

_HELD_OUT = {
    "squad2": "wiki",
    "squad11": "wiki",
    "shift_new_wiki": "wiki",
    "fairytale": "tales",
    "policyqa": "policy",
    "nq": "nq",
    "citint": "science",
    "healthver": "science",
    "climate": "science",
    "scitail": "science",
}
"""Which held-out task a training source belongs to."""
_DISTRACTORS = {"tales": 250, "nq": 300, "science": 700}
"""Passages of the training part that make the small held-out tasks as hard as a book."""


class Pair(NamedTuple):
    """A question of the training data and its passage; the group is an article, or a number of the passage."""

    source: str
    group: str
    question: str
    passage: str


@dataclass(frozen=True, slots=True)
class Task:
    """Questions to a corpus, and for each the places of the passages that answer it."""

    name: str
    passages: list[str]
    questions: list[str]
    relevant: list[frozenset[int]]

    def head(self, count: int) -> Task:
        """The same corpus with a fixed sample of the questions."""
        some = sorted(random.Random(0).sample(range(len(self.questions)), min(count, len(self.questions))))
        return Task(self.name, self.passages, [self.questions[i] for i in some], [self.relevant[i] for i in some])


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def dev_tasks(data: Path) -> list[Task]:
    """What is published: encyclopedia paragraphs, a book of tales, scientific abstracts."""
    return [_squad(data / "dev"), _fairytale(data / "dev"), _scifact(data / "dev")]


def _squad(dev: Path) -> Task:
    """Answered questions against the paragraphs of all six articles."""
    found = list(rows(dev / "squad2.jsonl.xz"))
    asked = [(row["question"], row["context"]) for row in found if row["answers"]]
    return _paired("squad2", asked, [row["context"] for row in found])


def _fairytale(dev: Path) -> Task:
    sections = list(rows(dev / "fairytale_sections.jsonl.xz"))
    place = {(row["story"], row["section"]): i for i, row in enumerate(sections)}
    asked = list(rows(dev / "fairytale_questions.jsonl.xz"))
    relevant = [frozenset(place[row["story"], section] for section in row["sections"]) for row in asked]
    return Task("fairytale", [row["text"] for row in sections], [row["question"] for row in asked], relevant)


def _scifact(dev: Path) -> Task:
    corpus = list(rows(dev / "scifact_corpus.jsonl.xz"))
    place = {row["id"]: i for i, row in enumerate(corpus)}
    asked = list(rows(dev / "scifact_queries.jsonl.xz"))
    relevant = [frozenset(place[one] for one in row["relevant"]) for row in asked]
    passages = [f"{row['title']}. {row['text']}" for row in corpus]
    return Task("scifact", passages, [row["question"] for row in asked], relevant)


def embedder_held(pair: Pair) -> bool:
    """Whether `training/embedder.py` keeps the pair's article out of training."""
    return zlib.crc32(f"{pair.source}/{pair.group}".encode()) % 25 == 0


def reader_held(pair: Pair) -> bool:
    """Whether the reader's training keeps the pair's article, or its passage where there are no articles, out."""
    articles = pair.source in ("squad2", "squad11", "shift_new_wiki", "fairytale", "policyqa")
    key = pair.group if articles else pair.passage
    return zlib.crc32(key.encode()) % 100 < (14 if pair.source == "squad2" else 5)


def held_out_tasks(data: Path, held: Callable[[Pair], bool]) -> list[Task]:
    """Tasks of articles that a model was not trained on: weights are chosen on these."""
    asked: dict[str, list[tuple[str, str]]] = {}
    others: dict[str, set[str]] = {}
    for pair in _training_pairs(data / "train"):
        if (name := _HELD_OUT.get(pair.source)) is None:
            continue
        if held(pair):
            asked.setdefault(name, []).append((pair.question, pair.passage))
        else:
            others.setdefault(name, set()).add(pair.passage)
    for name, pairs in asked.items():
        others[name] -= {passage for _, passage in pairs}
    return [_paired(name, pairs, _sample(others[name], _DISTRACTORS.get(name, 0))) for name, pairs in asked.items()]


def _training_pairs(train: Path) -> Iterator[Pair]:
    for row in rows(train / "questions.jsonl.xz"):
        if row["answer"]:
            yield Pair(row["source"], row["group"], row["question"], row["context"])
    for row in rows(train / "claims.jsonl.xz"):
        if row["supported"]:
            yield Pair(row["source"], str(zlib.crc32(row["context"].encode())), row["claim"], row["context"])


def _sample(passages: set[str], count: int) -> list[str]:
    some = sorted(passages)
    random.Random(3).shuffle(some)
    return some[:count]


def _paired(name: str, asked: Sequence[tuple[str, str]], others: Sequence[str]) -> Task:
    """A task whose corpus is the passages of its questions and some others."""
    passages = list(dict.fromkeys([*(passage for _, passage in asked), *others]))
    place = {passage: i for i, passage in enumerate(passages)}
    return Task(name, passages, [q for q, _ in asked], [frozenset([place[passage]]) for _, passage in asked])


def measure(rankings: Sequence[Sequence[int]], relevant: Sequence[frozenset[int]]) -> dict[str, float]:
    """The mean of each metric over the questions; a ranking may hold fewer than ten passages."""
    discount = 1 / np.log2(np.arange(2, DEPTH + 2))
    totals = np.zeros(len(METRICS))
    for ranking, wanted in zip(rankings, relevant, strict=True):
        hits = np.zeros(DEPTH)
        hits[: len(ranking[:DEPTH])] = [place in wanted for place in ranking[:DEPTH]]
        first = 1 / (1 + hits.argmax()) if hits.any() else 0.0
        gain = hits @ discount / discount[: len(wanted)].sum()
        totals += (hits[0] / len(wanted), hits[:5].sum() / len(wanted), first, gain)
    return dict(zip(METRICS, (totals / len(relevant)).tolist(), strict=True))
