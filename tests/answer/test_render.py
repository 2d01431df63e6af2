"""A response with attribution, in four styles; what a book says never becomes markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from chapterverse.answer.cite import cite
from chapterverse.answer.gate import Passed
from chapterverse.answer.layout import gap
from chapterverse.answer.render import footnoted, format_response
from chapterverse.errors import AstRagValidationError
from chapterverse.types import Answer, AnswerSentence, Citation, Place
from tests.answer.test_cite import DOCUMENT, PASSAGE, located

CITATION = cite([Passed("x", "quote", (located("It had one hand."),))], [PASSAGE], {"book.md": DOCUMENT}.get).citations[
    0
]
EVIL = '<script>alert("x")</script> *bold* [a](javascript:x)'


def evil() -> Citation:
    return Citation("S1", "c", EVIL, 0, 1, EVIL, Place((EVIL,)), title=EVIL, source_url="javascript:alert(1)")


def test_text_names_each_source_with_its_quote() -> None:
    assert format_response("It had one hand.", [CITATION]) == (
        "It had one hand.\n\nSources:\n[S1] A Book, Chapter 1, Its hand, page v: “It had one hand.”"
    )


def test_an_answer_brings_its_own_sources() -> None:
    answer = Answer("?", "It had one hand.", "ok", None, (), (CITATION,), (), 0.9, "Good", "2026-01-01T00:00:00Z")
    assert format_response(answer) == format_response("It had one hand.", [CITATION])


def test_footnotes_stand_below_the_sentences_that_cite_them() -> None:
    said = (
        AnswerSentence("The book gives more than one answer.", "notice"),
        AnswerSentence("It had one hand.", "quote", (0,)),
        AnswerSentence("One\nTwo", "statement", (0, 1)),
    )
    answer = Answer("?", "…", "ok", None, said, (CITATION, CITATION), (), 0.9, "Good", "2026-01-01T00:00:00Z")
    assert footnoted(answer) == (
        "The book gives more than one answer. It had one hand. [1]\nOne\nTwo [1][2]\n\n"
        "[1] A Book, Chapter 1, Its hand, page v: “It had one hand.”\n"
        "[2] A Book, Chapter 1, Its hand, page v: “It had one hand.”"
    )
    assert footnoted(replace(answer, text="No.", sentences=(), citations=())) == "No."


def test_footnotes_of_a_hostile_book_load_nothing_and_lead_nowhere() -> None:
    text = "![seen](http://a.example/x.png) [a](http://a.example) <img src=x> 5 < 7 | 2*3*4 [sic]."
    citation = replace(evil(), quote=text)
    sentence = AnswerSentence(text, "quote", (0,))
    answer = Answer("?", text, "ok", None, (sentence,), (citation,), (), 0.9, "Good", "2026-01-01T00:00:00Z")
    shown = footnoted(answer)
    rendered = MarkdownIt("commonmark", {"html": True}).render(shown)
    assert not re.search(r"<(?!/?(?:p|em|strong)>)[a-z]", rendered), rendered
    assert "5 < 7 | 2*3*4 [sic]. [1]" in shown  # all else is as the book has it


def test_a_refusal_has_no_sources() -> None:
    assert format_response("This information is not available in the book", []) == (
        "This information is not available in the book"
    )


def test_markdown_links_and_escapes() -> None:
    shown = format_response("It had *one* hand.", [CITATION], "markdown")
    assert r"It had \*one\* hand." in shown
    assert "- **S1** [A Book, Chapter 1, Its hand, page v](<https://example.org/book>)" in shown
    assert "  > It had one hand." in shown


def test_markdown_of_a_hostile_book_renders_as_plain_text() -> None:
    page = MarkdownIt("commonmark").render(format_response(EVIL, [evil()], "markdown"))
    assert "<script>" not in page
    assert "<a " not in page
    assert "<em>" not in page
    assert page.count("[a](javascript:x)") == 3


def test_html_is_escaped() -> None:
    shown = format_response(EVIL, [evil(), CITATION], "html")
    assert "<script>" not in shown
    assert "javascript:alert" not in shown
    assert '<a href="https://example.org/book">' in shown
    assert shown.count("<li>") == shown.count("</li>") == 2


def test_json_can_be_read_back() -> None:
    data = json.loads(format_response("Yes.", [CITATION], "json"))
    assert data["response"] == "Yes."
    assert data["sources"][0]["quote"] == "It had one hand."


def test_the_contract_s_source_objects_and_plain_names_are_understood() -> None:
    source = {"id": "x1", "source_title": "A Book", "source_url": "https://example.org", "page": 4, "text": "one hand"}
    assert format_response("Yes.", [source, "selected text"]).splitlines()[3:] == [
        "[x1] A Book, page 4: “one hand”",
        "[S2] selected text",
    ]


def test_a_source_that_is_given_twice_is_named_once() -> None:
    assert format_response("Yes.", [CITATION, CITATION]).count("[S1]") == 1


def test_an_unknown_style_is_refused() -> None:
    with pytest.raises(AstRagValidationError, match="markdown"):
        format_response("Yes.", [], "pdf")


def test_rows_and_lists_are_lines_of_their_own() -> None:
    assert (gap("It is so.", "It is not."), gap("Tower | Drop", "Stennet | 48"), gap("These:\n\n1. One", "So.")) == (
        " ",
        "\n",
        "\n",
    )
