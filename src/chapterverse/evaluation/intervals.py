"""How sure a figure is: intervals for shares, means and differences. Deterministic, so that a report is repeatable."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Interval = tuple[float, float]

_Z = 1.959964
"""Two-sided 95 %."""
_RESAMPLES = 2000
_FEW = 30
"""Of fewer values the bootstrap makes too much: of a single one, that there is nothing else."""


def interval(values: Sequence[float]) -> Interval:
    """95 % of a mean of values from 0 to 1: Wilson's for shares (0 and 1), and for any few; else the bootstrap's.

    Values in between vary less than shares of the same mean, so that Wilson's interval is wide enough for them.
    """
    if len(values) < _FEW or set(values) <= {0.0, 1.0}:
        return wilson(sum(values), len(values))
    return bootstrap(values)


def wilson(hits: float, count: int) -> Interval:
    """Wilson's score interval of a share; honest near 0 and 1, where the usual one is not."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, _Z**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    width = _Z / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return max(0.0, middle - width), min(1.0, middle + width)


def bootstrap(values: Sequence[float]) -> Interval:
    """The percentile bootstrap of a mean."""
    drawn = np.random.default_rng(0).choice(np.asarray(values, float), (_RESAMPLES, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def difference(before: Sequence[float | None], after: Sequence[float | None]) -> Interval:
    """95 % of the difference of two means over the same questions, some of which have a value on one side only.

    The paired bootstrap's: questions are drawn, and bring along what they have. Of few questions Newcombe's.
    """
    first, second = (np.asarray([np.nan if value is None else value for value in side]) for side in (before, after))
    if min(_known(first).size, _known(second).size) < _FEW:
        return _newcombe(first, second)
    drawn = np.random.default_rng(0).integers(len(first), size=(_RESAMPLES, len(first)))
    found = [_mean(second[rows]) - _mean(first[rows]) for rows in drawn]
    low, high = np.nanpercentile(found, [2.5, 97.5])
    return float(low), float(high)


def _newcombe(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> Interval:
    """The difference's interval from those of both means, narrower as far as both rise and fall together."""
    was, now = _known(first), _known(second)
    (low, high), (lower, higher) = interval(was.tolist()), interval(now.tolist())
    down, up = was.mean() - low, high - was.mean()
    fall, rise = now.mean() - lower, higher - now.mean()
    both = ~np.isnan(first) & ~np.isnan(second)
    together = _correlation(first[both], second[both]) * both.sum() / math.sqrt(was.size * now.size)
    middle = now.mean() - was.mean()
    least = middle - math.sqrt(max(0.0, fall**2 - 2 * together * fall * up + up**2))
    return float(least), float(middle + math.sqrt(max(0.0, rise**2 - 2 * together * rise * down + down**2)))


def _correlation(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    if first.size < 2 or not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _known(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return values[~np.isnan(values)]


def _mean(values: npt.NDArray[np.float64]) -> float:
    known = _known(values)
    return float(known.mean()) if known.size else math.nan


def upper_limit(hits: int, count: int, confidence: float = 0.95) -> float:
    """The exact one-sided upper limit of a share (Clopper and Pearson): with that confidence it is no more."""
    if hits >= count:
        return 1.0
    low, high = hits / count, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if _at_most(hits, count, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _at_most(hits: int, count: int, share: float) -> float:
    """The binomial probability of so many hits or fewer."""
    return math.fsum(math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(hits + 1))


def needed(target: float, confidence: float = 0.95) -> int:
    """How many cases without a single miss show that a share is at most `target`."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - target))
