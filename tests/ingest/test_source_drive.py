"""Google Drive folders, against a real server that speaks Drive's calls."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from chapterverse.errors import AstRagAuthError, AstRagSourceError, AstRagValidationError, UnreadableFileError
from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.ingest.sources.drive import DriveSource
from chapterverse.types import SourceItem
from tests.ingest.google_drive import APPS, DOCX, PPTX, GoogleDrive, error

TOO_LARGE = ("exportSizeLimitExceeded", "This file is too large to be exported.")


@pytest.fixture
def drive(httpserver: HTTPServer) -> GoogleDrive:
    return GoogleDrive(httpserver)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between attempts; nobody really waits."""
    seconds: list[float] = []
    monkeypatch.setattr("chapterverse.retry.sleep", seconds.append)
    return seconds


def open_drive(drive: GoogleDrive, folder: str = "root", **options: Any) -> DriveSource:
    if "credentials_file" not in options:
        options = {"access_token": "good-token", **options}
    source = open_source(f"gdrive:{folder}", SourceOptions(drive_url=drive.url, **options))
    assert isinstance(source, DriveSource)
    return source


def ids(source: DriveSource) -> list[str]:
    return [item.file_id for item in source.items()]


def test_a_folder_page_by_page_and_its_subfolders(drive: GoogleDrive) -> None:
    drive.folder("sub", "Part two")
    drive.folder("deep", "Deeper", "sub")
    for number in (3, 1, 2):
        drive.add(f"id-{number}", f"Chapter {number}.pdf", "application/pdf", "root", b"%PDF-1.7")
    drive.add("id-4", "Chapter 4.txt", "text/plain", "sub", b"Four")
    drive.add("id-5", "Chapter 5.txt", "text/plain", "deep", b"Five")
    drive.add("other", "Not ours.txt", "text/plain", "elsewhere", b"No")
    source = open_drive(drive)
    items = list(source.items())
    assert [item.file_id for item in items] == ["id-1", "id-2", "id-3", "id-4", "id-5"]
    assert items[3] == SourceItem(
        "id-4",
        "Chapter 4.txt",
        size=4,
        modified_time="2026-03-04T05:06:07.089Z",
        url="https://drive.google.com/file/d/id-4/view",
        mime_type="text/plain",
    )
    assert source.fetch(items[4]) == b"Five"
    assert len(drive.asked("/files")) == 4  # two pages of the root, one of each subfolder
    assert source.notices == []
    assert ids(open_drive(drive, include_subfolders=False)) == ["id-1", "id-2", "id-3"]


def test_google_documents_are_exported(drive: GoogleDrive) -> None:
    drive.add("doc", "Essay", APPS + "document", "root")
    drive.add("deck", "Talk", APPS + "presentation", "root")
    drive.add("sheet", "Numbers", APPS + "spreadsheet", "root")
    drive.add("form", "Asking", APPS + "form", "root")
    drive.add("photo", "Cat", "image/jpeg", "root", b"\xff\xd8")
    source = open_drive(drive)
    items = list(source.items())
    assert [(item.file_id, item.mime_type) for item in items] == [
        ("doc", APPS + "document"),
        ("deck", APPS + "presentation"),
    ]
    assert source.fetch(items[0]) == f"Essay as {DOCX}".encode()
    assert source.fetch(items[1]) == f"Talk as {PPTX}".encode()
    assert source.fetch(SourceItem("doc", "Essay")) == f"Essay as {DOCX}".encode()
    reasons = {notice.file_name: notice.reason for notice in source.notices}
    assert set(reasons) == {"Numbers", "Asking", "Cat"}
    assert "only Docs and Slides are read, and this is a spreadsheet" in reasons["Numbers"]
    assert "image/jpeg" in reasons["Cat"]


def test_a_single_file(drive: GoogleDrive) -> None:
    drive.add("one", "Book.epub", "application/epub+zip", "root", b"PK")
    assert ids(open_drive(drive, "one")) == ["one"]


