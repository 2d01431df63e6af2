"""The shipped sample book: up to date with its manuscript, sound in every format, and true to its page numbers."""

from __future__ import annotations

import json
import posixpath
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import lxml.html
import pytest
from lxml import etree
from pypdf import PdfReader

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "src/chapterverse/sample"
NAME = "the-clocks-of-harrow-vale"
FORMATS = ("md", "pdf", "epub", "docx", "pptx", "html")
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (SHIPPED / "questions.jsonl").read_text("utf-8").splitlines()
]
PLACED_QUOTES = [
    (quote, page, label)
    for question in QUESTIONS
    for quote, page, label in zip(question["quotes"], question["page"], question["page_label"], strict=True)
]


def fold(text: str) -> str:
    """Text without what typesetting adds or takes: spaces, hyphens, the bars between a table's cells."""
    return re.sub(r"[\s|-]+", "", text)


def shipped(suffix: str) -> Path:
    return SHIPPED / f"{NAME}.{suffix}"


@cache
def pdf_pages() -> tuple[tuple[str, str], ...]:
    """Printed label and text of each page."""
    reader = PdfReader(shipped("pdf"))
    return tuple(zip(reader.page_labels, (page.extract_text() for page in reader.pages), strict=True))


def xml_text(path: Path, names: str, tag: str) -> str:
    """The text of the elements called `tag` in a zip's members that match `names`."""
    with ZipFile(path) as archive:
        members = sorted(name for name in archive.namelist() if re.fullmatch(names, name))
        roots = [etree.fromstring(archive.read(name)) for name in members]
    return "\n".join("".join(map(str, each.itertext())) for root in roots for each in root.iter(f"{{*}}{tag}"))


@cache
def text_of(suffix: str) -> str:
    """The whole text of a format, folded, read without the project's own readers."""
    path = shipped(suffix)
    match suffix:
        case "md":
            text = re.sub(r"\[\^\d+\](: )?|\*", "", path.read_text("utf-8"))
        case "epub":
            text = xml_text(path, r"EPUB/(front|chapter-\d+)\.xhtml", "body")
        case "docx":
            text = xml_text(path, r"word/(document|footnotes)\.xml", "t")
        case "pptx":
            text = xml_text(path, r"ppt/(slides|notesSlides)/\w+\.xml", "t")
        case _:
            articles = lxml.html.fromstring(path.read_bytes()).iter("article")
            text = " ".join("".join(map(str, article.itertext())) for article in articles)
    return fold(text)


def contents(path: Path) -> object:
    """What a file says, apart from the way its bytes are compressed."""
    if path.suffix == ".pdf":
        reader = PdfReader(path)
        streams = [page.get_contents().get_data() for page in reader.pages]  # type: ignore[union-attr]
        return reader.metadata, reader.page_labels, outline(reader), streams
    if path.suffix in (".epub", ".docx", ".pptx"):
        with ZipFile(path) as archive:
            return [(entry.filename, entry.date_time, archive.read(entry)) for entry in archive.infolist()]
    return path.read_bytes()


def outline(reader: PdfReader) -> list[tuple[int, str, int]]:
    """Level, title and physical page of each bookmark."""
    found: list[tuple[int, str, int]] = []

    def walk(items: list[Any], level: int) -> None:
        for item in items:
            if isinstance(item, list):
                walk(item, level + 1)
            else:
                found.append((level, item.title, (reader.get_destination_page_number(item) or 0) + 1))

    walk(reader.outline, 1)
    return found


def headings() -> list[tuple[int, str]]:
    """Level and title of each heading of the Markdown book."""
    source = shipped("md").read_text("utf-8")
    return [(len(marks), title) for marks, title in re.findall(r"^(#+) (.+)$", source, re.MULTILINE)]


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("book")
    subprocess.run([sys.executable, "-W", "error", ROOT / "sample/build.py", folder], check=True, capture_output=True)
    return folder


def test_the_shipped_files_are_those_that_the_manuscript_gives(rebuilt: Path) -> None:
    names = sorted(path.name for path in rebuilt.iterdir())
    assert names == sorted([*(f"{NAME}.{suffix}" for suffix in FORMATS), "questions.jsonl"])
    assert [name for name in names if contents(rebuilt / name) != contents(SHIPPED / name)] == []


def test_the_book_is_long_and_the_files_are_small() -> None:
    titles = [title for level, title in headings() if level == 1]
    assert [title.split(":")[0] for title in titles[1:]] == [f"Chapter {number}" for number in range(1, 13)]
    assert len(shipped("md").read_text("utf-8").split()) >= 12_000
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 1_000_000


@pytest.mark.parametrize("suffix", [suffix for suffix in FORMATS if suffix != "pdf"])
def test_every_format_holds_every_gold_quote(suffix: str) -> None:
    text = text_of(suffix)
    assert len(PLACED_QUOTES) > 150
    assert [quote for quote, _, _ in PLACED_QUOTES if fold(quote) not in text] == []


def test_every_gold_quote_begins_on_its_page_of_the_pdf() -> None:
    labels, pages = zip(*((label, fold(text)) for label, text in pdf_pages()), strict=True)
    torn = []
    for quote, number, label in PLACED_QUOTES:
        assert labels[number - 1] == label
        # A printed row is read line by line, so that a cell of two lines parts its neighbours.
        pieces = [fold(cell) for cell in quote.split(" | ")]
        if not all(piece in pages[number - 1] for piece in pieces):
            torn.append((fold(quote), number))
    for quote, number in torn:
        here, following = pages[number - 1], pages[number]
        assert any(quote[:cut] in here and quote[cut:] in following for cut in range(10, len(quote))), quote
    assert 0 < len(torn) < len(PLACED_QUOTES) / 10


