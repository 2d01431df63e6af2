"""`POST /books`: a file becomes a book. Its progress is the response; whoever closes the connection cancels it."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import platformdirs
from fastapi import APIRouter, Query, Request

from chapterverse.errors import UnreadableFileError
from chapterverse.index.build import BuildResult
from chapterverse.ingest.detect import detect
from chapterverse.library import AsyncLibrary, Ingestion
from chapterverse.surfaces.http.dependencies import WRITING, TheLibrary
from chapterverse.surfaces.http.events import Event, EventStream, Report, with_progress

router = APIRouter(prefix="/books", tags=["books"])

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\/]')
_LONGEST_NAME = 200
"""Bytes; file systems take 255."""
_LOCKED = "The file is encrypted. Save a copy without the protection, or add it with `chapterverse add --password`."


@router.post("", dependencies=[WRITING])
async def add_book(
    request: Request,
    library: TheLibrary,
    name: Annotated[str, Query(description="The file's name; its suffix says which kind of text it is")],
    index: Annotated[str | None, Query(description="The index to add it to; without one it gets its own")] = None,
) -> EventStream:
    """Index the file that is the body of the request.

    Answers with server-sent events: `progress` with a stage, `reading` or `embedding`, and how many of how many
    passages are done; at last `result` with the book, or `error`. A file that cannot be read leaves nothing behind.
    """
    data = await request.body()
    return EventStream(request, _events(library, data, name, index))


async def _events(library: AsyncLibrary, data: bytes, name: str, index: str | None) -> AsyncGenerator[Event, None]:
    name = _safe(name)
    with _about(name):
        detect(data, name)  # what is no book at all is refused before anything is kept
    path, known = await asyncio.to_thread(_keep, data, name, _home(library))
    added = False

    async def work(report: Report) -> dict[str, Any]:
        nonlocal added
        book = await _add(library, path, index, report)
        added = True
        return book

    try:
        async for event in with_progress(work):
            yield event
    finally:
        if not (added or known):
            path.unlink()
            with suppress(OSError):  # the same text may have been sent under another name too
                path.parent.rmdir()


async def _add(library: AsyncLibrary, path: Path, index: str | None, report: Report) -> dict[str, Any]:
    done = total = 0

    def cut(chunks: int) -> None:
        nonlocal total
        total += chunks  # of several books, where the index that takes this one in has to be made anew
        tell()

    def stored(chunks: int) -> None:
        nonlocal done
        done = chunks
        tell()

    def tell() -> None:
        report({"stage": "embedding", "done": done, "of": total})

    report({"stage": "reading"})
    ingestion = Ingestion(skip_failures=False, on_cut=cut, on_chunks=stored)
    with _about(path.name):
        result = await library.add(path, index=index, ingestion=ingestion)
    shelf = await library.inspect(result.record.id)
    book = next(source for source in shelf.sources if source.source_id == str(path))
    warnings = [notice.reason for notice in result.warnings]
    if isinstance(result, BuildResult) and result.note:
        warnings.append(result.note)
    return {"index": shelf.record.id, "file_id": book.file_id, "title": book.title, "warnings": warnings}


@contextmanager
def _about(name: str) -> Iterator[None]:
    """Errors of a file name it, and say what can be done where there is no command line."""
    try:
        yield
    except UnreadableFileError as error:
        message = _LOCKED if error.reason == "encrypted" else error.explanation
        raise UnreadableFileError(error.reason, message, file=name, cause=error) from error


def _keep(data: bytes, name: str, home: Path) -> tuple[Path, bool]:
    """Where the file is kept, under the hash of what is in it; and whether it was there before."""
    path = home / hashlib.sha256(data).hexdigest()[:16] / name
    known = path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path, known


def _home(library: AsyncLibrary) -> Path:
    """The folder of the files, which stay, so that `sync` finds them again."""
    home = library.settings.home or platformdirs.user_data_path("chapterverse", appauthor=False)
    return home.resolve() / ".uploads"


def _safe(name: str) -> str:
    """A name that every file system takes; it keeps its suffix."""
    folded = _UNSAFE.sub("_", name).strip(". ") or "book"
    suffix = PurePosixPath(folded).suffix[:12]
    stem = folded.removesuffix(suffix).encode()[: _LONGEST_NAME - len(suffix.encode())]
    return stem.decode(errors="ignore") + suffix  # a character that was cut in two is left out
