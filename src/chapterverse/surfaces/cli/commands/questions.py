"""Questions to the books, and the answers that were kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chapterverse.surfaces.cli.commands.options import Deadline, Index, Json, Model

Section = Annotated[
    str | None, typer.Option("--section", "--scope", help="Only in this chapter or section, e.g. 'Chapter 3'.")
]
Pages = Annotated[
    str | None, typer.Option("--page", help="Only on this page, as citations name it, or pages such as 12-15.")
]
Files = Annotated[list[str] | None, typer.Option("--file", help="Only in these files.")]
ReadUntil = Annotated[int | None, typer.Option(min=1, help="Nothing after this page of the file: no spoilers.")]


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


def ask(
    question: Annotated[str, typer.Argument(help="What to ask the book; - reads it from stdin.")],
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
