"""How well passages are found: Chapterverse's hybrid score beside BM25 alone and dense alone, on the same texts.

    python -m benchmarks.retrieval --data FOLDER [--model NAME] [--rerank N]
    python -m benchmarks.retrieval --data FOLDER --choose-weights [--model NAME] [--rerank N]

FOLDER holds `dev/` (what is reported) and `train/` (what the weights are chosen on, with `--choose-weights`). Results
are printed, and kept in `benchmarks/results/retrieval.md`. `peers.py` has other retrievers.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.common import DEPTH, METRICS, Task, dev_tasks, embedder_held, held_out_tasks, measure, reader_held
from benchmarks.environments import ROOT, circumstances, publish, question_sets, table

from chapterverse.answer.retrieve import Retrieval
from chapterverse.index import lexical
from chapterverse.library import Library
from chapterverse.library.asynchronous import SearchResult
from chapterverse.protocols import InputType
from chapterverse.providers.local import MODELS, LocalEmbedder
from chapterverse.reading.reader import Reader
from chapterverse.settings import Settings

LOCAL = ROOT / ".local"
HEAD = 20
"""How many passages are reranked."""
READ = 8
"""How many an answer is looked for in."""
QUESTIONS = {"sample": ROOT / "sample/questions.jsonl", "held": ROOT / "benchmarks/questions_held.jsonl"}
VECTOR_WEIGHTS = (0.0, 0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
RERANK_WEIGHTS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)

Scores = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
Figures = dict[str, dict[str, float]]
"""Metrics by task."""


class Ours:
    """What the index is made of, on one task: the analysis, the encoder, the fused score, the reader."""

    def __init__(self, task: Task, model: str) -> None:
        self.task, self.model = task, model

    @cached_property
    def passages(self) -> Scores:
        return vectors(self.model, self.task.passages, "document")

    @cached_property
    def questions(self) -> Scores:
        return vectors(self.model, self.task.questions, "query")

    @cached_property
    def cosine(self) -> Scores:
        return self.questions @ self.passages.T

    @cached_property
    def bm25(self) -> Scores:
        average = lexical.average_length(self.task.passages)
        count = len(self.task.passages)
        postings: dict[int, list[tuple[int, float]]] = {}
        for place, text in enumerate(self.task.passages):
            vector = lexical.document_vector(text, average)
            for term, weight in zip(vector.indices, vector.values, strict=True):
                postings.setdefault(term, []).append((place, weight))
        scores = np.zeros((len(self.task.questions), count), np.float32)
        for row, question in enumerate(self.task.questions):
            for term in lexical.query_vector(question).indices:
                found = postings.get(term, [])
                rarity = np.log(1 + (count - len(found) + 0.5) / (len(found) + 0.5))
                for place, weight in found:
                    scores[row, place] += rarity * weight
        return scores

    def fused(self, vector_weight: float) -> Scores:
        """The product's hybrid score: cosine moved to 0..1, BM25 stretched to 0..1 for each question."""
        top = np.maximum(self.bm25.max(1, keepdims=True), 1e-9)
        fused: Scores = vector_weight * np.clip((self.cosine + 1) / 2, 0, 1) + (1 - vector_weight) * self.bm25 / top
        return fused

    def relevance(self, fused: Scores, reader: Reader) -> tuple[Places, Scores]:
        """The head of each ranking, and what the reader says of it."""
        head = _ranked(fused, HEAD)
        said = np.zeros(head.shape, np.float32)
        for row, (question, places) in enumerate(zip(self.task.questions, head, strict=True)):
            readings = reader.read(question, [self.task.passages[place] for place in places])
            said[row] = [reading.relevance for reading in readings]
        return head, said


def reranked(head: Places, fused: Scores, said: Scores, weight: float) -> Places:
    """The head in the order of a blend of fused score (stretched to 0..1 within the head) and relevance."""
    scores = np.take_along_axis(fused, head, 1)
    low, high = scores.min(1, keepdims=True), scores.max(1, keepdims=True)
    blend = (1 - weight) * (scores - low) / np.maximum(high - low, 1e-9) + weight * said
    return np.take_along_axis(head, np.argsort(-blend, axis=1, kind="stable"), 1)


