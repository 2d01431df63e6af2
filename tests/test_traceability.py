"""The traceability table is complete, and every test that it names exists."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from tests.traceability.outcomes import Outcomes
from tests.traceability.specification import SPECIFICATION
from tests.traceability.table import PAGE, ROOT, function_of, proofs

ITEMS = [item for items in SPECIFICATION.values() for item in items]


@pytest.fixture(scope="module")
def collected(pytestconfig: pytest.Config) -> set[str]:
    """The node ids of all tests in the files that the table names, with and without their parameters."""
    outcomes = pytestconfig.pluginmanager.get_plugin("traceability")
    assert isinstance(outcomes, Outcomes)
    node_ids = set(outcomes.collected)
    named = {test.partition("::")[0] for _, tests in proofs() for test in tests}
    if missing := sorted(named - {node_id.partition("::")[0] for node_id in node_ids}):  # not a run of all tests
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", "-o", "addopts=", *missing]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
        node_ids.update(done.stdout.splitlines())
    return {*node_ids, *map(function_of, node_ids)}


def test_every_item_has_one_row_in_order() -> None:
    assert [item for item, _ in proofs()] == ITEMS
    assert max(Counter(ITEMS).values()) == 1


@pytest.mark.parametrize("title", SPECIFICATION)
def test_the_page_says_how_many_there_are(title: str) -> None:
    page = " ".join(PAGE.read_text().split())
    assert f"{len(ITEMS)} items:" in page
    assert f"{len(SPECIFICATION[title])} of {title[0].lower()}{title[1:]}" in page
    assert f"## {title}\n" in PAGE.read_text()


def test_every_item_has_a_test() -> None:
    assert [item for item, tests in proofs() if not tests] == []


def test_every_test_that_is_named_exists(collected: set[str]) -> None:
    assert [(item, test) for item, tests in proofs() for test in tests if test not in collected] == []
