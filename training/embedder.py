"""Trains the candidates for the embedder: MiniLM itself, encoders of fewer layers, and a static table of tokens.

    python training/embedder.py DATA_FOLDER BASES_FOLDER OUTPUT_FOLDER [--written PREPARED/pairs.jsonl.xz] [--tiny]

DATA_FOLDER holds `train/questions.jsonl.xz` and `train/claims.jsonl.xz`, BASES_FOLDER what `bases.py` wrote. Each
candidate learns question → passage pairs against the other passages of its batch, and to place every text where its
teacher does: MiniLM as it came or, once the run has trained it, as it became. Articles are held out whole, with what
was written about them, for the figures that are printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import random
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from encoder import SHAPES, Layer
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor

CLS, SEP = 101, 102
QUERY_TOKENS, PASSAGE_TOKENS = 64, 256
SUPPORT_SOURCES = {
    "docnli_FEVER-NLI",
    "scitail",
    "healthver",
    "climate",
    "citint",
    "fever_sym",
    "foolmetwice",
}
TEMPERATURE = 0.05


@dataclass
class Pairs:
    """Token ids of queries and of the passages they belong to; `groups` tells which article a pair is from."""

    queries: list[np.ndarray]
    passages: list[np.ndarray]
    groups: list[str]

    def take(self, which: list[int]) -> Pairs:
        return Pairs(*([values[i] for i in which] for values in (self.queries, self.passages, self.groups)))


def rows(path: Path) -> Iterator[dict]:
    with lzma.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def held_out(group: str) -> bool:
    return zlib.crc32(group.encode()) % 25 == 0


def load_pairs(data: Path, written: Path | None, tokenizer: Tokenizer, tiny: bool) -> Pairs:
    """Answered questions with a window around their answer, and supported claims with their evidence."""
    queries, contexts, groups, answers = [], [], [], []
    for row in rows(data / "train/questions.jsonl.xz"):
        if row["answer"]:
            queries.append(row["question"])
            contexts.append(row["context"])
            answers.append(row["answer"][0])
            groups.append(f"{row['source']}/{row['group']}")
    for row in rows(data / "train/claims.jsonl.xz"):
        if row["supported"] and row["source"] in SUPPORT_SOURCES:
            queries.append(row["claim"])
            contexts.append(row["context"])
            answers.append(0)
            groups.append(f"{row['source']}/{zlib.crc32(row['context'].encode())}")
    of = {
        hashlib.sha256(context.encode()).hexdigest()[:16]: group
        for context, group in zip(contexts, groups, strict=True)
    }
    for row in rows(written) if written else ():
        named = [of.get(name, f"written/{name}") for name in row["made_of"]]
        if len(named) == 1 or not any(map(held_out, named)):
            queries.append(row["query"])
            contexts.append(row["passage"])
            answers.append(0)
            groups.append(named[0])
    keep = random.Random(1).sample(range(len(queries)), 400 if tiny else len(queries))
    unique = list(dict.fromkeys(contexts[i] for i in keep))
    encoded = dict(zip(unique, tokenizer.encode_batch(unique, add_special_tokens=False), strict=True))
    spans = [_window(encoded[contexts[i]], answers[i]) for i in keep]
    asked = tokenizer.encode_batch([queries[i] for i in keep], add_special_tokens=False)
    return Pairs([_wrap(e.ids, QUERY_TOKENS) for e in asked], spans, [groups[i] for i in keep])


def _window(encoding, answer_start: int) -> np.ndarray:
    if len(encoding.ids) <= PASSAGE_TOKENS - 2:
        return _wrap(encoding.ids, PASSAGE_TOKENS)
    starts = np.array([start for start, _ in encoding.offsets])
    first = max(0, int(np.searchsorted(starts, answer_start)) - PASSAGE_TOKENS // 2)
    return _wrap(encoding.ids[first:], PASSAGE_TOKENS)


def _wrap(ids: list[int], limit: int) -> np.ndarray:
    return np.array([CLS, *ids[: limit - 2], SEP], np.int32)


def pad(texts: list[np.ndarray], device: str) -> tuple[Tensor, Tensor]:
    longest = (max(map(len, texts)) + 15) // 16 * 16
    ids = np.zeros((len(texts), longest), np.int64)
    for i, text in enumerate(texts):
        ids[i, : len(text)] = text
    tensor = torch.from_numpy(ids).to(device, non_blocking=True)
    return tensor, tensor != 0


class Encoder(nn.Module):
    """MiniLM, or some of its layers: mean of the last states, normalised."""

    def __init__(self, base: dict[str, Tensor], layers: tuple[int, ...]) -> None:
        super().__init__()
        shape = SHAPES["student"]
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.places = nn.Embedding(shape.positions, shape.hidden)
        self.segments = nn.Embedding(2, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.layers = nn.ModuleList(Layer(shape, 0.0) for _ in layers)
        names = {f"layers.{old}.": f"layers.{new}." for new, old in enumerate(layers)}
        state = {}
        for key, value in base.items():
            prefix = ".".join(key.split(".")[:2]) + "."
            if not key.startswith("layers."):
                state[key] = value.float()
            elif prefix in names:
                state[key.replace(prefix, names[prefix])] = value.float()
        self.load_state_dict({key: value for key, value in state.items() if key in self.state_dict()})

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]] + self.segments.weight[0])
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -1e4
        for layer in self.layers:
            x = layer(x, bias)
        weights = mask[..., None].to(x.dtype)
        return F.normalize(((x * weights).sum(1) / weights.sum(1)).float(), dim=-1)


class Table(nn.Module):
    """One vector a token; a text is their mean. It starts as what MiniLM makes of each token, rare ones louder."""

    def __init__(self, teacher: Encoder, counts: np.ndarray, dimensions: int, device: str) -> None:
        super().__init__()
        tokens = torch.arange(SHAPES["student"].vocabulary)
        rows = []
        with torch.no_grad():
            for part in tokens.split(2048):
                ids = torch.stack([torch.full_like(part, CLS), part, torch.full_like(part, SEP)], 1).to(device)
                rows.append(teacher(ids, torch.ones_like(ids, dtype=torch.bool)).cpu())
        table = torch.cat(rows)
        table -= table.mean(0)
        _, _, basis = torch.linalg.svd(table, full_matrices=False)
        share = torch.from_numpy((counts + 1) / (counts.sum() + len(counts))).float()
        self.rows = nn.Embedding.from_pretrained(table @ basis[:dimensions].T, freeze=False)
        self.weight = nn.Parameter(1e-3 / (1e-3 + share))
        self.register_buffer("special", torch.zeros(len(counts), dtype=torch.bool))
        self.special[[0, CLS, SEP]] = True

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        weights = (self.weight[ids] * (mask & ~self.special[ids]))[..., None]
        return F.normalize((self.rows(ids) * weights).sum(1).float() + 1e-6, dim=-1)

    def folded(self) -> Tensor:
        """The rows with their weights multiplied in, which is all that is needed at run time."""
        return self.rows.weight * (self.weight * ~self.special)[:, None]


def train(
    model: nn.Module,
    pairs: Pairs,
    device: str,
    *,
    epochs: int,
    rate: float,
    batch: int,
    teacher: Encoder | None,
) -> None:
    """Contrast within the batch, and, with a teacher, the similarities it sees among the batch's texts."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    order = list(range(len(pairs.queries)))
    total = epochs * (len(order) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=max(total, 2), pct_start=0.08)
    shuffle = random.Random(0)
    model.train()
    for _ in range(epochs):
        for which in _batches(order, pairs, batch, shuffle):
            chosen = pairs.take(which)
            queries, passages = pad(chosen.queries, device), pad(chosen.passages, device)
            with torch.autocast(device, torch.bfloat16):
                q, p = model(*queries), model(*passages)
                scores = q @ p.T / TEMPERATURE
                same = _same_passage(chosen, device)
                scores = scores.masked_fill(same, -1e4)
                target = torch.arange(len(which), device=device)
                loss = F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target)
                if teacher is not None:
                    loss = loss + _imitate(teacher, q, p, queries, passages)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad(set_to_none=True)
    model.eval()


