"""Shows what Chapterverse does, on the book that comes with it. `make demo` runs this."""

from __future__ import annotations

import tempfile
from pathlib import Path

import chapterverse
from chapterverse.answer.cite import describe
from chapterverse.settings import Settings
from chapterverse.types import Answer

QUESTIONS = (
    "How did Ambrose Kell teach his apprentices?",
    "In what year was the clockmakers' Guild established?",
    "What did Ambrose Kell eat for breakfast?",
    "How do I bake a cake?",
)


def main() -> None:
    book = chapterverse.read(chapterverse.sample_book())
    print(f"{book.title}, by {book.author}: {book.page_count} pages\n")
    for block in book.blocks:
        if block.kind == "heading" and len(block.headings) == 1:
            page = book.page_at(block.start)
            print(f"  {block.headings[0]:<50} p. {page.label if page else '?'}")
    with tempfile.TemporaryDirectory() as home, chapterverse.Library(Settings(home=Path(home))) as library:
        print("\nIndexing it, in this process, without a key …")
        library.add("sample", index="clocks")
        print("\n$ chapterverse search 'the longest drop'")
        best = library.search("the longest drop").found[0].entry.chunk
        print(f"  {best.place.chapter} · {best.place.section}\n  {best.text[:200]} …")
        for question in QUESTIONS:
            print(f"\n$ chapterverse ask {question!r}")
            show(library.ask(question))
    print("\nNext: `.venv/bin/chapterverse add YOUR-BOOK.pdf`, then `.venv/bin/chapterverse ask 'YOUR QUESTION'`.")


def show(answer: Answer) -> None:
    print(f"  {answer.text}")
    for citation in answer.citations:
        print(f"    - {describe(citation)}")


if __name__ == "__main__":
    main()
