"""From logits to probabilities: logistic curves fitted on rows that training never saw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic curve."""

    slope: float
    bias: float

    def __call__(self, logit: float) -> float:
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.slope * logit + self.bias))))


@dataclass(frozen=True, slots=True)
class Calibration:
    """The reader's three curves, and the threshold for citing."""

    answer: Curve
    """Of the reader's confidence in a window."""
    support: Curve
    """Of the support logit."""
    early_answer: Curve
    """Of the early answer logit."""
    cite: float
    """The evidence from which a sentence is worth citing."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(Curve(*data["answer"]), Curve(*data["support"]), Curve(*data["early_answer"]), data["cite"])
