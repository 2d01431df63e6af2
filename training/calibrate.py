"""Fits the reader's probabilities on held-out rows and writes them into the manifest of a model folder.

    python training/calibrate.py HELD_JSONL MODEL_FOLDER [--claims]

`--claims` fits the curves of claims alone, after adapt.py; those of questions stay. From where to answer is for
`operating_point.py` to say, by whole books.

Every kind of row weighs as much as its opposite: half of the answerability rows are answerable, half of the
claims of each source are supported. HELD_JSONL is the file of prepare.py.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chapterverse.reading.calibrate import features
from chapterverse.reading.reader import WINDOWS, Reader
from chapterverse.reading.runtime import MANIFEST, Runtime

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
ANY = {
    "question", "near", "cut", "claim", "padded", "answer", "sentence",
    "written", "written pair", "written draft", "written source",
}  # fmt: skip
KINDS = {"squad2": {"question"}}
"""SQuAD 2.0 has unanswerable questions of its own; the other sources borrow theirs from neighbouring passages."""
ROWS = {"squad2": 500, "written": 500}
"""Rows taken of a source and label, where that is not 200."""
TOGETHER = 32

Floats = NDArray[np.float64]
Row = dict[str, Any]


@dataclass(frozen=True)
class Look:
    """What the model says of the most promising window of a row, and whether the row's label is yes."""

    label: bool
    answer: float
    support: float
    early: float


def choose(rows: list[Row], label: str, sources: set[str]) -> list[Row]:
    """Equally many rows of either label from each source; claims made from passages count as one source."""
    groups: dict[tuple[str, bool], list[Row]] = defaultdict(list)
    for row in rows:
        if row["kind"] in ("written", "written pair", "written draft"):
            name = row["kind"]
        else:
            name = row["source"] if row["source"] in sources else "passage" if label == "supported" else None
        if name and row[label] is not None and row["weight"] >= 0.5 and row["kind"] in KINDS.get(name, ANY):
            groups[name, row[label]].append(row)
    rng, chosen = random.Random(3), []
    for name in sorted({name for name, _ in groups}):
        both = [groups[name, True], groups[name, False]]
        size = min(ROWS.get(name, 200), *map(len, both))
        chosen += [row for group in both for row in rng.sample(group, size)]
    return chosen


def off_topic(rows: list[Row]) -> list[Row]:
    """Questions with the passage that answers them, and as many with one of another article."""
    asked = [row for row in rows if row["source"] in ASKED]
    strange = [row for row in asked if row["kind"] == "stranger"]
    own = [row for row in asked if row["kind"] == "question" and row["answerable"]]
    size = min(len(strange), len(own), 300)
    return [row for group in (own, strange) for row in random.Random(4).sample(group, size)]


def looks(runtime: Runtime, rows: list[Row], label: str, logit: str) -> Iterator[Look]:
    """One look for each row that has a passage, at the window with the highest such logit.

    Many rows at a time, so that every core is busy.
    """
    for begin in range(0, len(rows), TOGETHER):
        part = rows[begin : begin + TOGETHER]
        windows = [list(islice(runtime.windows(row["query"], shown(row)), WINDOWS)) for row in part]
        glances = runtime.glance([window for one in windows for window in one])
        pairs = iter(zip(glances, runtime.finish(glances), strict=True))
        for row, one in zip(part, windows, strict=True):
            found = [
                Look(row[label], logits.answer, logits.support, glance.answer)
                for glance, logits in islice(pairs, len(one))
            ]
            if found:
                yield max(found, key=attrgetter(logit))


def shown(row: Row) -> str:
    """The passage, without the sentence that was cut out of it."""
    context: str = row["context"]
    return context[: row["cut"][0]] + context[row["cut"][1] :] if row["cut"] else context


def citing(reader: Reader, rows: list[Row]) -> list[float]:
    """The curve of what to quote: fitted on questions whose answer takes several sentences, and as many others."""
    written = [row for row in rows if row["kind"] == "written" and row["answerable"] and row["evidence"]]
    several = [row for row in written if row["answer"] is None]
    single = random.Random(7).sample([row for row in written if row["answer"]], len(several))
    told, gold = [], []
    for row in several + single:
        evidence = reader.read(row["query"], [row["context"]])[0].evidence
        told += features([sentence.score for sentence in evidence])
        gold += [float(any(s.start < b and s.end > a for a, b in row["evidence"])) for s in evidence]
    print(f"{len(several)} questions whose answer takes several sentences, and as many others")
    return rounded(fit(np.array(told), np.array(gold)))


def fit(x: Floats, y: Floats) -> Floats:
    """Logistic regression by Newton's method, with a touch of ridge: a slope for each column, and the bias."""
    x = np.column_stack([x, np.ones(len(x))])
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(len(w))
        w -= np.linalg.solve(hessian, x.T @ (p - y) + 1e-3 * w)
    return w


def curve(seen: list[Look], name: str) -> list[float]:
    """The slope and the bias of a curve over the named logit."""
    x = np.array([getattr(look, name) for look in seen])
    return rounded(fit(x, np.array([float(look.label) for look in seen])))


def rounded(weights: Floats) -> list[float]:
    return [round(float(c), 5) for c in weights]


def of_questions(runtime: Runtime, rows: list[Row]) -> dict[str, Any]:
    """The curves of questions, and how many rows they were fitted on; what to quote is fitted with them in place."""
    asked = list(looks(runtime, choose(rows, "answerable", ASKED), "answerable", "answer"))
    strange = list(looks(runtime, off_topic(rows), "answerable", "answer"))
    return {
        "answer": curve(asked, "answer"),
        "relevance": curve(strange, "answer"),
        "early_answer": curve(asked, "early"),
        "early_relevance": curve(strange, "early"),
        "support": [1.0, 0.0],
        "strict": [1.0, 0.0],
        "answer_from": 0.5,
        "cite": [1.0, 0.0, 0.0, 0.0],
        "rows": {"questions": len(asked), "off-topic": len(strange)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("held", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--claims", action="store_true", help="the curves of claims alone")
    options = parser.parse_args()
    with options.held.open() as lines:
        rows = [json.loads(line) for line in lines]
    runtime, path = Runtime(options.folder), options.folder / MANIFEST
    manifest = json.loads(path.read_text())
    fitted = manifest["calibration"] if options.claims else of_questions(runtime, rows)
    public, written = (
        [row for row in rows if row["kind"].startswith("written") == by_hand] for by_hand in (False, True)
    )
    claimed = list(looks(runtime, choose(public, "supported", CLEAN), "supported", "support"))
    fitted["support"] = curve(claimed, "support")
    manifest["calibration"] = fitted
    path.write_text(json.dumps(manifest, indent=2) + "\n")
    reader = Reader(options.folder)  # by the curves just written; the rest is fitted on what it makes of them
    claims = choose(written, "supported", set())
    strict = np.array([reader.strictness(row["query"], [shown(row)])[0] for row in claims])
    fitted["strict"] = rounded(fit(strict, np.array([float(row["supported"]) for row in claims])))
    fitted["rows"] |= {"claims": len(claimed), "written": len(claims)}
    if not options.claims:
        fitted["cite"] = citing(reader, rows)
    path.write_text(json.dumps(manifest, indent=2) + "\n")
    print(json.dumps(fitted, indent=1))


if __name__ == "__main__":
    main()
