"""Receipts: an answer kept as JSON, so that every quote can be checked again after the books have changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from chapterverse.answer.cite import Lookup, text_of
from chapterverse.answer.evidence import find
from chapterverse.answer.prompts import EMPTY_QUESTION, REFUSALS, is_notice
from chapterverse.errors import AstRagValidationError
from chapterverse.types import Answer, Place, to_dict

SCHEMA = 1
State = Literal["ok", "moved", "stale", "missing", "altered"]
ANSWER = "answer"
"""The id of a verdict on the answer itself."""

_REFUSED = {*REFUSALS, EMPTY_QUESTION}
_RECEIPT = {"question": str, "answer": str, "sentences": list, "citations": list}
_INDEX = {"id": str | None}
_SENTENCE = {"text": str, "kind": str, "citations": list | tuple}
_CITATION = {"id": str, "quote": str, "start": int, "end": int, "file_id": str | None}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one citation, or of the answer; the place is where its quote stands now."""

    citation: int | None
    """Its number in the receipt, from 0; None for the answer."""
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
        json.dumps(data, ensure_ascii=False).encode()  # half a character can be read, and not be written
    except OSError as error:
        raise AstRagValidationError(f"The receipt {path} cannot be read: {error.strerror}.", cause=error) from error
    except (ValueError, RecursionError) as error:
        raise AstRagValidationError(f"{path.name} is not a receipt: it cannot be read as JSON.", cause=error) from error
    _check(data, path.name)
    return dict(data)


def _check(data: object, name: str) -> None:
    if not isinstance(data, dict) or not _has(data, _RECEIPT):
        raise AstRagValidationError(f"{name} is not a receipt: it must have {', '.join(_RECEIPT)}.")
    if data.get("schema") != SCHEMA:
        raise AstRagValidationError(
            f"{name} has schema {data.get('schema')!r}, and this version of Chapterverse reads {SCHEMA}."
        )
    if not _has(data.get("index") or {}, _INDEX):
        raise AstRagValidationError(f"{name} is not a receipt: its index must have an id that is a text.")
    for part, shape in (("sentence", _SENTENCE), ("citation", _CITATION)):
        if not all(_has(one, shape) for one in data[f"{part}s"]):
            raise AstRagValidationError(f"{name} is not a receipt: a {part} needs {', '.join(shape)}.")


def _has(value: object, shape: Mapping[str, Any]) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), kind) for name, kind in shape.items())


def verify(data: Mapping[str, Any], lookup: Lookup) -> list[Verdict]:
    """Look every quote of a receipt up again, in the index or in the original files; then see whether the answer says
    what is quoted. A refusal has nothing to be looked up."""
    _check(data, "The receipt")
    if _is_refusal(data):
        return [Verdict(None, ANSWER, "ok", "This is a refusal: it cites nothing, and there is nothing to verify.")]
    verdicts = [_verdict(number, citation, data, lookup) for number, citation in enumerate(data["citations"])]
    return verdicts + [Verdict(None, ANSWER, "altered", message) for message in _alterations(data)]


def _is_refusal(data: Mapping[str, Any]) -> bool:
    return data["answer"] in _REFUSED and not (data["sentences"] or data["citations"])


def _alterations(data: Mapping[str, Any]) -> Iterator[str]:
    """What an answer cannot have been like when it was given. A model's own words are only known to cite something."""
    if not data["citations"]:
        yield "The receipt cites nothing, and is no refusal: there is nothing to verify."
    for sentence in data["sentences"]:
        text, cited = sentence["text"], [_quote(data, number) for number in sentence["citations"]]
        known = {
            "quote": cited[:1] == [text],
            "statement": bool(cited) and None not in cited,
            "notice": is_notice(text, data["question"]),
        }
        if not known.get(sentence["kind"]):
            yield f"This sentence is not what it cites: {text}"
    if data["answer"] != text_of([sentence["text"] for sentence in data["sentences"]]):
        yield "The answer is not what its sentences say."


def _quote(data: Mapping[str, Any], number: object) -> str | None:
    known = isinstance(number, int) and 0 <= number < len(data["citations"])
    return data["citations"][number]["quote"] if known else None


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
