"""What is read from a PDF: each test draws the pages that it speaks of."""

from __future__ import annotations

import re

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from chapterverse.ingest.books import sample_book
from chapterverse.types import Document, Page, ReadOptions
from tests.ingest import pdfs
from tests.ingest.pdfs import LEFT, TOP, column, drawn, filled, lines, table_rows, text_at
from tests.ingest.reading import blocks, parse

PROSE = pdfs.SENTENCES.strip()
FOOT = 120.0
"""So high that three lines fit below."""


def read(data: bytes, options: ReadOptions = ReadOptions()) -> Document:
    return parse(data, "book.pdf", options)


def headings(document: Document) -> list[tuple[int, str]]:
    return [(len(block.headings), block.headings[-1]) for block in document.blocks if block.kind == "heading"]


# --- pages and labels ------------------------------------------------------------------------------------------------


def test_a_page_has_its_number_and_the_label_of_the_file() -> None:
    data = pdfs.labelled(b"0 << /S /r >> 2 << /S /D /St 5 >>", "One.", "Two.", "Three.")
    assert [mark.page for mark in read(data).pages] == [Page(1, "i"), Page(2, "ii"), Page(3, "5")]


def test_printed_page_numbers_become_labels_and_leave_the_text() -> None:
    document = read(pdfs.book(6))
    assert [mark.page for mark in document.pages][:3] == [Page(1, "21"), Page(2, "22"), Page(3, "23")]
    assert "Clockmaker" not in document.text
    assert "Bells and Rivers" not in document.text
    assert "21" not in document.text


def test_numbers_out_of_sequence_are_text_and_not_labels() -> None:
    def page(number: int) -> pdfs.Draw:
        def draw(canvas: Canvas) -> None:
            column(canvas, filled(PROSE))
            text_at(canvas, 300, 50, str(number))

        return draw

    document = read(drawn(*(page(number) for number in (7, 3, 90, 12))))
    assert {mark.page.label for mark in document.pages} == {None}
    assert [text for _, text in blocks(document) if text.isdigit()] == ["7", "3", "90", "12"]


def test_a_row_repeated_at_the_top_of_pages_is_kept_when_it_belongs_to_the_table_below() -> None:
    rows = [["Name", "Born", "Craft"], ["Ambrose", "1648", "smith"], ["Judith", "1651", "locks"]]
    table = "Name | Born | Craft\nAmbrose | 1648 | smith\nJudith | 1651 | locks"

    def page(canvas: Canvas) -> None:
        text_at(canvas, LEFT, 750, "A Register of Makers", 9, "Times-Italic")
        table_rows(canvas, rows, [72, 200, 300, 400], TOP, ruled=False)

    document = read(drawn(page, page, page, page))
    assert blocks(document) == [("table", table)] * 4


def test_running_heads_of_short_chapters_are_known_by_their_page_numbers() -> None:
    chapters = ["1. ORIGINS", "1. ORIGINS", "2. GROWTH", "2. GROWTH", "3. DECAY", "3. DECAY", "A. SOURCES"]

    def page(number: int, chapter: str) -> pdfs.Draw:
        def draw(canvas: Canvas) -> None:
            odd = number % 2
            text_at(canvas, 500 if odd else LEFT, 750, str(number))
            text_at(canvas, LEFT if odd else 400, 750, chapter)
            column(canvas, filled(PROSE))

        return draw

    document = read(drawn(*(page(number, chapter) for number, chapter in enumerate(chapters, 41))))
    assert not re.search("[A-Z]{4}|4[1-7]", document.text)
    assert [mark.page.label for mark in document.pages] == [str(number) for number in range(41, 48)]


def test_headings_that_keep_step_with_the_pages_are_no_running_heads() -> None:
    def page(number: int) -> pdfs.Draw:
        def draw(canvas: Canvas) -> None:
            text_at(canvas, LEFT, 750, f"{number} Pie of {'apples pears plums quinces'.split()[number - 1]}")
            column(canvas, filled(PROSE))

        return draw

    assert read(drawn(*map(page, range(1, 5)))).text.count("Pie of") == 4


