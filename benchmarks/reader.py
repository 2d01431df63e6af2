"""Measures the shipped reader on public sets that it was neither trained nor tuned on.

    python benchmarks/reader.py DATA_FOLDER [--model FOLDER] [--rows N] [--only squad2,clapnq,...] [--json FILE]

DATA_FOLDER holds `dev/*.jsonl.xz`. Give the float32 export as --model to compare it with int8. Probabilities were
fitted, and the threshold for answering chosen, on held-out training articles.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import statistics
import string
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chapterverse.reading.reader import READ_ON, SKIMMED, Reader
from chapterverse.reading.runtime import MODELS
from chapterverse.types import AnswerSpan, Reading

Row = dict[str, Any]
Figures = dict[str, float]

SUPPORTED_FROM = 0.5

AIMS = {
    "squad2 span F1": (">=", 82.0),
    "squad2 AUROC": (">=", 0.80),
    "squad2 F1 with refusals": (">=", 68.0),
    "squad2 calibration error": ("<=", 0.05),
    "off-topic AUROC": (">=", 0.99),
    "off-topic calibration error": ("<=", 0.05),
    "clapnq AUROC": (">=", 0.85),
    "clapnq F1 of cited sentences": (">=", 0.60),
    "clapnq calibration error": ("<=", 0.05),
    "attributionbench balanced accuracy": (">=", 0.75),
    "attributionbench calibration error": ("<=", 0.05),
    "wice AUROC": (">=", 0.80),
    "wice calibration error": ("<=", 0.05),
    "8 passages p50 ms": ("<", 300.0),
    "8 passages ratio to bare run": ("<", 1.15),
    "load seconds": ("<", 0.5),
}


def rows_of(data: Path, name: str, limit: int) -> list[Row]:
    with lzma.open(data / "dev" / f"{name}.jsonl.xz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return random.Random(1).sample(rows, limit) if 0 < limit < len(rows) else rows


def squad2(reader: Reader, data: Path, limit: int) -> Figures:
    rows = rows_of(data, "squad2", limit)
    readings = [reader.read(row["question"], [row["context"]])[0] for row in rows]
    chances = [reading.answerable for reading in readings]
    scores = [
        max((text_f1(said(row["context"], reading), gold) for gold in row["answers"]), default=0.0)
        for row, reading in zip(rows, readings, strict=True)
    ]
    has = [bool(row["answers"]) for row in rows]
    answer_from = reader.answer_threshold
    refusing = [
        score if chance >= answer_from else float(not answerable)
        for score, chance, answerable in zip(scores, chances, has, strict=True)
    ]
    return {
        "squad2 span F1": 100 * statistics.mean(s for s, h in zip(scores, has, strict=True) if h),
        "squad2 AUROC": auroc(has, chances),
        "squad2 F1 with refusals": 100 * statistics.mean(refusing),
        "squad2 calibration error": calibration_error(has, chances),
    } | curve("squad2", has, chances)


def off_topic(reader: Reader, data: Path, limit: int) -> Figures:
    """Answerable questions with their own paragraph, and with one of another article: is it about the question?"""
    rng, rows = random.Random(2), rows_of(data, "squad2", 0)
    asked = rng.sample([row for row in rows if row["answers"]], min(limit or 400, 400))
    chances, labels, refused = [], [], []
    for row in asked:
        other = rng.choice([r["context"] for r in rows if r["title"] != row["title"]])
        own, strange = reader.read(row["question"], [row["context"], other])
        chances += [own.relevance, strange.relevance]
        refused.append(strange.answerable < reader.answer_threshold)
        labels += [True, False]
    return {
        "off-topic AUROC": auroc(labels, chances),
        "off-topic refused share": statistics.mean(refused),
        "off-topic calibration error": calibration_error(labels, chances),
    }


def clapnq(reader: Reader, data: Path, limit: int) -> Figures:
    rows = rows_of(data, "clapnq_half", limit)
    readings = [reader.read(row["question"], [row["context"]])[0] for row in rows]
    has, chances = [bool(row["answer"]) for row in rows], [reading.answerable for reading in readings]
    cited = [sentence_f1(row, reading) for row, reading, h in zip(rows, readings, has, strict=True) if h]
    return {
        "clapnq AUROC": auroc(has, chances),
        "clapnq F1 of cited sentences": statistics.mean(cited),
        "clapnq calibration error": calibration_error(has, chances),
    }


def attributionbench(reader: Reader, data: Path, limit: int) -> Figures:
    rows = rows_of(data, "attributionbench", limit)
    judged = [reader.supports(row["claim"], [" ".join(row["references"])])[0] for row in rows]
    strictly = [reader.strictly(row["claim"], [" ".join(row["references"])])[0] for row in rows]
    chances = [support.probability for support in judged]
    labels = [bool(row["supported"]) for row in rows]
    right = [(chance >= SUPPORTED_FROM) == label for chance, label in zip(chances, labels, strict=True)]
    by_label = [statistics.mean(r for r, y in zip(right, labels, strict=True) if y is kind) for kind in (True, False)]
    return {
        "attributionbench balanced accuracy": statistics.mean(by_label),
        "attributionbench AUROC": auroc(labels, chances),
        "attributionbench AUROC, strictly": auroc(labels, strictly),
        "attributionbench calibration error": calibration_error(labels, chances),
    } | curve("attributionbench", labels, chances)


def wice(reader: Reader, data: Path, limit: int) -> Figures:
    rows = rows_of(data, "wice_claims", limit)
    labels = [row["label"] == "supported" for row in rows]
    judged = [reader.supports(row["claim"], row["evidence_chunks"]) for row in rows]
    chances = [max(support.probability for support in one) for one in judged]
    strictly = [max(reader.strictly(row["claim"], row["evidence_chunks"])) for row in rows]
    return {
        "wice AUROC": auroc(labels, chances),
        "wice AUROC, strictly": auroc(labels, strictly),
        "wice calibration error": calibration_error(labels, chances),
    }


def speed(reader: Reader, data: Path, limit: int) -> Figures:
    """One question and eight passages of 200 words, one of them its own, from the same article where it can be."""
    rows, rng = rows_of(data, "squad2", 0), random.Random(3)
    whole, bare = [], []
    for row in rng.sample([row for row in rows if row["answers"]], min(limit or 15, 15)):
        words = " ".join(dict.fromkeys(r["context"] for r in rows if r["title"] == row["title"])).split()
        starts = range(0, len(words) - 200, 200)
        passages = [" ".join(words[i : i + 200]) for i in rng.sample(starts, 7)] + [row["context"]]
        passages[-1] = " ".join((passages[-1] + " " + " ".join(words)).split()[:200])
        began = time.perf_counter()
        readings = reader.read(row["question"], passages)
        whole.append(time.perf_counter() - began)
        bare.append(bare_run(reader, row["question"], passages, readings))
    began = time.perf_counter()
    Reader(reader.folder).read("Who?", ["Nobody."])
    return {
        "8 passages p50 ms": 1e3 * statistics.median(whole),
        "8 passages ratio to bare run": statistics.median(w / b for w, b in zip(whole, bare, strict=True)),
        "load seconds": time.perf_counter() - began,
    }


def bare_run(reader: Reader, question: str, passages: Sequence[str], readings: Sequence[Reading]) -> float:
    """Seconds of the same ONNX runs alone."""
    runtime, _ = reader.loaded()
    windows = [
        (w, bool(r.spans)) for p, r in zip(passages, readings, strict=True) for w in runtime.windows(question, p)
    ]
    chosen = [place for place, (_, finished) in enumerate(windows) if finished]
    began = time.perf_counter()
    glances = runtime.glance([window for window, _ in windows], SKIMMED)
    runtime.finish([glances[place] for place in chosen], READ_ON // max(1, len(chosen)))
    return time.perf_counter() - began


def said(context: str, reading: Reading) -> str:
    return context[reading.spans[0].start : reading.spans[0].end] if reading.spans else ""


def sentence_f1(row: Row, reading: Reading) -> float:
    """Sentences of the set that overlap a cited one by half, against those that were selected by hand."""
    spans, place = [], 0
    for sentence in row["sentences"]:
        place = max(row["context"].find(sentence, place), 0)
        spans.append((place, place + len(sentence)))
    gold = {i for i, sentence in enumerate(row["sentences"]) if sentence in row["selected_sentences"]}
    cited = {i for i, span in enumerate(spans) if any(overlap(span, one) > 0.5 for one in reading.cited)}
    shared = len(gold & cited)
    return 2 * shared / (len(gold) + len(cited)) if gold or cited else 1.0


def overlap(span: tuple[int, int], other: AnswerSpan) -> float:
    return max(0, min(span[1], other.end) - max(span[0], other.start)) / max(1, span[1] - span[0])


def normal(text: str) -> list[str]:
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def text_f1(said_: str, gold: str) -> float:
    a, b = normal(said_), normal(gold)
    if not a or not b:
        return float(a == b)
    return 2 * sum((Counter(a) & Counter(b)).values()) / (len(a) + len(b))


def auroc(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """The chance that a positive outranks a negative; ties count half."""
    positive = np.array([s for s, y in zip(scores, labels, strict=True) if y])
    negative = np.array([s for s, y in zip(scores, labels, strict=True) if not y])
    difference = positive[:, None] - negative[None, :]
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def calibration_error(labels: Sequence[bool], chances: Sequence[float]) -> float:
    """Expected calibration error over ten bins of equal width."""
    y, p = np.array(labels, float), np.array(chances)
    bins = np.minimum((p * 10).astype(int), 9)
    return float(sum((bins == b).mean() * abs(y[bins == b].mean() - p[bins == b].mean()) for b in set(bins.tolist())))


def curve(name: str, labels: Sequence[bool], chances: Sequence[float]) -> Figures:
    """The calibration curve: what share was true where the reader said about so much."""
    y, p = np.array(labels, float), np.array(chances)
    bins = np.minimum((p * 10).astype(int), 9)
    return {
        f"{name} said {p[bins == b].mean():.2f} ({(bins == b).sum()} rows), true": float(y[bins == b].mean())
        for b in range(10)
        if (bins == b).any()
    }


MEASURES: dict[str, Callable[[Reader, Path, int], Figures]] = {
    "speed": speed, "squad2": squad2, "off_topic": off_topic, "clapnq": clapnq, "wice": wice,
    "attributionbench": attributionbench,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, default=MODELS)
    parser.add_argument("--rows", type=int, default=0, help="so many rows of each set; 0 takes all")
    parser.add_argument("--only", default=",".join(MEASURES))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := [name for name in chosen if name not in MEASURES]:
        parser.error(f"--only: there is no {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    for needed in (options.data / "dev", options.model):
        if not needed.is_dir():
            parser.error(f"there is no folder {str(needed)!r}")
    reader, figures = Reader(options.model), Figures()
    for name in chosen:
        began = time.perf_counter()
        for measure, value in MEASURES[name](reader, options.data, options.rows).items():
            figures[measure] = round(value, 4)
            sign, aim = AIMS.get(measure, ("", 0.0))
            met = {">=": value >= aim, "<=": value <= aim, "<": value < aim}.get(sign)
            verdict = "" if met is None else f"aim {sign} {aim:g}: {'reached' if met else 'missed'}"
            print(f"{measure:50} {value:9.3f}  {verdict}", flush=True)
        print(f"{name} took {time.perf_counter() - began:.0f} s", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
