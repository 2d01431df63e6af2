"""Teaches the student what it needs for claims alone: a small addition to each layer behind its exit.

    python training/adapt.py DATA STUDENT OUTPUT [--rank 16] [--seconds 2700] [--device cpu]

DATA is the file of choose.py (`--claims`), STUDENT the weights of train.py or recover.py. They stay as they are, so
that nothing changes for questions: a claim is read with `down @ up` added to the weights of each linear layer, and with
heads of its own. It takes a few thousand claims to learn much of what one word does, so that two cores are enough.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from batches import Batch, Dataset
from encoder import CrossEncoder, Outputs, load
from held import auroc
from safetensors.torch import save_file
from torch import Tensor
from train import judgement, over_passage, words_loss

PARTS = ("qkv", "mix", "widen", "narrow")
HEADS = ("support_head.weight", "support_head.bias")
TURNS = {
    "written draft": 1.0, "written pair": 0.2, "written": 0.1, "written joined": 0.06, "retold": 0.05, "claim": 0.05,
    "padded": 0.04,
}  # fmt: skip
"""The share of each kind that an epoch shows. More pairs that differ in one word teach these, and cost what is put
freely: with half of all, 0.85 instead of 0.78 of them, but of drafts by strangers 0.90 instead of 0.91."""
STAY = 8
"""Every so many steps it is compared, in what it finds evident, with what it was: that chooses the sentences that a
claim is read beside once more."""
STAY_WEIGHT = 2.4
WARM_UP = 30
HELD = {"written draft": 300, "written pair": 300, "written": 400, "claim": 300}
"""Held-out rows of a kind, at most, that are read from time to time."""


class Added(nn.Module):
    """A linear layer that stays as it is, with an addition of low rank."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base, self.on = base, True
        self.down = nn.Parameter(torch.randn(base.in_features, rank) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(rank, base.out_features))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + x @ self.down @ self.up if self.on else self.base(x)


def adapted(model: CrossEncoder, rank: int) -> dict[str, Added]:
    """Give each layer behind the exit its additions, which alone learn, with the heads; by the layers' names."""
    model.requires_grad_(False)
    found = {}
    for number in range(model.shape.exit_layer, model.shape.layers):
        for part in PARTS:
            added = Added(getattr(model.layers[number], part), rank)
            setattr(model.layers[number], part, added)
            found[f"layers.{number}.{part}"] = added
    model.support_head.requires_grad_(True)
    return found


class Learner:
    """One pass of so many seconds over the claims, with a rate that rises at once and falls like a cosine."""

    def __init__(self, data: Dataset, options: argparse.Namespace) -> None:
        self.data, self.options = data, options
        self.model = load("student", options.student, dropout=0.0).to(options.device)
        self.added = adapted(self.model, options.rank)
        additions = [value for one in self.added.values() for value in (one.down, one.up)]
        groups = [
            {"params": additions, "share": 1.0},
            {"params": [*self.model.support_head.parameters()], "share": 0.05},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=options.rate, weight_decay=0.0, betas=(0.9, 0.98))

    def run(self) -> None:
        options, spent, step, seen, shown = self.options, 0.0, 0, 0, 0.0
        print(self.held(), flush=True)
        for rows in self.batches():
            began = time.time()
            pace = min(1.0, step / WARM_UP) * (0.01 + 0.495 * (1 + math.cos(math.pi * spent / options.seconds)))
            for group in self.optimizer.param_groups:
                group["lr"] = options.rate * group["share"] * pace
            loss = self.step(self.data.batch(rows), stay=step % STAY == 0)
            step, seen, spent = step + 1, seen + len(rows), spent + time.time() - began
            if spent >= options.seconds:
                break
            if spent - shown >= options.every:
                shown = spent
                print(f"{spent:.0f} s, step {step}, {seen} claims, loss {loss:.3f}", self.held(), flush=True)
                self.save()
        self.save()
        print(f"{step} steps, {seen} claims", self.held(), flush=True)

    def step(self, batch: Batch, stay: bool) -> float:
        with self.data.autocast():
            out = self.model(batch.ids, batch.segments, batch.mask)
            loss = claim_loss(out, batch)
            if stay:
                loss = loss + STAY_WEIGHT * self.moved(out, batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def moved(self, out: Outputs, batch: Batch) -> Tensor:
        """How far what it finds evident in the passage is from what it would find without the additions."""
        with torch.no_grad():
            before = self.without(batch).tokens[..., 2].float().sigmoid()
        return over_passage((out.tokens[..., 2].float().sigmoid() - before) ** 2, batch).mean()

    def without(self, batch: Batch) -> Outputs:
        for one in self.added.values():
            one.on = False
        try:
            found: Outputs = self.model(batch.ids, batch.segments, batch.mask)
        finally:
            for one in self.added.values():
                one.on = True
        return found

    def batches(self) -> Iterator[np.ndarray]:
        """Batches of similar length, a share of each kind; another share in every epoch."""
        data, draw = self.data, np.random.default_rng(self.options.seed)
        rows = data.select(held=False, trusted=True)
        rows = rows[data.table["supported"][rows] >= 0]
        share = np.array([TURNS.get(kind, 0.0) for kind in data.kinds])[data.table["kind"][rows]]
        size = self.options.batch
        while True:
            chosen = draw.permutation(rows[draw.random(len(rows)) < share])
            for begin in range(0, len(chosen), 16 * size):
                part = chosen[begin : begin + 16 * size]
                part = part[np.argsort(data.lengths[part], kind="stable")]
                cut = [part[i : i + size] for i in range(0, len(part), size)]
                yield from (cut[i] for i in draw.permutation(len(cut)))

    @torch.no_grad()
    def held(self) -> dict[str, float]:
        """How well held-out claims of each kind are told apart."""
        data, found = self.data, {}
        every = data.select(held=True, trusted=True)
        for kind, count in HELD.items():
            rows = data.of_kinds(every, {kind}) & (data.table["supported"][every] >= 0)
            rows = np.random.default_rng(1).permutation(every[rows])[:count]
            rows = rows[np.argsort(data.lengths[rows], kind="stable")]
            judged = 0 if kind == "claim" else 1
            scores = []
            for begin in range(0, len(rows), 20):
                batch = data.batch(rows[begin : begin + 20])
                with data.autocast():
                    scores.append(self.model(batch.ids, batch.segments, batch.mask).support[:, judged].float().cpu())
            found[kind] = round(auroc(data.table["supported"][rows], torch.cat(scores).numpy()), 4)
        return found

    def save(self) -> None:
        weights = {f"{name}.{key}": getattr(one, key) for name, one in self.added.items() for key in ("down", "up")}
        weights |= {name: self.model.get_parameter(name) for name in HEADS}
        save_file({name: value.detach().cpu().contiguous() for name, value in weights.items()}, self.options.output)


def claim_loss(out: Outputs, batch: Batch) -> Tensor:
    """Whether the claim is borne out, and which of its words are not."""
    support = judgement(out.support, batch.supported[:, None].expand(-1, 2).float(), batch)
    return ((support + 0.4 * words_loss(out, batch) * batch.heard) * batch.weight).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("student", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=2700, help="of learning; measuring comes on top")
    parser.add_argument("--every", type=float, default=900, help="seconds after which it is measured and kept")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    data = Dataset(options.data, options.device)
    print(f"{len(data.table)} rows", flush=True)
    Learner(data, options).run()


if __name__ == "__main__":
    main()
