"""Trains the teacher on the labels, or the student on the teacher.

    python training/train.py teacher DATA BASE OUTPUT --epochs 2 --rate 5e-5
    python training/train.py student DATA BASE OUTPUT --teacher TEACHER --epochs 6 --rate 2e-4

DATA is the file of prepare.py or choose.py, BASE and TEACHER are weights of bases.py or of this script.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from batches import CLAIMS, Batch, Dataset
from encoder import CrossEncoder, Outputs, load, save
from held import measure
from lessons import WIDTH, Lessons
from torch import Tensor

SHUT = -1e4
WARM_UP = 0.06
ROUND = 500
"""Steps after which the weights are kept and the pace is taken anew, of its second half: the first steps compile."""
KEEP = (64, 96, 128, 0)
SKIM = (160, 192, 0)
"""Passage tokens that the student reads to the end, and that it reads on after skimming: one of these for each batch; 0
means all. So the runtime is free to choose."""
MASK = 103
HIDDEN = 0.06
"""Words of a passage that are hidden in half of the student's batches, lest it know the passages by heart."""


def span_logits(out: Outputs, batch: Batch) -> tuple[Tensor, Tensor]:
    """Start and end logits over the passage and [CLS], which stands for "no answer"."""
    open_ = batch.passage.clone()
    open_[:, 0] = True
    tokens = out.tokens.float().masked_fill(~open_[..., None], SHUT)
    return tokens[..., 0], tokens[..., 1]


def label_loss(out: Outputs, batch: Batch) -> Tensor:
    """Spans, answerability, support and evidence against the labels that are known."""
    known = (batch.answerable == 0) | (batch.start >= 0)
    if out.kept is not None:  # an answer that was not read on teaches nothing
        known &= (batch.start < 0) | out.kept.gather(1, batch.start.clamp(min=0)[:, None])[:, 0]
    start, end = span_logits(out, batch)
    zero = torch.zeros_like(batch.start)
    targets = [torch.where(batch.start >= 0, place, zero) for place in (batch.start, batch.end)]
    span = sum(F.cross_entropy(x, t, reduction="none") for x, t in zip((start, end), targets, strict=True)) / 2
    answer = binary(out.answer, batch.answerable.float()) * (batch.answerable >= 0)
    support = judgement(out.support, batch.supported[:, None].expand(-1, 2).float(), batch)
    evidence = over_passage(binary(out.tokens[..., 2], batch.evidence.float()), batch) * batch.marked
    loss = span * known + 0.5 * answer + 0.7 * support + 0.5 * evidence + 0.5 * words_loss(out, batch) * batch.heard
    return loss * batch.weight


def teacher_loss(out: Outputs, wise: Outputs, batch: Batch, matched: Tensor) -> Tensor:
    """The student's outputs against the teacher's, on every pair, labelled or not."""
    answer, wrong = corrected(wise.answer.float().sigmoid(), batch.answerable, batch.sure)
    support, _ = corrected(wise.support.float().sigmoid(), batch.supported[:, None], batch.sure[:, None])
    asked = (batch.answerable >= 0).float()
    span = sum(
        F.kl_div(F.log_softmax(mine, -1), F.log_softmax(theirs, -1), log_target=True, reduction="none").sum(-1)
        for mine, theirs in zip(span_logits(out, batch), span_logits(wise, batch), strict=True)
    )
    heads = binary(out.answer, answer) * asked + judgement(out.support, support, batch)
    assert out.early is not None
    hint = out.early[:, 1:].expand(-1, 2)
    early = binary(out.early[:, 0], answer) * asked + judgement(hint, support, batch)
    marks = wise.tokens[..., 2].float().sigmoid()
    said = binary(out.tokens[..., 2], marks)
    evidence = over_passage(said, batch)
    words = (said * batch.query).sum(1) / batch.query.sum(1).clamp(min=1) * batch.judged[:, 1]
    promise = torch.maximum(torch.maximum(marks, _touched(wise, batch)), batch.evidence.float())
    worth = binary(out.worth, promise)
    worth = worth if out.arrived is None else worth * out.arrived
    worth = over_passage(worth, batch) + (0 if out.skim is None else over_passage(binary(out.skim, promise), batch))
    hidden = 1 - F.cosine_similarity(matched.float(), wise.hidden.float(), dim=-1)
    read = batch.mask if out.kept is None else out.kept
    hidden = (hidden * read).sum(1) / read.sum(1)
    loss = span / 2 * asked * ~wrong + heads + 0.4 * early + 0.5 * (evidence + words) + 0.4 * worth + 0.5 * hidden
    return (loss * ~batch.own).mean()


