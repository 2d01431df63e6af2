"""Shows what Chapterverse does, on the book that comes with it. `make demo` runs this."""

from __future__ import annotations

import chapterverse


def main() -> None:
    book = chapterverse.read(chapterverse.sample_book())
    chunks = chapterverse.chunk(book)
    print(f"{book.title}, by {book.author}: {book.page_count} pages, {len(chunks)} chunks\n")
    for block in book.blocks:
        if block.kind == "heading" and len(block.headings) == 1:
            page = book.page_at(block.start)
            print(f"  {block.headings[0]:<50} p. {page.label if page else '?'}")


if __name__ == "__main__":
    main()
