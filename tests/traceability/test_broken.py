"""Breaking the behaviour behind an item makes its test fail: tried on items that are chosen anew in each run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.traceability.broken import PACKAGE, TESTS_FAILED, Break, breaks, outcome
from tests.traceability.outcomes import seed
from tests.traceability.table import proofs

BREAKS = breaks()
CHOSEN = random.Random(seed()).sample(BREAKS, 10)
IN_EVERY_RUN = 2


def test_there_is_enough_to_choose_from() -> None:
    assert {broken.item for broken in BREAKS} <= dict(proofs()).keys()
    assert len({broken.item for broken in BREAKS}) == len(BREAKS) >= 100


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.item)
def test_a_break_fits_the_source(broken: Break) -> None:
    source = (PACKAGE / broken.file).read_text()
    changed = broken.applied(source)
    assert changed != source
    compile(changed, broken.file, "exec")


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(broken, id=broken.item, marks=[] if number < IN_EVERY_RUN else [pytest.mark.full])
        for number, broken in enumerate(CHOSEN)
    ],
)
def test_a_break_is_noticed(broken: Break, tmp_path: Path) -> None:
    done = outcome(broken, tmp_path)
    assert done.returncode == TESTS_FAILED, f"{broken} was not noticed (seed {seed()}):\n{done.stdout}{done.stderr}"
