"""Broken, hostile and odd files, all in one folder among innocent ones: none hangs, and none harms its neighbours."""

from __future__ import annotations

import codecs
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

import chapterverse
from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.read import Outcome
from chapterverse.types import Document, ReadOptions
from tests.ingest import epubs, hostile, office, pdfs
from tests.ingest.hostile import BOOK, CHAPTERS, DEEP, SLIDES, WORD, document_type, in_main, main_part
from tests.ingest.office_docx import docx, p
from tests.ingest.office_pptx import pptx, slide

pytestmark = pytest.mark.xdist_group("hostile")
"""All in one process, which reads the folder once: some of the files take all the time that they get."""

Make = Callable[[], bytes]

OPTIONS = ReadOptions(max_cpu_seconds=5)
"""Less time than usual, since some of the files use up all that they get."""

XXE = '<!ENTITY x SYSTEM "file:///etc/passwd">'
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0" + bytes(200)
ARABIC = "دقت ساعة البرج منتصف الليل. هل سمعتها؟"
HEBREW = "השעון במגדל צלצל בחצות."
CHINESE = "塔上的鐘敲了十二下。大家都沉默了。"
EMOJI = "Tick 🕰️ tock, said 👩‍🔧 to 👨‍👩‍👧‍👦 in 🇫🇷."


