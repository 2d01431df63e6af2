"""Runs the reader's three ONNX graphs: windows in, logits out.

The first skims every window; the front graph reads on, with the query and the tokens that look worth it, and says
how promising the window is; the back graph reads promising windows to the end, with fewer tokens still, and claims
that are to be judged strictly with other weights (`weights.py`). A run holds exactly one window: int8
activations are scaled over all that a run holds, so that a window read beside others would score
differently, and larger batches are no faster.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
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
from chapterverse.reading.weights import Weights, adapted, unpacked

MODELS = Path(__file__).parent.parent / "models" / "reader"
MANIFEST = "manifest.json"
GRAPHS = ("skim", "front", "back")
"""In the order in which they run."""
STRICT = "strict"
"""What is added to the weights of the last one."""
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
    """What skim and front graph saw: early logits of answerability and support, and the states to read on from."""

    window: Window
    answer: float
    support: float
    worth: Floats
    """Of every token of the passage; those that were only skimmed keep what they seemed worth then."""
    read: NDArray[np.int64]
    """The tokens of the passage that were read on after skimming."""
    hidden: Floats


@dataclass(frozen=True, slots=True)
class Logits:
    """What the whole model says of a window; arrays run over the tokens of the passage.

    `support` means something where the query is a claim, the rest where it is a question; evidence does either way.
    Tokens that were not read to the end keep, as evidence, what they last seemed worth.
    """

    window: Window
    start: Floats
    end: Floats
    evidence: Floats
    null: float
    answer: float
    support: float
    """As raters judge, or strictly if that was asked for."""


class Runtime:
    """The model, loaded and checked. Safe to share between threads."""

    def __init__(self, folder: Path = MODELS, threads: int | None = None) -> None:
        self.manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        blobs = {name: _checked(folder / name, sha) for name, sha in self.manifest["sha256"].items()}
        self._pool = ThreadPoolExecutor(threads or os.cpu_count(), thread_name_prefix="chapterverse-reader")
        packed = [blobs[f"{name}.npz"] for name in (*GRAPHS, STRICT)]
        *weights, self._additions = self._pool.map(unpacked, packed)
        self._weights: dict[str, Weights] = dict(zip(GRAPHS, weights, strict=True))
        self._skim, self._front, self._back = (_session(blobs[f"{name}.onnx"], self._weights[name]) for name in GRAPHS)
        self._graph = blobs["back.onnx"]
        self._strict: onnxruntime.InferenceSession | None = None
        self._making = threading.Lock()
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

    def glance(self, windows: Sequence[Window], keep: int = LENGTH) -> list[Glance]:
        """Skim each window on a core of its own, and read on in the query and the `keep` tokens most worth it."""
        return list(self._pool.map(partial(self._glance, keep=keep), windows))

    def finish(self, glances: Sequence[Glance], keep: int = LENGTH, *, strictly: bool = False) -> list[Logits]:
        """Read to the end: the query, and the `keep` tokens of each passage that look most worth it.

        `strictly` is for claims in which one thing that is wrong is to be enough.
        """
        back = self._judge() if strictly else self._back
        return list(self._pool.map(partial(self._finish, back, int(strictly), keep=keep), glances))

    def _judge(self) -> onnxruntime.InferenceSession:
        """The last graph with the weights for strict judgements, made when it is needed, which it may never be."""
        with self._making:
            if self._strict is None:
                self._weights[STRICT] = adapted(self._weights["back"], self._additions)
                self._strict = _session(self._graph, self._weights[STRICT])
            return self._strict

    def _glance(self, window: Window, keep: int) -> Glance:
        prefix, count = window.prefix, len(window.offsets)
        hidden, seemed = self._skim.run(None, {"ids": window.ids[None], "segments": window.segments[None]})
        worth = seemed[0, prefix : prefix + count, 0]
        read = _most_worth(worth, keep)
        hidden, early, seems = self._front.run(None, {"states": _among(hidden, prefix, read)})
        worth[read] = seems[0, prefix : prefix + len(read), 0]
        return Glance(window, float(early[0, 0]), float(early[0, 1]), worth, read, hidden)

    def _finish(self, back: onnxruntime.InferenceSession, judged: int, glance: Glance, keep: int) -> Logits:
        prefix = glance.window.prefix
        chosen = _most_worth(glance.worth[glance.read], keep)
        kept = glance.read[chosen]
        tokens, answer, support = back.run(None, {"states": _among(glance.hidden, prefix, chosen)})
        logits = np.full((len(glance.worth), 3), UNREAD, np.float32)
        logits[:, 2] = glance.worth
        logits[kept] = tokens[0, prefix : prefix + len(kept)]
        start, end, evidence = logits.T
        null = float(tokens[0, 0, 0] + tokens[0, 0, 1])
        return Logits(glance.window, start, end, evidence, null, float(answer[0, 0]), float(support[0, judged]))


def _most_worth(worth: Floats, keep: int) -> NDArray[np.int64]:
    """The places of the `keep` tokens of a passage that seem worth most, in order."""
    return np.sort(np.argsort(-worth, kind="stable")[:keep])


def _among(hidden: Floats, prefix: int, chosen: NDArray[np.int64]) -> Floats:
    """The states of the query, of the chosen tokens of the passage and of the mark at its end."""
    return hidden[:, np.concatenate([np.arange(prefix), prefix + chosen, [hidden.shape[1] - 1]])]


def _checked(path: Path, sha256: str) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise AstRagError(
            f"{path.name} is not the file that this version of Chapterverse was shipped with; install it again.",
            details={"file": path.name, "sha256": sha256},
        )
    return data


def _session(model: bytes, weights: Weights) -> onnxruntime.InferenceSession:
    """One thread a run: two windows on two cores are read faster than each of them by both cores together.

    The weights, which lie apart from the graph, are not copied: keep them as long as the session.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in weights.values()]
    options.add_external_initializers(list(weights), values)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
