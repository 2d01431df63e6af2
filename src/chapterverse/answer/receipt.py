"""Receipts: an answer kept as JSON, so that it can be checked again after the books have changed.

Quotes are looked up in the books, and sentences put through the gate again. All that no book can tell of, such as the
question, is held together by a hash: it tells of changes, though not of a forger, who can make it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from chapterverse.answer.cite import Lookup, text_of
from chapterverse.answer.evidence import find
from chapterverse.answer.gate import Gate, Limits
from chapterverse.answer.prompts import CONFLICT, CONFLICT_SELECTION, EMPTY_QUESTION, NOTICES, REFUSALS, is_notice
from chapterverse.answer.validate import Sentences
from chapterverse.errors import AstRagValidationError
from chapterverse.protocols import Reader
from chapterverse.types import Answer, Document, DraftSentence, Passage, Place, Status, to_dict

SCHEMA = 1
State = Literal["ok", "moved", "stale", "missing", "altered", "unsupported"]
ANSWER, RECEIPT = "answer", "receipt"
"""The ids of verdicts on the answer itself, and on the receipt as a whole."""

_REFUSED = {*REFUSALS, EMPTY_QUESTION}
_RECEIPT = {"question": str, "answer": str, "sentences": list, "citations": list}
_INDEX = {"id": str | None}
_SENTENCE = {"text": str, "kind": str, "citations": list | tuple}
_OF_DOCUMENT = ("title", "file_name", "mime_type", "source_url")
"""What a citation repeats of its document."""
_CITATION = {"id": str, "quote": str, "start": int, "end": int, "file_id": str | None}
_PASSAGE = {"id": str, "start": int, "end": int}
_IN_CONTEXT = frozenset(("unknown_id", "dangling"))
"""Objections that depend on what else was drafted."""
_LIMITS = Limits(sentences=1000)
"""How long an answer is was judged when it was given."""
_WIDE = 600
"""How many characters on either side of a quote are its passage, where a receipt does not say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one citation, of the answer or of the receipt; the place is where a quote stands now."""

    citation: int | None
    """Its number in the receipt, from 0; None for the answer and the receipt."""
    id: str
    state: State
    message: str
    start: int | None = None
    end: int | None = None
    place: Place | None = None


def receipt(answer: Answer, *, index_id: str | None = None, index_name: str | None = None) -> dict[str, Any]:
    """All that is needed to check an answer again, as plain JSON."""
    selection = next((p.text for p in answer.passages if p.entry is None), None)
    cited = {citation.id for citation in answer.citations}
    data = {
        "schema": SCHEMA,
        "question": answer.question,
        "answer": answer.text,
        "status": answer.status,
        "reason": answer.reason,
        "confidence": answer.confidence,
        "timestamp": answer.timestamp,
        "index": {"id": index_id, "name": index_name},
        "versions": _versions(),
        "selection": selection,
        "sentences": [to_dict(sentence) for sentence in answer.sentences],
        "citations": [to_dict(citation) for citation in answer.citations],
        "passages": [
            {"id": p.id, "start": p.start, "end": p.start + len(p.text)} for p in answer.passages if p.id in cited
        ],
    }
    return {**data, "sha256": _hash(data)}


def _versions() -> dict[str, str]:
    return {"chapterverse": version("chapterverse")}


def _hash(data: Mapping[str, Any]) -> str:
    """Of all that a receipt says, however it is written down."""
    said = {name: value for name, value in data.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


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
    for part, shape in (("sentence", _SENTENCE), ("citation", _CITATION), ("passage", _PASSAGE)):
        parts = data.get(f"{part}s", [])  # older receipts have no passages
        if not (isinstance(parts, list) and all(_has(one, shape) for one in parts)):
            raise AstRagValidationError(f"{name} is not a receipt: a {part} needs {', '.join(shape)}.")


def _has(value: object, shape: Mapping[str, Any]) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), kind) for name, kind in shape.items())


def verify(data: Mapping[str, Any], lookup: Lookup, reader: Reader, sentences: Sentences) -> list[Verdict]:
    """Look every quote of a receipt up again, in the index or in the original files; then see whether the answer says
    what is quoted, and last whether the receipt was changed. A refusal has nothing to be looked up."""
    _check(data, "The receipt")
    if _is_refusal(data) and data.get("status") == _status(data):
        told = "This is a refusal: it cites nothing, and there is nothing to verify."
        return [Verdict(None, ANSWER, "ok", told), _as_written(data)]
    verdicts = [_verdict(number, citation, data, lookup) for number, citation in enumerate(data["citations"])]
    altered = [Verdict(None, ANSWER, "altered", message) for message in _alterations(data)]
    if not altered:  # otherwise it is not known what rests on what
        gate = Gate(list(_passages(data, verdicts, lookup)), reader, sentences, _LIMITS, data["question"])
        altered = [Verdict(None, ANSWER, "unsupported", message) for message in _unsupported(data, verdicts, gate)]
    return [*verdicts, *altered, _as_written(data)]


def _as_written(data: Mapping[str, Any]) -> Verdict:
    """What the hash of a receipt tells of the fields that no book can tell of."""
    if "sha256" not in data:
        return Verdict(None, RECEIPT, "ok", "The receipt has no hash, as older ones: only what books tell was checked.")
    if data["sha256"] != _hash(data):
        return Verdict(None, RECEIPT, "altered", "The receipt was changed since it was written: its hash is another.")
    return Verdict(None, RECEIPT, "ok", "The receipt is as it was written, by its hash; it is not signed.")


def _passages(data: Mapping[str, Any], verdicts: Sequence[Verdict], lookup: Lookup) -> Iterator[Passage]:
    """What the sentences of a receipt were judged by, as far as its quotes are still there; moved as they are."""
    spans = _spans(data)
    for verdict, citation in zip(verdicts, data["citations"], strict=True):
        document = lookup(citation["file_id"]) if citation["file_id"] is not None else None
        text = document.text if document else data.get("selection")
        if verdict.start is None or not isinstance(text, str):
            continue
        first, last = spans[citation["id"]]
        moved = verdict.start - citation["start"]
        yield Passage(citation["id"], text[max(0, first + moved) : max(0, last + moved)])


def _spans(data: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Where each passage begins and ends in its document, by its id."""
    spans: dict[str, tuple[int, int]] = {}
    for one in data["citations"]:
        first, last = spans.get(one["id"], (one["start"], one["end"]))
        spans[one["id"]] = min(first, one["start"] - _WIDE), max(last, one["end"] + _WIDE)
    return spans | {one["id"]: (one["start"], one["end"]) for one in data.get("passages", [])}


