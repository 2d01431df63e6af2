"""A reader that goes by words, and passages to read: small enough to be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

from chapterverse.answer.questions import content
from chapterverse.ingest.sentences import split
from chapterverse.types import AnswerSpan, Chunk, Entry, Passage, Place, Reading, Support


class WordReader:
    """The answer is the sentence that has most of the question's words; its share of them is the probability."""

    def __init__(self) -> None:
        self.questions: list[str] = []

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        self.questions.append(question)
        return [self._read(content(question), passage) for passage in passages]

    def supports(self, claim: str, passages: Sequence[str]) -> list[Support]:
        return [
            Support(reading.answerable, reading.spans[0].start, reading.spans[0].end)
            for reading in self.read(claim, passages)
        ]

    def strictly(self, claim: str, passages: Sequence[str]) -> list[float]:
        return [reading.answerable for reading in self.read(claim, passages)]

    @staticmethod
    def _read(asked: frozenset[str], passage: str) -> Reading:
        scored = [
            AnswerSpan(start, end, len(asked & content(passage[start:end])) / max(len(asked), 1))
            for start, end in split(passage)
        ]
        scored.sort(key=lambda span: -span.score)
        best = scored[0].score
        return Reading(relevance=best, answerable=best, spans=tuple(scored[:3]), evidence=tuple(scored))


def passage(number: int, text: str, *, headings: tuple[str, ...] = (), file_name: str = "book.md") -> Passage:
    """A passage that comes from an index."""
    chunk = Chunk(f"chunk-{number}", "book", 0, len(text), text, Place(headings=headings))
    entry = Entry(chunk, number, file_name, "The Book", "text/markdown", "0" * 64, "")
    return Passage(f"S{number}", text, entry=entry)


def passages(*texts: str) -> list[Passage]:
    return [passage(number, text) for number, text in enumerate(texts, 1)]


def selection(text: str) -> list[Passage]:
    return [Passage("S1", text)]
