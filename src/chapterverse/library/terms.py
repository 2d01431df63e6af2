"""What names, addresses and questions may be, and what they stand for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from chapterverse.errors import AstRagValidationError, InvalidQueryError
from chapterverse.ingest.books import sample_book
from chapterverse.providers.catalog import Target

MAX_QUESTION = 1000


def resolve_address(address: str | Path) -> str | Path:
    """Local paths in full, so that an index finds its sources again from anywhere; `sample` is the book we bring."""
    if address == "sample":
        return sample_book()
    path = Path(address).expanduser()
    return path.resolve() if path.exists() else address


def check_question(question: str) -> str:
    """A question that can be asked; raises `InvalidQueryError` with what to do instead."""
    if not isinstance(question, str) or not any(char.isalnum() for char in question):
        raise InvalidQueryError("Please provide a question about the book.")
    if len(question) > MAX_QUESTION:
        raise InvalidQueryError(
            f"The question has {len(question):,} characters; at most {MAX_QUESTION:,} are read. Please shorten it.",
            details={"limit": MAX_QUESTION},
        )
    return question.strip()


def retrieval_defaults(target: Target) -> dict[str, Any]:
    """How an index is searched unless a request says otherwise: the weights that suit its embedding model."""
    weights = ENGINE_WEIGHTS.get(f"{target.provider}:{target.model}", ENGINE_WEIGHTS.get(target.provider, (0.65, 0.35)))
    return {"vector_weight": weights[0], "lexical_weight": weights[1]}


ENGINE_WEIGHTS: dict[str, tuple[float, float]] = {}
"""Weights of vector and lexical scores for an embedding model, tuned on held-out training data (docs/retrieval.md)."""


def slug(name: str) -> str:
    """A name as an index id."""
    folded = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")[:80]
    if not folded:
        raise AstRagValidationError(f"{name!r} cannot name an index: it has no letter or digit.")
    return folded


def index_name(address: str) -> str:
    """The name of an index that nobody named: that of its first book or folder."""
    last = re.split(r"[/\\]", address.rstrip("/\\"))[-1]
    return Path(last).stem or last
