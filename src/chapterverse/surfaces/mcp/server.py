"""The server: what an assistant may call and read, and what each of it is good for."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from inspect import getdoc
from typing import Annotated, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from chapterverse import __version__
from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.scope import FULL_BOOK, named_scope
from chapterverse.answer.unmet import why_nothing
from chapterverse.contracts.errors_map import public_message
from chapterverse.errors import AstRagError, AstRagValidationError
from chapterverse.library import AsyncLibrary, Generation
from chapterverse.library.asking import LOCAL
from chapterverse.surfaces.mcp import results
from chapterverse.surfaces.mcp.books import Books
from chapterverse.surfaces.mcp.bookserver import BookServer
from chapterverse.surfaces.mcp.resources import add_resources
from chapterverse.surfaces.mcp.slices import chapter_slice, limited, page_slice, read_so_far, slice_from
from chapterverse.types import Answer, AnswerEvent, Filter, Stage

INSTRUCTIONS = """\
Answers from books, and from nothing else. `ask` gives an answer whose every sentence quotes the book, or says that the
book does not answer: pass that on as it is, and do not fill it in from what you know. Name chapter and page of what you
quote. `list_books` shows what there is; `search` and `read_passage` give the book's own words where you need more."""

Index = Annotated[
    str | None, Field(description="The index to use, as `list_books` names it. Not needed where there is only one.")
]
File = Annotated[str | None, Field(description="Only this book: its file_id, file name or title from `list_books`.")]
Chapter = Annotated[
    str | None, Field(description="Only this chapter or section, by its title or number, e.g. 'Chapter 3'.")
]
Pages = Annotated[str | None, Field(description="Only this printed page, or pages such as '12-15'.")]
ReadUntil = Annotated[
    int | None, Field(description="Nothing after this page of the file: for a reader who wants no spoilers.")
]

_log = logging.getLogger(__name__)
_LOGGED: Final = "WARNING"
_READING = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_LONGEST = 20_000
"""Characters that `read_passage` gives at once."""


