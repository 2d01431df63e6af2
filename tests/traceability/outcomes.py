"""Fails a run of the whole suite in which an item of the traceability table was not proved."""

from __future__ import annotations

import os
import secrets
from collections import defaultdict

import pytest

from tests.traceability.table import function_of, proofs

_SEED = "TRACEABILITY_SEED"
_BROWSER = "tests/browser"
"""Its tests run by themselves, and prove no item."""


def seed() -> int:
    """What the items to break are chosen with: the same in all processes of a run, and as the environment says."""
    return int(os.environ.setdefault(_SEED, str(secrets.randbelow(1_000_000))))


class Outcomes:
    """Keeps how each test ended; with several processes, those that report to this one."""

    def __init__(self) -> None:
        seed()  # before other processes start, which inherit it
        self.collected: set[str] = set()
        """The node ids of all tests of this run, also of those that it leaves out."""
        self._ended: dict[str, list[bool]] = defaultdict(list)
        self._unproved: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.collected.update(item.nodeid for item in items)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            for name in {report.nodeid, function_of(report.nodeid)}:
                self._ended[name].append(report.passed)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not _whole(session.config) or session.config.option.collectonly:
            return
        self._unproved = [item for item, tests in proofs() if not self._proved(tests)]
        if self._unproved and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _proved(self, tests: list[str]) -> bool:
        """One test at least ran, and all that ran passed: long trials are left out of the short run."""
        ran = [self._ended[test] for test in tests if test in self._ended]
        return bool(ran) and all(all(passed) for passed in ran)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if any("test_broken.py" in name for name in self._ended):
            terminalreporter.line(f"Items to break were chosen with {_SEED}={seed()}")
        if self._unproved:
            terminalreporter.section("items of docs/traceability.md without a passing test", red=True)
            for item in self._unproved:
                terminalreporter.line(item)


def _whole(config: pytest.Config) -> bool:
    """Whether the run leaves nothing out but long trials and the browser's, and is not one process of several."""
    everything = config.option.markexpr == "" or config.option.markexpr.startswith("not full")
    complete = config.args_source is config.ArgsSource.TESTPATHS and everything
    ignored = set(config.option.ignore or ()) - {_BROWSER}
    narrowed = config.option.keyword or config.option.deselect or ignored or config.option.maxfail
    return complete and not narrowed and not hasattr(config, "workerinput")
