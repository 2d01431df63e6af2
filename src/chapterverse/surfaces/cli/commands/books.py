"""Reading books, and the indexes that are made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chapterverse.errors import AstRagValidationError
from chapterverse.surfaces.cli.commands.options import (
    AllowPrivate,
    Exclude,
    Include,
    Index,
    Json,
    MaxFiles,
    Name,
    Password,
    Quiet,
    Yes,
)


def read(
    address: Annotated[
        str, typer.Argument(help="A file, a folder, https://… or gdrive:<id>; `sample` is the book that comes along.")
    ],
    json: Json = False,
    password: Password = None,
    include: Include = None,
    exclude: Exclude = None,
    max_files: MaxFiles = None,
    allow_private: AllowPrivate = False,
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
    include: Include = None,
    exclude: Exclude = None,
    password: Password = None,
    max_files: MaxFiles = None,
    allow_private: AllowPrivate = False,
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


def watch(
    name: Name = None,
    index: Index = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to wait between two looks.")] = 5.0,
    password: Password = None,
) -> None:
    """Keep an index in step with its sources until interrupted."""
    from chapterverse.surfaces.cli import shelf

    shelf.watch(_named(name, index), seconds=seconds, password=password)


def list_indexes(json: Json = False) -> None:
    """Show the indexes there are."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.list_indexes(as_json=json))


def inspect(
    name: Name = None,
    index: Index = None,
    json: Json = False,
) -> None:
    """Show what an index holds, and how it was made."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.inspect(_named(name, index), as_json=json))


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


def export_index(
    path: Annotated[Path, typer.Argument(help="The file to write.")],
    index: Index = None,
    replace: Annotated[bool, typer.Option("--replace", help="In place of any file of that name.")] = False,
) -> None:
    """Write an index to one file, to carry it elsewhere."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.export_index(index, path, replace=replace))


def import_index(
    path: Annotated[Path, typer.Argument(help="A file that `export` has written.", exists=True, dir_okay=False)],
    index: Annotated[str | None, typer.Option("--index", "-i", help="Under this name instead of its own.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="In place of an index of that name.")] = False,
) -> None:
    """Read an index from a file that `export` has written."""
    from chapterverse.surfaces.cli import shelf

    raise typer.Exit(shelf.import_index(path, index, replace=replace))


def _named(name: str | None, index: str | None) -> str | None:
    """The index that is named, with the option or without."""
    if name is not None and index is not None:
        raise AstRagValidationError("The index is named twice: leave out --index, or the name before it.")
    return index if name is None else name
