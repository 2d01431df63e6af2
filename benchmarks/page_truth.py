"""Whether sentences stand on the pages that Chapterverse says: checked against poppler, page by page.

    python benchmarks/page_truth.py --data DIR [--count 50] [--seed 1]

Needs `pdftotext` (Debian: poppler-utils). From the sample book and each PDF in DIR, draws random sentences and looks
for each in poppler's text of the pages that its place claims; every chunk that holds it must claim these pages too.
White space, hyphens and dot leaders are ignored, since the two break lines and undo hyphenation differently; the row
of a table is true when all its cells are found. Prints the rate for each book and every miss; any miss is exit code 1.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

from chapterverse import Chunk, Document, chunk, read, sample_book
from chapterverse.ingest.sentences import Span, sentences

_SHORT = 20
"""Shorter sentences are on many pages by chance."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Page truth of PDFs, checked with poppler.")
    parser.add_argument("--data", type=Path, help="a folder of PDFs")
    parser.add_argument("--count", type=int, default=50, help="sentences of each book (50); 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.data and not options.data.is_dir():
        parser.error(f"--data: there is no folder {str(options.data)!r}")
    if shutil.which("pdftotext") is None:
        parser.error("pdftotext is needed; Debian has it in poppler-utils")
    paths = [sample_book(), *(sorted(options.data.glob("*.pdf")) if options.data else ())]
    sys.exit(sum(_check(path, options.count, options.seed) for path in paths) > 0)


def _check(path: Path, count: int, seed: int) -> int:
    """Print what is found of one book; returns the number of misses."""
    document = read(path)
    chunks = chunk(document)
    pages = _pages(path)
    spans = [span for span in sentences(document) if span.end - span.start >= _SHORT]
    picked = random.Random(seed).sample(spans, min(count, len(spans))) if count else spans
    misses = [(span, why) for span in picked if (why := _fault(document, chunks, span, pages))]
    print(f"{path.name}: {len(picked) - len(misses)} of {len(picked)} sentences are on the pages claimed")
    for span, why in misses:
        print(f"  {why}: {document.text[span.start : span.end]!r}")
    return len(misses)


def _fault(document: Document, chunks: list[Chunk], span: Span, pages: list[list[str]]) -> str | None:
    place = document.place(*span)
    if place.first_page is None or place.last_page is None:
        return "no page claimed"
    first, last = place.first_page.number or 0, place.last_page.number or 0
    for held in chunks:
        if held.start <= span.start and span.end <= held.end and held.place.first_page and held.place.last_page:
            starts, ends = held.place.first_page.number or 0, held.place.last_page.number or 0
            if not starts <= first <= last <= ends:
                return f"its chunk claims pages {starts}-{ends}, it {first}-{last}"
    text = document.text[span.start : span.end]
    is_row = document.blocks[document.block_index(span.start)].kind == "table"
    for part in text.split(" | ") if is_row else [text]:
        if not any(_found(letters(part), way[first - 1], way[last - 1]) for way in pages):
            elsewhere = [number for number, page in enumerate(pages[0], 1) if letters(text) in page]
            return f"page {first}" + (f"-{last}" if last > first else "") + f", poppler finds it on {elsewhere}"
    return None


def _found(part: str, first: str, last: str) -> bool:
    """Whether a page holds a part, or one page its beginning and another its end."""
    if first == last:
        return part in first
    return any(part[:cut] in first and part[cut:] in last for cut in range(len(part)))


def _pages(path: Path) -> list[list[str]]:
    """Each page's letters as poppler reads them, by layout and in the order of the file."""
    ways = []
    for way in ([], ["-raw"]):
        done = subprocess.run(["pdftotext", *way, str(path), "-"], capture_output=True, check=True)
        ways.append([letters(page) for page in done.stdout.decode().split("\f")])
    return ways


def letters(text: str) -> str:
    """Letters, digits and signs without what two extractors write differently."""
    return re.sub(r"(?:\s?[.·_…]){3,}|[\s\u00ad\u2010\u2011•|[\]…-]+", "", unicodedata.normalize("NFKC", text))


if __name__ == "__main__":
    main()
