"""Builds the sample book and its questions from the manuscript: `python sample/build.py [FOLDER]`.

The default folder is src/chapterverse/sample, from where the files ship. The same manuscript gives the same files on
every run; between machines only the compression of the PDF, EPUB, DOCX and PPTX may differ, where zlib does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bind_docx
import bind_epub
import bind_html
import bind_pdf
import bind_pptx
import manuscript
from gold import Gold
from pages import lay_out

HERE = Path(__file__).resolve().parent
NAME = "the-clocks-of-harrow-vale"


def build(folder: Path) -> None:
    """Write all formats and the questions into the folder."""
    book = manuscript.read(HERE / "chapters")
    pages = lay_out(book)
    files = {
        f"{NAME}.md": book.markdown.encode(),
        f"{NAME}.pdf": bind_pdf.bind(book, pages),
        f"{NAME}.epub": bind_epub.bind(book, pages),
        f"{NAME}.docx": bind_docx.bind(book),
        f"{NAME}.pptx": bind_pptx.bind(book),
        f"{NAME}.html": bind_html.bind(book).encode(),
        "questions.jsonl": _questions(Gold(book, pages)).encode(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
        print(f"{len(data):>9,} bytes  {name}")
    words = sum(len(text.plain.split()) for part in book.parts for text in part.texts())
    print(f"{words:,} words, {len(book.chapters)} chapters, {len(pages.front)} + {len(pages.body)} pages")


def _questions(gold: Gold) -> str:
    lines = (HERE / "questions.jsonl").read_text("utf-8").splitlines()
    return "".join(json.dumps(gold.place(json.loads(line)), ensure_ascii=False) + "\n" for line in lines)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "src/chapterverse/sample")
