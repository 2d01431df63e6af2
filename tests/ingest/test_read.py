"""Reading: sandboxed, in order, on all cores; one bad file never harms its neighbours."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

import chapterverse
from chapterverse.errors import AstRagSourceError, UnreadableFileError
from chapterverse.ingest import sandbox as sandbox_module
from chapterverse.ingest.read import read, read_all
from chapterverse.ingest.sandbox import Sandbox
from chapterverse.ingest.sources import open_source
from chapterverse.types import ReadOptions, SourceItem

HOSTILE = """
import sys, time, os, ctypes
sys.argv = ["worker"]
from chapterverse.ingest import worker
from chapterverse.ingest.formats import markdown
from chapterverse.ingest.spread import spread
real = markdown.parse
def parse(data, composer, options):
    if b"SPIN" in data:
        while True: pass
    if b"SLEEP" in data: time.sleep(60)
    if b"CRASH" in data: ctypes.string_at(1)
    if b"EXIT" in data: os._exit(0)
    if b"GROW" in data:
        hog = [bytearray(50_000_000) for _ in range(100)]
    if b"BUG" in data: raise KeyError("a bug in a parser")
    if b"PRINT" in data: os.write(1, b"noise on standard output")
    if b"SHOUT" in data: data = b"loud " * 1_000_000
    if b"COPIES" in data:
        ours = os.getpid()
        spread(lambda number: os.getpid() == ours or time.sleep(60), 50)
    if b"SECRETS" in data: data = " ".join(sorted(os.environ)).encode()
    real(data, composer, options)
