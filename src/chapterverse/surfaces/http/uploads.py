"""`POST /books`: a file becomes a book. Its progress is the response; whoever closes the connection cancels it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from chapterverse.errors import AstRagValidationError, UnreadableFileError
from chapterverse.index.build import BuildResult
from chapterverse.ingest.detect import detect
from chapterverse.library import AsyncLibrary, Ingestion
from chapterverse.surfaces.http.dependencies import ADDRESS_READ, WRITING, TheLibrary
from chapterverse.surfaces.http.events import EventStream, Report, as_events
from chapterverse.surfaces.http.openapi import errors

router = APIRouter(prefix="/books", tags=["books"], dependencies=[ADDRESS_READ])

_BINARY = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_FILE = {"requestBody": {"required": True, "content": _BINARY}}
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\/]')
_LONGEST_NAME = 200
"""Bytes; file systems take 255."""
_LOCKED = "The file is encrypted. Save a copy without the protection, or add it with `chapterverse add --password`."


@router.post(
    "",
    dependencies=[WRITING],
    status_code=200,
    response_class=EventStream,
    responses=errors(400, 409, 422, 503),
    openapi_extra=_FILE,
)
async def add_book(
    request: Request,
    library: TheLibrary,
    name: Annotated[str, Query(description="The file's name; its suffix says which kind of text it is")],
    index: Annotated[str | None, Query(description="The index to add it to; without one it gets its own")] = None,
) -> EventStream:
    """Index the file that is the body of the request.

    Answers with server-sent events: `progress` with a stage, `reading` or `embedding`, and how many of how many
    passages are done; at last `result` with the book, or `error`. What is no book at all, and an index that cannot take
    one, is refused with a status of its own. In an index that is named, the file takes the place
    of one of its name that was sent in before. A file that cannot be read leaves nothing behind, and all as it was.
    """
    if request.headers.get("Content-Type", "").casefold().startswith("multipart/"):
        raise AstRagValidationError(
            "Content-Type: the body is a form, which would be read as the book. Send the file itself, as"
            " `curl --data-binary @FILE` does."
        )
    data = await request.body()
    name = _safe(name)
    with _about(name):
        detect(data, name)  # what is no book at all is refused before anything is kept

    async def work(report: Report) -> dict[str, Any]:
        return await _add(library, data, name, index, report)

    return await as_events(request, work)


async def _add(library: AsyncLibrary, data: bytes, name: str, index: str | None, report: Report) -> dict[str, Any]:
    index, former = await _place(library, data, name, index)
    path = library.uploads.place(data, name, former)
    ingestion = Ingestion(skip_failures=False, **_hooks(report))
    replacing = [str(one) for one in former if one != path]
    report({"stage": "reading"})
    try:
        if not path.exists():
            await asyncio.to_thread(path.write_bytes, data)
        with _about(name):
            result = await library.add(path, index=index, ingestion=ingestion, replacing=replacing)
    finally:
        await library.uploads.discard([path])
    shelf = await library.inspect(result.record.id)
    book = next(source for source in shelf.sources if source.source_id == str(path))
    warnings = [notice.reason for notice in result.warnings]
    if isinstance(result, BuildResult) and result.note:
        warnings.append(result.note)
    return {"index": shelf.record.id, "file_id": book.file_id, "title": book.title, "warnings": warnings}


async def _place(library: AsyncLibrary, data: bytes, name: str, index: str | None) -> tuple[str | None, list[Path]]:
    """The index that a file belongs into, if there is one, and the kept files there that it is or takes the place of.

    Without the name of an index nothing is replaced, for another book may have the same name; but what was sent in
    before and has an index of its own is found there.
    """
    wanted, uploads = index or library.settings.index, library.uploads
    if wanted:
        key = await library.id_for(wanted)
        there = [record for record in await library.indexes() if record.id == key]
        return wanted, [path for record in there for path in uploads.of(record) if path.name == name]
    for record in await library.indexes():
        known = uploads.same(data, name, uploads.of(record))
        if known and len(record.source_config["sources"]) == 1:
            return record.id, [known]
    return None, []


def _hooks(report: Report) -> dict[str, Any]:
    """What is told while the passages are embedded."""
    done = total = 0

    def tell() -> None:
        report({"stage": "embedding", "done": done, "of": total})

    def on_cut(chunks: int) -> None:
        nonlocal total
        total += chunks  # of several books, where the index that takes this one in has to be made anew
        tell()

    def on_chunks(chunks: int) -> None:
        nonlocal done
        done = chunks
        tell()

    return {"on_cut": on_cut, "on_chunks": on_chunks}


@contextmanager
def _about(name: str) -> Iterator[None]:
    """Errors of a file name it, and say what can be done where there is no command line."""
    try:
        yield
    except UnreadableFileError as error:
        message = _LOCKED if error.reason == "encrypted" else error.explanation
        raise UnreadableFileError(error.reason, message, file=name, details={"sent_in": True}, cause=error) from error


def _safe(name: str) -> str:
    """A name that every file system takes; it keeps its suffix."""
    folded = _UNSAFE.sub("_", name).strip(". ") or "book"
    suffix = PurePosixPath(folded).suffix[:12]
    stem = folded.removesuffix(suffix).encode()[: _LONGEST_NAME - len(suffix.encode())]
    return stem.decode(errors="ignore") + suffix  # a character that was cut in two is left out
