"""Books on the web, read from real servers on this machine: pages found, rules obeyed, hostile servers survived."""

from __future__ import annotations

import datetime as dt
import gzip
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import stamina
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from chapterverse.errors import AstRagSourceError, AstRagValidationError, UnreadableFileError
from chapterverse.ingest.sources import SourceOptions, open_source, robots
from chapterverse.ingest.sources.guard import is_public
from chapterverse.ingest.sources.web import WebSource
from chapterverse.types import SourceItem

HTML = "text/html; charset=utf-8"


class Site:
    """A small web site that counts what it is asked for."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.url = server.url_for("").rstrip("/")
        self.page("/robots.txt", "User-agent: *\nDisallow: /private/\n", "text/plain")

    def page(self, path: str, body: str | bytes, content_type: str = HTML, **headers: str) -> None:
        response = Response(body, content_type=content_type, headers=headers)
        self.server.expect_request(path).respond_with_response(response)

    def links(self, path: str, *targets: str, head: str = "") -> None:
        anchors = "".join(f"<p><a href='{target}'>{target}</a></p>" for target in targets)
        self.page(path, f"<!doctype html><html><head>{head}</head><body><h1>{path}</h1>{anchors}</body></html>")

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        self.server.expect_request(path).respond_with_data("", status=status, headers={"Location": target})

    def asked(self) -> list[str]:
        return [request.full_path.rstrip("?") for request, _ in self.server.log]

    def open(self, path: str = "/", **options: Any) -> WebSource:
        options = {"allow_private_addresses": True, **options}
        source = open_source(self.url + path, SourceOptions(**options))
        assert isinstance(source, WebSource)
        return source

    def paths(self, source: WebSource) -> list[str]:
        return [item.file_id.removeprefix(self.url) for item in source.items()]


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """Retries happen, but without the pauses between them."""
    with stamina.set_testing(True, attempts=4, cap=True):
        yield


@contextmanager
def raw_server(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that answers robots.txt politely and everything else in its own way."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                request = connection.recv(65536)
                if request.startswith(b"GET /robots.txt"):
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    continue
                try:
                    talk(connection)
                except OSError:
                    continue

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def sitemap(*urls: str, lastmod: str | None = None) -> str:
    change = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    entries = "".join(f"<url><loc>{url}</loc>{change}</url>" for url in urls)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def sitemap_index(*urls: str) -> str:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</sitemapindex>'


# --- finding the pages -----------------------------------------------------------------------------------------------


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
        (gzip.compress(b"<urlset>" + b" " * (2 * 1024 * 1024)), "more than 1 MB"),
        (gzip.compress(b"<urlset></urlset>")[:-9], "damaged"),
        (b"<feed></feed>", "neither a page nor a sitemap"),
    ],
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
    excluded = frozenset({f"{site.url}/book/a.html"})
    assert "/book/a.html" not in site.paths(site.open("/book/", exclude_file_ids=excluded))
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


# --- what may be asked for -------------------------------------------------------------------------------------------


def test_robots_are_obeyed_and_told(site: Site) -> None:
    site.server.clear()
    site.page("/robots.txt", "User-agent: *\nDisallow: /*/b$\n", "text/plain")
    site.links("/book/", "a", "b", "c")
    site.links("/book/a")
    site.redirect("/book/c", "/book/b")
    source = site.open("/book/")
    assert site.paths(source) == ["/book/", "/book/a"]
    assert [(n.file_id.removeprefix(site.url), n.reason) for n in source.notices] == [
        ("/book/b", "Left out: The site's robots.txt does not allow it."),
        ("/book/c", "Left out: The site's robots.txt does not allow it."),
    ]
    assert "/book/b" not in site.asked()
    with pytest.raises(AstRagSourceError, match=r"robots\.txt does not allow it"):
        site.paths(site.open("/book/b"))
    with pytest.raises(UnreadableFileError, match=r"robots\.txt does not allow it"):
        source.fetch(SourceItem(f"{site.url}/book/b", "b"))


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("User-agent: other\nUser-agent: Chapterverse\nDisallow: /a", "/a", False),
        ("User-agent: chapterverse\nAllow: /\n\nUser-agent: *\nDisallow: /", "/a", True),
        ("User-agent: *\nDisallow: /\nAllow: /book/", "/book/a", True),
        ("User-agent: *\nAllow: /book\nDisallow: /book/x", "/book/x/1", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/book/a.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/book/a.pdf?x", True),
        ("User-agent: *\nDisallow: /a*b*c", "/a-b-c-d", False),
        ("User-agent: *\nDisallow: /a*b*c", "/a-c-b", True),
        ("User-agent: *\nDisallow: /x$", "/x", False),
        ("User-agent: *\nDisallow: /x$", "/xy", True),
        ("User-agent: *\nDisallow: /*ab$", "/ab", False),
        ("User-agent: *\nDisallow: /a*ab$", "/ab", True),
        ("User-agent: *\nDisallow: /caf%C3%A9", "/café", False),
        ("\ufeffUser-agent: * # all\ndisallow : /a # not this", "/a", False),
        ("Disallow: /", "/a", True),
        ("User-agent: *\nDisallow: /" + "*a" * 500 + "$", "/" + "a" * 2000 + "b", True),
    ],
)
def test_rules_of_robots(text: str, path: str, allowed: bool) -> None:
    assert robots.parse(text.encode(), "chapterverse").allows(path) is allowed


def test_the_pace_that_a_site_wishes(site: Site) -> None:
    site.server.clear()
    site.page("/robots.txt", "User-agent: *\nCrawl-delay: 0.2\n", "text/plain")
    site.links("/book/", "a", "b")
    site.links("/book/a")
    site.links("/book/b")
    began = time.monotonic()
    assert len(site.paths(site.open("/book/"))) == 3
    assert time.monotonic() - began >= 0.8  # the start, two places of a sitemap, two links: four pauses


def test_robots_that_cannot_be_read_forbid_all(site: Site) -> None:
    site.server.clear()
    site.server.expect_request("/robots.txt").respond_with_data("", status=503)
    site.links("/book/")
    with pytest.raises(
        AstRagSourceError, match=r"robots\.txt answers with HTTP status 503, so it is not known"
    ) as caught:
        site.paths(site.open("/book/"))
    assert caught.value.retryable
    assert set(site.asked()) == {"/robots.txt"}


def test_robots_that_do_not_exist_allow_all(site: Site) -> None:
    site.server.clear()
    site.server.expect_request("/robots.txt").respond_with_data("", status=404)
    site.links("/book/")
    assert site.paths(site.open("/book/")) == ["/book/"]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fd12::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
        "2002:7f00:1::", "2002:c0a8:101::", "2001:db8::1", "::7f00:1", "2001::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
def test_this_machine_is_refused_by_number_and_by_name(site: Site, host: str) -> None:
    site.links("/")
    with pytest.raises(AstRagSourceError, match="an address of this machine or of a private network") as caught:
        list(open_source(f"http://{host}:{site.server.port}/").items())
    assert "allow_private_addresses" in caught.value.message
    assert site.asked() == []


@pytest.mark.parametrize("host", ["0x7f.1", "2130706433", "127.1"])
def test_odd_ways_to_write_this_machine(site: Site, host: str) -> None:
    site.links("/")
    with pytest.raises(AstRagSourceError, match=r"an address of this machine|cannot be resolved"):
        list(open_source(f"http://{host}:{site.server.port}/", SourceOptions(attempts=1)).items())
    assert site.asked() == []


def resolve(monkeypatch: pytest.MonkeyPatch, names: dict[str, list[str]]) -> list[str]:
    """Answer for names as a name server under someone else's control would; returns what was looked up."""
    real, asked = socket.getaddrinfo, []

    def getaddrinfo(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        asked.append(host)
        answers = names.get(host)
        if answers is None:
            ipaddress.ip_address(host)  # nothing else may be looked up
            return real(host, port, *args, **kwargs)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port)) for answer in answers]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def test_a_name_that_means_this_machine_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.links("/")
    resolve(monkeypatch, {"book.example": ["127.0.0.1", "10.0.0.1"]})
    with pytest.raises(AstRagSourceError, match=r"book\.example is at 127\.0\.0\.1"):
        list(open_source(f"http://book.example:{site.server.port}/").items())
    assert site.asked() == []


