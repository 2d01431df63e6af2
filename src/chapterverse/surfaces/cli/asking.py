"""`chapterverse ask` and `verify`."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import indent

from rich.text import Text

from chapterverse.answer import receipt
from chapterverse.answer.cite import describe
from chapterverse.answer.prompts import NAMES_NOTHING
from chapterverse.answer.scope import QueryScope
from chapterverse.answer.unmet import why_nothing
from chapterverse.errors import AstRagIndexError, AstRagValidationError
from chapterverse.ingest.sentences import split
from chapterverse.library import Generation, Library
from chapterverse.library.parts import open_reader
from chapterverse.surfaces.cli.console import console, print_json
from chapterverse.surfaces.cli.exits import FAILED, OK
from chapterverse.types import Answer, Document, Filter, to_dict

_MARKS = {"ok": "green", "partial": "yellow", "conflict": "yellow", "refused": "red", "needs_clarification": "yellow"}
_STDIN = "-"
_LINE = 200
"""How many characters of a passage are shown that does not answer."""


def run(
    question: str,
    *,
    index: str | None,
    selection: str | None,
    where: Filter | None,
    scope: QueryScope | None,
    model: str,
    deadline: float | None,
    save: Path | None,
    as_json: bool,
    explain: bool,
) -> int:
    """Ask and print the answer with its citations; a refusal is an answer too."""
    if question == selection == _STDIN:
        raise AstRagValidationError("stdin is the question or the selected text, not both: give one of them here.")
    if question == _STDIN:
        question = sys.stdin.read()
    elif selection == _STDIN:
        selection = sys.stdin.read()
    with Library() as library:
        answer = library.ask(
            question,
            index=index,
            selection=selection,
            where=where,
            scope=scope,
            generation=Generation(model=model, seconds=deadline),
        )
        record = library.record(index) if save is not None and selection is None else None
        several = bool(answer.citations) and selection is None and len(library.inspect(index).sources) > 1
    try:  # kept first, whoever stops reading; shown even if it cannot be kept
        if save is not None:
            index_id, index_name = (record.id, record.name) if record else (None, None)
            receipt.save(save, receipt.receipt(answer, index_id=index_id, index_name=index_name))
    finally:
        _show(answer, as_json, explain, several)
    return OK


def _show(answer: Answer, as_json: bool, explain: bool, several: bool) -> None:
    if not as_json:
        _print(answer, explain, several)
        return
    from chapterverse.contracts.ask import answered  # all the contracts come with it

    print_json(answered(answer, ""))


def _print(answer: Answer, explain: bool, several: bool) -> None:
    """An answer for people; where the index has several files, with the file of each citation."""
    out = console()
    out.print(Text(answer.text, "bold"))
    if answer.status == "needs_clarification":
        out.print(NAMES_NOTHING)
    if nothing := why_nothing(answer):
        out.print(f"Nothing was found: {nothing}.")
    for number, citation in enumerate(answer.citations, 1):
        file = f" ({citation.file_id})" if several else ""
        out.print(f"[{number}] {describe(citation)}{file}")
        out.print(Text(indent(_in_marks(citation.quote), "    "), "dim"))
    if answer.citations:
        out.print(f"confidence {_bar(answer.confidence)} {answer.confidence:.0%}")
    if not explain:
        return
    colour = _MARKS[answer.status]
    out.print(Text.assemble((answer.status, colour), f" {answer.reason or ''}".rstrip()))
    out.print(
        f"retrieval {answer.retrieval_quality}; " + ", ".join(f"{k} {v:.2f} s" for k, v in answer.timings.items())
    )
    if answer.status == "refused" and answer.passages:
        out.print(_why_refused(answer))
    for issue in (one for one in answer.issues if one.sentence):
        out.print(f"dropped ({issue.code}): {issue.sentence}: {issue.message}")
    if answer.status == "refused" and answer.passages:
        out.print("Related, but it does not answer:")
        for passage in answer.passages:
            out.print(Text(f"  {_one_line(passage.text)}", "dim"))


def _in_marks(quote: str) -> str:
    """A quote in quotation marks, unless it begins with some of its own."""
    return quote if quote[:1] in "“\"‘'«" else f"“{quote}”"


def _why_refused(answer: Answer) -> str:
    """How near it came; two digits, or three where two would say that it was near enough."""
    chance, needed = answer.answerable, answer.answer_threshold
    digits = 2 if f"{chance:.2f}" != f"{needed:.2f}" else 3
    told = f"the best passage answers with a probability of {chance:.{digits}f}"
    if chance >= needed:
        return f"{told}, but nothing of it could be quoted so that it says what the book says"
    return f"{told}; it is an answer from {needed:.{digits}f} on"


def _one_line(text: str) -> str:
    """The beginning of a passage, as much as is worth a line."""
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[:_LINE].rstrip()}…"


def _bar(share: float) -> str:
    """A share of one as ten signs."""
    full = round(10 * share)
    return "■" * full + "□" * (10 - full)


def verify(path: Path, *, book: str | None, as_json: bool) -> int:
    """Check a receipt again, against the index or the book itself."""
    data = receipt.load(path)
    if book is not None:
        from chapterverse.ingest.books import Reading

        documents = {one.document.file_id: one.document for one in Reading(book) if one.document}
        verdicts = receipt.verify(data, documents.get, open_reader(), split)
    else:
        with Library() as library:

            def look_up(file_id: str) -> Document | None:
                try:
                    return library.document(file_id, (data.get("index") or {}).get("id"))
                except AstRagIndexError:
                    return None

            verdicts = receipt.verify(data, look_up, library.reader, split)
    if as_json:
        print_json([to_dict(verdict) for verdict in verdicts])
    else:
        out = console()
        for verdict in verdicts:
            mark = (verdict.state, "green" if verdict.state == "ok" else "red")
            out.print(Text.assemble(mark, f" {verdict.message}"))
    return OK if all(verdict.state == "ok" for verdict in verdicts) else FAILED
