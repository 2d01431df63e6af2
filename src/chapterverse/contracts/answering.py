"""What the contracts ask of a library to have a question answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from chapterverse.answer.retrieve import Retrieval
from chapterverse.library import Access, Library
from chapterverse.types import Answer, Filter, Passage


class Answering(Protocol):
    """A library that answers."""

    def ask(
        self,
        question: str,
        *,
        index: str | None,
        settings: Retrieval,
        where: Filter | None,
        history: Sequence[tuple[str, str]],
        generation: Mapping[str, Any],
        require_citations: bool,
        access: Access,
    ) -> Answer:
        """Answer from an index; `history` is (role, content), oldest first."""
        ...

    def answer_from(self, question: str, passages: Sequence[Passage]) -> Answer:
        """Answer from these passages alone, with the configured model."""
        ...


def answering(library: Library) -> Answering:
    """The library as one that answers."""
    return cast(Answering, library)
