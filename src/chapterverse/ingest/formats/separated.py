"""Tables of values that are separated by commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io

_DELIMITERS = "\t;,"
_FEWEST_ROWS = 2


def separated_values(text: str) -> list[list[str]]:
    """The rows of a text that is nothing but a table; none of one that is prose, in which a space follows a comma."""
    first = text.strip().partition("\n")[0]
    for delimiter in _DELIMITERS:
        if delimiter in first and len(rows := _rows(text.strip("\n \ufeff"), delimiter)) >= _FEWEST_ROWS:
            return rows
    return []


def _rows(text: str, delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            if len(row) < 2 or len(row) != len(rows[0] if rows else row) or any(cell[:1] == " " for cell in row[1:]):
                return []
            rows.append(row)
    except csv.Error:
        return []
    return rows if any(any(row[1:]) for row in rows) else []  # or else lines of verse, each of which ends in a comma
