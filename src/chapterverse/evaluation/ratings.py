"""What people say of answers: the sheet that they fill in, and filled-in sheets read back into a run."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation.run import Case, Rating, Run

_ACCURATE, _CLARITY = "accurate and relevant (yes/no)", "clarity (1 to 5)"
_COLUMNS = ("id", "question", "answer", "source", "what the source says", _ACCURATE, _CLARITY, "remark")
_READ = {"id", "answer", _ACCURATE, _CLARITY}
_WORDS = {"yes": True, "y": True, "true": True, "1": True, "no": False, "n": False, "false": False, "0": False}
_FORMULA = ("=", "+", "-", "@")


class _Vote(NamedTuple):
    """One row of one rater's sheet."""

    accurate: bool | None
    clarity: float | None


_BLANK = _Vote(None, None)
_Rated = tuple[str, str]
"""What is rated: the question's id, and the answer's words."""


def save_sheet(path: Path, measured: Run) -> None:
    """Every answer as CSV, for people to rate: SC-002 by `accurate and relevant`, SC-008 by `clarity`."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # else Excel takes it for another encoding
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for case in measured.cases:
            if case.outcome and not case.outcome.refused:
                places = "\n".join(one.place for one in case.outcome.citations)
                quotes = "\n".join(one.quote for one in case.outcome.citations)
                row = (case.question.id, case.question.question, case.outcome.text, places, quotes, "", "", "")
                writer.writerow([_plain(cell) for cell in row])


def check_free(path: Path) -> None:
    """A new sheet must not be written over what somebody has filled in."""
    if path.exists() and any(vote != _BLANK for vote in _read(path).values()):
        raise AstRagValidationError(f"{path} holds ratings, which a new sheet would wipe out: move it first.")


@dataclass(frozen=True, slots=True)
class Ratings:
    """What raters say, a sheet for each of them."""

    sheets: Sequence[Path] = ()
    votes: Mapping[_Rated, Sequence[_Vote]] = field(default_factory=dict)

    def of(self, measured: Run) -> Run:
        """The run with its ratings, which are of answers as they stand in the sheets: one that has changed has none."""
        cases = [case.model_copy(update={"rating": _rating(self.votes.get(_key(case), ()))}) for case in measured.cases]
        return measured.model_copy(update={"cases": cases})

    def unused(self, measured: Run) -> str:
        """What to say where there are ratings and none of them is of an answer of this run."""
        if not self.sheets or any(case.rating for case in measured.cases):
            return ""
        return (
            f"No answer of this run is rated in {', '.join(map(str, self.sheets))}: ratings count for the answers that"
            " are in the sheet, word for word. Write a new sheet."
        )


UNRATED = Ratings()


def read(sheets: Sequence[Path]) -> Ratings:
    """What is in the sheets that raters filled in."""
    votes: dict[_Rated, list[_Vote]] = defaultdict(list)
    for path in sheets:
        cast = {key: vote for key, vote in _read(path).items() if vote != _BLANK}
        if not cast:
            raise AstRagValidationError(f"In {path} nothing is filled in: no answer is rated.")
        for key, vote in cast.items():
            votes[key].append(vote)
    return Ratings(sheets, votes)


def _rating(votes: Sequence[_Vote]) -> Rating | None:
    if not votes:
        return None
    accurate = [vote.accurate for vote in votes if vote.accurate is not None]
    clarity = [vote.clarity for vote in votes if vote.clarity is not None]
    return Rating(
        raters=len(votes),
        accurate=sum(accurate) / len(accurate) if accurate else None,
        clarity=sum(clarity) / len(clarity) if clarity else None,
    )


def _read(path: Path) -> Mapping[_Rated, _Vote]:
    try:
        text = path.read_text(encoding="utf-8-sig")  # as spreadsheets save it
    except OSError as error:
        raise AstRagValidationError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise AstRagValidationError(f"{path} is not UTF-8: save the sheet as CSV in UTF-8.") from error
    return dict(_votes(path, text))


def _votes(path: Path, text: str) -> Iterator[tuple[_Rated, _Vote]]:
    # Where the comma is in numbers, spreadsheets put semicolons between cells; some write tabs.
    tables = [csv.DictReader(StringIO(text, newline=""), delimiter=delimiter) for delimiter in ",;\t"]
    rows = max(tables, key=lambda table: len(_READ & set(table.fieldnames or ())))
    lacking = sorted(_READ - set(rows.fieldnames or ()))
    if lacking:
        raise AstRagValidationError(f"{path} is no rating sheet: it lacks the column {lacking[0]!r}.")
    for row in rows:
        cells = {name: (row[name] or "").strip() for name in _READ}
        vote = _Vote(_yes_or_no(cells[_ACCURATE], path, cells["id"]), _points(cells[_CLARITY], path, cells["id"]))
        yield (cells["id"], _words(cells["answer"])), vote


def _yes_or_no(cell: str, path: Path, row: str) -> bool | None:
    if cell and cell.lower() not in _WORDS:
        raise AstRagValidationError(f"{path}, row {row!r}, {_ACCURATE!r}: {cell!r} is neither yes nor no.")
    return _WORDS.get(cell.lower())


def _points(cell: str, path: Path, row: str) -> float | None:
    if not cell:
        return None
    try:
        points = float(cell.replace(",", "."))
    except ValueError:
        points = 0.0
    if not 1 <= points <= 5:
        raise AstRagValidationError(f"{path}, row {row!r}, {_CLARITY!r}: {cell!r} is no number from 1 to 5.")
    return points


def _key(case: Case) -> _Rated:
    return case.question.id, _words(_plain(case.outcome.text) if case.outcome else "")


def _words(text: str) -> str:
    """Whatever a spreadsheet made of the line ends, and of the quotation mark before a formula."""
    return " ".join(text.split()).removeprefix("'")


def _plain(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
