"""How good the answers are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chapterverse.errors import AstRagValidationError
from chapterverse.surfaces.cli.commands.options import Index, Model, Quiet


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
