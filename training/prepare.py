"""Turns the raw data into one file of token windows; held-out rows and the embedder's pairs stay text.

python training/prepare.py DATA_FOLDER BOOKS_FOLDER TOKENIZER_JSON OUTPUT_FOLDER
"""

from __future__ import annotations

import json
import lzma
import random
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from encoder import LENGTH
from examples import Example, Span, answerability_examples, claim_examples, question_examples, read, sentence_claims
from tables import table_examples
from tokenizers import Encoding, Tokenizer
from written import read_blocks, search_pairs, written_examples

QUERY = 96
COLUMNS = np.dtype(
    [(n, np.int32) for n in ("query", "context")]
    + [(n, np.int16) for n in ("left0", "left1", "right0", "right1", "start", "end")]
    + [(n, np.int8) for n in ("answerable", "supported", "kind", "source", "held", "heard")]
    + [("weight", np.float16)]
)  # fmt: skip
NONE = -1
TABLES = 15_000
THINNED = {"written near": 0.6, "written edited": 0.5, "edited": 0.5, "near": 0.5}
"""Kinds of which so large a share is enough: they outnumber the rest, and the teacher is asked about every row."""


class Pool:
    """Distinct texts and their encodings."""

    def __init__(self, texts: Iterable[str], tokenizer: Tokenizer, limit: int) -> None:
        self.numbers = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        self.encodings: list[tuple[np.ndarray, np.ndarray]] = []
        keys = list(self.numbers)
        for begin in range(0, len(keys), 4000):
            for encoding in tokenizer.encode_batch(keys[begin : begin + 4000], add_special_tokens=False):
                self.encodings.append(_arrays(encoding, limit))

    def __getitem__(self, text: str) -> tuple[int, np.ndarray, np.ndarray]:
        number = self.numbers[text]
        return (number, *self.encodings[number])

    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        bounds = np.cumsum([0] + [len(ids) for ids, _ in self.encodings])
        return np.concatenate([ids for ids, _ in self.encodings]), bounds


def _arrays(encoding: Encoding, limit: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array(encoding.ids[:limit], np.uint16), np.array(encoding.offsets[:limit], np.int32).reshape(-1, 2)


def token_span(offsets: np.ndarray, span: tuple[int, int]) -> tuple[int, int]:
    """First token and one past the last token that touch the characters of `span`."""
    first = int(np.searchsorted(offsets[:, 1], span[0], "right"))
    last = int(np.searchsorted(offsets[:, 0], span[1], "left"))
    return min(first, len(offsets)), min(max(last, first), len(offsets))


def window(example: Example, offsets: np.ndarray, room: int, rng: random.Random) -> tuple[int, int, int, int]:
    """The token ranges [left0, left1) and [right0, right1) of the passage that the example shows."""
    total = len(offsets)
    if example.cut:
        first, last = token_span(offsets, example.cut)
        left0 = max(0, first - room // 2)
        return left0, first, last, min(total, last + room - (first - left0))
    if total <= room:
        return 0, total, total, total
    low, high = 0, total - room
    if targets := [example.answer] if example.answer else sorted(example.evidence):
        first, last = token_span(offsets, (targets[0][0], targets[-1][1]))
        low, high = max(low, last - room), min(high, first)
    start = rng.randint(low, high) if high >= low else max(0, min(high, total - room))
    return start, start + room, total, total


def inside(spans: Iterable[Span], offsets: np.ndarray, bounds: tuple[int, ...]) -> list[tuple[int, int]]:
    """The token ranges of those spans that stand wholly in what the example shows."""
    ranges = (token_span(offsets, span) for span in spans)
    return [(first, last) for first, last in ranges if bounds[0] <= first < last <= bounds[1]]


def rows_of(
    examples: list[Example], queries: Pool, contexts: Pool, names: dict[str, list[str]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A row for each example, and two sorts of token ranges (row, first token, one past the last): evidence, in the
    passage, and what is wrong, in the claim."""
    rng, table, evidence, wrong = random.Random(5), [], [], []
    for number, example in enumerate(examples):
        query, query_ids, query_offsets = queries[example.query]
        context, _, offsets = contexts[example.context]
        bounds = window(example, offsets, LENGTH - 3 - len(query_ids), rng)
        answers = inside([example.answer] if example.answer else [], offsets, bounds)
        marks = inside(example.evidence, offsets, bounds)
        if len(marks) == len(example.evidence):  # a part of it would teach to leave the rest out
            evidence += [(number, *mark) for mark in marks]
        labels = [NONE if label is None else int(label) for label in (example.answerable, example.supported)]
        wrong += [(number, *token_span(query_offsets, span)) for span in example.wrong or ()]
        heard = example.wrong is not None
        codes = [names["kind"].index(example.kind), names["source"].index(example.source), example.held, heard]
        if example.answer and not answers:
            labels[0] = NONE  # an answer longer than the window teaches nothing
        table.append((query, context, *bounds, *(answers or [(NONE, NONE)])[0], *labels, *codes, example.weight))
    ranges = (np.array(found, np.int32).reshape(-1, 3) for found in (evidence, wrong))
    return np.array(table, COLUMNS), *ranges


def main(data: Path, books: Path, tokenizer_file: Path, output: Path) -> None:
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rng = random.Random(11)
    questions, claims, asked = (read(data, f"train/{name}") for name in ("questions", "claims", "answerability"))
    written = read_blocks([*questions, *claims, *asked], books)
    examples = [
        *question_examples(questions, rng),
        *sentence_claims(questions, rng),
        *claim_examples(claims, rng),
        *answerability_examples(asked),
        *table_examples(sorted({str(row["context"]) for row in questions if row["source"] == "squad2"}), TABLES, rng),
        *written_examples(written, rng),
    ]
    examples = [e for e in examples if e.held or rng.random() < THINNED.get(e.kind, 1.0)]
    queries = Pool((e.query for e in examples), tokenizer, QUERY)
    contexts = Pool((e.context for e in examples), tokenizer, 32000)
    names = {key: sorted({getattr(e, key) for e in examples}) for key in ("kind", "source")}
    table, evidence, wrong = rows_of(examples, queries, contexts, names)
    output.mkdir(parents=True, exist_ok=True)
    query_ids, query_bounds = queries.packed()
    context_ids, context_bounds = contexts.packed()
    np.savez_compressed(
        output / "examples.npz", table=table, evidence=evidence, wrong=wrong, query_ids=query_ids,
        query_bounds=query_bounds, context_ids=context_ids, context_bounds=context_bounds,
        **{f"{key}s": np.array(known) for key, known in names.items()},
    )  # fmt: skip
    with (output / "held.jsonl").open("w") as file:
        for example in examples:
            if example.held:
                file.write(json.dumps(vars(example)) + "\n")
    with lzma.open(output / "pairs.jsonl.xz", "wt") as file:
        for pair in search_pairs(written):
            file.write(json.dumps(pair) + "\n")
    print(Counter((e.kind, e.answerable, e.supported, e.held) for e in examples))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:5]))
