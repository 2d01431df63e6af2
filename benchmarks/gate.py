"""The release gate: SC-001 to SC-010 on the sample book. `make gate` runs this.

    python -m benchmarks.gate [--questions FILE] [--out FOLDER] [--rated SHEET]... [--calibrated-by FILE]

The exit code is 1 if any criterion is missed, 2 if a file is faulty or no threshold will do. FOLDER gets the run
(`run.json`), its report (`report.html`) and the sheet for human raters (`rating-sheet.csv`); `--rated` takes one that
somebody has filled in. With `--calibrated-by` the index answers from where these other questions say that 5 % of
answers are wrong, as `chapterverse calibrate` does. The verdicts are printed and, of the sample's own questions, kept
in `benchmarks/results/gate.md` (`gate-calibrated.md`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.environments import ROOT, circumstances, publish, table

from chapterverse import sample_book
from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation import calibrate, criteria, questions, ratings, report, run
from chapterverse.evaluation.criteria import Criterion
from chapterverse.evaluation.questions import Question
from chapterverse.evaluation.run import Run
from chapterverse.library import Library
from chapterverse.settings import Settings

INDEX = "clocks"
SHEET = "rating-sheet.csv"
TARGET = 0.05
"""What SC-002 allows to be wrong."""
QUESTIONS = sample_book().parent / "questions.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    began = time.perf_counter()
    asked, rated = questions.load(options.questions), ratings.read(options.rated)
    ratings.check_free(options.out / SHEET)
    with tempfile.TemporaryDirectory() as home:
        with Library(Settings(home=Path(home))) as library:
            library.add("sample", index=INDEX)
            if options.calibrated_by:
                chosen_by = run.run(library, _of_book(options.calibrated_by), INDEX)
                library.calibrate(calibrate.choose(chosen_by, TARGET).stored(chosen_by), INDEX)
        found, measured = criteria.check(Path(home), asked, index=INDEX, rated=rated, progress=_dot)
    options.out.mkdir(parents=True, exist_ok=True)
    run.save(options.out / "run.json", measured)
    (options.out / "report.html").write_text(report.html(measured), encoding="utf-8")
    ratings.save_sheet(options.out / SHEET, measured)
    print(f"\n{rated.unused(measured)}".rstrip(), file=sys.stderr)
    result = _result(found, measured, time.perf_counter() - began)
    if options.questions == QUESTIONS:
        publish("gate-calibrated" if options.calibrated_by else "gate", result)
    else:
        print(result)
    print(f"The run, its report and the rating sheet are in {options.out}.", file=sys.stderr)
    return 0 if all(one.met for one in found) else 1


def _of_book(path: Path) -> list[Question]:
    return [one for one in questions.load(path) if one.selection is None]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The success criteria on the sample book.")
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--out", type=Path, default=ROOT / ".local" / "gate")
    parser.add_argument("--calibrated-by", type=Path, help="other questions, to choose the threshold by")
    parser.add_argument("--rated", type=Path, action="append", default=[], help="a filled-in rating sheet")
    return parser.parse_args(arguments)


def _result(found: list[Criterion], measured: Run, seconds: float) -> str:
    missed = [one.id for one in found if not one.met]
    verdict = f"**Missed: {', '.join(missed)}.**" if missed else "**All ten criteria are met.**"
    rows = [(one.id, one.demand, one.found, "met" if one.met else "**missed**") for one in found]
    proxies = [f"- {one.id} is measured by a proxy: {one.proxy}." for one in found if one.proxy]
    answerable = [case.outcome for case in measured.cases if case.question.kind == "answerable" and case.outcome]
    covered = sum(not outcome.refused for outcome in answerable)
    about = (
        f"{len(measured.cases)} questions in {seconds / 60:.1f} minutes. Answers are given from a chance of"
        f" {measured.threshold:.2f} on: {covered} of {len(answerable)} to questions that the book answers."
        f" {circumstances()}"
    )
    return "\n\n".join(
        ["# The release gate", about, verdict, table(("", "demand", "found", ""), rows), "\n".join(proxies)]
    )


def _dot(_: object) -> None:
    print(".", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AstRagValidationError as error:
        print(f"gate: {error.message}", file=sys.stderr)
        sys.exit(2)
