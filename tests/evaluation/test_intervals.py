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


@pytest.mark.parametrize(
    ("hits", "count", "limit"), [(0, 299, 0.00997), (0, 59, 0.0495), (2, 100, 0.0616), (5, 20, 0.4556), (3, 3, 1.0)]
)
def test_the_upper_limit_is_clopper_and_pearsons(hits: int, count: int, limit: float) -> None:
    assert upper_limit(hits, count) == pytest.approx(limit, abs=1e-4)


def test_how_many_cases_show_a_target() -> None:
    assert (needed(0.01), needed(0.05)) == (299, 59)
    assert upper_limit(0, 299) <= 0.01 < upper_limit(0, 298)


def test_differences_are_paired_and_may_have_gaps() -> None:
    rng = random.Random(1)
    before: list[float | None] = [float(rng.random() < 0.5) for _ in range(80)]
    after: list[float | None] = [min(1.0, value + (n % 4 == 0)) for n, value in enumerate(before) if value is not None]
    low, high = difference(before, after)
    assert 0 < low < high
    assert difference(before, before) == (0.0, 0.0)
    low, high = difference([*before, None], [*after, 1.0])
    assert 0 < low < high
