"""The figures. Each is the mean of one number per case, taken over the cases that it applies to.

That one shape gives every figure its interval, and two runs their comparison, question by question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from chapterverse.evaluation.intervals import interval
from chapterverse.evaluation.run import Case, Outcome, Run, Span
from chapterverse.evaluation.worth import by_quote, cited_gold, exact, judged, right, token_f1, wrong

Group = Literal["Answers", "Refusals", "Support", "Citations", "Retrieval"]


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: what it is called, what it means, and its value for a case (None where it does not apply)."""

    group: Group
    name: str
    meaning: str
    of: Callable[[Case], float | None]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure's mean over the cases that it applies to, and the 95 % interval of it."""

    group: Group
    name: str
    meaning: str
    value: float
    low: float
    high: float
    count: int


def _answered(of: Callable[[Case, Outcome], float | None]) -> Callable[[Case], float | None]:
    """Applies to questions that have an answer and were given one."""

    def value(case: Case) -> float | None:
        outcome = case.outcome
        return of(case, outcome) if case.question.has_answer and outcome and not outcome.refused else None

    return value


def _coverage(case: Case) -> float | None:
    return float(not case.outcome.refused) if case.question.has_answer and case.outcome else None


def _precision(case: Case) -> float | None:
    applies = case.outcome is not None and not case.outcome.refused and judged(case)
    return float(right(case, case.outcome)) if applies and case.outcome else None


def _rated_accurate(case: Case) -> float | None:
    return case.rating.accurate if case.rating else None


def _rated_clarity(case: Case) -> float | None:
    return case.rating.clarity / 5 if case.rating and case.rating.clarity is not None else None


def _end_to_end(case: Case) -> float | None:
    return float(not wrong(case)) if judged(case) else None


def _refused_when(kind: str) -> Callable[[Case], float | None]:
    """Recall: questions of a kind that must be refused, and were."""

    def value(case: Case) -> float | None:
        applies = case.outcome is not None and not case.question.has_answer and kind in (case.question.kind, "all")
        return float(case.outcome.refused) if applies and case.outcome else None

    return value


_REASONS = {"out_of_scope": "out_of_scope", "selection_lacks_answer": "selection"}


def _refused_as(kind: str) -> Callable[[Case], float | None]:
    """Precision: refusals on one ground that were right to refuse."""

    def value(case: Case) -> float | None:
        if case.outcome is None or not case.outcome.refused:
            return None
        ground = _REASONS.get(case.outcome.reason or "", "absent")
        return float(not case.question.has_answer) if kind in (ground, "all") else None

    return value


def _supported(case: Case) -> float | None:
    verdicts = [said.verdict for said in case.outcome.sentences] if case.outcome else []
    checked = [verdict == "supported" for verdict in verdicts if verdict != "unchecked"]
    return sum(checked) / len(checked) if checked else None


def _citation_precision(case: Case, outcome: Outcome) -> float | None:
    if not case.gold or not outcome.citations:
        return None
    return sum(any(one.meets(gold) for gold in case.gold) for one in outcome.citations) / len(outcome.citations)


def _citation_recall(case: Case, outcome: Outcome) -> float | None:
    return cited_gold(case, outcome) if case.gold else None


def _exact(case: Case, outcome: Outcome) -> float | None:
    return float(exact(case.question, outcome)) if case.question.answers else None


def _token_f1(case: Case, outcome: Outcome) -> float:
    return token_f1(case.question, outcome)


def _quote_overlap(case: Case, outcome: Outcome) -> float | None:
    """The share of the gold quotes' characters that the answer quotes, of each at the place where most of it is."""
    if not (case.gold and case.question.quotes):
        return None
    said = {(span.file_id, at) for span in outcome.citations for at in range(span.start, span.end)}
    best = [max(_covered(one, said) for one in same) for same in by_quote(case)]
    return sum(covered for covered, _ in best) / sum(length for _, length in best)


def _covered(gold: Span, said: set[tuple[str | None, int]]) -> tuple[int, int]:
    return sum((gold.file_id, at) in said for at in range(gold.start, gold.end)), gold.end - gold.start


def _hit(depth: int) -> Callable[[Case], float | None]:
    return lambda case: float(bool(case.rank) and (case.rank or 0) <= depth) if _searched(case) else None