def _ranked(scores: Scores, depth: int = DEPTH) -> Places:
    return np.argsort(-scores, axis=1, kind="stable")[:, :depth]


def vectors(model: str, texts: Sequence[str], kind: InputType) -> Scores:
    """Unit vectors, kept on disk until the model or the texts change."""
    files = json.loads((MODELS / model / "card.json").read_text("utf-8"))["sha256"]
    key = hashlib.sha256(json.dumps([files, kind, *texts]).encode()).hexdigest()[:24]
    path = LOCAL / "vectors" / f"{key}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        found = asyncio.run(LocalEmbedder().embed(texts, kind, model, {}, {})).vectors
        np.save(path, found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9))
    kept: Scores = np.load(path)
    return kept


@dataclass(slots=True)
class Measured:
    """Figures by row; those of the reader are taken on a sample of the questions."""

    rows: dict[str, Figures]
    sample: int = 0
    reranked: dict[str, Figures] = field(default_factory=dict)


def main() -> None:
    options = _options()
    if options.choose_weights:
        choose_weights(options.data, options.model, options.rerank)
        return
    weights = _weights(options.model)
    tasks = [Ours(task, options.model) for task in dev_tasks(options.data)]
    measured = Measured(own_rows(tasks, weights["vector"]), options.rerank)
    if options.rerank:
        small = [Ours(ours.task.head(options.rerank), options.model) for ours in tasks]
        measured.reranked = rerank_rows(small, weights["vector"], weights["rerank"])
    _report(options.model, tasks, measured)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=question_sets, required=True)
    parser.add_argument("--model", help="of the local provider; its default if not given")
    parser.add_argument("--choose-weights", action="store_true", help="try weights on the held-out training articles")
    parser.add_argument("--rerank", type=int, default=0, help="also rerank, for this many questions of each task")
    options = parser.parse_args()
    options.model = options.model or shipped()[0]
    return options


def shipped() -> tuple[str, dict[str, float]]:
    """The default embedding model, and the weights of its scores."""
    model = LocalEmbedder().capabilities().models[0].name
    return model, _weights(model)


def _weights(model: str) -> dict[str, float]:
    weights: dict[str, float] = json.loads((MODELS / model / "card.json").read_text("utf-8"))["hybrid"]
    return weights


def own_rows(tasks: Sequence[Ours], vector_weight: float) -> dict[str, Figures]:
    ways: dict[str, Callable[[Ours], Scores]] = {
        "chapterverse, hybrid": lambda ours: ours.fused(vector_weight),
        "chapterverse, BM25 alone": lambda ours: ours.bm25,
        "chapterverse, dense alone": lambda ours: ours.cosine,
    }
    return {name: {ours.task.name: _figures(ours, _ranked(way(ours))) for ours in tasks} for name, way in ways.items()}


def rerank_rows(tasks: Sequence[Ours], vector_weight: float, rerank_weight: float) -> dict[str, Figures]:
    """With and without the reader: the product's search, and one without vectors, which shows what they are worth."""
    rows: dict[str, Figures] = {}
    reader = Reader()
    for name, weight in {"chapterverse, hybrid": vector_weight, "chapterverse, BM25 alone": 0.0}.items():
        plain, read = rows.setdefault(name, {}), rows.setdefault(f"{name}, and reader", {})
        for ours in tasks:
            fused = ours.fused(weight)
            head, said = ours.relevance(fused, reader)
            plain[ours.task.name] = _figures(ours, head)
            read[ours.task.name] = _figures(ours, reranked(head, fused, said, rerank_weight))
    return rows