def test_a_heading_that_opens_pages_by_chance_is_no_running_head() -> None:
    def page(canvas: Canvas) -> None:
        text_at(canvas, LEFT, 730, "Indicators", 11, "Times-Bold")
        y = column(canvas, filled(PROSE), y=690)
        text_at(canvas, LEFT, y - 30, "Indicators", 11, "Times-Bold")
        y = column(canvas, filled(PROSE), y=y - 60)
        text_at(canvas, LEFT, y - 30, "Indicators", 11, "Times-Bold")
        column(canvas, filled(PROSE), y=y - 60)

    assert read(drawn(page, page, page)).text.count("Indicators") == 9


# --- reading order and paragraphs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("row_by_row", [False, True])
@pytest.mark.parametrize("count", [2, 3])
def test_columns_are_read_one_after_the_other(count: int, row_by_row: bool) -> None:
    texts = [f"Column {name} begins. {PROSE} Column {name} ends." for name in ("one", "two", "three")[:count]]
    document = read(pdfs.in_columns([[text] for text in texts], "Of Columns", row_by_row))
    assert blocks(document)[0] == ("heading", "Of Columns")
    assert document.text.removeprefix("Of Columns").split() == " ".join(texts).split()


def test_notes_in_the_margin_cut_no_lines() -> None:
    def page(canvas: Canvas) -> None:
        column(canvas, filled(PROSE * 3, width=340), x=180)
        for line, text in enumerate(("Of the keeper", "and his keys", "in the tower")):
            text_at(canvas, LEFT, 697 - 9 * line, text, 8)

    assert [text for _, text in blocks(read(drawn(page)))] == [
        (PROSE * 3).strip(),
        "Of the keeper and his keys in the tower",
    ]


def test_marks_that_are_drawn_last_stay_with_their_items() -> None:
    items = ["the first key of the tower", "the second key", "the bell that strikes"]

    def page(canvas: Canvas) -> None:
        column(canvas, items, x=LEFT + 20)
        column(canvas, ["•"] * 3)

    assert blocks(read(drawn(page))) == [("list", f"• {item}") for item in items]


def test_a_paragraph_across_pages_is_one_block_with_the_page_marked_inside() -> None:
    first, second = filled(PROSE)[:3], filled(PROSE)[3:]
    document = read(drawn(lines(["\t" + first[0], *first[1:]], y=FOOT), lines(second)))
    assert blocks(document) == [("paragraph", PROSE)]
    offset = document.text.index(second[0])
    assert [(mark.start, mark.page.number) for mark in document.pages] == [(0, 1), (offset, 2)]
    assert document.place(0, len(PROSE)).last_page == Page(2, None)


def test_paragraphs_are_told_by_indent_spacing_and_short_last_lines() -> None:
    paragraphs = ["The first of them ends early. " + PROSE[:200] + ".", "The second begins. " + PROSE]
    expected = [("paragraph", text) for text in paragraphs]
    one, two = (filled(text) for text in paragraphs)
    assert blocks(read(drawn(lines([*one, "\t" + two[0], *two[1:]])))) == expected
    assert blocks(read(drawn(lines([*one, *two])))) == expected

    def spaced(canvas: Canvas) -> None:
        column(canvas, two, y=column(canvas, one) - 8)

    assert blocks(read(drawn(spaced))) == expected


def test_text_on_every_other_line_is_whole_where_most_lines_stand_closer() -> None:
    texts = [f"The {name} of them begins here. {PROSE}" for name in ("first", "second")]
    quoted = f"A quotation goes on at length. {PROSE}"

    def thesis(canvas: Canvas) -> None:
        y = float(TOP)
        for text, pitch in ((texts[0], 28), (quoted, pdfs.PITCH), (texts[1], 28)):
            for line in filled(text):
                text_at(canvas, LEFT, y, line)
                y -= pitch
            y -= 28 - pitch

    references = lines(filled(" ".join([PROSE] * 4)))
    found = blocks(read(drawn(thesis, references, references)))
    assert found[:3] == [("paragraph", text) for text in (texts[0], quoted, texts[1])]


