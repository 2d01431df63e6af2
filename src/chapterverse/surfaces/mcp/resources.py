"""Resources: a book as its outline, and a chapter as its text; both can be completed while they are typed."""

from __future__ import annotations

from collections.abc import Iterable

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference
from mcp.types import ResourceTemplateReference as TemplateReference

from chapterverse.contracts.errors_map import public_message
from chapterverse.errors import AstRagError, AstRagIndexError, AstRagValidationError
from chapterverse.library import AsyncLibrary
from chapterverse.surfaces.mcp import results
from chapterverse.surfaces.mcp.addresses import BOOK, CHAPTER, address
from chapterverse.surfaces.mcp.books import Books
from chapterverse.surfaces.mcp.slices import chapter_slice
from chapterverse.types import Document

_SUGGESTED = 100
"""The protocol allows no more suggestions at once."""


def add_resources(server: MCPServer[object], library: AsyncLibrary) -> None:
    """Serve books and chapters by their addresses."""
    shelves = Books(library)

    @server.resource(BOOK, name="book", title="A book's outline", mime_type="text/markdown")
    async def book(index: str, file: str) -> str:
        """A book's title, and its chapters with the address of each."""
        document = await _document(shelves, index, file)
        return outline(document, index)

    @server.resource(CHAPTER, name="chapter", title="A chapter of a book", mime_type="text/plain")
    async def chapter(index: str, file: str, chapter: str) -> str:
        """A chapter's text as it stands."""
        document = await _document(shelves, index, file)
        try:
            part = chapter_slice(document, chapter)
        except AstRagValidationError as error:
            raise ResourceNotFoundError(public_message(error)) from error
        return document.text[part.start : part.end]

    async def complete(
        ref: PromptReference | TemplateReference, argument: CompletionArgument, context: CompletionContext | None
    ) -> Completion | None:
        if not isinstance(ref, TemplateReference):
            return None
        given = (context.arguments if context else None) or {}
        books = results.book_list(*await shelves.survey()).books
        if argument.name == "index":
            return _suggested(argument.value, (one.index for one in books))
        books = [one for one in books if given.get("index", one.index) == one.index]
        if argument.name == "file":
            return _suggested(argument.value, (one.file_id for one in books))
        books = [one for one in books if given.get("file", one.file_id) == one.file_id]
        return _suggested(argument.value, (chapter for one in books for chapter in one.chapters))

    server.completion()(complete)  # type: ignore[no-untyped-call]


def outline(document: Document, index: str) -> str:
    """A book's outline in Markdown, with the address of each chapter."""
    by = f" by {document.author}" if document.author else ""
    lines = [f"# {document.title}{by}", ""]
    chapters = dict.fromkeys(block.headings[0] for block in document.blocks if block.headings)
    if not chapters:
        lines.append(f"It has no chapters; `read_passage` reads its {len(document.text):,} characters by offset.")
    lines += [f"- [{title}]({address(index, document.file_id, title)})" for title in chapters]
    return "\n".join(lines) + "\n"


async def _document(shelves: Books, index: str, file: str) -> Document:
    try:
        document, _ = await shelves.document(index, file)
    except (AstRagValidationError, AstRagIndexError) as error:
        raise ResourceNotFoundError(public_message(error)) from error
    except AstRagError as error:
        raise ResourceError(public_message(error)) from error
    return document


def _suggested(begun: str, values: Iterable[str]) -> Completion:
    fitting = [value for value in dict.fromkeys(values) if begun.casefold() in value.casefold()]
    return Completion(values=fitting[:_SUGGESTED], total=len(fitting), has_more=len(fitting) > _SUGGESTED)
