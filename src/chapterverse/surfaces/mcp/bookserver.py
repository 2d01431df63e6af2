"""The SDK's server, with resources that come and go with the books, and complaints that a caller can act on."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.types import CallToolResult, InputRequiredResult, Resource
from pydantic import ValidationError

from chapterverse.contracts.errors_map import public_message
from chapterverse.errors import AstRagError
from chapterverse.library import AsyncLibrary
from chapterverse.surfaces.mcp import results
from chapterverse.surfaces.mcp.books import Books


class BookServer(MCPServer[object]):
    """A server whose resources are the books that are there when it is asked."""

    def __init__(self, library: AsyncLibrary, **options: Any) -> None:
        # ids and titles are looked up in the index and never become paths, so they may look like one
        super().__init__(resource_security=ResourceSecurity(exempt_params={"index", "file", "chapter"}), **options)
        self._books = Books(library)

    async def list_resources(self) -> list[Resource]:
        try:
            books = results.book_list(*await self._books.survey()).books
        except AstRagError as error:
            raise ResourceError(public_message(error)) from error
        return [
            Resource(uri=one.uri, name=one.title, description=_described(one), mime_type="text/markdown")
            for one in books
        ]

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[object, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        tool = next((tool for tool in await self.list_tools() if tool.name == name), None)
        if tool is not None and (unknown := arguments.keys() - tool.input_schema["properties"]):
            takes = ", ".join(tool.input_schema["properties"])
            raise ToolError(f"{name} has no argument {', '.join(sorted(unknown))}. It takes: {takes}.")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.__cause__.errors())
                raise ToolError(f"{name} cannot be called like this: {'; '.join(wrong)}.") from error.__cause__
            raise


def _described(book: results.Book) -> str:
    pages = f", {book.pages} pages" if book.pages else ""
    return f"Outline: {len(book.chapters)} chapters{pages}; index {book.index}"
