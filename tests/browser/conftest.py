"""One browser and one service for all tests of the page; a page of its own for each, which must not misbehave."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from chapterverse.library import AsyncLibrary, Library
from chapterverse.settings import ServiceSettings, Settings
from tests.clocks import INDEX, new_home
from tests.surfaces.service import free_port, served

CLOCKS = "the-clocks-of-harrow-vale.pdf"
ODD = "odd.md"
HARMFUL = "harmful.md"

ODD_BOOK = """\
# Odd \U0001f570\ufe0f signs

The \U0001f468\u200d\U0001f469\u200d\U0001f467 family keeps the clock. It strikes \U00010348 times a day.

دقت ساعة البرج منتصف الليل.

| Tower | Drop |
|---|---|
| Stennet \U0001f514 | 48 |
| Tollen | 36 |

After the table the \U0001f570\ufe0f clock stops.
"""
HARMFUL_BOOK = """\
# &lt;script>window.harmed = 1&lt;/script>

The bell of Tollen weighs &lt;script>window.harmed = 2&lt;/script> eleven hundredweight.

```
<script>window.harmed = 3</script><img src=x onerror="window.harmed = 4"><a href="javascript:window.harmed=5">x</a>
```

- &lt;svg onload="window.harmed = 6">
- {{constructor.constructor('window.harmed = 7')()}}
"""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample book, and two that are hard to show."""
    home = new_home(tmp_path_factory)
    books = tmp_path_factory.mktemp("books")
    (books / ODD).write_text(ODD_BOOK)
    (books / HARMFUL).write_text(HARMFUL_BOOK)
    with Library(Settings(home=home)) as library:
        library.add(books, index="hard")
    return home


@pytest.fixture(scope="session")
def other_port() -> int:
    """The port of somebody else's site, which the service lets in."""
    return free_port()


@pytest.fixture(scope="session")
def library(home: Path) -> AsyncLibrary:
    return AsyncLibrary(Settings(home=home))


@pytest.fixture(scope="session")
def service(library: AsyncLibrary, other_port: int) -> Iterator[str]:
    """The service's address; it takes its time where the machine is busy."""
    settings = ServiceSettings(deadline=120, origins=(f"http://127.0.0.1:{other_port}",))
    with served(library, settings) as client:
        yield str(client.base_url).rstrip("/")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = os.environ.get("CHAPTERVERSE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.fail(
            "The tests of the reading page need Chromium: `apt-get install chromium`, or any Chromium or Chrome"
            " whose path CHAPTERVERSE_CHROMIUM names.",
            pytrace=False,
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


_PATIENCE = 60_000
"""Milliseconds until something that does not come counts as missing; a busy machine is no failure."""
expect.set_options(timeout=_PATIENCE)

NewPage = Callable[..., Page]


@pytest.fixture
def new_page(browser: Browser, service: str) -> Iterator[NewPage]:
    """Opens pages; afterwards none of them may have thrown, warned, or talked to anything but the service."""
    contexts, troubles = [], []

    def check(request: Request) -> None:
        if not request.url.startswith((service, "blob:", "data:")):
            troubles.append(f"left the origin: {request.url}")

    def hear(line: ConsoleMessage) -> None:
        refused = "status of 422" in line.text  # a book cannot be read, and Chromium says so
        if line.type in ("error", "warning") and not refused:
            troubles.append(f"said: {line.text}")

    def open_page(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        page.on("request", check)
        page.on("pageerror", lambda error: troubles.append(f"threw: {error}"))
        page.on("console", hear)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def page(new_page: NewPage) -> Page:
    return new_page()


@pytest.fixture
def book(page: Page, service: str) -> Page:
    """The sample book, open."""
    page.goto(book_address(service))
    page.locator(".part h2").first.wait_for()
    return page


def book_address(service: str, index: str = INDEX, file: str = CLOCKS, at: str | None = None) -> str:
    return f"{service}/#index={index}&file={file}" + (f"&at={at}" if at else "")
