"""Files and folders of this machine: what is listed, in which order, and what is refused."""

from __future__ import annotations

import dataclasses
import os
import socket
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from chapterverse.errors import AstRagSourceError, AstRagValidationError, UnreadableFileError
from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.ingest.sources.folder import FolderSource
from chapterverse.ingest.sources.options import matches
from chapterverse.types import SourceItem

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX file names and special files")


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"The text of {name}.", encoding="utf-8")


def folder(root: Path, **options: object) -> FolderSource:
    source = open_source(str(root), SourceOptions(**options))  # type: ignore[arg-type]
    assert isinstance(source, FolderSource)
    return source


def ids(source: FolderSource) -> list[str]:
    return [item.file_id for item in source.items()]


def test_a_folder_is_listed_in_one_order_and_read(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a/b/c.txt", "B.md", "a-b.md")
    source = folder(tmp_path)
    assert ids(source) == ["B.md", "a-b.md", "a/b/c.txt", "a/z.md", "b.md"]
    item = list(source.items())[2]
    assert (item.file_name, item.size) == ("c.txt", len("The text of a/b/c.txt."))
    assert item.modified_time is not None
    assert item.modified_time.endswith("Z")
    assert source.fetch(item) == b"The text of a/b/c.txt."
    assert source.notices == []


def test_a_file_listed_elsewhere_can_be_fetched(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md")
    assert folder(tmp_path).fetch(SourceItem("a/b.md", "b.md")) == b"The text of a/b.md."
    assert folder(tmp_path / "a/b.md").fetch(SourceItem("b.md", "b.md")) == b"The text of a/b.md."


def test_a_single_file_is_known_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, "some/where/book.md")
    assert ids(folder(tmp_path / "some/where/book.md")) == ["book.md"]


def test_subfolders_can_be_left(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "sub/b.md")
    assert ids(folder(tmp_path, include_subfolders=False)) == ["a.md"]


@pytest.mark.parametrize(
    ("pattern", "path", "hit"),
    [
        ("*.md", "a.md", True),
        ("*.md", "deep/down/a.md", True),
        ("*.md", "a.mdx", False),
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/deep/a.md", False),
        ("docs/*.md", "old/docs/a.md", False),
        ("docs/**/*.md", "docs/a.md", True),
        ("docs/**/*.md", "docs/x/y/a.md", True),
        ("**/docs/a.md", "old/docs/a.md", True),
        ("**/docs/a.md", "docs/a.md", True),
        ("docs/**", "docs/x/y", True),
        ("docs", "docs/x/y", True),
        ("docs/", "docs/x", True),
        ("docs/", "docs", False),
        ("docs/", "old/docs/x", True),
        ("/docs", "old/docs/x", False),
        ("ch?.md", "ch1.md", True),
        ("ch?.md", "ch12.md", False),
        ("ch[0-9].md", "ch7.md", True),
        ("ch[!0-9].md", "ch7.md", False),
        ("ch[!0-9].md", "cha.md", True),
        ("a+b(1).md", "a+b(1).md", True),
        ("caf\u0065\u0301.md", "caf\u00e9.md", True),
    ],
)
def test_patterns(pattern: str, path: str, hit: bool) -> None:
    assert matches(pattern, path) is hit


def test_include_and_exclude(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "a.txt", "drafts/b.md", "node_modules/x/readme.md")
    assert ids(folder(tmp_path, include=("*.md",), exclude=("drafts/", "node_modules"))) == ["a.md"]
    assert ids(folder(tmp_path, exclude_file_ids=frozenset({"drafts/b.md", "a.txt"}))) == [
        "a.md",
        "node_modules/x/readme.md",
    ]


def test_an_id_to_leave_that_no_file_has_is_told(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    source = folder(tmp_path, exclude_file_ids=frozenset({"a.md", "B.md"}))
    assert ids(source) == ids(source) == ["b.md"]
    assert [(notice.file_id, "No file here" in notice.reason) for notice in source.notices] == [("B.md", True)]


def test_hidden_files_must_be_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".env.md", ".git/b.md", "~$a.docx", "sub/.hidden/c.md")
    assert ids(folder(tmp_path)) == ["a.md"]
    assert ids(folder(tmp_path, include=("*.md",))) == ["a.md"]
    assert ids(folder(tmp_path, include=("*.md", ".git/**"))) == [".git/b.md", "a.md"]


def test_what_editors_and_browsers_leave_beside_a_book_must_be_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "a.md~", "a.md.bak", "#a.md#", "a.tmp", "b.txt.part", "b.txt.crdownload", "old.bak/a.md")
    write(tmp_path, "#", "#1.md", "~me.md", "part", "tmp.md")
    assert ids(folder(tmp_path)) == ["#", "#1.md", "a.md", "part", "tmp.md", "~me.md"]
    assert ids(folder(tmp_path, include=("*.bak",))) == ["a.md.bak", "old.bak/a.md"]
    assert ids(folder(tmp_path / "a.md~")) == ["a.md~"], "a file that is named itself is taken"