def _reciprocal_rank(case: Case) -> float | None:
    return (1 / case.rank if case.rank else 0.0) if _searched(case) else None


def _searched(case: Case) -> bool:
    lost = case.outcome is None and case.rank is None  # the search itself may have failed
    return bool(case.gold) and case.question.selection is None and not lost


MEASURES = (
    Measure("Answers", "right in all", "questions that were answered right, or rightly refused", _end_to_end),
    Measure("Answers", "coverage", "questions with an answer that were answered, not refused", _coverage),
    Measure("Answers", "right when answered", "answers given, to whatever question, that are right", _precision),
    Measure("Answers", "exact", "answers that hold the gold answer word for word", _answered(_exact)),
    Measure("Answers", "token F1", "overlap of words with the gold answer or quotes", _answered(_token_f1)),
    Measure("Answers", "quote overlap", "characters of the gold quotes that were quoted", _answered(_quote_overlap)),
    Measure("Answers", "rated accurate", "raters who call an answer accurate and relevant", _rated_accurate),
    Measure("Answers", "rated clarity", "raters' points for clarity, of five", _rated_clarity),
    Measure("Refusals", "precision", "refusals of what has no answer", _refused_as("all")),
    Measure("Refusals", "precision, out of scope", "… among refusals for another topic", _refused_as("out_of_scope")),
    Measure("Refusals", "precision, absent", "… among refusals for want of an answer", _refused_as("absent")),
    Measure("Refusals", "precision, selection", "… among refusals of a selection", _refused_as("selection")),
    Measure("Refusals", "recall", "questions without an answer that were refused", _refused_when("all")),
    Measure("Refusals", "recall, out of scope", "… about something else", _refused_when("out_of_scope")),
    Measure("Refusals", "recall, absent", "… related to the book", _refused_when("absent")),
    Measure("Refusals", "recall, selection", "… of a selection that lacks it", _refused_when("selection")),
    Measure("Support", "supported sentences", "sentences of the book's own words, or fixed notices", _supported),
    Measure("Citations", "precision", "citations that are gold places", _answered(_citation_precision)),
    Measure("Citations", "recall", "gold places that are cited", _answered(_citation_recall)),
    Measure("Retrieval", "hit@1", "questions whose first passage holds a gold place", _hit(1)),
    Measure("Retrieval", "hit@5", "… one of the first five", _hit(5)),
    Measure("Retrieval", "hit@10", "… one of the first ten", _hit(10)),
    Measure("Retrieval", "MRR", "mean of 1 / rank of the first such passage", _reciprocal_rank),
)  # fmt: skip


def values(measure: Measure, cases: Iterable[Case]) -> dict[str, float]:
    """A measure's value for every case that it applies to, by the question's id."""
    found = ((case.question.id, measure.of(case)) for case in cases)
    return {key: value for key, value in found if value is not None}


def figures(measured: Run) -> list[Figure]:
    """Every figure that applies to the run."""
    made = []
    for measure in MEASURES:
        found = list(values(measure, measured.cases).values())
        if found:
            mean = float(np.mean(found))
            made.append(Figure(measure.group, measure.name, measure.meaning, mean, *interval(found), count=len(found)))
    return made


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of a stage, over all questions that went through it."""

    stage: str
    count: int
    p50: float
    p95: float
    highest: float


def latencies(measured: Run) -> list[Latency]:
    """The whole answer, then its stages in their order."""
    outcomes = [case.outcome for case in measured.cases if case.outcome]
    stages: dict[str, list[float]] = {"whole answer": [one.seconds for one in outcomes]}
    for one in outcomes:
        for stage, seconds in one.stages.items():
            stages.setdefault(stage, []).append(seconds)
    return [
        Latency(stage, len(took), *map(float, np.percentile(took, [50, 95, 100])))
        for stage, took in stages.items()
        if took
    ]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the questions took; dollars are None where a price is not known."""

    tokens: int
    dollars: float | None


def cost(measured: Run) -> Cost:
    outcomes = [case.outcome for case in measured.cases if case.outcome]
    known = [one.dollars for one in outcomes if one.dollars is not None]
    return Cost(sum(one.tokens for one in outcomes), sum(known) if len(known) == len(outcomes) else None)
