"""Each feature of PPTX that carries or hides text, in a deck made for it; whole texts are compared."""

from __future__ import annotations

from typing import Any

import pytest

from chapterverse.errors import UnreadableFileError
from chapterverse.types import Document, ReadOptions
from tests.ingest import office
from tests.ingest.office_pptx import ap, cell, graphic_frame, group, pptx, slide, slide_table, sp, title
from tests.ingest.reading import blocks, parse, reasons


def document(*slides: str, **more: Any) -> Document:
    return parse(pptx(*slides, **more), "deck.pptx")


def read(*shapes: str, **more: Any) -> list[tuple[str, str]]:
    """The blocks of a deck of one slide."""
    return blocks(document(slide(*shapes), **more))


def placed(found: Document) -> list[tuple[int | None, tuple[str, ...], str]]:
    return [(block.slide, block.headings, found.text[block.start : block.end]) for block in found.blocks]


# Slides, titles, sections


def test_slides_come_in_the_order_of_the_show_under_their_titles() -> None:
    found = document(
        slide(title("Second"), sp(ap("Two."), at=(0, 500))),
        slide(sp(ap("Shown before the title in the file."), at=(0, 500)), title("First")),
        slide(sp(ap("No title."))),
        order=[2, 1, 3],
    )
    assert placed(found) == [
        (1, ("First",), "First"),
        (1, ("First",), "Shown before the title in the file."),
        (2, ("Second",), "Second"),
        (2, ("Second",), "Two."),
        (3, (), "No title."),
    ]


def test_sections_are_the_outline_above_the_titles() -> None:
    found = document(
        slide(title("Welcome")),
        slide(title("Facts"), sp(ap("A fact."))),
        slide(sp(ap("Untitled."))),
        sections={"Default Section": [1], "The middle": [2, 3]},
    )
    assert placed(found) == [
        (1, ("Welcome",), "Welcome"),
        (2, ("The middle", "Facts"), "Facts"),
        (2, ("The middle", "Facts"), "A fact."),
        (3, ("The middle",), "Untitled."),
    ]


def test_hidden_slides_are_read_with_a_warning_and_missing_ones_reported() -> None:
    data = pptx(slide(title("One")), slide(title("Two"), attributes='show="0"'), slide(title("Three")))
    found = parse(office.with_part(data, "ppt/slides/slide3.xml", None), "deck.pptx")
    assert placed(found) == [(1, ("One",), "One"), (2, ("Two",), "Two")]
    assert reasons(found) == (
        "Slide 2 is hidden in the show; it was read all the same. "
        "The part 'ppt/slides/slide3.xml' is missing from the file. Slide 3 is missing from the file."
    )


def test_title_and_author() -> None:
    properties = office.core("From the properties", "Ann Author")
    plain = document(slide(title("A slide")), core_properties=properties)
    assert (plain.title, plain.author) == ("From the properties", "Ann Author")
    assert document(slide(title("The printed one", "ctrTitle")), core_properties=properties).title == "The printed one"


def test_too_many_slides_are_refused() -> None:
    with pytest.raises(UnreadableFileError, match="3 slides; 2 are allowed") as caught:
        parse(pptx(*[slide(title("x"))] * 3), "deck.pptx", ReadOptions(max_pages=2))
    assert caught.value.reason == "pages"


# Order of shapes


def test_shapes_read_by_rows_whatever_their_order_in_the_file() -> None:
    found = read(
        sp(ap("bottom"), at=(0, 900)),
        sp(ap("top right"), at=(500, 90)),
        sp(ap("top left, a little lower"), at=(0, 110)),
        sp(ap("middle"), at=(200, 500)),
        title("Title"),
    )
    assert [text for _, text in found] == ["Title", "top left, a little lower", "top right", "middle", "bottom"]


def test_grouped_shapes_stay_together_where_their_group_lies() -> None:
    inner = group(sp(ap("b2"), at=(5, 60)), sp(ap("b1"), at=(5, 5)), at=(1010, 1200), child_at=(0, 0))
    found = read(
        sp(ap("last"), at=(0, 2000)),
        group(inner, sp(ap("a"), at=(1000, 1000)), at=(0, 400), size=(500, 500), child_at=(1000, 1000)),
        sp(ap("first"), at=(0, 300)),
        group(sp(ap("right"), at=(700, 400)), at=None),
    )
    assert [text for _, text in found] == ["first", "a", "b1", "b2", "right", "last"]