def test_too_many_files(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "c.md")
    with pytest.raises(AstRagValidationError, match=r"3 files; max_files is 2\. Raise max_files") as caught:
        ids(folder(tmp_path, max_files=2))
    assert caught.value.details == {"found": 3, "max_files": 2}
    source = folder(tmp_path, max_files=2, truncate=True)
    assert ids(source) == ["a.md", "b.md"]
    assert [notice.reason for notice in source.notices] == [
        f"{tmp_path} holds 3 files; max_files is 2: only the first 2 were taken."
    ]
    assert ids(folder(tmp_path, max_files=3)) == ["a.md", "b.md", "c.md"]
    for beside in ("a.png", "b.py", "z.JPG"):
        (tmp_path / beside).touch()
    assert ids(folder(tmp_path, max_files=3)) == ["a.md", "a.png", "b.md", "b.py", "c.md", "z.JPG"]
    assert ids(folder(tmp_path, max_files=2, truncate=True)) == ["a.md", "a.png", "b.md", "b.py"]


def test_a_file_over_the_limit(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "big.md").write_bytes(b"x" * (1024 * 1024 + 1))
    source = folder(tmp_path, max_file_mb=1)
    assert ids(source) == ["a.md"]
    assert [(n.file_id, n.reason) for n in source.notices] == [("big.md", "Left out: it is over 1 MB.")]
    with pytest.raises(UnreadableFileError, match=r"big\.md: The file is over 1 MB") as caught:
        source.fetch(SourceItem("big.md", "big.md"))
    assert caught.value.reason == "too_large"


@posix
def test_links_inside_count_once_and_links_out_are_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(root, "a.md", ".store/kept.md", "sub/b.md")
    write(outside, "secret.md", "more/secret.md")
    (root / "0-same.md").symlink_to(root / "a.md")
    (root / "kept.md").symlink_to(".store/kept.md")
    (root / "out.md").symlink_to(outside / "secret.md")
    (root / "outdir").symlink_to(outside)
    (root / "sub/loop").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "gone.md").symlink_to(root / "nothing.md")
    (root / "store").symlink_to(".store")
    source = folder(root)
    assert ids(source) == ["a.md", "kept.md", "sub/b.md"]
    reasons = {notice.file_id: notice.reason for notice in source.notices}
    assert set(reasons) == {"out.md", "outdir", "sub/loop", "self", "gone.md"}
    assert "leads out of the folder" in reasons["out.md"]
    assert "outside" in reasons["outdir"]
    assert "leads back" in reasons["sub/loop"]
    assert "leads nowhere" in reasons["self"]
    assert "leads nowhere" in reasons["gone.md"]


@posix
def test_a_file_that_becomes_a_link_out_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "a.md")
    write(tmp_path, "secret.md")
    source = folder(root)
    [item] = source.items()
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(UnreadableFileError, match="outside of the folder") as caught:
        source.fetch(item)
    assert caught.value.reason == "traversal"
    with pytest.raises(UnreadableFileError, match="outside of the folder"):
        source.fetch(SourceItem("../secret.md", "secret.md"))


@posix
def test_pipes_and_sockets_are_never_opened(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(tmp_path / "socket.md"))
        source = folder(tmp_path)
        assert ids(source) == ["a.md"]
    assert {notice.file_id for notice in source.notices} == {"pipe.md", "socket.md"}
    assert all("not a regular file" in notice.reason for notice in source.notices)
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        source.fetch(SourceItem("pipe.md", "pipe.md"))


