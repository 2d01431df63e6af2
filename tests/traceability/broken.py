"""Breaks the behaviour behind items of the traceability table, to see that their tests notice.

`breaks.diff` holds one small edit of the package for each of these items. `python -m tests.traceability.broken` tries
them all, `python -m tests.traceability.broken FR-009 SC-005` those of some items.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.traceability.table import ROOT, proofs

PACKAGE = ROOT / "src" / "chapterverse"
TESTS_FAILED = 1
"""What pytest returns then; a package that cannot be imported, or a test that is not there, gives another code."""


@dataclass(frozen=True)
class Break:
    """`old`, which stands once in the file, becomes `new`."""

    item: str
    file: str
    old: str
    new: str

    def applied(self, source: str) -> str:
        if source.count(self.old) != 1:
            raise ValueError(f"{self.item}: {self.file} has {source.count(self.old)} times: {self.old}")
        return source.replace(self.old, self.new)


def breaks() -> list[Break]:
    """All of `breaks.diff`: an item and a file, the lines that are there, and those that take their place."""
    found = []
    for block in (Path(__file__).parent / "breaks.diff").read_text().strip().split("\n\n"):
        head, *lines = block.split("\n")
        item, _, file = head.rpartition(" @ ")
        old, new = ("\n".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
        found.append(Break(item, file, old, new))
    return found


def outcome(broken: Break, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the tests of an item against a copy of the package in which it is broken."""
    copy = folder / "chapterverse"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / broken.file).write_text(broken.applied((PACKAGE / broken.file).read_text()))
    tests = dict(proofs())[broken.item]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", "-m", "not full", *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def main(items: list[str]) -> int:
    """Try breaks one by one; returns how many were not noticed."""
    missed = 0
    for broken in breaks():
        if items and broken.item not in items:
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = outcome(broken, Path(folder))
        noticed = done.returncode == TESTS_FAILED
        missed += not noticed
        print(f"{'noticed' if noticed else 'MISSED '} {broken.item}", flush=True)
        if not noticed:
            print(done.stdout[-1500:] + done.stderr[-500:])
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