def _batches(order: list[int], pairs: Pairs, batch: int, shuffle: random.Random) -> Iterator[list[int]]:
    """Half of each batch comes in runs from one article, so that near misses are among its negatives."""
    shuffle.shuffle(order)
    runs: dict[str, list[int]] = {}
    for i in order:
        runs.setdefault(pairs.groups[i], []).append(i)
    pieces = [run[k : k + 8] for run in runs.values() for k in range(0, len(run), 8)]
    shuffle.shuffle(pieces)
    flat = [i for piece in pieces for i in piece]
    batches = [flat[k : k + batch] for k in range(0, len(flat) - batch + 1, batch)]
    shuffle.shuffle(batches)
    yield from batches


def _same_passage(pairs: Pairs, device: str) -> Tensor:
    """Other queries' copies of a passage are not negatives of it."""
    keys = torch.tensor([zlib.crc32(passage.tobytes()) for passage in pairs.passages], device=device)
    return (keys[:, None] == keys[None, :]) & ~torch.eye(len(keys), dtype=torch.bool, device=device)


def _imitate(
    teacher: Encoder, q: Tensor, p: Tensor, queries: tuple[Tensor, Tensor], passages: tuple[Tensor, Tensor]
) -> Tensor:
    with torch.no_grad():
        tq, tp = teacher(*queries), teacher(*passages)
        wanted = torch.log_softmax(tq @ tp.T / TEMPERATURE, -1)
    loss = F.kl_div(torch.log_softmax(q @ p.T / TEMPERATURE, -1), wanted, log_target=True, reduction="batchmean")
    if q.shape[-1] == tq.shape[-1]:
        loss = loss + 4 * (2 - (q * tq).sum(-1).mean() - (p * tp).sum(-1).mean())
    return loss


