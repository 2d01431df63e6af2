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
from chapterverse.answer.prompts import CONFLICT, CONFLICT_SELECTION, EMPTY_QUESTION, NOTICES, REFUSALS, is_notice
from chapterverse.errors import AstRagValidationError
from chapterverse.types import Answer, Document, Place, Status, to_dict

SCHEMA = 1
State = Literal["ok", "moved", "stale", "missing", "altered"]
ANSWER = "answer"
"""The id of a verdict on the answer itself."""

_REFUSED = {*REFUSALS, EMPTY_QUESTION}
_RECEIPT = {"question": str, "answer": str, "sentences": list, "citations": list}
_INDEX = {"id": str | None}
_SENTENCE = {"text": str, "kind": str, "citations": list | tuple}
_OF_DOCUMENT = ("title", "file_name", "mime_type", "source_url")
"""What a citation repeats of its document."""
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
    if _is_refusal(data) and data.get("status") == _status(data):
        return [Verdict(None, ANSWER, "ok", "This is a refusal: it cites nothing, and there is nothing to verify.")]
    verdicts = [_verdict(number, citation, data, lookup) for number, citation in enumerate(data["citations"])]
    return verdicts + [Verdict(None, ANSWER, "altered", message) for message in _alterations(data)]


def _is_refusal(data: Mapping[str, Any]) -> bool:
    return data["answer"] in _REFUSED and not (data["sentences"] or data["citations"])


def _status(data: Mapping[str, Any]) -> Status:
    """The status that an answer of these sentences has."""
    if _is_refusal(data):
        return "needs_clarification" if data["answer"] == EMPTY_QUESTION else "refused"
    notices = {sentence["text"] for sentence in data["sentences"] if sentence["kind"] == "notice"}
    if notices & {CONFLICT, CONFLICT_SELECTION}:
        return "conflict"
    return "partial" if notices - NOTICES else "ok"


def _alterations(data: Mapping[str, Any]) -> Iterator[str]:
    """What an answer cannot have been like when it was given. A model's own words are only known to cite something."""
    if data.get("status") != (status := _status(data)):
        yield f"The status is {_shown(data.get('status'))}; of such an answer it is {_shown(status)}."
    if not data["citations"] and not _is_refusal(data):
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
    if not _is_refusal(data) and data["answer"] != text_of([sentence["text"] for sentence in data["sentences"]]):
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
        return _in_place(number, citation, document)
    found = min(find(quote, document.text), key=lambda span: abs(span[0] - start), default=None)
    if found is not None:
        message = "The quote stands elsewhere now."
        return Verdict(number, name, "moved", message, *found, document.place(*found))
    if document.sha256 == citation.get("sha256"):
        return Verdict(number, name, "stale", "The document is unchanged, and the quote is not in it.")
    return Verdict(number, name, "stale", "The document has changed, and the quote is gone.")


def _in_place(number: int, citation: Mapping[str, Any], document: Document) -> Verdict:
    """A quote stands where it stood; all else that is said of it must be so too, unless the document has changed."""
    start, end = citation["start"], citation["end"]
    place = document.place(start, end)
    known = {name: getattr(document, name) for name in _OF_DOCUMENT}
    differences = list(_differences(citation, {**known, "place": to_dict(place)}, document.text))
    state: State = "altered" if differences else "ok"
    message = "The quote stands where it stood."
    if document.sha256 != citation.get("sha256"):
        state, message = "stale", f"{message} The document is not the one that was cited: its sha256 is another."
    return Verdict(number, citation["id"], state, " ".join([message, *differences]), start, end, place)


def _differences(citation: Mapping[str, Any], known: Mapping[str, Any], text: str) -> Iterator[str]:
    """What a citation says beside its quote, and the book does not."""
    yield from _differing(citation, known, "")
    if str(citation.get("snippet", "")) not in text:
        yield "snippet is not in the book."


def _differing(said: object, known: object, name: str) -> Iterator[str]:
    if isinstance(known, Mapping):
        for key, value in known.items():
            inner = said.get(key) if isinstance(said, Mapping) else None
            yield from _differing(inner, value, f"{name}.{key}" if name else key)
    elif json.dumps(said) != json.dumps(known):  # a tuple is a list once it was saved
        yield f"{name} is {_shown(said)} in the receipt, and {_shown(known)} in the book."


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _selected(number: int, citation: Mapping[str, Any], selection: object) -> Verdict:
    """A selection is kept in the receipt itself; its hash shows that it is the one that was asked about."""
    name, start, end = citation["id"], citation["start"], citation["end"]
    if not isinstance(selection, str):
        return Verdict(number, name, "missing", "The receipt does not hold the selected text.")
    intact = hashlib.sha256(selection.encode()).hexdigest() == citation.get("sha256")
    if intact and citation["quote"] and selection[start:end] == citation["quote"]:
        unknown = dict.fromkeys(("chunk_id", *_OF_DOCUMENT))
        differences = list(_differences(citation, {**unknown, "place": to_dict(Place())}, selection))
        message = " ".join(["The quote stands in the selected text.", *differences])
        return Verdict(number, name, "altered" if differences else "ok", message, start, end, Place())
    return Verdict(number, name, "stale", "The selected text or its quote was changed.")
