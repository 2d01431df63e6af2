"""Every figure on public question sets in one table, beside the published ones.

    python -m benchmarks.public --data FOLDER [--rows N] [--questions N]

FOLDER holds `dev/*.jsonl.xz`. Parts first: the reader on SQuAD 2.0, CLAPNQ, WiCE and AttributionBench, retrieval on
SQuAD 2.0, FairytaleQA and SciFact. Then the whole product: FairytaleQA's tales and SQuAD's articles as books that are
indexed and asked. Nothing was trained or tuned on any of it. Results are printed, and kept in
`benchmarks/results/public.md`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import reader as reading
from benchmarks.books import BOOKS, sample
from benchmarks.common import dev_tasks
from benchmarks.environments import circumstances, publish, question_sets, table
from benchmarks.retrieval import Ours, own_rows, shipped

from chapterverse.evaluation import measures
from chapterverse.evaluation.run import run
from chapterverse.library import Library
from chapterverse.reading.reader import Reader
from chapterverse.settings import Settings

Row = tuple[str, str, str, str]
"""Set, figure, ours, published."""

PUBLISHED = {
    "squad2 F1 with refusals": "BERT-large 81.8, tinyroberta-squad2 (81M) 82.0, MiniLM-L12 (33M) 79.5, BiDAF+ELMo 67.9:"
    " all trained on SQuAD 2.0's whole training set, and measured on its whole development set",
    "attributionbench balanced accuracy": "fine-tuned GPT-3.5: about 80 % macro-F1",
    "scifact nDCG@10": "BM25 (Anserini): 0.679",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=question_sets, required=True)
    parser.add_argument("--rows", type=int, default=0, help="so many rows of each set for the reader; 0 takes all")
    parser.add_argument("--questions", type=int, default=200, help="so many of each book; 0 takes all")
    options = parser.parse_args()
    rows = [
        *_reader(options.data, options.rows),
        *_retrieval(options.data),
        *(row for name in BOOKS for row in _book(name, options.data, options.questions)),
    ]
    taken = (
        f"{options.rows or 'All'} rows of each set for the reader; {options.questions or 'all'} questions of each book."
    )
    parts = ["# Public question sets", f"{taken} {circumstances()}", table(("", "", ">ours", "published"), rows)]
    publish("public", "\n\n".join(parts))


def _reader(data: Path, limit: int) -> Iterator[Row]:
    reader = Reader()
    for name, measure in reading.MEASURES.items():
        if name == "speed":  # which is no public figure
            continue
        print(f"reader on {name} ...", file=sys.stderr)
        for figure, value in measure(reader, data, limit).items():
            if " said " not in figure:
                yield f"reader, {name}", figure, f"{value:.3f}", PUBLISHED.get(figure, "")


def _retrieval(data: Path) -> Iterator[Row]:
    model, weights = shipped()
    for task in dev_tasks(data):
        print(f"retrieval on {task.name} ...", file=sys.stderr)
        for way, figures in own_rows([Ours(task, model)], weights["vector"]).items():
            value = figures[task.name]["nDCG@10"]
            yield (
                f"retrieval, {task.name}",
                f"{way.removeprefix('chapterverse, ')}: nDCG@10",
                f"{value:.3f}",
                (PUBLISHED.get(f"{task.name} nDCG@10", "")),
            )


def _book(name: str, data: Path, count: int) -> Iterator[Row]:
    """The whole product, from files to answers."""
    print(f"{name} as books ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        books = Path(folder, "books")
        books.mkdir()
        asked = sample(BOOKS[name](data, books), count)
        with Library(Settings(home=Path(folder, "home"))) as library:
            library.add(books, index=name)
            measured = run(library, asked, name, curve=False)
    for figure in measures.figures(measured):
        shown = f"{figure.value:.3f} ({figure.low:.3f} – {figure.high:.3f})"
        yield f"{name} as books", f"{figure.group}: {figure.name}, of {figure.count}", shown, ""


if __name__ == "__main__":
    main()
