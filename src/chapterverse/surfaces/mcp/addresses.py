"""Addresses of books and chapters as resources."""

from __future__ import annotations

from mcp import UriTemplate

BOOK = "chapterverse://{index}/{file}"
CHAPTER = "chapterverse://{index}/{file}/{chapter}"


def address(index: str, file_id: str, chapter: str | None = None) -> str:
    """The resource of a chapter, or of a book; ids and titles are percent-encoded, so that any of them will do."""
    if chapter is None:
        return UriTemplate.parse(BOOK).expand({"index": index, "file": file_id})
    return UriTemplate.parse(CHAPTER).expand({"index": index, "file": file_id, "chapter": chapter})
