"""Each feature of DOCX that carries or hides text, in a document made for it; whole texts are compared."""

from __future__ import annotations

from chapterverse.types import Document
from tests.ingest import office
from tests.ingest.office_docx import (
    STYLES,
    document,
    field,
    graphic,
    level,
    note,
    numbered,
    numbering,
    p,
    paragraphs,
    r,
    read,
    reference,
    style,
    tbl,
    tc,
    text_box,
    tr,
    vml_box,
)
from tests.ingest.reading import blocks, reasons

ONE_LIST = numbering({0: level(0, "decimal", "%1.")}, {1: (0, "")})


def outline(found: Document) -> list[tuple[str, tuple[str, ...]]]:
    return [(found.text[block.start : block.end], block.headings) for block in found.blocks]


# Headings, styles, metadata


def test_headings_come_from_styles_their_ancestors_and_direct_outline_levels() -> None:
    styles = (
        STYLES
        + style("Kapitel", "Kapitel", "Heading1")
        + style("Unter", "Überschrift 2", "", '<w:outlineLvl w:val="1"/>')
    )
    styles += style("NotOne", "Big", "Heading1", '<w:outlineLvl w:val="9"/>')
    found = document(
        p("One", "Heading1")
        + p("Text.")
        + p("Sub", "Unter")
        + p("Direct", properties='<w:outlineLvl w:val="2"/>')
        + p("Deep.")
        + p("Two", "Kapitel")
        + p("Big but no heading.", "NotOne")
        + p("Demoted.", "Heading1", '<w:outlineLvl w:val="9"/>'),
        styles=styles,
    )
    assert outline(found) == [
        ("One", ("One",)),
        ("Text.", ("One",)),
        ("Sub", ("One", "Sub")),
        ("Direct", ("One", "Sub", "Direct")),
        ("Deep.", ("One", "Sub", "Direct")),
        ("Two", ("Two",)),
        ("Big but no heading.", ("Two",)),
        ("Demoted.", ("Two",)),
    ]


def test_heading_styles_work_by_their_id_when_the_styles_are_missing() -> None:
    found = document(p("One", "Heading1") + p("Text."), styles=None)
    assert outline(found) == [("One", ("One",)), ("Text.", ("One",))]


def test_styles_based_on_each_other_in_a_circle_end() -> None:
    styles = style("A", "A", "B") + style("B", "B", "A", '<w:outlineLvl w:val="0"/>')
    assert read(p("Round", "A"), styles=styles) == [("heading", "Round")]


def test_title_style_names_the_document_and_is_no_chapter() -> None:
    found = document(
        p("The Book", "Title") + p("A subtitle", "Subtitle") + p("One", "Heading1") + p("Text."),
        core_properties=office.core("Old title", "Ann Author", "en-GB"),
    )
    assert (found.title, found.author, found.language) == ("The Book", "Ann Author", "en-GB")
    assert outline(found) == [("The Book", ()), ("A subtitle", ()), ("One", ("One",)), ("Text.", ("One",))]


def test_core_properties_give_the_title_where_none_is_printed() -> None:
    assert document(p("Text."), core_properties=office.core("From the properties")).title == "From the properties"


def test_pages_are_unknown_and_not_invented() -> None:
    found = document(p('<w:r><w:lastRenderedPageBreak/><w:t>A</w:t><w:br w:type="page"/><w:t>B</w:t></w:r>'))
    assert (found.text, found.pages, found.page_count) == ("A B", (), None)


def test_captions_quotes_and_code_have_their_kinds() -> None:
    body = p("Figure 1: A cat", "Caption") + p("To be.", "Quote") + p("x = 1", "Code")
    body += p("<w:r><w:t>y = 2</w:t><w:br/><w:t>z = 3</w:t></w:r>", "Code") + p("After.")
    assert read(body) == [
        ("caption", "Figure 1: A cat"),
        ("quote", "To be."),
        ("code", "x = 1\ny = 2\nz = 3"),
        ("paragraph", "After."),
    ]


# Tracked changes


