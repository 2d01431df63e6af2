"""Makes training examples out of the raw rows: the rows themselves, and hard variants of them."""

from __future__ import annotations

import json
import lzma
import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from nupunkt import sent_spans
from perturb import edit, stand_in
from sklearn.feature_extraction.text import TfidfVectorizer

Span = tuple[int, int]
Row = dict[str, object]

# Loose labels and odd questions count for less, the only hand-written unanswerable questions for more.
WEIGHTS = {
    "climate": 0.3,
    "healthver": 0.4,
    "citint": 0.3,
    "mnli_a": 0.4,
    "tellmewhy": 0.4,
    "aqa": 0.5,
    "subjqa": 0.4,
    "squad2": 2.0,
}
# Groups are articles or stories there, so that the answer of one paragraph is rarely in another.
ARTICLES = {"squad2", "squad11", "shift_new_wiki", "shift_reddit", "nq", "fairytale"}
# Short evidence that reads well inside a longer passage.
SHORT = {"docnli_FEVER-NLI", "foolmetwice", "fever_sym", "scitail", "climate", "docnli_MNLI"}


@dataclass(frozen=True)
class Example:
    """One (query, passage) pair; labels are None where the pair says nothing about them."""

    kind: str
    source: str
    query: str
    context: str
    held: bool
    weight: float = 1.0
    answerable: bool | None = None
    supported: bool | None = None
    answer: Span | None = None
    evidence: tuple[Span, ...] = ()
    """Every sentence that the answer or the claim rests on, where that is known."""
    cut: Span | None = None
    wrong: tuple[Span, ...] | None = None
    """The characters of a claim that its passage does not bear out, none if it does; None where that is not known."""


def read(folder: Path, name: str) -> list[Row]:
    with lzma.open(folder / f"{name}.jsonl.xz", "rt") as lines:
        return [json.loads(line) for line in lines]


def held_out(key: str, percent: int) -> bool:
    """Whether an article or a context belongs to the split kept for calibration and selection."""
    return zlib.crc32(key.encode()) % 100 < percent


def question_examples(rows: list[Row], rng: random.Random) -> Iterator[Example]:
    near = nearest_wrong(rows)
    for number, row in enumerate(rows):
        source, question, context = str(row["source"]), str(row["question"]), str(row["context"])
        if source == "subjqa" and rng.random() < 0.5:
            continue
        single = source in ("shift_reddit", "covidqa", "tweetqa", "nq")
        held = held_out(context if single else str(row["group"]), 14 if source == "squad2" else 5)
        span = tuple(row["answer"]) if row["answer"] else None  # type: ignore[arg-type]
        base = {"source": source, "query": question, "held": held}
        weight = WEIGHTS.get(source, 1.0)
        if span is None:
            yield Example("question", context=context, answerable=False, weight=weight, **base)
            continue
        evidence = sentence_around(context, span)
        yield Example(
            "question",
            context=context,
            answerable=True,
            answer=span,
            evidence=(evidence,),
            weight=weight,
            **base,
        )
        yield from _hard_questions(base, context, span, evidence, near[number], rows, rng)
        yield from _answers_as_claims(base, context, span, evidence, rng)


def _hard_questions(
    base: dict, context: str, span: Span, evidence: Span, near: list[str], rows: list[Row], rng: random.Random
) -> Iterator[Example]:
    source, question = base["source"], base["query"]
    if source == "subjqa":
        return
    seen = {question}
    for kinds, chance, weight in (("e", 1.0, 0.7), ("e", 0.8, 0.7), ("an", 1.0, 0.6), ("w", 0.8, 0.4), ("w", 0.8, 0.4)):
        changed = edit(question, context, rng, kinds) if rng.random() < chance else None
        if changed and changed not in seen:
            seen.add(changed)
            yield Example("edited", context=context, answerable=False, weight=weight, **{**base, "query": changed})
    trust = 0.8 if source in ARTICLES else 0.0
    for other in near:
        yield Example("near", context=other, answerable=False, weight=trust, **base)
    answer = context[slice(*span)].lower()
    left = context[: evidence[0]] + context[evidence[1] :]
    if rng.random() < 0.8 and len(left) > 80 and answer not in left.lower():
        yield Example("cut", context=context, answerable=False, weight=trust and 0.7, cut=evidence, **base)
    if rng.random() < 0.3:
        stranger = rng.choice(rows)
        if answer not in str(stranger["context"]).lower():
            yield Example("stranger", context=str(stranger["context"]), answerable=False, **base)


def _answers_as_claims(base: dict, context: str, span: Span, evidence: Span, rng: random.Random) -> Iterator[Example]:
    question, answer = base["query"], context[slice(*span)]
    if base["source"] not in ARTICLES | {"covidqa"} or len(answer) > 80 or rng.random() < 0.35:
        return
    wrong = stand_in(answer, context, question, rng)
    twisted = edit(question, context, rng, "ea") if rng.random() < 0.4 else None
    yield Example(
        "answer",
        context=context,
        supported=True,
        evidence=(evidence,),
        **{**base, "query": as_claim(question, answer)},
    )
    if wrong:
        yield Example(
            "answer",
            context=context,
            supported=False,
            weight=0.8,
            **{**base, "query": as_claim(question, wrong)},
        )
    if twisted:
        claim = as_claim(twisted, answer)
        yield Example("answer", context=context, supported=False, weight=0.5, **{**base, "query": claim})


