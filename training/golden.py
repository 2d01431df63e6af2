"""Records anew the logits that `tests/test_reader.py` holds the shipped reader to, for the pairs that are recorded.

python training/golden.py src/chapterverse/models/reader tests/reader_golden.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from chapterverse.reading.runtime import Runtime


def main(model: Path, golden: Path) -> None:
    runtime, cases = Runtime(model), json.loads(golden.read_text())
    for case in cases:
        [glance] = runtime.glance([next(runtime.windows(case["query"], case["passage"]))])
        [logits], [strict] = (runtime.finish([glance], strictly=strictly) for strictly in (False, True))
        found = [glance.answer, glance.support, logits.answer, logits.support, strict.support, logits.null]
        case["logits"] = [round(float(value), 4) for value in (*found, *logits.start[:8])]
    golden.write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
