"""Books that no training has seen: what becomes of questions asked of each, and of sentences written about its pages.

    python -m benchmarks.unseen [--questions N] [--claims N] [--reader FOLDER]

`unseen_books.txt` holds 31 made-up books of eight pages, in the format of `training/written`: to every page questions
that it answers (A) and that no page of its book does (N), and sentences as an assistant words them, borne out by the
page (T) or wrong in one thing (F). Each book is an index of its own, asked by the local default; each sentence goes
through the gate beside its page. Whatever is chosen may be chosen by the one half of the books, never by the other.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from benchmarks.environments import circumstances, existing_folder, publish, table

from chapterverse.answer.response import validate_response
from chapterverse.evaluation.intervals import wilson
from chapterverse.ingest.sentences import split
from chapterverse.library import Library
from chapterverse.protocols import Reader as AnyReader
from chapterverse.reading.reader import Reader
from chapterverse.reading.runtime import MODELS
from chapterverse.settings import Settings

BOOKS = Path(__file__).with_name("unseen_books.txt")
CELL = " | "
Row = tuple[str, str, str]
T = TypeVar("T")


@dataclass
class Page:
    """A page with what was written about it."""

    book: str
    text: str = ""
    answered: list[tuple[str, str]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    true: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)


def pages(lines: Sequence[str]) -> list[Page]:
    found: list[Page] = []
    for line in lines:
        key, _, rest = (part.strip() for part in line.partition("|"))
        if key.startswith("## "):
            found.append(Page(key.removeprefix("## ").rpartition(".")[0]))
        elif key == "P":
            in_table = CELL in rest and CELL in found[-1].text.rpartition("\n")[2]
            found[-1].text = ("\n" if in_table else "\n\n").join((found[-1].text, rest)).strip()
        elif key == "A":
            question, _, answer = (part.strip() for part in rest.partition("|"))
            found[-1].answered.append((question, answer))
        elif key:
            {"N": found[-1].absent, "T": found[-1].true, "F": found[-1].false}[key].append(rest)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--questions", type=int, default=400, help="so many in all, at random; 0 takes all")
    parser.add_argument("--claims", type=int, default=600, help="likewise")
    parser.add_argument("--reader", type=existing_folder, default=MODELS, help="the model's folder")
    options = parser.parse_args()
    written, reader = pages(BOOKS.read_text("utf-8").splitlines()), Reader(options.reader)
    rows = [*_asked(written, reader, options.questions), *_claimed(written, reader, options.claims)]
    parts = ["# Books that no training has seen", circumstances(), table(("", ">", "95 %"), rows)]
    publish("unseen", "\n\n".join(parts))


def _asked(written: Sequence[Page], reader: AnyReader, limit: int) -> Iterator[Row]:
    """Answered means that something was quoted; right, that a quote has the words that answer."""
    items = [
        *((page, question, answer) for page in written for question, answer in page.answered),
        *((page, question, "") for page in written for question in page.absent),
    ]
    answered: dict[str, list[bool]] = {}
    right: dict[str, list[bool]] = {}
    wrong: dict[str, list[bool]] = {}
    half_of = {book: half for half, books in _halves(written).items() for book in books}
    with tempfile.TemporaryDirectory() as folder, Library(Settings(home=Path(folder)), reader=reader) as library:
        for book in dict.fromkeys(page.book for page in written):
            path = Path(folder, f"{book}.txt")
            path.write_text("\n\n".join(page.text for page in written if page.book == book), "utf-8")
            library.add(path, index=book)
        for number, (page, question, words) in enumerate(_some(items, limit)):
            said = library.ask(question, index=page.book)
            spoke, half = said.status != "refused", half_of[page.book]
            if words:
                answered.setdefault(half, []).append(spoke)
                right.setdefault(half, []).append(any(words in citation.quote for citation in said.citations))
            else:
                wrong.setdefault(half, []).append(spoke)
            if number % 50 == 49:
                print(f"{number + 1} questions asked", file=sys.stderr)
    for name, hits in (
        ("questions that a page answers: answered", answered),
        ("the same: with the words that answer", right),
        ("questions that no page answers: answered all the same", wrong),
    ):
        yield _share(name, [hit for half in hits.values() for hit in half])
        for half in sorted(hits):
            yield _share(f"… {half}", hits[half])


def _claimed(written: Sequence[Page], reader: AnyReader, limit: int) -> Iterator[Row]:
    items = [(page, claim, truth) for page in written for truth in (True, False) for claim in _claims(page, truth)]
    passed = [
        (page.book, truth, validate_response(claim, [page.text], reader, split).is_valid)
        for page, claim, truth in _some(items, limit)
    ]
    for half, chosen in _halves(written).items():
        for truth, name in ((True, "sentences borne out"), (False, "sentences wrong in one thing")):
            yield _share(
                f"{name}, {half}: passed", [ok for book, true, ok in passed if book in chosen and true is truth]
            )


def _halves(written: Sequence[Page]) -> dict[str, set[str]]:
    books = list(dict.fromkeys(page.book for page in written))
    return {"to choose by": set(books[::2]), "measured only": set(books[1::2])}


def _claims(page: Page, truth: bool) -> list[str]:
    return page.true if truth else page.false


def _some(items: list[T], limit: int) -> list[T]:
    chosen = random.Random(5).sample(items, len(items))
    return chosen[:limit] if limit else chosen


def _share(name: str, hits: Sequence[bool]) -> Row:
    low, high = wilson(sum(hits), len(hits))
    return name, f"{sum(hits)} of {len(hits)}", f"{100 * low:.0f} – {100 * high:.0f} %"


if __name__ == "__main__":
    main()
