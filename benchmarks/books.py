"""Public question sets as books: folders of Markdown, with their questions as `chapterverse eval` reads them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common import rows

from chapterverse.evaluation.questions import Question
from chapterverse.ingest.sentences import split


def fairytale(data: Path, folder: Path) -> list[Question]:
    """Every tale of FairytaleQA is a book; an answer's place is the section that its question was asked of."""
    tales: dict[str, list[str]] = {}
    for row in rows(data / "dev" / "fairytale_sections.jsonl.xz"):
        text = " ".join(row["text"].split())
        tales.setdefault(row["story"], []).append(f"## {_section(row['story'], row['section'])}\n\n{text}\n")
    for story, sections in tales.items():
        (folder / f"{story}.md").write_text("\n".join([f"# {story}\n", *sections]), "utf-8")
    return [
        Question(
            id=f"f{number}", kind="answerable", question=row["question"], answer=sorted(set(row["answers"])),
            section=[_section(row["story"], one) for one in row["sections"]], note=row["kind"],
        )
        for number, row in enumerate(rows(data / "dev" / "fairytale_questions.jsonl.xz"))
    ]  # fmt: skip


def _section(story: str, section: str) -> str:
    return f"{story}, section {section}"


def squad2(data: Path, folder: Path) -> list[Question]:
    """Every article of SQuAD 2.0 is a book; half of the questions look answered and are not."""
    found = list(rows(data / "dev" / "squad2.jsonl.xz"))
    for title in dict.fromkeys(row["title"] for row in found):
        paragraphs = dict.fromkeys(row["context"] for row in found if row["title"] == title)
        (folder / f"{title}.md").write_text("\n\n".join([f"# {title}", *paragraphs]), "utf-8")
    return [_squad_question(number, row) for number, row in enumerate(found)]


def _squad_question(number: int, row: dict[str, Any]) -> Question:
    if not row["answers"]:
        return Question(id=f"s{number}", kind="absent", question=row["question"])
    at = row["context"].find(row["answers"][0])
    sentences = (row["context"][start:end] for start, end in split(row["context"]) if start <= at < end)
    quotes = [next(sentences, row["context"])]
    answers = sorted(set(row["answers"]))
    return Question(id=f"s{number}", kind="answerable", question=row["question"], answer=answers, quotes=quotes)


BOOKS: dict[str, Callable[[Path, Path], list[Question]]] = {"fairytale": fairytale, "squad2": squad2}


def sample(asked: list[Question], count: int) -> list[Question]:
    """A fixed sample of the questions; 0 takes all."""
    return random.Random(1).sample(asked, count) if 0 < count < len(asked) else asked
