"""Shows what reading single paragraphs before a refusal does, by the chance from which one counts as an answer.

    python training/narrower.py BOOKS_FOLDER

The questions are those of `operating_point.py`: about five long public books, and about short ones of our own that are
held out of training. Printed are, for each kind, how many are asked, how many are answered without it, and how many
more are with it; whether an answer is the right one is not asked here.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from operating_point import asked_of

from chapterverse.answer.narrower import narrowed
from chapterverse.answer.validate import Excerpt, validate_retrieval
from chapterverse.ingest.sentences import split
from chapterverse.library import Library
from chapterverse.reading.reader import Reader
from chapterverse.settings import Settings
from chapterverse.types import Passage

STEPS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)


def main(books: Path) -> None:
    reader, answered, more = Reader(), defaultdict[str, list[bool]](list), defaultdict[str, list[float]](list)
    threshold = reader.answer_threshold
    with tempfile.TemporaryDirectory() as home, Library(Settings(home=Path(home))) as library:
        for row in asked_of(library, books, Path(home)):
            question, found = row["question"], library.search(row["question"], index=row["book"]).found
            passages = [Passage(f"S{n}", one.entry.chunk.text) for n, one in enumerate(found, 1)]
            whole = _chance(question, passages, reader)
            answered[row["kind"]].append(whole >= threshold)
            narrow = [] if whole >= threshold else narrowed(question, passages)
            more[row["kind"]].append(_chance(question, narrow, reader))
    print("kind, asked, answered, and more from", *STEPS)
    for kind, chances in more.items():
        counts = (sum(chance >= step for chance in chances) for step in STEPS)
        print(f"{kind}, {len(chances)}, {sum(answered[kind])},", *counts)


def _chance(question: str, passages: list[Passage], reader: Reader) -> float:
    excerpts = [Excerpt(one.id, one.text) for one in passages]
    return validate_retrieval(question, excerpts, reader=reader, sentences=split).answerable if passages else 0.0


if __name__ == "__main__":
    main(Path(sys.argv[1]))
