"""Fits the reader's probabilities on held-out rows and writes them into the manifest of a model folder.

    python training/calibrate.py HELD_JSONL MODEL_FOLDER

Every kind of row weighs as much as its opposite: half of the answerability rows are answerable, half of the
claims of each source are supported. HELD_JSONL is the file of prepare.py.
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chapterverse.reading.reader import best_span
from chapterverse.reading.runtime import Runtime

# Questions that people wrote about one passage, without looking for an opinion in it.
ASKED = {"squad2", "squad11", "shift_new_wiki", "nq", "fairytale", "covidqa"}
# Sources of claims whose labels are clean.
CLEAN = {
    "docnli_FEVER-NLI",
    "docnli_MNLI",
    "mnli_pos",
    "mnli_neg",
    "paws",
    "summedits",
    "foolmetwice",
    "fever_sym",
    "scitail",
}
ROWS = 300
"""Rows taken of each source and label."""
LOST = 0.005
"""The share of answerable passages that may be passed over on the early look."""

Floats = NDArray[np.float64]
Row = dict[str, Any]


def choose(rows: list[Row], label: str, sources: set[str]) -> list[Row]:
    """Equally many rows of either label from each source."""
    groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in rows:
        if row[label] is not None and row["kind"] != "edited" and row["weight"] >= 0.5:
            name = row["source"] if row["source"] in sources else "passage" if label == "supported" else ""
            groups[name, row[label]].append(row)
    rng, chosen = random.Random(3), []
    for name in sorted({name for name, _ in groups if name}):
        both = [groups[name, True], groups[name, False]]
        size = min(ROWS, *map(len, both)) if all(both) else 0
        chosen += [row for group in both for row in rng.sample(group, size)]
    return chosen


def features(runtime: Runtime, row: Row) -> list[list[float]]:
    """Margin, answer, support and the early answer logit of each window."""
    context = row["context"]
    if row["cut"]:
        context = context[: row["cut"][0]] + context[row["cut"][1] :]
    found = []
    for window in list(runtime.windows(row["query"], context))[:8]:
        glance = runtime.glance(window)
        logits = runtime.finish(glance)
        margin = best_span(logits) - logits.null
        found.append([margin, logits.answer, logits.support, glance.answer])
    return found


def fit(x: Floats, y: Floats) -> Floats:
    """Logistic regression by Newton's method, with a touch of ridge; the last coefficient is the bias."""
    x = np.column_stack([x, np.ones(len(x))])
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(len(w))
        w -= np.linalg.solve(hessian, x.T @ (p - y) + 1e-3 * w)
    return w


def curve(rows: list[Row], values: list[list[list[float]]], columns: list[int], label: str) -> list[float]:
    """A curve over `columns` of the most promising window of each row."""
    best = [max(v, key=lambda f: sum(f[c] for c in columns)) for v in values]
    x = np.array([[f[c] for c in columns] for f in best])
    return [round(float(c), 5) for c in fit(x, np.array([float(row[label]) for row in rows]))]


def main(held: Path, folder: Path) -> None:
    with open(held) as lines:
        rows = [json.loads(line) for line in lines]
    runtime = Runtime(folder)
    asked, claimed = choose(rows, "answerable", ASKED), choose(rows, "supported", CLEAN)
    on_asked = [features(runtime, row) for row in asked]
    on_claimed = [features(runtime, row) for row in claimed]
    early = curve(asked, on_asked, [3], "answerable")
    answered = [max(f[3] for f in v) for row, v in zip(asked, on_asked, strict=True) if row["answerable"]]
    skip = 1 / (1 + np.exp(-(early[0] * np.quantile(answered, LOST) + early[1])))
    path = folder / "reader.json"
    manifest = json.loads(path.read_text())
    manifest["calibration"] = {
        "answer": curve(asked, on_asked, [0, 1], "answerable"),
        "support": curve(claimed, on_claimed, [2], "supported"),
        "early_answer": early,
        "skip": round(float(skip), 5),
        "rows": {"questions": len(asked), "claims": len(claimed)},
    }
    path.write_text(json.dumps(manifest, indent=2) + "\n")
    print(json.dumps(manifest["calibration"], indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
