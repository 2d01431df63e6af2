"""`chapterverse eval` and `calibrate`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.text import Text

from chapterverse.errors import AstRagGroundingError, AstRagValidationError
from chapterverse.evaluation import calibrate as calibration
from chapterverse.evaluation import compare, drafts, measures, questions, ratings, report, run
from chapterverse.evaluation.questions import Question
from chapterverse.evaluation.worth import doubts
from chapterverse.ingest.books import sample_book
from chapterverse.library import Library
from chapterverse.surfaces.cli.console import console, error_console, table
from chapterverse.surfaces.cli.exits import OK

_DOUBTS = 12
"""How many odd quotes of a question set are told at once."""


def evaluate(
    path: str,
    *,
    index: str | None,
    model: str,
    json: Path | None,
    html: Path | None,
    against: Path | None,
    sheet: Path | None,
    rated: list[Path],
    quiet: bool,
) -> int:
    """Ask every question of a file and show how good the answers are."""
    asked = questions.load(_questions(path))
    earlier, said = run.load(against) if against else None, ratings.read(rated)
    _check_free({"--json": json, "--html": html, "--sheet": sheet}, [_questions(path), *rated])
    if sheet:
        ratings.check_free(sheet)
    with Library() as library, _progress(len(asked), not quiet) as step:
        measured = run.run(library, asked, index, model, progress=step)
    if all(case.outcome is None for case in measured.cases):
        raise AstRagGroundingError(
            f"None of {len(asked)} questions got an answer. The first: {measured.cases[0].error}"
        )
    measured = said.of(measured)
    comparison = compare.compare(earlier, measured) if earlier else None
    if json:
        run.save(json, measured)
    if html:
        html.write_text(report.html(measured, comparison), encoding="utf-8")
    if sheet:
        ratings.save_sheet(sheet, measured)
    _show(measured)
    if unused := said.unused(measured):
        console().print(Text.assemble(("warning", "yellow"), f" {unused}"))
    if comparison:
        _show_comparison(comparison)
    for written in filter(None, (json, html, sheet)):
        console().print(f"Wrote {written}.")
    return OK


def make(path: str, *, index: str | None, count: int) -> int:
    """Draft a question set from the books of an index."""
    target = Path(path)
    if target.exists():
        raise AstRagValidationError(f"{path} is there already; drafts are written to a new file only.")
    _check_folder(target)
    with Library() as library:
        drafted = drafts.draft(library, index, count)
    questions.save(target, drafted)
    kinds = ", ".join(f"{sum(one.kind == kind for one in drafted)} {kind}" for kind in ("answerable", "absent"))
    others = sum(one.kind == "out_of_scope" for one in drafted)
    console().print(
        f"Wrote {len(drafted)} questions to {path}: {kinds}, {others} out_of_scope. A machine made them: read"
        " them, mend or delete what is odd, and add your own before you trust a figure."
    )
    return OK


def calibrate(path: str | None, *, index: str | None, target: float, dry_run: bool, reset: bool, quiet: bool) -> int:
    """Choose the threshold for answering by a user's questions, and store it with the index."""
    out = console()
    if reset:
        with Library() as library:
            record = library.calibrate({}, index)
        out.print(f"{record.name} is answered from where the reader's own calibration says so.")
        return OK
    if path is None:
        raise AstRagValidationError("Which questions? Give a file of them, or --reset.")
    calibration.check_target(target)
    asked = [one for one in questions.load(_questions(path)) if one.selection is None]
    calibration.check_kinds(asked)
    with Library() as library, _progress(len(asked), not quiet) as step:
        measured = run.run(library, asked, index, calibrated=False, progress=step)
        choice = calibration.choose(measured, target)
        if not dry_run:
            library.calibrate(choice.stored(measured), index)
    _show_choice(choice)
    _show_doubts(measured)
    out.print("Nothing was stored (--dry-run)." if dry_run else "Stored with the index; `calibrate --reset` undoes it.")
    return OK


def _check_free(written: Mapping[str, Path | None], read: Sequence[Path]) -> None:
    """What is written at the end must be writable, and none of what is read: asking takes long."""
    taken = {path.resolve(): str(path) for path in read}
    for option, path in written.items():
        if path is None:
            continue
        if other := taken.get(path.resolve()):
            raise AstRagValidationError(f"{option} would write over {other}: give it a file of its own.")
        if path.is_dir():
            raise AstRagValidationError(f"{option}: {path} is a folder; name a file.")
        _check_folder(path)
        taken[path.resolve()] = f"{path}, which {option} writes"


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise AstRagValidationError(f"{path} cannot be written: there is no folder {path.parent}.")


