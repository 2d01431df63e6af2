"""Plain text: paragraphs, chapters, pages and encodings."""

from __future__ import annotations

import codecs
import time

import pytest

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest import composer
from tests.ingest.reading import blocks, parse, reasons


def test_wrapped_lines_are_paragraphs() -> None:
    document = parse(b"First line\nof one.\n\n\n  Second\r\n\r\nThird.\n", "a.txt")
    assert document.text == "First line of one.\n\nSecond\n\nThird."


def test_chapter_headings() -> None:
    text = (
        "CHAPTER I.\nThe Loom\n\nIt began.\n\nChapter 2: Storm\n\nWind.\n\nChapter and verse are what we give.\n\n"
        "Title\n=====\n\nX.\n\nSub\n---\n\nY.\n\nPart of the reason is plain.\n"
    )
    document = parse(text.encode(), "a.txt")
    headings = [block.headings for block in document.blocks if block.kind == "heading"]
    assert headings == [("CHAPTER I. The Loom",), ("Chapter 2: Storm",), ("Title",), ("Title", "Sub")]
    assert ("paragraph", "Chapter and verse are what we give.") in blocks(document)
    assert ("paragraph", "Part of the reason is plain.") in blocks(document)


def test_letters_that_are_struck_twice_or_coloured_are_letters() -> None:
    struck = "".join(f"{char}\b{char}" for char in "NAME")
    text = f"{struck}\n\nls - list _\bf_\bi_\bl_\be d\b_a\b_y\b_s a_b\n\n\x1b[1;31mBold\x1b[0m \x1b[Kis bold.\n"
    assert parse(text.encode(), "ls.txt").text == "NAME\n\nls - list file days a_b\n\nBold is bold."


def test_no_headings_at_all() -> None:
    document = parse(b"Only prose here.\n\nAnd more.", "a.txt")
    assert all(block.headings == () for block in document.blocks)
    assert document.title == "a.txt"


def test_a_line_that_names_the_title_is_believed() -> None:
    start = "The library's edition of Loom\n\nTitle: The Loom;\n       or, A Weaver's Year\n\nAuthor: A. Kell\n\n"
    document = parse(f"{start}CONTENTS\n\nChapter I\n\nIt began.\n".encode(), "loom.txt")
    assert document.title == "The Loom; or, A Weaver's Year"
    assert parse(b"It began.\n\n" + b"Words. " * 1000 + b"\n\nTitle: Duke\n", "loom.txt").title == "loom.txt"


@pytest.mark.parametrize("heading", ["Contents", "PREFACE.", "Acknowledgements", "CHAPTER I.", "Part One"])
def test_what_names_a_part_is_no_title(heading: str) -> None:
    assert parse(f"{heading}\n\nIt began.\n\nEND\n===\n\nOver.\n".encode(), "loom.txt").title == "loom.txt"
    assert parse(f"# {heading}\n\nIt began.\n\n# End\n\nOver.\n".encode(), "loom.md").title == "loom.md"


@pytest.mark.parametrize("heading", ["The Loom", "Introduction to Weaving", "Part of the Reason", "Contents of a Loom"])
def test_the_first_heading_is_the_title_otherwise(heading: str) -> None:
    assert parse(f"{heading}\n===\n\nIt began.\n".encode(), "loom.txt").title == heading


def test_form_feeds_are_pages() -> None:
    document = parse(b"One.\n\fTwo.\n\f\fFour.", "a.txt")
    pages = [document.page_at(document.text.index(word)) for word in ("One", "Two", "Four")]
    assert [page.number for page in pages if page] == [1, 2, 4]


def test_running_heads_of_printed_pages_are_no_text_and_give_the_labels() -> None:
    page = "RFC 1     HTCPCP     1 April 1998\n\n\n   Coffee {0}00.\n\nMasinter     [Page {0}]\n".format
    document = parse("\f\n".join(map(page, (4, 5, 6))).encode(), "a.txt")
    assert blocks(document) == [("paragraph", f"Coffee {number}00.") for number in (4, 5, 6)]
    assert [(mark.page.number, mark.page.label) for mark in document.pages] == [(1, "4"), (2, "5"), (3, "6")]