def test_tracked_changes_are_read_as_accepted() -> None:
    body = p(
        r("The ")
        + f"<w:del>{r('old').replace('w:t', 'w:delText')}</w:del><w:ins>{r('new')}<w:del>{r('never')}</w:del></w:ins>"
        + f"<w:moveFrom>{r(' moved away')}</w:moveFrom>"
        + r(" text")
    )
    assert read(body + p(f"<w:moveTo>{r('Moved here.')}</w:moveTo>")) == paragraphs("The new text", "Moved here.")


def test_a_deleted_paragraph_mark_joins_two_paragraphs() -> None:
    body = p("First half, ", "Heading1", "<w:rPr><w:del/></w:rPr>") + p("second half.") + p("Next.")
    body += p(f"<w:del>{r('gone')}</w:del>", properties="<w:rPr><w:del/></w:rPr>") + p("Kept.")
    body += p("Last", properties="<w:rPr><w:moveFrom/></w:rPr>")
    assert read(body) == paragraphs("First half, second half.", "Next.", "Kept.", "Last")


def test_properties_from_before_a_change_do_not_count() -> None:
    old = f'<w:pPrChange><w:pPr><w:outlineLvl w:val="0"/>{numbered(1)}</w:pPr></w:pPrChange>'
    assert read(p("Plain.", properties=old), numbering=ONE_LIST) == paragraphs("Plain.")


def test_deleted_rows_and_cells_are_gone() -> None:
    body = tbl(
        tr(tc("a"), tc("b")),
        tr(tc("c"), tc("d"), properties="<w:del/>"),
        tr(tc("e"), tc("f", "<w:cellDel/>"), tc("g"), properties="<w:ins/>"),
    )
    assert read(body) == [("table", "a | b\ne | g")]


# Text boxes, drop capitals, graphics


def test_a_text_box_is_read_once_after_the_paragraph_that_anchors_it() -> None:
    body = p(r("Before ") + text_box(p("In the box.") + p("Box heading", "Heading1")) + r("after.")) + p("Next.")
    assert read(body) == paragraphs("Before after.", "In the box.", "Box heading", "Next.")


def test_text_boxes_in_vml_in_groups_and_inside_each_other() -> None:
    grouped = "<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><wpg:wgp>"
    for word in ("One", "Two"):
        grouped += f"<wps:wsp><wps:txbx><w:txbxContent>{p(word)}</w:txbxContent></wps:txbx></wps:wsp>"
    grouped += "</wpg:wgp></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    nested = f"<w:r>{vml_box(p(r('Outer') + '<w:r>' + vml_box(p('Inner')) + '</w:r>') + p('Outer again'))}</w:r>"
    word_art = '<w:r><w:pict><v:shape><v:textpath string="Word art"/></v:shape></w:pict></w:r>'
    body = p(r("Host") + grouped + nested + word_art)
    assert read(body) == paragraphs("Host", "One", "Two", "Outer", "Inner", "Outer again", "Word art")


def test_a_text_box_in_a_table_follows_the_table() -> None:
    body = tbl(tr(tc(p(r("a") + text_box(p("Box.")))), tc("b"))) + p("Next.")
    assert read(body) == [("table", "a | b"), *paragraphs("Box.", "Next.")]


def test_a_drop_capital_belongs_to_its_word() -> None:
    body = p("O", properties='<w:framePr w:dropCap="drop" w:lines="3"/>') + p("nce upon a time.")
    assert read(body) == paragraphs("Once upon a time.")


