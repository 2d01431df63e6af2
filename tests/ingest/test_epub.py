"""EPUB: outline, pages, places, notes, and books that are broken or hostile."""

from __future__ import annotations

import re

import pytest

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats import epub
from chapterverse.types import Document, ReadOptions
from tests.ingest import epubs
from tests.ingest.reading import blocks, reasons

TWO = {"one.xhtml": "<h1>The Lamp</h1><p>It burns.</p>", "two.xhtml": "<h1>The Horn</h1><p>It blows.</p>"}
NAV = epubs.nav('<li><a href="one.xhtml">The Lamp</a></li><li><a href="two.xhtml">The Horn</a></li>')


def read(data: bytes, options: ReadOptions = ReadOptions()) -> Document:
    composer = Composer()
    epub.parse(data, composer, options)
    return composer.document(file_id="b", file_name="b.epub", mime_type="application/epub+zip", sha256="0")


def outline(document: Document) -> list[tuple[tuple[str, ...], str]]:
    """Each block's place and text."""
    return [(block.headings, document.text[block.start : block.end]) for block in document.blocks]


def refusal(data: bytes, options: ReadOptions = ReadOptions()) -> UnreadableFileError:
    with pytest.raises(UnreadableFileError) as caught:
        read(data, options)
    return caught.value


def label_at(document: Document, words: str) -> str | None:
    page = document.page_at(document.text.index(words))
    return page.label if page else None


def test_spine_metadata_and_outline() -> None:
    document = read(epubs.epub(TWO, NAV))
    assert (document.title, document.author, document.language) == ("The Lighthouse Log", "Ada Keeper", "en-GB")
    assert document.notices == ()
    assert outline(document) == [
        (("The Lamp",), "The Lamp"),
        (("The Lamp",), "It burns."),
        (("The Horn",), "The Horn"),
        (("The Horn",), "It blows."),
    ]


def test_reading_order_is_the_spine_and_not_the_manifest() -> None:
    files = epubs.edited(epubs.parts(TWO, NAV), "OEBPS/book.opf", 'idref="i1"', 'idref="x"')
    files = epubs.edited(files, "OEBPS/book.opf", 'idref="i2"', 'idref="i1"')
    document = read(epubs.pack(epubs.edited(files, "OEBPS/book.opf", 'idref="x"', 'idref="i2"')))
    assert [text for _, text in blocks(document)] == ["The Horn", "It blows.", "The Lamp", "It burns."]


def test_contents_decide_levels_and_a_heading_is_printed_once() -> None:
    body = (
        '<section id="c1"><hgroup><h2>I</h2><p>Oil</p></hgroup><p>Whale.</p>'
        '<section id="s1"><h3>Wicks</h3><p>Cotton.</p><h4>Trimming</h4><p>Daily.</p></section></section>'
        '<p id="c2">No heading here.</p><h2>Chapter Three</h2><h3 id="late">Lenses</h3><p>Glass.</p>'
    )
    contents = epubs.nav(
        '<li><span>Part One</span><ol><li><a href="all.xhtml#c1">I: Oil</a><ol><li><a href="all.xhtml#s1">Wicks'
        '</a></li></ol></li></ol></li><li><a href="all.xhtml#c2">Silence</a></li>'
        '<li><a href="all.xhtml#late">Lenses</a></li>'
    )
    assert outline(read(epubs.epub({"all.xhtml": body}, contents))) == [
        (("Part One", "I: Oil"), "I: Oil"),
        (("Part One", "I: Oil"), "Whale."),
        (("Part One", "I: Oil", "Wicks"), "Wicks"),
        (("Part One", "I: Oil", "Wicks"), "Cotton."),
        (("Part One", "I: Oil", "Wicks", "Trimming"), "Trimming"),
        (("Part One", "I: Oil", "Wicks", "Trimming"), "Daily."),
        (("Silence",), "No heading here."),
        (("Silence", "Chapter Three"), "Chapter Three"),
        (("Lenses",), "Lenses"),
        (("Lenses",), "Glass."),
    ]


