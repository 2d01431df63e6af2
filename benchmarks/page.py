"""How fast the reading page is, in a real browser on this machine: `python benchmarks/page.py [--json]`.

A book of 300 pages is made, indexed and served on loopback; the clock is the browser's own. First paint and text are
those of a cold load with an empty cache; a click on a citation ends when the highlighted sentence is on the screen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen.canvas import Canvas

from chapterverse.library import AsyncLibrary
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.http import create_app
from chapterverse.types import Document

PAGES, LINES, CHAPTER = 300, 34, 15
LOADS, CLICKS = 7, 40
WORDS = "the wheel of an old clock turns slowly under its weight while a keeper walks through valley towers".split()

_CLICKED = """number => new Promise(done => {
    const chip = document.querySelectorAll(".chip")[number];
    const began = performance.now();
    const look = () => {
        const mark = document.querySelector("mark.cited");
        const box = mark?.getBoundingClientRect();
        if (!box || box.top < 0 || box.bottom > innerHeight || !chip.title) return requestAnimationFrame(look);
        requestAnimationFrame(() => done(performance.now() - began));
    };
    for (const old of document.querySelectorAll("mark.cited")) old.classList.remove("cited");
    chip.click();
    requestAnimationFrame(look);
})"""


def write_book(path: Path) -> None:
    """A PDF with chapters, whose words mean nothing."""
    choose = random.Random(7)
    canvas = Canvas(str(path), pagesize=A5)
    canvas.setTitle("Three hundred pages")
    for page in range(PAGES):
        text = canvas.beginText(40, A5[1] - 60)
        if page % CHAPTER == 0:
            text.setFont("Times-Bold", 20)
            text.textLine(f"Chapter {page // CHAPTER + 1}")
        text.setFont("Times-Roman", 11)
        for _ in range(LINES):
            text.textLine(" ".join(choose.choices(WORDS, k=11)).capitalize() + ".")
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()


@contextmanager
def serve(home: Path, port: int) -> Iterator[tuple[str, Document]]:
    """The service with the book in it."""
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    library = AsyncLibrary(Settings(home=home / "indexes", embedding="fake"), embeddings=embeddings)
    write_book(home / "long.pdf")
    document = asyncio.run(_indexed(library, home / "long.pdf"))
    server = uvicorn.Server(uvicorn.Config(create_app(library, ServiceSettings()), port=port, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/", document
    server.should_exit = True
    thread.join()


async def _indexed(library: AsyncLibrary, path: Path) -> Document:
    await library.add(path, index="long")
    return await library.document("long.pdf", "long")


def load(browser: Browser, address: str) -> dict[str, float]:
    """One cold load: milliseconds from the start of the navigation, and what came over the wire."""
    page = browser.new_page()
    sizes: list[tuple[str, int]] = []
    page.on("requestfinished", lambda one: sizes.append((one.url, sum(one.sizes().values()))))
    page.goto(f"{address}#index=long&file=long.pdf")
    page.locator(".part h2").first.wait_for()
    page.wait_for_load_state("networkidle")
    times = page.evaluate(
        """() => ({
            first_paint_ms: performance.getEntriesByName("first-contentful-paint")[0].startTime,
            text_ms: performance.getEntriesByName("chapterverse-shown")[0].startTime,
        })"""
    )
    own = sum(size for url, size in sizes if "/books/" not in url)
    page.close()
    return {**times, "page_bytes": own}


def clicks(page: Page, address: str, document: Document) -> list[float]:
    """Milliseconds from each click on a citation, all over the book, to its sentence on the screen."""
    choose = random.Random(11)
    starts = sorted(choose.sample([block.start for block in document.blocks if block.kind == "paragraph"], CLICKS))
    answer = _answer(document, choose.sample(starts, CLICKS))
    body = f"event: answer\ndata: {json.dumps(answer)}\n\n"
    page.route("**/ask", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    page.goto(f"{address}#index=long&file=long.pdf")
    page.get_by_label("Your question").fill("Where?")
    page.keyboard.press("Enter")
    page.locator(".chip").nth(CLICKS - 1).wait_for()
    page.wait_for_load_state("networkidle")
    return [page.evaluate(_CLICKED, number) for number in range(CLICKS)]


def _answer(document: Document, starts: list[int]) -> dict[str, Any]:
    citations = [
        {
            "number": number, "file_id": document.file_id, "start": start, "end": start + 60, "title": document.title,
            "quote": document.text[start : start + 60], "chapter": f"Chapter {number}", "section": None,
            "page": None, "page_label": None, "slide": None,
        }
        for number, start in enumerate(starts, 1)
    ]  # fmt: skip
    sentences = [{"text": one["quote"], "kind": "quote", "citations": [one["number"]]} for one in citations]
    return {"answer": "", "status": "ok", "grounded": True, "confidence": 0.9, "citations": citations,
            "sentences": sentences, "matched_chunks": []}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--port", type=int, default=8099)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as home,
        serve(Path(home), options.port) as (address, document),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        loads = [load(browser, address) for _ in range(LOADS)]
        clicked = clicks(browser.new_page(), address, document)
        browser.close()
    found = {name: round(statistics.median(one[name] for one in loads), 1) for name in loads[0]}
    found["click_ms"] = round(statistics.median(clicked), 1)
    found["click_p95_ms"] = round(sorted(clicked)[int(len(clicked) * 0.95) - 1], 1)
    found["pages"], found["characters"] = document.page_count or 0, len(document.text)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:16} {value:>10,}")


if __name__ == "__main__":
    main()