def test_hyphens_at_line_ends_are_undone_unless_the_word_has_one() -> None:
    body = [
        "The keeper was a well-known man of the valley, and an inter-",
        "national one at that, for the well-",
        "known ledger had gone as far as Mary-",
        "Ann and the self-",
        "winding clock of the year 1790-",
        "91 did.",
    ]
    assert read(drawn(lines(body))).text == (
        "The keeper was a well-known man of the valley, and an international one at that, for the well-known ledger"
        " had gone as far as Mary-Ann and the self-winding clock of the year 1790-91 did."
    )


def test_a_hyphen_between_a_word_and_a_participle_of_the_book_stays() -> None:
    known = "The grained oak was straight, and straight he cut the grained ash. The under keeper took what the under"
    body = [
        f"{known} keeper was taking.",
        "The keeper of the tower had it made of straight-",
        "grained oak. It was an under-",
        "taking of the kind that calls for deter-",
        "mining what the others had been deter-",
        "mining, and for mining, and mining again.",
    ]
    text = read(drawn(lines([*filled(body[0]), *body[1:]]))).text
    assert text.endswith(
        "made of straight-grained oak. It was an undertaking of the kind that calls for determining what the others had"
        " been determining, and for mining, and mining again."
    )


def test_a_word_cut_by_a_column_or_a_page_is_whole() -> None:
    text = f"{PROSE} The keeper counted the candle-"
    first = filled(text)
    document = read(drawn(lines(first, y=FOOT + 14 * len(first)), lines(["sticks in the tower every night."])))
    assert "the candlesticks in the tower" in document.text
    assert document.page_at(document.text.index("sticks")) == Page(2, None)
    assert document.page_at(document.text.index("candle")) == Page(1, None)


@pytest.mark.parametrize(("size", "drop"), [(32, 1), (40, 2)])
def test_a_large_initial_opens_its_paragraph(size: int, drop: int) -> None:
    def page(canvas: Canvas) -> None:
        text_at(canvas, LEFT, 700 - drop * pdfs.PITCH, "T", size, "Times-Bold")
        text_at(canvas, 100, 700, "HE", 8)
        text_at(canvas, 114, 700, "keeper of the tower wound the great clock")
        y = column(canvas, ["every evening before the lamps were lit, and"], 100, y=686)
        column(canvas, ["nobody remembered a night when the bell had failed to strike the hour."], y=y)
        column(canvas, filled(PROSE), y=600)

    opening = "THE keeper of the tower wound the great clock every evening before the lamps were lit, and nobody"
    assert blocks(read(drawn(page)))[0][1].startswith(opening)


def test_lists_keep_their_markers() -> None:
    def page(canvas: Canvas) -> None:
        y = column(canvas, filled(PROSE))
        for marker, text in (("-", "the first key of the tower"), ("-", "the second key"), ("1.", "wait for the bell")):
            text_at(canvas, LEFT, y, marker)
            text_at(canvas, LEFT + 20, y, text)
            y -= pdfs.PITCH

    assert blocks(read(drawn(page)))[1:] == [
        ("list", "- the first key of the tower"),
        ("list", "- the second key"),
        ("list", "1. wait for the bell"),
    ]


