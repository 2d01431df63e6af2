"""Tables that MyST writes as lists of lists (`list-table`) or as comma-separated values (`csv-table`)."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from markdown_it.token import Token

from chapterverse.ingest.formats.markdown_inline import inline_text

_HEADER = re.compile(r"^:header:(.+)$", re.MULTILINE)


def listed_rows(tokens: Sequence[Token]) -> list[list[str]]:
    """The rows of a list whose items are lists of cells; none where an item is something else."""
    rows: list[list[str]] = []
    depth = 0
    for token in tokens:
        if token.type == "bullet_list_open":
            depth += 1
        elif token.type == "bullet_list_close":
            depth -= 1
        elif token.type == "list_item_open" and depth == 1:
            rows.append([])
        elif token.type == "list_item_open" and depth == 2:
            rows[-1].append("")
        elif token.type in ("inline", "fence", "code_block"):
            if depth < 2:
                return []
            text = inline_text(token) if token.type == "inline" else token.content
            rows[-1][-1] = f"{rows[-1][-1]} {text}".strip()
    return rows


def separated_rows(content: str, body: str) -> list[list[str]]:
    """The rows of comma-separated values, below the heads that an option names; none where they make no sense."""
    header = _HEADER.findall(content)[:1]
    try:
        return [row for row in csv.reader([*header, *body.splitlines()], skipinitialspace=True) if any(row)]
    except csv.Error:
        return []
