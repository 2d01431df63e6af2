"""Why a search came back empty: the condition that nothing in the index meets, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from chapterverse.answer.scope import QueryScope, resolve_names, resolve_scope
from chapterverse.protocols import IndexReader
from chapterverse.types import Answer, Filter, SourceRecord

EMPTY_SCOPE = "empty_scope"
"""The code of the issue that an answer has where nothing meets its conditions."""
_SHOWN = 5
"""How many names are listed."""

_NAMES = {
    "chunk_ids": "chunk",
    "file_ids": "file",
    "mime_types": "MIME type",
    "source_urls": "source address",
    "chapters": "chapter",
    "sections": "section",
    "page_labels": "page",
    "slides": "slide",
}


def why_nothing(answer: Answer) -> str | None:
    """Why there was nothing to answer from, where the scope is to blame."""
    return next((issue.message for issue in answer.issues if issue.code == EMPTY_SCOPE), None)


async def unmet_condition(reader: IndexReader, where: Filter | None, scope: QueryScope) -> str:
    """The first condition that nothing meets, or that nothing meets all of them at once."""
    sources = await reader.sources()
    outline = [path for source in sources for path in source.outline]
    within = resolve_scope(scope, outline)
    where = resolve_names(where, outline) if where else None
    chapters = await _begun(reader, list(dict.fromkeys(path[0] for path in outline if path)), where)
    if within is not None and not await reader.count(within):
        if scope.type == "page-specific":
            return f"there is no page {scope.identifier!r}{_pages_known(sources)}"
        return f"there is no chapter or section {scope.identifier!r}{_there(chapters)}"
    conditions = {field.name: getattr(where, field.name, None) for field in fields(Filter)}
    conditions = {name: value for name, value in conditions.items() if value is not None}
    for name, value in conditions.items():
        if not await reader.count(Filter(**{name: value})):
            return _said(name, value, sources, chapters)
    return "nothing meets all conditions at once"


def _said(name: str, value: Any, sources: Sequence[SourceRecord], chapters: Sequence[str]) -> str:
    if name == "read_until":
        return f"nothing is known to stand on the pages up to {value}{_pages_known(sources)}"
    if name == "pages":
        return f"there is nothing on the pages {value[0]} to {value[1]}{_pages_known(sources)}"
    if not value:
        return f"no {_NAMES[name]} is allowed"
    wanted = ", ".join(map(repr, value))
    there = {"file_ids": [source.file_id for source in sources], "chapters": chapters}.get(name, ())
    return f"there is no {_NAMES[name]} {wanted}{_there(there)}"


async def _begun(reader: IndexReader, chapters: list[str], where: Filter | None) -> list[str]:
    """The chapters, but for those that begin after the page that was read last: their names tell of them too."""
    if where is None or where.read_until is None:
        return chapters
    return [name for name in chapters if await reader.count(Filter(chapters=(name,), read_until=where.read_until))]


def _there(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"; there are {', '.join(names[:_SHOWN])}{more}" if names else ""


def _pages_known(sources: Sequence[SourceRecord]) -> str:
    last = max((source.page_count or 0 for source in sources), default=0)
    return f"; the last is page {last} of its file" if last else "; these files have no pages"