def test_footnotes_follow_the_paragraph_that_refers_to_them() -> None:
    def page(canvas: Canvas) -> None:
        y = column(canvas, ["The clock lost a quarter of an hour between one morning and the next.", ""])
        text_at(canvas, LEFT, y, "It was a shared error")
        text_at(canvas, LEFT + 94, y + 4, "2", 7)
        text_at(canvas, LEFT + 99, y, "and of 10")
        text_at(canvas, LEFT + 143, y + 4, "3", 7)
        text_at(canvas, LEFT + 150, y, "feet.")
        column(canvas, ["", "Another paragraph follows. " + PROSE[:60]], y=y - 14)
        text_at(canvas, LEFT, 104, "2", 6)
        text_at(canvas, LEFT + 6, 100, "The clock survives, and still stops when", 8)
        text_at(canvas, LEFT, 90, "anyone shuts the door.", 8)

    found = blocks(read(drawn(page)))
    assert found[1:3] == [
        ("paragraph", "It was a shared error[2] and of 10³ feet."),
        ("footnote", "[2] The clock survives, and still stops when anyone shuts the door."),
    ]
    assert found[3][0] == "paragraph"


def raised(canvas: Canvas, x: float, y: float, *pieces: str) -> None:
    """Pieces one after the other without a gap; those that begin with `^`, `*` or `_` are raised or lowered."""
    for piece in pieces:
        rise, size = {"^": (4, 7.0), "*": (5, 9.78), "_": (-3, 7.0)}.get(piece[0], (0, 11.0))
        text_at(canvas, x, y + rise, piece[1:] if rise else piece, size)
        x += stringWidth(piece[1:] if rise else piece, "Times-Roman", size)


def test_one_raised_text_may_refer_to_several_notes() -> None:
    def page(canvas: Canvas) -> None:
        column(canvas, filled(PROSE))
        raised(canvas, LEFT, 400, *"The guild met in 1687|^1,2| and in 1690,|^2–4| and was closed.".split("|"))
        for row, sign in enumerate("1234"):
            text_at(canvas, LEFT, 134 - 10 * row, sign, 6)
            text_at(canvas, LEFT + 6, 130 - 10 * row, f"Ledger {sign}.", 8)

    notes = [("footnote", f"[{sign}] Ledger {sign}.") for sign in "1234"]
    printed = "The guild met in 1687[1][2] and in 1690,[2][3][4] and was closed."
    assert blocks(read(drawn(page)))[1:] == [("paragraph", printed), *notes]


def test_powers_stay_raised_and_cut_no_word() -> None:
    def page(canvas: Canvas) -> None:
        raised(canvas, LEFT, 700, *"There were 10|^6| cells, 5 × 10|^–3| mol of H|_2|O and 30 m|^2|.".split("|"))
        raised(
            canvas,
            LEFT,
            686,
            *"The Guild of 1687|^12| met; 4 × 10|^–|^4| litres, 10|*8| beads, no guild|^7| at all.".split("|"),
        )
        for row, cells in enumerate((("Name", "Count"), ("Cells", "10"), ("Rods", "20"))):
            raised(canvas, LEFT, 640 - 14 * row, cells[0])
            raised(canvas, LEFT + 90, 640 - 14 * row, cells[1], *(["^6"] if row else []))
        for y in (652, 637, 623, 609):
            canvas.line(LEFT - 4, y, LEFT + 150, y)
        for x in (-4, 80, 150):
            canvas.line(LEFT + x, 652, LEFT + x, 609)

    first = "There were 10⁶ cells, 5 × 10⁻³ mol of H2O and 30 m²."
    assert blocks(read(drawn(page))) == [
        ("paragraph", first),
        ("paragraph", "The Guild of 1687¹² met; 4 × 10⁻⁴ litres, 10⁸ beads, no guild7 at all."),
        ("table", "Name | Count\nCells | 10⁶\nRods | 20⁶"),
    ]


def test_a_hyphen_that_is_drawn_by_itself_belongs_to_its_word() -> None:
    def page(canvas: Canvas) -> None:
        text = canvas.beginText(LEFT, 700)
        text.textOut("The keeper of the international clock went to the inter")
        text.setFont("Times-Italic", 11)
        text.textOut("-")
        text.setFont("Times-Roman", 11)
        text.textLine("")
        text.textLine("national fair, and to the well of the village.")
        canvas.drawText(text)

    expected = "The keeper of the international clock went to the international fair, and to the well of the village."
    assert blocks(read(drawn(page))) == [("paragraph", expected)]