def test_a_placeholder_lies_where_its_layout_or_master_puts_it() -> None:
    found = read(
        sp(ap("below"), at=(0, 2500)),
        sp(ap("body at 1000"), placeholder='idx="1"'),
        sp(ap("above"), at=(0, 700)),
        sp(ap("of the master at 500"), placeholder='type="body" idx="99"'),
    )
    assert found == [
        ("list", "- of the master at 500"),
        ("paragraph", "above"),
        ("list", "- body at 1000"),
        ("paragraph", "below"),
    ]


def test_deep_groups_do_not_recurse() -> None:
    shapes = sp(ap("deep"))
    for _ in range(100):
        shapes = group(shapes, at=(0, 0))
    assert read(shapes) == [("paragraph", "deep")]


# Text


def test_bullets_levels_and_plain_text() -> None:
    body = sp(
        ap("One"),
        ap("Under one", attributes='lvl="1"'),
        ap("No bullet", "<a:buNone/>"),
        ap("  "),
        placeholder='idx="1"',
    )
    box = sp(ap("Plain"), ap("Pointed", '<a:buChar char="→"/>'), at=(0, 5000))
    assert read(body, sp(ap("Subtitle"), placeholder='type="subTitle" idx="2"'), box) == [
        ("list", "- One"),
        ("list", "- Under one"),
        ("paragraph", "No bullet"),
        ("paragraph", "Subtitle"),
        ("paragraph", "Plain"),
        ("list", "- Pointed"),
    ]


def test_automatic_numbers() -> None:
    def auto(text: str, scheme: str, level: int = 0, start: str = "") -> str:
        return ap(text, f'<a:buAutoNum type="{scheme}" {start}/>', f'lvl="{level}"')

    found = read(
        sp(
            auto("x", "arabicPeriod"),
            auto("x", "alphaLcParenR", 1),
            auto("x", "alphaLcParenR", 1),
            auto("x", "arabicPeriod"),
            auto("x", "alphaLcParenR", 1),
            ap("break"),
            auto("x", "arabicPeriod"),
            auto("x", "romanUcParenBoth"),
            auto("x", "arabicPlain", 0, 'startAt="5"'),
            auto("x", "arabicPlain", 0, 'startAt="5"'),
            auto("x", "circleNumDbPlain"),
        )
    )
    assert [text.removesuffix(" x") for _, text in found] == [
        *("1.", "a)", "b)", "2.", "a)", "break", "1.", "(I)", "5", "6", "①")
    ]


def test_date_footer_and_number_are_dropped_as_placeholders_and_as_fields() -> None:
    furniture = [
        sp(ap("Footer"), placeholder=f'type="{kind}" idx="1{i}"') for i, kind in enumerate(("dt", "ftr", "sldNum"))
    ]
    number = '<a:fld type="slidenum"><a:t>7</a:t></a:fld>'
    assert read(sp(ap(f"<a:r><a:t>Kept </a:t></a:r>{number}<a:r><a:t>text</a:t></a:r>")), *furniture) == [
        ("paragraph", "Kept text")
    ]


def test_breaks_symbols_equations_and_alternate_content() -> None:
    equation = (
        '<mc:AlternateContent><mc:Choice Requires="a14"><a14:m><m:oMathPara><m:oMath><m:sSup>'
        "<m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></m:oMathPara></a14:m></mc:Choice>"
        "<mc:Fallback><a:r><a:t>picture</a:t></a:r></mc:Fallback></mc:AlternateContent>"
    )
    symbol = '<a:r><a:rPr><a:sym typeface="Wingdings"/></a:rPr><a:t>\uf0e0</a:t></a:r>'
    alternate = (
        f'<mc:AlternateContent><mc:Choice Requires="p14">{sp(ap("new"), at=(0, 900))}</mc:Choice>'
        f"<mc:Fallback>{sp(ap('old'), at=(0, 900))}</mc:Fallback></mc:AlternateContent>"
    )
    found = read(sp(ap(f"<a:r><a:t>a</a:t></a:r><a:br/>{symbol}{equation}"), at=(0, 0)), alternate)
    assert found == [("paragraph", "a →x^2"), ("paragraph", "new")]


