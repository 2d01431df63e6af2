"""The reading page as a reader uses it: a real browser, the real service, the sample book."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from chapterverse.answer.prompts import NOT_IN_BOOK
from chapterverse.library import Library
from chapterverse.types import Document
from tests.browser.conftest import CLOCKS, ODD, NewPage, book_address
from tests.clocks import INDEX

TAUGHT = "How did Ambrose Kell teach his apprentices?"
FOUNDED = "In what year was the clockmakers' Guild established?"
ABSENT = "What did Ambrose Kell eat for breakfast?"


@pytest.fixture(scope="session")
def clocks_document(clocks: Library) -> Document:
    return clocks.document(CLOCKS)


def ask(page: Page, question: str) -> Locator:
    """Ask in the box; the finished card of the answer."""
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    card = page.get_by_label(f"Answer to: {question}").first
    card.and_(page.locator("[data-status]")).wait_for()
    return card


def marked(page: Page, name: str = "cited") -> str:
    page.locator(f"mark.{name}").first.wait_for()
    return "".join(page.locator(f"mark.{name}").all_text_contents())


def select(paragraph: Locator) -> str:
    """Select a paragraph as a reader does: three clicks."""
    paragraph.click(click_count=3, position={"x": 40, "y": 10})
    return paragraph.text_content() or ""


def test_the_library_opens_a_book(page: Page, service: str) -> None:
    page.goto(service)
    page.get_by_role("link", name="The Clocks of Harrow Vale").click()
    expect(page.get_by_role("heading", name="Chapter 1: The Valley That Needed Clocks")).to_be_attached()
    expect(page).to_have_title("The Clocks of Harrow Vale · Chapterverse")
    expect(page.locator("#where")).to_contain_text("p. i")
    page.get_by_role("navigation", name="Contents").get_by_role("button", name="The Drop 12").click()
    expect(page.locator("#where")).to_contain_text("The Drop")
    expect(page.get_by_role("heading", name="The Drop", exact=True)).to_be_in_viewport()


def test_the_text_on_the_page_is_the_stored_text(book: Page, clocks_document: Document) -> None:
    parts = book.locator(".part")
    for number in range(parts.count()):
        parts.nth(number).scroll_into_view_if_needed()
        parts.nth(number).locator("p").first.wait_for()
    assert "".join(parts.all_text_contents()) == clocks_document.text
    labels = book.locator(".page-mark").evaluate_all("marks => marks.map(mark => mark.dataset.name)")
    assert labels == [f"p. {mark.page.label}" for mark in clocks_document.pages]


def test_an_answer_comes_in_sentences_and_its_chip_leads_to_the_quote(book: Page, service: str) -> None:
    with book.expect_response("**/ask") as asked:
        card = ask(book, TAUGHT)
    assert asked.value.headers["content-type"].startswith("text/event-stream")
    answer = book.request.post(f"{service}/ask", data={"question": TAUGHT, "index": INDEX}).json()
    expect(card).to_contain_text("Ambrose Kell")
    expect(card.get_by_role("meter")).to_have_attribute("aria-valuenow", str(round(answer["confidence"] * 100)))
    chip = card.get_by_role("button", name="Show in the book").first
    expect(chip).to_have_text("Ch. 3 · p. 12")
    chip.click()
    assert marked(book) == answer["citations"][0]["quote"]
    expect(book.locator("mark.cited").first).to_be_in_viewport()
    expect(book.locator("#where")).to_contain_text("p. 12")


def test_a_link_to_a_quote_opens_the_book_there(page: Page, service: str, clocks_document: Document) -> None:
    start = clocks_document.text.index("Tower | Going weight")
    end = clocks_document.text.index("Drums, Lines")  # a table, a caption and what stands between them
    page.goto(book_address(service, at=f"{start}-{end}"))
    assert marked(page) == clocks_document.text[start:end]
    expect(page.locator("mark.cited").first).to_be_in_viewport()


def test_offsets_are_right_beyond_the_first_plane(page: Page, service: str, library_text: str) -> None:
    for quote in (
        "It strikes \U00010348 times a day.",
        "Stennet \U0001f514 | 48\nTollen",
        "After the table the \U0001f570",
    ):
        start = library_text.index(quote)
        page.goto(book_address(service, "hard", ODD, f"{start}-{start + len(quote)}"))
        expect(page.locator("mark.cited").first).to_contain_text(quote[:8])
        assert marked(page) == quote


@pytest.fixture
def library_text(page: Page, service: str) -> str:
    response = page.request.get(f"{service}/books/text?index=hard&file={ODD}&part=0")
    text: str = response.json()["text"]
    return text


def test_selected_text_is_asked_about_alone(book: Page) -> None:
    passage = select(book.get_by_text("Harrow Vale is eleven miles long"))
    book.get_by_role("button", name="Ask about this").click()
    expect(book.get_by_role("complementary").get_by_text("Only the selected text is used.")).to_be_visible()
    assert marked(book, "asked") == passage
    with book.expect_request("**/ask") as asked:
        card = ask(book, "How long is Harrow Vale?")
    assert asked.value.post_data_json == {"question": "How long is Harrow Vale?", "selected_text": passage}
    expect(card).to_contain_text("eleven miles long")
    expect(card).to_contain_text("Only your selection was used")
    card.get_by_role("button", name="Show in the book: your selection").click()
    assert "eleven miles long" in marked(book)
    assert marked(book) in passage
    book.get_by_role("button", name="Ask the whole book instead").click()
    expect(book.locator("mark.asked")).to_have_count(0)


def test_a_selection_over_a_table_is_the_stored_text(page: Page, service: str, library_text: str) -> None:
    page.goto(book_address(service, "hard", ODD))
    start, end = page.locator(".part td").first, page.locator(".part p").last
    start.wait_for()
    page.evaluate(
        "([a, b]) => getSelection().setBaseAndExtent(a.firstChild, 0, b.lastChild, 9)",
        [start.element_handle(), end.element_handle()],
    )
    page.get_by_role("button", name="Ask about this").click()
    wanted = library_text[library_text.index("Tower") : library_text.index("After the") + 9]
    assert marked(page, "asked") == wanted


def test_a_refusal_is_plain_and_offers_what_is_near(book: Page) -> None:
    card = ask(book, ABSENT)
    expect(card).to_have_attribute("data-status", "refused")
    expect(card.locator(".refusal")).to_have_text(NOT_IN_BOOK)
    expect(card.get_by_role("heading", name="Related, but it does not answer")).to_be_visible()
    expect(card.get_by_role("meter")).to_have_count(0)
    passage = (card.locator(".related q").first.text_content() or "").rstrip("…")
    card.locator(".related .chip").first.click()
    assert passage in " ".join(marked(book).split())


def test_a_chapter_that_is_not_there_is_told_of(book: Page) -> None:
    card = ask(book, "What happens in Chapter 99?")
    expect(card.locator(".reason")).to_contain_text("there is no chapter or section 'chapter 99'; there are")


def test_a_contradiction_is_shown_side_by_side(book: Page) -> None:
    card = ask(book, FOUNDED)
    expect(card).to_have_attribute("data-status", "conflict")
    first, second = card.locator(".side").all()
    expect(first).to_contain_text("1687")
    expect(second).to_contain_text("1691")
    expect(first.locator(".chip")).to_have_text("Ch. 2 · p. 6")
    expect(second.locator(".chip")).to_have_text("Ch. 9 · p. 45")
    left, right = first.bounding_box(), second.bounding_box()
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]


def test_copies_carry_their_citations(new_page: NewPage, service: str) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(book_address(service))
    ask(page, TAUGHT).get_by_role("button", name="Copy with citations").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("“Ambrose Kell")
    assert "[1] The Clocks of Harrow Vale, Chapter 3: The Weight and the Drop" in copied
    select(page.get_by_text("Harrow Vale is eleven miles long"))
    page.get_by_role("button", name="Copy with citation", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("Copied with its citation")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith(
        "— Wilhelmina Tarrant, The Clocks of Harrow Vale, Chapter 1: The Valley That Needed Clocks, p. 1"
    )


def test_keys_are_enough(page: Page, service: str) -> None:
    page.goto(service)
    link = page.get_by_role("link", name="The Clocks of Harrow Vale")
    link.wait_for()
    for _ in range(20):
        if link.evaluate("link => link === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(".part h2").first.wait_for()
    assert page.evaluate("document.activeElement.id") == "main", "the link that had the focus is gone"
    expect(page.get_by_role("status")).to_contain_text("The Clocks of Harrow Vale")
    page.keyboard.press("/")
    page.keyboard.type(TAUGHT)
    page.keyboard.press("Enter")
    page.locator(".answer .chip").first.wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    assert marked(page).startswith("Ambrose Kell")
    page.keyboard.press("]")
    expect(page.get_by_role("heading", name="Chapter 4: Wheels, Teeth and the Stork")).to_be_in_viewport()
    page.keyboard.press("j")
    page.keyboard.press("j")
    current = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("a")
    assert marked(page, "asked") == current
    page.keyboard.press("Escape")
    expect(page.locator("mark.asked")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("b")
    expect(page.get_by_role("heading", name="Ask a book.")).to_be_visible()


def test_a_phone_has_room_for_all_of_it(new_page: NewPage, service: str) -> None:
    page = new_page(viewport={"width": 360, "height": 700}, has_touch=True, is_mobile=True)
    page.goto(book_address(service))
    page.locator(".part h2").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    card = ask(page, TAUGHT)
    expect(card).to_be_in_viewport()
    card.locator(".chip").first.tap()
    marked(page)
    expect(page.locator("mark.cited").first).to_be_in_viewport()
    expect(card).to_be_hidden()  # the sheet has made room for the text
    page.get_by_role("button", name="Contents").tap()
    page.get_by_role("button", name="Chapter 5: The Five Towers").tap()
    expect(page.get_by_role("heading", name="Chapter 5: The Five Towers")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_dark_is_dark_and_stays_so(page: Page, service: str) -> None:
    page.goto(service)
    page.locator(".cover").first.wait_for()
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    page.locator(".cover").first.wait_for()
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert sum(map(int, dark[4:-1].split(", "))) < 100 < sum(map(int, light[4:-1].split(", ")))
