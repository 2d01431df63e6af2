"""Receipts: an answer kept as JSON, so that every quote can be checked again after the books have changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from chapterverse.answer.cite import Lookup
from chapterverse.answer.evidence import find
from chapterverse.errors import AstRagValidationError
from chapterverse.types import Answer, Place, to_dict

SCHEMA = 1
State = Literal["ok", "moved", "stale", "missing"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one citation; the place is where its quote stands now."""

    citation: int
    """Its number in the receipt, from 0."""
    id: str
    state: State
    message: str
    start: int | None = None
    end: int | None = None
    place: Place | None = None


def receipt(answer: Answer, *, index_id: str | None = None, index_name: str | None = None) -> dict[str, Any]:
    """All that is needed to check an answer again, as plain JSON."""
    selection = next((p.text for p in answer.passages if p.entry is None), None)
    return {
        "schema": SCHEMA,
        "question": answer.question,
        "answer": answer.text,
        "status": answer.status,
        "reason": answer.reason,
        "confidence": answer.confidence,
        "timestamp": answer.timestamp,
        "index": {"id": index_id, "name": index_name},
        "versions": {"chapterverse": version("chapterverse")},
        "selection": selection,
        "sentences": [to_dict(sentence) for sentence in answer.sentences],
        "citations": [to_dict(citation) for citation in answer.citations],
    }


def save(path: Path, data: Mapping[str, Any]) -> None:
    """Write a receipt."""
    path.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def load(path: Path) -> dict[str, Any]:
    """Read a receipt; raises `AstRagValidationError` if it is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AstRagValidationError(f"The receipt {path} cannot be read: {error.strerror}.", cause=error) from error
    except ValueError as error:
        raise AstRagValidationError(f"{path.name} is not a receipt: it cannot be read as JSON.", cause=error) from error
    _check(data, path.name)
    return dict(data)


def _check(data: object, name: str) -> None:
    fields = ("question", "answer", "citations")
    if (
        not isinstance(data, dict)
        or not all(field in data for field in fields)
        or not isinstance(data["citations"], list)
    ):
        raise AstRagValidationError(f"{name} is not a receipt: it must have {', '.join(fields)}.")
    if data.get("schema") != SCHEMA:
        raise AstRagValidationError(
            f"{name} has schema {data.get('schema')!r}, and this version of Chapterverse reads {SCHEMA}."
        )
    for citation in data["citations"]:
        known = {"id": str, "quote": str, "start": int, "end": int}
        if not isinstance(citation, dict) or not all(isinstance(citation.get(k), kind) for k, kind in known.items()):
            raise AstRagValidationError(f"{name} is not a receipt: a citation needs id, quote, start and end.")


def verify(data: Mapping[str, Any], lookup: Lookup) -> list[Verdict]:
    """Look every quote of a receipt up again, in the index or in the original files."""
    _check(data, "The receipt")
    return [_verdict(number, citation, data, lookup) for number, citation in enumerate(data["citations"])]


def _verdict(number: int, citation: Mapping[str, Any], data: Mapping[str, Any], lookup: Lookup) -> Verdict:
    file_id, name = citation.get("file_id"), citation["id"]
    if file_id is None:
        return _selected(number, citation, data.get("selection"))
    document = lookup(file_id)
    if document is None:
        return Verdict(number, name, "missing", f"{citation.get('file_name') or file_id} is not there any more.")
    quote, start, end = citation["quote"], citation["start"], citation["end"]
    if quote and document.text[start:end] == quote:
        return Verdict(number, name, "ok", "The quote stands where it stood.", start, end, document.place(start, end))
    found = min(find(quote, document.text), key=lambda span: abs(span[0] - start), default=None)
    if found is not None:
        message = "The quote stands elsewhere now."
        return Verdict(number, name, "moved", message, *found, document.place(*found))
    if document.sha256 == citation.get("sha256"):
        return Verdict(number, name, "stale", "The document is unchanged, and the quote is not in it.")
    return Verdict(number, name, "stale", "The document has changed, and the quote is gone.")


def _selected(number: int, citation: Mapping[str, Any], selection: object) -> Verdict:
    """A selection is kept in the receipt itself; its hash shows that it is the one that was asked about."""
    name, start, end = citation["id"], citation["start"], citation["end"]
    if not isinstance(selection, str):
        return Verdict(number, name, "missing", "The receipt does not hold the selected text.")
    intact = hashlib.sha256(selection.encode()).hexdigest() == citation.get("sha256")
    if intact and citation["quote"] and selection[start:end] == citation["quote"]:
        return Verdict(number, name, "ok", "The quote stands in the selected text.", start, end, Place())
    return Verdict(number, name, "stale", "The selected text or its quote was changed.")
