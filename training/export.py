"""Writes the trained student as the files that the package ships.

    python training/export.py STUDENT TOKENIZER_JSON EXAMPLES_NPZ OUTPUT_FOLDER [--float]

EXAMPLES_NPZ is the file of prepare.py: what it holds decides which words stay whole. `--float` keeps float32
weights, to check the int8 files against.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import onnx
from encoder import LENGTH, SHAPES
from graph import build_back, build_front, build_skim
from safetensors.numpy import load_file
from vocabulary import trim

MANIFEST = "manifest.json"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("student", type=Path)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("examples", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--float", action="store_true")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    weights = {name: value.astype("float32") for name, value in load_file(options.student).items()}
    tokenizer, kept = trim(options.tokenizer, options.examples)
    weights["words.weight"] = weights["words.weight"][kept]
    weights["places.weight"] = weights["places.weight"][:LENGTH]
    shape = SHAPES["student"]
    parts = {
        "skim": (build_skim, range(shape.skim_layer)),
        "front": (build_front, range(shape.skim_layer, shape.exit_layer)),
        "back": (build_back, range(shape.exit_layer, shape.layers)),
    }
    for name, (build, layers) in parts.items():
        onnx.save(build(weights, layers, not options.float), options.output / f"{name}.onnx")
    tokenizer.save(str(options.output / "tokenizer.json"), pretty=False)
    write_manifest(options.output)


def write_manifest(folder: Path) -> None:
    """Record each file's hash; a calibration that is already there stays until it is fitted anew."""
    path = folder / MANIFEST
    manifest = json.loads(path.read_text()) if path.exists() else {}
    names = ("skim.onnx", "front.onnx", "back.onnx", "tokenizer.json")
    manifest["sha256"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    path.write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