def test_shortcuts_lead_to_files_and_folders_and_never_round(drive: GoogleDrive) -> None:
    drive.folder("sub", "Sub")
    drive.folder("outside", "Outside", "elsewhere")
    drive.add("far", "Far.txt", "text/plain", "outside", b"far")
    drive.add("near", "Near.txt", "text/plain", "sub", b"near")
    drive.shortcut("s1", "To a file", "far")
    drive.shortcut("s2", "To a folder", "outside")
    drive.shortcut("s3", "Round", "root", parent="sub")
    drive.shortcut("s4", "To nothing", "gone")
    drive.shortcut("s5", "Near again", "near", parent="sub")
    source = open_drive(drive)
    items = list(source.items())
    assert [(item.file_id, item.file_name) for item in items] == [("far", "Far.txt"), ("near", "Near.txt")]
    assert source.fetch(items[0]) == b"far"
    assert [(n.file_id, n.file_name) for n in source.notices] == [("s4", "To nothing")]
    assert "File not found: gone." in source.notices[0].reason


def test_choosing_files(drive: GoogleDrive) -> None:
    drive.folder("drafts", "Drafts")
    drive.folder("final", "Final")
    drive.add("a", "A.md", "text/markdown", "final", b"a")
    drive.add("b", "B.txt", "text/plain", "final", b"b")
    drive.add("c", "C.md", "text/markdown", "drafts", b"c")
    assert ids(open_drive(drive, include=("*.md",), exclude=("Drafts/",))) == ["a"]
    source = open_drive(drive, exclude_file_ids=frozenset({"a", "drafts", "A.md"}))
    assert (ids(source), [notice.file_id for notice in source.notices]) == (["b"], ["A.md"])
    with pytest.raises(AstRagValidationError, match="gdrive:root holds 3 files; max_files is 2"):
        ids(open_drive(drive, max_files=2))
    assert ids(open_drive(drive, max_files=2, truncate=True)) == ["c", "a"]


def test_files_over_the_limit(drive: GoogleDrive) -> None:
    drive.add("big", "Big.txt", "text/plain", "root", b"x" * (1024 * 1024 + 1))
    source = open_drive(drive, max_file_mb=1)
    assert ids(source) == []
    assert source.notices[0].reason == "Left out: it is over 1 MB."
    assert source.unseen == {"big"}
    with pytest.raises(UnreadableFileError, match=r"Big\.txt: The file is over 1 MB") as caught:
        source.fetch(SourceItem("big", "Big.txt", mime_type="text/plain"))
    assert caught.value.reason == "too_large"


def test_a_document_too_large_to_export_is_read_as_text(drive: GoogleDrive) -> None:
    drive.add("doc", "Tome", APPS + "document", "root")
    drive.fail("/export", error(403, *TOO_LARGE))
    source = open_drive(drive)
    [item] = source.items()
    assert source.fetch(item) == b"Tome as text/plain"
    assert "read as plain text" in source.notices[0].reason
    drive.fail("/export", error(403, *TOO_LARGE), error(403, *TOO_LARGE))
    with pytest.raises(UnreadableFileError, match=r"Tome: .*This file is too large to be exported") as caught:
        source.fetch(item)
    assert (caught.value.reason, caught.value.retryable) == ("too_large", False)


@pytest.mark.parametrize(
    "reply",
    [
        lambda: error(429, "rateLimitExceeded", "Rate Limit Exceeded", "usageLimits", **{"Retry-After": "0"}),
        lambda: error(403, "userRateLimitExceeded", "User Rate Limit Exceeded.", "usageLimits"),
        lambda: error(403, "rateLimitExceeded", "Rate Limit Exceeded", "usageLimits"),
        lambda: error(500, "backendError", "Backend Error"),
        lambda: error(503, "backendError", "Transient failure."),
    ],
)
def test_passing_trouble_is_waited_for(drive: GoogleDrive, reply: Any) -> None:
    drive.add("a", "A.txt", "text/plain", "root", b"a")
    drive.fail("/files", reply(), reply())
    drive.fail("/files/a", reply())
    source = open_drive(drive)
    [item] = source.items()
    assert source.fetch(item) == b"a"
    assert (len(drive.asked("/files")), len(drive.asked("/files/a"))) == (3, 2)


