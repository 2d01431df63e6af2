"""Chooses, at random, the pairs of one training run: a share of each kind.

    python training/choose.py prepared/examples.npz chosen.npz [--earlier EARLIER/examples.npz --again SHARE] [--claims]

The student that goes on from an earlier one has seen most pairs often; what is new to it, the pages of books, comes
whole, and of the rest so much that an epoch stays short. Of pairs that an earlier file has, text for text, only SHARE
of what would come does. A teacher of claims (`--claims`) meets a few questions only.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from batches import renumbered, several

SHARES = {
    "written": 0.65, "written thin": 0.15, "written near": 0.2, "written edited": 0.1, "written claim near": 0.3,
    "written sibling": 1.0, "written joined": 0.8, "written request": 1.0, "question": 0.65,
    "answerability": 0.65, "claim": 1.0, "padded": 0.5, "answer": 0.4, "sentence": 0.3, "edited": 0.25, "near": 0.3,
    "cut": 0.3, "stranger": 0.4, "table": 0.2,
    "retold": 0.9, "written pair": 1.0, "written draft": 1.0, "written source": 1.0,
}  # fmt: skip
BOOKS = {"written thin": 0.35, "written edited": 0.25, "written near": 0.7, "written claim near": 0.6}
"""The shares of what was written about pages of books, where it is not all."""
CLAIMS = {
    "retold": 0.5, "written pair": 1.0, "written draft": 1.0, "written source": 1.0, "written": 0.5,
    "written joined": 0.5, "written claim near": 0.25, "claim": 1.0, "padded": 0.7, "answer": 0.3, "sentence": 0.25,
}  # fmt: skip
"""The shares of a run on claims, of books as of the rest; of all else FEW."""
FEW = 0.03
SEED = 10
"""Another one for another run: of what was left out, some comes."""
HELD = 0.07
"""The share of the held-out pairs, which only measure; …"""
MEASURED = ("written draft", "written source", "written pair")
"""… of these, which are few, all."""
TEXTS = ("query", "context")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("prepared", type=Path)
    parser.add_argument("chosen", type=Path)
    parser.add_argument("--earlier", type=Path, help="a file of prepare.py that was learnt before")
    parser.add_argument("--again", type=float, default=1.0, help="the share of what it has too")
    parser.add_argument("--claims", action="store_true", help="for a teacher of claims")
    options = parser.parse_args()
    file = np.load(options.prepared)
    table, rng = file["table"], np.random.default_rng(SEED)
    kinds, sources = file["kinds"][table["kind"]], file["sources"][table["source"]]
    if options.claims:
        share = np.where(table["supported"] >= 0, [CLAIMS.get(kind, FEW) for kind in kinds], FEW)
    else:
        share = np.array([SHARES[kind] for kind in kinds])
        share = np.where(sources == "written book", [BOOKS.get(kind, 1.0) for kind in kinds], share)
        share = np.where(several(file, table), 1.0, share)
    if options.earlier:
        known = np.all([_known(name, file, np.load(options.earlier))[table[name]] for name in TEXTS], axis=0)
        share *= np.where(known, options.again, 1.0)
    held = np.where(np.isin(kinds, MEASURED), 1.0, HELD)
    keep = np.flatnonzero(rng.random(len(table)) < np.where(table["held"] == 1, held, share))
    rows, texts = table[keep].copy(), {}
    for name in TEXTS:
        ids, bounds = file[f"{name}_ids"], file[f"{name}_bounds"]
        used, rows[name] = np.unique(rows[name], return_inverse=True)
        texts[f"{name}_ids"] = np.concatenate([ids[bounds[i] : bounds[i + 1]] for i in used])
        texts[f"{name}_bounds"] = np.cumsum([0, *(bounds[used + 1] - bounds[used])])
    ranges = {name: renumbered(file[name], keep, len(table)).astype(np.int32) for name in ("evidence", "wrong")}
    names = {name: file[name] for name in ("kinds", "sources")}
    np.savez_compressed(options.chosen, table=rows, **ranges, **names, **texts)
    print(len(rows), Counter(kinds[keep].tolist()), "of books:", int((sources[keep] == "written book").sum()))


def _known(name: str, file: np.lib.npyio.NpzFile, earlier: np.lib.npyio.NpzFile) -> np.ndarray:
    """Which of a file's texts an earlier one has too."""
    before = set(_texts(name, earlier))
    return np.array([text in before for text in _texts(name, file)])


def _texts(name: str, file: np.lib.npyio.NpzFile) -> Iterator[bytes]:
    ids, bounds = file[f"{name}_ids"], file[f"{name}_bounds"]
    return (ids[first:last].tobytes() for first, last in pairwise(bounds))


if __name__ == "__main__":
    main()
