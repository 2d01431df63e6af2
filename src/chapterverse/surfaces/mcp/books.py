"""Books as an assistant names them: by index, and by id, file name or title."""

from __future__ import annotations

from chapterverse.errors import AstRagError, AstRagValidationError
from chapterverse.library import AsyncLibrary, Inspection
from chapterverse.types import Document, IndexRecord, SourceRecord


class Books:
    """Looks up what a library holds."""

    def __init__(self, library: AsyncLibrary) -> None:
        self._library = library

    async def survey(self, index: str | None = None) -> tuple[list[Inspection], dict[str, AstRagError]]:
        """The index that is named, or all of them, with the books in each; and what is wrong with any other."""
        if index is not None:
            return [await self._library.inspect(index)], {}
        return await self._library.survey()

    async def find(self, index: str | None, file: str | None) -> tuple[IndexRecord, SourceRecord]:
        """The book that is meant; without a name, the only one of its index."""
        shelf = await self._library.inspect(index)
        found = [source for source in shelf.sources if file is None or file == source.file_id]
        if file is not None and not found:
            wanted = file.casefold()
            found = [one for one in shelf.sources if wanted in (one.file_name.casefold(), one.title.casefold())]
        if len(found) != 1:
            there = ", ".join(source.file_id for source in shelf.sources[:40])
            said = "Which book?" if file is None or found else f"file: there is no {file!r} in {shelf.record.id}."
            raise AstRagValidationError(f"{said} `list_books` shows what there is; some file ids: {there}.")
        return shelf.record, found[0]

    async def document(self, index: str | None, file: str | None) -> tuple[Document, IndexRecord]:
        """A book's text, and the index that holds it."""
        record, source = await self.find(index, file)
        return await self._library.document(source.file_id, record.id), record