def test_headings_and_refrains_at_form_feeds_are_text() -> None:
    pages = [f"Chapter {number}\n\nOnce.\n\nNevermore." for number in (1, 2, 3)]
    assert len(blocks(parse("\f".join(pages).encode(), "a.txt"))) == 9


def test_lists() -> None:
    assert blocks(parse(b"Steps:\n1. wind it\n   well\n2. leave it\n", "a.txt")) == [
        ("paragraph", "Steps:"),
        ("list", "1. wind it well"),
        ("list", "2. leave it"),
    ]


SAID = "Zeitmesser für große Türme – naïve façade, œuvre"


@pytest.mark.parametrize(
    "data",
    [
        SAID.encode(),
        codecs.BOM_UTF8 + SAID.encode(),
        SAID.encode("utf-16"),
        codecs.BOM_UTF16_BE + SAID.encode("utf-16-be"),
        SAID.encode("utf-16-le"),
        SAID.encode("utf-32"),
    ],
)
def test_unicode_encodings(data: bytes) -> None:
    assert parse(data, "a.txt").text == SAID


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Die Uhr über dem Tor schlägt für alle."),
        ("cp1252", "L'été dernier, à la fête."),
        ("cp1252", "A situação não é tão simples; há razões."),
        ("cp1252", "He said “no” – it’s over."),
        ("cp1252", "Perché la città è così bella? Più tardi andrò."),
        ("cp1252", "Hästen åt gräset på ängen. Ångbåten låg vid ön."),
        ("cp1252", "The café where Zoë naïvely paid £5 — a façade of Ångström, Müller and Señor; où, déjà vu."),
        ("mac_roman", "The café where “Zoë” naïvely paid £5 — it’s a façade."),
        ("cp850", "Die Brücke führt über die Straße, größer als früher; el niño, ¿dónde está?"),
        ("cp1250", "Az árvíztűrő tükörfúrógép. Ő nőtt, erdő, hosszú. Jó reggelt, szép idő."),
        ("cp1250", "Zażółć gęślą jaźń. Książę był w Łodzi, gdzie śnieg padał przez całą noc."),
        ("cp1251", "Часы на башне пробили полночь, и все замолчали."),
        ("koi8_r", "Часы на башне пробили полночь, и все замолчали."),
        ("cp1253", "Το ρολόι του πύργου χτύπησε μεσάνυχτα."),
        ("cp932", "塔の時計が真夜中を打った。みんな黙っていた。"),
        ("euc_jp", "塔の時計が真夜中を打った。みんな黙っていた。"),
        ("gb18030", "塔上的钟敲了十二下，大家都沉默了。"),
        ("cp949", "탑의 시계가 자정을 쳤다. 모두 조용했다."),
    ],
)
def test_other_encodings_are_guessed_and_reported(encoding: str, text: str) -> None:
    document = parse(text.encode(encoding), "a.txt")
    assert document.text == text
    assert reasons(document) == f"The text is not UTF-8; it was read as {encoding}."


@pytest.mark.parametrize(
    "text",
    [
        "It is the clock’s key.\n".join(["- [Winding](winding.md): **once** a day, <b>not</b> on Sundays.\n" * 40] * 2),
        "The tower has stood for years and its clock for two. It has never been right. " * 5 + "It costs £5.",
        "The rôle of the naïve façade was to be both élan and déjà vu, said the makers." + " So it was." * 5,
    ],
)
def test_a_few_accents_and_quotation_marks_are_no_other_script(text: str) -> None:
    assert "".join(parse(text.encode("cp1252"), "a.txt").text.split()) == "".join(text.split())


