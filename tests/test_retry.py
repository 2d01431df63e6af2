"""Trying again: when, how often, how long in between, and what is heard of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import pytest

from chapterverse.retry import Judge, Retry

PATIENT = Retry(attempts=4, wait_initial=1.0, wait_max=3.0, wait_jitter=0.0)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []

    async def note(wait: float) -> None:
        seconds.append(wait)

    monkeypatch.setattr("chapterverse.retry.sleep", seconds.append)
    monkeypatch.setattr("chapterverse.retry.asyncio.sleep", note)
    return seconds


def failing(times: int) -> Callable[[], int]:
    """Fails so often, then gives the number of its calls."""
    calls = 0

    def call() -> int:
        nonlocal calls
        calls += 1
        if calls <= times:
            raise ValueError(f"failure {calls}")
        return calls

    return call


def run(retry: Retry, call: Callable[[], int], judge: Judge, blocking: bool) -> int:
    async def called() -> int:
        return call()

    return retry.run_blocking(call, judge) if blocking else asyncio.run(retry.run(called, judge))


both = pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "async"])


@both
def test_waits_grow_up_to_their_limit(waits: list[float], blocking: bool) -> None:
    assert run(PATIENT, failing(3), lambda _: True, blocking) == 4
    assert waits == [1.0, 2.0, 3.0]


@both
def test_the_last_failure_is_raised(waits: list[float], blocking: bool) -> None:
    with pytest.raises(ValueError, match="failure 4"):
        run(PATIENT, failing(9), lambda _: True, blocking)
    assert len(waits) == 3


@both
def test_what_will_not_pass_is_raised_at_once(waits: list[float], blocking: bool) -> None:
    with pytest.raises(ValueError, match="failure 1"):
        run(PATIENT, failing(1), lambda _: False, blocking)
    assert waits == []


@both
def test_a_wait_that_is_asked_for_is_kept(waits: list[float], blocking: bool) -> None:
    assert run(PATIENT, failing(2), lambda error: 7.5 if "1" in str(error) else 0.0, blocking) == 3
    assert waits == [7.5, 0.0]


@both
def test_waits_are_logged_and_nothing_is_printed(
    waits: list[float], blocking: bool, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "chapterverse.retry"):
        run(PATIENT, failing(1), lambda _: True, blocking)
    assert caplog.messages == ["Attempt 1 of 4 failed, the next is in 1.0 s: failure 1"]
    assert capsys.readouterr() == ("", "")
