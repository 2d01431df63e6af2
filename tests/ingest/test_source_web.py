"""Books on the web, read from real servers on this machine: which pages are found, and in which order."""

from __future__ import annotations

import gzip

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from chapterverse.errors import AstRagSourceError, AstRagValidationError
from chapterverse.types import SourceItem
from tests.ingest.websites import HTML, Site, sitemap, sitemap_index


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between attempts; nobody really waits."""
    seconds: list[float] = []
    monkeypatch.setattr("chapterverse.retry.sleep", seconds.append)
    return seconds


def test_links_are_followed_nearest_first_and_each_page_once(site: Site) -> None:
    site.links("/book/", "b", "/book/a#part", "a", "https://elsewhere.example/x", "/other", "mailto:x@y.z", "?", "")
    site.links("/book/a", "deep/c", "/book/", "#top")
    site.links("/book/b", "./a", "b#again", "javascript:void(0)")
    site.links("/book/deep/c", "../b")
    source = site.open("/book/")
    assert site.paths(source) == ["/book/", "/book/b", "/book/a", "/book/deep/c"]
    assert source.notices == []
    asked = [path for path in site.asked() if not path.endswith((".xml", ".txt"))]
    assert asked == ["/book/", "/book/b", "/book/a", "/book/deep/c"]


def test_what_was_read_for_its_links_is_not_asked_for_twice(site: Site) -> None:
    site.links("/book/", "a")
    site.links("/book/a")
    source = site.open("/book/")
    bodies = [source.fetch(item) for item in source.items()]
    assert [b"<h1>/book/</h1>" in bodies[0], b"<h1>/book/a</h1>" in bodies[1]] == [True, True]
    assert site.asked().count("/book/a") == 1
    assert b"/book/a" in site.open("/book/").fetch(SourceItem(f"{site.url}/book/a", "a"))


def test_items_carry_what_the_server_says(site: Site) -> None:
    site.page("/book/part.pdf", b"%PDF-1.7", "application/pdf", **{"Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"})
    [item] = site.open("/book/part.pdf").items()
    assert item == SourceItem(
        f"{site.url}/book/part.pdf",
        "part.pdf",
        size=8,
        modified_time="2015-10-21T07:28:00Z",
        url=f"{site.url}/book/part.pdf",
        mime_type="application/pdf",
    )


def test_one_page_in_many_spellings(site: Site) -> None:
    site.links("/book/", "a", "a/", "a/index.html", "a?page=2", "b?utm_source=mail", "b?print=1")
    site.links("/book/a")
    site.links("/book/b", head=f"<link rel='canonical' href='{site.url}/book/b'>")
    assert site.paths(site.open("/book/")) == ["/book/", "/book/a", "/book/a?page=2", "/book/b?utm_source=mail"]


def test_a_site_that_calls_every_page_its_front_page_is_still_read(site: Site) -> None:
    front = f"<link rel='canonical' href='{site.url}/book/'>"
    site.links("/book/", "a", "b", head=front)
    site.links("/book/a", head=front)
    site.links("/book/b", head=front)
    assert site.paths(site.open("/book/")) == ["/book/", "/book/a", "/book/b"]


def test_base_addresses_of_pages(site: Site) -> None:
    site.links("/book/", "a", head="<base href='/book/deep/'>")
    site.links("/book/deep/a")
    assert site.paths(site.open("/book/")) == ["/book/", "/book/deep/a"]


def test_redirects_inside_the_site(site: Site) -> None:
    site.redirect("/book", "/book/")
    site.links("/book/", "old", "new")
    site.redirect("/book/old", "new#part", 301)
    site.links("/book/new")
    assert site.paths(site.open("/book")) == ["/book/", "/book/new"]


def test_a_book_that_moved_within_the_site(site: Site) -> None:
    site.redirect("/old/", "/new/")
    site.links("/new/", "a", "/old/b")
    site.links("/new/a")
    assert site.paths(site.open("/old/")) == ["/new/", "/new/a"]


def test_the_sitemap_of_the_site_is_preferred_to_links(site: Site) -> None:
    site.links("/book/", "unlisted")
    listed = [f"{site.url}/{path}" for path in ("book/b", "book/a", "blog/x", "book/", "book/a#top")]
    site.page("/sitemap.xml", sitemap(*listed, "https://elsewhere.example/book/", lastmod="2026-01-02"), "text/xml")
    source = site.open("/book/")
    items = list(source.items())
    assert [item.file_id.removeprefix(site.url) for item in items] == ["/book/b", "/book/a", "/book/"]
    assert items[0].modified_time == "2026-01-02"
    assert [notice.reason for notice in source.notices] == [
        "Left out: 1 addresses of the sitemap belong to other sites."
    ]


def test_a_sitemap_beside_the_book_or_named_by_robots(site: Site) -> None:
    site.links("/book/", "unlisted")
    site.page("/book/sitemap.xml", sitemap(f"{site.url}/book/a"), "application/xml")
    assert site.paths(site.open("/book/")) == ["/book/", "/book/a"]
    site.server.clear()
    site.page("/robots.txt", f"Sitemap: {site.url}/maps/one.xml\n", "text/plain")
    site.links("/book/", "unlisted")
    site.page("/maps/one.xml", sitemap(f"{site.url}/book/b"), "application/xml")
    assert site.paths(site.open("/book/")) == ["/book/", "/book/b"]


def test_a_sitemap_that_says_nothing_of_the_book(site: Site) -> None:
    site.links("/book/", "a")
    site.links("/book/a")
    site.page("/sitemap.xml", sitemap("https://the-real-site.example/book/a"), "text/xml")
    assert site.paths(site.open("/book/")) == ["/book/", "/book/a"]


def test_an_index_of_sitemaps_packed_and_plain(site: Site) -> None:
    one, two, gone = (f"{site.url}/{name}" for name in ("one.xml.gz", "two.xml", "gone.xml"))
    index = sitemap_index(one, two, gone, one, f"{site.url}/index.xml", "http://other.example/sitemap.xml", "::")
    site.page("/index.xml", index, "application/xml")
    site.page("/one.xml.gz", gzip.compress(sitemap(f"{site.url}/a").encode()), "application/gzip")
    site.page("/two.xml", sitemap(f"{site.url}/b", f"{site.url}/private/c"), "text/xml")
    source = site.open("/index.xml")
    assert site.paths(source) == ["/a", "/b"]
    reasons = {notice.file_id.removeprefix(site.url): notice.reason for notice in source.notices}
    assert set(reasons) == {"/gone.xml", "/private/c", "http://other.example/sitemap.xml"}
    assert "robots.txt" in reasons["/private/c"]
    assert "HTTP status" in reasons["/gone.xml"]
    assert "another site" in reasons["http://other.example/sitemap.xml"]
    assert site.paths(site.open("/index.xml", include_subfolders=False)) == []


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>', "entities"),
        (gzip.compress(b"<urlset>" + b" " * (2 * 1024 * 1024), mtime=0), "more than 1 MB"),
        (gzip.compress(b"<urlset></urlset>", mtime=0)[:-9], "damaged"),
        (b"<feed></feed>", "neither a page nor a sitemap"),
    ],
    ids=["entities", "bomb", "damaged", "feed"],
)
def test_hostile_and_broken_sitemaps(site: Site, body: bytes, words: str) -> None:
    site.page("/sitemap.xml", body, "application/xml")
    with pytest.raises(AstRagSourceError, match=words):
        site.paths(site.open("/sitemap.xml", max_file_mb=1))


def test_patterns_ids_and_single_pages(site: Site) -> None:
    site.links("/book/", "a.html", "b.html", "drafts/c.html")
    for name in ("a", "b", "drafts/c"):
        site.links(f"/book/{name}.html", "d.html")
    site.links("/book/d.html")
    assert site.paths(site.open("/book/", include=("*.html",), exclude=("drafts/",))) == [
        "/book/a.html",
        "/book/b.html",
        "/book/d.html",
    ]
    excluded = frozenset({f"{site.url}/book/a.html", "a.html"})
    source = site.open("/book/", exclude_file_ids=excluded)
    assert "/book/a.html" not in site.paths(source)
    assert source.notices[-1].file_id == "a.html"
    assert site.paths(site.open("/book/", include_subfolders=False)) == ["/book/"]


def test_too_many_pages(site: Site) -> None:
    site.links("/book/", *"abcde")
    for name in "abcde":
        site.links(f"/book/{name}")
    with pytest.raises(AstRagValidationError, match="at least 4 files; max_files is 3"):
        site.paths(site.open("/book/", max_files=3))
    source = site.open("/book/", max_files=3, truncate=True)
    assert site.paths(source) == ["/book/", "/book/a", "/book/b"]
    assert "only the first 3 were taken" in source.notices[0].reason
    site.page("/sitemap.xml", sitemap(*(f"{site.url}/book/{name}" for name in "abcde")), "text/xml")
    with pytest.raises(AstRagValidationError, match="6 files; max_files is 5"):
        site.paths(site.open("/book/", max_files=5))


def test_a_site_without_end(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chapterverse.ingest.sources.web.MAX_CRAWLED", 30)

    def day(request: Request) -> Response:
        number = int(request.args.get("day", 0))
        return Response(f"<a href='/calendar?day={number + 1}'>tomorrow</a>", content_type=HTML)

    site.server.expect_request("/calendar").respond_with_handler(day)
    with pytest.raises(AstRagSourceError, match="leads to more than 30 pages"):
        site.paths(site.open("/calendar"))
