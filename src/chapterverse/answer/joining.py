"""Joining: candidates that stand side by side in a document are one passage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from chapterverse.answer.retrieve import Found
from chapterverse.types import Document, Entry, Passage

_LONGEST_PASSAGE = 2600
"""Reading single chunks instead answers as many questions of the training split, and as many rightly."""


async def joined(found: Sequence[Found], first: int, document: Callable[[Entry], Awaitable[Document]]) -> list[Passage]:
    """Candidates as passages, best first and named from `first` on; neighbours are one, as their document has it."""
    runs: list[list[Found]] = []
    for one in sorted(found, key=lambda one: (one.entry.chunk.file_id, one.entry.ordinal, one.entry.chunk.start)):
        if runs and _adjacent(runs[-1], one) and await _meet(runs[-1][-1].entry, one.entry, document):
            runs[-1].append(one)
        else:
            runs.append([one])
    ranked = sorted(runs, key=lambda run: min(found.index(one) for one in run))
    return [await _passage(run, f"S{n}", document) for n, run in enumerate(ranked, first)]


async def _passage(run: Sequence[Found], key: str, document: Callable[[Entry], Awaitable[Document]]) -> Passage:
    best = max(run, key=lambda one: one.final)
    start, end = min(one.entry.chunk.start for one in run), max(one.entry.chunk.end for one in run)
    text = best.entry.chunk.text if len(run) == 1 else (await document(best.entry)).text[start:end]
    return Passage(key, text, start, best.entry, best.vector, best.lexical, best.final)


def _adjacent(run: Sequence[Found], one: Found) -> bool:
    last, piece = run[-1].entry, one.entry
    return (
        last.chunk.file_id == piece.chunk.file_id
        and last.ordinal + 1 == piece.ordinal
        and last.chunk.place.chapter == piece.chunk.place.chapter
        and piece.chunk.end - run[0].entry.chunk.start <= _LONGEST_PASSAGE
    )


async def _meet(one: Entry, other: Entry, document: Callable[[Entry], Awaitable[Document]]) -> bool:
    """Whether nothing is said between the two: what a scope leaves out there must not come back."""
    end, start = one.chunk.end, other.chunk.start
    return end >= start or not (await document(one)).text[end:start].strip()
