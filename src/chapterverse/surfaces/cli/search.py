"""`chapterverse search`: the passages that bear on a query, with the words that match."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from rich.text import Text

from chapterverse.answer.retrieve import Found, Retrieval
from chapterverse.answer.scope import FULL_BOOK, QueryScope
from chapterverse.index.lexical import FUNCTION_WORDS, words
from chapterverse.library import Library
from chapterverse.surfaces.cli.console import console, print_json
from chapterverse.surfaces.cli.exits import OK
from chapterverse.types import Entry, Filter, Place


def run(
    query: str,
    *,
    index: str | None,
    overrides: dict[str, Any],
    where: Filter | None,
    scope: QueryScope | None,
    diagnose: bool,
    as_json: bool,
) -> int:
    """Search and print what was found."""
    with Library() as library:
        settings = Retrieval(**{**library.inspect(index).record.retrieval_defaults, **overrides})
        result = library.search(query, index=index, settings=settings, where=where, scope=scope or FULL_BOOK)
    if as_json:
        report: dict[str, Any] = {"query": result.query, "results": [_as_dict(found) for found in result.found]}
        if not result.found:
            report["nothing_because"] = result.nothing_because
        if diagnose:
            report["diagnostics"] = asdict(result.diagnostics)
        print_json(report)
        return OK
    out = console()
    for number, found in enumerate(result.found, 1):
        out.print(Text.assemble((f"{number}. ", "bold"), (where_in_book(found.entry), "bold"), f"  {found.final:.2f}"))
        out.print(_highlighted(found.entry.chunk.text, query))
        out.print()
    if not result.found:
        out.print(f"Nothing was found: {result.nothing_because}.")
    if diagnose:
        for stage, seconds in result.diagnostics.seconds.items():
            out.print(f"{stage}: {result.diagnostics.candidates[stage]} candidates in {seconds * 1000:.1f} ms")
    return OK


def where_in_book(entry: Entry) -> str:
    """Chapter and verse, for people: title, chapter, section, page or slide."""
    place = entry.chunk.place
    parts = [entry.title, place.chapter, place.section, page_of(place)]
    return " · ".join(dict.fromkeys(part for part in parts if part))


def page_of(place: Place) -> str | None:
    """`p. iv`, `pp. 11–12` or `slide 7`; None where nothing is known."""
    if place.slide:
        return f"slide {place.slide}"
    first, last = (page.name if page else None for page in (place.first_page, place.last_page))
    if first is None:
        return None
    return f"p. {first}" if first == last or last is None else f"pp. {first}–{last}"


def _highlighted(text: str, query: str) -> Text:
    shown = Text(text)
    for word in {word for word in words(query) if word not in FUNCTION_WORDS and len(word) > 2}:
        shown.highlight_regex(
            re.compile(rf"\b{re.escape(word[:-1] if word.endswith('s') else word)}\w*", re.I), "yellow"
        )
    return shown


def _as_dict(found: Found) -> dict[str, Any]:
    entry, place = found.entry, found.entry.chunk.place
    return {
        "chunk_id": entry.chunk.id,
        "file": entry.chunk.file_id,
        "title": entry.title,
        "chapter": place.chapter,
        "section": place.section,
        "page": place.first_page.number if place.first_page else None,
        "page_label": place.first_page.label if place.first_page else None,
        "slide": place.slide,
        "start": entry.chunk.start,
        "end": entry.chunk.end,
        "text": entry.chunk.text,
        "score": found.final,
        "vector_score": found.vector,
        "lexical_score": found.lexical,
    }