def test_text_that_nobody_can_see_is_left_out_and_turned_pages_are_read() -> None:
    def hidden(canvas: Canvas) -> None:
        text_at(canvas, LEFT, 720, "ANCHOR_17", 1)
        column(canvas, filled(PROSE))

    def turned(canvas: Canvas) -> None:
        canvas.rotate(90)
        column(canvas, filled(PROSE), x=90, y=-100)

    document = read(drawn(hidden, turned))
    assert [text for _, text in blocks(document)] == [PROSE, PROSE]


@pytest.mark.parametrize("drawn_values", [True, False])
def test_the_values_of_form_fields_stand_behind_their_labels(drawn_values: bool) -> None:
    fields = [("Name of the keeper", "Ada Rook"), ("Tower of service", "Harrow Vale"), ("Bell", "cast in 1911")]
    assert blocks(read(pdfs.form(fields, drawn_values))) == [("table", "\n".join(map(" | ".join, fields)))]


def test_a_note_typed_on_a_page_is_text_of_the_page_and_a_comment_is_not() -> None:
    document = read(pdfs.typed_on("It strikes.", "Since 1911 it strikes twice."))
    assert [text for _, text in blocks(document)] == ["It strikes.", "Since 1911 it strikes twice."]


def test_a_word_printed_under_the_text_cuts_no_lines() -> None:
    def page(canvas: Canvas) -> None:
        text_at(canvas, LEFT + 60, 670, "SPECIMEN", 60)
        column(canvas, filled(PROSE))

    assert [text for _, text in blocks(read(drawn(page)))] == [PROSE, "SPECIMEN"]


# --- characters ------------------------------------------------------------------------------------------------------


def test_offsets_count_code_points_and_ligatures_are_spelt_out() -> None:
    document = read(pdfs.mapped("A \U0001f600 face, a \ufb01ne \U0001f680 rocket and an o\ufb03ce."))
    assert document.text == "A \U0001f600 face, a fine \U0001f680 rocket and an office."
    start = document.text.index("rocket")
    assert document.text[start : start + 6] == "rocket"


def test_lines_of_scripts_without_spaces_join_without_one() -> None:
    assert read(pdfs.mapped("時計は一日に二度", "正しい時を示す。")).text == "時計は一日に二度正しい時を示す。"


def test_right_to_left_words_are_in_reading_order() -> None:
    drawn_order = "םלוע םולש"  # as a PDF draws it, from left to right
    assert read(pdfs.mapped(drawn_order)).text == "שלום עולם"


def test_right_to_left_paragraphs_end_at_the_left_and_are_indented_at_the_right() -> None:
    paragraphs = [
        ["  שומר המגדל היה מותח", "השעון הגדול בכל ערב", "לפני שהודלקו המנורות ברחוב.", "ואחר כך שוב."],
        ["  נער אחד היה סופר את כל", "הצלצולים ורושם אותם."],
    ]
    drawn_lines = [line[::-1].rjust(28) for lines in paragraphs for line in lines]
    assert [text for _, text in blocks(read(pdfs.mapped(*drawn_lines)))] == [
        " ".join(line.strip() for line in lines) for lines in paragraphs
    ]


# --- outline ---------------------------------------------------------------------------------------------------------


def test_bookmarks_make_the_outline_and_are_matched_to_the_text() -> None:
    entries = [("1 The Vale", 0), ("2 The Guild", 1), ("Not printed anywhere", 2)]
    document = read(pdfs.outlined(entries, ["1. The Vale", "2. The Guild", "Only prose is here."]))
    assert headings(document) == [(1, "1. The Vale"), (1, "2. The Guild")]
    assert document.blocks[-1].headings == ("Not printed anywhere",)