def _unsupported(data: Mapping[str, Any], verdicts: Sequence[Verdict], gate: Gate) -> Iterator[str]:
    """The sentences that do not pass the gate; of those whose quotes are gone, nothing can be said."""
    for sentence in data["sentences"]:
        cited = [data["citations"][number] for number in sentence["citations"]]
        if any(verdicts[number].start is None for number in sentence["citations"]):
            continue
        known, keys = len(gate.issues), tuple(one["id"] for one in cited)
        quote = " … ".join(one["quote"] for one in cited)
        gate.check_one(DraftSentence(sentence["text"], keys, quote, sentence["kind"]))
        for issue in gate.issues[known:]:
            if issue.code not in _IN_CONTEXT:
                yield f"What it cites does not bear this sentence out: {issue.sentence} ({issue.message})"


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
    """What an answer cannot have been like when it was given."""
    if data.get("status") != (status := _status(data)):
        yield f"The status is {_shown(data.get('status'))}; of such an answer it is {_shown(status)}."
    if not data["citations"] and not _is_refusal(data):
        yield "The receipt cites nothing, and is no refusal: there is nothing to verify."
    used = {number for sentence in data["sentences"] for number in sentence["citations"] if isinstance(number, int)}
    for number, citation in enumerate(data["citations"]):
        if number not in used:
            yield f"No sentence rests on what is cited: {citation['quote']}"
    for sentence in data["sentences"]:
        text, cited = sentence["text"], [_quote(data, number) for number in sentence["citations"]]
        known = {
            "quote": cited[:1] == [text] and None not in cited,
            "statement": bool(cited) and None not in cited,
            "notice": not cited and is_notice(text, data["question"]),
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
    state: State
    same = document.sha256 == citation.get("sha256")
    found = min(find(quote, document.text), key=lambda span: abs(span[0] - start), default=None)
    if found is not None:
        state, message = "moved", "The quote stands elsewhere now."
        if same and data.get("versions") == _versions():  # another version may have read the same file otherwise
            state, message = "altered", f"The quote stands at {found[0]} of the unchanged document, not at {start}."
        return Verdict(number, name, state, message, *found, document.place(*found))
    if same:
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
