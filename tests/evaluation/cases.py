"""Cases made by hand, for figures that can be worked out on paper."""

from __future__ import annotations

from typing import Any

from chapterverse.evaluation.questions import Question
from chapterverse.evaluation.run import Case, Gold, Outcome, Quoted, Run, Said

GOLD = Gold(file_id="book", start=100, end=140, of=0)
ABOUT = {
    "index": "book", "name": "Book", "files": 1, "embedding": "local:compact", "model": "local", "reader": "abc",
    "calibrated": False, "chapterverse": "0", "python": "3", "machine": "m", "time": "2026-01-01T00:00:00+00:00",
}  # fmt: skip


def cited(start: int, end: int, file_id: str | None = "book") -> Quoted:
    return Quoted(file_id=file_id, start=start, end=end, quote="x" * (end - start), place="Book, page 1")


def outcome(text: str = "It was Ann.", *citations: Quoted, **changes: Any) -> Outcome:
    refused = not citations
    fields: dict[str, Any] = {
        "status": "refused" if refused else "ok",
        "reason": "answer_absent" if refused else None,
        "text": text,
        "confidence": 0.0 if refused else 0.8,
        "answerable": 0.3 if refused else 0.8,
        "sentences": [Said(text=text, kind="quote", citations=list(range(len(citations))), verdict="supported")],
        "citations": list(citations),
        "passages": ["x" * 200],
        "seconds": 1.0,
        "stages": {"retrieve": 0.1, "validate": 0.9},
        "tokens": 10,
        "dollars": 0.0,
    }
    return Outcome(**{**fields, **changes})


def question(key: str, kind: str = "answerable", **more: Any) -> Question:
    fields: dict[str, Any] = {"answer": "Ann", "quotes": ["It was Ann who did it."]} if kind == "answerable" else {}
    return Question(**{"id": key, "kind": kind, "question": f"Who is {key}?", **fields, **more})


def case(asked: Question, said: Outcome | None, rank: int | None = 1, **more: Any) -> Case:
    gold = [GOLD] if asked.has_answer else []
    return Case(question=asked, gold=gold, rank=rank if gold else None, outcome=said, **more)


def a_run(*cases: Case, threshold: float = 0.5) -> Run:
    return Run(about=ABOUT, threshold=threshold, cases=list(cases))