def test_a_bookmark_that_only_groups_others_stands_above_them() -> None:
    document = read(pdfs.grouped([("The Tower", ["The Lamp", "The Bell"]), ("The Vale", ["The Mill"])]))
    outline = [("The Tower", "The Lamp"), ("The Tower", "The Bell"), ("The Vale", "The Mill")]
    assert [block.headings for block in document.blocks] == outline
    alone = read(pdfs.grouped([("All of it", ["The Lamp", "The Bell"])]))
    assert [block.headings for block in alone.blocks] == [("The Lamp",), ("The Bell",)]


def test_without_bookmarks_headings_are_told_by_their_type() -> None:
    def page(chapter: str, section: str) -> pdfs.Draw:
        def draw(canvas: Canvas) -> None:
            text_at(canvas, LEFT, 740, chapter, 18, "Times-Bold")
            text_at(canvas, LEFT, 715, section, 13, "Times-Bold")
            column(canvas, filled(PROSE), y=690)

        return draw

    document = read(drawn(page("The Vale", "A Narrow Place"), page("The Guild", "Three People")))
    assert headings(document) == [(1, "The Vale"), (2, "A Narrow Place"), (1, "The Guild"), (2, "Three People")]


def test_a_table_of_contents_makes_no_headings() -> None:
    towns = ["", "Stennet", "Tollen", "Garth"]

    def contents(canvas: Canvas) -> None:
        text_at(canvas, LEFT, 740, "Contents", 18, "Times-Bold")
        column(canvas, [f"Chapter {n}" for n in (1, 2, 3)])
        column(canvas, ["Preface ........................ 5", "Index ............ 90"], y=600)

    def chapter(number: int) -> pdfs.Draw:
        def draw(canvas: Canvas) -> None:
            text_at(canvas, LEFT, 740, f"Chapter {number}", 18, "Times-Bold")
            text_at(canvas, LEFT, 715, f"The Tower of {towns[number]}", 14, "Times-Bold")
            column(canvas, filled(PROSE), y=690)

        return draw

    document = read(drawn(contents, *(chapter(number) for number in (1, 2, 3))))
    assert headings(document) == [(1, "Contents"), *((1, f"Chapter {n} The Tower of {towns[n]}") for n in (1, 2, 3))]
    assert ("list", "Preface … 5") in blocks(document)


def test_prose_alone_has_no_headings() -> None:
    document = read(pdfs.book(3))
    assert headings(document) == []
    assert {block.kind for block in document.blocks} == {"paragraph"}


# --- tables and captions ---------------------------------------------------------------------------------------------

ROWS = [["Tower", "Built", "Bells"], ["Stennet", "1703", "5"], ["High Garth", "", "1"], ["Tollen", "1721", "2"]]
TABLE = "Tower | Built | Bells\nStennet | 1703 | 5\nHigh Garth | | 1\nTollen | 1721 | 2"


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_is_one_block_of_rows(ruled: bool) -> None:
    def page(canvas: Canvas) -> None:
        y = column(canvas, filled(PROSE)) - 10
        text_at(canvas, LEFT, y, "Table 1. The towers of the Vale.", 10, "Times-Italic")
        y = table_rows(canvas, ROWS, [72, 200, 300, 400], y - 12, ruled)
        column(canvas, filled(PROSE), y=y - 30)

    assert blocks(read(drawn(page))) == [
        ("paragraph", PROSE), ("caption", "Table 1. The towers of the Vale."), ("table", TABLE), ("paragraph", PROSE),
    ]  # fmt: skip


def test_cells_that_wrap_or_span_rows_are_written_once() -> None:
    def page(canvas: Canvas) -> None:
        for text, x, y in (
            ("Aim", 76, 688), ("Type", 204, 688), ("Value", 304, 688),
            ("Double the number", 76, 670), ("of projects", 76, 658), ("Target", 204, 670), ("Actual", 204, 652),
            ("100", 304, 670),
        ):  # fmt: skip
            text_at(canvas, x, y, text, 10)
        for y in (700, 682, 646):
            canvas.line(72, y, 400, y)
        canvas.line(200, 664, 400, 664)
        for x in (72, 200, 300, 400):
            canvas.line(x, 700, x, 646)

    assert blocks(read(drawn(page))) == [
        ("table", "Aim | Type | Value\nDouble the number of projects | Target | 100\n| Actual |"),
    ]


