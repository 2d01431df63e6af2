"""Rules: what a claim says that its evidence does not, found without a model.

The reader judges meaning, but small models miss small words. The rules look at nothing else: each value must be there
and belong to the same thing, roles and order must be the same, and nothing may become stronger than it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chapterverse.answer.evidence import Evidence
from chapterverse.answer.rules import extent, force, markers, reality, roles, subjects, values
from chapterverse.answer.rules.case import Case, Objection

_RULES = (
    *(values.numbers, values.dates, values.clocks, values.closed, values.uncounted, values.paired),
    *(values.signs, values.alternatives, values.intervals, values.partitives),
    *(subjects.names, subjects.stitched, subjects.unknown, subjects.mentioned, subjects.crossed),
    *(force.opposites, force.replaced, force.denials, force.contrasts),
    *(markers.said, markers.reported, markers.modality),
    *(force.restrictions, force.kinds, force.particles, force.narrowed),
    *(extent.exceptions, extent.few, extent.either, extent.only, extent.excess, extent.licences),
    *(reality.undone, reality.unreal, reality.framed, reality.left_out),
    *(roles.moved, roles.contents, roles.doers, roles.directions, roles.sequence),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What speaks against a claim, and which of its words its evidence does not use."""

    objections: tuple[Objection, ...]
    new_words: tuple[str, ...]
    words: int
    in_order: bool
    """Whether the claim only leaves words of one sentence out."""


def compare(claim: str, evidence: Sequence[Evidence], passage: str) -> Comparison:
    """Hold a claim against its evidence; `passage` serves only to complete a name that the evidence gives in part."""
    case = Case(claim, evidence, passage)
    objections = tuple(objection for rule in _RULES for objection in rule(case))
    return Comparison(objections, case.new_words, len(case.claim.terms), _in_order(case))


def _in_order(case: Case) -> bool:
    runs, pairs = case.runs(case.home), case.aligned[case.home]
    return len(runs) == 1 and len(pairs) == len(case.claim.terms)