def own_words() -> str:
    """Questions that a reader puts in words of his own: for how many a search finds the place that answers."""
    rows = []
    with tempfile.TemporaryDirectory() as home, Library(Settings(home=Path(home))) as library:
        library.add("sample", index="sample")
        defaults = library.inspect("sample").record.retrieval_defaults
        for name, path in QUESTIONS.items():
            lines = map(json.loads, path.read_text("utf-8").splitlines())
            asked = [one for one in lines if one["kind"] == "answerable"]
            for mode in ("hybrid", "lexical", "vector"):
                settings = Retrieval(**{**defaults, "mode": mode, "top_k": READ})
                results = (library.search(one["question"], index="sample", settings=settings) for one in asked)
                ranks = [_rank(result, one) for result, one in zip(results, asked, strict=True)]
                found = (sum(rank < depth for rank in ranks) for depth in (1, 5, READ))
                rows.append([f"{name}, {mode}", str(len(asked)), *map(str, found)])
    return table(("", ">questions", ">first", ">among five", f">among {READ}"), rows)


def _rank(result: SearchResult, asked: dict[str, Any]) -> int:
    """Where the first passage stands that holds one of the quotes that answer, from 0; `READ` if none does."""
    texts = [" ".join(one.entry.chunk.text.split()) for one in result.found]
    quotes = [" ".join(quote.split()) for quote in asked["quotes"]]
    return next((rank for rank, text in enumerate(texts) if any(quote in text for quote in quotes)), READ)


def choose_weights(data: Path, model: str, rerank: int) -> None:
    """Print nDCG@10 for each weight of the vectors and, on some questions of each task, for each of the reader."""
    tasks = [Ours(task, model) for task in held_out_tasks(data, embedder_held)]
    _print_head("vector weight", tasks)
    means = {w: _print_ndcg(w, tasks, [_ranked(ours.fused(w)) for ours in tasks]) for w in VECTOR_WEIGHTS}
    best = max(means, key=means.__getitem__)
    print(f"\nThe best vector weight is {best}.\n")
    if not rerank:
        return
    tasks = [Ours(task.head(rerank), model) for task in held_out_tasks(data, reader_held)]
    reader = Reader()
    fused = [ours.fused(best) for ours in tasks]
    read = [ours.relevance(scores, reader) for ours, scores in zip(tasks, fused, strict=True)]
    _print_head("reader weight", tasks)
    for weight in RERANK_WEIGHTS:
        pairs = zip(fused, read, strict=True)
        _print_ndcg(weight, tasks, [reranked(head, scores, said, weight) for scores, (head, said) in pairs])


def _print_head(first: str, tasks: Sequence[Ours]) -> None:
    print(f"| {first} | mean | " + " | ".join(ours.task.name for ours in tasks) + " |")
    print("|---" * (len(tasks) + 2) + "|")


def _print_ndcg(weight: float, tasks: Sequence[Ours], rankings: Sequence[Places]) -> float:
    found = [_figures(ours, ranking)["nDCG@10"] for ours, ranking in zip(tasks, rankings, strict=True)]
    mean = float(np.mean(found))
    print(f"| {weight:.2f} | {mean:.4f} | " + " | ".join(f"{value:.4f}" for value in found) + " |")
    return mean


def _figures(ours: Ours, ranking: Places) -> dict[str, float]:
    return measure(ranking.tolist(), ours.task.relevant)


def _report(model: str, tasks: Sequence[Ours], measured: Measured) -> None:
    asked = [ours.task for ours in tasks]
    sizes = (f"{task.name}: {len(task.questions)} questions, {len(task.passages)} passages" for task in asked)
    parts = [
        "# Retrieval",
        f"Model `{model}`. {'; '.join(sizes)}. {circumstances()}",
        figures_table(measured.rows, [task.name for task in asked]),
    ]
    if measured.reranked:
        names = [task.name for task in asked]
        parts += [f"On {measured.sample} questions of each task:", figures_table(measured.reranked, names)]
    parts += [f"The sample book's questions: for how many the place is among the {READ} that are read.", own_words()]
    publish("retrieval", "\n\n".join(parts))


def figures_table(rows: dict[str, Figures], tasks: Sequence[str]) -> str:
    """Metrics by row and task."""
    columns = ("", *(f">{name} {metric}" for name in tasks for metric in METRICS))
    cells = ((row, *(f"{figures[n][m]:.3f}" for n in tasks for m in METRICS)) for row, figures in rows.items())
    return table(columns, cells)


if __name__ == "__main__":
    main()
