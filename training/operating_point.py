"""Shows what each threshold for answering does to questions about whole books, and writes the chosen one.

    python training/operating_point.py BOOKS_FOLDER MODEL_FOLDER

BOOKS_FOLDER holds a file or folder for each book of book_questions.jsonl, under its name. The questions were written
by hand: some are answered by the book, some only seem to be, some are about something else. The lowest threshold is
taken at which no more than ABSENT of those that only seem to be answered are, and none of the last. Whether an answer
is the right one is not asked here.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from chapterverse.library import Library
from chapterverse.reading.reader import Reader
from chapterverse.reading.runtime import MANIFEST
from chapterverse.settings import Settings

QUESTIONS = Path(__file__).with_name("book_questions.jsonl")
ABSENT = 0.03
STEPS = [round(0.01 * step, 2) for step in range(30, 96)]


def chances(books: Path, model: Path) -> dict[str, list[float]]:
    """The best chance of an answer among the passages found, by kind of question."""
    reader, found = Reader(model), defaultdict(list)
    rows = [json.loads(line) for line in QUESTIONS.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as home, Library(Settings(home=Path(home))) as library:
        for book in sorted({row["book"] for row in rows}):
            library.add(next(books.glob(f"{book}*")), index=book)
        for row in rows:
            result = library.search(row["question"], index=row["book"])
            readings = reader.read(row["question"], [one.entry.chunk.text for one in result.found])
            found[row["kind"]].append(max((reading.answerable for reading in readings), default=0.0))
    return found


def main(books: Path, model: Path) -> None:
    found = {kind: np.array(values) for kind, values in chances(books, model).items()}
    for step in STEPS:
        print(step, {kind: f"{(values >= step).sum()} of {len(values)}" for kind, values in found.items()})
    manifest = json.loads((model / MANIFEST).read_text())
    manifest["calibration"]["answer_from"] = next(
        step
        for step in STEPS
        if (found["absent"] >= step).mean() <= ABSENT and not (found["out_of_scope"] >= step).any()
    )
    (model / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    print("answers from", manifest["calibration"]["answer_from"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