def _questions(path: str) -> Path:
    return sample_book().parent / "questions.jsonl" if path == "sample" else Path(path)


def _show(measured: run.Run) -> None:
    out = console()
    shown = table("", "", ">value", ">95 % interval", ">cases")
    group = ""
    for one in measures.figures(measured):
        cells = (f"{one.value:.1%}", f"{one.low:.1%} – {one.high:.1%}", str(one.count))
        shown.add_row(one.group if one.group != group else "", one.name, *cells)
        group = one.group
    out.print(shown)
    times = table("Seconds", ">p50", ">p95", ">highest")
    for stage in measures.latencies(measured):
        times.add_row(stage.stage, f"{stage.p50:.3f}", f"{stage.p95:.3f}", f"{stage.highest:.3f}")
    out.print()
    out.print(times)
    spent = measures.cost(measured)
    dollars = "at a price that is not known" if spent.dollars is None else f"${spent.dollars:.4f}"
    failed = [case for case in measured.cases if case.outcome is None]
    faulty = sum(report.fault(case) is not None for case in measured.cases)
    out.print(f"\n{spent.tokens:,} tokens, {dollars}. {faulty} of {len(measured.cases)} questions went wrong.")
    for case in failed:
        out.print(Text.assemble(("failed", "red"), f" {case.question.id}: {case.error}"))
    _show_doubts(measured)


def _show_doubts(measured: run.Run) -> None:
    told = [(case.question.id, doubt) for case in measured.cases for doubt in doubts(case)]
    for key, doubt in told[:_DOUBTS]:
        console().print(Text.assemble(("warning", "yellow"), f" {key}: {doubt}."))
    if len(told) > _DOUBTS:
        console().print(f"… and {len(told) - _DOUBTS} more of the kind.")


def _show_comparison(made: compare.Comparison) -> None:
    out = console()
    shown = table("Against", "", ">before", ">now", ">difference", "")
    for one in made.changes:
        colour, word = ("green", "better") if one.better else ("red", "worse")
        mark = Text(word, colour) if one.matters else ""
        difference = f"{one.after - one.before:+.1%}"
        shown.add_row(one.group, one.name, f"{one.before:.1%}", f"{one.after:.1%}", difference, mark)
    out.print(shown)
    for name, ids in (("Mended", made.mended), ("Broken", made.broken)):
        if ids:
            out.print(f"{name}: {', '.join(ids)}")
    if made.left_out:
        out.print(f"Not compared: {made.left_out}, which only one of the runs has, or which were changed in between.")


def _show_choice(choice: calibration.Choice) -> None:
    out = console()
    shown = table(">threshold", ">answers", ">wrong", ">risk", ">at most (95 %)", ">coverage", "")
    rows = {row.point.threshold: (row, "") for row in choice.table}
    rows[choice.default.point.threshold] = (choice.default, "in use")
    rows[choice.chosen.point.threshold] = (choice.chosen, "chosen")
    for threshold in sorted(rows, reverse=True):
        row, mark = rows[threshold]
        point = row.point
        cells = (f"{threshold:.3f}", str(point.answers), str(point.wrong), f"{point.risk:.1%}")
        shown.add_row(*cells, f"{row.limit:.1%}", f"{point.coverage:.1%}", mark)
    out.print(shown)
    chosen = choice.chosen
    out.print(
        f"\nFrom {chosen.point.threshold:.3f} on, {chosen.point.risk:.1%} of {chosen.point.answers} answers were wrong,"
        f" and {chosen.point.coverage:.1%} of the questions with an answer were answered."
    )
    if not choice.shown:
        told = (
            f": with 95 % confidence these show at most {chosen.limit:.1%}."
            f" It takes {choice.needed} answers without a mistake."
        )
        out.print(Text.assemble((f"Too few questions to show {choice.target:.1%}", "yellow"), told))


@contextmanager
def _progress(total: int, show: bool) -> Iterator[Any]:
    """A bar on the terminal; nothing at all when piped."""
    if not (show and sys.stderr.isatty()):
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Asking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=error_console(), transient=True) as bar:
        task = bar.add_task("", total=total)

        def step(_: Question) -> None:
            bar.advance(task)

        yield step