@pytest.mark.parametrize(
    ("body", "title", "expected"),
    [
        ("<h1>Chapter 1</h1><h2>The Lamp</h2><p>X.</p>", "The Lamp", ["Chapter 1: The Lamp", "X."]),
        ("<h1>1</h1><p>X.</p>", "Chapter 1. The Lamp", ["1", "X."]),
        ("<p>1</p><h2>The Lamp</h2><p>X.</p>", "1. The Lamp", ["1", "The Lamp", "X."]),
        ("<h2>THE LAMP</h2><p>X.</p>", "The Lamp", ["THE LAMP", "X."]),
    ],
)
def test_a_title_printed_in_its_own_way_is_one_chapter(body: str, title: str, expected: list[str]) -> None:
    contents = epubs.nav(f'<li><a href="one.xhtml">{title}</a></li>')
    document = read(epubs.epub({"one.xhtml": body}, contents))
    assert [text for _, text in blocks(document)] == expected
    assert len({block.headings for block in document.blocks}) == 1
    assert len(document.blocks[-1].headings) == 1
    assert "lamp" in (document.place(0, 1).chapter or "").casefold()


def test_a_letter_in_a_glossary_is_not_taken_for_its_title() -> None:
    contents = epubs.nav('<li><a href="one.xhtml">Glossary</a></li>')
    document = read(epubs.epub({"one.xhtml": "<h2>A</h2><p>Aft.</p><h2>B</h2><p>Bow.</p>"}, contents))
    assert [block.headings for block in document.blocks[1::2]] == [("Glossary", "A"), ("Glossary", "B")]


def test_chapters_below_the_half_title_are_chapters() -> None:
    documents = {"half.xhtml": "<h1>The Lighthouse Log</h1>", **TWO}
    contents = epubs.nav(
        '<li><a href="half.xhtml">The Lighthouse Log</a><ol><li><a href="one.xhtml">The Lamp</a></li>'
        '<li><a href="two.xhtml">The Horn</a></li></ol></li>'
    )
    document = read(epubs.epub(documents, contents))
    assert document.place(document.text.index("It blows"), len(document.text)).chapter == "The Horn"


def test_a_part_whose_document_is_a_picture_still_holds_its_chapters() -> None:
    documents = {"part.xhtml": '<img src="x.png" alt="Part I"/>', **TWO}
    contents = epubs.nav(
        '<li><a href="part.xhtml">Part I</a><ol><li><a href="one.xhtml">The Lamp</a></li></ol></li>'
        '<li><a href="two.xhtml">The Horn</a></li>'
    )
    assert [headings for headings, _ in outline(read(epubs.epub(documents, contents)))] == [
        ("Part I", "The Lamp"), ("Part I", "The Lamp"), ("The Horn",), ("The Horn",),
    ]  # fmt: skip


def test_epub_2_contents_and_pages() -> None:
    documents = {
        "one.xhtml": '<h1>The Lamp</h1><p>It <a id="p2"/>burns.</p>',
        "sub dir/two.xhtml": '<h1 id="h">The Horn</h1><p id="p3">It blows.</p>',
    }
    contents = epubs.ncx(
        epubs.point("The Lamp", "one.xhtml", epubs.point("The Horn", "sub%20dir/two.xhtml#h")),
        "".join(
            f'<pageTarget><navLabel><text>{label}</text></navLabel><content src="{place}"/></pageTarget>'
            for label, place in (("1", "one.xhtml"), ("2", "one.xhtml#p2"), ("iii", "sub%20dir/two.xhtml#p3"))
        ),
    )
    metadata = (
        '<dc:title>T</dc:title><dc:creator opf:role="edt">E</dc:creator><dc:creator opf:role="aut">A</dc:creator>'
    )
    document = read(epubs.epub(documents, contents, metadata))
    assert (document.author, document.page_count, document.notices) == ("A", 3, ())
    assert document.blocks[-1].headings == ("The Lamp", "The Horn")
    labels = [label_at(document, words) for words in ("The Lamp", "It ", "burns", "The Horn", "It blows")]
    assert labels == ["1", "1", "2", "2", "iii"]


def test_a_part_that_leads_nowhere_begins_with_its_first_chapter() -> None:
    chapters = [epubs.point("The Lamp", "one.xhtml"), epubs.point("The Horn", "two.xhtml")]
    parts = (f"<navPoint><navLabel><text>Part {n}</text></navLabel>{one}</navPoint>" for n, one in enumerate(chapters))
    document = read(epubs.epub(TWO, epubs.ncx("".join(parts))))
    assert [path for path, _ in outline(document)][::2] == [("Part 0", "The Lamp"), ("Part 1", "The Horn")]


