"""Shows what each threshold for answering does to questions about whole books, and writes the chosen one.

    python training/operating_point.py BOOKS_FOLDER HELD_JSONL MODEL_FOLDER

BOOKS_FOLDER holds a file or folder for each book of book_questions.jsonl, under its name. The questions were written
by hand: some are answered by the book, some only seem to be, some are about something else. HELD_JSONL is the file of
prepare.py: its written questions are harder, each made to look answered by the passage that it is put to. The books of
our own that are held out are asked too: they are short, and all of their pages speak of the same things. The lowest
threshold is taken at which no more than ABSENT of all books' questions that only seem to be answered are, none of the
last, and no more than ALIKE of those that were made to look so. Whether an answer is the right one is not asked here.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import defaultdict
from operator import attrgetter
from pathlib import Path

import numpy as np
from examples import held_out
from written import FOLDER, HELD, Block, blocks

from chapterverse.answer.validate import Excerpt, validate_retrieval
from chapterverse.ingest.sentences import split
from chapterverse.library import Library
from chapterverse.reading.reader import Reader
from chapterverse.reading.runtime import MANIFEST
from chapterverse.settings import Settings

QUESTIONS = Path(__file__).with_name("book_questions.jsonl")
ABSENT = 0.06
"""It was 0.03 when the long books were asked alone: questions about short ones are harder to refuse."""
ALIKE = 0.05
OWN = 250
"""Questions about held-out books of our own, of those that a page answers and of those that none does."""
ROWS = 1000
"""Held-out questions asked of their passage, of those that it answers and of those that it only seems to."""
STEPS = [round(0.01 * step, 2) for step in range(30, 96)]


def asked_of(library: Library, books: Path, home: Path) -> list[dict[str, str]]:
    """Every question, with the index of its book, which is made here, and its kind."""
    rows = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    for book in sorted({row["book"] for row in rows}):
        library.add(next(books.glob(f"{book}*")), index=book)
    pages = [page for page in blocks((FOLDER / "books.txt").read_text().splitlines()) if held_out(page.book, HELD)]
    for book in sorted({page.book for page in pages}):
        path = Path(home, f"{book}.txt")
        path.write_text("\n\n".join(page.passage for page in pages if page.book == book))
        library.add(path, index=book)
    for kind, asked in (("own, answerable", Block.asked), ("own, absent", attrgetter("absent"))):
        own = [{"book": page.book, "kind": kind, "question": one} for page in pages for one in asked(page)]
        rows += random.Random(9).sample(own, OWN)
    return rows


def chances(books: Path, model: Path) -> dict[str, list[float]]:
    """The best chance of an answer among the passages found, by kind of question."""
    reader, found = Reader(model), defaultdict(list)
    with tempfile.TemporaryDirectory() as home, Library(Settings(home=Path(home))) as library:
        for row in asked_of(library, books, Path(home)):
            result = library.search(row["question"], index=row["book"])
            passages = [Excerpt(f"S{n}", one.entry.chunk.text) for n, one in enumerate(result.found)]
            verdict = validate_retrieval(row["question"], passages, reader=reader, sentences=split)
            found[row["kind"]].append(verdict.answerable)
    return found


def held_chances(held: Path, model: Path) -> dict[str, list[float]]:
    """The chance of an answer in the passage that a written question was put to, by whether it is there."""
    reader, found = Reader(model), defaultdict(list)
    with held.open() as lines:
        rows = [row for row in map(json.loads, lines) if row["kind"] == "written" and row["answerable"] is not None]
    for label, name in ((True, "held, answered"), (False, "held, alike")):
        for row in random.Random(6).sample([row for row in rows if row["answerable"] is label], ROWS):
            [reading] = reader.read(row["query"], [row["context"]])
            found[name].append(reading.answerable)
    return found


def main(books: Path, held: Path, model: Path) -> None:
    asked = chances(books, model) | held_chances(held, model)
    found = {kind: np.array(values) for kind, values in asked.items()}
    for step in STEPS:
        print(step, {kind: f"{(values >= step).sum()} of {len(values)}" for kind, values in found.items()})
    manifest = json.loads((model / MANIFEST).read_text())
    absent = np.concatenate([found["absent"], found["own, absent"]])
    manifest["calibration"]["answer_from"] = next(
        step
        for step in STEPS
        if (absent >= step).mean() <= ABSENT
        and (found["held, alike"] >= step).mean() <= ALIKE
        and not (found["out_of_scope"] >= step).any()
    )
    (model / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    print("answers from", manifest["calibration"]["answer_from"])


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
