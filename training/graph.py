"""Writes the reader as three ONNX graphs, node by node, in float32 or with int8 weights.

The first skims every passage, the second reads on in the tokens that look worth it and says how promising
the passage is, the third reads the promising ones to the end. None takes a mask: a run holds one passage, or
several of equal length. The weights lie apart from the graphs, because claims are read with others than
questions.

Writing the graph by hand, rather than tracing it, fixes which fused kernels run (attention, skip
layer norm, bias GELU) and keeps the int8 scheme in one place: weights per output channel, the word
table per row, activations per tensor at run time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from chapterverse.reading.weights import rounded

Weights = dict[str, NDArray[np.float32]]
Shape = tuple[str | int, ...]
TOKENS: Shape = ("batch", "length")
HEADS = 12
MICROSOFT = "com.microsoft"


class Graph:
    """Collects nodes and initializers; every method returns the name of its output."""

    def __init__(self, weights: Weights, quantized: bool) -> None:
        self.weights, self.quantized = weights, quantized
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def op(self, kind: str, inputs: Sequence[str], domain: str = "", **attributes: object) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.asarray(value, order="C"), name)
        return name

    def parameter(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def embed(self, ids: str) -> str:
        """Look up word rows; the int8 table has one scale a row."""
        table = self.weights["words.weight"]
        if not self.quantized:
            return self.op("Gather", [self.constant("words.weight", table), ids])
        scale = np.abs(table).max(1).clip(1e-8) / 127
        rows = np.rint(table / scale[:, None]).astype(np.int8)
        row = self.op("Gather", [self.constant("words.rows", rows), ids])
        factor = self.op("Gather", [self.constant("words.scale", scale[:, None].astype(np.float32)), ids])
        return self.op("Mul", [self.op("Cast", [row], to=TensorProto.FLOAT), factor])

    def linear(self, x: str, name: str, columns: slice = slice(None), bias: bool = True) -> str:
        """x @ W.T + b, over a slice of the output columns."""
        label = f"{name}.{columns.start or 0}"
        weight = self.weights[f"{name}.weight"][columns].T
        added = self.constant(f"{label}.bias", self.weights[f"{name}.bias"][columns]) if bias else ""
        if not self.quantized:
            product = self.op("MatMul", [x, self.constant(f"{label}.weight", weight)])
            return self.op("Add", [product, added]) if bias else product
        values, scale = rounded(weight)
        zero = self.constant(f"{label}.zero", np.zeros(len(scale), np.int8))
        inputs = [
            x,
            self.constant(f"{label}.int8", values),
            self.constant(f"{label}.scale", scale),
            zero,
            added,
        ]
        return self.op("DynamicQuantizeMatMul", inputs, MICROSOFT)

    def head(self, x: str, name: str) -> str:
        """A head, always in float32: it costs nothing and rounds nothing."""
        product = self.op("MatMul", [x, self.constant(f"{name}.weight", self.weights[f"{name}.weight"].T)])
        return self.op("Add", [product, self.parameter(f"{name}.bias")])

    def add_norm(self, x: str, residual: str, name: str) -> str:
        inputs = [x, residual, self.parameter(f"{name}.weight"), self.parameter(f"{name}.bias")]
        return self.op("SkipLayerNormalization", inputs, MICROSOFT, epsilon=1e-12)

    def layer(self, x: str, index: int) -> str:
        prefix, hidden = f"layers.{index}", self.weights["norm.weight"].shape[0]
        q, k, v = (self.linear(x, f"{prefix}.qkv", slice(i * hidden, (i + 1) * hidden)) for i in range(3))
        mixed = self.op("MultiHeadAttention", [q, k, v], MICROSOFT, num_heads=HEADS)
        x = self.add_norm(self.linear(mixed, f"{prefix}.mix"), x, f"{prefix}.norm_mix")
        wide = self.linear(x, f"{prefix}.widen", bias=False)
        wide = self.op("BiasGelu", [wide, self.parameter(f"{prefix}.widen.bias")], MICROSOFT)
        return self.add_norm(self.linear(wide, f"{prefix}.narrow"), x, f"{prefix}.norm_out")

    def first(self, x: str) -> str:
        """The vectors of [CLS]."""
        return self.op("Gather", [x, self.constant("first", np.array(0, np.int64))], axis=1)

    def model(self, name: str, inputs: dict[str, int], outputs: dict[str, tuple[str, Shape]]) -> onnx.ModelProto:
        """Close the graph: `inputs` names their element types, `outputs` their values and shapes."""
        shapes: dict[int, Shape] = {TensorProto.INT64: TOKENS, TensorProto.FLOAT: _states(self.weights)}
        given = [helper.make_tensor_value_info(n, kind, shapes[kind]) for n, kind in inputs.items()]
        made = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, (_, shape) in outputs.items()]
        nodes = self.nodes + [helper.make_node("Identity", [value], [n]) for n, (value, _) in outputs.items()]
        body = helper.make_graph(nodes, name, given, made, list(self.constants.values()))
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(body, opset_imports=opsets, ir_version=8, producer_name="chapterverse")


def build_skim(weights: Weights, layers: range, quantized: bool) -> onnx.ModelProto:
    """Embeddings and the first layers: ids and segments in; hidden states and each token's worth out."""
    graph = Graph(weights, quantized)
    zero, one = (graph.constant(f"int.{i}", np.array([i], np.int64)) for i in (0, 1))
    length = graph.op("Gather", [graph.op("Shape", ["ids"]), one], axis=0)
    places = graph.op("Slice", [graph.parameter("places.weight"), zero, length, zero])
    segments = graph.op("Gather", [graph.parameter("segments.weight"), "segments"])
    x = graph.add_norm(graph.op("Add", [segments, places]), graph.embed("ids"), "norm")
    for index in layers:
        x = graph.layer(x, index)
    outputs = {"hidden": (x, _states(weights)), "worth": (graph.head(x, "skim_head"), (*TOKENS, 1))}
    return graph.model("skim", {"ids": TensorProto.INT64, "segments": TensorProto.INT64}, outputs)