def test_charts_and_diagrams_follow_the_paragraph_that_holds_them() -> None:
    years = office.cache("str", {0: "2020", 1: "2021"})
    chart = office.chart(
        "Sales", office.series("North", years, office.cache("num", {0: "1.5", 1: "4.2999999999999998"}))
    )
    smart_art = office.diagram(
        {"0": ("doc", ""), "1": ("node", "Plan"), "2": ("node", "Do")}, [("0", "2", 1), ("0", "1", 0)]
    )
    body = p(r("See:") + graphic('<c:chart r:id="c1"/>') + graphic('<dgm:relIds r:dm="d1"/>')) + p("Next.")
    found = read(
        body,
        related={"c1": ("chart", "charts/chart1.xml"), "d1": ("diagramData", "diagrams/data1.xml")},
        parts={"word/charts/chart1.xml": chart, "word/diagrams/data1.xml": smart_art},
    )
    assert found == [
        ("paragraph", "See:"),
        ("table", "Sales\n | North\n2020 | 1.5\n2021 | 4.3"),
        ("list", "- Plan"),
        ("list", "- Do"),
        ("paragraph", "Next."),
    ]


# Footnotes and endnotes


def test_notes_stand_right_after_the_block_that_refers_to_them() -> None:
    body = p(r("Alpha") + reference(2) + r(" beta") + reference(1, "endnote") + r(".")) + p(r("Gamma.") + reference(3))
    separator = '<w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    second = '<w:footnote w:id="3">' + p("Third ") + p(f"<w:hyperlink>{r('link')}</w:hyperlink>") + "</w:footnote>"
    found = read(
        body + p(r("Again") + reference(2)),
        footnotes=separator + note(2, "First note.") + second,
        endnotes=note(1, "An endnote.", "endnote"),
    )
    assert found == [
        ("paragraph", "Alpha[1] beta[i]."),
        ("footnote", "[1] First note."),
        ("footnote", "[i] An endnote."),
        ("paragraph", "Gamma.[2]"),
        ("footnote", "[2] Third link"),
        ("paragraph", "Again[1]"),
    ]


def test_notes_in_tables_follow_the_table_and_marks_of_their_own_are_kept() -> None:
    custom = '<w:r><w:footnoteReference w:customMarkFollows="1" w:id="2"/><w:t>*</w:t></w:r>'
    starred = f'<w:footnote w:id="2">{p("* Starred.")}</w:footnote>'
    body = tbl(tr(tc(p(r("a") + reference(1))), tc(p(r("b") + custom))))
    assert read(body, footnotes=note(1, "In a table.") + starred) == [
        ("table", "a[1] | b[*]"),
        ("footnote", "[1] In a table."),
        ("footnote", "[*] Starred."),
    ]


def test_note_formats_are_followed_and_never_clash() -> None:
    form = '<w:endnotePr><w:numFmt w:val="decimal"/></w:endnotePr>'
    body = p(r("a") + reference(1) + r("b") + reference(1, "endnote"))
    both = read(body, footnotes=note(1, "Foot."), endnotes=note(1, "End.", "endnote"), settings=form)
    assert both == [("paragraph", "a[1]b[i]"), ("footnote", "[1] Foot."), ("footnote", "[i] End.")]
    only_end = read(p(r("b") + reference(1, "endnote")), endnotes=note(1, "End.", "endnote"), settings=form)
    assert only_end == [("paragraph", "b[1]"), ("footnote", "[1] End.")]
    section = '<w:sectPr><w:footnotePr><w:numFmt w:val="lowerLetter"/><w:numStart w:val="3"/></w:footnotePr></w:sectPr>'
    letters = read(p(r("a") + reference(1)) + section, footnotes=note(1, "Foot."))
    assert letters == [("paragraph", "a[c]"), ("footnote", "[c] Foot.")]


def test_a_note_to_code_follows_the_code() -> None:
    body = p("x = 1", "Code") + p(r("y = 2") + reference(1), "Code") + p("z = 3", "Code")
    assert read(body, footnotes=note(1, "Why two.")) == [
        ("code", "x = 1\ny = 2[1]"),
        ("footnote", "[1] Why two."),
        ("code", "z = 3"),
    ]


def test_a_missing_note_is_a_warning() -> None:
    found = document(p(r("a") + reference(9)), footnotes=note(1, "Other."))
    assert (blocks(found), reasons(found)) == (paragraphs("a[1]"), "The text of note 1 is missing from the file.")


