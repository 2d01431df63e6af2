"""Markers of lists and numbers of headings in DOCX, counted as Word counts them."""

from __future__ import annotations

from tests.ingest.office_docx import STYLES, level, numbered, numbering, p, read, style

LISTS = numbering(
    {
        0: level(0, "decimal", "%1.") + level(1, "lowerLetter", "%2)") + level(2, "lowerRoman", "(%3)"),
        1: level(0, "bullet", "\uf0b7"),
        2: level(0, "upperRoman", "%1") + level(1, "decimal", "%1.%2", more="<w:isLgl/>"),
        3: level(0, "none", ""),
        4: level(0, "ordinal", "%1:") + level(1, "upperLetter", "%2-", more='<w:suff w:val="nothing"/>'),
        5: level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2", more='<w:lvlRestart w:val="0"/>'),
        6: level(0, "cardinalText", "Part %1") + level(1, "decimalZero", "%2"),
    },
    {
        1: (0, ""),
        2: (1, ""),
        3: (2, ""),
        4: (3, ""),
        5: (4, ""),
        6: (0, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'),
        7: (5, ""),
        8: (6, ""),
        9: (0, f'<w:lvlOverride w:ilvl="0">{level(0, "upperLetter", "%1/", start=3)}</w:lvlOverride>'),
        10: (0, ""),
    },
)


def items(*uses: tuple[int, int]) -> list[str]:
    """The markers that paragraphs with these numbers and levels get, in turn."""
    body = "".join(p("x", properties=numbered(number, depth)) for number, depth in uses)
    return [text.removesuffix("x") for _, text in read(body, numbering=LISTS)]


def test_numbered_lists_count_by_level_and_restart_below() -> None:
    assert items((1, 0), (1, 1), (1, 1), (1, 2), (1, 0), (1, 1)) == ["1. ", "a) ", "b) ", "(i) ", "2. ", "a) "]


def test_bullets_and_plain_text_between_items() -> None:
    body = p("milk", properties=numbered(2)) + p("A word.") + p("one", properties=numbered(1))
    body += (
        p("still one")
        + p("two", properties=numbered(1))
        + p("bare", properties=numbered(4))
        + p("no", properties=numbered(0))
    )
    assert read(body, numbering=LISTS) == [
        ("list", "- milk"),
        ("paragraph", "A word."),
        ("list", "1. one"),
        ("paragraph", "still one"),
        ("list", "2. two"),
        ("paragraph", "bare"),
        ("paragraph", "no"),
    ]


def test_number_formats() -> None:
    assert items((3, 0), (3, 0), (3, 1)) == ["I ", "II ", "2.1 "]
    assert items((5, 0), (5, 0), (5, 1)) == ["1st: ", "2nd: ", "A-"]
    assert items((8, 0), (8, 1), (8, 0)) == ["Part One ", "01 ", "Part Two "]


def test_two_numbers_of_one_list_count_on_and_overrides_start_afresh() -> None:
    assert items((1, 0), (10, 0), (6, 0), (6, 0), (1, 0)) == ["1. ", "2. ", "7. ", "8. ", "9. "]
    assert items((9, 0), (9, 0)) == ["C/ ", "D/ "]


def test_levels_that_never_restart_and_levels_without_a_parent() -> None:
    assert items((7, 0), (7, 1), (7, 0), (7, 1)) == ["1. ", "1.1 ", "2. ", "2.2 "]
    assert items(
        (7, 1),
    ) == ["1.1 "]


def test_headings_numbered_through_their_styles_keep_the_number() -> None:
    styles = (
        style("Heading1", "heading 1", "", numbered(1, None) + '<w:outlineLvl w:val="0"/>')
        + style("Heading2", "heading 2", "Heading1", '<w:numPr><w:ilvl w:val="1"/></w:numPr><w:outlineLvl w:val="1"/>')
        + style("Appendix", "Appendix", "Heading1", numbered(2, None))
    )
    lists = numbering(
        {
            0: level(0, "decimal", "%1", more='<w:pStyle w:val="Heading1"/>')
            + level(1, "decimal", "%1.%2", more='<w:pStyle w:val="Heading2"/>'),
            1: level(0, "upperLetter", "Appendix %1:"),
        },
        {1: (0, ""), 2: (1, "")},
    )
    body = (
        p("One", "Heading1") + p("Foo", "Heading2") + p("Bar", "Heading2") + p("Two", "Heading1") + p("Baz", "Heading2")
    )
    body += p("Data", "Appendix") + p("Unnumbered", "Heading1", numbered(0))
    assert [text for _, text in read(body, styles=styles, numbering=lists)] == [
        "1 One",
        "1.1 Foo",
        "1.2 Bar",
        "2 Two",
        "2.1 Baz",
        "Appendix A: Data",
        "Unnumbered",
    ]


def test_numbering_through_a_list_style() -> None:
    lists = numbering(
        {0: '<w:numStyleLink w:val="Legal"/>', 1: '<w:styleLink w:val="Legal"/>' + level(0, "decimal", "§ %1")},
        {1: (0, ""), 2: (1, "")},
    )
    styles = STYLES + style("Legal", "Legal", paragraph=numbered(2, None), kind="numbering")
    assert read(p("Law", properties=numbered(1)), styles=styles, numbering=lists) == [("list", "§ 1 Law")]


def test_empty_items_count_but_a_huge_start_does_no_harm() -> None:
    lists = numbering({0: level(0, "lowerLetter", "%1.", start=999_999_999)}, {1: (0, "")})
    body = p("", properties=numbered(1)) + p("x", properties=numbered(1))
    assert read(body, numbering=lists) == [("list", "1000001. x")]
