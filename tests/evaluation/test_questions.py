"""Question sets: what is wrong with a file is told by line and field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation import questions
from chapterverse.ingest.books import sample_book

GOOD = {"id": "a", "kind": "answerable", "question": "Who?", "answer": "Nobody."}


def written(path: Path, *rows: object) -> Path:
    file = path / "questions.jsonl"
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return file


def test_the_sample_set_is_read_and_written_again(tmp_path: Path) -> None:
    asked = questions.load(sample_book().parent / "questions.jsonl")
    assert {one.kind for one in asked} == {"answerable", "absent", "out_of_scope", "selection"}
    questions.save(tmp_path / "again.jsonl", asked)
    assert questions.load(tmp_path / "again.jsonl") == asked


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{", "line 2: Invalid JSON"),
        ({**GOOD, "kind": "anserable"}, "line 2: kind: Input should be 'answerable', 'absent'"),
        ({**GOOD, "id": "b", "question": " ?"}, "line 2: question: it has no letter or digit"),
        ({**GOOD, "id": "b", "quote": "x"}, "line 2: quote: there is no such field; there are id, kind"),
        ({"id": "b", "kind": "answerable", "question": "Who?"}, "line 2: an answerable question needs an `answer`"),
        ({**GOOD, "id": "b", "kind": "absent"}, "line 2: it has an `answer` or `quotes`, and its kind says"),
        ({"id": "b", "kind": "selection", "question": "Who?"}, "line 2: a question of kind 'selection' needs the"),
        ({**GOOD, "id": "b", "selection": "text"}, "belong to questions of kind 'selection' alone"),
        (GOOD, "line 2: id: 'a' is taken by line 1"),
        ({"id": 7, "kind": "absent", "question": "Who?"}, "line 2: id: Input should be a valid string"),
        ({**GOOD, "id": "b", "answer": " "}, "line 2: answer: it has no letter or digit"),
        ({**GOOD, "id": "b", "answer": ["Ann", ""]}, "line 2: answer: '' has no letter or digit"),
        ({**GOOD, "id": "b", "quotes": ["It was.", "…"]}, "line 2: quotes: '…' has no letter or digit"),
        ({"id": "b", "kind": "answerable", "question": "Who?", "section": ["One"]}, "line 2: an answerable question"),
        (json.dumps({**GOOD, "id": "b"})[:-1] + ', "answer": "Ann"}', "line 2: answer: it is there twice"),
    ],
)
def test_faults_are_told_by_line_and_field(tmp_path: Path, row: object, fault: str) -> None:
    with pytest.raises(AstRagValidationError) as caught:
        questions.load(written(tmp_path, GOOD, row))
    assert fault in caught.value.message


def test_all_faults_are_told_at_once_but_not_endlessly(tmp_path: Path) -> None:
    with pytest.raises(AstRagValidationError) as caught:
        questions.load(written(tmp_path, *["{"] * 14))
    assert "line 1:" in caught.value.message
    assert "line 10:" in caught.value.message
    assert "and 4 more" in caught.value.message


@pytest.mark.parametrize("text", ["id,kind,question\na,absent,Who?\n", json.dumps([GOOD], indent=1)])
def test_a_table_or_an_array_is_told_what_the_format_is(tmp_path: Path, text: str) -> None:
    with pytest.raises(AstRagValidationError, match="every line must be one JSON object"):
        questions.load(written(tmp_path, text))


def test_accents_that_are_typed_as_signs_of_their_own_are_those_of_the_book(tmp_path: Path) -> None:
    decomposed = json.dumps({**GOOD, "quotes": ["The cafe\u0301 was open."]}, ensure_ascii=False)
    (read,) = questions.load(written(tmp_path, decomposed))
    assert read.quotes == ["The caf\u00e9 was open."]


def test_files_that_hold_no_question(tmp_path: Path) -> None:
    with pytest.raises(AstRagValidationError, match="holds no question"):
        questions.load(written(tmp_path, "", "  "))
    with pytest.raises(AstRagValidationError, match="cannot be read: No such file"):
        questions.load(tmp_path / "nothing.jsonl")
    (tmp_path / "wide.jsonl").write_text(json.dumps(GOOD), encoding="utf-16")
    with pytest.raises(AstRagValidationError, match="is not UTF-8: save the questions in UTF-8"):
        questions.load(tmp_path / "wide.jsonl")


def test_a_byte_order_mark_and_signs_that_end_lines_elsewhere_are_no_fault(tmp_path: Path) -> None:
    question = {**GOOD, "question": "Who\u2028built\x85it?"}
    file = tmp_path / "questions.jsonl"
    file.write_bytes(("\ufeff" + json.dumps(question, ensure_ascii=False) + "\r\n\r\n").encode())
    assert [one.question for one in questions.load(file)] == [question["question"]]
