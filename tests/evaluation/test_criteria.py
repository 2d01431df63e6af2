"""The release gate on a few questions: it is met by what is whole, and missed by what is broken on purpose."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks import gate

from chapterverse.errors import AstRagError
from chapterverse.evaluation import criteria, questions, run
from chapterverse.evaluation.criteria import Criterion, Sizes
from chapterverse.evaluation.questions import Question
from chapterverse.ingest.books import sample_book
from chapterverse.library import Library
from chapterverse.types import Answer
from tests.clocks import INDEX, new_home

SMALL = Sizes(1, 1, 1)
ASKED = "How did Ambrose Kell teach his apprentices?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_home(tmp_path_factory)


@pytest.fixture(scope="module")
def few() -> list[Question]:
    """One question of each kind, that are answered or refused with ease."""
    kept = {one.id: one for one in questions.load(sample_book().parent / "questions.jsonl")}
    quote = "Ambrose Kell, who disliked talking, used to teach the matter by placing a seven-pound weight in a new"
    fact = Question(id="fact", kind="answerable", question=ASKED, answer="Ambrose Kell", quotes=[quote])
    return [fact, kept["o001"], kept["s001"]]


def judged(home: Path, few: list[Question], library: type[Library]) -> dict[str, Criterion]:
    found, _ = criteria.check(home, few, index=INDEX, library=library, sizes=SMALL)
    assert [one.id for one in found] == [f"SC-{n:03}" for n in range(1, 11)]
    return {one.id: one for one in found}


def missed(found: dict[str, Criterion]) -> set[str]:
    # How long an answer takes on a busy machine is no matter of these tests.
    return {one.id for one in found.values() if not one.met} - {"SC-001"}


PROBES = {"selections": "SC-005", "memory": "SC-009", "failures": "SC-010"}


class Inventive(Library):
    """Adds a word to what the book says."""

    def ask(self, question: str, **options: Any) -> Answer:
        answer = super().ask(question, **options)
        said = tuple(replace(one, text=one.text.replace("weight", "gold weight")) for one in answer.sentences)
        return replace(answer, sentences=said)


class Chatty(Library):
    """Refuses in words of its own."""

    def ask(self, question: str, **options: Any) -> Answer:
        answer = super().ask(question, **options)
        return replace(answer, text=f"Sorry! {answer.text}.") if answer.status == "refused" else answer


class Curious(Library):
    """Looks into the index though a passage was selected."""

    def ask(self, question: str, **options: Any) -> Answer:
        if options.get("selection"):
            self.indexes()
        return super().ask(question, **options)


class Remembering(Library):
    """Answers with what it answered before."""

    last: Answer | None = None

    def ask(self, question: str, **options: Any) -> Answer:
        answer = super().ask(question, **options)
        if self.last is not None and not options.get("selection"):
            answer = replace(answer, text=f"{answer.text} {self.last.text}")
        self.last = answer
        return answer


class Unshaken(Library):
    """Says something even when its store is gone."""

    def ask(self, question: str, **options: Any) -> Answer:
        try:
            return super().ask(question, **options)
        except AstRagError:
            return Answer(question, "It was Ambrose Kell.", "ok", None, (), (), (), 1.0, "Good", "")


@pytest.fixture(scope="module")
def whole(home: Path, few: list[Question]) -> dict[str, Criterion]:
    return judged(home, few, Library)


def test_what_is_whole_meets_every_criterion(whole: dict[str, Criterion]) -> None:
    assert missed(whole) == set(), whole


def test_proxies_say_that_they_are_proxies(whole: dict[str, Criterion]) -> None:
    assert {one.id for one in whole.values() if one.proxy} == {"SC-002", "SC-008"}
    assert all("needs people" in one.proxy for one in whole.values() if one.proxy)


@pytest.mark.parametrize(
    ("broken", "criterion"),
    [
        (Inventive, "SC-003"),
        (Chatty, "SC-004"),
        (Curious, "SC-005"),
        pytest.param(Remembering, "SC-009", marks=pytest.mark.full),
        pytest.param(Unshaken, "SC-010", marks=pytest.mark.full),
    ],
)
def test_what_is_broken_on_purpose_is_seen(
    home: Path, few: list[Question], broken: type[Library], criterion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for probe, judges in PROBES.items():
        if judges != criterion:  # they ask many questions, and judge nothing of what is broken here
            passed = Criterion(judges, "", "", True)
            monkeypatch.setattr(criteria._Probes, probe, lambda self, passed=passed: passed)
    assert missed(judged(home, few, broken)) >= {criterion}


@pytest.mark.full
def test_the_gate_is_shut_by_too_few_questions(
    few: list[Question], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions.save(tmp_path / "few.jsonl", few[:2])
    assert gate.main(["--questions", str(tmp_path / "few.jsonl"), "--out", str(tmp_path)]) == 1
    missed = next(line for line in capsys.readouterr().out.splitlines() if "Missed" in line)
    assert {"SC-003", "SC-004", "SC-005"} <= set(re.findall(r"SC-\d+", missed))
    assert run.load(tmp_path / "run.json").cases[0].question == few[0]
    assert "What went wrong" in (tmp_path / "report.html").read_text(encoding="utf-8")
    sheet = (tmp_path / "rating-sheet.csv").read_text(encoding="utf-8-sig")
    assert sheet.startswith("id,question,answer,source")
    assert "Ambrose Kell" in sheet
    assert "o001" not in sheet, "a refusal is not rated"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("gate --questions no.jsonl", "gate: The questions in no.jsonl cannot be read"),
        ("public --data no", "there is no folder 'no'"),
        ("public --data .", "has no folder `dev` with question sets"),
        ("index --data no", "there is no folder 'no'"),
        ("unseen --reader no", "there is no folder 'no'"),
    ],
)
def test_a_benchmark_tells_at_once_what_is_not_there(command: str, message: str, tmp_path: Path) -> None:
    name, *options = command.split()
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(gate.ROOT), str(gate.ROOT / "src")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert message in done.stderr
