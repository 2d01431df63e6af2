"""What the service counts, in the text form that Prometheus reads. Each process counts for itself."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from chapterverse.types import Answer

_BOUNDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds."""


class Metrics:
    """Requests by route and status with their times, and answers by status."""

    def __init__(self) -> None:
        self._running = 0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._times: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._answers: Counter[tuple[str, str]] = Counter()

    def began(self) -> None:
        self._running += 1

    def ended(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request is over; `route` is the pattern, so that there are as many as the service has."""
        self._running -= 1
        self._requests[method, route, status] += 1
        self._times[route][bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[route] += seconds

    def answered(self, answer: Answer) -> None:
        self._answers[answer.status, answer.reason or ""] += 1

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _about("chapterverse_requests_running", "gauge", "Requests under way.")
        yield f"chapterverse_requests_running {self._running}"
        yield from _about("chapterverse_requests_total", "counter", "Requests that are over.")
        for (method, route, status), count in sorted(self._requests.items()):
            labels = _labels({"method": method, "route": route, "status": str(status)})
            yield f"chapterverse_requests_total{labels} {count}"
        yield from _about("chapterverse_request_seconds", "histogram", "How long requests took.")
        for route in sorted(self._times):
            yield from self._histogram(route)
        yield from _about("chapterverse_answers_total", "counter", "Answers, with the reason of those that refuse.")
        for (outcome, reason), count in sorted(self._answers.items()):
            yield f"chapterverse_answers_total{_labels({'status': outcome, 'reason': reason})} {count}"

    def _histogram(self, route: str) -> Iterator[str]:
        count = 0
        for bound, more in zip((*map(str, _BOUNDS), "+Inf"), self._times[route], strict=True):
            count += more
            yield f"chapterverse_request_seconds_bucket{_labels({'route': route, 'le': bound})} {count}"
        yield f"chapterverse_request_seconds_sum{_labels({'route': route})} {self._seconds[route]:.6f}"
        yield f"chapterverse_request_seconds_count{_labels({'route': route})} {count}"


def _about(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"


def _labels(given: Mapping[str, str]) -> str:
    escaped = {k: v.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for k, v in given.items()}
    return "{" + ",".join(f'{key}="{value}"' for key, value in escaped.items()) + "}"