@posix
def test_names_in_other_code_points(tmp_path: Path) -> None:
    composed, apart = "caf\u00e9.md", unicodedata.normalize("NFD", "caf\u00e9.md")
    (tmp_path / "n\u0303.md").write_text("tilde")
    source = folder(tmp_path)
    [item] = source.items()
    assert item.file_id == "\u00f1.md"
    assert source.fetch(item) == b"tilde"
    write(tmp_path, composed)
    write(tmp_path, apart)
    if len(os.listdir(tmp_path)) == 3:  # some file systems hold the two for one name
        assert ids(source) == [composed, "\u00f1.md"]
        assert [notice.reason for notice in source.notices] == [
            "Left out: another file has this name in other code points."
        ]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_unicode(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("latin")
    source = folder(tmp_path)
    [item] = source.items()
    assert item.file_id == "caf\\xe9.md"
    assert source.fetch(item) == b"latin"
    assert "not valid Unicode" in source.notices[0].reason


@pytest.fixture
def without_privileges() -> Iterator[Path]:
    """A folder to work in as an ordinary user, even where the tests run as the administrator, who may read all."""
    with tempfile.TemporaryDirectory() as name:
        administrator = os.geteuid() == 0
        if administrator:
            os.chown(name, 65534, -1)
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            if administrator:
                os.seteuid(0)


@posix
def test_what_may_not_be_read_is_reported(without_privileges: Path) -> None:
    root = without_privileges
    write(root, "a.md", "locked/b.md", "c.md")
    (root / "locked").chmod(0)
    (root / "c.md").chmod(0)
    source = folder(root)
    items = list(source.items())
    assert [item.file_id for item in items] == ["a.md", "c.md"]
    assert [(n.file_id, n.reason) for n in source.notices] == [
        ("locked", "Left out: the folder cannot be read (Permission denied).")
    ]
    assert source.unseen == {"locked"}
    with pytest.raises(UnreadableFileError, match=r"c\.md: The file cannot be opened: Permission denied"):
        source.fetch(items[1])
    with pytest.raises(AstRagSourceError, match=r"locked' cannot be read \(Permission denied\)"):
        list(folder(root / "locked").items())
    (root / "locked").chmod(0o700)


def test_a_vanished_file(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    source = folder(tmp_path)
    [item] = source.items()
    (tmp_path / "a.md").unlink()
    with pytest.raises(UnreadableFileError, match=r"a\.md: The file cannot be opened") as caught:
        source.fetch(item)
    assert caught.value.reason == "unreachable"


@pytest.mark.parametrize("address", ["no/such/folder", "", "  ", "nul\0byte", "x" * 5000, "c:nothing"])
def test_no_such_place(address: str) -> None:
    with pytest.raises(AstRagSourceError, match="There is no file or folder"):
        open_source(address)


@pytest.mark.parametrize("address", ["ftp://example.org/book", "s3://bucket/book", "file:///etc/hosts", "gdrives:x"])
def test_unknown_schemes(address: str) -> None:
    with pytest.raises(AstRagSourceError, match=r"not supported\. Give a file or folder .* https://.* gdrive:<id>"):
        open_source(address)


@posix
def test_a_file_whose_name_looks_like_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "notes:2024.md")
    source = open_source("notes:2024.md")
    assert [item.file_id for item in source.items()] == ["notes:2024.md"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"include": "*.md"}, "include takes a list"),
        ({"max_files": 0}, "max_files is 0"),
        ({"attempts": -1}, "attempts is -1"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, object], words: str) -> None:
    with pytest.raises(AstRagValidationError, match=words):
        SourceOptions(**options)  # type: ignore[arg-type]


def test_a_pattern_that_makes_no_sense(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    with pytest.raises(AstRagValidationError, match=r"'\[z-a\]' cannot be understood"):
        ids(folder(tmp_path, include=("[z-a]",)))


def test_every_option_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
    missing = [field.name for field in dataclasses.fields(SourceOptions) if f"`{field.name}`" not in text]
    assert missing == []


def test_a_token_is_never_shown() -> None:
    assert "hush" not in repr(SourceOptions(access_token="hush"))


def test_thousands_of_files(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / f"{number:04}.md").touch()
    assert ids(folder(tmp_path)) == [f"{number:04}.md" for number in range(3000)]


def test_local_files_do_not_load_an_http_client(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    script = (
        "import sys\n"
        "from chapterverse.ingest.sources import open_source\n"
        "assert [i.file_id for i in open_source(sys.argv[1]).items()] == ['a.md']\n"
        "heavy = {'httpx2', 'google.auth', 'lxml', 'selectolax', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
