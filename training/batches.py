"""Prepared examples on the training device, and batches of similar length made there."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

CLS, SEP = 101, 102
STEP = 16  # batch widths are multiples of this, so that few kernel shapes occur
TURNS = {
    "written": 2.0, "written pair": 3.0, "written draft": 4.0, "written source": 4.0, "written near": 0.8,
    "written joined": 0.7, "question": 1.5, "claim": 1.6, "sentence": 0.7, "edited": 0.6, "table": 0.4,
}  # fmt: skip
"""How often an epoch shows the rows of a kind, where that is not once."""
SEVERAL = 3.0
"""How much more often than others it shows questions whose answer takes several sentences: they are few."""
CLAIMS = {"claim", "padded", "answer", "sentence"}
"""The kinds of claims that were not written by hand."""
RATED = {*CLAIMS, "written source"}
"""The kinds of claims that raters of public sets would judge as they are labelled."""
STRICT = {
    "written", "written pair", "written draft", "written source", "written joined", "retold", "written claim near",
    "table", "answer", "sentence",
}  # fmt: skip
"""The kinds of claims that are wrong if one thing in them is."""


@dataclass
class Batch:
    """One batch; positions count from [CLS], and -1 marks a label that is not known."""

    rows: Tensor
    source: Tensor
    """Where each token stands in the flat tensor of all sequences."""
    ids: Tensor
    segments: Tensor
    mask: Tensor
    passage: Tensor
    start: Tensor
    end: Tensor
    evidence: Tensor
    """The tokens of the sentences that the answer or the claim rests on."""
    marked: Tensor
    """Whether these are known."""
    query: Tensor
    wrong: Tensor
    """The words of a claim that the passage does not bear out."""
    heard: Tensor
    """Whether these are known."""
    answerable: Tensor
    supported: Tensor
    judged: Tensor
    """Which of the two judgements of a claim the row teaches: as raters, strictly."""
    weight: Tensor
    own: Tensor
    """Made for the student: the teacher never saw such a row, and is not asked."""
    written: Tensor
    """Written by hand: its label is to be trusted."""
    sure: Tensor
    """Made of what was written by hand: its label goes before what a teacher says."""
    asked: int
    """The longest query with its two marks; known without waiting for the device."""


class Dataset:
    """All sequences as one flat tensor, so that a batch is a single gather."""

    def __init__(self, path: Path, device: str, limit: int = 0) -> None:
        file = np.load(path)
        table, evidence, wrong = file["table"], file["evidence"], file["wrong"]
        if limit:
            chosen = np.random.default_rng(0).permutation(len(table))[:limit]
            evidence, wrong = (renumbered(ranges, chosen, len(table)) for ranges in (evidence, wrong))
            table = table[chosen]
        self.kinds, self.sources = list(file["kinds"]), list(file["sources"])
        self.table, self.device = table, device
        flat, self.lengths, self.query_lengths = _sequences(table, file)
        self.flat = torch.from_numpy(flat.astype(np.int32)).to(device)
        offsets = np.cumsum(np.concatenate([[0], self.lengths[:-1]]))
        columns = {"offset": offsets, "length": self.lengths, "query": self.query_lengths}
        shift = self.query_lengths + 2 - table["left0"]
        for name, back in (("start", 0), ("end", 1)):
            columns[name] = np.where(table[name] >= 0, table[name] + shift - back, -1)
        columns |= {name: table[name] for name in ("answerable", "supported", "heard")}
        self.evidence = _covered(evidence, offsets + shift, len(flat)).to(device)
        self.wrong = _covered(wrong, offsets + 1, len(flat)).to(device)
        columns["marked"] = np.isin(np.arange(len(table)), evidence[:, 0]) | (table["answerable"] == 0)
        self.columns = {k: torch.from_numpy(v.astype(np.int64)).to(device) for k, v in columns.items()}
        kinds = np.array(self.kinds)[table["kind"]]
        judged = np.stack([np.isin(kinds, sorted(RATED)), np.isin(kinds, sorted(STRICT))], 1)
        self.judged = torch.from_numpy(judged & (table["supported"] >= 0)[:, None]).to(device)
        self.several = several(file, table)
        self.own = torch.from_numpy(kinds == "table").to(device)
        by_hand = np.isin(kinds, ("written", "written pair", "written draft", "written source"))
        self.written = torch.from_numpy(by_hand).to(device)
        sure = np.char.startswith(kinds, "written") & (table["weight"] > 0)
        self.sure = torch.from_numpy(sure).to(device)
        self.weight = torch.from_numpy(table["weight"].astype(np.float32)).to(device)

    def autocast(self) -> torch.autocast:
        """bfloat16 where it is fast: processors without its instructions crawl."""
        fast = self.device == "cuda" or torch.cpu._is_amx_tile_supported()
        return torch.autocast(self.device, torch.bfloat16, enabled=fast)

    def select(self, held: bool, trusted: bool) -> np.ndarray:
        """Row numbers of one split; `trusted` leaves out rows whose label is no more than a guess."""
        keep = (self.table["held"] == held) & (self.lengths > 8)
        return np.flatnonzero(keep & (self.table["weight"] > 0) if trusted else keep)

    def of_kinds(self, rows: np.ndarray, kinds: set[str]) -> np.ndarray:
        """Which of these rows are of such a kind."""
        codes = [self.kinds.index(kind) for kind in kinds]
        return np.isin(self.table["kind"][rows], codes)

    def batch(self, rows: np.ndarray) -> Batch:
        index = torch.from_numpy(rows).to(self.device, non_blocking=True)
        column = {k: v[index] for k, v in self.columns.items()}
        width = -(-int(self.lengths[rows].max()) // STEP) * STEP
        place = torch.arange(width, device=self.device)[None]
        inside = place < column["length"][:, None]
        source = (column["offset"][:, None] + place).clamp(max=len(self.flat) - 1)
        ids = torch.where(inside, self.flat[source].long(), 0)
        segments = (place >= column["query"][:, None] + 2) & inside
        passage = segments & (place < column["length"][:, None] - 1)
        query = (place > 0) & (place <= column["query"][:, None])
        labels = {k: column[k] for k in ("start", "end", "answerable", "supported", "marked", "heard")}
        more = {
            "evidence": self.evidence[source] & passage,
            "query": query,
            "wrong": self.wrong[source] & query,
            "judged": self.judged[index],
            "weight": self.weight[index],
            "own": self.own[index],
            "written": self.written[index],
            "sure": self.sure[index],
            "asked": int(self.query_lengths[rows].max()) + 2,
        }
        return Batch(index, source, ids, segments.long(), inside, passage, **labels, **more)

    def epoch(
        self, rows: np.ndarray, size: int, rng: random.Random, others: float, claims: float
    ) -> Iterator[np.ndarray]:
        """Shuffled batches whose members have similar lengths.

        `others` says how often questions that were not written by hand come, `claims` how often such claims do.
        """
        numbers = np.random.default_rng(rng.randrange(2**32))
        turns = [
            TURNS.get(kind, 1.0) * (1.0 if kind.startswith("written") else claims if kind in CLAIMS else others)
            for kind in self.kinds
        ]
        turns = np.array(turns)[self.table["kind"][rows]] * np.where(self.several[rows], SEVERAL, 1.0)
        order = numbers.permutation(np.repeat(rows, (turns + numbers.random(len(rows))).astype(int)))
        batches = []
        for begin in range(0, len(order), size * 64):
            chunk = order[begin : begin + size * 64]
            chunk = chunk[np.argsort(self.lengths[chunk], kind="stable")]
            batches += [chunk[i : i + size] for i in range(0, len(chunk), size)]
        rng.shuffle(batches)
        yield from batches


def several(file: np.lib.npyio.NpzFile, table: np.ndarray) -> np.ndarray:
    """Which rows are questions whose answer takes several sentences: no span was marked, for none would do."""
    return (file["kinds"][table["kind"]] == "written") & (table["answerable"] == 1) & (table["start"] < 0)


def _covered(ranges: np.ndarray, begins: np.ndarray, count: int) -> Tensor:
    """Which tokens of the flat tensor lie in ranges, each of which counts from where its row begins."""
    places = ranges[:, 1:] + begins[ranges[:, 0], None]
    edges = np.bincount(places[:, 0], minlength=count + 1) - np.bincount(places[:, 1], minlength=count + 1)
    return torch.from_numpy(np.cumsum(edges)[:-1] > 0)


def renumbered(evidence: np.ndarray, chosen: np.ndarray, count: int) -> np.ndarray:
    """The evidence of the chosen rows, by their new numbers."""
    number = np.full(count, -1)
    number[chosen] = np.arange(len(chosen))
    kept = evidence[number[evidence[:, 0]] >= 0]
    return np.column_stack([number[kept[:, 0]], kept[:, 1:]])


def _sequences(table: np.ndarray, file: np.lib.npyio.NpzFile) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    queries, query_bounds = file["query_ids"], file["query_bounds"]
    contexts, context_bounds = file["context_ids"], file["context_bounds"]
    cls, sep = np.array([CLS], np.uint16), np.array([SEP], np.uint16)
    pieces, lengths, query_lengths = [], np.empty(len(table), np.int64), np.empty(len(table), np.int64)
    for i, row in enumerate(table):
        query = queries[query_bounds[row["query"]] : query_bounds[row["query"] + 1]]
        base = context_bounds[row["context"]]
        left = contexts[base + row["left0"] : base + row["left1"]]
        right = contexts[base + row["right0"] : base + row["right1"]]
        pieces += [cls, query, sep, left, right, sep]
        query_lengths[i], lengths[i] = len(query), len(query) + len(left) + len(right) + 3
    return np.concatenate(pieces), lengths, query_lengths