def test_trouble_that_does_not_pass(drive: GoogleDrive) -> None:
    drive.add("a", "A.txt", "text/plain", "root", b"a")
    rate = ("userRateLimitExceeded", "User Rate Limit Exceeded.", "usageLimits")
    source = open_drive(drive)
    [item] = source.items()
    drive.fail("/files/a", *(error(403, *rate) for _ in range(4)))
    with pytest.raises(UnreadableFileError, match=r"A\.txt: .*User Rate Limit Exceeded") as caught:
        source.fetch(item)
    assert (caught.value.reason, caught.value.retryable) == ("unreachable", True)
    drive.fail("/files", *(error(403, *rate) for _ in range(4)))
    with pytest.raises(AstRagSourceError, match=r"cannot be listed.*User Rate Limit Exceeded") as listing:
        ids(source)
    assert listing.value.retryable


def test_a_file_that_may_not_be_read_does_not_fail_the_others(drive: GoogleDrive) -> None:
    drive.add("a", "A.txt", "text/plain", "root", b"a")
    source = open_drive(drive)
    [item] = source.items()
    drive.fail("/files/a", error(403, "cannotDownloadAbusiveFile", "This file has been identified as malware."))
    with pytest.raises(UnreadableFileError, match=r"A\.txt: .*identified as malware") as caught:
        source.fetch(item)
    assert caught.value.reason == "refused"
    del drive.files["a"]
    with pytest.raises(UnreadableFileError, match="File not found: a") as caught:
        source.fetch(item)
    assert caught.value.reason == "missing"


def test_a_folder_that_may_not_be_read(drive: GoogleDrive, tmp_path: Path) -> None:
    with pytest.raises(AstRagSourceError, match="There is no gdrive:nowhere, or it is not shared with the account"):
        ids(open_drive(drive, "nowhere"))
    source = open_drive(drive, credentials_file=drive.service_account(tmp_path))
    message = "The user does not have sufficient permissions for this file."
    drive.fail("/files/root", error(403, "insufficientFilePermissions", message))
    with pytest.raises(AstRagAuthError, match=r"Share it with reader@project\.iam\.gserviceaccount\.com") as caught:
        ids(source)
    assert caught.value.details == {"reason": "insufficientFilePermissions"}


def test_a_subfolder_that_may_not_be_read_is_reported(drive: GoogleDrive) -> None:
    drive.folder("sub", "Sub")
    drive.add("a", "A.txt", "text/plain", "root", b"a")
    drive.page_size = 100
    source = open_drive(drive)
    drive.fail(
        "/files", Response(json.dumps({"files": list(drive.files.values())[1:]}), 200), error(404, "notFound", "No.")
    )
    assert ids(source) == ["a"]
    assert [(n.file_id, n.reason) for n in source.notices] == [
        ("sub", "Left out: Google Drive answers: No. (HTTP status 404)")
    ]


def test_a_service_account_signs_in_and_renews_its_token(drive: GoogleDrive, tmp_path: Path) -> None:
    drive.add("a", "A.txt", "text/plain", "root", b"a")
    source = open_drive(drive, credentials_file=drive.service_account(tmp_path))
    [item] = source.items()
    assert drive.issued == 1
    drive.tokens = {"another"}
    assert source.fetch(item) == b"a"
    assert drive.issued == 2


