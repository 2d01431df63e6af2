"""Scopes: said outright or in the question's own words."""

from __future__ import annotations

import pytest

from chapterverse.answer.scope import (
    FULL_BOOK,
    QueryScope,
    asked_there,
    may_be_elsewhere,
    named_scope,
    number_of,
    parse_scope,
    resolve_names,
    resolve_scope,
    without_scope,
)
from chapterverse.errors import InvalidQueryError
from chapterverse.types import Filter

BOOK = [
    ("The Clocks",),
    ("The Clocks", "Preface"),
    ("Chapter 1: A Valley",),
    ("Chapter 2: The Guild",),
    ("Chapter 3: The Weight",),
    ("Chapter 3: The Weight", "The Drop"),
    ("Chapter 13: The End",),
    ("Appendix B",),
]


@pytest.mark.parametrize(
    ("question", "kind", "identifier"),
    [
        ("What is the main theme of Chapter 3?", "section-specific", "chapter 3"),
        ("what does ch. 12 say about bells", "section-specific", "chapter 12"),
        ("In chapter three, who winds it?", "section-specific", "chapter three"),
        ("Who speaks in Chapter XIV?", "section-specific", "chapter XIV"),
        ("What is shown on slide 7?", "section-specific", "slide 7"),
        ("What stands on page 45?", "page-specific", "45"),
        ("What does p. iv promise?", "page-specific", "iv"),
        ("Summarise pages 12-15", "page-specific", "12-15"),
        ("What does section 3.2 require?", "section-specific", "section 3.2"),
        ("What happens in the third chapter?", "section-specific", "chapter 3"),
        ("Who founded the Guild?", "full-book", None),
        ("How many pages does the ledger have?", "full-book", None),
        ("Which chapter tells of bells?", "full-book", None),
        ("Is this page torn?", "full-book", None),
        ("What part did Kell play?", "full-book", None),
        ("What part a mentor plays is told where?", "full-book", None),
        ("What is in Part A?", "section-specific", "part A"),
        ("What does appendix b list?", "section-specific", "appendix b"),
        ("What does chapter v tell?", "section-specific", "chapter v"),
        ("In the part a mentor plays in chapter 3, who speaks?", "section-specific", "chapter 3"),
        ("Compare chapter 2 with chapter 3.", "full-book", None),
        ("What do chapter 2 and 3 share?", "full-book", None),
        ("Is the second chapter longer than the third chapter?", "full-book", None),
        ("Does chapter 2 say what chapter 2 promised?", "section-specific", "chapter 2"),
        ("What stands on page 45 of chapter 3?", "page-specific", "45"),
        ("Who dies in Act III?", "section-specific", "act III"),
        ("What does Letter 4 tell?", "section-specific", "letter 4"),
        ("What is taught in the second lesson?", "section-specific", "lesson 2"),
        ("Which act does the king break?", "full-book", None),
    ],
)
def test_what_a_question_names(question: str, kind: str, identifier: str | None) -> None:
    scope = parse_scope(question)
    assert (scope.type, scope.identifier) == (kind, identifier)


@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("What does section 309 of the Act require?", True),
        ("What is the first part of the letter?", True),
        ("What is in appendix B?", True),
        ("What is on slide 7?", True),
        ("Who wrote the second letter to the vestry?", True),
        ("What is in chapter 3?", False),
        ("What is on page 3?", False),
        ("What is it?", False),
    ],
)
def test_what_may_be_of_something_else(question: str, yes: bool) -> None:
    assert may_be_elsewhere(parse_scope(question)) is yes


