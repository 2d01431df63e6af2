"""What the web source may ask for, and how it survives servers in trouble and servers that make trouble."""

from __future__ import annotations

import datetime as dt
import gzip
import ipaddress
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from chapterverse.errors import AstRagSourceError, UnreadableFileError
from chapterverse.ingest.sources import SourceOptions, open_source, robots
from chapterverse.ingest.sources.guard import is_public
from chapterverse.types import SourceItem
from tests.ingest.websites import HTML, Site, certificate, raw_server


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between attempts; nobody really waits."""
    seconds: list[float] = []
    monkeypatch.setattr("chapterverse.retry.sleep", seconds.append)
    return seconds


# --- what may be asked for -------------------------------------------------------------------------------------------


def test_robots_are_obeyed_and_told(site: Site) -> None:
    site.server.clear()
    site.server.no_handler_status_code = 404
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
def test_the_server_says_how_long_to_wait(site: Site, as_date: bool, waits: list[float]) -> None:
    later = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=2)
    wait = later.strftime("%a, %d %b %Y %H:%M:%S GMT") if as_date else "1"
    answers = [Response("", 429, {"Retry-After": wait}), Response("good", content_type=HTML)]
    site.server.expect_request("/book/").respond_with_handler(lambda request: answers.pop(0))
    assert site.paths(site.open("/book/", include_subfolders=False)) == ["/book/"]
    assert len(waits) == 1
    assert 0 <= waits[0] <= 2 if as_date else waits == [1.0]


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
    assert source.unseen == {""}, "it may have led to any page"
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
    assert time.monotonic() - began < 30


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
