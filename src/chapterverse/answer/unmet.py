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
    if within is not None and not await reader.count(within):
        if scope.type == "page-specific":
            return f"there is no page {scope.identifier!r}{_pages_known(sources)}"
        return f"there is no chapter or section {scope.identifier!r}{_chapters_there(sources)}"
    conditions = {field.name: getattr(where, field.name, None) for field in fields(Filter)}
    conditions = {name: value for name, value in conditions.items() if value is not None}
    for name, value in conditions.items():
        if not await reader.count(Filter(**{name: value})):
            return _said(name, value, sources)
    return "nothing meets all conditions at once"


def _said(name: str, value: Any, sources: Sequence[SourceRecord]) -> str:
    if name == "read_until":
        return f"nothing is known to stand on the pages up to {value}{_pages_known(sources)}"
    if name == "pages":
        return f"there is nothing on the pages {value[0]} to {value[1]}{_pages_known(sources)}"
    if not value:
        return f"no {_NAMES[name]} is allowed"
    wanted = ", ".join(map(repr, value))
    there = {"file_ids": _files_there, "chapters": _chapters_there}.get(name)
    return f"there is no {_NAMES[name]} {wanted}{there(sources) if there else ''}"


def _files_there(sources: Sequence[SourceRecord]) -> str:
    return _there([source.file_id for source in sources])


def _chapters_there(sources: Sequence[SourceRecord]) -> str:
    return _there(list(dict.fromkeys(path[0] for source in sources for path in source.outline if path)))


def _there(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"; there are {', '.join(names[:_SHOWN])}{more}" if names else ""


def _pages_known(sources: Sequence[SourceRecord]) -> str:
    last = max((source.page_count or 0 for source in sources), default=0)
    return f"; the last is page {last} of its file" if last else "; these files have no pages"
