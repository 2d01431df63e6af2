"""From logits to probabilities: logistic curves fitted on rows that training never saw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic curve over a few features."""

    weights: tuple[float, ...]
    bias: float

    def __call__(self, *features: float) -> float:
        total = self.bias + sum(w * x for w, x in zip(self.weights, features, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@dataclass(frozen=True, slots=True)
class Calibration:
    """The reader's three curves, and the early probability under which a window is not read to its end."""

    answer: Curve
    """Of span margin and answer logit."""
    support: Curve
    """Of the support logit."""
    early_answer: Curve
    """Of the early answer logit."""
    skip: float
    cite: float
    """The evidence from which a sentence is worth citing."""

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        curves = {name: _curve(data[name]) for name in ("answer", "support", "early_answer")}
        skip, cite = data["skip"], data["cite"]
        assert isinstance(skip, float) and isinstance(cite, float)
        return cls(**curves, skip=skip, cite=cite)


def _curve(values: object) -> Curve:
    assert isinstance(values, Sequence)
    return Curve(tuple(float(v) for v in values[:-1]), float(values[-1]))
