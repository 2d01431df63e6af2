"""What the tools give: records with an output schema for programs, and the same as text for whoever reads along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from chapterverse.answer.cite import in_words
from chapterverse.answer.prompts import NAMES_NOTHING
from chapterverse.answer.render import footnoted
from chapterverse.contracts.ask import Body, place_fields
from chapterverse.contracts.errors_map import public_message
from chapterverse.errors import AstRagError
from chapterverse.library import Inspection, SearchResult
from chapterverse.surfaces.mcp.addresses import address
from chapterverse.surfaces.mcp.slices import Slice
from chapterverse.types import Answer, Citation, Document, Entry, Place, Reason, SentenceKind, Status

_SHOWN = 280
"""How many characters of a related passage are shown in a refusal's text; all of them are in its record."""


class Location(BaseModel):
    """Where something stands."""

    index: str | None = Field(description="The index; none for a selected text.")
    file_id: str | None = Field(description="The book's id in the index.")
    title: str | None
    chapter: str | None
    section: str | None
    page: int | None = Field(description="The page's number in the file.")
    page_label: str | None = Field(description="What is printed on the page.")
    slide: int | None
    start: int = Field(description="Where it begins in the book's text: pass it to read_passage to read around it.")
    end: int
    uri: str | None = Field(description="The chapter, or the book where it has none, as a resource.")


class CitedQuote(Location):
    """The words of the book that a sentence rests on, letter by letter."""

    number: int = Field(description="As the sentences cite it.")
    quote: str


class Sentence(BaseModel):
    """A sentence that the book bears out."""

    text: str
    kind: SentenceKind = Field(description="The book's own words, a statement they bear out, or a fixed notice.")
    citations: list[int] = Field(description="Numbers of the citations that it rests on.")


class FoundPassage(Location):
    """A passage of the book."""

    text: str
    score: float


class AskResult(BaseModel):
    """An answer with what proves it, or a refusal with what came nearest."""

    answer: str
    status: Status
    reason: Reason | None = Field(description="Why nothing was answered.")
    grounded: bool = Field(description="Whether the answer rests on quotes; false for a refusal.")
    confidence: float
    sentences: list[Sentence]
    citations: list[CitedQuote]
    related: list[FoundPassage] = Field(description="Of a refusal, the nearest passages: they do not answer.")


class SearchResults(BaseModel):
    """Passages that bear on a query, best first."""

    query: str
    passages: list[FoundPassage]


class PassageText(Location):
    """A run of a book's text as it stands."""

    text: str
    next_start: int | None = Field(description="Where to read on with read_passage; none at the end.")
    book_length: int = Field(description="Characters of the whole book.")


class Book(BaseModel):
    """A book that can be asked, searched and read."""

    index: str = Field(description="The index that holds it: pass it to the other tools.")
    file_id: str
    title: str
    mime_type: str
    pages: int | None
    chapters: list[str]
    source_url: str | None
    uri: str


class Trouble(BaseModel):
    """An index that cannot be opened."""

    index: str
    trouble: str = Field(description="What is wrong with it, and what to do.")


class BookList(BaseModel):
    """The books there are."""

    books: list[Book]
    troubles: list[Trouble] = Field(description="Indexes that cannot be opened: their books are not listed.")


def ask_result(answer: Answer, index: str | None) -> AskResult:
    """An answer's record."""
    grounded = bool(answer.citations)
    return AskResult(
        answer=answer.text,
        status=answer.status,
        reason=answer.reason,
        grounded=grounded,
        confidence=answer.confidence,
        sentences=[
            Sentence(text=one.text, kind=one.kind, citations=[number + 1 for number in one.citations])
            for one in answer.sentences
        ],
        citations=[_cited(number, one, index) for number, one in enumerate(answer.citations, 1)],
        related=[]
        if grounded
        else [
            _found(one.entry, index, one.text, one.start, one.score)
            for one in answer.passages
            if one.entry is not None and index is not None
        ],
    )