def build_front(weights: Weights, layers: range, quantized: bool) -> onnx.ModelProto:
    """The next layers: hidden states in; hidden states, early logits and each token's worth out."""
    graph, x = Graph(weights, quantized), "states"
    for index in layers:
        x = graph.layer(x, index)
    outputs = {
        "hidden": (x, _states(weights)),
        "early": (graph.head(graph.first(x), "early_head"), ("batch", 2)),
        "worth": (graph.head(x, "worth_head"), (*TOKENS, 1)),
    }
    return graph.model("front", {"states": TensorProto.FLOAT}, outputs)


def build_back(weights: Weights, layers: range, quantized: bool) -> onnx.ModelProto:
    """The last layers and the heads: hidden states in; token, answer and support logits out."""
    graph, x = Graph(weights, quantized), "states"
    for index in layers:
        x = graph.layer(x, index)
    first = graph.first(x)
    outputs = {
        "tokens": (graph.head(x, "token_head"), (*TOKENS, 3)),
        "answer": (graph.head(first, "answer_head"), ("batch", 1)),
        "support": (graph.head(first, "support_head"), ("batch", 2)),
    }
    return graph.model("back", {"states": TensorProto.FLOAT}, outputs)


def apart(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, NDArray[np.generic]]]:
    """The graph without its weights, which whoever loads it must give it, and these by their names.

    Places and sizes stay: they are no weights.
    """
    weights = {}
    for tensor in model.graph.initializer:
        value = numpy_helper.to_array(tensor)
        if value.dtype == np.int64:
            continue
        weights[tensor.name] = value.copy()
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, told in (("location", "weights"), ("offset", 0), ("length", value.nbytes)):
            tensor.external_data.add(key=key, value=str(told))
    return model, weights


def _states(weights: Weights) -> Shape:
    return (*TOKENS, weights["norm.weight"].shape[0])
