"""The reader: where a passage answers a question, whether it does at all, and whether it bears out a claim."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from nupunkt import sent_spans

from chapterverse.reading.calibrate import Calibration
from chapterverse.reading.runtime import MODELS, Floats, Glance, Logits, Runtime
from chapterverse.types import AnswerSpan, Reading, Support

SPANS = 3
"""Answer spans reported for a passage."""
SPAN_TOKENS = 30
BEHIND, UNLIKELY = 3.0, 0.3
"""A window is left half-read if its early logit is so far behind the best and its early probability so small. On 110
held-out questions, each with its own passage and seven of the same articles, this lost none and read 2.5 to the end."""
WINDOWS = 4
"""Windows of a long passage that a claim is held against to the end: those that look most promising early."""


class Reader:
    """Reads with the shipped model, which is loaded when it is first needed. Safe to share between threads."""

    def __init__(self, folder: Path = MODELS, threads: int | None = None) -> None:
        self.folder, self._threads = folder, threads
        self._loading = threading.Lock()

    @property
    def answer_threshold(self) -> float:
        """The probability from which answering beats refusing, as held-out questions tell."""
        _, calibration = self.loaded()
        return calibration.answer_from

    @property
    def fingerprint(self) -> str:
        """Of the weights and curves: readers with the same one give the same probabilities."""
        runtime, _ = self.loaded()
        return hashlib.sha256(json.dumps(runtime.manifest, sort_keys=True).encode()).hexdigest()[:16]

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """One reading for each passage, in their order; passages far behind the best are left half-read."""
        glances = self._glances(question, passages)
        best = max((glance.answer for seen in glances for glance in seen), default=0.0)
        return [self._read(passage, seen, best) for passage, seen in zip(passages, glances, strict=True)]

    def supports(self, claim: str, passages: Sequence[str]) -> list[Support]:
        """One judgement for each passage, in their order."""
        glances = self._glances(claim, passages)
        return [self._judge(passage, seen) for passage, seen in zip(passages, glances, strict=True)]

    def _glances(self, query: str, passages: Sequence[str]) -> list[list[Glance]]:
        runtime, _ = self.loaded()
        return [[runtime.glance(window) for window in runtime.windows(query, passage)] for passage in passages]

    def _read(self, passage: str, glances: Sequence[Glance], best: float) -> Reading:
        runtime, calibration = self.loaded()
        early = [calibration.early_answer(glance.answer) for glance in glances]
        worth = [g for g, p in zip(glances, early, strict=True) if p >= UNLIKELY or g.answer >= best - BEHIND]
        if not worth:
            chance = max(early, default=0.0)
            return Reading(relevance=chance, answerable=chance)
        logits = [runtime.finish(glance) for glance in worth]
        spans = sorted((s for one in logits for s in _spans(one)), key=lambda s: -s.score)
        evidence = _evidence(passage, logits)
        answerable = max(calibration.answer(confidence(one)) for one in logits)
        relevance = max([answerable, *(sentence.score for sentence in evidence[:1])])
        cited = evidence[:1] + tuple(s for s in evidence[1:] if s.score >= calibration.cite)
        return Reading(relevance, answerable, _distinct(spans), evidence, cited)

    def _judge(self, passage: str, glances: Sequence[Glance]) -> Support:
        runtime, calibration = self.loaded()
        if not glances:
            return Support(0.0, 0, len(passage))
        promising = sorted(glances, key=lambda glance: -glance.support)[:WINDOWS]
        best = max((runtime.finish(glance) for glance in promising), key=lambda one: one.support)
        sentence = _evidence(passage, [best])[0]
        return Support(calibration.support(best.support), sentence.start, sentence.end)

    def loaded(self) -> tuple[Runtime, Calibration]:
        """The model and its probabilities; loads them once, on the first call."""
        with self._loading:
            return self._model

    @cached_property
    def _model(self) -> tuple[Runtime, Calibration]:
        runtime = Runtime(self.folder, self._threads)
        return runtime, Calibration.from_json(runtime.manifest["calibration"])


def _span_table(logits: Logits) -> Floats:
    """Scores of every span of up to SPAN_TOKENS tokens, by first token and number of further tokens."""
    count, width = len(logits.start), min(SPAN_TOKENS, len(logits.start))
    table = np.full((count, width), -np.inf, np.float32)
    for more in range(width):
        table[: count - more, more] = logits.start[: count - more] + logits.end[more:]
    return table


def confidence(logits: Logits) -> float:
    """That the answer is there: the answer logit, and how far the best span beats "no answer" per logit."""
    margin = float(_span_table(logits).max()) - logits.null
    return logits.answer + margin / 2


def _spans(logits: Logits) -> list[AnswerSpan]:
    """The best spans of a window that do not overlap; the score is the model's probability of exactly that span."""
    table = _span_table(logits)
    chances = np.exp(table - _log_sum(logits))
    found: list[AnswerSpan] = []
    for place in np.argsort(-table, axis=None, kind="stable")[: 8 * SPANS]:
        first, more = divmod(int(place), table.shape[1])
        offsets = logits.window.offsets
        span = AnswerSpan(int(offsets[first, 0]), int(offsets[min(first + more, len(offsets) - 1), 1]), 0.0)
        if all(span.end <= other.start or span.start >= other.end for other in found):
            found.append(AnswerSpan(span.start, span.end, float(chances[first, more])))
        if len(found) == SPANS:
            break
    return found


def _log_sum(logits: Logits) -> float:
    return float(_log_sum_exp(logits.start) + _log_sum_exp(logits.end))


def _log_sum_exp(values: Floats) -> float:
    top = float(values.max())
    return top + float(np.log(np.exp(values - top).sum()))


def _distinct(spans: Sequence[AnswerSpan]) -> tuple[AnswerSpan, ...]:
    """The best spans, best first; windows overlap, so that one place may be found twice."""
    kept: list[AnswerSpan] = []
    for span in spans:
        if all(span.end <= other.start or span.start >= other.end for other in kept):
            kept.append(span)
    return tuple(kept[:SPANS])


def _evidence(passage: str, logits: Sequence[Logits]) -> tuple[AnswerSpan, ...]:
    """Every sentence of the passage that was read, with the mean evidence of its tokens, best first."""
    scored: list[AnswerSpan] = []
    for start, end in sent_spans(passage):
        text = passage[start:end]
        start, end = start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
        scores = []
        for one in logits:
            offsets = one.window.offsets
            inside = (offsets[:, 0] >= start) & (offsets[:, 1] <= end)
            if inside.any():
                scores.append(float((1 / (1 + np.exp(-one.evidence[inside]))).mean()))
        if scores and end > start:
            scored.append(AnswerSpan(start, end, max(scores)))
    return tuple(sorted(scored, key=lambda sentence: -sentence.score))