def test_comments_headers_and_footers_are_left_out() -> None:
    body = p(
        '<w:commentRangeStart w:id="0"/>'
        + r("Text.")
        + '<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>'
    )
    found = read(
        body + '<w:sectPr><w:headerReference r:id="h1"/></w:sectPr>',
        related={
            "h1": ("header", "header1.xml"),
            "c1": ("comments", "comments.xml"),
            "g": ("glossaryDocument", "g.xml"),
        },
        parts={
            "word/header1.xml": office.xml("w:hdr", p("Running head")),
            "word/comments.xml": office.xml("w:comments", f'<w:comment w:id="0">{p("A remark")}</w:comment>'),
            "word/g.xml": office.xml("w:glossaryDocument", p("Prompt")),
        },
    )
    assert found == paragraphs("Text.")


# Content controls and other wrappers


def sdt(content: str, properties: str = "") -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def test_content_controls_around_blocks_runs_rows_and_cells() -> None:
    body = sdt(p("Block.") + sdt(p("Nested."))) + p(r("In") + sdt(r("line")) + r("."))
    body += tbl(sdt(tr(tc("a"), sdt(tc("b")))), tr(tc("c"), tc(sdt(p("d")).replace("<w:sdt>", "<w:p/><w:sdt>", 1))))
    body += p(r("Prompt: ") + sdt(r("Click to enter text."), "<w:showingPlcHdr/>"))
    assert read(body) == [
        *paragraphs("Block.", "Nested.", "Inline."),
        ("table", "a | b\nc | d"),
        *paragraphs("Prompt:"),
    ]


def test_wrappers_are_seen_through() -> None:
    ruby = f"<w:r><w:ruby><w:rubyPr/><w:rt>{r('kan')}</w:rt><w:rubyBase>{r('漢')}</w:rubyBase></w:ruby></w:r>"
    body = p(
        f"<w:smartTag>{r('a')}</w:smartTag><w:customXml>{r('b')}</w:customXml><w:bdo>{r('c')}</w:bdo><w:dir>{r('d')}</w:dir>"
        f'<w:hyperlink r:id="x">{r("e")}</w:hyperlink>{ruby}'
    )
    assert read(body + f"<w:customXml>{p('Block.')}</w:customXml>") == paragraphs("abcde漢", "Block.")


def test_struck_out_runs_are_left_out() -> None:
    body = p(r("Ring ") + r("once", "<w:strike/>") + r("never", "<w:dstrike/>") + r("twice.", '<w:strike w:val="0"/>'))
    assert read(body) == paragraphs("Ring twice.")


def test_powers_keep_their_raised_digits() -> None:
    raised = '<w:vertAlign w:val="superscript"/>'
    body = p(r("10") + r("6", raised) + r(" rivets to 5 cm") + r("2", raised) + r(" of hull") + r("1", raised))
    assert read(body) == paragraphs("10⁶ rivets to 5 cm² of hull1")


def test_runs_follow_the_styles_of_characters() -> None:
    styles = STYLES + style("Sup", "Sup", run='<w:vertAlign w:val="superscript"/>', kind="character")
    styles += style("Exponent", "Exponent", "Sup", kind="character")
    styles += style("Gone", "Gone", run="<w:strike/>", kind="character")
    named = '<w:rStyle w:val="{}"/>'.format
    level = named("Exponent") + '<w:vertAlign w:val="baseline"/>'
    body = p(
        r("10") + r("6", named("Exponent")) + r(" rivets, 10") + r("6", level) + r(" bolts") + r(" x", named("Gone"))
    )
    assert read(body, styles=styles) == paragraphs("10⁶ rivets, 106 bolts")


def test_a_note_of_a_heading_is_no_part_of_its_title() -> None:
    found = document(p("<w:r><w:t>Hulls</w:t></w:r>" + reference(7), "Heading1"), footnotes=note(7, "Of iron."))
    assert blocks(found) == [("heading", "Hulls[1]"), ("footnote", "[1] Of iron.")]
    assert {block.headings for block in found.blocks} == {("Hulls",)}


# Tables


