"""Chooses the threshold for answering, by questions asked of whole books, and writes it.

    python training/operating_point.py BOOKS_FOLDER HELD_JSONL MODEL_FOLDER

BOOKS_FOLDER holds a file or folder for each book of book_questions.jsonl, under its name. The questions were written
by hand: some are answered by the book, some only seem to be, some are about something else. HELD_JSONL is the file of
prepare.py: its written questions are harder, each made to look answered by the passage that it is put to. The books of
our own that are held out are asked too: they are short, and all of their pages speak of the same things. The lowest
threshold is taken at which no more than ABSENT of all books' questions that only seem to be answered are, none of the
last, and no more than ALIKE of those that were made to look so. Books are asked as a user asks them, so that every
rule that answers counts too. Whether an answer is the right one is not asked here.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

import numpy as np
from examples import held_out
from numpy.typing import NDArray
from written import FOLDER, HELD, Block, blocks

from chapterverse.answer.validate import ValidationSettings
from chapterverse.library import Library
from chapterverse.reading.reader import Reader
from chapterverse.reading.runtime import MANIFEST
from chapterverse.settings import Settings

Asked = dict[str, str]
"""A question, with the index of its book, and its kind."""

QUESTIONS = Path(__file__).with_name("book_questions.jsonl")
ABSENT = 0.06
"""It was 0.03 when the long books were asked alone: questions about short ones are harder to refuse."""
ALIKE = 0.05
OWN = 250
"""Questions about held-out books of our own, of those that a page answers and of those that none does."""
ROWS = 1000
"""Held-out questions asked of their passage, of those that it answers and of those that it only seems to."""
STEPS = [round(0.01 * step, 2) for step in range(30, 96)]
SEEMING, OUT = ("absent", "own, absent"), "out_of_scope"
UNANSWERED = (*SEEMING, OUT)


def asked_of(library: Library, books: Path, home: Path) -> list[Asked]:
    """Every question; the indexes of their books are made here."""
    rows = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    for book in sorted({row["book"] for row in rows}):
        library.add(next(books.glob(f"{book}*")), index=book)
    written = [page for path in sorted(FOLDER.glob("books*.txt")) for page in blocks(path.read_text().splitlines())]
    pages = [page for page in written if held_out(page.book, HELD)]
    for book in sorted({page.book for page in pages}):
        path = Path(home, f"{book}.txt")
        path.write_text("\n\n".join(page.passage for page in pages if page.book == book))
        library.add(path, index=book)
    for kind, asked in (("own, answerable", Block.asked), ("own, absent", attrgetter("absent"))):
        own = [{"book": page.book, "kind": kind, "question": one} for page in pages for one in asked(page)]
        rows += random.Random(9).sample(own, OWN)
    return rows


def answered(library: Library, rows: Sequence[Asked], threshold: float) -> list[Asked]:
    """Those of the questions that are answered."""
    settings = ValidationSettings(answer_threshold=threshold)
    answers = ((row, library.ask(row["question"], index=row["book"], validation=settings)) for row in rows)
    return [row for row, answer in answers if answer.status != "refused"]


def lowest(library: Library, rows: Sequence[Asked], alike: NDArray[np.float64]) -> float:
    """The lowest threshold that keeps what is asked of it; what is refused at one is not asked again at a higher."""
    asked = Counter(row["kind"] for row in rows)
    wrong = [row for row in rows if row["kind"] in UNANSWERED]
    for step in STEPS:
        if (alike >= step).mean() > ALIKE:
            continue
        wrong = answered(library, wrong, step)
        kinds = Counter(row["kind"] for row in wrong)
        print(step, dict(kinds), flush=True)
        if sum(kinds[kind] for kind in SEEMING) <= ABSENT * sum(asked[kind] for kind in SEEMING) and not kinds[OUT]:
            return step
    raise SystemExit(f"No threshold up to {STEPS[-1]} keeps what is asked of it.")


def held_chances(held: Path, reader: Reader) -> dict[bool, NDArray[np.float64]]:
    """The chance of an answer in the passage that a written question was put to, by whether it is there."""
    found: dict[bool, NDArray[np.float64]] = {}
    with held.open() as lines:
        rows = [row for row in map(json.loads, lines) if row["kind"] == "written" and row["answerable"] is not None]
    for label in (True, False):
        asked = random.Random(6).sample([row for row in rows if row["answerable"] is label], ROWS)
        found[label] = np.array([reader.read(row["query"], [row["context"]])[0].answerable for row in asked])
    return found


def main(books: Path, held: Path, model: Path) -> None:
    reader = Reader(model)
    chances = held_chances(held, reader)
    with tempfile.TemporaryDirectory() as home, Library(Settings(home=Path(home)), reader=reader) as library:
        rows = asked_of(library, books, Path(home))
        threshold = lowest(library, rows, chances[False])
        kinds, asked = (Counter(r["kind"] for r in some) for some in (answered(library, rows, threshold), rows))
    for label, values in chances.items():
        kinds[f"held, {label}"], asked[f"held, {label}"] = int((values >= threshold).sum()), len(values)
    manifest = json.loads((model / MANIFEST).read_text())
    manifest["calibration"]["answer_from"] = threshold
    (model / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    print("answers from", threshold, {kind: f"{kinds[kind]} of {asked[kind]}" for kind in asked})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
