"""`chapterverse ask` and `verify`."""

from __future__ import annotations

import sys
from pathlib import Path

from chapterverse.answer import receipt
from chapterverse.answer.cite import describe
from chapterverse.answer.scope import QueryScope
from chapterverse.errors import AstRagIndexError
from chapterverse.library import Generation, Library
from chapterverse.surfaces.cli import FAILED, OK
from chapterverse.surfaces.cli.console import console, escape, print_json
from chapterverse.types import Answer, Document, Filter, to_dict

_MARKS = {"ok": "green", "partial": "yellow", "conflict": "yellow", "refused": "red", "needs_clarification": "yellow"}


def run(
    question: str,
    *,
    index: str | None,
    selection: str | None,
    where: Filter | None,
    scope: QueryScope | None,
    model: str,
    save: Path | None,
    as_json: bool,
    explain: bool,
) -> int:
    """Ask and print the answer with its citations; a refusal is an answer too."""
    if selection == "-":
        selection = sys.stdin.read()
    with Library() as library:
        answer = library.ask(
            question,
            index=index,
            selection=selection,
            where=where,
            scope=scope,
            generation=Generation(model=model),
        )
        record = library.record(index) if save is not None and selection is None else None
    if as_json:
        from chapterverse.contracts.ask import answered  # all the contracts come with it

        print_json(answered(answer, ""))
    else:
        _print(answer, explain)
    if save is not None:
        index_id, index_name = (record.id, record.name) if record else (None, None)
        receipt.save(save, receipt.receipt(answer, index_id=index_id, index_name=index_name))
    return OK


def _print(answer: Answer, explain: bool) -> None:
    out = console()
    out.print(f"[bold]{escape(answer.text)}[/]")
    for number, citation in enumerate(answer.citations, 1):
        out.print(f"\\[{number}] {escape(describe(citation))}")
        out.print(f"    [dim]“{escape(citation.quote)}”[/]")
    if answer.citations:
        out.print(f"confidence {_bar(answer.confidence)} {answer.confidence:.0%}")
    if not explain:
        return
    colour = _MARKS[answer.status]
    out.print(f"[{colour}]{answer.status}[/] {answer.reason or ''}".rstrip())
    out.print(
        f"retrieval {answer.retrieval_quality}; " + ", ".join(f"{k} {v:.2f} s" for k, v in answer.timings.items())
    )
    for issue in answer.issues:
        out.print(f"dropped ({issue.code}): {escape(issue.sentence)}: {escape(issue.message)}")
    if answer.status == "refused" and answer.passages:
        out.print("Related, but it does not answer:")
        for passage in answer.passages:
            out.print(f"  [dim]{escape(passage.text[:200])}…[/]")


def _bar(share: float) -> str:
    """A share of one as ten signs."""
    full = round(10 * share)
    return "■" * full + "□" * (10 - full)


def verify(path: Path, *, book: str | None, as_json: bool) -> int:
    """Check every quote of a receipt again, against the index or the book itself."""
    data = receipt.load(path)
    if book is not None:
        from chapterverse.ingest.books import Reading

        documents = {one.document.file_id: one.document for one in Reading(book) if one.document}
        verdicts = receipt.verify(data, documents.get)
    else:
        with Library() as library:

            def look_up(file_id: str) -> Document | None:
                try:
                    return library.document(file_id, (data.get("index") or {}).get("id"))
                except AstRagIndexError:
                    return None

            verdicts = receipt.verify(data, look_up)
    if as_json:
        print_json([to_dict(verdict) for verdict in verdicts])
    else:
        out = console()
        for verdict in verdicts:
            out.print(f"[{'green' if verdict.state == 'ok' else 'red'}]{verdict.state}[/] {escape(verdict.message)}")
    return OK if all(verdict.state == "ok" for verdict in verdicts) else FAILED
