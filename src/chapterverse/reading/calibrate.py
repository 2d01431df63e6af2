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
    """The reader's three curves and two thresholds."""

    answer: Curve
    """Of the reader's confidence in a window."""
    support: Curve
    """Of the support logit."""
    early_answer: Curve
    """Of the early answer logit."""
    answer_from: float
    """The probability from which answering beats refusing, where half of the questions have no answer."""
    cite: float
    """The evidence from which a sentence is worth citing."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        answer, support, early = (Curve(*data[name]) for name in ("answer", "support", "early_answer"))
        return cls(answer, support, early, data["answer_from"], data["cite"])
