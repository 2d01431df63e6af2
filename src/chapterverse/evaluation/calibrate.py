"""Choosing the threshold for answering: the lowest at which a user's own questions show few enough wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation.curves import Point, risk_coverage
from chapterverse.evaluation.intervals import needed, upper_limit
from chapterverse.evaluation.questions import Question
from chapterverse.evaluation.run import Run

_GRID = tuple(round(0.05 * step, 2) for step in range(20))
"""The thresholds of the table, where they make a difference, beside the chosen one."""


@dataclass(frozen=True, slots=True)
class Row:
    """A threshold, what it gives and what it costs."""

    point: Point
    limit: float
    """With 95 % confidence, no more than this share of answers is wrong."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The operating point for a target, and how well the questions show it."""

    target: float
    chosen: Row
    shown: bool
    """Whether the limit, not only the questions' own share, meets the target."""
    default: Row
    """What the threshold in use gives."""
    table: tuple[Row, ...]
    needed: int
    """Answers without a mistake that would show the target."""

    def stored(self, run: Run) -> dict[str, Any]:
        """What is kept with the index."""
        return {
            "answer_threshold": self.chosen.point.threshold,
            "reader": run.about["reader"],
            "target": self.target,
            "risk": self.chosen.point.risk,
            "limit": self.chosen.limit,
            "coverage": self.chosen.point.coverage,
            "answers": self.chosen.point.answers,
            "made_at": run.about["time"],
        }


def check_target(target: float) -> None:
    if not 0 < target < 1:
        raise AstRagValidationError(f"The target is {target:g}; it must be a share of wrong answers between 0 and 1.")


def check_kinds(questions: Sequence[Question]) -> None:
    """Without questions to refuse, the lowest threshold would look best: it is the one that answers everything."""
    for has_answer, kind in ((True, "has an answer"), (False, "is to be refused")):
        if not any(one.has_answer is has_answer for one in questions):
            raise AstRagValidationError(
                f"None of the questions {kind}: a threshold is chosen by questions that the book answers and by absent"
                " ones. `chapterverse eval NEW-FILE --make` drafts both."
            )


def choose(run: Run, target: float) -> Choice:
    """The lowest threshold that keeps to the target: by its upper limit, or else by what was seen, and not shown.

    The limit is that of a threshold fixed beforehand; one that was chosen on the same questions looks a little better
    than it is. Raises `AstRagValidationError` where no threshold keeps to the target.
    """
    check_target(target)
    points = risk_coverage(run.cases)
    if not points:
        raise AstRagValidationError("None of the questions was answered, whatever the threshold: nothing to choose by.")
    rows = [_row(point) for point in points]
    shown = [row for row in rows if row.limit <= target]
    seen = [row for row in rows if row.point.risk <= target]
    if not seen:
        best = min(points, key=lambda point: point.risk)
        raise AstRagValidationError(
            f"No threshold keeps wrong answers to {target:.1%} of these questions: at best {best.risk:.1%} are wrong,"
            f" at {best.threshold:.2f}. Look at the wrong cases with `chapterverse eval --html`, or ask for less."
        )
    chosen = (shown or seen)[-1]
    telling = {point.answers: point for point in (at(points, threshold) for threshold in _GRID)}
    table = tuple(map(_row, telling.values()))
    return Choice(target, chosen, bool(shown), _row(at(points, run.threshold)), table, needed(target))


def at(points: Sequence[Point], threshold: float) -> Point:
    """What a threshold gives, from the points where something changes."""
    below = [point for point in points if point.threshold >= threshold]
    last = below[-1] if below else Point(threshold, 0, 0, 0.0)
    return Point(threshold, last.answers, last.wrong, last.coverage)


def _row(point: Point) -> Row:
    return Row(point, upper_limit(point.wrong, point.answers) if point.answers else 1.0)