def corrected(said: Tensor, label: Tensor, sure: Tensor) -> tuple[Tensor, Tensor]:
    """What the teacher says, but for where it errs in something written by hand; and where that is."""
    wrong = sure & (label >= 0) & ((said > 0.5) != (label > 0))
    return torch.where(wrong, 0.1 + 0.8 * label.clamp(min=0), said), wrong


def _touched(wise: Outputs, batch: Batch) -> Tensor:
    """The teacher's chance that the answer begins or ends at each token, if there is one."""
    passage = wise.tokens[..., :2].float().masked_fill(~batch.passage[..., None], SHUT)
    return passage.softmax(1).amax(-1)


def binary(logits: Tensor, target: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits.float(), target, reduction="none")


def judgement(logits: Tensor, target: Tensor, batch: Batch) -> Tensor:
    """The loss of the judgements that a row teaches."""
    return (binary(logits, target) * batch.judged).sum(1) / batch.judged.sum(1).clamp(min=1)


def words_loss(out: Outputs, batch: Batch) -> Tensor:
    """Each word of a claim, borne out or not: those that are not count for as much as those that are.

    What the head of evidence says of the query's words is free to mean this.
    """
    loss, parts = binary(out.tokens[..., 2], 1.0 - batch.wrong.float()), []
    for words in (batch.query & batch.wrong, batch.query & ~batch.wrong):
        parts.append((loss * words).sum(1) / words.sum(1).clamp(min=1))
    return (parts[0] + parts[1]) / 2


def over_passage(values: Tensor, batch: Batch) -> Tensor:
    return (values * batch.passage).sum(1) / batch.passage.sum(1).clamp(min=1)


def fused(model: CrossEncoder, wanted: bool) -> CrossEncoder:
    """The model with the kernels of its layers fused, if that is wanted."""
    for layer in model.layers if wanted else ():
        layer.compile(dynamic=True)
    return model


