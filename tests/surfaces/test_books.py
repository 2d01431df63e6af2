"""Books over HTTP: their text whole and in place, and new ones sent in."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

import chapterverse
from chapterverse.library import Library
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.http.page import STATIC
from chapterverse.types import Document
from tests.ingest import epubs, pdfs
from tests.surfaces.service import BELL, events, served, small_library

SAMPLE = Path(chapterverse.sample_book())
SUFFIXES = ("pdf", "epub", "docx", "pptx", "html", "md")
LONG = "\n\n".join(f"Paragraph {number} is about wheel {number}. " + "It turns. " * 60 for number in range(300))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("books") / "home"


@pytest.fixture(scope="module")
def client(home: Path) -> Iterator[httpx2.Client]:
    with served(small_library(home)) as client:
        for suffix in SUFFIXES:
            added = send(client, f"clocks.{suffix}", SAMPLE.with_suffix(f".{suffix}").read_bytes(), index="clocks")
            assert added[-1][0] == "result", added[-1]
        yield client


def send(client: httpx2.Client, name: str, data: bytes, **parameters: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of adding a book; what is refused at once stands for one."""
    with client.stream("POST", "/books", params={"name": name, **parameters}, content=data) as response:
        if response.status_code == 200:
            return list(events(response.iter_lines()))
        return [("error", {"status": response.status_code, **json.loads(response.read())})]


