"""Runs the reader's two ONNX graphs: windows in, logits out.

The front graph reads every window and says early how promising it is, and each of its tokens; the back
graph reads on, with the query and the tokens that are worth it. A run holds exactly one window: int8
activations are scaled over all that a run holds, so that a window read beside others would score
differently, and larger batches are no faster.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from chapterverse.errors import AstRagError

MODELS = Path(__file__).parent.parent / "models" / "reader"
MANIFEST = "manifest.json"
LENGTH = 320
"""Tokens of a window with its query; the model was trained on as many."""
QUERY = 96
OVERLAP = 64
UNREAD = -100.0
"""The logits of an answer that would begin or end at a token that was not read to the end: lower than any other."""
_ROW_END = re.compile(r"\n(?=[^\n]* \| )")

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a passage behind its query; `offsets` are the characters of each of its tokens."""

    ids: NDArray[np.int64]
    segments: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @property
    def prefix(self) -> int:
        """The tokens before the passage begins."""
        return len(self.ids) - len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class Glance:
    """What the front graph saw: early logits of answerability and support, and the states to read on from."""

    window: Window
    answer: float
    support: float
    worth: Floats
    hidden: Floats


@dataclass(frozen=True, slots=True)
class Logits:
    """What the whole model says of a window; arrays run over the tokens of the passage.

    Tokens that were not read to the end keep, as evidence, the worth that they seemed to have half-way.
    """

    window: Window
    start: Floats
    end: Floats
    evidence: Floats
    null: float
    answer: float
    support: float


class Runtime:
    """The model, loaded and checked. Safe to share between threads."""

    def __init__(self, folder: Path = MODELS, threads: int | None = None) -> None:
        self.manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        blobs = {name: _checked(folder / name, sha) for name, sha in self.manifest["sha256"].items()}
        self._front = _session(blobs["front.onnx"])
        self._back = _session(blobs["back.onnx"])
        self._pool = ThreadPoolExecutor(threads or os.cpu_count(), thread_name_prefix="chapterverse-reader")
        self._tokenizer = Tokenizer.from_buffer(blobs["tokenizer.json"])
        self._begin, self._split = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))

    def windows(self, query: str, passage: str) -> Iterator[Window]:
        """The passage in windows of about equal size that overlap; an empty passage has none."""
        asked = self._tokenizer.encode(query, add_special_tokens=False).ids[:QUERY]
        # The tokenizer drops line ends, but the rows of a table need them: the model knows a semicolon there.
        encoding = self._tokenizer.encode(_ROW_END.sub(";", passage), add_special_tokens=False)
        total, room = len(encoding.ids), LENGTH - 3 - len(asked)
        if not total:
            return
        count = 1 if total <= room else -(-(total - OVERLAP) // (room - OVERLAP))
        size = -(-(total + (count - 1) * OVERLAP) // count)
        offsets = np.asarray(encoding.offsets, np.int64)
        for number in range(count):
            first = max(0, min(number * (size - OVERLAP), total - size))
            shown = encoding.ids[first : first + size]
            ids = np.array([self._begin, *asked, self._split, *shown, self._split], np.int64)
            segments = np.zeros_like(ids)
            segments[len(asked) + 2 :] = 1
            yield Window(ids, segments, offsets[first : first + size])

    def glance(self, windows: Sequence[Window]) -> list[Glance]:
        """Read with the front half of the model, each window on a core of its own."""
        return list(self._pool.map(self._glance, windows))

    def finish(self, glances: Sequence[Glance], keep: int = LENGTH) -> list[Logits]:
        """Read on with the back half: the query, and the `keep` tokens of each passage that look most worth it."""
        return list(self._pool.map(partial(self._finish, keep=keep), glances))

    def _glance(self, window: Window) -> Glance:
        hidden, early, worth = self._front.run(None, {"ids": window.ids[None], "segments": window.segments[None]})
        prefix, count = window.prefix, len(window.offsets)
        return Glance(window, float(early[0, 0]), float(early[0, 1]), worth[0, prefix : prefix + count, 0], hidden)

    def _finish(self, glance: Glance, keep: int) -> Logits:
        prefix = glance.window.prefix
        kept = np.sort(np.argsort(-glance.worth, kind="stable")[:keep])
        places = np.concatenate([np.arange(prefix), prefix + kept, [len(glance.window.ids) - 1]])
        tokens, answer, support = self._back.run(None, {"hidden": glance.hidden[:, places]})
        logits = np.full((len(glance.worth), 3), UNREAD, np.float32)
        logits[:, 2] = glance.worth
        logits[kept] = tokens[0, prefix : prefix + len(kept)]
        start, end, evidence = logits.T
        null = float(tokens[0, 0, 0] + tokens[0, 0, 1])
        return Logits(glance.window, start, end, evidence, null, float(answer[0, 0]), float(support[0, 0]))


def _checked(path: Path, sha256: str) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise AstRagError(
            f"{path.name} is not the file that this version of Chapterverse was shipped with; install it again.",
            details={"file": path.name, "sha256": sha256},
        )
    return data


def _session(model: bytes) -> onnxruntime.InferenceSession:
    """One thread a run: two windows on two cores are read faster than each of them by both cores together."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
