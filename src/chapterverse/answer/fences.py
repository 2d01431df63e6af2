"""Fences: a question and its passages as one text for a model, between borders that no passage can forge.

The borders carry a word that is drawn anew for every question, so that a book cannot end its own passage.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chapterverse.answer.prompts import SOURCE_SELECTION
from chapterverse.types import Page, Passage, Place

_FIRST = re.compile(r"=== ([0-9a-f]{32}) question\n")


class Offered(NamedTuple):
    """A passage as a model sees it."""

    id: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Brief:
    """All that a model is given to answer from."""

    question: str
    passages: tuple[Offered, ...]


def new_fence() -> str:
    """A word that nobody can have put into a book."""
    return secrets.token_hex(16)


def fenced(question: str, passages: Sequence[Passage], fence: str) -> str:
    """The question and the passages, each between its own borders."""
    return f"{_block(fence, 'question', question)}\n\n{fenced_passages(passages, fence)}"


def fenced_passages(passages: Iterable[Passage], fence: str) -> str:
    """Passages alone: what a search brings in addition."""
    return "\n\n".join(_block(fence, f"[{one.id}] {label(one)}", one.text) for one in passages)


def read_brief(texts: Sequence[str]) -> Brief | None:
    """The inverse of `fenced`, and of `fenced_passages` for the texts after the first; None if it is not one."""
    first = _FIRST.match(texts[0]) if texts else None
    if first is None:
        return None
    border = f"=== {first.group(1)}"
    block = re.compile(rf"^{border} (?:question|\[(S\d+)\] (.*))\n((?s:.*?))\n{border} end$", re.MULTILINE)
    blocks = [match.groups() for text in texts for match in block.finditer(text)]
    (_, _, question), *passages = blocks
    return Brief(question, tuple(Offered(*passage) for passage in passages))


def label(passage: Passage) -> str:
    """Where a passage stands: `book.pdf (page 45, slide 3, Chapter 3 › The Drop)`."""
    if passage.entry is None:
        return SOURCE_SELECTION
    place = passage.entry.chunk.place
    parts = [_pages(place), f"slide {place.slide}" if place.slide is not None else "", " › ".join(place.headings)]
    where = ", ".join(filter(None, parts))
    return " ".join(f"{passage.entry.file_name} ({where})".split()) if where else passage.entry.file_name


def _block(fence: str, head: str, text: str) -> str:
    return f"=== {fence} {head}\n{text}\n=== {fence} end"


def _pages(place: Place) -> str:
    first, last = _page(place.first_page), _page(place.last_page)
    if not first:
        return ""
    return f"page {first}" if last in ("", first) else f"pages {first} to {last}"


def _page(page: Page | None) -> str:
    """As it is printed, where that is known."""
    return "" if page is None else page.label or (str(page.number) if page.number is not None else "")
