"""Writes the trained student as the files that the package ships.

    python training/export.py STUDENT TOKENIZER_JSON EXAMPLES_NPZ OUTPUT_FOLDER [--float]
    python training/export.py --strict ADDITIONS [--share 0.6] OUTPUT_FOLDER

EXAMPLES_NPZ is the file of prepare.py: what it holds decides which words stay whole. `--float` keeps float32
weights, to check the int8 files against. `--strict` writes what adapt.py has made, or a share of it, beside files that
are there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import onnx
from encoder import LENGTH, SHAPES
from graph import Weights, apart, build_back, build_front, build_skim
from safetensors.numpy import load_file
from vocabulary import trim

from chapterverse.reading.runtime import GRAPHS, STRICT
from chapterverse.reading.weights import packed, rounded, unpacked

MANIFEST = "manifest.json"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", type=Path, nargs="*", metavar="STUDENT TOKENIZER EXAMPLES")
    parser.add_argument("output", type=Path)
    parser.add_argument("--float", action="store_true")
    parser.add_argument("--strict", type=Path, help="what adapt.py has made; alone, or with the rest")
    parser.add_argument("--share", type=float, default=1.0, help="how much of it is added")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.files:
        export(*options.files, options.output, quantized=not options.float)
    additions = load_file(options.strict) if options.strict else {}
    before = unpacked((options.output / "back.npz").read_bytes())
    (options.output / f"{STRICT}.npz").write_bytes(packed(narrowed(additions, before, options.share)))
    write_manifest(options.output)


def export(student: Path, tokenizer_file: Path, examples: Path, output: Path, *, quantized: bool) -> None:
    weights = {name: value.astype("float32") for name, value in load_file(student).items()}
    tokenizer, kept = trim(tokenizer_file, examples)
    weights["words.weight"] = weights["words.weight"][kept]
    weights["places.weight"] = weights["places.weight"][:LENGTH]
    shape = SHAPES["student"]
    parts = {
        "skim": (build_skim, range(shape.skim_layer)),
        "front": (build_front, range(shape.skim_layer, shape.exit_layer)),
        "back": (build_back, range(shape.exit_layer, shape.layers)),
    }
    for name, (build, layers) in parts.items():
        model, kept_apart = apart(build(weights, layers, quantized))
        (output / f"{name}.npz").write_bytes(packed(kept_apart))
        onnx.save(model, output / f"{name}.onnx")
    tokenizer.save(str(output / "tokenizer.json"), pretty=False)


def narrowed(additions: Weights, before: Weights, share: float) -> Weights:
    """The products of adapt.py as int8 values: each column of the one side, row of the other, has its scale.

    With a share of them, heads are so far on their way from what they were before.
    """
    found: Weights = {}
    for name, value in additions.items():
        layer, _, part = name.rpartition(".")
        if part == "down":
            down, scale = rounded(value)
            up, other = rounded(additions[f"{layer}.up"].T)
            found |= {name: down, f"{layer}.up": up.T.copy(), f"{layer}.scale": share * scale * other}
        elif part != "up":
            after = value.T if name.endswith("_head.weight") else value  # as graph.py has them
            found[name] = before[name] + share * (after - before[name])
    return found


def write_manifest(folder: Path) -> None:
    """Record each file's hash; a calibration that is already there stays until it is fitted anew."""
    path = folder / MANIFEST
    manifest = json.loads(path.read_text()) if path.exists() else {}
    graphs = [f"{name}.{part}" for name in GRAPHS for part in ("onnx", "npz")]
    names = (*graphs, f"{STRICT}.npz", "tokenizer.json")
    manifest["sha256"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    path.write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
