"""From logits to probabilities: logistic curves fitted on rows that training never saw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

_FAINT = 1e-4
"""Nearer to nothing or to certainty evidence does not count."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic curve."""

    slope: float
    bias: float

    def __call__(self, logit: float) -> float:
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.slope * logit + self.bias))))


@dataclass(frozen=True, slots=True)
class Citing:
    """How many sentences to quote: so many that what is quoted and what answers agree best, by their chances.

    A sentence's chance to be one of those that answer is a logistic curve of its own evidence, of the strongest in its
    passage, and of how many have more.
    """

    own: float
    strongest: float
    place: float
    bias: float

    def __call__(self, evidence: Sequence[float]) -> int:
        """Of sentences with such evidence, strongest first, so many; one at the least."""
        curve = Curve(1.0, self.bias)
        chances = [
            curve(self.own * own + self.strongest * strongest + self.place * place)
            for own, strongest, place in features(evidence)
        ]
        return max(
            range(1, len(chances) + 1),
            key=lambda count: sum(chances[:count]) / (count + sum(chances)),  # half of the F1 to be expected
            default=0,
        )


def features(evidence: Sequence[float]) -> list[tuple[float, float, float]]:
    """What a sentence's chance to answer is told by, for sentences with such evidence, strongest first."""
    logits = [math.log((one + _FAINT) / (1 - one + _FAINT)) for one in evidence]
    return [(logit, logits[0], math.log1p(place)) for place, logit in enumerate(logits)]


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
    cite: Citing

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        names = ("answer", "relevance", "early_answer", "early_relevance", "support", "strict")
        curves = {name: Curve(*data[name]) for name in names}
        return cls(**curves, answer_from=data["answer_from"], cite=Citing(*data["cite"]))
