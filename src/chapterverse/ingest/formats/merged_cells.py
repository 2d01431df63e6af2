"""A cell that is merged over several rows holds for each of them: a row is quoted alone, so each must name it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

LONGEST_REPEATED = 200
"""Characters; a longer cell is prose that stands beside the rows, and is written once."""
MOST_HEADS = 3
"""Rows that may be the head of a table together; with more, its author marks something else."""


def filled_down(rows: Iterable[Sequence[str | None]]) -> Iterator[list[str]]:
    """Rows in which a cell that goes on from above (None) reads like the one there; empty if they say nothing else."""
    above: dict[int, str] = {}
    for row in rows:
        filled = [above.get(column, "") if text is None else text for column, text in enumerate(row)]
        above = {column: text for column, text in enumerate(filled) if len(text) <= LONGEST_REPEATED}
        yield filled if any(row) else []
