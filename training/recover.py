"""Reads the student's weights back out of the files that ship, so that training can go on from them.

    python training/recover.py src/chapterverse/models/reader bases/student.safetensors bases/tokenizer.json OUTPUT

The int8 values times their scales are what the shipped reader computes with; words that it spells by their pieces, and
positions that it never reads, come from the base.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch
from encoder import SHAPES, CrossEncoder, save
from numpy.typing import NDArray
from safetensors.torch import load_file

from chapterverse.reading.runtime import GRAPHS
from chapterverse.reading.weights import unpacked

Weights = dict[str, NDArray[np.float32]]


def shipped(folder: Path) -> Weights:
    """Every weight of the three graphs, as float32, by the names of the encoder."""
    constants: dict[str, NDArray[np.generic]] = {}
    for name in GRAPHS:
        constants |= unpacked((folder / f"{name}.npz").read_bytes())
    weights = {name: value for name, value in constants.items() if name.endswith((".weight", ".bias"))}
    weights |= {name: value.T for name, value in weights.items() if name.endswith("_head.weight")}
    weights["words.weight"] = constants["words.rows"].astype(np.float32) * constants["words.scale"]
    for number in range(SHAPES["student"].layers):
        for part in ("qkv", "mix", "widen", "narrow"):
            _join(weights, constants, f"layers.{number}.{part}")
    return weights


def _join(weights: Weights, constants: dict[str, NDArray[np.generic]], name: str) -> None:
    """Put the column slices of one linear layer together again; `widen` keeps its bias beside its GELU."""
    slices = (key.split(".")[-2] for key in constants if key.startswith(f"{name}.") and key.endswith(".int8"))
    begins = sorted(map(int, slices))
    pieces = [constants[f"{name}.{begin}.int8"] * constants[f"{name}.{begin}.scale"] for begin in begins]
    weights[f"{name}.weight"] = np.concatenate(pieces, axis=1).T
    biases = [weights.pop(f"{name}.{begin}.bias") for begin in begins if f"{name}.{begin}.bias" in weights]
    if biases:
        weights[f"{name}.bias"] = np.concatenate(biases)


def main(folder: Path, base: Path, tokenizer: Path, output: Path) -> None:
    weights, start = shipped(folder), {k: v.float().numpy() for k, v in load_file(base).items()}
    kept, whole = (json.loads(path.read_text())["model"]["vocab"] for path in (folder / "tokenizer.json", tokenizer))
    words, places = start["words.weight"].copy(), start["places.weight"].copy()
    words[[whole[word] for word in kept]] = weights["words.weight"][list(kept.values())]
    places[: len(weights["places.weight"])] = weights["places.weight"]
    model = CrossEncoder(SHAPES["student"])
    found = weights | {"words.weight": words, "places.weight": places}
    model.load_state_dict({name: torch.from_numpy(np.array(value, np.float32)) for name, value in found.items()})
    save(model, output)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:5]))
