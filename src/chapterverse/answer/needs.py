"""Needs: what a question needs to be answered: a book to look in, and a mind that judges and writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol

from chapterverse.answer.retrieve import Found
from chapterverse.answer.topic import Verdict
from chapterverse.answer.validate import DEFAULTS, Sentences, ValidationSettings
from chapterverse.protocols import Reader
from chapterverse.types import Document, DraftSentence, Entry, Passage, Reason


class Book(Protocol):
    """What a question needs of an index, within its scope."""

    async def about(self, question: str) -> Verdict:
        """Whether the question can be about the book at all; no search is made for this."""
        ...

    async def find(self, query: str) -> tuple[list[Found], Reason | None]:
        """Candidates, best first; without any, why."""
        ...

    async def chunks(self, limit: int) -> list[Entry]:
        """The scope itself, in reading order, thinned to `limit` chunks."""
        ...

    async def opening(self, limit: int) -> list[Entry]:
        """The first chunks of the scope's one document; none where it has several."""
        ...

    async def author(self) -> str | None:
        """Who wrote the scope's one document, if that is known."""
        ...

    async def document(self, entry: Entry) -> Document:
        """The whole document that an entry is from."""
        ...


class Drafter(Protocol):
    """The agent: writes a draft from passages, and may search again where it is allowed to."""

    def prepare(self) -> None:
        """Begin, without waiting for it, what takes long before a first draft."""
        ...

    async def __call__(
        self,
        question: str,
        passages: Sequence[Passage],
        *,
        reader: Reader,
        threshold: float,
        search: Callable[[str], Awaitable[list[Passage]]] | None,
        say: Callable[[DraftSentence, Sequence[Passage]], Awaitable[None]],
    ) -> tuple[Sequence[Passage], dict[str, Any]]:
        """Hand each sentence to `say` as it is written; every passage that was offered, and what it took.

        `threshold` is the chance from which the reader's answer counts as one.
        """
        ...


@dataclass(frozen=True)
class Mind:
    """What judges and writes: the reader, the splitter of sentences, and the agent."""

    reader: Reader
    sentences: Sentences
    draft: Drafter
    validation: ValidationSettings = DEFAULTS
    executor: Executor | None = None
