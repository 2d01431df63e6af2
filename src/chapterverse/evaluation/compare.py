"""Two runs side by side: which figures have changed by more than chance, and which questions changed sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation.intervals import difference
from chapterverse.evaluation.measures import MEASURES, Group, values
from chapterverse.evaluation.run import Case, Run
from chapterverse.evaluation.worth import wrong


@dataclass(frozen=True, slots=True)
class Change:
    """A figure in both runs, over the questions that both have, and the 95 % interval of its difference."""

    group: Group
    name: str
    before: float
    after: float
    low: float
    high: float

    @property
    def matters(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0

    @property
    def better(self) -> bool:
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is different in a later run."""

    changes: tuple[Change, ...]
    mended: tuple[str, ...]
    """Questions, by id, that went wrong before and do not any more."""
    broken: tuple[str, ...]
    """And those that go wrong now."""
    left_out: int
    """Questions that only one of the runs has, or that ask or expect something else now; they are not compared."""


def compare(before: Run, after: Run) -> Comparison:
    """Compare what both runs have asked; raises `AstRagValidationError` if that is nothing."""
    old = {case.question.id: case for case in before.cases}
    new = {case.question.id: case for case in after.cases}
    both = [key for key in new if key in old and _asked(old[key]) == _asked(new[key])]
    if not both:
        raise AstRagValidationError("The two runs have no question in common, so that there is nothing to compare.")
    changes = []
    for measure in MEASURES:
        was, now = values(measure, (old[key] for key in both)), values(measure, (new[key] for key in both))
        if was and now:
            means = float(np.mean(list(was.values()))), float(np.mean(list(now.values())))
            change = difference([was.get(key) for key in both], [now.get(key) for key in both])
            changes.append(Change(measure.group, measure.name, *means, *change))
    mended = tuple(key for key in both if wrong(old[key]) and not wrong(new[key]))
    broken = tuple(key for key in both if wrong(new[key]) and not wrong(old[key]))
    return Comparison(tuple(changes), mended, broken, len(old.keys() | new.keys()) - len(both))


def _asked(case: Case) -> dict[str, Any]:
    """A question and what it is measured by."""
    return case.question.model_dump(include={"question", "kind", "answer", "quotes", "selection", "answerable"})
