"""Figures on the held-out split while the model is still on the training device."""

from __future__ import annotations

import numpy as np
import torch
from batches import CLAIMS, Dataset
from encoder import CrossEncoder

LONGEST = 30
ENOUGH = 24_000
"""Held-out rows that are read, at random: a teacher takes long over all of them."""


def auroc(labels: np.ndarray, scores: np.ndarray) -> float:
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    positive = int(labels.sum())
    if positive in (0, len(labels)):
        return float("nan")
    return float((ranks[labels == 1].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive)))


@torch.no_grad()
def measure(model: CrossEncoder, data: Dataset) -> dict[str, float]:
    """Token F1 of spans, and AUROC of answerability and support by kind or source of row."""
    rows = np.random.default_rng(0).permutation(data.select(held=True, trusted=False))[:ENOUGH]
    rows = rows[np.argsort(data.lengths[rows], kind="stable")]
    found: list[np.ndarray] = []
    for begin in range(0, len(rows), 256):
        part = data.batch(rows[begin : begin + 256])
        with data.autocast():
            out = model(part.ids, part.segments, part.mask)
        tokens = out.tokens.float().masked_fill(~part.passage[..., None], -1e4)
        pairs = (
            (tokens[..., 0][:, :, None] + tokens[..., 1][:, None, :])
            .triu()
            .masked_fill(
                torch.ones(1, tokens.shape[1], tokens.shape[1], dtype=torch.bool, device=tokens.device).tril(-1),
                -3e4,
            )
        )
        pairs = pairs.masked_fill(torch.ones_like(pairs, dtype=torch.bool).triu(LONGEST), -3e4)
        best, place = pairs.flatten(1).max(1)
        first, last = place // tokens.shape[1], place % tokens.shape[1]
        null = out.tokens[:, 0, :2].float().sum(1)
        shared = (torch.minimum(last, part.end) - torch.maximum(first, part.start) + 1).clamp(min=0)
        f1 = 2 * shared / (last - first + 1 + part.end - part.start + 1)
        early = out.early if out.early is not None else torch.zeros(len(best), 2, device=best.device)
        columns = (f1, best - null, out.answer.float(), early[:, 0].float(), *out.support.float().T)
        found.append(torch.stack(columns, 1).cpu().numpy())
    return _summary(data, rows, np.concatenate(found))


def _summary(data: Dataset, rows: np.ndarray, values: np.ndarray) -> dict[str, float]:
    table = data.table[rows]
    kind, source = np.array(data.kinds)[table["kind"]], np.array(data.sources)[table["source"]]
    f1, margin, answer, early, rated, strict = values.T
    asked, original, squad = table["answerable"] >= 0, kind == "question", source == "squad2"
    result = {"rows": float(len(rows))}
    for name in ("squad2", "squad11", "shift_new_wiki", "nq", "fairytale", "policyqa", "covidqa"):
        pick = (source == name) & original & (table["start"] >= 0)
        result[f"f1 {name}"] = 100 * float(f1[pick].mean()) if pick.any() else float("nan")
    written = (kind == "written") & asked
    for name, pick in {"squad2": squad & original, "written": written, "all questions": asked}.items():
        for label, score in {
            "margin": margin,
            "answer": answer,
            "both": margin / 4 + answer,
            "early": early,
        }.items():
            result[f"auroc {name} {label}"] = auroc(table["answerable"][pick], score[pick])
    for name in ("edited", "near", "cut", "stranger", "question", "written near"):
        result[f"answered share {name}"] = float((answer[kind == name] > 0).mean()) if (kind == name).any() else -1.0
    claimed, support = table["supported"] >= 0, np.where(np.isin(kind, sorted(CLAIMS)), rated, strict)
    for name in [*sorted({s for s in source[claimed] if not s.startswith("written")}), "written", "all"]:
        pick = claimed & ((source == name) | (name == "all") | (name == kind))
        result[f"support auroc {name}"] = auroc(table["supported"][pick], support[pick])
    return {k: round(v, 4) for k, v in result.items()}
