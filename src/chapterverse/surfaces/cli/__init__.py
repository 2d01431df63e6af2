"""The command line. Each command is a small module that is imported when it is called, so that start-up stays quick.

Exit codes: 0 all went well; 1 it failed; 2 the call or its input is wrong; 3 some files were left out.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from chapterverse import __version__
from chapterverse.errors import AstRagError, AstRagValidationError

OK, FAILED, USAGE, PARTIAL = 0, 1, 2, 3

app = typer.Typer(
    name="chapterverse",
    help="Ask a book. Get an answer that quotes it, chapter and verse, or a plain refusal.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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


@app.command()
def read(
    address: Annotated[
        str, typer.Argument(help="A file, a folder, https://… or gdrive:<id>; `sample` is the book that comes along.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    password: Annotated[
        str | None, typer.Option(help="Password of encrypted PDFs.", envvar="CHAPTERVERSE_PASSWORD", show_envvar=True)
    ] = None,
    include: Annotated[list[str] | None, typer.Option(help="Only paths that match, e.g. 'docs/**/*.md'.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Leave out paths that match.")] = None,
    max_files: Annotated[int | None, typer.Option(min=1, help="Refuse sources with more files.")] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also read web pages on this machine and the local network.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Read a book and show its outline with pages, counts and warnings. Nothing is stored."""
    from chapterverse.surfaces.cli.read import run

    raise typer.Exit(
        run(
            address,
            as_json=json,
            password=password,
            include=include or [],
            exclude=exclude or [],
            max_files=max_files,
            allow_private=allow_private,
            progress=not quiet,
        )
    )


def main() -> None:
    """The entry point: errors that a user can meet are one readable line, never a stack trace."""
    try:
        app()
    except AstRagError as error:
        typer.echo(f"chapterverse: {error.message}", err=True)
        sys.exit(USAGE if isinstance(error, AstRagValidationError) else FAILED)
    except KeyboardInterrupt:
        typer.echo("chapterverse: stopped.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone away, which is their right
        sys.exit(OK)