def ask_text(answer: Answer) -> str:
    """An answer with its footnotes; a refusal with what came nearest, and that it does not answer."""
    if answer.status == "needs_clarification":
        return f"{answer.text} {NAMES_NOTHING}"
    if answer.citations or not answer.passages:
        return footnoted(answer)
    near = [
        f"- {in_words(one.entry.title, one.entry.chunk.place)}: {_shortened(one.text)}"
        for one in answer.passages
        if one.entry is not None
    ]
    return "\n".join([answer.text, "", "Related, but it does not answer:", *near]) if near else answer.text


def search_results(result: SearchResult) -> SearchResults:
    return SearchResults(
        query=result.query,
        passages=[
            _found(one.entry, result.record.id, one.entry.chunk.text, one.entry.chunk.start, one.final)
            for one in result.found
        ],
    )


def search_text(result: SearchResult) -> str:
    if not result.found:
        return "Nothing was found. Try other words, or search without chapter, page or file."
    passages = (
        f"{number}. {in_words(one.entry.title, one.entry.chunk.place)}\n{one.entry.chunk.text}"
        for number, one in enumerate(result.found, 1)
    )
    return "\n\n".join(passages)


def passage_text(document: Document, index: str, part: Slice) -> PassageText:
    place = document.place(part.start, part.end)
    return PassageText(
        **_location(index, document.file_id, document.title, place, part.start, part.end),
        text=document.text[part.start : part.end],
        next_start=part.next_start,
        book_length=len(document.text),
    )


def read_text(document: Document, part: Slice) -> str:
    where = in_words(document.title, document.place(part.start, part.end))
    lines = [where, "", document.text[part.start : part.end]]
    if part.next_start is not None:
        lines += ["", f"(It goes on: read_passage with start={part.next_start}.)"]
    return "\n".join(lines)


def book_list(shelves: Sequence[Inspection], troubles: Mapping[str, AstRagError]) -> BookList:
    return BookList(
        books=[
            Book(
                index=shelf.record.id,
                file_id=source.file_id,
                title=source.title,
                mime_type=source.mime_type,
                pages=source.page_count,
                chapters=list(dict.fromkeys(path[0] for path in source.outline if path)),
                source_url=source.source_url,
                uri=address(shelf.record.id, source.file_id),
            )
            for shelf in shelves
            for source in shelf.sources
        ],
        troubles=[Trouble(index=index, trouble=public_message(error)) for index, error in troubles.items()],
    )


def list_text(books: BookList) -> str:
    if not books.books and not books.troubles:
        return "There are no books yet: `chapterverse add BOOK` on the command line adds one."
    lines = [
        f"- {one.title} (index {one.index}, file {one.file_id}"
        + (f", {one.pages} pages" if one.pages else "")
        + (f", {len(one.chapters)} chapters" if one.chapters else "")
        + ")"
        for one in books.books
    ]
    lines += [f"- The index {one.index} cannot be opened: {one.trouble}" for one in books.troubles]
    return "\n".join(lines)


def _cited(number: int, citation: Citation, index: str | None) -> CitedQuote:
    where = _location(index, citation.file_id, citation.title, citation.place, citation.start, citation.end)
    return CitedQuote(**where, number=number, quote=citation.quote)


def _found(entry: Entry, index: str, text: str, start: int, score: float) -> FoundPassage:
    where = _location(index, entry.chunk.file_id, entry.title, entry.chunk.place, start, start + len(text))
    return FoundPassage(**where, text=text, score=score)


def _location(index: str | None, file_id: str | None, title: str | None, place: Place, start: int, end: int) -> Body:
    uri = address(index, file_id, place.chapter) if index and file_id else None
    known = {"index": index if file_id else None, "file_id": file_id, "title": title, "uri": uri}
    return {**known, **place_fields(place), "start": start, "end": end}


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN].rsplit(" ", 1)[0] + " …"
