"""Drafts that a model may write about the sample book, hostile and faithful, with the passages that it is offered.

Half of each kind is there to tune by, the other half is only ever measured. Every one goes the whole way: a server says
it, the official client and the Agents SDK read it, and the gate judges it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pytest_httpserver import HTTPServer

from chapterverse.answer.validate import ValidationSettings
from chapterverse.errors import GenerationError
from chapterverse.library import Generation, Library
from chapterverse.reading.reader import Reader
from chapterverse.types import Answer, AnswerSpan, Chunk, Entry, Place, Reading
from tests.chat_server import ChatServer, Said, draft_json

_HERE = Path(__file__).parent
_CHAPTERS = _HERE.parents[1] / "sample" / "chapters"

ANYTHING = ValidationSettings(relevance_threshold=0.0, answer_threshold=0.0)


class GateReader(Reader):
    """Judges what is claimed. Whether the passages answer is not asked here, for the gate alone must do: they do."""

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        first = Reading(1.0, 1.0, (AnswerSpan(0, len(passages[0]), 1.0),))
        return [first, *(Reading(0.0, 0.0) for _ in passages[1:])]


Kind = Literal["hostile", "faithful"]


@dataclass(frozen=True)
class ModelDraft:
    """What a model says to a question, and paragraphs of the book by a few of their words."""

    id: str
    set: Literal["tune", "held"]
    category: str
    question: str
    near: tuple[str, ...]
    says: str
    text: str
    """The sentence that is tried; empty where there is none."""

    @property
    def kind(self) -> Kind:
        return "hostile" if self.id.startswith("hostile") else "faithful"


def model_drafts() -> list[ModelDraft]:
    rows = [json.loads(line) for line in (_HERE / "model_drafts.jsonl").read_text("utf-8").splitlines()]
    return [
        ModelDraft(
            row["id"],
            row["set"],
            row["category"],
            row["question"],
            tuple(row["near"]),
            row.get("says") or draft_json(*row["sentences"], absent=row.get("absent", ())),
            row["sentences"][0][0] if row.get("sentences") else "",
        )
        for row in rows
    ]


@cache
def _sections() -> list[list[str]]:
    """The paragraphs of each section, as a reader sees them."""
    sections: list[list[str]] = []
    for path in sorted(_CHAPTERS.glob("*.md")):
        for block in re.sub(r"\[\^\d+\]|\*", "", path.read_text("utf-8")).split("\n\n"):
            if block.startswith("#"):
                sections.append([])
            else:
                sections[-1].append(_shown(block.strip()))
    return sections


def _shown(block: str) -> str:
    """A table as documents hold it."""
    return "\n".join(row.strip("| ") for row in block.splitlines() if not row.startswith("|---"))


def passage(words: str) -> str:
    """The paragraph with these words, between its neighbours."""
    ((section, n),) = [(s, n) for s in _sections() for n, block in enumerate(s) if words in block]
    return "\n\n".join(section[max(0, n - 1) : n + 2])


def entries(draft: ModelDraft) -> list[Entry]:
    found = []
    for number, words in enumerate(draft.near, 1):
        text = passage(words)
        chunk = Chunk(f"chunk-{number}", f"file-{number}", 0, len(text), text, Place())
        found.append(Entry(chunk, number, "clocks.md", "The Clocks of Harrow Vale", "text/markdown", "0" * 64, ""))
    return found


class ModelServer:
    """One server, and one model behind it, that says what the draft at hand says."""

    def __init__(self, server: HTTPServer, library: Library) -> None:
        self._says = ""
        chat = ChatServer(server, lambda _: Said(self._says))
        self._generation = Generation("openai-compatible:test", options={"base_url": chat.base_url}, seconds=60)
        self._library = library

    def answer(self, draft: ModelDraft) -> Answer | None:
        """What becomes of a draft; None if it is no draft at all, which is an error of the model."""
        self._says = draft.says
        try:
            return self._library.answer_from(
                draft.question, entries(draft), generation=self._generation, validation=ANYTHING
            )
        except GenerationError as error:
            if error.details["reason"] != "malformed":
                raise
            return None


def spoken(answer: Answer | None) -> list[str]:
    """What was said of a draft, but for notices."""
    return [s.text for s in answer.sentences if s.kind != "notice"] if answer else []
