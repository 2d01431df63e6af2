"""How commands print: one place for colours, errors and JSON."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["console", "counted", "error_console", "escape", "print_json", "table"]


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Whoever read our output has gone away, which is their right."""
        raise BrokenPipeError


def console() -> Console:
    """For results."""
    return _Console(highlight=False, soft_wrap=True)


def error_console() -> Console:
    """For progress, questions and complaints."""
    return _Console(highlight=False, soft_wrap=True, stderr=True)


def print_json(data: Any) -> None:
    """For machines."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def counted(number: int, thing: str) -> str:
    """`1 file`, `2,000 files`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def table(*columns: str) -> Table:
    """A plain table; columns that begin with > hold numbers, which stay whole. Long words are folded, never cut."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        number = column.startswith(">")
        made.add_column(column.lstrip(">"), justify="right" if number else "left", overflow="fold", no_wrap=number)
    return made