@pytest.mark.parametrize(
    ("above", "below", "cell"),
    [
        ("Oil: 18.", "2% by May", "Oil: 18.2% by May"),
        ("In 1708.", "3% is left", "In 1708. 3% is left"),
        ("See no. 18.", "2 bells ring", "See no. 18. 2 bells ring"),
    ],
)
def test_a_percentage_that_a_cell_breaks_at_its_point_is_one_number(above: str, below: str, cell: str) -> None:
    def page(canvas: Canvas) -> None:
        cells = (("Aim", 76, 688), ("Value", 204, 688), (above, 76, 670), (below, 76, 658), ("100", 204, 670))
        for text, x, y in cells:
            text_at(canvas, x, y, text, 10)
        for y in (700, 682, 646):
            canvas.line(72, y, 300, y)
        for x in (72, 200, 300):
            canvas.line(x, 700, x, 646)

    assert blocks(read(drawn(page))) == [("table", f"Aim | Value\n{cell} | 100")]


def page_with(rows: list[list[str]], apart: float, wrapped: float) -> pdfs.Draw:
    """A table without lines, whose rows of one cell stand so near below the row before."""

    def page(canvas: Canvas) -> None:
        y = 700.0
        for row in rows:
            y -= apart if len(row) > 1 else wrapped
            for x, cell in zip((76, 204, 304), row, strict=False):
                text_at(canvas, x, y, cell, 10)
        column(canvas, filled(PROSE), y=y - 30)

    return page


WRAPPED = [
    ["Name of the", "Built", "Bells"], ["Tower"], ["Stennet on the", "1703", "5"], ["upper river"], ["and its banks"],
    ["High Garth", "1710", "1"], ["Tollen by", "1721", "2"], ["Old Ford"],
]  # fmt: skip


def test_rows_without_lines_between_them_are_rows_where_they_have_numbers() -> None:
    def frame(*cells: str) -> list[tuple[str, str]]:
        def draw(canvas: Canvas) -> None:
            for number, text in enumerate(cells):
                for row, line in enumerate(text.split("/")):
                    text_at(canvas, 80 + 120 * number, 684 - 14 * row, line)
            for x in (72, 192, 312):
                canvas.line(x, 720, x, 630)
            for y in (720, 698, 630):
                canvas.line(72, y, 312, y)
            text_at(canvas, 80, 704, "Maker")
            text_at(canvas, 200, 704, "Born")

        return blocks(read(drawn(draw)))

    assert frame("Anna/Ben/Carl", "1788/–/1,803") == [("table", "Maker | Born\nAnna | 1788\nBen | –\nCarl | 1,803")]
    assert frame("Anna/the elder", "1788/1803") == [("table", "Maker | Born\nAnna the elder | 1788 1803")]
    assert frame("Anna/Elder", "1788/(2)") == [("table", "Maker | Born\nAnna Elder | 1788 (2)")]
    assert frame("Anna/Ben", "of the/valley") == [("table", "Maker | Born\nAnna Ben | of the valley")]


def test_columns_an_em_apart_are_columns_where_a_row_is_drawn_at_once() -> None:
    rows = [["Rye", "1990", "1991"], ["Oats", "1502", "1603"], ["Wheat", "2004", "2105"]]

    def draw(canvas: Canvas) -> None:
        for number, cells in enumerate(rows):
            text = canvas.beginText(LEFT, 700 - 14 * number)
            text.setFont("Times-Roman", 10)
            offsets = [0.0, 40.0, 71.0]
            drawn_at = " ".join(f"({cell}) {{}}" for cell in cells)
            widths = [canvas.stringWidth(cell, "Times-Roman", 10) for cell in cells]
            kerns = [-(offsets[n + 1] - offsets[n] - widths[n]) * 100 for n in (0, 1)]
            text._code.append(f"[{drawn_at.format(*kerns, 0)}] TJ")
            canvas.drawText(text)

    assert blocks(read(drawn(draw))) == [("table", "\n".join(" | ".join(row) for row in rows))]


