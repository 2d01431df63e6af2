"""Figures on cases that can be worked out on paper, comparison of two runs, curves and the choice of a threshold."""

from __future__ import annotations

from pathlib import Path

import pytest

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation import calibrate, compare, report, run, worth
from chapterverse.evaluation.curves import calibration_error, reliability, risk_coverage
from chapterverse.evaluation.measures import cost, figures, latencies
from chapterverse.evaluation.run import Case, Gold, Said, Span
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


@pytest.mark.parametrize(
    ("gold", "said", "found"),
    [
        ("35", "It costs 3.5 dollars.", False),
        ("$15 million", "It cost $1.5 million.", False),
        ("10", "They won 1-0.", False),
        ("5 °C", "It was -5 °C.", False),
        ("1000", "There were 1,000 men.", True),
        ("1914–1918", "The war of 1914-1918.", True),
        ("Vitamin A", "Vitamin C is in lemons.", False),
        ("Vitamin A", "Vitamin A is in carrots.", True),
        ("A", "It is grade A.", True),
        ("a Cheshire cat", "“It’s a Cheshire Cat—and that’s why.”", True),
        ("read", "You have read/write access.", True),
        ("US", "The U.S. army.", True),
        ("seven", "There were forty-seven.", False),
    ],
)
def test_signs_keep_numbers_and_words_apart_or_together(gold: str, said: str, found: bool) -> None:
    assert worth.exact(question("x", answer=gold), outcome(said, cited(0, 1))) is found


def test_a_notice_of_what_was_not_found_says_no_gold_answer() -> None:
    said = [
        Said(text="It was Bob.", kind="quote", citations=[0], verdict="supported"),
        Said(text="No answer was found: where is Ann", kind="notice", citations=[], verdict="supported"),
    ]
    answered = outcome("It was Bob.\nNo answer was found: where is Ann", cited(0, 1), sentences=said)
    assert not worth.exact(question("x", answer="Ann", quotes=[]), answered)
    assert worth.token_f1(question("x", answer="It was Bob", quotes=[]), answered) == 1.0


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
    (tmp_path / "wide.json").write_text("{}", encoding="utf-16")
    with pytest.raises(AstRagValidationError, match=r"wide\.json is not a run"):
        run.load(tmp_path / "wide.json")
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
    assert made.left_out == 14
    assert {one.before for one in made.changes if one.name == "right when answered"} == {1.0}
    with pytest.raises(AstRagValidationError, match="no question in common"):
        compare.compare(a_run(*many(1, 3, "a")), a_run(*many(1, 3, "b")))


def test_what_was_changed_in_the_set_is_no_change_of_the_answers() -> None:
    mended = case(question("q0", quotes=["Another sentence."]), outcome("It was Bob.", cited(500, 540)))
    made = compare.compare(a_run(*many(0)), a_run(mended, *many(0)[1:]))
    assert (made.left_out, made.broken) == (1, ())
    assert "1 are left out" in report.html(a_run(mended), made)


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


def test_what_a_higher_threshold_would_have_said_takes_the_place_of_the_answer() -> None:
    """At 0.7 it is right; above that a single paragraph answers, wrongly, up to 0.9."""
    right, wrong = outcome("It was.", cited(100, 140), answerable=0.7), outcome("Not.", cited(500, 540), answerable=0.9)
    points = risk_coverage([case(question("twice"), right, stricter=[wrong]), *graded(2, 2)])
    assert [one.threshold for one in points] == [1, 0.9, 0.7, 0.5]
    assert [(one.answers, one.wrong) for one in points] == [(1, 0), (2, 1), (2, 0), (3, 0)]
    assert [round(one.coverage * 3) for one in points] == [1, 2, 2, 3]


def test_a_quote_may_stand_in_several_places() -> None:
    """One of two gold quotes stands twice: either place will do, and is one of two that should be cited."""
    places = [GOLD, GOLD.model_copy(update={"start": 900, "end": 940}), Gold(file_id="book", start=300, end=340, of=1)]
    asked = question("x", answer=None, quotes=["It stands twice.", "It stands once."])
    made = a_run(Case(question=asked, gold=places, rank=1, outcome=outcome("It stands twice.", cited(900, 940))))
    found = {(one.group, one.name): one.value for one in figures(made)}
    assert found["Answers", "right when answered"] == 1.0
    assert (found["Citations", "precision"], found["Citations", "recall"]) == (1.0, 0.5)
    assert found["Answers", "quote overlap"] == 0.5
    assert ("Answers", "exact") not in found, "there is no gold answer to be held word for word"


def test_what_cannot_be_judged_counts_neither_as_right_nor_as_wrong() -> None:
    asked = question("lost", answer=None, quotes=["It is not in the book."])
    lost = Case(question=asked, gold=[], rank=None, outcome=outcome("It was.", cited(100, 140)))
    names = {one.name for one in figures(a_run(lost))}
    assert "coverage" in names
    assert not {"right in all", "right when answered"} & names
    assert (worth.wrong(lost), risk_coverage([lost]), reliability([lost])) == (False, [], [])
    (told,) = worth.doubts(lost)
    assert told.startswith("“It is not in the book.” is not in the books of this index; as there is no other")


def test_each_quote_that_is_nowhere_or_everywhere_is_told() -> None:
    asked = question("x", quotes=["It was Ann.", "Ann", "It was Bob."])
    many = [Gold(file_id="book", start=n, end=n + 3, of=1) for n in range(9)]
    told = list(worth.doubts(Case(question=asked, gold=[GOLD, *many], rank=1, outcome=None)))
    assert told == [
        "“It was Bob.” is not in the books of this index",
        "“Ann” stands in 9 places, each of which counts as proof",
    ]
    named = question("y", quotes=[], section=["Chapter 99"])
    assert list(worth.doubts(Case(question=named, gold=[], rank=None, outcome=None))) == [
        "“Chapter 99” is not in the books of this index"
    ]


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