def test_page_breaks_inside_a_paragraph() -> None:
    body = (
        '<span epub:type="pagebreak" title="xi"/><p>One <b>wo<span epub:type="pagebreak" id="q" role="doc-pagebreak"/>'
        'rd</b>. <span role="doc-pagebreak" aria-label="Page 13."/></p><div epub:type="pagebreak">14</div>'
        "<p>Fourteen.</p>"
    )
    contents = epubs.nav('<li><a href="one.xhtml">T</a></li>', '<li><a href="one.xhtml#q">12</a></li>')
    document = read(epubs.epub({"one.xhtml": body}, contents))
    assert document.text == "One word.\n\nFourteen."
    assert [label_at(document, words) for words in ("One", "wo", "rd.", "Fourteen")] == ["xi", "xi", "12", "14"]
    assert all(mark.page.number is None for mark in document.pages)


def test_cfi_of_a_block_is_its_elements_path() -> None:
    body = '<div><p>One.</p></div><div id="d[1]"><p>Two.</p><ul><li>Three</li><li id="x">Four</li></ul></div>'
    document = read(epubs.epub({"a.xhtml": "<p>Zero.</p>", "one.xhtml": body}))
    assert [block.cfi for block in document.blocks] == [
        "epubcfi(/6/2[ref1]!/4/2)",
        "epubcfi(/6/4[ref2]!/4/2/2)",
        "epubcfi(/6/4[ref2]!/4/4[d^[1^]]/2)",
        "epubcfi(/6/4[ref2]!/4/4[d^[1^]]/4/2)",
        "epubcfi(/6/4[ref2]!/4/4[d^[1^]]/4/4[x])",
    ]


def test_notes_of_another_document_follow_their_reference() -> None:
    documents = {
        "one.xhtml": '<h1>The Lamp</h1><p><span epub:type="pagebreak" title="1"/>Oil<a epub:type="noteref" '
        'href="notes.xhtml#n1">1</a> and wick.<a href="notes.xhtml#n2"><sup>*</sup></a></p><p>It burns.</p>',
        "notes.xhtml": '<h1>Notes</h1><span epub:type="pagebreak" title="99"/><aside epub:type="endnote" id="n1" '
        'hidden="hidden"><p>1. Whale oil.</p><p>Later colza.</p></aside>'
        '<p id="n2"><a href="one.xhtml">*</a> Cotton.</p>',
    }
    contents = epubs.nav('<li><a href="one.xhtml">The Lamp</a></li><li><a href="notes.xhtml">Notes</a></li>')
    document = read(epubs.epub(documents, contents))
    assert blocks(document) == [
        ("heading", "The Lamp"),
        ("paragraph", "Oil[1] and wick.[*]"),
        ("footnote", "[1] Whale oil."),
        ("footnote", "Later colza."),
        ("footnote", "[*] Cotton."),
        ("paragraph", "It burns."),
    ]
    assert {block.headings for block in document.blocks} == {("The Lamp",)}
    assert [label_at(document, words) for words in ("Oil[1]", "Whale", "Cotton", "It burns")] == ["1", "99", "99", "1"]
    assert document.blocks[4].cfi == "epubcfi(/6/4[ref2]!/4/8[n2])"


def test_a_reference_without_a_note_stays_as_it_is() -> None:
    body = '<p>Oil<a epub:type="noteref" href="#gone">1</a>.</p><p>To <sup><a href="#big">2</a></sup>.</p>'
    document = read(epubs.epub({"one.xhtml": f'{body}<section id="big"><h2>Two</h2><p>X.</p></section>'}))
    assert [text for _, text in blocks(document)] == ["Oil1.", "To 2.", "Two", "X."]


def test_named_entities_and_doctypes() -> None:
    text = (
        '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" '
        '"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd"><html xmlns="http://www.w3.org/1999/xhtml"><body>'
        "<p>Tea&nbsp;&amp;&nbsp;milk &mdash; caf&eacute; &lt;b&gt;</p></body></html>"
    )
    document = read(epubs.epub({"one.xhtml": text}))
    assert document.text == "Tea & milk — café <b>"
    assert "one.xhtml" not in reasons(document)


def test_utf_16_documents() -> None:
    files = epubs.parts({"one.xhtml": "<p>x</p>"})
    text = epubs.document("<p>na&iuml;ve — 漢字</p>").replace("utf-8", "utf-16")
    document = read(epubs.pack({**files, "OEBPS/one.xhtml": text.encode("utf-16")}))
    assert document.text == "naïve — 漢字"


