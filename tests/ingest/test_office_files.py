"""Office files that are written otherwise, damaged or hostile."""

from __future__ import annotations

import io
import zipfile

import pytest

from chapterverse.errors import UnreadableFileError
from chapterverse.types import ReadOptions
from tests.ingest import office
from tests.ingest.office_docx import docx, note, p, paragraphs, r, reference, tbl, tc, tr
from tests.ingest.office_pptx import pptx, slide, title
from tests.ingest.reading import blocks, parse, reasons


def test_strict_documents_read_the_same() -> None:
    body = p("One", "Heading1") + p(r("Text") + reference(1)) + tbl(tr(tc("a", '<w:gridSpan w:val="2"/>'), tc("b")))
    plain = docx(body, footnotes=note(1, "Note."))
    strict = plain
    for name in (
        "word/document.xml",
        "word/styles.xml",
        "word/footnotes.xml",
        "word/_rels/document.xml.rels",
        "_rels/.rels",
    ):
        strict = office.with_part(strict, name, office.strict(office.part(plain, name)))
    assert b"purl.oclc.org" in office.part(strict, "word/document.xml").encode()
    assert blocks(parse(strict, "a.docx")) == blocks(parse(plain, "a.docx"))


def test_missing_and_damaged_parts_are_warnings() -> None:
    whole = docx(p("One", "Heading1") + p("Text."), numbering="")
    without = parse(
        office.with_part(office.with_part(whole, "word/styles.xml", None), "word/numbering.xml", "<broken"), "a.docx"
    )
    assert blocks(without) == [("heading", "One"), ("paragraph", "Text.")]
    assert "'word/styles.xml' is missing" in reasons(without)
    assert "'word/numbering.xml' is not valid XML" in reasons(without)
    unlisted = parse(office.with_part(whole, "_rels/.rels", None), "a.docx")
    assert blocks(unlisted) == [("heading", "One"), ("paragraph", "Text.")]
    assert reasons(unlisted) == "The file does not say which part is its main one; the usual one was read."


def test_part_names_ignore_case_and_macros_are_ignored() -> None:
    data = docx(p("Text."), related={"v": ("vbaProject", "vbaProject.bin")}, parts={"word/vbaProject.bin": b"\xcc"})
    moved = office.with_part(data, "word/document.xml", None)
    renamed = office.with_part(moved, "word/Document.xml", office.part(data, "word/document.xml"))
    found = parse(renamed, "a.docm")
    assert (blocks(found), found.notices) == (paragraphs("Text."), ())


DOCX = docx(p("One", "Heading1") + p("Text."))
PPTX = pptx(slide(title("One")))
MAIN = {"a.docx": (DOCX, "word/document.xml"), "a.pptx": (PPTX, "ppt/presentation.xml")}
both = pytest.mark.parametrize("name", ["a.docx", "a.pptx"])


def refusal(data: bytes, name: str, options: ReadOptions = ReadOptions()) -> tuple[str, str]:
    with pytest.raises(UnreadableFileError) as caught:
        parse(data, name, options)
    return caught.value.reason, caught.value.explanation


@both
def test_an_encrypted_file_is_refused_as_such(name: str) -> None:
    reason, message = refusal(office.encrypted(), name)
    assert reason == "encrypted"
    assert "password" in message


@both
def test_a_file_from_before_2007_is_refused_with_a_hint(name: str) -> None:
    reason, message = refusal(office.before_2007(), name)
    assert reason == "unsupported"
    assert "save it as DOCX or PPTX" in message


@both
def test_without_its_main_part_a_file_is_damaged(name: str) -> None:
    data, main = MAIN[name]
    assert refusal(office.with_part(data, main, None), name) == (
        "damaged",
        "The file is damaged: its main part is missing.",
    )


@both
def test_a_truncated_file_is_damaged(name: str) -> None:
    assert refusal(MAIN[name][0][:-100], name)[0] == "damaged"


@both
def test_a_main_part_of_another_kind_is_unsupported(name: str) -> None:
    data, main = MAIN[name]
    assert refusal(office.with_part(data, main, office.xml("w:workbook")), name)[0] == "unsupported"


@both
def test_external_entities_and_billion_laughs_are_refused_in_any_encoding(name: str) -> None:
    data, main = MAIN[name]
    for hostile in (office.external_entity, office.billion_laughs):
        part = hostile(office.part(data, main))
        assert refusal(office.with_part(data, main, part), name)[0] == "entities"
        assert refusal(office.with_part(data, main, part.encode("utf-16")), name)[0] == "entities"


def test_entities_in_a_lesser_part_are_refused_too() -> None:
    styles = office.external_entity(office.part(DOCX, "word/styles.xml"))
    assert refusal(office.with_part(DOCX, "word/styles.xml", styles), "a.docx")[0] == "entities"


@both
def test_endless_nesting_is_refused(name: str) -> None:
    data, main = MAIN[name]
    deep = office.xml("w:document", "<w:sdt>" * 100_000 + "</w:sdt>" * 100_000)
    reason, message = refusal(office.with_part(data, main, deep), name)
    assert reason == "damaged"
    assert "depth" in message


@both
def test_a_zip_bomb_is_refused_before_it_unpacks(name: str) -> None:
    data, main = MAIN[name]
    bomb = office.with_part(data, main, b"<w:document>" + bytes(3 * 1024 * 1024))
    assert len(bomb) < 20_000
    assert refusal(bomb, name, ReadOptions(max_unpacked_mb=2))[0] == "bomb"


def test_a_zip_that_lies_about_its_sizes_is_refused() -> None:
    honest = office.with_part(DOCX, "word/document.xml", b" " * 3 * 1024 * 1024)
    size = (3 * 1024 * 1024).to_bytes(4, "little")
    assert honest.count(size) == 2  # in the part's own header and in the directory
    lying = honest.replace(size, (1000).to_bytes(4, "little"))
    assert refusal(lying, "a.docx", ReadOptions(max_unpacked_mb=2))[0] == "damaged"


@both
def test_a_name_that_leads_out_of_the_file_is_refused(name: str) -> None:
    assert refusal(office.with_part(MAIN[name][0], "../../evil.xml", "<x/>"), name)[0] == "traversal"


@both
def test_a_relation_that_leads_out_of_the_file_finds_nothing(name: str) -> None:
    listed = office.relations({"rId1": ("officeDocument", "../../../../etc/passwd")})
    assert refusal(office.with_part(MAIN[name][0], "_rels/.rels", listed), name)[0] == "damaged"


def test_an_encrypted_member_is_refused() -> None:
    target = io.BytesIO(DOCX)
    with zipfile.ZipFile(target) as source:
        entry = source.getinfo("word/document.xml")
    data = bytearray(DOCX)
    directory = data.rindex(b"PK\x01\x02", 0, data.rindex(b"word/document.xml"))
    data[entry.header_offset + 6] |= 1
    data[directory + 8] |= 1
    assert refusal(bytes(data), "a.docx")[0] == "encrypted"


def test_a_file_without_text_is_refused() -> None:
    assert refusal(docx(p()), "a.docx")[0] == "no_text"
    assert refusal(pptx(slide()), "a.pptx")[0] == "no_text"