def test_a_question_without_its_scope() -> None:
    assert without_scope("What happens in chapter 3?").split() == ["What", "happens", "in", "?"]
    assert without_scope("Compare chapter 2 with chapter 3.") == "Compare chapter 2 with chapter 3."


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What does chapter 7 say about the bell?", "what is said about the bell?"),
        ("What does the third chapter tell us about the bell", "what is said about the bell"),
        ("In chapter 6, who cast the bell?", "who cast the bell?"),
        ("Who cast the bell on page 12?", "Who cast the bell?"),
        ("Why, according to Chapter 2, was the Guild founded?", "Why was the Guild founded?"),
        ("How many tables are in chapter 3?", "How many tables are in chapter 3?"),
        ("What is the title of chapter 6?", "What is the title of chapter 6?"),
        ("On page 45 of chapter 3, who cast the bell?", "On page 45 of chapter 3, who cast the bell?"),
        ("Who cast the bell?", "Who cast the bell?"),
    ],
)
def test_what_is_asked_of_the_scope_alone(question: str, asked: str) -> None:
    assert asked_there(question) == asked


def test_a_scope_by_its_name() -> None:
    assert named_scope(None, None) is None
    assert named_scope("The Drop", None) == QueryScope("section-specific", "The Drop", "The Drop")
    assert named_scope("Chapter 3", None) == QueryScope("section-specific", "Chapter 3", "Chapter 3")
    assert named_scope("Page 9 of a diary", None) == QueryScope("section-specific", *["Page 9 of a diary"] * 2)
    assert named_scope("pages 12-15", None) == named_scope(None, "12-15")
    assert named_scope(None, "12-15") == QueryScope("page-specific", "12-15", "page 12-15")
    with pytest.raises(InvalidQueryError, match="not both"):
        named_scope("Chapter 3", "12")


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (FULL_BOOK, None),
        (QueryScope("section-specific", "Chapter 3"), Filter(chapters=("Chapter 3: The Weight",))),
        (QueryScope("section-specific", "chapter iii"), Filter(chapters=("Chapter 3: The Weight",))),
        (QueryScope("section-specific", "Chapter 1"), Filter(chapters=("Chapter 1: A Valley",))),
        (QueryScope("section-specific", "the drop"), Filter(sections=("The Drop",))),
        (QueryScope("section-specific", "the weight"), Filter(chapters=("Chapter 3: The Weight",))),
        (QueryScope("section-specific", "appendix b"), Filter(chapters=("Appendix B",))),
        (QueryScope("section-specific", "Chapter 40"), Filter(sections=())),
        (QueryScope("section-specific", "slide 7"), Filter(slides=(7,))),
        (QueryScope("page-specific", "45"), Filter(page_labels=("45",))),
        (QueryScope("page-specific", "page iv"), Filter(page_labels=("iv",))),
        (QueryScope("page-specific", "12-14"), Filter(page_labels=("12", "13", "14"))),
        (QueryScope("page-specific", "pages 12–14"), Filter(page_labels=("12", "13", "14"))),
        (QueryScope("page-specific", "12 to 13"), Filter(page_labels=("12", "13"))),
        (QueryScope("page-specific", "viii-xi"), Filter(page_labels=("viii", "ix", "x", "xi"))),
        (QueryScope("page-specific", "XXXIX – XLI"), Filter(page_labels=("XXXIX", "XL", "XLI"))),
    ],
)
def test_what_it_means_in_a_book(scope: QueryScope, expected: Filter | None) -> None:
    assert resolve_scope(scope, BOOK) == expected


def test_a_heading_in_full_goes_before_a_part_of_another() -> None:
    book = [("Good habits of bakers",), ("Ovens",), ("Ovens", "Good Habits"), ("Tins",), ("Tins", "Ovens")]
    assert resolve_scope(QueryScope("section-specific", "good habits"), book) == Filter(sections=("Good Habits",))
    assert resolve_scope(QueryScope("section-specific", "ovens"), book) == Filter(chapters=("Ovens",))
    assert resolve_scope(QueryScope("section-specific", "habit"), book) == Filter(chapters=("Good habits of bakers",))