def test_the_first_cell_of_a_row_may_wrap() -> None:
    table = (
        "Name of the Tower | Built | Bells\nStennet on the upper river and its banks | 1703 | 5\n"
        "High Garth | 1710 | 1\nTollen by Old Ford | 1721 | 2"
    )
    assert blocks(read(drawn(page_with(WRAPPED, 18, 12)))) == [("table", table), ("paragraph", PROSE)]
    near = blocks(read(drawn(page_with(WRAPPED[2:7], 12, 12))))
    assert near[0][1].startswith("Stennet on the upper river and its banks | 1703")  # in small letters


@pytest.mark.parametrize("line", ["Lower Vale", "1", "a) They ring."])
def test_what_stands_below_a_row_as_rows_do_is_no_rest_of_it(line: str) -> None:
    apart = 12 if line == "Lower Vale" else 18
    found = blocks(read(drawn(page_with([*ROWS[:3], ROWS[3], [line]], apart, 12))))
    assert found[0] == ("table", TABLE)


def test_a_sentence_about_a_table_is_no_caption() -> None:
    text = "Table 3 shows that nobody agreed. " + PROSE
    assert blocks(read(pdfs.simple(text))) == [("paragraph", text)]


# --- metadata --------------------------------------------------------------------------------------------------------


def test_title_and_author_are_read_unless_a_program_made_them_up() -> None:
    page = lines(["The Clocks of Harrow Vale", "WILHELMINA TARRANT", PROSE[:60]])
    document = read(drawn(page, title="The Clocks of Harrow Vale", author="W. Tarrant"))
    assert (document.title, document.author, document.page_count) == ("The Clocks of Harrow Vale", "W. Tarrant", 1)
    for junk in ("Microsoft Word - thesis_final.doc", "untitled", "book.indd"):
        assert read(drawn(lines([PROSE[:60]]), title=junk)).title == "book.pdf"


def test_an_author_whom_the_book_does_not_name_is_left_out() -> None:
    for stranger in ("Chuck", "Turn-Key Systems Pty Ltd"):
        document = read(drawn(lines(["Plan of the Vale", PROSE[:60]]), title="Plan of the Vale", author=stranger))
        assert (document.title, document.author) == ("Plan of the Vale", None)


def test_a_title_that_names_the_author_is_parted() -> None:
    for title, expected in {
        "The Vale, by Ada de Keeper": ("The Vale", "Ada de Keeper"),
        "Stand by Me": ("Stand by Me", None),
        "Learning, by doing it": ("Learning, by doing it", None),
    }.items():
        document = read(drawn(lines([PROSE[:60]]), title=title, author="Chuck"))
        assert (document.title, document.author) == expected


# --- page truth ------------------------------------------------------------------------------------------------------


def test_sentences_are_on_the_pages_that_they_claim() -> None:
    data = pdfs.book(12)
    document = read(data)
    assert any(mark.start not in {block.start for block in document.blocks} for mark in document.pages)
    assert pdfs.untrue_sentences(document, data, count=200) == []


def test_sentences_of_the_sample_book_are_on_the_pages_that_they_claim() -> None:
    data = sample_book(".pdf").read_bytes()
    assert pdfs.untrue_sentences(read(data), data) == []


def test_the_sample_book_reads_from_its_pdf_as_from_its_markdown() -> None:
    from_pdf, from_markdown = (
        {pdfs.letters(re.sub(r"\[\d+\]", "", text)) for _, text in blocks(parse(path.read_bytes(), path.name))}
        for path in map(sample_book, (".pdf", ".md"))
    )
    assert from_markdown - from_pdf == set()
    assert len(from_pdf - from_markdown) == 2  # the page of contents: its heading and its entries