def await_that(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def text_of(client: httpx2.Client, index: str, file: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    where = {"index": index, "file": file}
    outline = client.get("/books/outline", params=where).json()
    return outline, [
        client.get("/books/text", params={**where, "part": number}).json() for number in range(len(outline["parts"]))
    ]


def document(suffix: str) -> Document:
    return chapterverse.read(SAMPLE.with_suffix(f".{suffix}"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_parts_are_the_whole_text_in_order(client: httpx2.Client, suffix: str) -> None:
    stored = document(suffix)
    outline, parts = text_of(client, "clocks", f"clocks.{suffix}")
    assert "".join(part["text"] for part in parts) == stored.text
    assert [(part["start"], part["end"]) for part in parts] == [(one["start"], one["end"]) for one in outline["parts"]]
    assert len(parts) > 5
    blocks = [block for part in parts for block in part["blocks"]]
    assert [(block["start"], block["end"], block["kind"]) for block in blocks] == [
        (block.start, block.end, block.kind) for block in stored.blocks
    ]


def test_pages_and_slides_are_marked_where_they_begin(client: httpx2.Client) -> None:
    _, parts = text_of(client, "clocks", "clocks.pdf")
    marks = [(mark["kind"], mark["start"], mark["label"]) for part in parts for mark in part["marks"]]
    assert marks == [("page", mark.start, mark.page.label) for mark in document("pdf").pages]
    _, parts = text_of(client, "clocks", "clocks.pptx")
    slides = [mark["label"] for part in parts for mark in part["marks"]]
    assert slides == [str(number) for number in range(1, len(slides) + 1)]
    assert len(slides) > 5


def test_the_outline_names_every_heading_once(client: httpx2.Client) -> None:
    outline = client.get("/books/outline", params={"index": "clocks", "file": "clocks.pdf"}).json()
    stored = document("pdf")
    wanted = [block for block in stored.blocks if block.kind == "heading"]
    assert [(one["title"], one["level"], one["start"]) for one in outline["headings"]] == [
        (block.headings[-1], len(block.headings), block.start) for block in wanted
    ]
    chapter = next(one for one in outline["headings"] if one["title"].startswith("Chapter 3"))
    assert (chapter["page"], outline["author"], outline["pages"]) == ("11", "Wilhelmina Tarrant", 68)


def test_places_that_the_text_does_not_print_are_in_the_outline_too(client: httpx2.Client) -> None:
    contents = epubs.nav('<li><a href="one.xhtml">Unprinted</a></li>')
    book = epubs.epub({"one.xhtml": "<p>It begins without a heading.</p>"}, contents)
    added = send(client, "unprinted.epub", book)[-1][1]
    outline = client.get("/books/outline", params={"index": added["index"], "file": added["file_id"]}).json()
    assert [(one["title"], one["start"]) for one in outline["headings"]] == [("Unprinted", 0)]


def test_long_texts_without_chapters_are_cut_as_well(client: httpx2.Client) -> None:
    added = send(client, "long.txt", LONG.encode())[-1][1]
    _, parts = text_of(client, added["index"], added["file_id"])
    assert len(parts) > 4
    assert max(len(part["text"]) for part in parts) < 35_000


def test_what_is_not_there_is_not_found(client: httpx2.Client) -> None:
    for path, parameters, status, detail in (
        ("/books/outline", {"index": "nowhere", "file": "x"}, 404, "nowhere"),
        ("/books/outline", {"index": "clocks", "file": "nothing.pdf"}, 404, "nothing.pdf"),
        ("/books/text", {"index": "clocks", "file": "clocks.md", "part": 999}, 400, "there is no 999"),
        ("/books/text", {"index": "clocks", "file": "clocks.md", "part": -1}, 400, "part"),
        ("/books/outline", {}, 400, "index"),
        ("/static/nothing.js", {}, 404, "no such file"),
        ("/static/%2e%2e", {}, 404, "no such file"),
        ("/static/" + "x" * 300, {}, 404, "no such file"),
    ):
        response = client.get(path, params=parameters)
        assert response.status_code == status, (path, response.text)
        assert detail in response.json()["detail"]


def test_sending_tells_how_far_it_has_come(client: httpx2.Client) -> None:
    told = send(client, "wheels.md", LONG.encode(), index="wheels")
    assert told[0] == ("progress", {"stage": "reading"})
    chunks = [data for name, data in told if name == "progress" and data["stage"] == "embedding"]
    assert chunks[0]["done"] == 0
    assert chunks[-1]["done"] == chunks[-1]["of"] > 100
    assert [one["done"] for one in chunks] == sorted(one["done"] for one in chunks)
    assert told[-1][1] == {"index": "wheels", "file_id": "wheels.md", "title": told[-1][1]["title"], "warnings": []}


def test_the_same_file_is_the_same_book_and_another_of_its_name_is_not(client: httpx2.Client, home: Path) -> None:
    first = send(client, "twin.txt", b"The first twin.")[-1][1]
    again = send(client, "twin.txt", b"The first twin.")[-1][1]
    other = send(client, "twin.txt", b"The second twin.")[-1][1]
    assert first == again
    assert (first["index"], first["warnings"]) == ("twin", [])
    assert (other["index"], other["warnings"]) == (
        "twin-2",
        ["The index 'twin' has other books: this one is 'twin-2'."],
    )
    assert len(list((home / ".uploads").glob("*/twin.txt"))) == 2


def test_a_corrected_file_takes_the_place_of_the_book_of_its_name(client: httpx2.Client, home: Path) -> None:
    def held() -> list[str]:
        return [one["fileId"] for one in client.get("/indexes/farm").json()["sources"]]

    def text() -> str:
        return "".join(part["text"] for part in text_of(client, "farm", "fleece.md")[1])

    first = send(client, "fleece.md", b"A fleece weighs seven ponds.", index="farm")[-1][1]
    send(client, "geese.md", b"Geese guard the yard.", index="farm")
    again = send(client, "fleece.md", b"A fleece weighs seven pounds.", index="Farm")[-1][1]
    assert (again["index"], again["file_id"], again["warnings"]) == ("farm", first["file_id"], [])
    assert (held(), text()) == (["fleece.md", "geese.md"], "A fleece weighs seven pounds.")
    (kept,) = (home / ".uploads").glob("*/fleece.md")
    assert kept.read_bytes() == b"A fleece weighs seven pounds."

    (refused,) = send(client, "fleece.md", b"", index="farm")
    assert (refused[1]["status"], held(), text()) == (422, ["fleece.md", "geese.md"], "A fleece weighs seven pounds.")
    assert [*(home / ".uploads").glob("*/fleece.md")] == [kept]
    kept.unlink()  # whoever sends it again gives it back
    assert send(client, "fleece.md", b"A fleece weighs seven pounds.", index="farm")[-1][1] == again
    assert kept.is_file()
    assert client.post("/indexes/farm/sync", json={}).json()["unchangedSources"] == 2


def test_a_file_that_cannot_be_read_leaves_the_book_of_its_name(client: httpx2.Client, home: Path) -> None:
    assert send(client, "report.pdf", pdfs.simple("The report is short."), index="reports")[-1][0] == "result"
    before = client.get("/indexes/reports").json(), sorted((home / ".uploads").rglob("*"))
    assert send(client, "report.pdf", pdfs.encrypted(), index="reports")[-1][0] == "error"
    assert (client.get("/indexes/reports").json(), sorted((home / ".uploads").rglob("*"))) == before


def test_cancelling_leaves_the_file_of_another_upload_of_the_book(client: httpx2.Client, home: Path) -> None:
    book = "\n\n".join(f"Wheel {number} has {number % 60} teeth. It turns." for number in range(20_000)).encode()

    def begun(index: str) -> AbstractContextManager[httpx2.Response]:
        return client.stream("POST", "/books", params={"name": "gears.txt", "index": index}, content=book)

    first = ExitStack()
    first.enter_context(begun("cancelled"))
    with begun("gears") as other:
        first.close()
        assert list(events(other.iter_lines()))[-1][0] == "result"
    await_that(lambda: len(list((home / ".uploads").glob("*/gears.txt"))) == 1)
    synced = client.post("/indexes/gears/sync", json={}).json()
    assert (synced["unchangedSources"], synced["removedSources"]) == (1, 0)
    assert "cancelled" not in [shelf["index"] for shelf in client.get("/books").json()["shelves"]]


def test_a_file_goes_with_the_last_index_that_has_it(client: httpx2.Client, home: Path, tmp_path: Path) -> None:
    send(client, "deed.txt", b"The deed was signed in 1811.", index="deeds")
    (kept,) = (home / ".uploads").glob("*/deed.txt")
    with Library(Settings(home=home)) as library:
        library.export_index(tmp_path / "deeds.zip", "deeds")
        library.import_index(tmp_path / "deeds.zip", "copied")
        assert client.delete("/indexes/deeds").status_code == 200
        assert kept.is_file()
        assert library.remove("copied") == "copied"
    assert not kept.parent.exists()


@pytest.mark.parametrize(
    ("name", "data", "detail"),
    [
        ("nothing.txt", b"", "nothing.txt: The file is empty"),
        ("data.json", b"{}", "data.json: A .json file is code or data"),
        ("secret.pdf", pdfs.encrypted(), "secret.pdf: The file is encrypted"),
        ("cut.pdf", pdfs.truncated(), "cut.pdf: "),
        ("../../etc/passwd.pdf", b"", "_.._etc_passwd.pdf: The file is empty"),
    ],
)
def test_what_cannot_be_read_leaves_nothing_behind(
    client: httpx2.Client, home: Path, name: str, data: bytes, detail: str
) -> None:
    before = client.get("/books").json(), sorted((home / ".uploads").rglob("*"))
    last, error = send(client, name, data)[-1]
    assert (last, error["error"]) == ("error", "UnreadableFileError")
    assert error["detail"].startswith(detail)
    assert error.get("status", 422) == 422
    assert (client.get("/books").json(), sorted((home / ".uploads").rglob("*"))) == before


def test_a_form_is_no_book(client: httpx2.Client) -> None:
    before = client.get("/books").json()
    response = client.post("/books", params={"name": "bells.md"}, files={"file": ("bells.md", BELL.encode())})
    assert (response.status_code, response.json()["error"]) == (400, "AstRagValidationError")
    assert "--data-binary @FILE" in response.json()["detail"]
    assert client.get("/books").json() == before


def test_what_fails_leaves_the_same_text_of_another_name_alone(client: httpx2.Client, home: Path) -> None:
    text = b"The same words under two names."
    assert send(client, "kept.txt", text, index="kept")[-1][0] == "result"
    assert send(client, "other.txt", text, index=" ")[-1][0] == "error"
    assert [path.name for path in (home / ".uploads").rglob("*.*") if path.read_bytes() == text] == ["kept.txt"]


def test_long_names_are_cut_between_characters(client: httpx2.Client, home: Path) -> None:
    assert send(client, "時" * 300 + ".txt", b"A text with a long name.", index="long")[-1][0] == "result"
    (kept,) = (home / ".uploads").rglob("時*")
    assert kept.name == "時" * 65 + ".txt"


def test_a_service_that_only_answers_takes_no_books(tmp_path: Path) -> None:
    with served(small_library(tmp_path / "home"), ServiceSettings(read_only=True)) as client:
        assert client.get("/books").json() == {"can_add": False, "shelves": [], "troubles": {}}
        assert client.post("/books", params={"name": "x.txt"}, content=b"x").status_code == 403


def test_every_file_of_the_page_is_served_with_the_strict_policy(client: httpx2.Client) -> None:
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
    for path in STATIC.iterdir():
        response = client.get(f"/static/{path.name}")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kinds[path.suffix])
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
    assert client.get("/").headers["content-type"].startswith("text/html")
    assert client.get("/chapterverse.js").status_code == 200
