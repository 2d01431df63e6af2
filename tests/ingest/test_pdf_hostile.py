"""PDF files that are scanned, encrypted, broken or made to do harm: refused with a reason, or read with a warning."""

from __future__ import annotations

import pytest

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats import pdf
from chapterverse.types import Document, ReadOptions
from tests.ingest import pdfs
from tests.ingest.reading import parse, reasons


def read(data: bytes, options: ReadOptions = ReadOptions()) -> Document:
    return parse(data, "book.pdf", options)


def test_pages_without_a_text_layer_are_reported_one_by_one_and_runs_are_folded() -> None:
    document = read(pdfs.scanned(["One.", None, "Three.", None, None, None, "Seven."]))
    assert [notice.reason for notice in document.notices] == [
        "page 2 has no text layer (scanned image): it is not indexed",
        "pages 4-6 have no text layer (scanned image): they are not indexed",
    ]
    assert [mark.page.number for mark in document.pages] == [1, 3, 7]


def test_a_file_without_any_text_layer_is_refused() -> None:
    with pytest.raises(UnreadableFileError, match="OCR") as caught:
        read(pdfs.scanned([None, None]))
    assert caught.value.reason == "no_text"


def test_a_password_opens_an_encrypted_file() -> None:
    document = read(pdfs.encrypted("stork"), ReadOptions(password="stork"))
    assert document.text == "The secret of the tower is the second key."
    for options, message in ((ReadOptions(), "--password"), (ReadOptions(password="heron"), "does not open")):
        with pytest.raises(UnreadableFileError, match=message) as caught:
            read(pdfs.encrypted("stork"), options)
        assert caught.value.reason == "encrypted"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("zero_byte", "empty"),
        ("looping_outline", "damaged"),
        ("garbage", "damaged"),
        ("header_only", "damaged"),
        ("encrypted", "encrypted"),
        ("truncated", "damaged"),
        ("flate_bomb", "bomb"),
        ("many_pages", "pages"),
        ("no_pages", "damaged"),
        ("unmapped_font", "no_text"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(name: str, reason: str) -> None:
    with pytest.raises(UnreadableFileError) as caught:
        pdf.parse(pdfs.HOSTILE[name](), Composer(), ReadOptions())
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("name", "text", "warning"),
    [
        ("broken_xref", "Read me although my table is wrong.", "cross-references are broken"),
        ("misplaced_xref", "Read me although my table is lost.", "cross-references are broken"),
        ("looping_page_tree", "A page below a tree that grows into itself.", "damaged content"),
        ("lost_page", "The first page is here.", "page 2 has damaged content"),
    ],
)
def test_what_can_be_repaired_is_read_with_a_warning(name: str, text: str, warning: str) -> None:
    document = read(pdfs.HOSTILE[name]())
    assert document.text == text
    assert warning in reasons(document)


def test_a_form_that_only_one_program_draws_is_refused() -> None:
    with pytest.raises(UnreadableFileError, match="XFA") as caught:
        read(pdfs.dynamic_form())
    assert caught.value.reason == "no_text"


def test_attached_files_are_reported() -> None:
    document = read(pdfs.with_attachment("The book."))
    assert document.text == "The book."
    assert reasons(document) == "the file has other files attached to it (1), which were not read"


def test_bombs_in_layers_are_seen_through() -> None:
    with pytest.raises(UnreadableFileError) as caught:
        read(pdfs.flate_bomb(layers=2))
    assert caught.value.reason == "bomb"


def test_a_form_that_draws_itself_once_is_read() -> None:
    assert read(pdfs.recursive_form(times=1)).text == "Before the form."


def test_intact_files_raise_no_warning() -> None:
    for data in (pdfs.book(2), pdfs.simple(pdfs.SENTENCES), pdfs.scanned(["One."])):
        assert reasons(read(data)) == ""
