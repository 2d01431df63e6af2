"""The command line. Each command is a small module that is imported when it is called, so that start-up stays quick.

Exit codes: 0 all went well; 1 it failed; 2 the call or its input is wrong; 3 some files were left out;
130 it was stopped with Ctrl-C.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from chapterverse import __version__
from chapterverse.errors import AstRagError, AstRagValidationError
from chapterverse.surfaces.cli.hints import with_flags

OK, FAILED, USAGE, PARTIAL, STOPPED = 0, 1, 2, 3, 130

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


Password = Annotated[
    str | None, typer.Option(help="Password of encrypted PDFs.", envvar="CHAPTERVERSE_PASSWORD", show_envvar=True)
]
Model = Annotated[
    str, typer.Option(help="Who writes: `local`, or provider:model.", envvar="CHAPTERVERSE_MODEL", show_envvar=True)
]


@app.command()
def read(
    address: Annotated[
        str, typer.Argument(help="A file, a folder, https://… or gdrive:<id>; `sample` is the book that comes along.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    password: Password = None,
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


Index = Annotated[str | None, typer.Option("--index", "-i", help="Which index; not needed if there is only one.")]
Section = Annotated[
    str | None, typer.Option("--section", "--scope", help="Only in this chapter or section, e.g. 'Chapter 3'.")
]
Pages = Annotated[
    str | None, typer.Option("--page", help="Only on this page, as citations name it, or pages such as 12-15.")
]
Files = Annotated[list[str] | None, typer.Option("--file", help="Only in these files.")]
ReadUntil = Annotated[int | None, typer.Option(min=1, help="Nothing after this page of the file: no spoilers.")]
Deadline = Annotated[
    float | None, typer.Option(min=0.01, help="Seconds that an answer may take; 5 if nothing else is set.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Name = Annotated[str | None, typer.Argument(metavar="[INDEX]", help="Which index.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.command()
def add(
    addresses: Annotated[list[str], typer.Argument(help="Files, folders, https://… or gdrive:<id>; `sample` too.")],
    index: Annotated[str | None, typer.Option("--index", "-i", help="Into this index; else one for each.")] = None,
    replacing: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="In place of this source of the index, which may be gone.")
    ] = None,
    embedding: Annotated[str | None, typer.Option(help="`local`, or provider:model.")] = None,
    chunk_size: Annotated[int | None, typer.Option(help="Characters in a chunk; else as it was, or 1200.")] = None,
    chunk_overlap: Annotated[
        int | None, typer.Option(help="Characters repeated from the chunk before; else as it was, or 200.")
    ] = None,
    include: Annotated[list[str] | None, typer.Option(help="Only paths that match, e.g. 'docs/**/*.md'.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Leave out paths that match.")] = None,
    password: Password = None,
    max_files: Annotated[int | None, typer.Option(min=1, help="Refuse sources with more files.")] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Also read web pages on this machine and the local network.")
    ] = False,
    ask_above: Annotated[float, typer.Option(help="Ask before embedding that costs more dollars than this.")] = 0.1,
    yes: Yes = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Index books: into a new index, or into one that is there, beside the books it has."""
    from chapterverse.surfaces.cli import shelf

    if replacing is not None and len(addresses) > 1:
        raise AstRagValidationError("--replacing takes one new address: add the others by themselves.")
    sizes = {"size": chunk_size, "overlap": chunk_overlap}
    spec = {
        "include": tuple(include or ()), "exclude": tuple(exclude or ()), "allow_private_addresses": allow_private,
    }  # fmt: skip
    raise typer.Exit(
        shelf.add(
            addresses,
            index=index,
            replacing=replacing,
            embedding=embedding,
            chunking={name: value for name, value in sizes.items() if value is not None},
            spec=spec,
            password=password,
            max_files=max_files,
            ask_above=ask_above,
            yes=yes,
            as_json=json,
            quiet=quiet,
        )
    )


