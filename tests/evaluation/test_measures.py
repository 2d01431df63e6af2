"""Figures on cases that can be worked out on paper, comparison of two runs, curves and the choice of a threshold."""

from __future__ import annotations

from pathlib import Path

import pytest

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation import calibrate, compare, run, worth
from chapterverse.evaluation.curves import calibration_error, reliability, risk_coverage
from chapterverse.evaluation.measures import cost, figures, latencies
from chapterverse.evaluation.run import Case, Said, Span
from tests.evaluation.cases import GOLD, a_run, case, cited, outcome, question

RIGHT = case(question("right"), outcome("It was Ann who did it.", cited(100, 140)))
ELSEWHERE = case(question("elsewhere"), outcome("It was Bob.", cited(500, 540)), rank=3)
SAID = case(question("said"), outcome("The doer was Ann.", cited(700, 720)), rank=None)
SHY = case(question("shy"), outcome("This information is not available in the book"))
BOLD = case(question("bold", "absent"), outcome("It was Bob.", cited(500, 540)))
QUIET = case(question("quiet", "absent"), outcome("This information is not available in the book"))
STRANGE = case(question("strange", "out_of_scope"), outcome("No", reason="out_of_scope"))
LOST = case(question("lost"), None, error="The store cannot be reached.")
ALL = a_run(RIGHT, ELSEWHERE, SAID, SHY, BOLD, QUIET, STRANGE, LOST)


def value(name: str, group: str) -> tuple[float, int]:
    one = next(one for one in figures(ALL) if (one.group, one.name) == (group, name))
    assert one.low <= one.value <= one.high
    return pytest.approx(one.value), one.count  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("group", "name", "expected", "count"),
    [
        ("Answers", "right in all", 4 / 8, 8),
        ("Answers", "coverage", 3 / 4, 4),
        ("Answers", "right when answered", 2 / 4, 4),
        ("Answers", "exact", 2 / 3, 3),
        ("Answers", "quote overlap", 1 / 3, 3),
        ("Refusals", "precision", 2 / 3, 3),
        ("Refusals", "precision, absent", 1 / 2, 2),
        ("Refusals", "precision, out of scope", 1, 1),
        ("Refusals", "recall", 2 / 3, 3),
        ("Refusals", "recall, absent", 1 / 2, 2),
        ("Refusals", "recall, out of scope", 1, 1),
        ("Support", "supported sentences", 1, 7),
        ("Citations", "precision", 1 / 3, 3),
        ("Citations", "recall", 1 / 3, 3),
        ("Retrieval", "hit@1", 3 / 5, 5),
        ("Retrieval", "hit@5", 4 / 5, 5),
        ("Retrieval", "MRR", (3 + 1 / 3) / 5, 5),
    ],
)
def test_figures(group: str, name: str, expected: float, count: int) -> None:
    assert value(name, group) == (expected, count)


def test_what_does_not_apply_has_no_figure() -> None:
    assert not [one for one in figures(ALL) if "selection" in one.name]


def test_token_f1_takes_the_better_of_answer_and_quotes() -> None:
    assert RIGHT.outcome is not None
    assert worth.token_f1(RIGHT.question, RIGHT.outcome) == 1.0
    assert worth.token_f1(question("x", answer="Ann Lee", quotes=["Q."]), outcome("Ann", cited(0, 1))) == 2 / 3


def test_a_gold_answer_is_found_as_whole_words() -> None:
    assert not worth.exact(question("x", answer="Ann"), outcome("It was Anna.", cited(0, 1)))
    assert worth.exact(question("x", answer="the Ann!"), outcome("It was ann.", cited(0, 1)))


def test_the_right_section_alone_is_not_the_right_answer() -> None:
    asked = question("x", quotes=[], section=["One"])
    assert not worth.right(case(asked, None), outcome("It was Bob.", cited(100, 140)))
    assert worth.right(case(asked, None), outcome("It was Ann.", cited(500, 540)))


def test_spans_meet_by_half_of_the_shorter() -> None:
    assert GOLD.meets(Span(file_id="book", start=120, end=400))
    assert not GOLD.meets(Span(file_id="book", start=121, end=400))
    assert not GOLD.meets(Span(file_id="other", start=100, end=140))
    assert not GOLD.meets(Span(file_id="book", start=120, end=120))


def test_unsupported_and_unchecked_sentences() -> None:
    bad, unchecked = (
        Said(text="x", kind="quote", citations=[0], verdict=verdict) for verdict in ("unsupported", "unchecked")
    )
    faulty = case(question("faulty"), outcome("x", cited(100, 140), sentences=[bad, bad, unchecked]))
    assert worth.unsupported(faulty)
    (support,) = (one for one in figures(a_run(faulty)) if one.group == "Support")
    assert (support.value, support.count) == (0.0, 1)
    assert not [
        one
        for one in figures(a_run(case(question("x"), outcome("x", cited(1, 2), sentences=[unchecked]))))
        if one.group == "Support"
    ]


