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
    """The reader's curves and thresholds."""

    answer: Curve
    """That the answer is there, of the answer logit; half of the passages it was fitted on only look as if."""
    relevance: Curve
    """That the passage is about the question at all, of the same logit."""
    early_answer: Curve
    early_relevance: Curve
    """The same two of the early answer logit."""
    support: Curve
    """Of the support logit."""
    strict: Curve
    """Of the strict one."""
    answer_from: float
    """The probability from which a question counts as answered."""
    cite: float
    """The evidence from which a sentence is worth citing."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        names = ("answer", "relevance", "early_answer", "early_relevance", "support", "strict")
        curves = {name: Curve(*data[name]) for name in names}
        return cls(**curves, answer_from=data["answer_from"], cite=data["cite"])
