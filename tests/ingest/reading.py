"""Shorthand for tests that parse bytes in this process, without a sandbox."""

from __future__ import annotations

import hashlib

from chapterverse.ingest import detect, worker
from chapterverse.types import Document, ReadOptions, SourceItem


def parse(data: bytes, name: str, options: ReadOptions = ReadOptions()) -> Document:
    mime_type = detect.detect(data, name)
    return worker.parse(data, mime_type, hashlib.sha256(data).hexdigest(), SourceItem(name, name), options)


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def reasons(document: Document) -> str:
    return " ".join(notice.reason for notice in document.notices)