def test_japanese_mail_is_known_by_its_signs() -> None:
    text = "塔の時計が1788年に真夜中を打った。"
    assert parse(text.encode("iso2022_jp"), "a.txt").text == text
    assert parse(b"cost \x1b$B5 and more", "a.txt").text == "cost $B5 and more"


def test_an_encoding_shows_late_in_a_long_text() -> None:
    text = "Plain words. " * 30_000 + "Und dann für alle."
    assert parse(text.encode("cp1252"), "a.txt").text == text


def test_invalid_utf8_is_read_with_a_warning() -> None:
    document = parse("Größe und Höhe".encode() + b" broken \xff here " + "über".encode(), "a.txt")
    assert document.text == "Größe und Höhe broken \ufffd here über"
    assert "not valid UTF-8" in reasons(document)
    assert "byte 25" in reasons(document)


def test_right_to_left_cjk_and_emoji_survive() -> None:
    text = "الساعة في البرج. هل تدق؟ نعم.\n\n時計は塔にある。鐘が鳴る。\n\nTick 🕰️ tock 👩‍🔧."
    document = parse(text.encode(), "a.txt")
    assert document.text == text


def test_invisible_characters_go() -> None:
    assert parse("soft\u00adhyphen zero\u200bwidth nb\u00a0space\x07".encode(), "a.txt").text == (
        "softhyphen zerowidth nb space"
    )


def test_roles_of_restructuredtext_are_their_words() -> None:
    text = "Row to :ref:`the old\nford <ford-1>`, see :doc:`maps/river` and :py:func:`row`; it is 3:re:`x` and `y`."
    told = "Row to the old ford, see maps/river and row; it is 3:re:`x` and `y`."
    assert parse(text.encode(), "a.rst").text == told


def test_white_space_of_any_kind_keeps_words_apart() -> None:
    text = "one\x0btwo\u2028three\u3000four\x85five, and so on until a vertical tab is rare"
    assert parse(text.encode(), "a.txt").text == "one two three four five, and so on until a vertical tab is rare"


def test_a_pile_of_accents_takes_no_square_time() -> None:
    started = time.perf_counter()
    assert parse(("Z" + "\u0301\u0327" * 300_000 + "algo").encode(), "a.txt").text == "Zalgo"
    assert time.perf_counter() - started < 20
    assert parse("Cafe\u0301 ".encode() + "─".encode() * 500, "a.txt").text == "Café " + "─" * 500


def test_a_file_of_endless_tiny_paragraphs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composer, "_MAX_BLOCKS", 1000)
    assert len(parse(b"a\n\n" * 1000, "a.txt").blocks) == 1000
    with pytest.raises(UnreadableFileError, match="more than 1,000 paragraphs") as caught:
        parse(b"a\n\n" * 1001, "a.txt")
    assert caught.value.reason == "bomb"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'name,year\n"Mill, upper",1788\r\n"The ""low""\nmill",\n',
            'name | year\nMill, upper | 1788\nThe "low" mill |',
        ),
        ("name;cost\nMill;4,5\n", "name | cost\nMill | 4,5"),
        ("name\tyear\nMill\t1788\nForge\t1802", "name | year\nMill | 1788\nForge | 1802"),
    ],
)
def test_separated_values_are_a_table(text: str, expected: str) -> None:
    assert blocks(parse(text.encode(), "a.csv.txt")) == [("table", expected)]


@pytest.mark.parametrize(
    "text",
    [
        "The mill, old,\nand the forge, new,\nburned, both, at once.",
        "Mill,forge\nand one line more.",
        'He said,"no"way\nand,"so',
        "One,two",
        "x" * 200_000 + ",y\na,b",
    ],
)
def test_prose_with_commas_is_no_table(text: str) -> None:
    assert {kind for kind, _ in blocks(parse(text.encode(), "a.txt"))} == {"paragraph"}


def test_lines_that_each_end_in_a_comma_are_no_table() -> None:
    document = parse(b"The miller wakes at dawn,\nThe river turns the stone,\n", "a.txt")
    assert [block.kind for block in document.blocks] == ["paragraph"]