def test_cells_merged_over_columns_are_written_once_and_over_rows_in_each() -> None:
    body = tbl(
        tr(tc("Head", '<w:gridSpan w:val="2"/>'), tc("H3"), properties="<w:tblHeader/>"),
        tr(tc("tall", '<w:vMerge w:val="restart"/>'), tc("x"), tc("y")),
        tr(tc("hidden", "<w:vMerge/>"), tc("z"), tc()),
        tr(tc("hidden", "<w:vMerge/>"), tc(), tc()),
        tr(tc("end"), properties='<w:gridBefore w:val="2"/>'),
        tr(tc("l", '<w:hMerge w:val="restart"/>'), tc("gone", "<w:hMerge/>"), tc("m")),
    )
    assert read(body) == [("table", "Head | | H3\ntall | x | y\ntall | z |\n | | end\nl | | m")]


def test_rows_of_heads_are_read_as_one() -> None:
    over, below = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    head, no_head = "<w:tblHeader/>", '<w:tblHeader w:val="0"/>'
    title = tr(tc("Looms", '<w:gridSpan w:val="3"/>'), properties=head)
    first = tr(tc("Loom", over), tc("Warp", '<w:gridSpan w:val="2"/>'), properties=head)
    second = tr(tc("", below), tc("Ends"), tc("Ply"), properties=head)
    data = tr(tc("A"), tc("12"), tc("2"), properties=no_head)
    one = "Loom | Warp: Ends | Warp: Ply\nA | 12 | 2"
    assert read(tbl(first, second, data)) == [("table", one)]
    assert read(tbl(title, first, second, data)) == [("table", f"Looms | |\n{one}")]
    assert read(tbl(data, first, second)) == [("table", "A | 12 | 2\nLoom | Warp |\nLoom | Ends | Ply")]
    assert read(tbl(first, second)) == [("table", "Loom | Warp |\nLoom | Ends | Ply")]
    many = tr(tc("a"), tc("b"), properties=head)
    assert read(tbl(*[many] * 4, data)) == [("table", "a | b\n" * 4 + "A | 12 | 2")]


def test_a_merged_cell_of_prose_is_written_once() -> None:
    prose = "a " * 100 + "b"
    body = tbl(tr(tc(prose, '<w:vMerge w:val="restart"/>'), tc("x")), *[tr(tc("", "<w:vMerge/>"), tc("y"))] * 2)
    assert read(body) == [("table", f"{prose} | x\n | y\n | y")]


def test_nested_tables_stay_in_their_cell_and_lines_become_spaces() -> None:
    inner = tbl(tr(tc("a"), tc("b")), tr(tc("c"), tc()))
    body = tbl(
        tr(tc(p("one") + p("two")), tc(p("Inner:") + inner + p())), tr(tc("x"), tc(p("i", properties=numbered(1))))
    )
    assert read(body, numbering=ONE_LIST) == [("table", "one two | Inner: a, b; c\nx | 1. i")]


def test_a_table_of_one_cell_is_a_frame_around_text() -> None:
    body = tbl(tr(tc(p("Framed", "Heading1") + p("Text.") + tbl(tr(tc("a"), tc("b"))) + p())))
    assert read(body) == [("heading", "Framed"), ("paragraph", "Text."), ("table", "a | b")]


def test_an_absurd_span_does_no_harm() -> None:
    body = tbl(tr(tc("a", '<w:gridSpan w:val="999999999"/>'), tc("b")))
    assert read(body) == [("table", "a" + " |" * 63 + " b")]
    wide = tr(*[tc("a" * 200, '<w:gridSpan w:val="63"/>')] * 100, properties="<w:tblHeader/>")
    [(_, text)] = read(tbl(wide, tr(tc("b"), tc("c"), properties="<w:tblHeader/>"), tr(tc("d"))))
    assert len(text) < 2 * 63 * 200 + 100 * (200 + 63 * 3)


# Fields


