"""The weights of the graphs, and those of the last one with what was learnt for strict judgements added to them.

What a reader must know to tell one word of a claim from another would cost it what it knows of questions, and of what
people let pass. So it learnt that apart: for each linear layer a product `down @ up` of low rank, which comes to a
sixth of the layers' size, is added to its weights before they are rounded again. A claim is read as fast as a question.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[Any]]
_HEADER = re.compile(r"'descr': '(?P<type>[^']+)', 'fortran_order': (?P<fortran>\w+), 'shape': \((?P<shape>[\d, ]*)\)")
LEVELS = 127
"""Of an int8 weight, on either side of nothing."""


def unpacked(blob: bytes) -> Weights:
    """The arrays of an npz file.

    Not by `numpy.load`: it parses headers as Python, which in several threads at once fails on CPython 3.11
    ("AST constructor recursion depth mismatch").
    """
    with zipfile.ZipFile(io.BytesIO(blob)) as file:
        return {name.removesuffix(".npy"): _array(file.read(name)) for name in file.namelist()}


def _array(npy: bytes) -> NDArray[Any]:
    begin = 10 if npy[6] == 1 else 12  # behind the mark, the version and the header's length
    end = begin + int.from_bytes(npy[8:begin], "little")
    header = _HEADER.search(npy[begin:end].decode("latin-1"))
    if not npy.startswith(b"\x93NUMPY") or header is None:
        raise ValueError("This is no array of plain numbers.")
    shape = tuple(int(size) for size in header["shape"].split(",") if size.strip())
    order: Literal["F", "C"] = "F" if header["fortran"] == "True" else "C"
    return np.frombuffer(npy, header["type"], offset=end).reshape(shape, order=order).copy("K")


def packed(weights: Mapping[str, NDArray[Any]]) -> bytes:
    """The npz file of these arrays."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **weights)
    return buffer.getvalue()


def adapted(weights: Weights, additions: Weights) -> Weights:
    """The weights with what a claim is read with: sums where `additions` has a product, else what it has instead."""
    result = dict(weights)
    for name, value in additions.items():
        layer, _, part = name.rpartition(".")
        if part == "down":
            up = additions[f"{layer}.up"].astype(np.float32)
            result |= _sum(weights, layer, (value * additions[f"{layer}.scale"]) @ up)
        elif part not in ("up", "scale"):
            result[name] = value
    return result


def _sum(weights: Weights, layer: str, addition: NDArray[np.float32]) -> Weights:
    """The slices of a linear layer, by the first of their columns, each with its part of the addition."""
    found: Weights = {}
    for name in weights:
        slice_, _, kind = name.rpartition(".")
        of, _, first = slice_.rpartition(".")
        if of != layer or kind not in ("int8", "weight"):
            continue
        columns = slice(int(first), int(first) + weights[name].shape[1])
        if kind == "weight":
            found[name] = weights[name] + addition[:, columns]
        else:
            whole = weights[name] * weights[f"{slice_}.scale"] + addition[:, columns]
            found |= dict(zip((name, f"{slice_}.scale"), rounded(whole), strict=True))
    return found


def rounded(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Int8 values, and the scale of each column."""
    scale = np.abs(weight).max(0).clip(1e-8) / LEVELS
    return np.rint(weight / scale).astype(np.int8), scale.astype(np.float32)