markdown.parse = parse
worker.main()
"""

PARENT = """
import sys
from chapterverse.ingest.read import read
from chapterverse.ingest.sandbox import Sandbox
from chapterverse.types import SourceItem
sandbox = Sandbox()
read(b"# A", SourceItem("a.md", "a.md"), sandbox=sandbox)
print(sandbox._process.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """A sandbox whose Markdown parser misbehaves on demand, as a native parser may on a crafted file."""
    script = tmp_path / "hostile_worker.py"
    script.write_text(HOSTILE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sandbox_module.worker, "__name__", "hostile_worker")
    return Sandbox()


def item(name: str = "a.md") -> SourceItem:
    return SourceItem(name, name)


@pytest.mark.parametrize(
    ("trick", "options", "reasons"),
    [
        ("SPIN", ReadOptions(max_cpu_seconds=1), {"timeout"}),
        ("SLEEP", ReadOptions(max_seconds=0.6), {"timeout"}),
        ("CRASH", ReadOptions(), {"damaged"}),
        ("EXIT", ReadOptions(), {"damaged"}),
        ("GROW", ReadOptions(max_memory_mb=600), {"memory"}),
        ("BUG", ReadOptions(), {"damaged"}),
    ],
)
def test_a_file_that_breaks_the_parser_is_an_error_and_the_next_one_is_read(
    hostile: Sandbox, trick: str, options: ReadOptions, reasons: set[str]
) -> None:
    with hostile:
        with pytest.raises(UnreadableFileError) as caught:
            read(f"# T\n\n{trick}\n".encode(), item("bad.md"), options, hostile)
        assert caught.value.reason in reasons
        assert caught.value.message.startswith("bad.md: ")
        assert caught.value.file == "bad.md"
        assert read(b"# T\n\nfine\n", item(), options, hostile).text == "T\n\nfine"


def test_noise_of_native_libraries_does_not_reach_the_protocol(hostile: Sandbox) -> None:
    with hostile:
        assert read(b"PRINT\n", item(), sandbox=hostile).text == "PRINT"


def test_a_worker_that_grew_is_replaced(hostile: Sandbox) -> None:
    with hostile:
        read(b"x", item(), sandbox=hostile)
        first = hostile._process
        with pytest.raises(UnreadableFileError):
            read(b"GROW", item(), ReadOptions(max_memory_mb=600), hostile)
        read(b"x", item(), sandbox=hostile)
        assert hostile._process is not first


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS binds on Linux alone; elsewhere the watch stands in")
def test_the_watch_alone_stops_memory(hostile: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    # As on macOS and Windows, where the system sets no limit: the script removes it.
    script = Path(os.environ["PYTHONPATH"]) / "hostile_worker.py"
    script.write_text(HOSTILE.replace("worker.main()", "worker._limit = lambda options: None\nworker.main()"))
    script.write_text(script.read_text().replace("bytearray(50_000_000)", "bytearray(os.urandom(50_000_000))"))
    with hostile, pytest.raises(UnreadableFileError) as caught:
        read(b"GROW", item(), ReadOptions(max_memory_mb=600), hostile)
    assert caught.value.reason == "memory"


def test_a_worker_sees_no_secrets(hostile: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with hostile:
        seen = read(b"SECRETS", item(), sandbox=hostile).text.split()
    assert "PYTHONPATH" in seen
    assert "OPENAI_API_KEY" not in seen


def test_a_worker_imports_nothing_from_the_folder_of_the_books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("json", "lxml", "markdown_it", "chapterverse"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('imported from the folder of the books')")
    (tmp_path / "a.md").write_text("# A")
    monkeypatch.chdir(tmp_path)
    assert chapterverse.read("a.md").text == "A"


def test_a_reply_is_bounded_too(hostile: Sandbox) -> None:
    with hostile, pytest.raises(UnreadableFileError, match="more than 2 MB") as caught:
        read(b"SHOUT", item(), ReadOptions(max_unpacked_mb=2), hostile)
    assert caught.value.reason == "bomb"


@pytest.mark.skipif(sys.platform != "linux", reason="workers copy themselves on Linux alone")
@pytest.mark.parametrize("end", ["late", "killed", "closed"])
def test_a_worker_and_its_copies_end_together(hostile: Sandbox, end: str) -> None:
    options = ReadOptions(max_seconds=5 if end == "late" else 60)
    with ThreadPoolExecutor(1) as pool, hostile:
        reading = pool.submit(read, b"COPIES", item(), options, hostile)
        while hostile._process is None or not psutil.Process(hostile._process.pid).children():
            assert not reading.done()
            time.sleep(0.01)
        worker = psutil.Process(hostile._process.pid)
        [copy, *_] = worker.children()
        if end == "killed":
            worker.kill()  # as the system does when there is no memory left
        elif end == "closed":
            hostile.close()
        error = reading.exception(timeout=20)
        assert isinstance(error, UnreadableFileError)
        assert error.reason == ("timeout" if end == "late" else "damaged")
    psutil.wait_procs([worker, copy], timeout=10)
    assert not copy.is_running()


def test_a_worker_that_died_while_idle_is_replaced(hostile: Sandbox) -> None:
    with hostile:
        read(b"x", item(), sandbox=hostile)
        assert hostile._process is not None
        psutil.Process(hostile._process.pid).kill()
        psutil.wait_procs([psutil.Process(hostile._process.pid)], timeout=10)
        assert read(b"still fine", item(), sandbox=hostile).text == "still fine"


def test_closing_ends_a_parse_under_way_and_nothing_starts_again(hostile: Sandbox) -> None:
    with ThreadPoolExecutor(1) as pool:
        asleep = pool.submit(read, b"SLEEP", item(), ReadOptions(), hostile)
        while hostile._process is None:
            time.sleep(0.01)
        worker = psutil.Process(hostile._process.pid)
        hostile.close()
        assert isinstance(asleep.exception(timeout=10), UnreadableFileError)
    assert not worker.is_running()
    with pytest.raises(RuntimeError, match="closed"):
        read(b"x", item(), sandbox=hostile)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no process groups of this kind; the worker has no console")
def test_ctrl_c_is_for_the_parent_alone(hostile: Sandbox) -> None:
    with hostile:
        read(b"x", item(), sandbox=hostile)
        assert hostile._process is not None
        assert os.getpgid(hostile._process.pid) != os.getpgid(0)


def test_a_worker_ends_when_its_parent_is_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    _, alive = psutil.wait_procs([worker], timeout=10)
    assert not alive


def test_many_files_in_order_with_one_bad_among_them(tmp_path: Path) -> None:
    for i in range(60):
        (tmp_path / f"{i:03}.md").write_text(f"# Title {i}\n\nText {i}.\n")
    (tmp_path / "030.md").write_bytes(b"")
    (tmp_path / "031.pdf").write_bytes(b"%PDF-1.7 nonsense")
    outcomes = list(read_all(open_source(str(tmp_path))))
    assert [o.item.file_id for o in outcomes] == sorted(o.item.file_id for o in outcomes)
    assert [o.item.file_id for o in outcomes if o.error] == ["030.md", "031.pdf"]
    assert [o.document.title for o in outcomes if o.document] == [f"Title {i}" for i in range(60) if i != 30]


def test_five_thousand_tiny_files(tmp_path: Path) -> None:
    for i in range(5000):
        (tmp_path / f"{i:05}.txt").write_text(f"Note {i}: the clock of house {i}.")
    count = 0
    for outcome in read_all(open_source(str(tmp_path))):
        assert outcome.document is not None
        assert outcome.document.text == f"Note {count}: the clock of house {count}."
        count += 1
    assert count == 5000


def test_stopping_early_leaves_no_process_behind(tmp_path: Path) -> None:
    for i in range(50):
        (tmp_path / f"{i}.md").write_text("text " * 1000)
    before = {child.pid for child in psutil.Process().children()}
    outcomes = read_all(open_source(str(tmp_path)))
    next(outcomes)
    outcomes.close()
    deadline = time.monotonic() + 10
    while {child.pid for child in psutil.Process().children()} - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not {child.pid for child in psutil.Process().children()} - before


def test_mime_types_are_obeyed_exactly(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A")
    (tmp_path / "b.txt").write_text("B")
    (tmp_path / "c.html").write_text("<html><body><p>C</p>")
    outcomes = list(read_all(open_source(str(tmp_path)), include_mime_types=["text/plain", "text/html"]))
    assert [o.item.file_id for o in outcomes] == ["b.txt", "c.html"]


def test_the_hash_is_of_the_bytes(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "a.md"
    path.write_bytes(b"# A\r\n\r\ntext")
    assert chapterverse.read(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_title_above_chapters_is_not_a_chapter(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# The Book\n\nHello.\n\n## Chapter 1: A\n\nx\n\n### S\n\ny\n\n## Chapter 2: B\n\nz\n")
    document = chapterverse.read(path)
    assert document.title == "The Book"
    assert [block.headings for block in document.blocks] == [
        ("The Book",), ("The Book",), ("Chapter 1: A",), ("Chapter 1: A",), ("Chapter 1: A", "S"),
        ("Chapter 1: A", "S"), ("Chapter 2: B",), ("Chapter 2: B",),
    ]  # fmt: skip


TALE = "# Tale\n\n## Chapter 1\n\n{0}\n\n## Chapter 2\n\n{0}\n\nTHE END\n\n"
LICENCE = ("Project Gutenberg licence",)


@pytest.mark.parametrize(
    "closing",
    [
        "End of Project Gutenberg's Tale, by A. Marl\n\n# Terms\n\nIt may be copied.",
        "End of the Project Gutenberg EBook of Tale\n\nIt may be copied.",
        "*** END OF THIS PROJECT GUTENBERG EBOOK TALE ***\n\n" + "Terms of the Project Gutenberg-tm License. " * 50,
        "\\*\\*\\* END OF THE PROJECT GUTENBERG EBOOK TALE \\*\\*\\*",
    ],
)
def test_what_project_gutenberg_adds_is_no_part_of_the_last_chapter(tmp_path: Path, closing: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(TALE.format("The mill stood still. " * 10) + closing)
    document = chapterverse.read(path)
    end = document.text.lower().index("end of th" if "END" in closing else "end of")
    below = [block for block in document.blocks if block.end > end]
    assert {block.headings for block in below} == {LICENCE}
    assert all(block.kind == "paragraph" for block in below)
    assert document.place(end - 10, end - 9).chapter == "Chapter 2"
    for chunk in chapterverse.chunk(document):
        assert (chunk.place.headings == LICENCE) == (chunk.end > end)


@pytest.mark.parametrize(
    "text",
    [
        TALE.format("The end of Project Gutenberg was near. " * 10),
        "# A\n\nEnd of Project Gutenberg files are marked so.\n\n# B\n\n" + "Read them with care. " * 20,
    ],
)
def test_a_book_may_speak_of_project_gutenberg(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(text)
    assert LICENCE not in {block.headings for block in chapterverse.read(path).blocks}


def test_errors_name_file_and_way_on(tmp_path: Path) -> None:
    with pytest.raises(AstRagSourceError, match="no file or folder"):
        chapterverse.read(tmp_path / "missing.pdf")
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b.md").write_text("b")
    with pytest.raises(AstRagSourceError, match="holds 2 files"):
        chapterverse.read(tmp_path)
    (tmp_path / "blank.txt").write_text("  \n\n ")
    with pytest.raises(UnreadableFileError, match=r"blank\.txt: No text"):
        chapterverse.read(tmp_path / "blank.txt")


@pytest.mark.full
def test_a_hundred_megabytes_of_text(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("w") as out:
        for i in range(900_000):
            out.write(f"Paragraph {i} tells of the tower clock that struck {i} times, and of those who heard it.\n\n")
            if i % 50_000 == 0:
                out.write("🕰️ " * 3000 + "\n\n")
    assert path.stat().st_size > 80_000_000
    document = chapterverse.read(path)
    assert "struck 899999 times" in document.text
    chunks = chapterverse.chunk(document)
    assert chunks[-1].end == len(document.text)
