"""Teaches the student what it needs to judge claims strictly: a small addition to each layer behind its exit.

    python training/adapt.py DATA STUDENT OUTPUT [--before STRICT_NPZ] [--teacher TEACHER [--said FILE]]

DATA is the file of choose.py (`--claims`), STUDENT the weights of train.py or recover.py. They stay as they are, so
that nothing changes for questions, nor for claims as raters of public sets judge them: for a strict judgement
`down @ up` is added to the weights of each linear layer, with heads of its own. What was added before (STRICT_NPZ, a
shipped file) is where it begins. A teacher's opinion of every claim is learnt beside the labels; what it said is kept
in FILE, and not asked for again where FILE is there.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from batches import Batch, Dataset
from encoder import CrossEncoder, Outputs, load
from held import auroc
from safetensors.torch import save_file
from torch import Tensor
from train import binary, corrected, fused, over_passage, words_loss

from chapterverse.reading.weights import unpacked

PARTS = ("qkv", "mix", "widen", "narrow")
HEADS = ("support_head.weight", "support_head.bias")
TURNS = {
    "written draft": 1.0, "written source": 1.0, "written pair": 1.0, "written": 0.4, "written joined": 0.4,
    "retold": 0.4, "written claim near": 0.15, "answer": 0.1, "sentence": 0.1,
}  # fmt: skip
"""How often an epoch shows a claim of each kind; of what comes less than once, another share each time."""
JUDGED = 1
"""The logit of the head that judges strictly."""
STAY = 8
"""Every so many steps it is compared, in what it finds evident, with what it was: that chooses the sentences that a
claim is read beside once more."""
STAY_WEIGHT = 2.4
WARM_UP = 30
HELD = {
    "written draft": 1500,
    "written source": 600,
    "written pair": 600,
    "written": 600,
}
"""Held-out rows of a kind, at most, that are read from time to time."""


class Added(nn.Module):
    """A linear layer that stays as it is, with an addition of low rank."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base, self.on = base, True
        self.down = nn.Parameter(torch.randn(base.in_features, rank) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(rank, base.out_features))

    @property
    def weight(self) -> Tensor:
        return self.base.weight + (self.down @ self.up).T if self.on else self.base.weight

    @property
    def bias(self) -> Tensor:
        return self.base.bias

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


@dataclass
class Said:
    """What a teacher says of each claim, strictly, and which of its words are borne out."""

    support: Tensor
    tokens: Tensor

    @classmethod
    @torch.no_grad()
    def of(cls, data: Dataset, path: Path, rows: np.ndarray, size: int = 512) -> Said:
        teacher = fused(load("teacher", path), data.device == "cuda").to(data.device).eval()
        said = cls(torch.zeros(len(data.table)), torch.zeros(len(data.flat), dtype=torch.float16))
        said = cls(said.support.to(data.device), said.tokens.to(data.device))
        rows = rows[np.argsort(data.lengths[rows], kind="stable")]
        for begin in range(0, len(rows), size):
            batch = data.batch(rows[begin : begin + size])
            with data.autocast():
                out = teacher(batch.ids, batch.segments, batch.mask)
            said.support[batch.rows] = out.support[:, JUDGED].float()
            said.tokens[batch.source[batch.query]] = out.tokens[..., 2][batch.query].half()
        return said