def test_an_authorised_user_signs_in(drive: GoogleDrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Google's library knows one place only where users sign in.
    monkeypatch.setattr("google.oauth2.credentials._GOOGLE_OAUTH2_TOKEN_ENDPOINT", drive.token_url)
    drive.add("a", "A.txt", "text/plain", "root", b"a")
    source = open_drive(drive, credentials_file=drive.authorized_user(tmp_path))
    assert ids(source) == ["a"]


def test_default_credentials(drive: GoogleDrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drive.add("a", "A.txt", "text/plain", "root", b"a")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(drive.service_account(tmp_path)))
    assert ids(open_drive(drive, access_token=None)) == ["a"]
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nothing.json"))
    with pytest.raises(AstRagAuthError, match=r"No way into Google Drive .*credentials_file .*gcloud auth"):
        ids(open_drive(drive, access_token=None))


def test_a_token_that_has_expired(drive: GoogleDrive) -> None:
    with pytest.raises(AstRagAuthError, match="may have expired") as caught:
        ids(open_drive(drive, access_token="stale-token"))
    assert "stale-token" not in str(caught.value)


def test_credentials_that_google_refuses(drive: GoogleDrive, tmp_path: Path) -> None:
    key = drive.service_account(tmp_path)
    key.write_text(key.read_text().replace("reader@project", "stranger@project"))
    with pytest.raises(AstRagAuthError, match=r"does not accept these credentials: .*account not found"):
        ids(open_drive(drive, credentials_file=key))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        ("not json", "Expecting value"),
        ("[]", "its type is None"),
        ('{"type": "external_account"}', "its type is 'external_account', not one of service_account, authorized_user"),
        ('{"type": "service_account", "private_key": "x"}', "cannot be used"),
    ],
)
def test_credential_files_that_cannot_be_used(
    drive: GoogleDrive, tmp_path: Path, content: str | None, words: str
) -> None:
    path = tmp_path / "key.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(AstRagAuthError, match=words) as caught:
        ids(open_drive(drive, credentials_file=path))
    assert "gcloud auth" in caught.value.message


def test_the_sign_in_cannot_be_reached(drive: GoogleDrive, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    key = drive.service_account(tmp_path)
    info = json.loads(key.read_text())
    key.write_text(json.dumps({**info, "token_uri": f"http://127.0.0.1:{port}/token"}))
    with pytest.raises(AstRagSourceError, match="sign-in cannot be reached") as caught:
        ids(open_drive(drive, credentials_file=key))
    assert caught.value.retryable


def test_drive_cannot_be_reached(drive: GoogleDrive) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        drive.url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(AstRagSourceError, match="gdrive:root cannot be listed: The server cannot be reached") as caught:
        ids(open_drive(drive))
    assert caught.value.retryable


@pytest.mark.parametrize("body", ["<html>Sign in to the Wi-Fi</html>", "[]"])
def test_something_else_answers(drive: GoogleDrive, body: str) -> None:
    drive.fail("/files/root", Response(body, 200))
    with pytest.raises(AstRagSourceError, match="does not answer as Google Drive does"):
        ids(open_drive(drive))


def test_the_token_is_not_carried_elsewhere(drive: GoogleDrive, httpserver: HTTPServer) -> None:
    drive.fail("/files/root", Response("", 302, {"Location": httpserver.url_for("/elsewhere")}))
    with pytest.raises(AstRagSourceError, match="redirects to another place"):
        ids(open_drive(drive))
    assert drive.asked("/elsewhere") == []


@pytest.mark.parametrize("folder", ["", "a b", "https://drive.google.com/drive/folders/abc", "a'b", "../x"])
def test_addresses_that_name_no_folder(folder: str) -> None:
    with pytest.raises(AstRagSourceError, match="the part of its address after /folders/"):
        open_source(f"gdrive:{folder}")


def test_a_ready_token_needs_no_google_library(drive: GoogleDrive) -> None:
    drive.add("a", "A.txt", "text/plain", "root", b"a")
    script = (
        "import sys\n"
        "from chapterverse.ingest.sources import SourceOptions, open_source\n"
        "source = open_source('gdrive:root', SourceOptions(access_token='good-token', drive_url=sys.argv[1]))\n"
        "assert [item.file_id for item in source.items()] == ['a']\n"
        "assert 'google.auth' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script, drive.url], check=True)