def test_pages_are_labelled_in_roman_and_then_in_arabic() -> None:
    labels = [label for label, _ in pdf_pages()]
    assert labels[:5] == ["i", "ii", "iii", "iv", "v"]
    assert labels[5:] == [str(number) for number in range(1, len(labels) - 4)]
    assert len(labels[5:]) >= 50


def test_pages_print_their_label_and_running_head() -> None:
    pages = dict(pdf_pages())
    assert all(label in text.split("\n") for label, text in pages.items() if label != "i")
    assert pages["44"].startswith("The Clocks of Harrow Vale\n44\n")
    assert pages["45"].startswith("Flood, Fire and Silence\n45\n")
    assert len(pages["45"].split()) > 180


def test_the_pdf_divides_words_at_the_ends_of_lines() -> None:
    whole = set(re.findall(r"\w+", shipped("md").read_text("utf-8")))
    divided = [a + b for _, text in pdf_pages() for a, b in re.findall(r"(\w+)-\n(\w+)", text)]
    assert sum(word in whole for word in divided) >= 12
    assert sum(word not in whole for word in divided) >= 3  # words with a hyphen of their own


def test_bookmarks_point_to_the_headings() -> None:
    reader = PdfReader(shipped("pdf"))
    entries = outline(reader)
    assert [(level, title) for level, title, _ in entries if title != "Contents"] == headings()
    for _, title, number in entries:
        assert fold(title) in fold(pdf_pages()[number - 1][1])
    assert reader.metadata is not None
    assert (reader.metadata.title, reader.metadata.author) == ("The Clocks of Harrow Vale", "Wilhelmina Tarrant")


def test_the_epub_marks_where_the_printed_pages_begin() -> None:
    """The words after each page break open that page of the PDF; the printed contents have no place in the EPUB."""
    printed = dict(pdf_pages())
    with ZipFile(shipped("epub")) as archive:
        listed = re.findall(r'href="([\w-]+\.xhtml)#(page-(\w+))"', archive.read("EPUB/nav.xhtml").decode())
        assert [label for _, _, label in listed] == [label for label in printed if label != "iii"]
        for name, anchor, label in listed:
            source = archive.read(f"EPUB/{name}").decode()
            after = re.sub(r"<[^>]+>", " ", source.split(f'id="{anchor}"')[1].split(">", 1)[1])
            assert fold(after)[:40] in fold(printed[label])[:120], label


def test_the_epub_says_what_it_is_first() -> None:
    with ZipFile(shipped("epub")) as archive:
        first, *others = archive.infolist()
        assert (first.filename, first.compress_type) == ("mimetype", ZIP_STORED)
        assert archive.read(first) == b"application/epub+zip"
        package = etree.fromstring(archive.read("EPUB/book.opf"))
        listed = {f"EPUB/{item.get('href')}" for item in package.iter("{*}item")} | {"EPUB/book.opf"}
    assert {entry.filename for entry in others} == listed | {"META-INF/container.xml"}


@pytest.mark.parametrize("suffix", ["docx", "pptx"])
def test_office_files_declare_and_connect_all_their_parts(suffix: str) -> None:
    with ZipFile(shipped(suffix)) as archive:
        names = set(archive.namelist())
        types = etree.fromstring(archive.read("[Content_Types].xml"))
        declared = {str(each.get("PartName")).lstrip("/") for each in types.iter("{*}Override")}
        reached = set()
        for name in (name for name in names if name.endswith(".rels")):
            folder = posixpath.dirname(posixpath.dirname(name))
            for relation in etree.fromstring(archive.read(name)):
                reached.add(posixpath.normpath(posixpath.join(folder, str(relation.get("Target")))))
        for name in declared:
            text = archive.read(name).decode()
            used = set(re.findall(r'r:id="(rId\d+)"', text))
            relations = posixpath.join(posixpath.dirname(name), "_rels", posixpath.basename(name) + ".rels")
            known = set(re.findall(r'Id="(rId\d+)"', archive.read(relations).decode())) if relations in names else set()
            assert used <= known, name
    assert declared == reached == {name for name in names if not name.endswith(".rels")} - {"[Content_Types].xml"}


def test_word_and_powerpoint_know_the_structure() -> None:
    chapters = [title for level, title in headings() if level == 1][1:]
    with ZipFile(shipped("docx")) as archive:
        document = etree.fromstring(archive.read("word/document.xml"))
        notes = etree.fromstring(archive.read("word/footnotes.xml"))
    styled = [
        "".join(map(str, paragraph.itertext()))
        for paragraph in document.iter("{*}p")
        if paragraph.xpath('./*[local-name()="pPr"]/*[local-name()="pStyle"]/@*') == ["Heading1"]
    ]
    assert styled == ["Dedication", "Preface", *chapters]
    references = [each.get(each.keys()[0]) for each in document.iter("{*}footnoteReference")]
    assert references == [str(number) for number in range(1, len(references) + 1)]
    assert len(notes) == len(references) + 2  # and two separators
    with ZipFile(shipped("pptx")) as archive:
        presentation = etree.fromstring(archive.read("ppt/presentation.xml"))
    sections = [each.get("name") for each in presentation.iter("{*}section")]
    assert sections == ["The Clocks of Harrow Vale", *chapters]
