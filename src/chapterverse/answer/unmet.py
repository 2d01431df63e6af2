"""Why a search came back empty: the condition that nothing in the index meets, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from chapterverse.answer.scope import QueryScope, resolve_scope
from chapterverse.protocols import IndexReader
from chapterverse.types import Filter, SourceRecord

EMPTY_SCOPE = "empty_scope"
"""The code of the issue that an answer has where nothing meets its conditions."""
_SHOWN = 5
"""How many files are listed."""

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


async def unmet_condition(reader: IndexReader, where: Filter | None, scope: QueryScope) -> str | None:
    """The first condition that nothing meets, or that nothing meets all of them; None if something does."""
    sources = await reader.sources()
    within = resolve_scope(scope, [path for source in sources for path in source.outline])
    if within is not None and not await reader.count(within):
        kind = "page" if scope.type == "page-specific" else "chapter or section"
        return f"there is no {kind} {scope.identifier!r}{_pages_known(sources) if kind == 'page' else ''}"
    conditions = {field.name: getattr(where, field.name, None) for field in fields(Filter)}
    conditions = {name: value for name, value in conditions.items() if value is not None}
    for name, value in conditions.items():
        if not await reader.count(Filter(**{name: value})):
            return _said(name, value, sources)
    several = len(conditions) + (within is not None) > 1
    return "nothing meets all conditions at once" if several else None


def _said(name: str, value: Any, sources: Sequence[SourceRecord]) -> str:
    if name == "read_until":
        return f"nothing is known to stand on the pages up to {value}{_pages_known(sources)}"
    if name == "pages":
        return f"there is nothing on the pages {value[0]} to {value[1]}{_pages_known(sources)}"
    if not value:
        return f"no {_NAMES[name]} is allowed"
    wanted = ", ".join(map(repr, value))
    return f"there is no {_NAMES[name]} {wanted}{_files_there(sources) if name == 'file_ids' else ''}"


def _files_there(sources: Sequence[SourceRecord]) -> str:
    more = f" and {len(sources) - _SHOWN} more" if len(sources) > _SHOWN else ""
    return f"; there are {', '.join(source.file_id for source in sources[:_SHOWN])}{more}"


def _pages_known(sources: Sequence[SourceRecord]) -> str:
    last = max((source.page_count or 0 for source in sources), default=0)
    return f"; the last is page {last} of its file" if last else "; these files have no pages"
