"""Writes a trained embedder as the folder that the package ships.

    python training/export_embedder.py TRAINED_FOLDER NAME TOKENIZER_JSON OUTPUT [--weights VECTOR RERANK] [--default]

TRAINED_FOLDER is what `embedder.py` wrote and NAME one of its candidates. A table becomes int8 rows with one scale
each; an encoder becomes an ONNX graph whose weights are int8 in blocks of 128. Activations are rounded in the same
blocks, token by token, so that a text's vector does not depend on the texts that share its batch.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from graph import MICROSOFT, TOKENS, Graph, Weights
from numpy.typing import NDArray
from onnx import TensorProto
from safetensors.numpy import load_file
from tokenizers import Tokenizer

BLOCK = 128
MAX_TOKENS = 320
ZERO = 128
"""What the kernel takes for zero in unsigned weights."""


def load_parts(folder: Path, name: str) -> Weights:
    """Join what `embedder.save` cut: each key is `name@piece`."""
    pieces: dict[str, dict[int, NDArray[np.float32]]] = {}
    for path in folder.glob(f"{name}.*.safetensors"):
        for key, value in load_file(path).items():
            whole, piece = key.rsplit("@", 1)
            pieces.setdefault(whole, {})[int(piece)] = value.astype(np.float32)
    return {whole: np.concatenate([parts[i] for i in sorted(parts)]) for whole, parts in pieces.items()}


class BlockGraph(Graph):
    """The reader's layers with weights and activations rounded in blocks, and with a mask: batches are padded."""

    def linear(self, x: str, name: str, columns: slice = slice(None), bias: bool = True) -> str:
        if not self.quantized:
            return super().linear(x, name, columns, bias)
        label = f"{name}.{columns.start or 0}"
        weight = self.weights[f"{name}.weight"][columns]
        outputs, inputs = weight.shape
        blocks = weight.reshape(outputs, inputs // BLOCK, BLOCK)
        scale = np.abs(blocks).max(2).clip(1e-8) / (ZERO - 1)
        values = (np.rint(blocks / scale[..., None]) + ZERO).astype(np.uint8)
        given = [x, self.constant(f"{label}.int8", values), self.constant(f"{label}.scale", scale)]
        if bias:
            given += ["", "", self.constant(f"{label}.bias", self.weights[f"{name}.bias"][columns])]
        shape = {"K": inputs, "N": outputs, "bits": 8, "block_size": BLOCK}
        return self.op("MatMulNBits", given, MICROSOFT, accuracy_level=4, **shape)

    def mask_attention(self, mask: str) -> None:
        """Let no attention node that was added so far look at padding."""
        for node in self.nodes:
            if node.op_type == "MultiHeadAttention":
                node.input.extend(["", mask])


def build_encoder(weights: Weights, quantized: bool) -> onnx.ModelProto:
    """Token ids and their mask in, the mean of the last states out, as a unit vector."""
    graph = BlockGraph(weights, quantized)
    mask = graph.op("Cast", ["attention_mask"], to=TensorProto.INT32)
    zero, one, last = (graph.constant(f"int.{i}", np.array([i], np.int64)) for i in (0, 1, -1))
    length = graph.op("Gather", [graph.op("Shape", ["input_ids"]), one], axis=0)
    places = graph.constant("places", weights["places.weight"][:MAX_TOKENS] + weights["segments.weight"][0])
    words = graph.embed("input_ids")
    place = graph.op("Expand", [graph.op("Slice", [places, zero, length, zero]), graph.op("Shape", [words])])
    x = graph.add_norm(place, words, "norm")
    for index in range(1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layers."))):
        x = graph.layer(x, index)
    graph.mask_attention(mask)
    share = graph.op("Unsqueeze", [graph.op("Cast", ["attention_mask"], to=TensorProto.FLOAT), last])
    total = graph.op("ReduceSum", [graph.op("Mul", [x, share]), one], keepdims=0)
    mean = graph.op("Div", [total, graph.op("ReduceSum", [share, one], keepdims=0)])
    inputs = {"input_ids": TensorProto.INT64, "attention_mask": TensorProto.INT64}
    vectors = graph.op("LpNormalization", [mean], axis=-1, p=2)
    return graph.model("embedder", inputs, {"vectors": (vectors, (TOKENS[0], weights["norm.weight"].shape[0]))})


def write_encoder(weights: Weights, output: Path) -> dict[str, Any]:
    onnx.save(build_encoder(weights, quantized=True), output / "model.onnx")
    return {"kind": "onnx", "dimensions": len(weights["norm.weight"]), "max_tokens": MAX_TOKENS}


def write_table(table: NDArray[np.float32], output: Path) -> dict[str, Any]:
    scale = np.abs(table).max(1, keepdims=True).clip(1e-8) / 127
    np.save(output / "table.npy", np.rint(table / scale).astype(np.int8))
    np.save(output / "scale.npy", scale.astype(np.float32))
    return {"kind": "table", "dimensions": table.shape[1]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trained", type=Path)
    parser.add_argument("name")
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument(
        "--weights",
        type=float,
        nargs=2,
        metavar=("VECTOR", "RERANK"),
        help="of the vectors in the fused score and of the reader in the reranked one: see benchmarks/retrieval.py",
    )
    parser.add_argument("--default", action="store_true", help="the model that `local` means")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    weights = load_parts(options.trained, options.name)
    table = weights.get("table")
    card = write_encoder(weights, options.output) if table is None else write_table(table, options.output)
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(options.output / "tokenizer.json"), pretty=False)
    files = sorted(path for path in options.output.iterdir() if path.suffix in {".onnx", ".npy"})
    files.append(options.output / "tokenizer.json")
    card |= {"sha256": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}}
    card |= {"default": options.default, "licence": "Apache-2.0"}
    if options.weights is not None:
        vector, rerank = options.weights
        card["hybrid"] = {"vector": vector, "lexical": round(1 - vector, 3), "rerank": rerank}
    (options.output / "card.json").write_text(json.dumps(card, indent=2) + "\n")


if __name__ == "__main__":
    main()