def create_server(library: AsyncLibrary, generation: Generation = LOCAL) -> MCPServer[object]:
    """A server for a library; whoever made the library closes it."""
    tools = Tools(library, generation)
    offered = (
        (tools.ask, "Ask a book"),
        (tools.search, "Search a book"),
        (tools.read_passage, "Read in a book"),
        (tools.list_books, "List books"),
    )
    # Else the SDK has what is logged drawn by Rich: seconds for a traceback, in which nobody is answered, and lines
    # that are cut in two. Whoever has set up logging before is left alone by both.
    logging.basicConfig(level=_LOGGED, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    server = BookServer(
        library,
        name="chapterverse",
        title="Chapterverse",
        description="Ask a book. Get an answer that quotes it, chapter and verse, or a plain refusal.",
        instructions=INSTRUCTIONS,
        version=__version__,
        tools=[
            Tool.from_function(tool, title=title, description=getdoc(tool), annotations=_READING)
            for tool, title in offered
        ],
        log_level=_LOGGED,
    )
    add_resources(server, library)
    return server


class Tools:
    """The tools; their signatures and docstrings are what an assistant sees of them."""

    def __init__(self, library: AsyncLibrary, generation: Generation) -> None:
        self._library = library
        self._generation = generation
        self._books = Books(library)

    async def ask(
        self,
        ctx: Context[object],
        question: Annotated[str, Field(description="What to ask, as a whole question. At most 1,000 characters.")],
        index: Index = None,
        selected_text: Annotated[
            str | None,
            Field(description="Answer from this text alone, not from the book. At most 10,000 characters."),
        ] = None,
        file: File = None,
        chapter: Chapter = None,
        pages: Pages = None,
        read_until: ReadUntil = None,
    ) -> Annotated[CallToolResult, results.AskResult]:
        """Ask a book a question. Every sentence of the answer is borne out by quotes of the book, with chapter and
        page; where the book does not answer, the answer is a refusal that says so. Contradictions are shown."""
        with _told():
            record = await self._library.record(index) if selected_text is None else None
            where, scope = await self._filter(index, file, read_until), named_scope(chapter, pages)
            asking = self._library.stream(
                question,
                selection=selected_text,
                index=index,
                where=where,
                scope=scope,
                generation=self._generation,
            )
            answer = await _heard(asking, ctx)
            if where or scope:  # a place that only the question names is the question's: its refusal stands
                _check_place(why_nothing(answer))
            return _result(results.ask_text(answer), results.ask_result(answer, record.id if record else None))

    async def search(
        self,
        query: Annotated[str, Field(description="What to look for: a question, or words.")],
        index: Index = None,
        top_k: Annotated[int, Field(description="How many passages, 1 to 50.")] = 8,
        file: File = None,
        chapter: Chapter = None,
        pages: Pages = None,
        read_until: ReadUntil = None,
    ) -> Annotated[CallToolResult, results.SearchResults]:
        """Find passages of a book by meaning and by words, best first, each as it stands with chapter and page. A
        passage that was found need not answer: use `ask` for an answer that was checked."""
        with _told():
            record = await self._library.record(index)
            found = await self._library.search(
                query,
                index=record.id,
                settings=Retrieval(**{**record.retrieval_defaults, "top_k": top_k}),
                where=await self._filter(index, file, read_until),
                scope=named_scope(chapter, pages) or FULL_BOOK,
                seconds=self._generation.seconds or self._library.settings.deadline,
            )
            _check_place(found.diagnostics.unmet)
            return _result(results.search_text(found), results.search_results(found))

    async def read_passage(
        self,
        index: Index = None,
        file: Annotated[
            str | None,
            Field(description="The book: its file_id, file name or title. Not needed where there is only one."),
        ] = None,
        chapter: Annotated[
            str | None, Field(description="Read this chapter or section, by its title or number, e.g. 'Chapter 3'.")
        ] = None,
        page: Annotated[str | None, Field(description="Read this page, as it is printed, e.g. 'iv' or '45'.")] = None,
        start: Annotated[
            int | None, Field(description="Read from this character: a citation's `start`, or a `next_start`.")
        ] = None,
        length: Annotated[int, Field(description="How many characters at the most, 1 to 20,000.")] = 4_000,
        read_until: ReadUntil = None,
    ) -> Annotated[CallToolResult, results.PassageText]:
        """Read a book's own text: a chapter, a page, or from an offset, such as that of a citation. Without any of
        them it begins at the beginning; `next_start` says where to read on."""
        with _told():
            if sum(given is not None for given in (chapter, page, start)) > 1:
                raise AstRagValidationError("Give one of chapter, page and start, not several.")
            if not 1 <= length <= _LONGEST:
                raise AstRagValidationError(f"length is {length}; it must be 1 to {_LONGEST:,}.")
            document, record = await self._books.document(index, file)
            document = document if read_until is None else read_so_far(document, read_until)
            if chapter is not None:
                whole = chapter_slice(document, chapter)
            elif page is not None:
                whole = page_slice(document, page)
            else:
                whole = slice_from(document, start or 0)
            part = limited(document, whole, length)
            return _result(results.read_text(document, part), results.passage_text(document, record.id, part))

    async def list_books(
        self,
        index: Annotated[str | None, Field(description="Only the books of this index.")] = None,
    ) -> Annotated[CallToolResult, results.BookList]:
        """List the books that can be asked, searched and read, with their chapters and the index that holds each;
        and the indexes that cannot be opened, with the reason."""
        with _told():
            books = results.book_list(*await self._books.survey(index))
            return _result(results.list_text(books), books)

    async def _filter(self, index: str | None, file: str | None, read_until: int | None) -> Filter | None:
        if file is None:
            return None if read_until is None else Filter(read_until=read_until)
        _, source = await self._books.find(index, file)
        return Filter(file_ids=(source.file_id,), read_until=read_until)


async def _heard(asking: AsyncGenerator[AnswerEvent, None], ctx: Context[object]) -> Answer:
    """The answer; on the way to it, stages and the sentences that have passed the gate are told as progress."""
    async with aclosing(asking) as events:
        step = 0
        async for event in events:
            if isinstance(event, Answer):
                return event
            step += 1
            await ctx.report_progress(step, message=event.name if isinstance(event, Stage) else event.sentence.text)
    raise AssertionError("the answer comes last")


def _check_place(nothing: str | None) -> None:
    """Refuse a place that holds nothing; `nothing` says why."""
    if nothing:
        raise AstRagValidationError(f"{nothing[0].upper()}{nothing[1:]}. `list_books` shows what there is.")


def _result(text: str, record: BaseModel) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=record.model_dump(mode="json")
    )


@contextmanager
def _told() -> Iterator[None]:
    """What a user can meet is told, with what to do next; anything else stays here."""
    try:
        yield
    except AstRagError as error:
        told = public_message(error)
        if told != error.message:
            _log.warning("%s: %s", type(error).__name__, error.message)
        says_so = "try again" in told.casefold()
        raise ToolError(told + (" Trying again may help." if error.retryable and not says_so else "")) from error
