"""Keeping indexes from the command line: two processes at once, damage, tables, and searches that find nothing."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from chapterverse.answer.prompts import EMPTY_QUESTION, NAMES_NOTHING, NOT_IN_BOOK
from chapterverse.errors import AstRagIndexError, AstRagSourceError, AstRagValidationError
from chapterverse.library import AsyncLibrary, Library
from chapterverse.settings import Settings
from chapterverse.surfaces.cli import app, shelf
from chapterverse.surfaces.cli.asking import _in_marks, _why_refused
from chapterverse.surfaces.cli.exits import PARTIAL
from chapterverse.types import Answer, Filter
from tests.ingest import pdfs

COMMAND = [sys.executable, "-c", "from chapterverse.surfaces.cli import main; main()"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "home"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    app([*arguments], standalone_mode=False)
    return capsys.readouterr().out


def write_book(folder: Path, name: str) -> Path:
    path = folder / f"{name}.md"
    path.write_text(f"# The book of {name}\n\nThe {name} was made in 1702.\n")
    return path


def test_of_two_processes_that_make_the_same_index_none_loses_what_the_other_stored(home: Path, tmp_path: Path) -> None:
    books = [write_book(tmp_path, name) for name in ("bell", "mill")]
    environment = {**os.environ, "CHAPTERVERSE_HOME": str(home)}
    children = [
        subprocess.Popen(
            [*COMMAND, "add", str(book), "--index", "vale", "--quiet"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for book in books
    ]
    complaints = {book.name: child.communicate()[1] for book, child in zip(books, children, strict=True)}
    stored = {book.name for book, child in zip(books, children, strict=True) if child.returncode == 0}
    assert stored
    for name in set(complaints) - stored:
        assert "is in use by" in complaints[name] or "There is an index 'vale' already" in complaints[name]
    with Library(Settings(home=home)) as library:
        assert {source.file_id for source in library.inspect("vale").sources} == stored


def test_two_books_of_one_name_get_an_index_each(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    books = []
    for folder, weight in (("b1", "ten"), ("b2", "twenty")):
        (tmp_path / folder).mkdir()
        books.append(tmp_path / folder / "report.txt")
        books[-1].write_text(f"The bell weighs {weight} tons.")
    told = run(capsys, "add", str(books[0]), str(books[1]))
    assert "The index 'report' has other books: this one is 'report-2'." in told
    books[1].write_text("The bell weighs thirty tons.")
    assert "report 2: 0 files added, 1 updated" in run(capsys, "add", str(books[1]))
    assert "nothing has changed" in run(capsys, "add", str(books[0]))
    with Library(Settings(home=home)) as library:
        held = {one.record.id: [source.source_id for source in one.sources] for one in library.survey()[0]}
    assert held == {"report": [str(books[0])], "report-2": [str(books[1])]}


def test_a_source_that_is_gone_is_told_of_and_can_be_replaced_or_dropped(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bell, mill = write_book(tmp_path, "bell"), write_book(tmp_path, "mill")
    run(capsys, "add", str(bell), str(mill), "--index", "vale", "--quiet")
    (tmp_path / "moved").mkdir()
    moved = mill.rename(tmp_path / "moved" / "mill.md")
    assert app(["sync", "--quiet"], standalone_mode=False) == PARTIAL
    told = " ".join(capsys.readouterr().out.split())
    for way in ("`chapterverse remove INDEX --source ADDRESS`", "--index INDEX --replacing ADDRESS`"):
        assert way in told
    told = run(capsys, "add", str(moved), "--index", "vale", "--replacing", str(mill), "--quiet")
    assert "0 files added, 0 updated, 0 removed, 2 unchanged" in " ".join(told.split())
    assert "nothing has changed (2 files)" in run(capsys, "sync", "--quiet")
    assert f"\nfrom {bell}\nfrom {moved}\n" in run(capsys, "inspect")
    assert json.loads(run(capsys, "inspect", "--json"))["addresses"] == [str(bell), str(moved)]
    told = run(capsys, "remove", "vale", "--source", str(moved), "--yes")
    assert told == f"Dropped {moved} and 1 file from vale.\n"
    with pytest.raises(AstRagIndexError, match="remove the index instead"):
        run(capsys, "remove", "vale", "--source", str(bell), "--yes")
    with pytest.raises(AstRagValidationError, match="--replacing takes one new address"):
        run(capsys, "add", str(bell), str(moved), "--index", "vale", "--replacing", str(bell))


def test_of_several_books_one_that_cannot_be_read_keeps_none_from_being_indexed(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bell, mill = str(write_book(tmp_path, "bell")), str(write_book(tmp_path, "mill"))
    lost = [str(tmp_path / "lost.md"), "~nosuchuser/lost.md"]
    assert app(["add", bell, *lost, mill, "--index", "vale", "--json"], standalone_mode=False) == 3
    told = capsys.readouterr()
    bells, mills, *failed = json.loads(told.out)
    assert (bells["chunk_count"], mills["added_sources"]) == (1, 1)
    assert [one["address"] for one in failed] == lost
    assert all("There is no file or folder" in one["error"] for one in failed)
    assert [line.split(": ")[:2] for line in told.err.splitlines()] == [["chapterverse", one] for one in lost]
    with pytest.raises(AstRagSourceError, match="no file or folder '~nosuchuser"):
        app(["add", *lost, "--json"], standalone_mode=False)
    told = capsys.readouterr()
    assert [one["address"] for one in json.loads(told.out)] == lost
    assert told.err.startswith(f"chapterverse: {lost[0]}: There is no file")


def test_what_lies_here_under_the_name_of_the_sample_is_told_apart(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample").mkdir()
    write_book(tmp_path / "sample", "bell")
    run(capsys, "add", "./sample", "--quiet")
    app(["add", "sample", "--quiet"], standalone_mode=False)
    told = capsys.readouterr()
    assert told.err == "`sample` is the book that comes along; what lies here by that name is ./sample.\n"
    assert told.out.startswith("Indexed the-clocks-of-harrow-vale")


def test_an_encrypted_book_is_kept_in_step_with_its_password(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    books = tmp_path / "books"
    books.mkdir()
    write_book(books, "mill")
    run(capsys, "add", str(books), "--quiet")
    (books / "bell.pdf").write_bytes(pdfs.encrypted("secret"))
    assert "warning bell.pdf: the file is encrypted" in run(capsys, "sync", "books", "--quiet")
    monkeypatch.setenv("CHAPTERVERSE_PASSWORD", "secret")
    assert "1 file added" in run(capsys, "sync", "books", "--quiet")
    with pytest.raises(AstRagValidationError, match="named twice"):
        run(capsys, "sync", "books", "--index", "books")


def test_only_the_sizes_of_chunks_that_are_given_change(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bell, mill = write_book(tmp_path, "bell"), write_book(tmp_path, "mill")
    for arguments, sizes in (
        ([str(bell), "--chunk-size", "400"], (400, 200)),
        ([str(mill)], (400, 200)),
        ([str(mill), "--chunk-overlap", "0"], (400, 0)),
        ([str(mill), "--chunk-size", "600"], (600, 0)),
    ):
        run(capsys, "add", *arguments, "--index", "vale", "--quiet")
        with Library(Settings(home=home)) as library:
            chunking = library.record("vale").chunking
        assert (chunking["size"], chunking["overlap"], chunking["minimum"]) == (*sizes, 200)


def test_a_file_that_cannot_be_read_does_not_make_every_sync_a_new_generation(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "books"
    folder.mkdir()
    write_book(folder, "bell")
    (folder / "empty.md").write_text("<!-- nothing to read -->\n")
    with Library(Settings(home=home)) as library:
        library.add(folder, index="vale")
        manifest = (home / "vale" / "manifest.json").read_text()
        result = library.sync("vale")
        assert (result.persisted, result.unchanged_sources) == (False, 1)
        assert [notice.file_name for notice in result.warnings] == ["empty.md"]
        assert (home / "vale" / "manifest.json").read_text() == manifest
        (folder / "empty.md").write_text("The mill was built later.\n")
        assert (library.sync("vale").added_sources, library.sync("vale").persisted) == (1, False)


def test_a_build_that_is_given_up_while_a_file_is_read_ends_there(home: Path) -> None:
    async def give_up() -> list[str]:
        async with AsyncLibrary(Settings(home=home)) as library:
            building = asyncio.create_task(library.add("sample"))
            while not list(home.glob("*/lock")):
                await asyncio.sleep(0.01)
            building.cancel()
            with pytest.raises(asyncio.CancelledError):
                await building
            return [record.id for record in await library.indexes()]

    assert asyncio.run(give_up()) == []
    assert list(home.iterdir()) == []


def watch(monkeypatch: pytest.MonkeyPatch, index: str | None, *events: Callable[[], object]) -> None:
    """Watch an index while one thing after the other happens, until Ctrl-C."""
    coming = iter(events)

    def sleep(_: float) -> None:
        if (event := next(coming, None)) is None:
            raise KeyboardInterrupt
        event()

    monkeypatch.setattr(shelf.time, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        shelf.watch(index, seconds=5)


def test_watching_outlives_trouble_and_tells_of_it_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book = write_book(tmp_path, "bell")
    run(capsys, "add", str(book), "--index", "vale", "--quiet")
    watch(monkeypatch, "vale", book.unlink, lambda: None, lambda: book.write_text("The bell is new.\n"))
    told = capsys.readouterr()
    assert re.fullmatch(r"Watching; Ctrl-C ends it\.\n[\d:]+ 0 files added, 1 updated, .*\n", told.out)
    assert re.fullmatch(r"[\d:]+ There is no file or folder '.*bell\.md'.*\n", told.err)


def test_watching_does_not_begin_with_trouble_and_tells_of_new_warnings(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AstRagIndexError, match="Which index"):
        shelf.watch(None, seconds=5)
    folder = tmp_path / "books"
    folder.mkdir()
    write_book(folder, "bell")
    run(capsys, "add", str(folder), "--index", "vale", "--quiet")
    empty = folder / "empty.md"
    watch(monkeypatch, None, lambda: empty.write_text("<!-- nothing to read -->\n"), lambda: None)
    assert capsys.readouterr().out.count("warning empty.md: ") == 1


def test_a_damaged_index_is_told_of_and_can_be_removed(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "add", str(write_book(tmp_path, "bell")), str(write_book(tmp_path, "mill")), "--quiet")
    (home / "bell" / "manifest.json").write_text("{")
    listed = run(capsys, "list")
    assert "bell: The manifest of the index 'bell' is damaged: `chapterverse remove bell`" in listed
    assert any(line.split()[:3] == ["mill", "1", "1"] for line in listed.splitlines())
    sound, damaged = json.loads(run(capsys, "list", "--json"))
    assert (sound["index"], damaged["index"], "is damaged" in damaged["trouble"]) == ("mill", "bell", True)
    assert run(capsys, "remove", "bell", "--yes") == "Deleted bell.\n"
    assert not (home / "bell").exists()


def test_tables_stay_readable_in_eighty_columns(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = write_book(tmp_path, "a-book-whose-name-is-so-long-that-no-table-of-eighty-columns-has-room-for-it")
    assert run(capsys, "add", str(book), "--quiet").endswith(": 1 file, 1 chunk.\n")
    head, first, *folded = run(capsys, "list").splitlines()
    assert head.split() == ["Index", "Name", "Files", "Chunks", "Updated"]
    index, files, chunks, day, minute = first.split()
    assert (files, chunks, len(day), len(minute)) == ("1", "1", len("2026-01-01"), len("12:00"))
    assert index + "".join(line.strip() for line in folded) == book.stem
    assert all(len(line) <= 80 for line in (head, first, *folded))


NOT_THERE = [
    (
        ["--section", "Chapter 99"],
        "there is no chapter or section 'Chapter 99'; there are The Clocks of Harrow Vale, Chapter 1: The Valley That"
        " Needed Clocks, Chapter 2: The Guild and Its Founders, Chapter 3: The Weight and the Drop, Chapter 4: Wheels,"
        " Teeth and the Stork and 8 more",
    ),
    (["--page", "900"], "there is no page '900'; the last is page 68 of its file"),
    (["--file", "lost.pdf"], "there is no file 'lost.pdf'; there are the-clocks-of-harrow-vale.pdf"),
]


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        *NOT_THERE,
        (
            ["--section", "Chapter 99", "--read-until", "6"],
            "there is no chapter or section 'Chapter 99'; there are The Clocks of Harrow Vale, Chapter 1: The Valley"
            " That Needed Clocks",
        ),
        (["--section", "Chapter 9", "--read-until", "20"], "nothing meets all conditions at once"),
        (["--mode", "lexical"], "no passage has any of these words"),
        (["--min-score", "1"], "no passage scores 1 or more"),
    ],
)
def test_a_search_that_finds_nothing_says_why(
    clocks_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    conditions: list[str],
    why: str,
) -> None:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(clocks_home))
    assert run(capsys, "search", "zeppelins", *conditions) == f"Nothing was found: {why}.\n"
    as_json = json.loads(run(capsys, "search", "zeppelins", *conditions, "--json"))
    assert as_json == {"query": "zeppelins", "results": [], "nothing_because": why}


@pytest.mark.parametrize(
    ("conditions", "why"),
    NOT_THERE,
)
def test_a_question_within_nothing_is_refused_and_says_why(
    clocks_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    conditions: list[str],
    why: str,
) -> None:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(clocks_home))
    question = "Who was Ambrose Kell?"
    assert run(capsys, "ask", question, *conditions) == f"{NOT_IN_BOOK}\nNothing was found: {why}.\n"
    as_json = json.loads(run(capsys, "ask", question, *conditions, "--json"))
    assert (as_json["answer"], as_json["reason"], as_json["nothing_because"]) == (NOT_IN_BOOK, "no_matches", why)


def test_a_question_about_nobody_says_that_it_does_not_say_whom(
    clocks_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(clocks_home))
    assert run(capsys, "ask", "And what about him?") == f"{EMPTY_QUESTION}\n{NAMES_NOTHING}\n"


def test_a_refusal_explains_how_sure_the_reader_was(
    clocks_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(clocks_home))
    told = run(capsys, "ask", "What did Ambrose Kell pay for his boots?", "--explain")
    sure = re.search(
        r"the best passage answers with a probability of (0\.\d\d); it is an answer from (0\.\d\d) on", told
    )
    assert sure is not None, told
    assert float(sure[1]) < float(sure[2])
    assert "probability" not in run(capsys, "ask", "Who was Ambrose Kell?", "--page", "900", "--explain")


def test_citations_of_a_folder_name_their_file_and_nothing_twice(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plans").mkdir()
    for name in ("bell", "mill"):
        write_book(tmp_path / "plans", name)
    run(capsys, "add", str(tmp_path / "plans" / "bell.md"), "--quiet")
    assert "[1] The book of bell\n" in run(capsys, "ask", "When was the bell made?", "--index", "bell")
    run(capsys, "add", str(tmp_path / "plans"), "--quiet")
    assert "[1] The book of bell (bell.md)\n" in run(capsys, "ask", "When was the bell made?", "--index", "plans")


@pytest.mark.parametrize(
    ("where", "why"),
    [
        (Filter(mime_types=("text/plain", "text/csv")), "there is no MIME type 'text/plain', 'text/csv'"),
        (Filter(pages=(900, 950)), "there is nothing on the pages 900 to 950; the last is page 68 of its file"),
        (Filter(slides=(3,)), "there is no slide 3"),
        (Filter(file_ids=()), "no file is allowed"),
    ],
)
def test_every_condition_can_be_named(clocks: Library, where: Filter, why: str) -> None:
    assert clocks.search("the great bell", where=where).diagnostics.unmet == why


def test_who_has_read_so_far_learns_no_chapter_that_is_to_come(clocks: Library) -> None:
    where = Filter(chapters=("Chapter 99",), read_until=5)
    told = "there is no chapter 'Chapter 99'; there are The Clocks of Harrow Vale"
    assert clocks.search("the great bell", where=where).diagnostics.unmet == told


def test_a_book_without_pages_cannot_be_read_up_to_one(tmp_path: Path) -> None:
    with Library(Settings(home=tmp_path / "home")) as library:
        library.add(write_book(tmp_path, "bell"))
        unmet = library.search("the bell", where=Filter(read_until=9)).diagnostics.unmet
    assert unmet == "nothing is known to stand on the pages up to 9; these files have no pages"


@pytest.mark.parametrize(
    ("option", "value"), [("--min-score", "1.5"), ("--min-score", "-1"), ("--read-until", "0"), ("--top", "51")]
)
def test_numbers_out_of_range_are_refused_by_name(option: str, value: str, home: Path) -> None:
    done = subprocess.run([*COMMAND, "search", "bell", option, value], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"Invalid value for '{option}'" in done.stderr.replace("'--top' / '-k'", "'--top'")
    assert not home.exists()


def test_what_an_unfinished_build_has_left_is_removed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "bell" / "c-0123").mkdir(parents=True)
    (home / "bell" / "lock").touch()
    assert run(capsys, "remove", "Bell") == "Removed what an unfinished build of bell had left.\n"
    assert not (home / "bell").exists()
    with pytest.raises(AstRagIndexError, match=r"There is no index 'Bell'\. There are none yet"):
        run(capsys, "remove", "Bell")


def test_an_index_is_called_what_its_folder_is(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bell, mill = write_book(tmp_path, "bell"), write_book(tmp_path, "mill")
    run(capsys, "add", str(bell), "--quiet")
    shutil.copytree(home / "bell", home / "copied")
    run(capsys, "add", str(mill), "--index", "copied", "--quiet")
    (home / "bell").rename(home / "moved")
    shutil.copytree(home / "moved", home / "Put aside")
    assert "1702" in run(capsys, "ask", "When was the bell made?", "--index", "moved")
    listed = json.loads(run(capsys, "list", "--json"))
    assert {one["index"]: one.get("files") for one in listed} == {"copied": 2, "moved": 1, "Put aside": None}
    assert "'Put aside' cannot be an index id" in listed[-1]["trouble"]


def test_an_import_replaces_no_index_unasked(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bell, mill = write_book(tmp_path, "bell"), write_book(tmp_path, "mill")
    archive = tmp_path / "bell.zip"
    with Library(Settings(home=home)) as library:
        library.add(bell, index="bell")
        library.export_index(archive, "bell")
        library.add(mill, index="vale")
    for arguments in (["--index", "Vale"], []):
        with pytest.raises(AstRagIndexError, match="--replace"):
            run(capsys, "import", str(archive), *arguments)
    with Library(Settings(home=home)) as library:
        assert [source.file_id for source in library.inspect("vale").sources] == ["mill.md"]
    run(capsys, "import", str(archive), "--index", "vale", "--replace")
    with Library(Settings(home=home)) as library:
        assert [source.file_id for source in library.inspect("vale").sources] == ["bell.md"]


@pytest.mark.parametrize(
    "changes",
    [
        {"calibration": {"x": 1}},
        {"chunking": {"size": "big"}},
        {"retrievalDefaults": {"top_k": 0}},
        {"sourceConfig": {"sources": [{"address": "a", "colour": "red"}]}},
        {"indexId": "../elsewhere"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_import_that_nobody_could_use_is_refused(home: Path, tmp_path: Path, changes: dict[str, object]) -> None:
    with Library(Settings(home=home)) as library:
        library.add(write_book(tmp_path, "bell"))
        library.export_index(tmp_path / "good.zip")
        with zipfile.ZipFile(tmp_path / "good.zip") as good, zipfile.ZipFile(tmp_path / "bad.zip", "w") as bad:
            for name in good.namelist():
                content = good.read(name)
                bad.writestr(name, json.dumps({**json.loads(content), **changes}) if name == "index.json" else content)
        library.remove("bell")
        with pytest.raises(AstRagIndexError, match="cannot be imported"):
            library.import_index(tmp_path / "bad.zip")
        assert library.indexes() == []
        assert library.import_index(tmp_path / "good.zip").id == "bell"


@pytest.mark.parametrize(
    ("chance", "needed", "told"),
    [
        (0.31, 0.55, "a probability of 0.31; it is an answer from 0.55 on"),
        (0.898, 0.9, "a probability of 0.898; it is an answer from 0.900 on"),
        (0.89, 0.55, "a probability of 0.89, but nothing of it could be quoted"),
    ],
    ids=["far", "near", "not supported"],
)
def test_a_refusal_says_how_near_it_came(chance: float, needed: float, told: str) -> None:
    refused = Answer("?", NOT_IN_BOOK, "refused", "answer_absent", (), (), (), 0.0, "Partial", "")
    assert told in _why_refused(replace(refused, answerable=chance, answer_threshold=needed))


def test_quotes_keep_their_own_marks() -> None:
    assert _in_marks("He paid.") == "“He paid.”"
    assert _in_marks("“Business Day” means any day.") == "“Business Day” means any day."
