"""Drafts that were written without any knowledge of the gate.

    python -m benchmarks.drafts [--reader FOLDER] [--show]

`drafts.jsonl` holds passages, each with sentences as an assistant might write them, faithful or wrong in one thing,
and the quote that each rests on. No rule was made after a look at one of them; the limits for free, long and sure
sentences were chosen by the batches in CHOSEN_BY, among others. The rest is measured only.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.environments import circumstances, existing_folder, publish, table

from chapterverse.answer.gate import Gated, check
from chapterverse.answer.validate import Excerpt
from chapterverse.evaluation.intervals import wilson
from chapterverse.ingest.sentences import split
from chapterverse.reading.reader import Reader
from chapterverse.reading.runtime import MODELS
from chapterverse.types import DraftSentence

DRAFTS = Path(__file__).with_name("drafts.jsonl")
CHOSEN_BY = {"sixth", "seventh"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--reader", type=existing_folder, default=MODELS, help="the model's folder")
    parser.add_argument("--show", action="store_true", help="print every sentence that is judged wrongly")
    options = parser.parse_args()
    counts: dict[tuple[str, str], list[bool]] = {}
    for batch, draft, gated in judged(Reader(options.reader)):
        passed = bool(gated.sentences)
        counts.setdefault((batch, draft["kind"]), []).append(passed)
        if options.show and passed is (draft["kind"] == "hostile"):
            print(batch, draft["kind"], draft["category"], draft["text"], [issue.code for issue in gated.issues])
    rows = [
        (batch, "limits were chosen by it" if batch in CHOSEN_BY else "measured only", kind, *_share(passed))
        for (batch, kind), passed in sorted(counts.items())
    ]
    columns = ("batch", "use", "drafts", ">pass", "95 %")
    parts = ["# Drafts by those who did not know the gate", circumstances(), table(columns, rows)]
    publish("drafts", "\n\n".join(parts))


def judged(reader: Reader) -> Iterator[tuple[str, dict[str, str], Gated]]:
    """Every draft, with its batch and what the gate makes of it."""
    for line in DRAFTS.read_text("utf-8").splitlines():
        row = json.loads(line)
        for draft in row["drafts"]:
            sentence = DraftSentence(draft["text"], ("S1",), draft["quote"])
            yield row["batch"], draft, check([sentence], [Excerpt("S1", row["passage"])], reader, split)


def _share(hits: list[bool]) -> tuple[str, str]:
    low, high = wilson(sum(hits), len(hits))
    return f"{sum(hits)} of {len(hits)}", f"{100 * low:.0f} – {100 * high:.0f} %"


if __name__ == "__main__":
    main()
