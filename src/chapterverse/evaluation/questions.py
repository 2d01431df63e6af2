"""Question sets: JSON lines, each a question with its answer and the words of the book that prove it."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from chapterverse.errors import AstRagValidationError

Kind = Literal["answerable", "absent", "out_of_scope", "selection"]
"""The book answers it; it sounds as if the book did; it is about something else; it is asked of a selected passage."""

_SHOWN = 10
"""How many faults of a file are told at once."""


class Question(BaseModel):
    """A question, and what is known of its answer."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str = Field(min_length=1)
    kind: Kind
    question: str = Field(min_length=1)
    answer: str | list[str] | None = None
    """In words; several if they are worded differently."""
    quotes: list[str] = []
    """The sentences of the book that prove it."""
    section: list[str] = []
    """Headings that the answer stands under; they are its place where there are no quotes."""
    selection: str | None = None
    answerable: bool | None = None
    """Of a selection: whether it holds the answer."""
    note: str = ""
    made: str = ""
    """Who made it, if a machine did."""
    chapter: list[int | str] = []
    page: list[int | None] = []
    page_label: list[str | None] = []

    @field_validator("question", "answer", "quotes")
    @classmethod
    def _says_something(cls, said: str | list[str] | None) -> str | list[str] | None:
        for one in [said] if isinstance(said, str) else said or ():
            if not any(char.isalnum() for char in one):
                raise ValueError("it has no letter or digit" if said is one else f"{one!r} has no letter or digit")
        return said

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.kind == "selection":
            if not self.selection or not self.selection.strip():
                raise ValueError("a question of kind 'selection' needs the `selection` that it is asked of")
            if self.answerable is None:
                raise ValueError("a question of kind 'selection' needs `answerable`, true or false")
        elif self.selection is not None or self.answerable is not None:
            raise ValueError("`selection` and `answerable` belong to questions of kind 'selection' alone")
        if self.has_answer and not (self.answers or self.quotes):
            raise ValueError("an answerable question needs an `answer` or `quotes`, to tell right from wrong by")
        if not self.has_answer and (self.answers or self.quotes):
            raise ValueError("it has an `answer` or `quotes`, and its kind says that there is none")
        return self

    @property
    def answers(self) -> list[str]:
        return [self.answer] if isinstance(self.answer, str) else self.answer or []

    @property
    def has_answer(self) -> bool:
        """Whether it should be answered, not refused."""
        return self.kind == "answerable" or bool(self.answerable)


def load(path: Path) -> list[Question]:
    """The questions of a file; raises `AstRagValidationError` that names every faulty line and field."""
    questions: list[Question] = []
    faults: list[str] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            question = Question.model_validate_json(line)
        except ValidationError as error:
            faults += [f"line {number}: {_fault(one)}" for one in error.errors()]
            continue
        faults += [f"line {number}: {field}: it is there twice" for field in _repeated(line)]
        if question.id in seen:
            faults.append(f"line {number}: id: {question.id!r} is taken by line {seen[question.id]}")
        seen[question.id] = number
        questions.append(question)
    if faults:
        more = [f"and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
        head = f"{path} has faults:" if questions else f"{path} has faults (every line must be one JSON object):"
        raise AstRagValidationError("\n  ".join([head, *faults[:_SHOWN], *more]))
    if not questions:
        new = path.with_name(f"{path.stem}-drafts.jsonl")  # --make writes to a new file only
        raise AstRagValidationError(f"{path} holds no question. `chapterverse eval {new} --make` drafts some.")
    return questions


def save(path: Path, questions: Sequence[Question] | Iterable[Question]) -> None:
    """Write questions, a line each, without the fields that are not used."""
    rows = (question.model_dump(exclude_defaults=True) for question in questions)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _lines(path: Path) -> list[str]:
    """The lines of a file, in composed characters (NFC) as the text of books is."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        message = f"The questions in {path} cannot be read: {error.strerror}."
        raise AstRagValidationError(message, cause=error) from error
    except UnicodeDecodeError as error:
        raise AstRagValidationError(f"{path} is not UTF-8: save the questions in UTF-8.", cause=error) from error
    return unicodedata.normalize("NFC", text).split("\n")  # other signs that end lines may stand in texts


def _repeated(line: str) -> list[str]:
    """Fields that a line has more than once: all but the last would be lost."""
    names: list[str] = []
    json.loads(line, object_pairs_hook=lambda pairs: names.extend(name for name, _ in pairs))
    return sorted({name for name in names if names.count(name) > 1})


def _fault(error: object) -> str:
    assert isinstance(error, dict)
    field = ".".join(str(part) for part in error["loc"])
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = f"there is no such field; there are {', '.join(Question.model_fields)}"
    return f"{field}: {message}" if field else message