def test_navigation_cover_and_contents_pages_are_not_text() -> None:
    documents = {"cover.xhtml": "<p>COVER</p>", "toc.xhtml": "<h1>Contents</h1><p>One ... 1</p>", **TWO}
    guide = '<guide><reference type="toc" href="toc.xhtml"/></guide>'
    contents = epubs.nav('<li><a href="one.xhtml">The Lamp</a></li>', landmarks=(
        '<li><a epub:type="cover" href="cover.xhtml">Cover</a></li>'))  # fmt: skip
    files = epubs.parts(documents, contents, guide=guide)
    document = read(epubs.pack(epubs.edited(files, "OEBPS/book.opf", "<spine>", '<spine><itemref idref="toc"/>')))
    assert document.text.startswith("The Lamp")
    assert "Contents" not in document.text


@pytest.mark.parametrize("kind", ["cover", "toc"])
def test_a_chapter_in_the_document_of_the_cover_or_the_contents_is_read(kind: str) -> None:
    listed = "".join(f'<p><a href="{name}">A chapter of the book</a></p>' for name in TWO)
    first = "<h1>The Cellar</h1>" + "<p>The keeper went down and counted the barrels of oil again.</p>" * 10
    contents = epubs.nav('<li><a href="front.xhtml">The Cellar</a></li><li><a href="one.xhtml">The Lamp</a></li>')
    guide = f'<guide><reference type="{kind}" href="front.xhtml"/></guide>'
    document = read(epubs.epub({"front.xhtml": listed + first, **TWO}, contents, guide=guide))
    assert document.place(document.text.index("barrels"), document.text.index("barrels") + 7).chapter == "The Cellar"


def test_a_book_of_one_document_is_read_though_its_guide_calls_it_contents() -> None:
    guide = '<guide><reference type="toc" href="one.xhtml"/></guide>'
    assert read(epubs.epub({"one.xhtml": "<h1>All</h1><p>Text.</p>"}, guide=guide)).text == "All\n\nText."


def test_a_picture_in_the_reading_order_is_passed_over() -> None:
    svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><text>drawn</text></svg>'
    assert read(epubs.epub({"plate.svg": svg, **TWO}, NAV)).text.startswith("The Lamp")


def broken(name: str) -> bytes:
    """A book with one thing out of order, which is read all the same."""
    files = epubs.parts(TWO, NAV)
    opf, one = "OEBPS/book.opf", "OEBPS/one.xhtml"
    if name == "missing document":
        del files["OEBPS/two.xhtml"]
    elif name == "missing manifest item":
        files = epubs.edited(files, opf, "<spine>", '<spine><itemref idref="ghost"/>')
    elif name == "media type":
        files = epubs.edited(files, opf, 'href="one.xhtml" media-type="application/xhtml+xml"',
                             'href="one.xhtml" media-type="text/html"')  # fmt: skip
    elif name == "bad markup":
        files = epubs.edited(files, one, "<p>It burns.</p>", '<a id="x"/><p>It <b>burns.<br></p>&unknown; <i>Bright')
    elif name == "bad encoding":
        files[one] = files[one].replace(b"burns", b"br\xfbl\xe9")
    elif name == "duplicate id":
        files = epubs.edited(files, one, "<p>", '<p id="x"/><p id="x">')
    elif name == "mimetype not first":
        files = {**{key: files[key] for key in list(files)[1:]}, "mimetype": files["mimetype"]}
    elif name == "no mimetype":
        del files["mimetype"]
    elif name == "missing navigation":
        del files["OEBPS/nav.xhtml"]
    elif name == "case":
        files["OEBPS/One.XHTML"] = files.pop(one)
    elif name == "accents":
        files = epubs.edited(epubs.edited(files, opf, "one", "d%C3%A9but"), "OEBPS/nav.xhtml", "one", "d%C3%A9but")
        files["OEBPS/de\u0301but.xhtml"] = files.pop(one)
    elif name == "percent signs":
        files = epubs.edited(epubs.edited(files, opf, "one", "o%20e"), "OEBPS/nav.xhtml", "one", "o%20e")
        files["OEBPS/o%20e.xhtml"] = files.pop(one)
    elif name == "no container":
        del files["META-INF/container.xml"]
    elif name == "contents entry":
        files = epubs.edited(files, "OEBPS/nav.xhtml", "two.xhtml", "two.xhtml#nowhere")
        files = epubs.edited(files, "OEBPS/nav.xhtml", "The Horn", "The Bell")
    elif name == "not linear":
        files = epubs.edited(files, opf, 'idref="i2"', 'idref="i2" linear="no"')
    elif name == "no spine":
        files[opf] = re.sub(rb"<spine>.*</spine>", b"", files[opf])
    return epubs.pack(files)


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("missing document", "'OEBPS/two.xhtml' is missing"),
        ("missing manifest item", "'ghost'"),
        ("media type", "'OEBPS/one.xhtml' is declared as 'text/html'"),
        ("bad markup", "markup of 'OEBPS/one.xhtml' is broken"),
        ("bad encoding", "markup of 'OEBPS/one.xhtml' is broken"),
        ("duplicate id", "'OEBPS/one.xhtml' uses the id 'x' more than once"),
        ("mimetype not first", "'mimetype' part is not the first"),
        ("no mimetype", "'mimetype' part is missing"),
        ("missing navigation", "no table of contents"),
        ("case", "the file is called 'OEBPS/One.XHTML'"),
        ("accents", "the file is called 'OEBPS/de\u0301but.xhtml'"),
        ("percent signs", "the file is called 'OEBPS/o%20e.xhtml'"),
        ("no container", "'OEBPS/book.opf' was used"),
        ("contents entry", "'The Bell' leads to 'OEBPS/two.xhtml#nowhere'"),
        ("not linear", "'OEBPS/two.xhtml' stands outside the reading order"),
        ("no spine", "no reading order"),
    ],
)
def test_broken_books_are_read_with_a_warning(name: str, warning: str) -> None:
    document = read(broken(name))
    assert warning in reasons(document)
    assert "The Lamp" in document.text
    assert "It b" in document.text


