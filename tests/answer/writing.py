"""Lets the agent draft, and keeps all that it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chapterverse.answer.agent import GenerationUsage, draft
from chapterverse.types import DraftSentence, Passage


@dataclass(frozen=True)
class Drafted:
    """A draft with all that was said."""

    sentences: tuple[DraftSentence, ...]
    passages: tuple[Passage, ...]
    usage: GenerationUsage
    turns: int


async def write(question: str, offered: Sequence[Passage], **options: Any) -> Drafted:
    said: list[DraftSentence] = []

    async def say(sentence: DraftSentence, _: Sequence[Passage]) -> None:
        said.append(sentence)

    drafted = await draft(question, offered, say=say, **options)
    return Drafted(tuple(said), drafted.passages, drafted.usage, drafted.turns)
