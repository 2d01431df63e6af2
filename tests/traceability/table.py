"""`docs/traceability.md`, read: which tests prove which item."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "traceability.md"
_ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]*) \|$", re.MULTILINE)


def proofs() -> list[tuple[str, list[str]]]:
    """Each item of the table with the node ids of its tests, in the order of the page."""
    return [(item, re.findall(r"`([^`]+)`", tests)) for item, _, tests in _ROW.findall(PAGE.read_text())]


def function_of(node_id: str) -> str:
    """A node id without its parameters."""
    return node_id.partition("[")[0]