def test_powers_keep_their_raised_digits_and_struck_out_runs_are_left_out() -> None:
    def run(text: str, properties: str = "") -> str:
        return f"<a:r><a:rPr {properties}/><a:t>{text}</a:t></a:r>"

    raised = run("10") + run("6", 'baseline="30000"') + run(" rivets, 5 cm") + run("2", 'baseline="30%"')
    lowered = run(" of H") + run("2", 'baseline="-25000"') + run("O")
    found = read(sp(ap(raised + lowered + run(" or sand", 'strike="sngStrike"') + run(".", 'strike="noStrike"'))))
    assert found == [("paragraph", "10⁶ rivets, 5 cm² of H2O.")]


def test_connectors_with_text_are_read_and_hidden_shapes_are_not() -> None:
    found = read(
        sp(ap("on the line"), at=(0, 10), tag="cxnSp"),
        sp(ap("hidden"), attributes='hidden="1"'),
        group(sp(ap("in a hidden group")), at=(0, 0)).replace('name="Group"', 'name="Group" hidden="1"'),
    )
    assert found == [("paragraph", "on the line")]


# Notes, tables, charts, diagrams


def test_notes_are_only_what_the_speaker_wrote() -> None:
    page = slide(
        sp(placeholder='type="sldImg"'),
        sp(ap("Say hello."), ap("Then pause."), placeholder='type="body" idx="1"'),
        sp(ap("4"), placeholder='type="sldNum" idx="2"'),
        root="p:notes",
    )
    found = document(slide(title("Hello")), slide(title("Bye")), notes={1: page})
    assert blocks(found) == [("heading", "Hello"), ("notes", "Say hello.\nThen pause."), ("heading", "Bye")]
    assert found.blocks[1].slide == 1
    assert found.blocks[1].headings == ("Hello",)


def test_tables_with_merged_cells() -> None:
    table = slide_table(
        [cell("Wide", 'gridSpan="2"'), cell("covered", 'hMerge="1"'), cell("C")],
        [cell("Tall", 'rowSpan="2"'), cell("x"), cell("y")],
        [cell("covered", 'vMerge="1"'), cell(), cell("<a:r><a:t>two</a:t></a:r><a:br/><a:r><a:t>lines</a:t></a:r>")],
    )
    assert read(graphic_frame(table)) == [("table", "Wide | | C\nTall | x | y\nTall | | two lines")]


def with_chart(part: str) -> list[tuple[str, str]]:
    return read(
        graphic_frame('<c:chart r:id="c1"/>'),
        sp(ap("After."), at=(0, 500)),
        related={"c1": ("chart", "../charts/chart1.xml")},
        parts={"ppt/charts/chart1.xml": part},
    )


def test_a_chart_is_a_table_of_categories_and_series() -> None:
    years = office.cache("str", {0: "2020", 1: "2021"})
    chart = office.chart(
        "Share of votes",
        office.series("North", years, office.cache("num", {0: "0.25", 1: "0.5"}, "0%")),
        office.series("South", years, office.cache("num", {1: "1234.5600000000001"}, "General")),
        axis="Year",
    )
    assert with_chart(chart) == [
        ("table", "Share of votes\nYear | North | South\n2020 | 25% |\n2021 | 50% | 1234.56"),
        ("paragraph", "After."),
    ]


def test_charts_with_dates_levels_and_points() -> None:
    days = office.cache("num", {0: "45292", 1: "45323"}, "d\\-mmm\\-yy")
    dated = office.chart("", office.series("Rain", days, office.cache("num", {0: "3", 1: "4"}, '0 "days"')))
    assert with_chart(dated)[0] == ("table", "| Rain\n2024-01-01 | 3\n2024-02-01 | 4")
    inner = "".join(f'<c:pt idx="{i}"><c:v>{text}</c:v></c:pt>' for i, text in enumerate(("Q1", "Q2", "Q1")))
    outer = '<c:pt idx="0"><c:v>2020</c:v></c:pt><c:pt idx="2"><c:v>2021</c:v></c:pt>'
    nested = f"<c:multiLvlStrCache><c:lvl>{inner}</c:lvl><c:lvl>{outer}</c:lvl></c:multiLvlStrCache>"
    quarters = f"<c:multiLvlStrRef>{nested}</c:multiLvlStrRef>"
    levels = office.chart("", office.series("A", quarters, office.cache("num", {0: "1", 1: "2", 2: "3"})))
    assert with_chart(levels)[0] == ("table", "| A\n2020 / Q1 | 1\n2020 / Q2 | 2\n2021 / Q1 | 3")
    points = [
        office.series(name, office.cache("num", {0: x}), office.cache("num", {0: y}), ("xVal", "yVal"))
        for name, x, y in (("P", "1", "2"), ("Q", "3", "4"))
    ]
    assert with_chart(office.chart("Scatter", *points))[0] == ("table", "Scatter\nP | 1 | 2\nQ | 3 | 4")


