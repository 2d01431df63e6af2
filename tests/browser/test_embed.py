"""The script for other people's pages: a Docusaurus-like site on another origin, one tag, the service through CORS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.serving import site
from tests.browser.test_reading import TAUGHT
from tests.surfaces.service import free_port

QUOTED = (
    "Ambrose Kell, who disliked talking, used to teach the matter by placing a seven-pound weight in a new apprentice’s"
    " hand and telling him to lower it to the bench as slowly as he could."
)

PAGE = """<!doctype html>
<html lang="en" data-theme="light">
  <head>
    <title>The Weight | Clock docs</title>
    <script src="{service}/chapterverse.js"
            data-index="clocks" data-label="Ask this manual" data-within="article" defer></script>
  </head>
  <body class="navigation-with-keyboard">
    <div id="__docusaurus">
      <nav class="navbar">Clock docs: do not ask about the bar</nav>
      <main class="docMainContainer"><article><div class="theme-doc-markdown markdown">
        <h1>The Weight</h1>
        <p>The cook keeps the book. Ambrose   Kell, who disliked <em>talking</em>, used to teach the matter by
        placing a seven-pound weight in a <strong>new</strong> apprentice’s
        hand and telling him to lower it to the bench as slowly as he could.</p>
        <p id="far">The drop is the height through which a weight may fall.</p>
      </div></article></main>
    </div>
  </body>
</html>"""
UNFRIENDLY = "<style>* { all: unset; display: none !important } body, html { display: block !important }</style>"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def foreign(context: BrowserContext, service: str, other_port: int) -> Iterator[Page]:
    weight = PAGE.format(service=service)
    with site({"/docs/weight": weight, "/docs/other": weight.replace("Kell", "Bell")}, other_port) as address:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{address}/docs/weight")
        page.get_by_role("button", name="Ask this manual").wait_for()
        yield page


def test_a_selection_is_asked_about_on_another_site(foreign: Page, service: str) -> None:
    foreign.locator("#far").click(click_count=3)
    foreign.get_by_role("button", name="Ask about this").click()
    expect(foreign.get_by_text("Only the selected text is used.")).to_be_visible()
    with foreign.expect_request(f"{service}/ask") as asked:
        foreign.get_by_label("Your question").fill("What is the drop?")
        foreign.keyboard.press("Enter")
    assert asked.value.post_data_json == {
        "question": "What is the drop?",
        "selected_text": "The drop is the height through which a weight may fall.",
    }
    expect(foreign.locator(".answer[data-status=ok]")).to_contain_text("the height through which a weight may fall")
    foreign.locator(".answer .chip").click()
    assert "height" in foreign.evaluate("getSelection().toString()")


def test_a_cited_quote_is_found_on_the_page_itself(foreign: Page) -> None:
    foreign.get_by_role("button", name="Ask this manual").click()
    foreign.get_by_label("Your question").fill(TAUGHT)
    foreign.keyboard.press("Enter")
    expect(foreign.locator(".answer .chip")).to_have_text("Ch. 3 · p. 12")
    foreign.locator(".answer .chip").click()
    assert " ".join(foreign.evaluate("getSelection().toString()").split()) == QUOTED


def test_a_quote_that_is_not_on_the_page_opens_the_book(foreign: Page, context: BrowserContext) -> None:
    foreign.goto(foreign.url.replace("weight", "other"))
    foreign.get_by_role("button", name="Ask this manual").click()
    foreign.get_by_label("Your question").fill(TAUGHT)
    foreign.keyboard.press("Enter")
    with context.expect_page() as opened:
        foreign.locator(".answer .chip").first.click()
    book = opened.value
    book.locator("mark.cited").first.wait_for()
    assert "".join(book.locator("mark.cited").all_text_contents()) == QUOTED


def test_only_the_text_that_is_meant_is_offered(foreign: Page) -> None:
    foreign.locator(".navbar").click(click_count=3)
    assert foreign.evaluate("getSelection().toString()")
    expect(foreign.get_by_role("button", name="Ask about this")).to_be_hidden()
    foreign.get_by_role("button", name="Ask this manual").click()
    expect(foreign.get_by_label("Your question")).to_be_focused()
    foreign.keyboard.press("Escape")
    expect(foreign.get_by_label("Your question")).to_be_hidden()


def test_the_page_s_styles_stay_out(context: BrowserContext, service: str, other_port: int) -> None:
    page_of_theirs = PAGE.format(service=service).replace("</head>", f"{UNFRIENDLY}</head>")
    page_of_theirs = page_of_theirs.replace("body, html", "body, html, chapterverse-ask")
    with site({"/": page_of_theirs}, other_port) as address:
        page = context.new_page()
        page.goto(address)
        button = page.get_by_role("button", name="Ask this manual")
        expect(button).to_have_css("cursor", "pointer")  # as soon as our own style sheet has come


def test_a_site_that_is_not_allowed_gets_nothing(context: BrowserContext, service: str) -> None:
    with site({"/": PAGE.format(service=service)}, free_port()) as address:
        page = context.new_page()
        with page.expect_event("console", lambda line: "CORS" in line.text or "403" in line.text):
            page.goto(address)
        assert page.locator("chapterverse-ask").count() == 0
