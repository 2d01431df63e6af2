"""What names, addresses and questions may be, and what they stand for."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from chapterverse.answer.prompts import EMPTY_QUESTION
from chapterverse.answer.questions import parts
from chapterverse.answer.retrieve import Retrieval
from chapterverse.errors import AstRagValidationError, InvalidQueryError
from chapterverse.index.folder import is_index
from chapterverse.ingest.books import sample_book
from chapterverse.ingest.sources.folder import find
from chapterverse.providers.catalog import Target
from chapterverse.types import Chunking

MAX_QUESTION = 1000
MAX_SELECTION = 10_000
SAMPLE = "sample"
"""The address of the book we bring."""
NO_TEXT = "this is not valid text: it holds half of a character (a lone surrogate), or bytes that are not UTF-8"
_LONGEST_ID, _DIGEST = 80, 8
_SCHEME = re.compile(r"[a-z]{2,}:")
_HALF = re.compile(r"[\ud800-\udfff]")


def full_address(address: str | Path) -> str | Path:
    """Local paths in full, so that an index finds its sources again from anywhere; links stay links."""
    if address == SAMPLE:
        return sample_book()
    path = find(str(address))
    if path is None:
        return address
    return path.resolve() if ".." in path.parts else path.absolute()


def resolve_address(address: str | Path) -> str | Path:
    """Local paths in full, as their links lead now."""
    full = full_address(address)
    return full.resolve() if isinstance(full, Path) and full.exists() else full


def same_place(one: str | Path, other: str | Path) -> bool:
    """Whether two addresses lead to the same place now, or would if anything were there."""
    return _place(one) == _place(other)


def _place(address: str | Path) -> str:
    with suppress(OSError, RuntimeError, ValueError):  # it can be no path, or may not be looked at
        return str(Path(full_address(address)).expanduser().resolve())
    return str(address)


def is_text(value: object) -> bool:
    """Whether all text in a value can be written down: JSON and the command line let halves of characters through."""
    within = [value]
    while within:  # not by recursion: whoever sends JSON decides how deep it is
        one = within.pop()
        if isinstance(one, str) and _HALF.search(one):
            return False
        if isinstance(one, Mapping):
            within += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            within += one
    return True


def check_text(**fields: object) -> None:
    """Refuse what neither models nor stores can take; the `InvalidQueryError` names the field."""
    for name, value in fields.items():
        if not is_text(value):
            raise InvalidQueryError(f"{name}: {NO_TEXT}.", details={"field": name})


def check_question(question: str) -> str:
    """A question that can be asked; raises `InvalidQueryError` with what to do instead."""
    if not isinstance(question, str) or not any(char.isalnum() for char in question):
        raise InvalidQueryError(EMPTY_QUESTION)
    if len(question) > MAX_QUESTION:
        raise InvalidQueryError(
            f"{EMPTY_QUESTION} This one has {len(question):,} characters; at most {MAX_QUESTION:,} are read."
            " Please shorten it.",
            details={"limit": MAX_QUESTION},
        )
    check_text(question=question)
    return question.strip()


def check_selection(selection: str) -> str:
    """A selected passage that can be answered from; raises `InvalidQueryError` with what to do instead."""
    if not isinstance(selection, str) or not selection.strip():
        raise InvalidQueryError("The selected text is empty. Select a passage, or ask without a selection.")
    if len(selection) > MAX_SELECTION:
        raise InvalidQueryError(
            f"The selected text has {len(selection):,} characters; at most {MAX_SELECTION:,} are read. Select less.",
            details={"limit": MAX_SELECTION},
        )
    check_text(selected_text=selection)
    return selection


def check_alone(*places: object) -> None:
    """Refuse a place in a book beside a selected passage: it would count for nothing."""
    if any(place is not None for place in places):
        raise InvalidQueryError(
            "selected_text is answered from alone: leave out what names a place in a book (index, file, chapter,"
            " section, page), or the selected text."
        )


def context_of(question: str, history: Sequence[Mapping[str, str]]) -> str:
    """What a follow-up leans on: the question before it, where it speaks of "it" or "they"; never what was answered."""
    for turn in history if isinstance(history, Sequence) else [None]:
        said = turn if isinstance(turn, Mapping) else {}
        if said.get("role") not in ("user", "assistant") or not isinstance(said.get("content"), str):
            raise InvalidQueryError("history takes turns with a role, 'user' or 'assistant', and a content.")
        check_text(history=turn["content"])
    asked = [turn["content"] for turn in history if turn["role"] == "user"]
    return asked[-1][:MAX_QUESTION] if asked and parts(question)[0].leans else ""


def retrieval_defaults(target: Target) -> dict[str, Any]:
    """How an index is searched unless a request says otherwise: the weights that suit its embedding model."""
    weight = target.card.vector_weight
    if weight is None:
        weight = Retrieval().vector_weight
    return {"vector_weight": weight, "lexical_weight": round(1 - weight, 4)}


def chunking_over(base: Mapping[str, Any], wanted: Chunking | Mapping[str, int] | None) -> Chunking:
    """How to cut: as is wanted, and where that names some sizes only, otherwise as before."""
    return wanted if isinstance(wanted, Chunking) else Chunking(**{**base, **(wanted or {})})


def slug(name: str) -> str:
    """A name as an index id, which is a folder, a collection and a part of URLs: plain letters and digits alone.

    An id that says less than the name, for it is long, in another script or has signs ("C++"), ends in a hash of it:
    names fall together only where case, accents, white space, apostrophes and the signs - _ . are all they differ in.
    """
    folded, plain = _plain(name)
    said = re.sub(r"[\s._'’-]", "", folded)
    if plain and said == re.sub("[_-]", "", plain) and len(plain) <= _LONGEST_ID:
        return plain
    digest = hashlib.sha256(unicodedata.normalize("NFKD", name).casefold().encode()).hexdigest()[:_DIGEST]
    return f"{plain[: _LONGEST_ID - _DIGEST - 1].strip('-_') or 'book'}-{digest}"


def former_slug(name: str) -> str:
    """The id that an index of this name has if it was made when signs were left out of ids without a trace."""
    return _plain(name)[1]


def _plain(name: str) -> tuple[str, str]:
    """A name without case and accents, and what of it an id can say."""
    check_text(index=name)
    if not name.strip():
        raise AstRagValidationError("The name of an index must not be blank.")
    folded = re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFKD", name).casefold())
    return folded, re.sub(r"[^a-z0-9_]+", "-", folded).strip("-_")


def index_name(address: str) -> str:
    """The name of an index that nobody named: that of its first book or folder."""
    last = re.split(r"[/\\]", address.strip().rstrip("/\\"))[-1]
    return Path(last).stem or last or "books"


def home_at(path: str | Path) -> Path | None:
    """The folder of indexes that a path names: one with indexes, an empty one, a new one; None if it is a book."""
    elsewhere = str(path) == SAMPLE or _SCHEME.match(str(path)) or "\0" in str(path)
    try:
        folder = Path(path).expanduser()
        if folder.is_dir():
            seen = [one for one in folder.iterdir() if not one.name.startswith(".")]  # some of its own are hidden
            return folder if any(map(is_index, seen)) or not seen else None
        return folder if not (folder.exists() or folder.suffix or elsewhere) and folder.parent.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # of such a name there can be neither; whoever looks for it says so
        return None