def cut(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


REFUSED: dict[str, tuple[str, Make]] = {
    "encrypted.pdf": ("encrypted", pdfs.encrypted),
    "encrypted.docx": ("encrypted", office.encrypted),
    "encrypted.pptx": ("encrypted", office.encrypted),
    "locked part.docx": ("encrypted", lambda: hostile.locked(WORD, "word/document.xml")),
    "drm.epub": (
        "encrypted",
        lambda: epubs.pack(epubs.encrypted(epubs.parts(CHAPTERS), "OEBPS/one.xhtml", "http://x/aes256-cbc")),
    ),
    "cut off.pdf": ("damaged", pdfs.truncated),
    "cut off.epub": ("damaged", lambda: cut(BOOK)),
    "cut off.docx": ("damaged", lambda: cut(WORD)),
    "cut off.pptx": ("damaged", lambda: cut(SLIDES)),
    "nothing.pdf": ("empty", bytes),
    "nothing.epub": ("empty", bytes),
    "nothing.docx": ("empty", bytes),
    "nothing.pptx": ("empty", bytes),
    "nothing.html": ("empty", bytes),
    "nothing.md": ("empty", bytes),
    "nothing.txt": ("empty", bytes),
    "zip bomb.docx": ("bomb", lambda: hostile.bomb(WORD, "word/document.xml")),
    "zip bomb.pptx": ("bomb", lambda: hostile.bomb(SLIDES, "ppt/slides/slide1.xml")),
    "zip bomb.epub": ("bomb", lambda: hostile.bomb(BOOK, "OEBPS/one.xhtml")),
    "lying zip bomb.docx": ("damaged", lambda: hostile.lying_bomb(WORD, "word/document.xml")),
    "overlapping zip bomb.pptx": ("bomb", lambda: hostile.overlapping_bomb(SLIDES)),
    "crowded zip.epub": ("bomb", lambda: hostile.crowded(BOOK)),
    "flate bomb.pdf": ("bomb", pdfs.flate_bomb),
    "looping outline.pdf": ("damaged", pdfs.looping_outline),
    "recursive form.pdf": ("timeout memory damaged", pdfs.recursive_form),
    "many pages.pdf": ("pages", pdfs.many_pages),
    "deep.docx": ("damaged", lambda: in_main(WORD, office.xml("w:document", DEEP))),
    "deep.pptx": ("damaged", lambda: in_main(SLIDES, office.xml("p:presentation", DEEP))),
    "deep.epub": ("bomb", lambda: hostile.book({"one.xhtml": document_type("", DEEP)})),
    "deep.html": ("bomb", lambda: b"<html><body>" + b"<div>" * 100_000 + b"text"),
    "xxe.docx": ("entities", lambda: in_main(WORD, office.external_entity(main_part(WORD)))),
    "xxe.pptx": ("entities", lambda: in_main(SLIDES, office.external_entity(main_part(SLIDES)))),
    "xxe.epub": ("entities", lambda: hostile.book({"one.xhtml": document_type(XXE, "<p>&x;</p>")})),
    "xxe in the package.epub": (
        "entities",
        lambda: epubs.pack(
            epubs.edited(epubs.parts(CHAPTERS), "OEBPS/book.opf", "<package", f"<!DOCTYPE p [{XXE}]><package")
        ),
    ),
    "laughs.docx": ("entities", lambda: in_main(WORD, hostile.laughs(main_part(WORD)))),
    "laughs.pptx": ("entities", lambda: in_main(SLIDES, hostile.laughs(main_part(SLIDES)))),
    "laughs.epub": ("entities", lambda: hostile.book({"one.xhtml": hostile.laughs(epubs.document("<p>x</p>"))})),
    "laughs in 16 bits.docx": ("entities", lambda: in_main(WORD, hostile.laughs(main_part(WORD)).encode("utf-16"))),
    "laughs in 32 bits.pptx": (
        "entities",
        lambda: in_main(SLIDES, hostile.laughs(main_part(SLIDES)).encode("utf-32")),
    ),
    "laughs in 16 bits.epub": (
        "entities",
        lambda: hostile.book({"one.xhtml": hostile.laughs(epubs.document("<p>x</p>")).encode("utf-16")}),
    ),
    "laughs in the contents.epub": ("entities", lambda: hostile.book({"nav.xhtml": hostile.laughs(hostile.CONTENTS)})),
    "up and out.epub": ("traversal", lambda: hostile.with_stray(BOOK, "OEBPS/../../evil.sh")),
    "from the root.docx": ("traversal", lambda: hostile.with_stray(WORD, "/etc/cron.d/evil")),
    "backslashes.pptx": ("traversal", lambda: hostile.with_stray(SLIDES, "ppt\\..\\..\\evil.bat")),
    "drive letter.docx": ("traversal", lambda: hostile.with_stray(WORD, "C:\\evil.bat")),
    "scanned.pdf": ("no_text", lambda: pdfs.scanned([None, None])),
    "unmapped font.pdf": ("no_text", pdfs.unmapped_font),
    "no text.docx": ("no_text", lambda: docx(p())),
    "no text.pptx": ("no_text", lambda: pptx(slide())),
    "no text.epub": ("no_text", lambda: epubs.epub({"one.xhtml": '<img src="a.png" alt="scan"/>'})),
    "no text.txt": ("no_text", lambda: b" \r\n\t\n" * 1000),
    "no text.html": ("no_text", lambda: b"<!DOCTYPE html><title>x</title><body><script>alert(1)</script>"),
    "nonsense.pdf": ("damaged", pdfs.header_only),
    "no pages.pdf": ("damaged", pdfs.no_pages),
    "no main part.docx": ("damaged", lambda: office.with_part(WORD, "word/document.xml", None)),
    "no documents.epub": ("damaged", lambda: hostile.book({"one.xhtml": None, "two.xhtml": None})),
    "picture.png": ("unsupported", lambda: PICTURE),
    "picture.pdf": ("unsupported", lambda: PICTURE),
    "noise.txt": ("unsupported", pdfs.garbage),
    "a spreadsheet.xlsx": ("unsupported", lambda: hostile.zip_of([hostile.Member("xl/workbook.xml", b"\3\0", 0)])),
    "old.doc": ("unsupported", office.before_2007),
    "rich.rtf": ("unsupported", lambda: rb"{\rtf1\ansi The clock strikes.}"),
    "data.json": ("unsupported", lambda: b'{"clock": 12}'),
}
"""Name → (reason, or several that depend on the machine; the file)."""

WARNED: dict[str, tuple[str, str, Make]] = {
    "a pdf.txt": ("application/pdf", "The clock", lambda: pdfs.simple("The clock strikes.")),
    "a document.pdf": ("wordprocessingml", "The clock strikes.", lambda: WORD),
    "a deck.docx": ("presentationml", "The Clock", lambda: SLIDES),
    "a book.html": ("application/epub+zip", "The clock strikes.", lambda: BOOK),
    "a page.md": ("text/html", "The clock strikes.", lambda: b"<!DOCTYPE html><p>The clock strikes."),
    "a text.pdf": ("text/plain", "The clock strikes.", lambda: b"The clock strikes."),
    "bad bytes.txt": ("not valid UTF-8", "é\ufffdé", lambda: b"\xc3\xa9\xff\xc3\xa9\xc3\xa9"),
    "bad bytes.md": ("not valid UTF-8", "é\ufffdé", lambda: b"# T\n\n\xc3\xa9\xff\xc3\xa9\xc3\xa9"),
    "bad bytes.html": ("not valid UTF-8", "é\ufffdé", lambda: b"<html><p>\xc3\xa9\xff\xc3\xa9\xc3\xa9</p>"),
    "western.txt": ("read as cp1252", "L'été dernier", lambda: "L'été dernier, à la fête.".encode("cp1252")),
    "missing document.epub": ("'OEBPS/two.xhtml' is missing", "strikes", lambda: hostile.book({"two.xhtml": None})),
    "missing contents.epub": ("no table of contents", "It rings.", lambda: hostile.book({"nav.xhtml": None})),
    "broken markup.epub": ("is broken", "strikes", lambda: hostile.book({"two.xhtml": "<html><p>It <b>rings<p>on"})),
    "many gaps.epub": ("more warnings are not shown", "It rings.", hostile.book_with_many_gaps),
    "no styles.docx": (
        "'word/styles.xml' is missing", "The clock", lambda: office.with_part(WORD, "word/styles.xml", None)
    ),
    "deep styles.docx": (
        "nested too deeply", "The clock", lambda: office.with_part(WORD, "word/styles.xml", f"<s>{DEEP}</s>")
    ),
    "missing slide.pptx": (
        "Slide 2 is missing", "The Tower", lambda: office.with_part(SLIDES, "ppt/slides/slide2.xml", None)
    ),
    "broken references.pdf": ("cross-references", "my table is wrong", pdfs.broken_xref),
    "misplaced references.pdf": ("cross-references", "my table is lost", pdfs.misplaced_xref),
    "some scanned.pdf": ("page 2 has no text layer", "One.", lambda: pdfs.scanned(["One.", None, "Three."])),
    "lost page.pdf": ("page 2", "The first page is here.", pdfs.lost_page),
    "looping pages.pdf": ("damaged content", "A page below", pdfs.looping_page_tree),
}  # fmt: skip
"""Name → (what the warning says, what is read all the same, the file)."""

FINE: dict[str, tuple[str, Make]] = {
    "right to left.txt": (f"{ARABIC}\n\n{HEBREW}", lambda: f"{ARABIC}\n\n{HEBREW}".encode()),
    "right to left.docx": (f"{ARABIC}\n\n{HEBREW}", lambda: docx(p(ARABIC) + p(HEBREW))),
    "chinese.md": (CHINESE, CHINESE.encode),
    "chinese.epub": (
        f"塔\n\n{CHINESE}",
        lambda: epubs.epub({"a.xhtml": f"<h1>塔</h1><p>{CHINESE}</p>"}, epubs.nav('<li><a href="a.xhtml">塔</a></li>')),
    ),
    "chinese in 16 bits.txt": (CHINESE, lambda: CHINESE.encode("utf-16")),
    "emoji.html": (EMOJI, lambda: f'<!DOCTYPE html><meta charset="utf-8"><p>{EMOJI}</p>'.encode()),
    "emoji.pptx": (EMOJI, lambda: pptx(slide(hostile.title(EMOJI)))),
    "no headings.txt": ("One.\n\nTwo.", lambda: b"One.\n\nTwo."),
    "marked.md": ("Title\n\nText.", lambda: codecs.BOM_UTF8 + b"# Title\n\nText."),
    "marked.html": ("Text.", lambda: codecs.BOM_UTF8 + b"<!DOCTYPE html><p>Text."),
    "marked in 32 bits.txt": (ARABIC, lambda: ARABIC.encode("utf-32")),
    "windows.md": ("Title\n\nOne two.\n\n- three", lambda: b"# Title\r\n\r\nOne\r\ntwo.\r\n\r\n- three\r\n"),
    "old mac.txt": ("One two.\n\nThree.", lambda: b"One\rtwo.\r\rThree."),
    "one line.txt": (("tick " * 200_000).strip(), lambda: b"tick " * 200_000),
    "one line.md": (("tick " * 200_000).strip(), lambda: b"tick " * 200_000),
    "one line.html": (("tick " * 200_000).strip(), lambda: b"<html><p>" + b"tick " * 200_000),
    "one word.txt": ("tick" * 250_000, lambda: b"tick" * 250_000),
    "brackets.md": ("[" * 20_000, lambda: b"[" * 20_000),
    "accents.txt": ("Zalgo", lambda: ("Z" + "\u0301\u0327" * 200_000 + "algo").encode()),
    "a name with spaces, ünïcode and 時計.txt": ("Tick.", lambda: b"Tick."),
    "a self-drawing form.pdf": ("Before the form.", lambda: pdfs.recursive_form(times=1)),
}
"""Name → (its text, the file)."""

NEIGHBOURS: dict[str, Make] = {
    "neighbour.pdf": lambda: pdfs.book(2),
    "neighbour.epub": lambda: BOOK,
    "neighbour.docx": lambda: WORD,
    "neighbour.pptx": lambda: SLIDES,
    "neighbour.html": lambda: b"<!DOCTYPE html><title>T</title><h1>The Tower</h1><p>The clock strikes.</p>",
    "neighbour.md": lambda: b"# The Tower\n\nThe clock strikes.\n",
    "neighbour.txt": lambda: b"CHAPTER I\n\nThe clock strikes.\n",
}


class Run(NamedTuple):
    """One reading of the whole folder."""

    outcomes: dict[str, Outcome]
    files: list[str]
    seconds: float
    grown_mb: float
    left_running: set[int]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files, with each innocent one next to different hostile ones."""
    root = tmp_path_factory.mktemp("hostile")
    for name, (*_, make) in {**REFUSED, **WARNED, **FINE}.items():
        (root / name).write_bytes(make())
    for name, make in NEIGHBOURS.items():
        for start in "abcdlmnoprsz":
            (root / f"{start} {name}").write_bytes(make())
    return root


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    running = _children()
    reading = chapterverse.Reading(folder, options=OPTIONS)
    started = time.monotonic()
    with _MemoryPeak() as memory:
        outcomes = list(reading)
    seconds = time.monotonic() - started
    by_name = {outcome.item.file_name: outcome for outcome in outcomes}
    return Run(by_name, [o.item.file_name for o in outcomes], seconds, memory.grown_mb, _children() - running)


def _children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


@dataclass
class _MemoryPeak:
    """How much this process grew at most while it was watched."""

    grown_mb: float = 0.0

    def __enter__(self) -> _MemoryPeak:
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        process = psutil.Process()
        before = process.memory_info().rss
        while not self._done.wait(0.02):
            self.grown_mb = max(self.grown_mb, (process.memory_info().rss - before) / 1e6)


def test_there_are_enough_of_them() -> None:
    assert len(REFUSED) >= 45
    assert len(REFUSED) + len(WARNED) + len(FINE) == len({*REFUSED, *WARNED, *FINE})


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_typed_error_that_names_file_and_reason(run: Run, name: str) -> None:
    _, document, error = run.outcomes[name]
    assert document is None
    assert isinstance(error, UnreadableFileError)
    assert error.reason in REFUSED[name][0].split(), error.message
    assert error.file == name
    assert error.message == f"{name}: {error.explanation}"
    assert len(error.explanation) > 20
    assert "Traceback" not in error.message


@pytest.mark.parametrize("name", WARNED)
def test_read_with_a_warning(run: Run, name: str) -> None:
    warning, text, _ = WARNED[name]
    document = _document(run, name)
    assert text in document.text
    assert any(warning in notice.reason for notice in document.notices), document.notices
    assert {notice.file_name for notice in document.notices} == {name}
    assert len(document.notices) <= 51


@pytest.mark.parametrize("name", FINE)
def test_just_works(run: Run, name: str) -> None:
    document = _document(run, name)
    assert document.text == FINE[name][0]
    assert document.notices == ()


def test_neighbours_read_as_they_do_alone(run: Run, folder: Path) -> None:
    for name in NEIGHBOURS:
        alone = chapterverse.read(folder / f"a {name}")
        assert alone.notices == ()
        assert _document(run, f"a {name}") == alone
        for start in "bcdlmnoprsz":
            found = _document(run, f"{start} {name}")
            assert (found.text, found.blocks, found.pages) == (alone.text, alone.blocks, alone.pages)
            assert found.notices == ()


@pytest.mark.parametrize("name", ["zip bomb.epub", "nothing.md"])
def test_one_file_alone_fails_alike(folder: Path, run: Run, name: str) -> None:
    error = run.outcomes[name].error
    assert error is not None
    with pytest.raises(UnreadableFileError) as caught:
        chapterverse.read(folder / name)
    assert (caught.value.reason, caught.value.message) == (error.reason, error.message)


def test_every_file_has_its_outcome_in_order(run: Run, folder: Path) -> None:
    assert run.files == sorted(path.name for path in folder.iterdir())


def test_nothing_hangs_grows_or_is_left_behind(run: Run) -> None:
    assert run.seconds < 0.05 * len(run.files) * OPTIONS.max_seconds
    assert run.grown_mb < 300
    assert run.left_running == set()


def _document(run: Run, name: str) -> Document:
    _, document, error = run.outcomes[name]
    assert document is not None, error
    return document
