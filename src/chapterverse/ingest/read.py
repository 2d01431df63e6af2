"""Reads files into documents: one, or everything that a source offers, on all cores and in order."""

from __future__ import annotations

import hashlib
import os
import re
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from typing import NamedTuple

from chapterverse.errors import AstRagError, UnreadableFileError
from chapterverse.ingest import detect, worker
from chapterverse.ingest.sandbox import Sandbox
from chapterverse.protocols import Source
from chapterverse.types import Block, BlockKind, Document, Notice, ReadOptions, SourceItem

_CHAPTER_LIKE = re.compile(
    r"(?:chapter|part|book|letter|canto|act|appendix|volume)\b|[0-9]{1,3}[.:)]\s|[ivxlc]{1,7}[.:)]\s", re.IGNORECASE
)
LICENCE = ("Project Gutenberg licence",)
_ENDS = re.compile(r"\W*end of (?:the |this )?project gutenberg\b", re.IGNORECASE)
"""The line with which Project Gutenberg closes a book, before its licence."""
_HAS_LICENCE = re.compile(r"project gutenberg\W{0,3}(?:tm\b)?\s+licen[sc]e", re.IGNORECASE)


class Outcome(NamedTuple):
    """What became of one file: its document, or the reason why there is none."""

    item: SourceItem
    document: Document | None
    error: UnreadableFileError | None

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Everything a user should know about this file."""
        if self.error is not None:
            return (Notice(self.item.file_id, self.item.file_name, self.error.explanation),)
        return self.document.notices if self.document else ()


def read(
    data: bytes, item: SourceItem, options: ReadOptions = ReadOptions(), sandbox: Sandbox | None = None
) -> Document:
    """One file as a document; raises `UnreadableFileError` that names the file and the reason."""
    try:
        mime_type = detect.detect(data, item.file_name)
        sha256 = hashlib.sha256(data).hexdigest()
        if mime_type == detect.TEXT:  # nothing to unpack or interpret, and often large: no need to send it around
            document = worker.parse(data, mime_type, sha256, item, options)
        elif sandbox is None:
            with Sandbox() as own:
                document = own.parse(data, mime_type, sha256, item, options)
        else:
            document = sandbox.parse(data, mime_type, sha256, item, options)
    except UnreadableFileError as error:
        raise UnreadableFileError(error.reason, error.explanation, file=item.file_name, cause=error.cause) from error
    return _promote_chapters(_close_book(document))


def read_all(
    source: Source,
    options: ReadOptions = ReadOptions(),
    include_mime_types: Collection[str] | None = None,
    workers: int | None = None,
    on_item: Callable[[SourceItem], None] | None = None,
) -> Generator[Outcome, None, None]:
    """Every file of a source in its order, read in parallel; a bad file is an outcome, never the end of the others."""
    count = workers or os.cpu_count() or 1
    sandboxes = [Sandbox() for _ in range(count)]
    idle: SimpleQueue[Sandbox] = SimpleQueue()
    for sandbox in sandboxes:
        idle.put(sandbox)

    def work(item: SourceItem) -> Outcome:
        sandbox = idle.get()
        try:
            document = read(source.fetch(item), item, options, sandbox)
            return Outcome(item, document, None)
        except AstRagError as error:
            return Outcome(item, None, _as_unreadable(error, item))
        finally:
            idle.put(sandbox)

    with ThreadPoolExecutor(count) as pool:
        try:
            pending: deque[Future[Outcome]] = deque()
            for item in source.items():
                if not _wanted(item, include_mime_types):
                    continue
                if on_item is not None:
                    on_item(item)
                pending.append(pool.submit(work, item))
                while len(pending) > 4 * count or (pending and pending[0].done()):
                    yield from _kept(pending.popleft().result(), include_mime_types)
            while pending:
                yield from _kept(pending.popleft().result(), include_mime_types)
        finally:  # also when the caller stops early: nothing is left running
            pool.shutdown(wait=False, cancel_futures=True)
            for sandbox in sandboxes:
                sandbox.close()


def _wanted(item: SourceItem, include: Collection[str] | None) -> bool:
    """What a source declares can rule a file out only where the content will not tell (a Google document)."""
    declared = item.mime_type or ""
    return include is None or not declared.startswith("application/vnd.google-apps.") or declared in include


def _kept(outcome: Outcome, include: Collection[str] | None) -> Iterator[Outcome]:
    document = outcome.document
    declared = outcome.item.mime_type
    if include is None or document is None or document.mime_type in include or declared in include:
        yield outcome


def _as_unreadable(error: AstRagError, item: SourceItem) -> UnreadableFileError:
    if isinstance(error, UnreadableFileError):
        return error
    return UnreadableFileError("source", error.message, file=item.file_name, cause=error, retryable=error.retryable)


def _promote_chapters(document: Document) -> Document:
    """Where one title stands above chapters that call themselves so, the outline starts with those chapters."""
    paths = [block.headings for block in document.blocks if block.headings != LICENCE]
    if not paths or not paths[0] or any(path[:1] != paths[0][:1] for path in paths):
        return document
    below = {block.headings for block in document.blocks if block.kind == "heading" and len(block.headings) == 2}
    if sum(1 for path in below if _CHAPTER_LIKE.match(path[1])) < 2:
        return document
    blocks = tuple(
        replace(block, headings=block.headings[1:] if len(block.headings) > 1 else block.headings)
        for block in document.blocks
    )
    return replace(document, blocks=blocks)


def _close_book(document: Document) -> Document:
    """The licence that Project Gutenberg puts behind a book, often without a heading, is no part of its last chapter.

    A book may have such a line in its midst: what follows it must speak of that licence, or be the lesser part.
    """
    text, blocks = document.text, document.blocks
    for n, block in enumerate(blocks):
        if not _ENDS.match(text, block.start, block.end):
            continue
        if 3 * (len(text) - block.start) < len(text) or _HAS_LICENCE.search(text, block.end):
            closing = (replace(one, kind=_plain(one), headings=LICENCE) for one in blocks[n:])
            return replace(document, blocks=(*blocks[:n], *closing))
    return document


def _plain(block: Block) -> BlockKind:
    return "paragraph" if block.kind == "heading" else block.kind
