"""Adding books on the page: progress, cancelling, and files that nobody should send."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.ingest.test_hostile import REFUSED

TOLLEN = "# The Toll-House\n\nThe toll-house of Tollen has a red door. It was painted in 1822 by Amos Birch.\n"
HOSTILE = (
    "encrypted.pdf", "cut off.docx", "nothing.txt", "zip bomb.docx", "xxe.docx", "up and out.epub", "scanned.pdf",
    "old.doc",
)  # fmt: skip
"""One for each reason; the tests of ingest have them all."""


@pytest.fixture
def shelf(page: Page, service: str) -> Page:
    page.goto(service)
    page.locator(".cover").first.wait_for()
    return page


def uploads(home: Path) -> list[Path]:
    return [path for path in (home / ".uploads").rglob("*") if path.is_file()]


def await_that(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_dropped_file_becomes_a_book_that_answers(shelf: Page) -> None:
    stages: list[str] = []
    shelf.expose_function("seen", lambda stage: stages.append(stage))
    shelf.evaluate(
        "() => new MutationObserver(() => seen(document.querySelector('.adding .state')?.textContent ?? ''))"
        ".observe(document.querySelector('.adding'), { childList: true, subtree: true, characterData: true })"
    )
    dropped = shelf.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'toll-house.md')); return data; }",
        TOLLEN,
    )
    shelf.dispatch_event(".drop", "drop", {"dataTransfer": dropped})
    shelf.get_by_role("link", name="The Toll-House").click()
    assert [stage for stage in dict.fromkeys(stages) if stage] == [
        "Waiting", "Sending", "Reading", "Indexing: 0 of 1 passages", "Indexing: 1 of 1 passages",
    ]  # fmt: skip
    shelf.get_by_label("Your question").fill("What colour is the door of the toll-house of Tollen?")
    shelf.keyboard.press("Enter")
    expect(shelf.locator(".answer[data-status]")).to_contain_text("red door")


def test_cancelling_leaves_nothing_behind(shelf: Page, service: str, home: Path) -> None:
    before = shelf.request.get(f"{service}/books").json(), uploads(home)
    words = " ".join(f"The wheel numbered {number} has {number % 60} teeth." for number in range(60_000))
    book = {"name": "wheels.txt", "mimeType": "text/plain", "buffer": words.encode()}
    shelf.locator("#file").set_input_files(book)
    row = shelf.locator(".adding li")
    expect(row.locator(".state")).to_contain_text("Indexing")
    row.get_by_role("button", name="Cancel").click()
    expect(row).to_have_count(0)
    await_that(lambda: uploads(home) == before[1])
    # An index is written by one at a time: that this one can be written shows that the other was let go.
    small = {"name": "wheels.txt", "mimeType": "text/plain", "buffer": b"A small book about one wheel."}
    shelf.locator("#file").set_input_files(small)
    expect(shelf.get_by_role("link", name="wheels")).to_be_visible()
    assert len(uploads(home)) == len(before[1]) + 1
    after = shelf.request.get(f"{service}/books").json()["shelves"]
    assert len(after) == len(before[0]["shelves"]) + 1


def test_hostile_files_say_why_and_change_nothing(shelf: Page, service: str, home: Path) -> None:
    before = shelf.request.get(f"{service}/books").json(), uploads(home)
    files = [{"name": name, "mimeType": "application/octet-stream", "buffer": REFUSED[name][1]()} for name in HOSTILE]
    shelf.locator("#file").set_input_files(files)
    rows = shelf.locator(".adding li")
    expect(shelf.locator(".adding .failed")).to_have_count(len(HOSTILE))
    for name, row in zip(HOSTILE, rows.all(), strict=True):
        expect(row.locator("strong")).to_have_text(name)
        said = row.get_by_role("alert").text_content() or ""
        assert _tells(REFUSED[name][0], said), (name, said)
        assert str(home) not in said
    assert (shelf.request.get(f"{service}/books").json(), uploads(home)) == before
    rows.first.get_by_role("button", name="Dismiss").click()
    expect(rows).to_have_count(len(HOSTILE) - 1)


_TELLING = {
    "encrypted": ("password", "encrypted", "protected", "DRM"),
    "damaged": ("damaged", "broken", "cut off", "not a"),
    "empty": ("empty",),
    "bomb": ("more than", "allowed", "deeper"),
    "entities": ("entities", "entity"),
    "traversal": ("outside", "leads", "path", "name"),
    "no_text": ("no text", "text layer", "scan"),
    "unsupported": ("not", "save it as", "read"),
}


def _tells(reason: str, said: str) -> bool:
    """Whether a message for people says what the reason for machines means."""
    return len(said) > 20 and any(word.lower() in said.lower() for word in _TELLING[reason.split()[0]])
