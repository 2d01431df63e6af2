"""Charts as inline SVG: no script, no font and no picture from elsewhere. Colours are those of the page around them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from chapterverse.evaluation.curves import Bin, Point

_WIDTH, _HEIGHT = 380, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 22, 14, 46


class _Plot:
    """A frame with axes; what is drawn in it is given in the units of the data."""

    def __init__(self, right: float, top: float, across: str, up: str, label: Callable[[float], str]) -> None:
        self._right, self._top = right or 1.0, top or 1.0
        self._parts = [f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{up} by {across}">']
        for step in range(5):
            share = step / 4
            y, x = self.y(share * self._top), self.x(share * self._right)
            self._parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}"/>')
            self.text(_LEFT - 8, y + 4, f"{share * self._top:.0%}" if top <= 1 else f"{share * top:.0f}", "end")
            self.text(x, _HEIGHT - _BOTTOM + 18, label(share * self._right), "middle")
        self.text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, across, "middle", "axis")
        self._parts.append(
            f'<text class="axis" text-anchor="middle" transform="translate(13 {(_TOP + _HEIGHT - _BOTTOM) / 2})'
            f' rotate(-90)">{up}</text>'
        )

    def x(self, value: float) -> float:
        return round(_LEFT + value / self._right * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        return round(_HEIGHT - _BOTTOM - value / self._top * (_HEIGHT - _TOP - _BOTTOM), 1)

    def text(self, x: float, y: float, text: str, anchor: str, kind: str = "tick") -> None:
        self._parts.append(f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>')

    def note(self, x: float, y: float, text: str) -> None:
        """Beside a point, on the side where there is room."""
        left = x > (_LEFT + _WIDTH - _RIGHT) / 2
        self.text(round(x - 10 if left else x + 10, 1), y, text, "end" if left else "start", "note")

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        path = " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)
        self._parts.append(f'<polyline class="{kind}" points="{path}"/>')

    def area(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        path = " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)
        self._parts.append(f'<polygon class="{kind}" points="{path}"/>')

    def dot(self, x: float, y: float, size: float, kind: str, title: str) -> None:
        self._parts.append(
            f'<circle class="{kind}" cx="{self.x(x)}" cy="{self.y(y)}" r="{size:.1f}"><title>{title}</title></circle>'
        )

    def bar(self, left: float, right: float, height: float, title: str) -> None:
        x, y = self.x(left), self.y(height)
        width = max(1.0, self.x(right) - x - 1.5)
        self._parts.append(
            f'<rect class="bar" x="{x}" y="{y}" width="{width:.1f}" height="{_HEIGHT - _BOTTOM - y:.1f}" rx="2">'
            f"<title>{title}</title></rect>"
        )

    def __str__(self) -> str:
        return "".join([*self._parts, "</svg>"])


def _percent(value: float) -> str:
    return f"{value:.0%}"


def risk_coverage_chart(points: Sequence[Point], now: Point) -> str:
    """Wrong answers against coverage as the threshold falls; the point in use is marked."""
    plot = _Plot(1.0, 1.0, "coverage, of questions with an answer", "wrong, of answers given", _percent)
    line = [(point.coverage, point.risk) for point in points]
    if line:
        plot.area([(line[0][0], 0.0), *line, (line[-1][0], 0.0)], "fill")
        plot.line(line, "curve")
    plot.dot(now.coverage, now.risk, 6, "mark", f"threshold in use: {now.threshold:.2f}")
    plot.note(plot.x(now.coverage), plot.y(now.risk) - 8, f"in use: {now.threshold:.2f}")
    return str(plot)


def reliability_chart(bins: Sequence[Bin]) -> str:
    """Confidence against truth; on the diagonal, answers are right as often as they claim."""
    plot = _Plot(1.0, 1.0, "confidence of the answer", "answers that are right", _percent)
    plot.line([(0, 0), (1, 1)], "ideal")
    for one in bins:
        plot.line([(one.said, one.low), (one.said, one.high)], "whisker")
    plot.line([(one.said, one.true) for one in bins], "curve")
    for one in bins:
        plot.dot(one.said, one.true, 4.5, "point", f"{one.count} answers: said {one.said:.0%}, true {one.true:.0%}")
    return str(plot)


def histogram(seconds: Sequence[float], p50: float, p95: float) -> str:
    """How long whole answers took."""
    counts, edges = np.histogram(seconds, bins=24, range=(0, max(seconds, default=1.0)))
    highest = 4.0 * math.ceil(max(counts) / 4)  # so that the four steps of the axis are whole answers
    plot = _Plot(float(edges[-1]), highest, "seconds to the whole answer", "answers", lambda v: f"{v:.3g}")
    for count, left, right in zip(counts, edges, edges[1:], strict=False):
        if count:
            plot.bar(float(left), float(right), float(count), f"{count} answers in {left:.2f} to {right:.2f} s")
    for line, (value, name) in enumerate(((p50, "p50"), (p95, "p95"))):
        plot.line([(value, 0), (value, highest)], "ideal")
        plot.note(plot.x(value), _TOP + 10 + 18 * line, f"{name} {value:.2f} s")
    return str(plot)