@app.command()
def sync(
    name: Name = None,
    index: Index = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    password: Password = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bring an index into step with its sources; only what changed is read and embedded."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.sync(_named(name, index), dry_run=dry_run, password=password, as_json=json, quiet=quiet))


@app.command()
def watch(
    name: Name = None,
    index: Index = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to wait between two looks.")] = 5.0,
    password: Password = None,
) -> None:
    """Keep an index in step with its sources until interrupted."""
    from chapterverse.surfaces.cli import shelf

    shelf.watch(_named(name, index), seconds=seconds, password=password)


@app.command("list")
def list_indexes(json: Json = False) -> None:
    """Show the indexes there are."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.list_indexes(as_json=json))


@app.command()
def inspect(
    name: Name = None,
    index: Index = None,
    json: Json = False,
) -> None:
    """Show what an index holds, and how it was made."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.inspect(_named(name, index), as_json=json))


def _named(name: str | None, index: str | None) -> str | None:
    """The index that is named, with the option or without."""
    if name is not None and index is not None:
        raise AstRagValidationError("The index is named twice: leave out --index, or the name before it.")
    return index if name is None else name


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    index: Index = None,
    top_k: Annotated[int | None, typer.Option("--top", "-k", min=1, max=50, help="How many passages.")] = None,
    mode: Annotated[str | None, typer.Option(help="vector, lexical or hybrid.")] = None,
    min_score: Annotated[float | None, typer.Option(min=0, max=1, help="Leave out what scores less.")] = None,
    section: Section = None,
    page: Pages = None,
    file: Files = None,
    read_until: ReadUntil = None,
    diagnose: Annotated[bool, typer.Option("--diagnose", help="Show how the search went.")] = False,
    json: Json = False,
) -> None:
    """Search an index by meaning and by words."""
    from chapterverse.surfaces.cli.search import run

    overrides = {"top_k": top_k, "mode": mode, "min_score": min_score}
    raise typer.Exit(
        run(
            query,
            index=index,
            overrides={name: value for name, value in overrides.items() if value is not None},
            **_place(section, page, file, read_until),
            diagnose=diagnose,
            as_json=json,
        )
    )


def _place(section: str | None, page: str | None, file: list[str] | None, read_until: int | None) -> dict[str, Any]:
    """Where to look, as the library takes it."""
    from chapterverse.answer.scope import named_scope
    from chapterverse.types import Filter

    where = Filter(file_ids=tuple(file) if file else None, read_until=read_until)
    return {"where": None if where == Filter() else where, "scope": named_scope(section, page)}


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What to ask the book.")],
    index: Index = None,
    selection: Annotated[
        str | None,
        typer.Option("--selected", "--selection", "-s", help="Answer from this passage alone; - reads it from stdin."),
    ] = None,
    section: Section = None,
    page: Pages = None,
    file: Files = None,
    read_until: ReadUntil = None,
    model: Model = "local",
    deadline: Deadline = None,
    save: Annotated[Path | None, typer.Option(help="Keep the answer as a receipt, for `verify`.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show confidence, timings and what was dropped.")] = False,
    json: Json = False,
) -> None:
    """Ask a book: an answer that quotes it, or a plain refusal."""
    from chapterverse.surfaces.cli import asking

    raise typer.Exit(
        asking.run(
            question,
            index=index,
            selection=selection,
            **_place(section, page, file, read_until),
            model=model,
            deadline=deadline,
            save=save,
            as_json=json,
            explain=explain,
        )
    )


@app.command()
def verify(
    receipt: Annotated[Path, typer.Argument(help="A receipt that `ask --save` has written.")],
    book: Annotated[str | None, typer.Option(help="Check against this file or folder instead of the index.")] = None,
    json: Json = False,
) -> None:
    """Check every quote and sentence of a receipt again, all it says of them, and whether it was changed.

    Exit code 1 if something is not so. Its hash is no signature: whoever forges a receipt can make it anew.
    """
    from chapterverse.surfaces.cli import asking

    raise typer.Exit(asking.verify(receipt, book=book, as_json=json))


@app.command("eval")
def evaluate(
    questions: Annotated[str, typer.Argument(help="A file of questions, a JSON object per line; `sample` has some.")],
    index: Index = None,
    model: Model = "local",
    json: Annotated[Path | None, typer.Option(help="Keep the run in this file, for --against.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report: curves, and every wrong case.")] = None,
    against: Annotated[Path | None, typer.Option(help="Compare with a run that --json has kept.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Write every answer to this CSV file, to be rated.")] = None,
    rated: Annotated[list[Path] | None, typer.Option(help="A sheet that a rater has filled in; any number.")] = None,
    make: Annotated[bool, typer.Option("--make", help="Draft questions from the index into the file instead.")] = False,
    count: Annotated[int, typer.Option(help="How many questions --make drafts.")] = 60,
    quiet: Quiet = False,
) -> None:
    """Measure how good the answers are: right, supported, rightly refused; or draft questions for that."""
    from chapterverse.surfaces.cli import evaluating

    if make and (json or html or against or sheet or rated):
        raise AstRagValidationError("--make drafts questions and measures nothing: leave out what a measurement takes.")
    if make:
        raise typer.Exit(evaluating.make(questions, index=index, count=count))
    raise typer.Exit(
        evaluating.evaluate(
            questions,
            index=index,
            model=model,
            json=json,
            html=html,
            against=against,
            sheet=sheet,
            rated=rated or [],
            quiet=quiet,
        )
    )