def test_a_name_is_resolved_once_and_the_checked_address_is_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.links("/book/")
    asked = resolve(monkeypatch, {"book.example": ["127.0.0.1"]})
    options = SourceOptions(allow_private_addresses=True, include_subfolders=False)
    address = f"http://book.example:{site.server.port}/book/"
    source = open_source(address, options)
    assert [item.file_id for item in source.items()] == [address]
    # For each of the two connections: the name once, then only the number it stood for.
    assert asked == ["book.example", "127.0.0.1"] * 2
    assert {request.host for request, _ in site.server.log} == {f"book.example:{site.server.port}"}


def test_a_dead_address_of_a_name_is_passed_over(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.links("/book/")
    resolve(monkeypatch, {"book.example": ["127.0.0.2", "127.0.0.1"]})
    source = open_source(
        f"http://book.example:{site.server.port}/book/", SourceOptions(allow_private_addresses=True, attempts=1)
    )
    assert len(list(source.items())) == 1


def test_a_redirect_into_a_private_network_is_not_followed(site: Site) -> None:
    site.links("/book/", "trap")
    site.redirect("/book/trap", "http://169.254.169.254/latest/meta-data/")
    source = site.open("/book/")
    assert site.paths(source) == ["/book/"]
    assert "leads to another site: http://169.254.169.254/" in source.notices[0].reason


def test_robots_that_redirect_into_a_private_network(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one redirect that may leave the site still may not leave the public internet."""
    monkeypatch.setattr("chapterverse.ingest.sources.guard.is_public", lambda address: address == "127.0.0.1")
    site.server.clear()
    site.redirect("/robots.txt", "http://127.0.0.2:1/robots.txt")
    with pytest.raises(AstRagSourceError, match=r"127\.0\.0\.2 is at 127\.0\.0\.2, an address of this machine"):
        site.paths(site.open("/book/", allow_private_addresses=False))


@pytest.mark.parametrize("target", ["https://elsewhere.example/", "//elsewhere.example/x", "http://localhost:1/"])
def test_a_start_that_leads_to_another_site(site: Site, target: str) -> None:
    site.redirect("/book/", target)
    with pytest.raises(AstRagSourceError, match=r"It leads to another site: .*To read that, give its address"):
        site.paths(site.open("/book/"))


@pytest.mark.parametrize("target", ["ftp://elsewhere.example/", "http://exa\x7fmple/", "file:///etc/passwd"])
def test_redirects_off_the_web(site: Site, target: str) -> None:
    site.redirect("/book/", target)
    with pytest.raises(AstRagSourceError, match=r"redirects|location header"):
        site.paths(site.open("/book/"))


def test_redirect_loops(site: Site) -> None:
    site.redirect("/book/", "/book/again")
    site.redirect("/book/again", "/book/")
    with pytest.raises(AstRagSourceError, match="redirects more than 8 times"):
        site.paths(site.open("/book/"))


@pytest.mark.parametrize(
    "address", ["https://user:secret@example.org/", "http://", "http://exa\x00mple/", "https://[::"]
)
def test_addresses_that_cannot_be_read(address: str) -> None:
    with pytest.raises(AstRagSourceError, match="not the address of a web page") as caught:
        open_source(address)
    assert "secret" not in str(caught.value)


# --- servers in trouble, and servers that make trouble ---------------------------------------------------------------


def test_passing_trouble_is_waited_for(site: Site) -> None:
    answers = [Response("", 429, {"Retry-After": "0"}), Response("", 503), Response("good", content_type=HTML)]
    site.server.expect_request("/book/").respond_with_handler(lambda request: answers.pop(0))
    source = site.open("/book/", include_subfolders=False)
    assert [source.fetch(item) for item in source.items()] == [b"good"]
    assert site.asked().count("/book/") == 3


@pytest.mark.parametrize("as_date", [False, True])
def test_the_server_says_how_long_to_wait(site: Site, as_date: bool) -> None:
    stamina.set_testing(False)
    later = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=2)
    wait = later.strftime("%a, %d %b %Y %H:%M:%S GMT") if as_date else "1"
    answers = [Response("", 429, {"Retry-After": wait}), Response("good", content_type=HTML)]
    site.server.expect_request("/book/").respond_with_handler(lambda request: answers.pop(0))
    began = time.monotonic()
    assert site.paths(site.open("/book/", include_subfolders=False)) == ["/book/"]
    assert 0.9 <= time.monotonic() - began < 5


def test_a_server_that_asks_for_too_much_patience(site: Site) -> None:
    site.server.expect_request("/book/").respond_with_response(Response("", 429, {"Retry-After": "3600"}))
    with pytest.raises(AstRagSourceError, match="HTTP status 429") as caught:
        site.paths(site.open("/book/"))
    assert caught.value.retryable
    assert site.asked().count("/book/") == 1


def test_a_page_that_fails_does_not_fail_the_book(site: Site) -> None:
    site.links("/book/", "broken", "gone", "picture", "a")
    site.server.expect_request("/book/broken").respond_with_data("", status=500)
    site.server.expect_request("/book/gone").respond_with_data("", status=404)
    site.page("/book/picture", b"\x89PNG", "image/png")
    site.links("/book/a")
    source = site.open("/book/")
    assert site.paths(source) == ["/book/", "/book/a"]
    assert [(n.file_name, n.reason) for n in source.notices] == [
        ("broken", "Left out: The server answers with HTTP status 500."),
        ("gone", "Left out: The server answers with HTTP status 404."),
        ("picture", "Left out: The server sends image/png, which is not read."),
    ]
    assert site.asked().count("/book/broken") == 4
    assert site.asked().count("/book/gone") == 1
    with pytest.raises(UnreadableFileError, match=f"^{site.url}/book/gone: The server answers") as caught:
        source.fetch(SourceItem(f"{site.url}/book/gone", "gone"))
    assert (caught.value.reason, caught.value.retryable) == ("missing", False)


def test_nobody_answers(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(AstRagSourceError, match="cannot be reached") as caught:
        list(open_source(f"http://127.0.0.1:{port}/", SourceOptions(allow_private_addresses=True)).items())
    assert caught.value.retryable


def test_a_name_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(*args: Any, **kwargs: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with pytest.raises(AstRagSourceError, match=r"the name nowhere\.example cannot be resolved"):
        list(open_source("https://nowhere.example/").items())


def test_a_huge_file_is_refused_by_its_announcement(site: Site) -> None:
    site.page("/book/", b"x" * (1024 * 1024 + 1), "text/plain")
    with pytest.raises(AstRagSourceError, match="over 1 MB"):
        site.paths(site.open("/book/", max_file_mb=1))


def test_a_body_without_end_is_cut_off() -> None:
    sent = 0

    def talk(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")
        while True:
            sent += connection.send(b"x" * 65536)

    with raw_server(talk) as url, pytest.raises(AstRagSourceError, match="over 1 MB"):
        list(open_source(url, SourceOptions(allow_private_addresses=True, max_file_mb=1)).items())
    assert sent < 20 * 1024 * 1024


def test_a_packed_bomb(site: Site) -> None:
    site.page("/book/", gzip.compress(b"\0" * (50 * 1024 * 1024)), HTML, **{"Content-Encoding": "gzip"})
    with pytest.raises(AstRagSourceError, match="unpacks to more than 1 MB"):
        site.paths(site.open("/book/", max_file_mb=1))


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd"])
def test_packing_that_was_not_asked_for(site: Site, encoding: str) -> None:
    site.page("/book/", b"whatever", HTML, **{"Content-Encoding": encoding})
    with pytest.raises(AstRagSourceError, match="packs its reply in a way not asked for"):
        site.paths(site.open("/book/"))


def test_a_packed_page(site: Site) -> None:
    site.page("/book/", gzip.compress(b"<a href='a'>a</a>"), HTML, **{"Content-Encoding": "gzip"})
    site.links("/book/a")
    assert site.paths(site.open("/book/")) == ["/book/", "/book/a"]


def test_a_silent_server() -> None:
    stop = threading.Event()
    options = SourceOptions(allow_private_addresses=True, timeout_seconds=0.2, attempts=2)
    with raw_server(lambda connection: stop.wait(5) and None) as url:
        try:
            with pytest.raises(AstRagSourceError, match=r"did not answer within 0\.2 s") as caught:
                list(open_source(url, options).items())
        finally:
            stop.set()
    assert caught.value.retryable


@pytest.mark.parametrize(
    "opening",
    [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9999\r\n\r\n"],
)
def test_a_server_that_drips(opening: bytes) -> None:
    """Every read succeeds in time, but head or body would take hours."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(opening)
        while True:
            connection.sendall(b"x")
            time.sleep(0.05)

    options = SourceOptions(allow_private_addresses=True, timeout_seconds=5, max_seconds=0.5)
    began = time.monotonic()
    with raw_server(talk) as url, pytest.raises(AstRagSourceError, match="took too long"):
        list(open_source(url, options).items())
    assert time.monotonic() - began < 4


def test_a_body_that_breaks_off_is_asked_for_again() -> None:
    replies = [b"Content-Length: 100\r\n\r\nhalf", b"Content-Length: 5\r\n\r\nwhole"]

    def talk(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n" + replies.pop(0))

    with raw_server(talk) as url:
        source = open_source(url, SourceOptions(allow_private_addresses=True))
        assert [source.fetch(item) for item in source.items()] == [b"whole"]


def test_a_server_that_does_not_speak_http() -> None:
    options = SourceOptions(allow_private_addresses=True, attempts=1)
    unreachable = pytest.raises(AstRagSourceError, match="cannot be reached")
    with raw_server(lambda connection: connection.sendall(b"220 smtp ready\r\n")) as url, unreachable:
        list(open_source(url, options).items())


# --- encrypted connections -------------------------------------------------------------------------------------------


def certificate(folder: Path, host: str) -> Path:
    """A key and a self-signed certificate for a name, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "server.pem"
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.mark.parametrize("host", ["book.example", "impostor.example"])
def test_certificates_are_checked_against_the_name(host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pem = certificate(tmp_path, "book.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    resolve(monkeypatch, {host: ["127.0.0.1"]})
    with HTTPServer(host="127.0.0.1", ssl_context=context) as server:
        server.expect_request("/robots.txt").respond_with_data("")
        server.expect_request("/book.txt").respond_with_data("text", content_type="text/plain")
        options = SourceOptions(allow_private_addresses=True, attempts=1)
        source = open_source(f"https://{host}:{server.port}/book.txt", options)
        if host == "book.example":
            assert [source.fetch(item) for item in source.items()] == [b"text"]
        else:
            with pytest.raises(AstRagSourceError, match="certificate"):
                list(source.items())
