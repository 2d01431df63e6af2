"""What must never happen on the page, and what must always be possible on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from chapterverse.answer.prompts import SEARCH_FAILED
from chapterverse.library import AsyncLibrary, Library
from chapterverse.settings import ServiceSettings, Settings
from tests.browser.conftest import HARMFUL_BOOK, NewPage, book_address
from tests.browser.test_reading import ABSENT, TAUGHT, ask
from tests.surfaces.service import served, small_library, write_books

LIGHTEST = 150_000
"""Bytes that the whole page may take, book text aside."""
BROKEN = """
const answer = window.fetch;
window.fetch = async (url, options) => {
  if (!String(url).endsWith("/ask")) return answer(url, options);
  let pulled = 0;
  const pull = (controller) =>
    pulled++ ? controller.error(new TypeError("network error"))
      : controller.enqueue(new TextEncoder().encode('event: stage\\ndata: {"stage": "draft"}\\n\\n'));
  return new Response(new ReadableStream({ pull }));
};
"""


def test_a_book_full_of_scripts_is_harmless(page: Page, service: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a book opened a dialog: {dialog.message}"))
    page.goto(service)
    page.get_by_role("link", name="<script>window.harmed = 1</script>").click()
    page.locator(".part pre").wait_for()
    text = page.locator(".part").text_content() or ""
    for line in HARMFUL_BOOK.replace("&lt;", "<").splitlines():
        assert line.strip("#-`| ") in text
    card = ask(page, "How much does the bell of Tollen weigh <img src=x onerror='window.harmed=8'>?")
    expect(card.get_by_role("heading").first).to_contain_text("<img src=x")
    assert page.locator("main script, main img, main svg, .part a").count() == 0
    assert page.evaluate("window.harmed") is None


def test_the_policy_lets_nothing_else_run(browser: Browser, service: str) -> None:
    with browser.new_context() as context:  # of its own: here the browser says what it blocks
        _try_to_run(context.new_page(), service)


def _try_to_run(page: Page, service: str) -> None:
    response = page.goto(service)
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "unsafe" not in policy
    for part in ("default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"):
        assert part in policy
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! type=\"module\" src=)", response.text())
    blocked = page.evaluate("() => { try { document.body.innerHTML = '<p>'; return false } catch { return true } }")
    assert blocked


def test_the_page_is_light_and_stays_on_its_origin(new_page: NewPage, service: str) -> None:
    page = new_page()
    weights: dict[str, int] = {}
    page.on("requestfinished", lambda request: weights.update({request.url: sum(request.sizes().values())}))
    page.goto(book_address(service))
    page.locator(".part h2").first.wait_for()
    ask(page, TAUGHT)
    page.wait_for_load_state("networkidle")
    own = {url: weight for url, weight in weights.items() if not url.startswith((f"{service}/books", f"{service}/ask"))}
    assert f"{service}/static/main.js" in own
    assert sum(own.values()) < LIGHTEST
    assert all(url.startswith(f"{service}/") for url in weights)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_nothing_serious(new_page: NewPage, service: str, scheme: str, width: int) -> None:
    page = new_page(color_scheme=scheme, viewport={"width": width, "height": 800}, reduced_motion="reduce")
    page.goto(service)
    page.locator(".cover").first.wait_for()
    assert serious(page) == []
    page.goto(book_address(service))
    page.locator(".part h2").first.wait_for()
    ask(page, TAUGHT).locator(".chip").first.click()
    ask(page, ABSENT)
    page.get_by_text("Harrow Vale is eleven miles long").evaluate("text => getSelection().selectAllChildren(text)")
    page.locator(".selection-bar").wait_for()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    assert serious(page) == []


def serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {[node['html'] for node in one['nodes']]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_an_unreachable_store_is_told_with_a_way_on(browser: Browser) -> None:
    library = AsyncLibrary(Settings(QDRANT_URL="http://127.0.0.1:9"))
    with served(library) as client, browser.new_context() as context:
        page = context.new_page()
        page.goto(str(client.base_url))
        expect(page.get_by_role("alert")).to_have_text(SEARCH_FAILED)
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("alert")).to_have_text(SEARCH_FAILED)


def test_an_index_that_cannot_be_opened_is_told_of(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Library(Settings(home=home)) as library:
        library.add(write_books(tmp_path / "books"), index="torn")
    (home / "torn" / "manifest.json").write_text("{")
    with served(AsyncLibrary(Settings(home=home))) as client, browser.new_context() as context:
        page = context.new_page()
        page.goto(str(client.base_url))
        expect(page.locator(".shelves .trouble")).to_contain_text("torn cannot be opened: The manifest of the index")
        expect(page.get_by_text("There is no book here yet")).to_have_count(0)
        assert str(tmp_path) not in page.content()


def test_an_answer_that_breaks_off_says_so(browser: Browser, service: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        # As when the service is killed: some of the answer has come, then the connection is gone.
        page.add_init_script(BROKEN)
        page.goto(book_address(service))
        expect(ask(page, TAUGHT).get_by_role("alert")).to_have_text("The answer broke off. Please ask again.")


def test_a_browser_that_may_keep_nothing_shows_the_page(new_page: NewPage, service: str) -> None:
    page = new_page()
    for storage in ("localStorage", "sessionStorage"):
        refused = "get() { throw new DOMException('Access is denied', 'SecurityError') }"
        page.add_init_script(f"Object.defineProperty(window, '{storage}', {{ {refused} }})")
    page.goto(service)
    expect(page.get_by_role("link", name="The Clocks of Harrow Vale")).to_be_visible()
    page.keyboard.press("d")
    expect(page.get_by_role("button", name="Theme: light. Change it")).to_be_visible()


def test_a_book_that_is_gone_leads_back_to_the_others(browser: Browser, service: str) -> None:
    with browser.new_context() as context:  # of its own: here the browser says that a request failed
        page = context.new_page()
        page.goto(book_address(service, "clocks", "gone.pdf"))
        expect(page.get_by_role("heading", name="This book is not here")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("gone.pdf")
        page.get_by_role("link", name="All books", exact=True).click()
        expect(page.get_by_role("heading", name="Ask a book.")).to_be_visible()


def test_a_question_that_fails_can_be_asked_again(browser: Browser, service: str) -> None:
    with browser.new_context() as context:  # of its own: here the browser says that a request failed
        page = context.new_page()
        page.goto(book_address(service))
        page.route("**/ask", lambda route: route.fulfill(status=503, json={"detail": SEARCH_FAILED}), times=1)
        card = ask(page, TAUGHT)
        expect(card.get_by_role("alert")).to_have_text(SEARCH_FAILED)
        card.get_by_role("button", name="Ask again").click()
        expect(page.locator(".answer .chip")).to_have_text("Ch. 3 · p. 12")
        page.route("**/ask", lambda route: route.abort(), times=1)
        expect(ask(page, ABSENT).get_by_role("alert")).to_contain_text("Is “chapterverse serve” still running?")


def test_a_service_with_a_key_asks_for_it(browser: Browser, tmp_path: Path) -> None:
    service = ServiceSettings(api_key="sixteen characters", read_only=True)
    with served(small_library(tmp_path), service) as client, browser.new_context() as context:
        page = context.new_page()
        page.goto(str(client.base_url))
        expect(page.get_by_role("heading", name="This library has a key")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("Enter the key")
        key = page.get_by_label("Key", exact=True)
        held: list[Route] = []
        page.route("**/books", lambda route: held.append(route), times=1)
        key.fill("wrong")
        with page.expect_request("**/books"):
            key.press("Enter")
        expect(key).to_be_disabled()  # until the answer comes: what is typed meanwhile would be lost
        while not held:  # the request is told of before it is handed over
            page.wait_for_timeout(10)
        held[0].continue_()
        expect(page.get_by_role("alert")).to_contain_text("does not open it")
        key.fill("sixteen characters")
        key.press("Enter")
        expect(page.get_by_role("heading", name="Ask a book.")).to_be_visible()
        expect(page.locator(".drop")).to_have_count(0)