class Trainer:
    """So many epochs with a linear schedule, or as much of them as a time budget allows, once or in several cycles."""

    def __init__(self, model: CrossEncoder, data: Dataset, options: argparse.Namespace) -> None:
        self.model, self.data, self.options, self.began = model.to(data.device), data, options, time.time()
        self.lessons: Lessons | None = None
        self.rng = random.Random(options.seed)
        self.match = nn.Linear(model.shape.hidden, WIDTH).to(data.device)
        if options.teacher:
            self.lessons, rows = Lessons(data), data.select(held=False, trusted=False)
            claims = data.of_kinds(rows, CLAIMS if options.claims_teacher else set())
            asked = [(path, rows[~claims]) for path in options.teacher]
            for path, of in [*asked, *((path, rows[claims]) for path in options.claims_teacher)]:
                self.lessons.ask(fused(load(options.taught_by, path), options.compile).to(data.device).eval(), of)
            print(f"the teacher has spoken in {time.time() - self.began:.0f} s", flush=True)
        parameters = [*self.model.parameters(), *self.match.parameters()]
        self.optimizer = torch.optim.AdamW(parameters, lr=options.rate, weight_decay=0.01, fused=data.device == "cuda")

    def run(self) -> None:
        """Each cycle goes on from the last, with the rate high again; what each ends with is kept."""
        begin, cycles = time.time() - self.began, self.options.cycles
        for cycle in range(1, cycles + 1):
            output = self.options.output
            output = output.with_stem(f"{output.stem}-{cycle}") if cycle < cycles else output
            self.cycle(begin + (self.options.seconds - begin) * cycle / cycles, output)
            save(self.model, output)

    def cycle(self, seconds: float, output: Path) -> None:
        options, rng = self.options, self.rng
        rows = self.data.select(held=False, trusted=self.lessons is None)
        shares = (options.batch, rng, options.others, options.claims)
        most = total = int(options.epochs * sum(1 for _ in self.data.epoch(rows, *shares)))
        step, mark, recent = 0, time.time(), torch.zeros((), device=self.data.device)
        self.model.train()
        while step < total:
            for batch_rows in self.data.epoch(rows, *shares):
                recent += self.step(self.data.batch(batch_rows), step / total)
                step += 1
                if step % ROUND == ROUND // 2:
                    recent.item()  # waits for the device
                    mark = time.time()
                if step % ROUND == 0:
                    loss, now = recent.item() / ROUND, time.time()
                    pace, spent = (now - mark) / (ROUND - ROUND // 2), now - self.began
                    total = min(most, step + max(0, int((seconds - spent) / pace)))
                    print(step, "of", total, round(loss, 4), f"{1e3 * pace:.1f} ms a step, {spent:.0f} s", flush=True)
                    recent.zero_()
                    save(self.model, output)
                if step >= total:
                    break

    def step(self, batch: Batch, done: float) -> Tensor:
        for layer in self.model.layers:
            layer.rounds = done >= self.options.rounded
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.rate * min(done / WARM_UP, (1 - done) / (1 - WARM_UP))
        ids, how = batch.ids, {}
        if self.lessons:
            how = {"keep": self.rng.choice(KEEP), "skim": self.rng.choice(SKIM), "asked": batch.asked}
            if self.rng.random() < 0.5:
                ids = ids.masked_fill(batch.passage & (torch.rand(ids.shape, device=ids.device) < HIDDEN), MASK)
        with self.data.autocast():
            out = self.model(ids, batch.segments, batch.mask, **how)
            matched = self.match(out.hidden)
        labels = label_loss(out, batch)
        if self.lessons:
            share = torch.where(batch.own, 1.0, torch.where(batch.written, 2.0, 1.0) * self.options.labels)
            loss = teacher_loss(out, self.lessons.of(batch), batch, matched) + (share * labels).mean()
        else:
            loss = labels.mean()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.detach()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=("teacher", "student", "shallow"))
    parser.add_argument("data", type=Path)
    parser.add_argument("base", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--teacher", type=Path, nargs="+", default=[], help="of several, the mean is learnt")
    parser.add_argument("--taught-by", choices=("teacher", "student"), default="teacher", help="the teacher's shape")
    parser.add_argument(
        "--claims-teacher", type=Path, nargs="+", default=[], help="other teachers for the claims not written by hand"
    )
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--labels", type=float, default=0.3, help="weight of the labels beside the teacher")
    parser.add_argument("--cycles", type=int, default=1, help="so often the rate rises and falls, within the seconds")
    parser.add_argument("--seconds", type=float, default=1200, help="lessons and training are to end in this time")
    parser.add_argument(
        "--others", type=float, default=1.0, help="turns an epoch gives to questions not written by hand"
    )
    parser.add_argument("--claims", type=float, default=1.0, help="turns it gives to claims not written by hand")
    parser.add_argument(
        "--rounded",
        type=float,
        default=1.0,
        help="from this share of the steps on, products are rounded as in the int8 files",
    )
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument(
        "--compile", action="store_true", help="fuse the kernels of the teacher's layers, about a minute once"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=0, help="use so many rows only, to try things out")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    began = time.time()
    data = Dataset(options.data, options.device, options.limit)
    print(f"loaded {len(data.table)} rows, {len(data.flat)} tokens in {time.time() - began:.0f} s", flush=True)
    # a student's batches vary in what is read on: fusing its layers gains nothing
    learner = fused(load(options.role, options.base, options.dropout), options.compile and options.role == "teacher")
    trainer = Trainer(learner, data, options)
    trainer.run()
    trainer.model.eval()
    for layer in trainer.model.layers:
        layer.rounds = False
    print(json.dumps(measure(trainer.model, data), indent=1), flush=True)


if __name__ == "__main__":
    main()
