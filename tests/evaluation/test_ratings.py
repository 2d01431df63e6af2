"""The sheet for raters, and what becomes of one that was filled in."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation import criteria, measures, ratings, run
from chapterverse.evaluation.criteria import Criterion
from chapterverse.evaluation.run import Run
from tests.evaluation.cases import a_run, case, cited, outcome, question

ACCURATE, CLARITY = "accurate and relevant (yes/no)", "clarity (1 to 5)"


@pytest.fixture
def measured() -> Run:
    answers = {"a": "It was Ann.", "b": "-5 degrees, she said.", "c": "One line.\nAnother."}
    given = [case(question(key), outcome(text, cited(100, 140))) for key, text in answers.items()]
    return a_run(*given, case(question("d", "absent"), outcome("Not available")))


def sheet(path: Path, measured: Run) -> list[dict[str, str]]:
    ratings.save_sheet(path, measured)
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(path: Path, measured: Run, votes: dict[str, tuple[str, str]], delimiter: str = ",") -> Path:
    """The sheet as a rater's spreadsheet saves it."""
    rows = sheet(path, measured)
    for row in rows:
        row[ACCURATE], row[CLARITY] = votes.get(row["id"], ("", ""))
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows({name: cell.replace("\n", "\r\n") for name, cell in row.items()} for row in rows)
    return path


def judged(measured: Run) -> dict[str, Criterion]:
    return {one.id: one for one in criteria._of_run(measured, criteria.Sizes(1, 1, 1))}


def test_a_sheet_has_the_answers_and_no_refusal(measured: Run, tmp_path: Path) -> None:
    rows = sheet(tmp_path / "1.csv", measured)
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert rows[1]["answer"] == "'-5 degrees, she said.", "else a spreadsheet would compute it"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_raters_say_is_a_figure_and_decides_the_criteria(measured: Run, tmp_path: Path, delimiter: str) -> None:
    one = filled(tmp_path / "1.csv", measured, {"a": ("yes", "5"), "b": ("Yes", "4"), "c": ("y", "3,5")}, delimiter)
    two = filled(tmp_path / "2.csv", measured, {"a": ("yes", "5"), "b": ("no", "4"), "c": ("yes", "")}, delimiter)
    said = ratings.read([one, two]).of(measured)
    figures = {figure.name: figure.value for figure in measures.figures(said)}
    assert figures["rated accurate"] == pytest.approx(5 / 6)
    assert figures["rated clarity"] == pytest.approx((5 + 4 + 3.5) / 15)
    found = judged(said)
    assert found["SC-002"].found == "2 of 3, by 2 raters", "an answer that half of them doubt does not count"
    assert not found["SC-002"].met
    assert (found["SC-008"].found, found["SC-008"].met) == ("4.17 over 3, by 2 raters", True)
    assert found["SC-002"].proxy == found["SC-008"].proxy == ""
    assert judged(ratings.read([one]).of(measured))["SC-002"].met


def test_what_nobody_has_rated_is_not_taken_for_accurate(measured: Run, tmp_path: Path) -> None:
    sheet = filled(tmp_path / "1.csv", measured, {"a": ("yes", "5"), "b": ("yes", "5")})
    found = judged(ratings.read([sheet]).of(measured))
    assert (found["SC-002"].found, found["SC-002"].met) == ("2 of 2, by 1 rater; 1 not rated", False)
    assert not found["SC-008"].met


def test_without_sheets_proxies_stand_in(measured: Run) -> None:
    assert ratings.read([]).of(measured) == measured
    assert judged(measured)["SC-002"].proxy


def test_a_rating_is_of_the_answer_that_was_rated(measured: Run, tmp_path: Path) -> None:
    sheet = filled(tmp_path / "1.csv", measured, {"a": ("yes", "5"), "b": ("yes", "5"), "c": ("yes", "5")})
    changed = a_run(case(question("a"), outcome("It was Bob.", cited(100, 140))), *measured.cases[1:])
    assert [one.rating is not None for one in ratings.read([sheet]).of(changed).cases] == [False, True, True, False]
    assert ratings.read([sheet]).unused(ratings.read([sheet]).of(changed)) == ""
    other = ratings.read([sheet]).of(a_run(case(question("a"), outcome("It was Bob.", cited(100, 140)))))
    assert re.match(r"No answer of this run is rated in .*1\.csv", ratings.read([sheet]).unused(other))


def test_what_was_filled_in_is_not_written_over(measured: Run, tmp_path: Path) -> None:
    path = tmp_path / "1.csv"
    ratings.check_free(path)
    sheet(path, measured)
    ratings.check_free(path)
    with pytest.raises(AstRagValidationError, match=r"1\.csv nothing is filled in: no answer is rated"):
        ratings.read([path])
    filled(path, measured, {"a": ("no", "")})
    with pytest.raises(AstRagValidationError, match=r"1\.csv holds ratings"):
        ratings.check_free(path)


def test_who_left_an_answer_blank_has_not_rated_it(measured: Run, tmp_path: Path) -> None:
    one = filled(tmp_path / "1.csv", measured, {"a": ("yes", "5"), "b": ("yes", "5"), "c": ("yes", "5")})
    two = filled(tmp_path / "2.csv", measured, {"a": ("yes", "5")})
    said = [case.rating for case in ratings.read([one, two]).of(measured).cases]
    assert [rating.raters if rating else 0 for rating in said] == [2, 1, 1, 0]


def test_ratings_are_kept_with_the_run(measured: Run, tmp_path: Path) -> None:
    said = ratings.read([filled(tmp_path / "1.csv", measured, {"a": ("no", "2")})]).of(measured)
    run.save(tmp_path / "run.json", said)
    assert run.load(tmp_path / "run.json") == said


@pytest.mark.parametrize(
    ("vote", "message"),
    [
        (("perhaps", "5"), r"1\.csv, row 'a', 'accurate and relevant \(yes/no\)': 'perhaps' is neither yes nor no"),
        (("yes", "6"), r"1\.csv, row 'a', 'clarity \(1 to 5\)': '6' is no number from 1 to 5"),
        (("yes", "good"), "'good' is no number"),
    ],
)
def test_a_bad_cell_is_named(measured: Run, tmp_path: Path, vote: tuple[str, str], message: str) -> None:
    with pytest.raises(AstRagValidationError, match=message):
        ratings.read([filled(tmp_path / "1.csv", measured, {"a": vote})])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"1\.csv cannot be read: No such file"),
        (b"id,question\na,b\n", r"1\.csv is no rating sheet: it lacks the column 'accurate and relevant"),
        (b"id,answer\n\xff\xfe", r"1\.csv is not UTF-8"),
    ],
)
def test_what_is_no_sheet_is_an_error(tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "1.csv").write_bytes(content)
    with pytest.raises(AstRagValidationError, match=message):
        ratings.read([tmp_path / "1.csv"])
