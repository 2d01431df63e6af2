"""What a source cannot list for a moment stays in the index: real servers on loopback, the real embedded engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from chapterverse.errors import AstRagSourceError
from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.library import Library
from chapterverse.protocols import Source
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings
from tests.ingest.google_drive import GoogleDrive, error
from tests.ingest.websites import Site, sitemap, sitemap_index

XML = "application/xml"


@pytest.fixture
def library(tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    """A library that looks for Drive at the stand-in, and asks everybody once."""

    def opened(address: str, options: SourceOptions) -> Source:
        drive = httpserver.url_for("/drive/v3").rstrip("/")
        return open_source(address, replace(options, drive_url=drive, access_token="good-token", attempts=1))

    monkeypatch.setattr("chapterverse.library.offers.open_source", opened)
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    with Library(Settings(home=tmp_path / "home", embedding="fake"), embeddings=embeddings) as library:
        yield library


class Weather:
    """Whether paths of a site answer: each gives what it has, or the status set for it."""

    def __init__(self, site: Site) -> None:
        self.status: dict[str, int] = {}
        self._site = site

    def page(self, path: str, body: str, content_type: str = "text/html") -> None:
        def answer(request: Request) -> Response:
            status = self.status.get(path, 200)
            return Response(body if status == 200 else "", status, content_type=content_type)

        self._site.server.expect_request(path).respond_with_handler(answer)


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


def ids(library: Library, base: str) -> list[str]:
    return sorted(source.file_id.removeprefix(base) for source in library.inspect("shelf").sources)


def reasons(library: Library) -> str:
    return " ".join(notice.reason for notice in library.sync("shelf").warnings)


def test_the_pages_of_a_sitemap_that_fails_stay(library: Library, site: Site) -> None:
    weather = Weather(site)
    maps = [f"{site.url}/maps/{name}.xml" for name in ("one", "two")]
    weather.page("/maps/", sitemap_index(*maps), XML)
    for number, name in enumerate(("one", "two")):
        weather.page(f"/maps/{name}.xml", sitemap(f"{site.url}/book/{number}/bells"), XML)
        weather.page(f"/book/{number}/bells", f"<p>The bell weighs {number + 1} tons.</p>")
    library.add(f"{site.url}/maps/", index="shelf", spec={"allow_private_addresses": True})
    pages = ["/book/0/bells", "/book/1/bells"]
    assert ids(library, site.url) == pages
    weather.status["/maps/two.xml"] = 503
    said = reasons(library)
    assert "HTTP status 503" in said
    assert "of the files that the index has, 1 were not met and stay" in said
    assert ids(library, site.url) == pages
    weather.status["/maps/two.xml"] = 404
    assert "stay" not in reasons(library)
    assert ids(library, site.url) == pages[:1], "what is gone is gone"


def test_the_pages_of_a_sitemap_that_is_none_for_a_moment_stay(library: Library, site: Site) -> None:
    weather = Weather(site)
    one, two = (f"{site.url}/maps/{name}.xml" for name in ("one", "two"))
    weather.page("/maps/", sitemap_index(one, two), XML)
    weather.page("/maps/one.xml", sitemap(f"{site.url}/a"), XML)
    bodies = [sitemap(f"{site.url}/b"), "<html><body>We are back soon.</body></html>"]
    site.server.expect_request("/maps/two.xml").respond_with_handler(
        lambda request: Response(bodies.pop(0), content_type=XML)
    )
    for name in "ab":
        weather.page(f"/{name}", f"<p>This is page {name}.</p>")
    library.add(f"{site.url}/maps/", index="shelf", spec={"allow_private_addresses": True})
    assert "It is no sitemap." in reasons(library)
    assert ids(library, site.url) == ["/a", "/b"]


def test_pages_stay_that_only_a_page_or_sitemap_leads_to_which_fails(library: Library, site: Site) -> None:
    weather = Weather(site)
    weather.page("/book/", "<p>The book of bells: <a href='contents'>contents</a></p>")
    weather.page("/book/contents", "<p>All there is: <a href='bells'>bells</a></p>")
    weather.page("/book/bells", "<p>The great bell weighs two tons.</p>")
    library.add(f"{site.url}/book/", index="shelf", spec={"allow_private_addresses": True})
    pages = ["/book/", "/book/bells", "/book/contents"]
    weather.status["/book/contents"] = 503
    assert "2 were not met" in reasons(library)
    assert ids(library, site.url) == pages
    del weather.status["/book/contents"]
    weather.page("/sitemap.xml", sitemap(f"{site.url}/book/bells", f"{site.url}/book/apart"), XML)
    weather.page("/book/apart", "<p>Nothing leads here.</p>")
    library.sync("shelf")
    assert ids(library, site.url) == ["/book/", "/book/apart", "/book/bells"]
    weather.status["/sitemap.xml"] = 503
    assert "sitemap.xml" in " ".join(notice.file_id for notice in library.sync("shelf").warnings)
    assert "/book/apart" in ids(library, site.url)


@pytest.mark.parametrize("trouble", ["folder", "search", "shortcut"])
def test_what_is_in_a_drive_folder_that_fails_stays(library: Library, httpserver: HTTPServer, trouble: str) -> None:
    drive = GoogleDrive(httpserver)
    drive.page_size = 100
    drive.add("bells", "Bells.txt", "text/plain", "root", b"The bell weighs two tons.")
    drive.folder("sub", "Sub", "elsewhere" if trouble == "shortcut" else "root")
    drive.add("sheep", "Sheep.txt", "text/plain", "sub", b"A fleece weighs seven pounds.")
    if trouble == "shortcut":
        drive.shortcut("link", "Sub", "sub")
    library.add("gdrive:root", index="shelf")
    assert ids(library, "") == ["bells", "sheep"]
    listing = {"files": [file for name, file in drive.files.items() if drive.parents[name] == "root"]}
    if trouble == "folder":
        drive.fail("/files", Response(json.dumps(listing)), error(503, "backendError", "Try later."))
    elif trouble == "search":
        some = {"files": listing["files"][:1], "incompleteSearch": True}
        drive.fail("/files", Response(json.dumps(some)))
    else:
        drive.fail("/files/sub", error(503, "backendError", "Try later."))
    said = reasons(library)
    assert "of the files that the index has, 1 were not met and stay" in said
    assert ids(library, "") == ["bells", "sheep"]
    if trouble == "folder":
        drive.fail("/files", Response(json.dumps(listing)), error(404, "notFound", "File not found: ."))
        assert "stay" not in reasons(library)
        assert ids(library, "") == ["bells"], "what is gone is gone"


def test_a_folder_without_anything_in_it_may_be_a_disk_that_is_not_there(library: Library, tmp_path: Path) -> None:
    disk, desk = tmp_path / "disk", tmp_path / "desk"
    for folder, text in ((disk, "The bell weighs two tons."), (desk, "A fleece weighs seven pounds.")):
        folder.mkdir()
        (folder / f"{folder.name}.md").write_text(text)
        library.add(folder, index="shelf")
    away = disk.rename(tmp_path / "away")
    disk.mkdir()
    said = reasons(library)
    assert "The folder is empty" in said
    assert "remove_source" in said
    assert ids(library, "") == ["desk.md", "disk.md"]
    assert library.remove_source("shelf", desk).removed_sources == 1
    with pytest.raises(AstRagSourceError, match="see whether its disk is mounted"):
        library.sync("shelf")
    disk.rmdir()
    away.rename(disk)
    assert library.sync("shelf").counts()["unchanged_sources"] == 1
    library.add(desk, index="shelf")
    (disk / "disk.md").unlink()
    (disk / ".keep").touch()
    assert library.sync("shelf").removed_sources == 1, "this one is there, and has no book any more"