def test_time_and_cost() -> None:
    whole, *stages = latencies(ALL)
    assert (whole.stage, whole.count, whole.p50, whole.highest) == ("whole answer", 7, 1.0, 1.0)
    assert [one.stage for one in stages] == ["retrieve", "validate"]
    assert cost(ALL).tokens == 70
    assert cost(ALL).dollars == 0.0
    assert cost(a_run(case(question("x"), outcome("x", cited(1, 2), dollars=None)))).dollars is None


def test_a_run_is_the_same_after_it_was_kept(tmp_path: Path) -> None:
    run.save(tmp_path / "run.json", ALL)
    assert run.load(tmp_path / "run.json") == ALL
    (tmp_path / "bad.json").write_text('{"cases": 3}')
    with pytest.raises(AstRagValidationError, match=r"bad\.json is not a run"):
        run.load(tmp_path / "bad.json")
    with pytest.raises(AstRagValidationError, match="cannot be read"):
        run.load(tmp_path / "none.json")


def many(wrong: int, count: int = 40, prefix: str = "q") -> list[Case]:
    good, bad = cited(100, 140), cited(500, 540)
    return [case(question(f"{prefix}{n}"), outcome("It was.", bad if n < wrong else good)) for n in range(count)]


def test_changes_that_matter_are_marked() -> None:
    made = compare.compare(a_run(*many(20)), a_run(*many(2)))
    change = next(one for one in made.changes if one.name == "right when answered")
    assert (change.before, change.after, change.matters, change.better) == (0.5, 0.95, True, True)
    assert len(made.mended) == 18
    assert made.broken == ()
    small = compare.compare(a_run(*many(3)), a_run(*many(2)))
    assert not any(one.matters for one in small.changes)
    back = compare.compare(a_run(*many(2)), a_run(*many(20)))
    assert [one.better for one in back.changes if one.name == "right when answered" and one.matters] == [False]


def test_runs_are_compared_over_the_questions_that_both_have() -> None:
    made = compare.compare(a_run(*many(0), *many(9, 9, "old")), a_run(*many(0), *many(0, 5, "new")))
    assert made.only_one == 14
    assert {one.before for one in made.changes if one.name == "right when answered"} == {1.0}
    with pytest.raises(AstRagValidationError, match="no question in common"):
        compare.compare(a_run(*many(1, 3, "a")), a_run(*many(1, 3, "b")))


def graded(count: int, wrong_below: int) -> list[Case]:
    """Answers of falling probability; those after `wrong_below` are wrong."""
    good, bad = cited(100, 140), cited(500, 540)
    return [
        case(question(f"g{n}"), outcome("It was.", bad if n >= wrong_below else good, answerable=1 - n / count))
        for n in range(count)
    ]


def test_risk_and_coverage_follow_the_threshold() -> None:
    points = risk_coverage(graded(10, 6))
    assert [point.answers for point in points] == list(range(1, 11))
    assert points[5].risk == 0.0
    assert points[5].coverage == pytest.approx(0.6)
    assert points[-1].risk == pytest.approx(0.4)
    assert points[-1].coverage == 1.0


def test_what_the_threshold_refused_is_on_the_curve_by_what_it_would_have_been() -> None:
    held = case(question("held"), outcome("No"), bolder=outcome("It was.", cited(100, 140), answerable=0.3))
    assert [(point.threshold, point.wrong) for point in risk_coverage([held])] == [(0.3, 0)]


def test_the_lowest_threshold_that_is_shown_to_keep_the_target_is_chosen() -> None:
    choice = calibrate.choose(a_run(*graded(400, 350)), 0.05)
    assert choice.shown
    assert choice.chosen.limit <= 0.05
    assert choice.chosen.point.answers > 350
    assert choice.chosen.point.threshold < choice.default.point.threshold
    stored = choice.stored(a_run(*graded(400, 350)))
    assert stored["answer_threshold"] == choice.chosen.point.threshold
    assert stored["reader"] == "abc"


def test_too_few_questions_are_said_to_be_too_few() -> None:
    choice = calibrate.choose(a_run(*graded(40, 30)), 0.01)
    assert not choice.shown
    assert choice.chosen.point.answers == 30
    assert choice.chosen.limit > 0.01
    assert choice.needed == 299


def test_a_target_out_of_reach_stores_nothing() -> None:
    with pytest.raises(AstRagValidationError, match=r"No threshold keeps wrong answers to 1\.0%"):
        calibrate.choose(a_run(*graded(10, 0)), 0.01)
    with pytest.raises(AstRagValidationError, match="None of the questions was answered"):
        calibrate.choose(a_run(QUIET), 0.01)
    with pytest.raises(AstRagValidationError, match="between 0 and 1"):
        calibrate.choose(a_run(*graded(10, 9)), 1.5)


def test_confidence_is_held_against_truth() -> None:
    good, bad = cited(100, 140), cited(500, 540)
    cases = [case(question(f"c{n}"), outcome("It was.", good if n % 4 else bad, confidence=0.75)) for n in range(24)]
    bins = reliability(cases)
    assert sum(one.count for one in bins) == 24
    assert calibration_error(bins) == pytest.approx(0.0)
    sure = [case(question(f"s{n}"), outcome("It was.", bad, confidence=1.0)) for n in range(24)]
    assert calibration_error(reliability(sure)) == 1.0
