"""How commands print: one place for colours, errors and JSON.

What is printed comes from books, file names and whoever sent them. A string is therefore printed to the letter, colours
are given as `Text`, and control characters, which could take over a terminal, are shown as signs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Table

_SIGNS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    **dict.fromkeys([*range(0x7F, 0xA0), *range(0xD800, 0xE000)], 0xFFFD),
}
"""For control characters, and for halves of characters, which no terminal takes."""
_ENDLESS = 1_000_000
_ESCAPES = {code: f"\\u{code:04x}" for code in _SIGNS}
"""The same in JSON."""


class _Console(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(text.translate(_SIGNS), **options)  # before cells are measured

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=segment.text.translate(_SIGNS))

    def on_broken_pipe(self) -> None:
        """Whoever read our output has gone away, which is their right."""
        raise BrokenPipeError


def console() -> Console:
    """For results. Where no terminal shows them, a row of a table is one line, which other programs can take apart."""
    made = _Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _ENDLESS
    return made


def error_console() -> Console:
    """For progress, questions and complaints."""
    return _Console(highlight=False, markup=False, emoji=False, soft_wrap=True, stderr=True)


def complain(message: str) -> None:
    """What went wrong, and who says so."""
    error_console().print(f"chapterverse: {message}")


def print_json(data: Any) -> None:
    """For machines, which read the same from escapes as from what they stand for."""
    anything = (sys.stdout.encoding or "utf-8").casefold().startswith("utf")
    sys.stdout.write(json.dumps(data, ensure_ascii=not anything, indent=2).translate(_ESCAPES) + "\n")


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