def test_a_chart_without_values_is_a_warning() -> None:
    found = document(
        slide(title("T"), graphic_frame('<c:chart r:id="c1"/>'), graphic_frame('<c:chart r:id="nowhere"/>')),
        related={"c1": ("chart", "../charts/chart1.xml")},
        parts={"ppt/charts/chart1.xml": office.chart("Empty")},
    )
    assert blocks(found) == [("heading", "T")]
    assert reasons(found) == (
        "A chart was left out: the file does not hold its values in a form that is read. "
        "The part 'ppt/slides/slide1.xml' points to a part that the file does not name."
    )


def test_smart_art_is_a_list_in_the_order_of_the_diagram() -> None:
    data = office.diagram(
        {
            "c": ("node", "Check"),
            "s": ("sibTrans", "arrow"),
            "a": ("node", "Plan"),
            "d": ("doc", ""),
            "b": ("node", "Plan the plan"),
            "x": ("pres", "presentation"),
            "h": ("asst", "Helper"),
            "z": ("node", "Loose"),
        },
        [("d", "c", 2), ("d", "a", 0), ("a", "b", 0), ("d", "h", 1), ("b", "a", 0)],
    )
    found = read(
        graphic_frame('<dgm:relIds r:dm="d1"/>'),
        related={"d1": ("diagramData", "../diagrams/data1.xml")},
        parts={"ppt/diagrams/data1.xml": data},
    )
    assert found == [("list", f"- {text}") for text in ("Plan", "Plan the plan", "Helper", "Check", "Loose")]


def test_comments_and_media_are_left_out() -> None:
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="9" name="Photo" descr="A cat"/></p:nvPicPr></p:pic>'
    found = read(
        title("Only this"),
        picture,
        related={"k": ("comments", "../comments/comment1.xml"), "m": ("video", "../media/film.mp4")},
        parts={"ppt/comments/comment1.xml": office.xml("p:cmLst", "<p:cm><p:text>A remark</p:text></p:cm>")},
    )
    assert found == [("heading", "Only this")]


def test_strict_decks_read_the_same() -> None:
    plain = pptx(slide(title("One"), sp(ap("Item"), placeholder='idx="1"')), sections={"S": [1]})
    strict = plain
    for name in (
        "ppt/presentation.xml",
        "ppt/slides/slide1.xml",
        "ppt/slideLayouts/slideLayout1.xml",
        "ppt/slideMasters/slideMaster1.xml",
        "ppt/_rels/presentation.xml.rels",
        "ppt/slides/_rels/slide1.xml.rels",
    ):
        strict = office.with_part(strict, name, office.strict(office.part(plain, name)))
    assert "purl.oclc.org" in office.part(strict, "ppt/slides/slide1.xml")
    assert placed(parse(strict, "a.pptx")) == placed(parse(plain, "a.pptx"))
    assert blocks(parse(strict, "a.pptx")) == [("heading", "One"), ("list", "- Item")]


def test_charts_of_newer_kinds_are_reported() -> None:
    namespace = "http://schemas.microsoft.com/office/drawing/2014/chartex"
    found = document(
        slide(title("T"), graphic_frame(f'<cx:chart xmlns:cx="{namespace}" r:id="c1"/>')),
        related={"c1": ("chartEx", "../charts/chartEx1.xml")},
        parts={"ppt/charts/chartEx1.xml": office.xml("c:chartSpace")},
    )
    assert blocks(found) == [("heading", "T")]
    assert reasons(found) == "A chart was left out: the file does not hold its values in a form that is read."