@app.command()
def calibrate(
    questions: Annotated[str | None, typer.Argument(help="A file of questions about the books of the index.")] = None,
    index: Index = None,
    target: Annotated[float, typer.Option(help="The share of answers that may be wrong.")] = 0.01,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be stored.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the reader's own calibration.")] = False,
    quiet: Quiet = False,
) -> None:
    """Choose when an index answers rather than refuses, and store that with it."""
    from chapterverse.surfaces.cli import evaluating

    raise typer.Exit(
        evaluating.calibrate(questions, index=index, target=target, dry_run=dry_run, reset=reset, quiet=quiet)
    )


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 unless said otherwise.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 8080 unless said otherwise.")] = None,
    model: Annotated[str | None, typer.Option(help="Who writes: `local`, or provider:model.")] = None,
    root: Annotated[list[str] | None, typer.Option(help="What indexes may be built from over HTTP.")] = None,
    read_only: Annotated[bool | None, typer.Option("--read-only", help="Answer only: change no index.")] = None,
    allow_host: Annotated[list[str] | None, typer.Option(help="A name that the service is reached by.")] = None,
    allow_origin: Annotated[list[str] | None, typer.Option(help="A web site that may use the service.")] = None,
    unprotected: Annotated[
        bool | None, typer.Option("--unprotected", help="Without a key also on addresses that others can reach.")
    ] = None,
    deadline: Deadline = None,
    max_body: Annotated[int | None, typer.Option(help="Bytes that a request may have.")] = None,
    max_upload: Annotated[int | None, typer.Option(help="Bytes that a book may have that is sent in.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that answer; several need a Qdrant server.")] = None,
) -> None:
    """Serve questions, books and indexes over HTTP.

    CHAPTERVERSE_API_KEY is the key that clients must send; all the rest can be set by environment variable too.
    """
    from chapterverse.surfaces.http.serving import serve

    given = {
        "host": host, "port": port, "model": model, "roots": root, "read_only": read_only, "hosts": allow_host,
        "origins": allow_origin, "unprotected": unprotected, "deadline": deadline, "max_body": max_body,
        "max_upload": max_upload, "workers": workers,
    }  # fmt: skip
    serve(**{name: value for name, value in given.items() if value is not None})


@app.command()
def mcp(
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve streamable HTTP there, at /mcp, instead of stdin and stdout."),
    ] = None,
    model: Model = "local",
) -> None:
    """Offer the books to an assistant through the Model Context Protocol (MCP)."""
    from chapterverse.surfaces.mcp.run import run_http, run_stdio

    if http is None:
        run_stdio(model)
    else:
        run_http(http, model)


@app.command()
def doctor(
    online: Annotated[
        bool, typer.Option("--online", help="Also try the providers that are configured; costs a few tokens.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what is configured and whether it works; exit code 1 if something that is needed does not."""
    from chapterverse.surfaces.cli.doctor import run

    raise typer.Exit(run(online=online, as_json=json))


@app.command()
def remove(
    index: Annotated[str, typer.Argument(help="Which index.")],
    source: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Only this source of it, which may be gone.")
    ] = None,
    yes: Yes = False,
) -> None:
    """Delete an index, or drop one of its sources."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.remove(index, yes=yes) if source is None else shelf.remove_source(index, source, yes=yes))


@app.command("export")
def export_index(
    path: Annotated[Path, typer.Argument(help="The file to write.")],
    index: Index = None,
    replace: Annotated[bool, typer.Option("--replace", help="In place of any file of that name.")] = False,
) -> None:
    """Write an index to one file, to carry it elsewhere."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.export_index(index, path, replace=replace))


@app.command("import")
def import_index(
    path: Annotated[Path, typer.Argument(help="A file that `export` has written.", exists=True, dir_okay=False)],
    index: Annotated[str | None, typer.Option("--index", "-i", help="Under this name instead of its own.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="In place of an index of that name.")] = False,
) -> None:
    """Read an index from a file that `export` has written."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.import_index(path, index, replace=replace))


def complain(message: str) -> None:
    """What went wrong, and who says so."""
    from chapterverse.surfaces.cli.console import error_console

    error_console().print(f"chapterverse: {message}")


def main() -> None:
    """The entry point: errors that a user can meet are one readable line, never a stack trace."""
    try:
        app()
    except AstRagError as error:
        complain(with_flags(error.message))
        sys.exit(USAGE if isinstance(error, AstRagValidationError) else FAILED)
    except SystemExit as ended:
        if ended.code == STOPPED:  # typer has made this of Ctrl-C
            complain("stopped.")
        raise
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone away, which is their right
        sys.exit(OK)
    except OSError as error:
        name = error.filename or "A file"
        complain(f"{name} cannot be used: {error.strerror or error}.")
        sys.exit(FAILED)