def as_claim(question: str, answer: str) -> str:
    """State an answered question: as a sentence where the answer is its subject, else side by side."""
    match = re.match(r"(?:who|what|which(?: \w+)?)\s+(?!do\b|does\b|did\b|else\b)(\w+ .*?)\??$", question, re.I)
    return f"{answer} {match.group(1)}." if match else f"{question} {answer}"


def sentence_claims(rows: list[Row], rng: random.Random) -> Iterator[Example]:
    """Sentences of a passage as claims: as they stand, edited, joined, or with their source cut out."""
    seen: dict[str, tuple[str, bool]] = {}
    for row in rows:
        if row["source"] in ARTICLES | {"covidqa", "policyqa"}:
            group = str(row["context"] if row["source"] in ("shift_reddit", "covidqa", "nq") else row["group"])
            seen[str(row["context"])] = (
                str(row["source"]),
                held_out(group, 14 if row["source"] == "squad2" else 5),
            )
    for context, (source, held) in seen.items():
        text = context[:6000]
        spans = [s for s in sent_spans(text) if 40 < len(text[slice(*s)].strip()) < 260]
        for span in rng.sample(spans, min(4, len(spans))):
            base = {"source": source, "context": context, "held": held}
            sentence = loosen(text[slice(*span)].strip(), rng)
            changed = edit(sentence, text, rng, "eean")
            extra = rng.random()
            if extra < 0.3 and changed:  # one true half does not save a claim
                joined = f"{sentence} {text[slice(*rng.choice(spans))].strip()}"
                yield Example("sentence", query=joined, supported=True, evidence=(span,), **base)
                changed = joined.replace(sentence, changed)
            elif extra < 0.7:
                yield Example("sentence", query=sentence, supported=True, evidence=(span,), **base)
            else:
                yield Example("sentence", query=sentence, supported=False, weight=0.7, cut=span, **base)
            if changed:
                yield Example("sentence", query=changed, supported=False, weight=0.7, **base)


def loosen(sentence: str, rng: random.Random) -> str:
    """Drop an aside half of the time, so that a true claim is not always a copy."""
    return re.sub(r"\s*\([^)]*\)|, [^,]{3,50}(?=,)", "", sentence) if rng.random() < 0.5 else sentence


def claim_examples(rows: list[Row], rng: random.Random) -> Iterator[Example]:
    by_source: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_source[str(row["source"])].append(str(row["context"]))
    for row in rows:
        source, claim, context = str(row["source"]), str(row["claim"]), str(row["context"])
        supported = bool(row["supported"])
        base = {"source": source, "held": held_out(context, 5), "supported": supported}
        weight = WEIGHTS.get(source, 1.0)
        yield Example("claim", query=claim, context=context, weight=weight, **base)
        if source in SHORT and rng.random() < 0.7:
            before = " ".join(rng.choices(by_source[source], k=rng.randrange(4)))
            after = " ".join(rng.choices(by_source[source], k=rng.randrange(4)))
            start = len(before) + 1 if before else 0
            padded = f"{before} {context} {after}".strip()
            evidence = ((start, start + len(context)),) if supported else ()
            yield Example("padded", query=claim, context=padded, weight=0.8 * weight, evidence=evidence, **base)


def answerability_examples(rows: list[Row]) -> Iterator[Example]:
    for row in rows:
        source, context = str(row["source"]), str(row["context"])
        yield Example(
            "answerability", source, str(row["question"]), context, held_out(context, 5),
            weight=WEIGHTS.get(source, 0.8), answerable=bool(row["answerable"]),
        )  # fmt: skip


def sentence_around(text: str, span: Span) -> Span:
    """The sentence or sentences that hold `span`, found near it so that long texts cost little."""
    first, last = max(0, span[0] - 600), span[1] + 600
    bounds = [(a + first, b + first) for a, b in sent_spans(text[first:last])]
    inside = [(a, b) for a, b in bounds if a < span[1] and b > span[0]]
    return (inside[0][0], inside[-1][1]) if inside else span


def nearest_wrong(rows: list[Row]) -> list[list[str]]:
    """For each question, the two most similar other passages of its group that lack the answer's text."""
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        whole = row["source"] in ("nq", "covidqa")
        members[str(row["source"]), "" if whole else str(row["group"])].append(number)
    result: list[list[str]] = [[] for _ in rows]
    for numbers in members.values():
        contexts = sorted({str(rows[i]["context"]) for i in numbers})
        if len(contexts) < 2:
            continue
        tfidf = TfidfVectorizer(sublinear_tf=True, stop_words="english", dtype=np.float32)
        matrix = tfidf.fit_transform(contexts)
        for begin in range(0, len(numbers), 2000):
            part = numbers[begin : begin + 2000]
            scores = (tfidf.transform([str(rows[i]["question"]) for i in part]) @ matrix.T).toarray()
            for i, line in zip(part, scores, strict=True):
                result[i] = _without_answer(rows[i], [contexts[j] for j in most(line, 4)])
    return result


def most(scores: np.ndarray, count: int) -> list[int]:
    """The places of the highest scores, the highest first."""
    head = np.argpartition(-scores, count)[:count] if len(scores) > count else np.arange(len(scores))
    return head[np.argsort(-scores[head], kind="stable")].tolist()


def _without_answer(row: Row, candidates: list[str]) -> list[str]:
    context = str(row["context"])
    answer = context[slice(*row["answer"])].lower() if row["answer"] else context  # type: ignore[misc]
    return [c for c in candidates if c != context and answer not in c.lower()][:2]
