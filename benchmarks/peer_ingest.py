"""Reads one file or folder with one reader, and prints what it took as a line of JSON.

Run by `ingest.py` in a fresh process, with the Python of the environment that the reader is installed in:

    python peer_ingest.py READER PATH
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Measure = dict[str, Any]
Reader = Callable[[Path], Measure]
"""Reads what lies at a path; returns the number of characters, and of pages or pieces where it knows them."""


def chapterverse() -> Reader:
    from chapterverse import Reading, chunk

    def read(path: Path) -> Measure:
        start = time.perf_counter()
        documents = [outcome.document for outcome in Reading(path) if outcome.document]
        read_seconds = time.perf_counter() - start
        chunks = sum(len(chunk(document)) for document in documents)
        return {
            "characters": sum(len(document.text) for document in documents),
            "pages": sum(document.page_count or 0 for document in documents) or None,
            "blocks": sum(len(document.blocks) for document in documents),
            "chunks": chunks,
            "seconds": read_seconds,
            "chunk_seconds": time.perf_counter() - start - read_seconds,
        }

    return read


def _texts(convert: Callable[[Path], str]) -> Reader:
    """A reader that gives one text for each file."""
    return lambda path: {"characters": sum(len(convert(file)) for file in files(path))}


def pypdfium2() -> Reader:
    import pypdfium2 as pdfium

    def convert(path: Path) -> str:
        with pdfium.PdfDocument(path) as document:
            return "\n".join(page.get_textpage().get_text_bounded() for page in document)

    return _texts(convert)


def pymupdf() -> Reader:
    import pymupdf as library

    def convert(path: Path) -> str:
        with library.open(path) as document:
            return "\n".join(page.get_text() for page in document)

    return _texts(convert)


def pypdf() -> Reader:
    from pypdf import PdfReader

    return _texts(lambda path: "\n".join(page.extract_text() for page in PdfReader(path).pages))


def pdfminer() -> Reader:
    from pdfminer.high_level import extract_text

    return _texts(lambda path: extract_text(str(path)))


def markitdown() -> Reader:
    from markitdown import MarkItDown

    converter = MarkItDown(enable_plugins=False)
    return _texts(lambda path: converter.convert_local(path).text_content)


def unstructured() -> Reader:
    import importlib

    def convert(path: Path) -> str:
        kind = path.suffix.removeprefix(".")
        partition = getattr(importlib.import_module(f"unstructured.partition.{kind}"), f"partition_{kind}")
        return "\n\n".join(str(element) for element in partition(filename=str(path)))

    return _texts(convert)


def python_docx() -> Reader:
    import docx

    def convert(path: Path) -> str:
        parts = docx.Document(str(path)).iter_inner_content()
        return "\n".join(
            part.text if hasattr(part, "text") else "\n".join(cell.text for row in part.rows for cell in row.cells)
            for part in parts
        )

    return _texts(convert)


def python_pptx() -> Reader:
    from pptx import Presentation

    def convert(path: Path) -> str:
        texts = []
        for slide in Presentation(str(path)).slides:
            texts += [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]
            texts += [cell.text for shape in slide.shapes if shape.has_table for cell in shape.table.iter_cells()]
            if slide.has_notes_slide:
                texts.append(slide.notes_slide.notes_text_frame.text)
        return "\n".join(texts)

    return _texts(convert)


def ebooklib() -> Reader:
    from bs4 import BeautifulSoup
    from ebooklib import ITEM_DOCUMENT, epub

    def convert(path: Path) -> str:
        book = epub.read_epub(str(path))
        pages = (item.get_content() for item in book.get_items_of_type(ITEM_DOCUMENT))
        return "\n".join(BeautifulSoup(page, "lxml-xml").get_text() for page in pages)

    return _texts(convert)


def beautifulsoup() -> Reader:
    from bs4 import BeautifulSoup

    return _texts(lambda path: BeautifulSoup(path.read_bytes(), "lxml").get_text())


def trafilatura() -> Reader:
    import trafilatura as library

    return _texts(lambda path: library.extract(path.read_text("utf-8")) or "")


def files(path: Path) -> list[Path]:
    """A file itself, or the Markdown files below a folder (what peers read of a folder)."""
    return [path] if path.is_file() else sorted(path.rglob("*.md"))


def _usage() -> Measure:
    """CPU time of this process and all that it started, and the peak memory of it and of the largest of those."""
    import resource

    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "cpu_seconds": sum(usage.ru_utime + usage.ru_stime for usage in usages),
        "peak_mb": sum(usage.ru_maxrss for usage in usages) / unit,
    }


def main() -> None:
    reader: Reader = globals()[sys.argv[1]]()
    start = time.perf_counter()
    measure = reader(Path(sys.argv[2]))
    measure.setdefault("seconds", time.perf_counter() - start)
    print(json.dumps({**measure, **_usage()}))


if __name__ == "__main__":
    main()