def test_the_names_of_a_filter_are_those_of_scopes() -> None:
    named = Filter(chapters=("Chapter III", "Chapter 40"), sections=("the drop",), read_until=9)
    assert resolve_names(named, BOOK) == Filter(
        chapters=("Chapter 3: The Weight", "Chapter 40"), sections=("The Drop",), read_until=9
    )
    assert resolve_names(Filter(file_ids=("a",)), BOOK) == Filter(file_ids=("a",))


def test_chapters_without_the_word_are_found_by_number() -> None:
    novel = [("I",), ("II",), ("III. The Ball",), ("4. After",)]
    assert resolve_scope(QueryScope("section-specific", "chapter 3"), novel) == Filter(chapters=("III. The Ball",))
    assert resolve_scope(QueryScope("section-specific", "chapter 4"), novel) == Filter(chapters=("4. After",))
    assert resolve_scope(QueryScope("section-specific", "chapter two"), novel) == Filter(chapters=("II",))


@pytest.mark.parametrize(
    ("text", "number"),
    [("45", 45), ("iv", 4), ("XIV", 14), ("xlix", 49), ("twelve", 12), ("q", None), ("", None)],
)
def test_numbers(text: str, number: int | None) -> None:
    assert number_of(text) == number


def test_bad_scopes_are_refused() -> None:
    with pytest.raises(InvalidQueryError, match="full-book, section-specific, page-specific"):
        QueryScope("chapter", "3")  # type: ignore[arg-type]
    with pytest.raises(InvalidQueryError, match="needs an identifier"):
        QueryScope("page-specific", " ")


@pytest.mark.parametrize("pages", ["15-12", "12-", "-12", "12 to", "iv-12", "4-xii", "v-iii", "²-³", "1-" + 5000 * "9"])
def test_what_is_no_range_of_pages_is_refused(pages: str) -> None:
    with pytest.raises(InvalidQueryError, match=r"is not a range of pages; write it as '12-15' or 'iv-vii'"):
        resolve_scope(QueryScope("page-specific", pages), BOOK)


@pytest.mark.parametrize("pages", ["1-99999999", "5 to 10005"])
def test_more_pages_than_a_book_has_are_refused_before_they_are_counted(pages: str) -> None:
    with pytest.raises(InvalidQueryError, match="has more than 10,000 pages; name a shorter range"):
        resolve_scope(QueryScope("page-specific", pages), BOOK)


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("What is promised on pages iii to v?", ("iii", "iv", "v")),
        ("What stands on pages 12–13?", ("12", "13")),
        ("What stands on pages 12 through 13?", ("12", "13")),
    ],
)
def test_pages_that_a_question_names(question: str, pages: tuple[str, ...]) -> None:
    assert resolve_scope(parse_scope(question), BOOK) == Filter(page_labels=pages)


def test_no_question_has_pages_without_end() -> None:
    assert parse_scope("What is on pages 1 to 99999999?").identifier == "1-99999999"


def test_contents_may_part_by_a_colon_what_the_page_parts_by_a_line() -> None:
    outline = [("Chapter 3 The First People",), ("Chapter 3 The First People", "Boats, and how they came")]
    assert resolve_scope(QueryScope("section-specific", "Chapter 3: The First People"), outline) == Filter(
        chapters=("Chapter 3 The First People",)
    )
    assert resolve_scope(QueryScope("section-specific", "boats and how they"), outline) == Filter(
        sections=("Boats, and how they came",)
    )


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("What does clause 13 say?", Filter(chapters=("13. Assignment",))),
        ("Who signs under article 2.1?", Filter(sections=("2.1 Signatures",))),
        ("Which fees are in Schedule 2?", Filter(chapters=("Schedule 2: Fees",))),
        ("What does clause 14 say?", Filter(sections=())),
    ],
)
def test_the_parts_of_a_contract_are_scopes(question: str, meant: Filter) -> None:
    outline = [("2. Terms",), ("2. Terms", "2.1 Signatures"), ("13. Assignment",), ("Schedule 2: Fees",)]
    assert resolve_scope(parse_scope(question), outline) == meant
