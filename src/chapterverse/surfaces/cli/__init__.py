"""The command line: its commands, and what becomes of their errors."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from chapterverse import __version__
from chapterverse.errors import AstRagError, AstRagValidationError
from chapterverse.surfaces.cli.commands import books, measuring, questions, serving
from chapterverse.surfaces.cli.exits import FAILED, OK, STOPPED, USAGE
from chapterverse.surfaces.cli.hints import with_flags

app = typer.Typer(
    name="chapterverse",
    help="Ask a book. Get an answer that quotes it, chapter and verse, or a plain refusal.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_COMMANDS: dict[str, Callable[..., None]] = {
    "read": books.read,
    "add": books.add,
    "sync": books.sync,
    "watch": books.watch,
    "list": books.list_indexes,
    "inspect": books.inspect,
    "search": questions.search,
    "ask": questions.ask,
    "verify": questions.verify,
    "eval": measuring.evaluate,
    "calibrate": measuring.calibrate,
    "serve": serving.serve,
    "mcp": serving.mcp,
    "doctor": serving.doctor,
    "remove": books.remove,
    "export": books.export_index,
    "import": books.import_index,
}
"""In the order of `--help`."""

for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"chapterverse {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version  # handled by its callback


def main() -> None:
    """The entry point: errors that a user can meet are one readable line, never a stack trace."""
    _make_streams_usable()
    try:
        app()
    except AstRagError as error:
        _complain(with_flags(error.message))
        sys.exit(USAGE if isinstance(error, AstRagValidationError) else FAILED)
    except SystemExit as ended:
        if ended.code == STOPPED:  # typer has made this of Ctrl-C
            _complain("stopped.")
        raise
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone away, which is their right
        sys.exit(OK)
    except OSError as error:
        name = error.filename or "A file"
        _complain(f"{name} cannot be used: {error.strerror or error}.")
        sys.exit(FAILED)


def _make_streams_usable() -> None:
    """Whoever starts us may have closed them, or have chosen an encoding without the characters of a book."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - as long as we run
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str) -> None:
    from chapterverse.surfaces.cli.console import complain  # where nothing went wrong, nobody waits for Rich

    complain(message)
