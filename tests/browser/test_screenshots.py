"""The README's pictures, made from the page as it is: each scene is checked whenever the tests run.

The files are only written by `make screenshots`, which names their folder in CHAPTERVERSE_SCREENSHOTS.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage, book_address
from tests.browser.test_reading import ABSENT, FOUNDED, TAUGHT, ask, select

IMAGES = Path(__file__).parents[2] / "docs" / "images"
HEAVIEST = 150_000
_COLOURS = 256


def picture(page: Page, name: str) -> None:
    """Take the picture, if somebody has asked for it; few colours are enough for a page of text."""
    folder = os.environ.get("CHAPTERVERSE_SCREENSHOTS")
    if not folder:
        return
    image = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    image.quantize(_COLOURS, dither=Image.Dither.NONE).save(Path(folder) / f"{name}.png", optimize=True)


@pytest.fixture
def wide(new_page: NewPage, service: str) -> Page:
    page = new_page(viewport={"width": 1360, "height": 850}, reduced_motion="reduce")
    page.goto(book_address(service))
    page.locator(".part h2").first.wait_for()
    return page


def test_an_answer_and_its_quote(wide: Page) -> None:
    ask(wide, FOUNDED)
    ask(wide, TAUGHT).locator(".chip").first.click()
    expect(wide.locator("mark.cited").first).to_be_in_viewport()
    expect(wide.locator(".side")).to_have_count(2)
    expect(wide.locator(".contents .here")).to_contain_text("Where the Power Comes From")
    wide.mouse.move(0, 0)
    picture(wide, "answer")


def test_a_passage_to_ask_about(wide: Page) -> None:
    select(wide.get_by_text("Harrow Vale is eleven miles long"))
    expect(wide.get_by_role("button", name="Ask about this")).to_be_in_viewport()
    picture(wide, "selection")


def test_a_refusal_in_the_dark(new_page: NewPage, service: str) -> None:
    page = new_page(viewport={"width": 1360, "height": 850}, color_scheme="dark", reduced_motion="reduce")
    page.goto(book_address(service))
    page.locator(".part h2").first.wait_for()
    expect(ask(page, ABSENT).locator(".related .chip").first).to_be_in_viewport()
    page.get_by_role("button", name="The Drop 12").click()
    expect(page.get_by_role("heading", name="The Drop", exact=True)).to_be_in_viewport()
    picture(page, "refusal")


def test_a_phone(new_page: NewPage, service: str) -> None:
    page = new_page(viewport={"width": 390, "height": 760}, has_touch=True, is_mobile=True, reduced_motion="reduce")
    page.goto(book_address(service))
    card = ask(page, TAUGHT)
    expect(card.locator(".chip")).to_be_in_viewport()
    picture(page, "phone")


def test_the_pictures_are_there_and_light() -> None:
    for name in ("answer", "selection", "refusal", "phone"):
        assert (IMAGES / f"{name}.png").stat().st_size < HEAVIEST
