"""Intervals against values that were worked out elsewhere, and against their own promise."""

from __future__ import annotations

import random

import pytest

from chapterverse.evaluation.intervals import bootstrap, difference, interval, needed, upper_limit, wilson


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (1, 2, 0.0945, 0.9055)],
)
def test_wilson(hits: int, count: int, low: float, high: float) -> None:
    assert wilson(hits, count) == pytest.approx((low, high), abs=5e-5)


def test_the_interval_of_shares_is_wilsons_and_of_other_means_the_bootstraps() -> None:
    assert interval([0.0, 1.0]) == wilson(1, 2)
    assert interval([1.0] * 90) == wilson(90, 90)
    values = [0.1, 0.4, 0.35, 0.8, 0.6] * 20
    low, high = interval(values)
    assert (low, high) == bootstrap(values)
    assert low < 0.45 < high


def test_the_bootstrap_holds_the_mean_as_often_as_it_says() -> None:
    rng = random.Random(3)
    held = 0
    for _ in range(120):
        low, high = bootstrap([rng.random() for _ in range(60)])
        held += low <= 0.5 <= high
    assert 0.88 <= held / 120 <= 1.0


@pytest.mark.parametrize("count", [1, 3, 8, 20])
def test_of_few_values_the_interval_holds_the_mean_too(count: int) -> None:
    """Mostly 1, as the share of supported sentences is: the bootstrap of three held the mean in four of ten trials."""
    rng = random.Random(7)
    held = 0
    for _ in range(300):
        low, high = interval([1.0 if rng.random() < 0.8 else rng.random() for _ in range(count)])
        held += low <= 0.9 <= high
    assert held / 300 > 0.9


@pytest.mark.parametrize(
    ("hits", "count", "limit"), [(0, 299, 0.00997), (0, 59, 0.0495), (2, 100, 0.0616), (5, 20, 0.4556), (3, 3, 1.0)]
)
def test_the_upper_limit_is_clopper_and_pearsons(hits: int, count: int, limit: float) -> None:
    assert upper_limit(hits, count) == pytest.approx(limit, abs=1e-4)


def test_how_many_cases_show_a_target() -> None:
    assert (needed(0.01), needed(0.05)) == (299, 59)
    assert upper_limit(0, 299) <= 0.01 < upper_limit(0, 298)


def test_few_questions_show_little_of_a_difference() -> None:
    low, high = difference([1.0], [0.0])
    assert (low, high > 0) == (pytest.approx(-1.0), True)
    assert difference([0.0] * 8, [1.0] * 8)[0] > 0
    low, high = difference([1.0, 1.0, None, 0.0], [0.0, None, 1.0, 0.0])
    assert low < 0 < high


def test_the_difference_of_few_is_newcombes() -> None:
    """Two raters of 25 cases: 18 and 6 and 1 and 0, worked out by Newcombe's (1998) eighth method."""
    after, before = [1.0] * 18 + [1.0] * 6 + [0.0], [1.0] * 18 + [0.0] * 6 + [1.0]
    wilsons = [wilson(24, 25), wilson(19, 25)]
    phi = (18 * 0 - 6 * 1) / (24 * 1 * 19 * 6) ** 0.5
    down, up, fall, rise = 0.96 - wilsons[0][0], wilsons[0][1] - 0.96, 0.76 - wilsons[1][0], wilsons[1][1] - 0.76
    low = 0.2 - (down**2 - 2 * phi * down * rise + rise**2) ** 0.5
    high = 0.2 + (up**2 - 2 * phi * up * fall + fall**2) ** 0.5
    assert difference(before, after) == pytest.approx((low, high))


def test_differences_are_paired_and_may_have_gaps() -> None:
    rng = random.Random(1)
    before: list[float | None] = [float(rng.random() < 0.5) for _ in range(80)]
    after: list[float | None] = [min(1.0, value + (n % 4 == 0)) for n, value in enumerate(before) if value is not None]
    low, high = difference(before, after)
    assert 0 < low < high
    assert difference(before, before) == (0.0, 0.0)
    low, high = difference([*before, None], [*after, 1.0])
    assert 0 < low < high
