"""What a threshold costs, and whether confidence can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chapterverse.evaluation.intervals import interval
from chapterverse.evaluation.run import Case, Outcome
from chapterverse.evaluation.worth import judged, right


@dataclass(frozen=True, slots=True)
class Point:
    """What would have been with this threshold."""

    threshold: float
    answers: int
    wrong: int
    coverage: float
    """The share of questions with an answer that would have been given one."""

    @property
    def risk(self) -> float:
        """The share of answers that would have been wrong."""
        return self.wrong / self.answers if self.answers else 0.0


def boldest(case: Case) -> Outcome | None:
    """What would be answered without a threshold."""
    return case.bolder or case.outcome


def risk_coverage(cases: Sequence[Case]) -> list[Point]:
    """Risk and coverage at every threshold that makes a difference, from the strictest to none.

    Selections are left out: they are answered without the index, and so without its threshold.
    """
    asked = [case for case in cases if case.question.selection is None and judged(case)]
    have = sum(case.question.has_answer for case in asked) or 1
    said = [(one, following, case) for case in asked for one, following in pairwise([*_answers(case), None]) if one]
    said.sort(key=lambda entry: -entry[0].answerable)
    points: list[Point] = []
    answers = wrongs = covered = 0
    for one, following, case in said:
        # As the threshold falls, an answer comes up, or takes the place of the one that was given above it.
        new = following is None
        answers += new
        covered += new and case.question.has_answer
        wrongs += (not right(case, one)) - (following is not None and not right(case, following))
        if points and points[-1].threshold == one.answerable:
            points.pop()
        points.append(Point(one.answerable, answers, wrongs, covered / have))
    return points


def _answers(case: Case) -> list[Outcome]:
    """What is said at one threshold or another, each from the chance of the one before up to its own."""
    said = boldest(case)
    return [one for one in (said, *case.stricter) if one and not one.refused]


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about one confidence: how sure they were on average, and how many were right."""

    said: float
    true: float
    low: float
    high: float
    count: int


def reliability(cases: Sequence[Case]) -> list[Bin]:
    """Confidence against truth, in bins with equally many answers; without a threshold, so that all of it is seen."""
    told = [case for case in cases if judged(case)]
    bold = [(said.confidence, right(case, said)) for case in told if (said := boldest(case)) and not said.refused]
    bold.sort(key=lambda pair: pair[0])
    bins = min(10, 1 + len(bold) // 12)
    parts = [bold[i * len(bold) // bins : (i + 1) * len(bold) // bins] for i in range(bins)]
    return [
        Bin(
            float(np.mean([said for said, _ in part])),
            float(np.mean([true for _, true in part])),
            *interval([float(true) for _, true in part]),
            count=len(part),
        )
        for part in parts
        if part
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """The expected difference between confidence and truth."""
    total = sum(one.count for one in bins)
    return sum(one.count * abs(one.said - one.true) for one in bins) / total if total else 0.0