def test_fields_keep_their_result_and_drop_their_instruction() -> None:
    nested = field("IF " + "x", r("yes") + field("MERGEFIELD name", r(" Ann")))
    body = p(
        r("See ")
        + field("REF target \\h", r("chapter 2"))
        + f'<w:fldSimple w:instr=" SEQ Figure ">{r(" 7")}</w:fldSimple>'
        + nested
    )
    body += p(
        r("Page ")
        + field("PAGE", r("12"))
        + r(" of ")
        + f'<w:fldSimple w:instr="NUMPAGES">{r("90")}</w:fldSimple>'
        + r("!")
    )
    assert read(body) == paragraphs("See chapter 2 7yes Ann", "Page of !")


def test_what_is_chosen_in_the_fields_of_a_form_is_text() -> None:
    def chosen(code: str, data: str) -> str:
        begin = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
        return field(code, "").replace('<w:r><w:fldChar w:fldCharType="begin"/></w:r>', begin)

    towns = '<w:listEntry w:val="Harrow"/><w:listEntry w:val="Vale"/>'
    body = p(r("Town: ") + chosen("FORMDROPDOWN", f'<w:ddList><w:result w:val="1"/>{towns}</w:ddList>') + r("."))
    body += p(r("First: ") + chosen("FORMDROPDOWN", f"<w:ddList>{towns}</w:ddList>"))
    body += p(chosen("FORMCHECKBOX", "<w:checkBox><w:default/></w:checkBox>") + r(" a clock"))
    body += p(chosen("FORMCHECKBOX", '<w:checkBox><w:default/><w:checked w:val="0"/></w:checkBox>') + r(" a bell"))
    assert read(body) == paragraphs("Town: Vale.", "First: Harrow", "☒ a clock", "☐ a bell")


def test_a_table_of_contents_is_left_out() -> None:
    begin, end = field('TOC \\o "1-3"', "@").split("@")
    entry = r("One") + "<w:r><w:tab/></w:r>" + field("PAGEREF _Toc1", r("3"))
    body = p(begin + entry) + p(entry) + p(end + r("After it.")) + p("One....3", "TOC1")
    body += sdt(p("Contents") + p(entry), '<w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj>')
    assert read(body + p("One", "Heading1")) == [("paragraph", "After it."), ("heading", "One")]


def test_a_field_that_never_ends_does_not_swallow_the_book() -> None:
    begin, _ = field("TOC", "@").split("@")
    found = document(p(begin + r("One")) + p("All the rest."))
    assert blocks(found) == paragraphs("One", "All the rest.")
    assert reasons(found) == "The document holds a field that never ends; all of its text was kept."


# Characters


def test_special_characters() -> None:
    body = p(
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>well</w:t><w:noBreakHyphen/>"
        "<w:t>known co</w:t><w:softHyphen/><w:t>op </w:t></w:r>"
        '<w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0FC"/>'
        '<w:sym w:font="Wingdings" w:char="F0E0"/><w:sym w:font="Elvish" w:char="F041"/>'
        '<w:sym w:font="Arial" w:char="00E9"/>'
        '<w:sym w:font="Symbol" w:char="nonsense"/></w:r>' + r("\uf0a3", '<w:rFonts w:ascii="Symbol"/>')
    )
    assert read(body) == paragraphs("a b c well-known coop α✓→□é□≤")


def test_hidden_text_is_left_out() -> None:
    styles = (
        STYLES + style("Ghost", "Ghost", run="<w:vanish/>", kind="character") + style("Hid", "Hid", run="<w:vanish/>")
    )
    body = p(
        r("Seen")
        + r(" not", "<w:vanish/>")
        + r(" nor this", '<w:rStyle w:val="Ghost"/>')
        + r(" too", '<w:vanish w:val="0"/>')
    )
    body += p(r("Gone.") + r("Shown.", '<w:vanish w:val="false"/>'), "Hid")
    assert read(body, styles=styles) == paragraphs("Seen too", "Shown.")


def test_other_files_inside_are_reported() -> None:
    found = document(p("Text.") + '<w:altChunk r:id="x"/>')
    reason = "The document includes another file, which was not read."
    assert (blocks(found), reasons(found)) == (paragraphs("Text."), reason)