def test_a_book_that_is_also_there_in_another_format_is_read() -> None:
    pdf = '<rootfiles><rootfile full-path="book.pdf" media-type="application/pdf"/>'
    files = {
        **epubs.edited(epubs.parts(TWO, NAV), "META-INF/container.xml", "<rootfiles>", pdf),
        "book.pdf": b"%PDF-1.7",
    }
    document = read(epubs.pack(files))
    assert document.text.startswith("The Lamp")
    assert not document.notices


def test_bad_markup_is_read_as_a_browser_would() -> None:
    document = read(broken("bad markup"))
    assert "It burns.\n\n&unknown; Bright" in document.text
    assert document.place(document.text.index("It burns"), 99).chapter == "The Lamp"


DEEP = "<div>" * 100_000


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (epubs.epub(TWO, NAV)[:400], "damaged"),
        (epubs.pack({"mimetype": b"application/epub+zip"}), "damaged"),
        (epubs.pack(epubs.encrypted(epubs.parts(TWO), "OEBPS/one.xhtml", "http://x/aes256-cbc")), "encrypted"),
        (epubs.epub({"one.xhtml": '<img src="a.png" alt="scan"/>'}), "no_text"),
        (epubs.pack({k: v for k, v in epubs.parts(TWO).items() if "xhtml" not in k}), "damaged"),
        (epubs.pack({**epubs.parts(TWO), "../../evil.sh": b"x"}), "traversal"),
        (epubs.epub({"one.xhtml": '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
                                  "<html><body><p>&x;</p></body></html>"}), "entities"),
        (epubs.epub({"one.xhtml": '<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
                                  "<html><body><p>&b;</p></body></html>"}), "entities"),
        (epubs.pack(epubs.edited(epubs.parts(TWO), "OEBPS/book.opf", "<package",
                                 '<!DOCTYPE p [<!ENTITY a "b">]><package')), "entities"),
        (epubs.epub({"one.xhtml": DEEP}), "bomb"),
    ],
    ids=["empty", "cut off", "no package", "drm", "pictures only", "no documents", "traversal", "xxe", "laughs",
         "laughing package", "deep"],
)  # fmt: skip
def test_hostile_and_unreadable_books_are_refused_by_name(data: bytes, reason: str) -> None:
    assert refusal(data).reason == reason


def test_a_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    data = epubs.pack({**epubs.parts(TWO), "OEBPS/big.bin": b"\0" * 3_000_000})
    assert refusal(data, ReadOptions(max_unpacked_mb=2)).reason == "bomb"


def test_obfuscated_fonts_are_no_lock() -> None:
    files = epubs.encrypted(epubs.parts(TWO, NAV), "OEBPS/one.xhtml", "http://www.idpf.org/2008/embedding")
    assert "It burns." in read(epubs.pack(files)).text


def test_a_damaged_document_leaves_the_others() -> None:
    data = bytearray(epubs.epub(TWO, NAV))
    at = data.index(b"OEBPS/one.xhtml") + len("OEBPS/one.xhtml") + 4
    data[at : at + 16] = b"\xff" * 16
    document = read(bytes(data))
    assert "'OEBPS/one.xhtml' is damaged" in reasons(document)
    assert "It blows." in document.text
