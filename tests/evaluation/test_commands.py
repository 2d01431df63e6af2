"""`chapterverse eval` and `calibrate` as a user meets them, on the indexed sample book."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from chapterverse.evaluation import questions, run
from chapterverse.evaluation.questions import Question
from chapterverse.library import Generation, Library
from chapterverse.settings import Settings
from chapterverse.surfaces import cli
from tests.clocks import INDEX, new_home

FEW = [
    Question(
        id="kell",
        kind="answerable",
        question="How did Ambrose Kell teach his apprentices?",
        answer="Ambrose Kell",
        quotes=["Ambrose Kell, who disliked talking, used to teach the matter by placing a seven-pound weight"],
    ),
    Question(id="breakfast", kind="absent", question="What did Ambrose Kell eat for breakfast?"),
    Question(id="cake", kind="out_of_scope", question="How do I bake a cake?"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = new_home(tmp_path_factory)
    questions.save(home / "few.jsonl", FEW)
    return home


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def chapterverse(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """The command line in this process, with the exit code and what it printed."""
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(home))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["chapterverse", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Done(int(ended.value.code or 0), *capsys.readouterr())

    return call


def test_eval_measures_keeps_reports_and_compares(home: Path, chapterverse: Callable[..., Done]) -> None:
    kept, page = home / "run.json", home / "report.html"
    done = chapterverse("eval", home / "few.jsonl", "--json", kept, "--html", page)
    assert done.returncode == 0, done.stderr
    assert "supported sentences" in done.stdout
    assert "0 of 3 questions went wrong" in done.stdout
    measured = run.load(kept)
    assert [case.outcome.status for case in measured.cases if case.outcome] == ["ok", "refused", "refused"]
    assert measured.cases[0].rank is not None
    assert measured.cases[1].bolder is not None, "what the threshold refused was asked again without it"
    assert "What went wrong: 0 of 3" in page.read_text(encoding="utf-8")
    again = chapterverse("eval", home / "few.jsonl", "--against", kept)
    assert again.returncode == 0, again.stderr
    assert "Against" in again.stdout


def test_calibrate_shows_stores_and_takes_back(home: Path, chapterverse: Callable[..., Done]) -> None:
    dry = chapterverse("calibrate", home / "few.jsonl", "--target", "0.2", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "Nothing was stored" in dry.stdout
    done = chapterverse("calibrate", home / "few.jsonl", "--target", "0.2")
    assert done.returncode == 0, done.stderr
    assert "chosen" in done.stdout
    assert "Too few questions to show 20.0%" in done.stdout
    with Library(Settings(home=home)) as library:
        stored = library.record(INDEX).calibration
        assert stored["target"] == 0.2
        answer = library.ask(FEW[0].question, generation=Generation(seconds=300))
        assert answer.answerable >= stored["answer_threshold"]
    shown = json.loads(chapterverse("inspect", "--json").stdout)
    assert shown["calibration"]["answer_threshold"] == stored["answer_threshold"]
    assert "calibrated" in chapterverse("inspect").stdout
    assert chapterverse("calibrate", "--reset").returncode == 0
    with Library(Settings(home=home)) as library:
        assert library.record(INDEX).calibration == {}


def test_answers_are_rated_in_a_sheet(home: Path, chapterverse: Callable[..., Done]) -> None:
    sheet = home / "sheet.csv"
    done = chapterverse("eval", home / "few.jsonl", "--sheet", sheet)
    assert done.returncode == 0, done.stderr
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        row["accurate and relevant (yes/no)"], row["clarity (1 to 5)"] = "yes", "4"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    again = chapterverse("eval", home / "few.jsonl", "--rated", sheet)
    assert re.search(r"rated accurate +100\.0%", again.stdout), again.stdout
    assert re.search(r"rated clarity +80\.0%", again.stdout), again.stdout
    sheet.write_text("nothing")
    wrong = chapterverse("eval", home / "few.jsonl", "--rated", sheet)
    assert (wrong.returncode, "no rating sheet" in wrong.stderr) == (2, True), wrong.stderr


@pytest.mark.parametrize(
    ("model", "code", "message"),
    [("foo", 2, "foo"), ("openai:gpt-5.4-mini", 1, "OPENAI_API_KEY")],
)
def test_eval_without_a_model_is_one_error_at_once(
    home: Path,
    chapterverse: Callable[..., Done],
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    code: int,
    message: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = chapterverse("eval", home / "few.jsonl", "--model", model)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert message in done.stderr


def test_eval_fails_where_no_question_gets_an_answer(
    home: Path, chapterverse: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "http://127.0.0.1:9/v1")
    questions.save(home / "one.jsonl", FEW[:1])
    done = chapterverse("eval", home / "one.jsonl", "--model", "openai-compatible:m")
    assert (done.returncode, done.stdout) == (1, "")
    assert "None of 1 questions got an answer. The first: " in done.stderr


def test_a_file_without_questions_names_a_new_one_for_drafts(home: Path, chapterverse: Callable[..., Done]) -> None:
    (home / "empty.jsonl").write_text("\n")
    done = chapterverse("eval", home / "empty.jsonl")
    assert done.returncode == 2
    assert f"`chapterverse eval {home / 'empty-drafts.jsonl'} --make` drafts some." in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json", "few.jsonl"], "--json would write over"),
        (["--json", "new.json", "--html", "./new.json"], "--html would write over"),
        (["--html", "nowhere/report.html"], "there is no folder nowhere"),
        (["--sheet", "."], "--sheet: . is a folder"),
    ],
)
def test_what_cannot_be_written_is_told_before_anything_is_asked(
    home: Path, chapterverse: Callable[..., Done], monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setattr(run, "run", lambda *_, **__: pytest.fail("a question was asked"))
    done = chapterverse("eval", home / "few.jsonl", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert questions.load(home / "few.jsonl") == FEW


def test_quotes_that_are_not_in_the_book_are_told_when_a_threshold_is_chosen_too(
    home: Path, chapterverse: Callable[..., Done]
) -> None:
    odd = FEW[0].model_copy(update={"quotes": [*FEW[0].quotes, "Ambrose Kell never did."]})
    questions.save(home / "odd.jsonl", [odd, *FEW[1:]])
    done = chapterverse("calibrate", home / "odd.jsonl", "--target", "0.2", "--dry-run")
    assert "kell: “Ambrose Kell never did.” is not in the books of this index." in done.stdout, done.stderr


@pytest.mark.parametrize(("kept", "message"), [(slice(0, 1), "is to be refused"), (slice(1, 3), "has an answer")])
def test_a_threshold_is_chosen_by_questions_of_both_kinds(
    home: Path, chapterverse: Callable[..., Done], kept: slice, message: str
) -> None:
    questions.save(home / "half.jsonl", FEW[kept])
    done = chapterverse("calibrate", home / "half.jsonl", "--target", "0.2")
    assert done.returncode == 2
    assert f"None of the questions {message}" in done.stderr


def test_make_drafts_into_a_new_file_only(home: Path, chapterverse: Callable[..., Done]) -> None:
    path = home / "drafts.jsonl"
    done = chapterverse("eval", path, "--make", "--count", "12")
    assert done.returncode == 0, done.stderr
    assert "A machine made them" in done.stdout
    assert len(questions.load(path)) == 12
    again = chapterverse("eval", path, "--make")
    assert again.returncode == 2
    assert "is there already" in again.stderr
    nowhere = chapterverse("eval", home / "nowhere" / "drafts.jsonl", "--make")
    assert (nowhere.returncode, "there is no folder" in nowhere.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eval", "none.jsonl"], "cannot be read"),
        (["eval", "x.jsonl", "--make", "--html", "r.html"], "measures nothing"),
        (["calibrate"], "Which questions?"),
    ],
)
def test_mistakes_are_told(chapterverse: Callable[..., Done], arguments: list[str], message: str) -> None:
    done = chapterverse(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
