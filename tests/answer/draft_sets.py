"""The draft sets: hostile drafts must not pass, faithful ones should; half of each to tune by, half held back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

from chapterverse.answer.gate import DEFAULT, Gated, Limits, check
from chapterverse.answer.validate import Excerpt
from chapterverse.ingest.sentences import split
from chapterverse.protocols import Reader
from chapterverse.types import DraftSentence

_FOLDER = Path(__file__).parent / "drafts"


class Case(NamedTuple):
    """One sentence of a draft, and what it was drafted from."""

    category: str
    passages: tuple[Excerpt, ...]
    draft: DraftSentence

    def gated(self, reader: Reader, limits: Limits = DEFAULT) -> Gated:
        return check([self.draft], self.passages, reader, split, limits)


def cases(name: Literal["hostile", "faithful"], half: Literal["tune", "held"]) -> list[Case]:
    texts = {row["key"]: row["text"] for row in _rows("passages")}
    return [
        Case(
            row["category"],
            tuple(Excerpt(f"S{n}", texts[key]) for n, key in enumerate(row["offered"], 1)),
            DraftSentence(row["text"], tuple(row["citations"]), row["quote"], row["kind"]),
        )
        for row in _rows(name)
        if row["set"] == half
    ]


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
