"""`chapterverse read`: the outline of a book as Chapterverse sees it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.text import Text

from chapterverse.ingest.books import Reading
from chapterverse.ingest.chunk import chunk
from chapterverse.ingest.read import Outcome
from chapterverse.ingest.sources import SourceOptions
from chapterverse.surfaces.cli.console import console, counted, error_console, print_json, table
from chapterverse.surfaces.cli.exits import FAILED, OK, PARTIAL
from chapterverse.surfaces.cli.hints import with_flags
from chapterverse.types import Block, Document, Notice, Page, ReadOptions


def run(
    address: str,
    *,
    as_json: bool,
    password: str | None,
    include: list[str],
    exclude: list[str],
    max_files: int | None,
    allow_private: bool,
    progress: bool,
) -> int:
    """Read everything at an address, print what was found, and return the exit code."""
    options = SourceOptions(
        include=tuple(include),
        exclude=tuple(exclude),
        max_files=max_files,
        allow_private_addresses=allow_private,
    )
    reading = Reading(address, options, ReadOptions(password=password))
    with _progress(progress and sys.stderr.isatty(), address) as advance:
        outcomes = []
        for outcome in reading:
            outcomes.append(_summarise(outcome))
            advance(len(outcomes), reading.found)
    notices = [*(notice for outcome in outcomes for notice in outcome["notices"]), *map(_notice, reading.notices)]
    documents = [outcome["document"] for outcome in outcomes if outcome["document"]]
    failed = [outcome["error"] for outcome in outcomes if outcome["error"]]
    if as_json:
        report = {"documents": documents, "failed": failed, "warnings": notices}
        print_json(report)
    else:
        _print(documents, failed, notices)
    # Pictures and code lie beside many a book: only what looked like a book and could not be read counts.
    books = [error for error in failed if error["reason"] != "unsupported"]
    return FAILED if not documents else PARTIAL if books else OK


def _summarise(outcome: Outcome) -> dict[str, Any]:
    document, error = outcome.document, outcome.error
    failure = error and {"file": outcome.item.file_id, "reason": error.reason, "message": error.explanation}
    return {
        "document": _summary(document) if document else None,
        "error": failure,
        "notices": [_notice(notice) for notice in document.notices] if document else [],
    }


def _summary(document: Document) -> dict[str, Any]:
    return {
        "file": document.file_id,
        "title": document.title,
        "author": document.author,
        "mime_type": document.mime_type,
        "sha256": document.sha256,
        "characters": len(document.text),
        "words": len(document.text.split()),
        "pages": document.page_count,
        "slides": max((block.slide or 0 for block in document.blocks), default=0) or None,
        "chunks": len(chunk(document)),
        "outline": [_entry(document, block) for block in document.blocks if block.kind == "heading"],
    }


def _entry(document: Document, block: Block) -> dict[str, Any]:
    page = document.page_at(block.start) or Page()
    return {
        "level": len(block.headings),
        "title": block.headings[-1],
        "page": page.number,
        "page_label": page.label,
        "slide": block.slide,
        "cfi": block.cfi,
        "start": block.start,
    }


def _notice(notice: Notice) -> dict[str, str]:
    return {"file": notice.file_id, "reason": notice.reason}


def _print(documents: list[dict[str, Any]], failed: list[dict[str, str]], notices: list[dict[str, str]]) -> None:
    out = console()
    if len(documents) == 1:
        _print_book(out, documents[0])
    elif documents:
        _print_shelf(out, documents)
    for notice in notices:
        out.print(Text.assemble(("warning", "yellow"), f" {notice['file']}: {with_flags(notice['reason'])}"))
    for error in failed:
        out.print(Text.assemble(("not read", "red"), f" {error['file']}: {with_flags(error['message'])}"))
    if not documents and not failed:
        out.print("Nothing to read was found there.")


def _print_book(out: Any, book: dict[str, Any]) -> None:
    author = f" by {book['author']}" if book["author"] else ""
    out.print(Text.assemble((book["title"], "bold"), author))
    out.print(Text(_counts(book), "dim"))
    for entry in book["outline"]:
        where = _where(entry)
        indent = "  " * (entry["level"] - 1)
        out.print(Text.assemble(f"  {indent}{entry['title']}", (f"  {where}" if where else "", "dim")))


def _print_shelf(out: Any, books: list[dict[str, Any]]) -> None:
    rows = table("File", "Title", ">Pages", ">Words", ">Chunks")
    for book in books:
        rows.add_row(
            book["file"], book["title"], str(book["pages"] or book["slides"] or ""), f"{book['words']:,}",
            f"{book['chunks']:,}",
        )  # fmt: skip
    out.print(rows)
    words, chunks = (sum(book[key] for book in books) for key in ("words", "chunks"))
    out.print(Text(f"{counted(len(books), 'file')}, {counted(words, 'word')}, {counted(chunks, 'chunk')}", "dim"))


def _counts(book: dict[str, Any]) -> str:
    things = [(name, book[f"{name}s"]) for name in ("page", "slide", "word", "chunk")]
    return f"{book['mime_type']} · {', '.join(counted(number, name) for name, number in things if number)}"


def _where(entry: dict[str, Any]) -> str:
    if entry["slide"]:
        return f"slide {entry['slide']}"
    if entry["page_label"]:
        return f"p. {entry['page_label']}"
    return f"p. {entry['page']}" if entry["page"] else ""


@contextmanager
def _progress(show: bool, address: str) -> Iterator[Any]:
    """A bar on the terminal for as long as the work takes; nothing at all when piped."""
    if not show:
        yield lambda _done, _found: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("Reading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=error_console(), transient=True) as bar:
        task = bar.add_task(address, total=None)
        yield lambda done, found: bar.update(task, completed=done, total=found)