@torch.no_grad()
def embed(model: nn.Module, texts: list[np.ndarray], device: str) -> Tensor:
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    out = [torch.empty(0)] * len(texts)
    for k in range(0, len(order), 512):
        part = order[k : k + 512]
        with torch.autocast(device, torch.bfloat16):
            vectors = model(*pad([texts[i] for i in part], device)).float()
        for i, vector in zip(part, vectors, strict=True):
            out[i] = vector
    return torch.stack(out)


def evaluate(model: nn.Module, held: Pairs, others: list[np.ndarray], device: str) -> dict[str, float]:
    """Rank each held-out query's passage among all held-out passages and some of the training ones."""
    corpus = list({passage.tobytes(): passage for passage in [*held.passages, *others]}.values())
    index = {passage.tobytes(): i for i, passage in enumerate(corpus)}
    gold = torch.tensor([index[passage.tobytes()] for passage in held.passages], device=device)
    scores = embed(model, held.queries, device) @ embed(model, corpus, device).T
    rank = (scores > scores.gather(1, gold[:, None])).sum(1) + 1
    reciprocal = torch.where(rank <= 10, 1 / rank, 0.0)
    return {
        "recall@1": (rank == 1).float().mean().item(),
        "recall@5": (rank <= 5).float().mean().item(),
        "mrr@10": reciprocal.float().mean().item(),
    }


def save(name: str, weights: dict[str, Tensor], folder: Path) -> None:
    """Float16, in parts of under 15 MB each, so that they travel easily."""
    part: dict[str, Tensor] = {}
    size = number = 0
    for key, value in weights.items():
        for row, piece in enumerate(value.detach().to("cpu", torch.float16).split(18_000)):
            if size + piece.numel() * 2 > 15_000_000 and part:
                save_file(part, folder / f"{name}.{number}.safetensors")
                part, size, number = {}, 0, number + 1
            part[f"{key}@{row}"] = piece.contiguous()
            size += piece.numel() * 2
    save_file(part, folder / f"{name}.{number}.safetensors")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("bases", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--written", type=Path, help="pairs.jsonl.xz of prepare.py")
    parser.add_argument("--tiny", action="store_true", help="a few hundred pairs, to see that it runs")
    parser.add_argument("--candidates", default="minilm,three,two,one,table")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    started = time.time()
    tokenizer = Tokenizer.from_file(str(options.bases / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pairs = load_pairs(options.data, options.written, tokenizer, options.tiny)
    held = [i for i, group in enumerate(pairs.groups) if held_out(group)]
    kept = [i for i, group in enumerate(pairs.groups) if not held_out(group)]
    test, learn = pairs.take(held), pairs.take(kept)
    others = random.Random(2).sample(learn.passages, min(8000, len(learn.passages)))
    print(f"{len(learn.queries)} pairs, {len(test.queries)} held out, {time.time() - started:.0f} s", flush=True)
    base = load_file(options.bases / "student.safetensors")
    teacher = Encoder(base, tuple(range(6))).to(device).eval()
    report = {"base": evaluate(teacher, test, others, device)}
    print("base", report["base"], flush=True)
    batch, epochs = (64, 1) if options.tiny else (1024, 6)
    makers = {
        "minilm": (lambda: Encoder(base, tuple(range(6))), 4e-5, max(1, epochs // 3)),
        "three": (lambda: Encoder(base, (0, 2, 5)), 4e-4, epochs),
        "two": (lambda: Encoder(base, (0, 5)), 6e-4, epochs * 2),
        "one": (lambda: Encoder(base, (0,)), 1e-3, epochs * 2),
        "table": (lambda: Table(teacher, _counts(learn), 256, device), 2e-2, epochs * 2),
    }
    for name in options.candidates.split(","):
        make, rate, rounds = makers[name]
        began = time.time()
        model = make().to(device)
        train(model, learn, device, epochs=rounds, rate=rate, batch=batch, teacher=teacher)
        report[name] = evaluate(model, test, others, device)
        print(name, report[name], f"{time.time() - began:.0f} s", flush=True)
        weights = {"table": model.folded()} if isinstance(model, Table) else model.state_dict()
        save(name, weights, options.output)
        if name == "minilm":
            teacher = model
    (options.output / "embedder.json").write_text(json.dumps(report, indent=1))


def _counts(pairs: Pairs) -> np.ndarray:
    counts = np.zeros(SHAPES["student"].vocabulary, np.int64)
    for text in pairs.passages:
        np.add.at(counts, text, 1)
    return counts


if __name__ == "__main__":
    main()