class Learner:
    """One run of so many seconds, with a rate that rises at once and falls like a cosine."""

    def __init__(self, data: Dataset, options: argparse.Namespace) -> None:
        self.data, self.options = data, options
        self.model = load("student", options.student, options.dropout).to(options.device)
        self.added = adapted(self.model, options.rank)
        if options.before:
            self.go_on(unpacked(options.before.read_bytes()))
        self.model.to(options.device)
        self.said = self.asked() if options.teacher else None
        additions = [value for one in self.added.values() for value in (one.down, one.up)]
        groups = [
            {"params": additions, "share": 1.0},
            {"params": [*self.model.support_head.parameters()], "share": 0.05},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=options.rate, weight_decay=0.0, betas=(0.9, 0.98))

    def go_on(self, before: dict[str, np.ndarray]) -> None:
        """Begin with what was added before; ranks that it does not have are new."""
        with torch.no_grad():
            for name, one in self.added.items():
                down, up = before[f"{name}.down"] * before[f"{name}.scale"], before[f"{name}.up"].astype(np.float32)
                even = np.sqrt(np.linalg.norm(up, axis=1) / np.linalg.norm(down, axis=0).clip(1e-12))
                one.down[:, : len(even)] = torch.from_numpy(down * even)
                one.up[: len(even)] = torch.from_numpy(up / even[:, None])
            for name in HEADS:
                value = torch.from_numpy(before[name])
                self.model.get_parameter(name).copy_(value.T if name.endswith("weight") else value)

    def asked(self) -> Said:
        data, options = self.data, self.options
        if options.said and options.said.exists():
            return Said(*(value.to(options.device) for value in torch.load(options.said)))
        began, rows = time.time(), data.select(held=False, trusted=False)
        said = Said.of(data, options.teacher, rows[data.table["supported"][rows] >= 0])
        print(f"the teacher has spoken in {time.time() - began:.0f} s", flush=True)
        if options.said:
            torch.save((said.support.cpu(), said.tokens.cpu()), options.said.with_suffix(".part"))
            options.said.with_suffix(".part").rename(options.said)
        return said

    def run(self) -> None:
        options, spent, step, seen, shown = self.options, 0.0, 0, 0, 0.0
        print(self.held(), flush=True)
        self.model.train()
        began = time.time()
        for rows in self.batches():
            done = spent / options.seconds
            for layer in self.model.layers:
                layer.rounds = done >= options.rounded
            pace = min(1.0, step / WARM_UP) * (0.01 + 0.495 * (1 + math.cos(math.pi * min(1.0, done))))
            for group in self.optimizer.param_groups:
                group["lr"] = options.rate * group["share"] * pace
            loss = self.step(self.data.batch(rows), stay=step % STAY == 0)
            step, seen = step + 1, seen + len(rows)
            if step % 20 == 0:
                loss.item()  # waits for the device
            spent = time.time() - began
            if spent >= options.seconds:
                break
            if spent - shown >= options.every:
                shown = spent
                print(f"{spent:.0f} s, step {step}, {seen} claims, loss {loss.item():.3f}", self.held(), flush=True)
                self.save()
                began = time.time() - spent
        self.save()
        print(f"{step} steps, {seen} claims", self.held(), flush=True)

    def step(self, batch: Batch, stay: bool) -> Tensor:
        with self.data.autocast():
            out = self.model(batch.ids, batch.segments, batch.mask)
            loss = claim_loss(out, batch)
            if self.said:
                loss = (loss + taught_loss(out, batch, self.said)) / 2
            if stay:
                loss = loss + STAY_WEIGHT * self.moved(out, batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()

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
        """Batches of similar length, so many turns for each kind."""
        data, draw = self.data, np.random.default_rng(self.options.seed)
        rows = data.select(held=False, trusted=self.said is None)
        rows = rows[data.table["supported"][rows] >= 0]
        turns = np.array([TURNS.get(kind, 0.0) for kind in data.kinds])[data.table["kind"][rows]]
        size = self.options.batch
        while True:
            chosen = draw.permutation(np.repeat(rows, (turns + draw.random(len(rows))).astype(int)))
            for begin in range(0, len(chosen), 64 * size):
                part = chosen[begin : begin + 64 * size]
                part = part[np.argsort(data.lengths[part], kind="stable")]
                cut = [part[i : i + size] for i in range(0, len(part), size)]
                yield from (cut[i] for i in draw.permutation(len(cut)))

    @torch.no_grad()
    def held(self) -> dict[str, float]:
        """How well held-out claims of each kind are told apart."""
        data, found = self.data, {}
        self.model.eval()
        every = data.select(held=True, trusted=True)
        for kind, count in HELD.items():
            rows = data.of_kinds(every, {kind} & set(data.kinds)) & (data.table["supported"][every] >= 0)
            rows = np.random.default_rng(1).permutation(every[rows])[:count]
            rows = rows[np.argsort(data.lengths[rows], kind="stable")]
            scores = []
            for begin in range(0, len(rows), 128):
                batch = data.batch(rows[begin : begin + 128])
                with data.autocast():
                    support = self.model(batch.ids, batch.segments, batch.mask).support[:, JUDGED]
                scores.append(support.float().cpu())
            if scores:
                found[kind] = round(auroc(data.table["supported"][rows], torch.cat(scores).numpy()), 4)
        self.model.train()
        return found

    def save(self) -> None:
        weights = {f"{name}.{key}": getattr(one, key) for name, one in self.added.items() for key in ("down", "up")}
        weights |= {name: self.model.get_parameter(name) for name in HEADS}
        save_file({name: value.detach().cpu().contiguous() for name, value in weights.items()}, self.options.output)


def claim_loss(out: Outputs, batch: Batch) -> Tensor:
    """Whether the claim is borne out, and which of its words are not."""
    support = binary(out.support[:, JUDGED], batch.supported.float()) * batch.judged[:, JUDGED]
    return ((support + 0.4 * words_loss(out, batch) * batch.heard) * batch.weight).mean()


def taught_loss(out: Outputs, batch: Batch, said: Said) -> Tensor:
    """What the teacher says of a claim and of its words; where it errs in what was written by hand, the label."""
    target, _ = corrected(said.support[batch.rows].sigmoid(), batch.supported, batch.sure)
    support = binary(out.support[:, JUDGED], target)
    heard = binary(out.tokens[..., 2], said.tokens[batch.source].float().sigmoid()) * batch.query
    words = heard.sum(1) / batch.query.sum(1).clamp(min=1) * batch.judged[:, JUDGED]
    return (support + 0.4 * words).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("student", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--before", type=Path, help="the strict.npz to go on from")
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--said", type=Path, help="where to keep what the teacher says of the claims")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument(
        "--rounded", type=float, default=1.0, help="from this share of the time on, products are rounded as in files"
    )
    parser.add_argument("--seconds", type=float, default=450, help="of learning; measuring comes on top")
    parser.add_argument("--every", type=float, default=100, help="seconds after which it is measured and kept")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    data = Dataset(options.data, options.device)
    print(f"{len(data.table)} rows", flush=True)
    Learner(data, options).run()


if __name__ == "__main__":
    main()
