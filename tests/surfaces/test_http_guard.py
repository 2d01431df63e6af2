"""What is checked before anything of a request is read, and what every response carries."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette

from chapterverse.errors import AstRagError
from chapterverse.library import AsyncLibrary
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.http import create_app
from chapterverse.surfaces.http.errors import response_to
from chapterverse.surfaces.http.serving import as_environment, check
from chapterverse.surfaces.mcp.run import http_app
from tests.surfaces.service import served, small_library

KEY = "a këy of sixteen or more"
SITE = "https://reader.example"
ERROR = {"error", "detail", "request_id"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    service = ServiceSettings(
        api_key=KEY, origins=(SITE,), hosts=("books.example",), max_body=2000, max_upload=5000, deadline=300
    )
    with served(small_library(tmp_path_factory.mktemp("home")), service) as client:
        client.headers = httpx2.Headers([*client.headers.raw, (b"Authorization", f"Bearer {KEY}".encode())])
        yield client


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", f"Basic {KEY}", KEY, f"Bearer {KEY}x", "Bearer é"])
def test_without_the_key_nothing_is_told(client: httpx2.Client, given: str) -> None:
    for method, path in (("GET", "/indexes"), ("POST", "/ask"), ("GET", "/metrics"), ("GET", "/openapi.json")):
        response = client.request(method, path, headers={"Authorization": given.encode()}, content=b"{")
        assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert set(response.json()) == ERROR
        assert KEY not in response.text


def test_probes_and_the_page_need_no_key(client: httpx2.Client) -> None:
    without = httpx2.Headers({"Authorization": ""})
    for path in ("/health", "/ready", "/"):
        assert client.get(path, headers=without).status_code in (200, 503)


@pytest.mark.parametrize("host", ["books.example", "BOOKS.example:8080", "localhost", "127.0.0.1:1", "[::1]:8080"])
def test_hosts_that_are_ours(client: httpx2.Client, host: str) -> None:
    assert client.get("/indexes", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "books.example.evil.example",
        "localhost.evil.example",
        "[::2]",
        "::",
        "[::1].evil.example",
        "[::1]evil:80",
        "[::1",
        "[localhost]",
        "localhost:evil",
        "localhost:80/evil",
    ],
)
def test_hosts_that_are_not(client: httpx2.Client, host: str) -> None:
    response = client.get("/indexes", headers={"Host": host})
    assert (response.status_code, response.json()["error"]) == (421, "MisdirectedRequest")
    assert client.get("/health", headers={"Host": host}).status_code == 200


def test_origins(client: httpx2.Client) -> None:
    own = str(client.base_url).rstrip("/")
    assert client.get("/indexes", headers={"Origin": own}).status_code == 200
    assert client.get("/indexes", headers={"Origin": SITE}).headers["Access-Control-Allow-Origin"] == SITE
    for origin in ("https://evil.example", "null", f"{SITE}.evil.example", own.replace("http", "ftp")):
        response = client.get("/indexes", headers={"Origin": origin})
        assert (response.status_code, response.json()["error"]) == (403, "Forbidden")
        assert "Access-Control-Allow-Origin" not in response.headers


def test_a_preflight_needs_no_key_and_names_what_is_allowed(client: httpx2.Client) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    without = {"Authorization": "", **asks}
    allowed = client.options("/ask", headers={"Origin": SITE, **without})
    assert (allowed.status_code, allowed.headers["Access-Control-Allow-Origin"]) == (200, SITE)
    evil = client.options("/ask", headers={"Origin": "https://evil.example", **without})
    assert (evil.status_code, set(evil.json())) == (403, ERROR)
    assert "--allow-origin" in evil.json()["detail"]
    method = client.options("/ask", headers={"Origin": SITE, **without, "Access-Control-Request-Method": "PUT"})
    assert (method.status_code, set(method.json())) == (400, ERROR)
    assert "GET, POST, DELETE" in method.json()["detail"]
    refused = client.post("/ask", headers={"Origin": SITE, "Authorization": ""}, json={})
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (401, SITE)


HEADERS_OF_CLIENTS = (
    "authorization,content-type,last-event-id,mcp-method,mcp-name,mcp-param-index,mcp-protocol-version,mcp-session-id,"
    "x-stainless-lang"
)


@pytest.mark.parametrize("make", [create_app, http_app])
def test_clients_in_a_browser_may_send_the_headers_of_their_protocol(
    tmp_path: Path, make: Callable[[AsyncLibrary, ServiceSettings], Starlette]
) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": HEADERS_OF_CLIENTS}
    with served(small_library(tmp_path), ServiceSettings(origins=("HTTPS://Reader.Example",)), make) as client:
        allowed = client.options("/mcp", headers={"Origin": SITE, **asks})
        assert (allowed.status_code, allowed.headers["Access-Control-Allow-Origin"]) == (200, SITE)
        assert set(HEADERS_OF_CLIENTS.split(",")) <= set(allowed.headers["Access-Control-Allow-Headers"].split(","))
        response = client.post("/mcp", headers={"Origin": SITE}, json={})
        assert response.headers["Access-Control-Allow-Origin"] == SITE
        assert "Mcp-Session-Id" in response.headers["Access-Control-Expose-Headers"]


def test_mcp_alone_has_the_layers_of_the_service(tmp_path: Path) -> None:
    service = ServiceSettings(api_key=KEY, max_body=2000)
    with served(small_library(tmp_path), service, http_app) as client:
        key = {"Authorization": f"Bearer {KEY}".encode()}
        for response, status in (
            (client.post("/mcp", json={}), 401),
            (client.get("/nowhere", headers=key), 404),
            (client.post("/mcp", headers={**key, "Content-Type": "application/json"}, content=[b"x" * 999] * 3), 413),
        ):
            assert (response.status_code, set(response.json())) == (status, ERROR)
            assert response.headers["X-Request-Id"] == response.json()["request_id"]
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize(("given", "sent"), [(f"{KEY}\n", KEY), (f" {KEY} \r\n", KEY), (f"{KEY}à", f"{KEY}à")])
def test_a_key_is_known_again_whatever_stands_around_it(tmp_path: Path, given: str, sent: str) -> None:
    with served(small_library(tmp_path), ServiceSettings(api_key=given)) as client:
        assert client.get("/indexes", headers={"Authorization": f"Bearer {sent}".encode()}).status_code == 200
        assert client.get("/indexes", headers={"Authorization": f"Bearer {sent}x".encode()}).status_code == 401


def test_large_bodies_are_refused_whether_or_not_they_say_so(client: httpx2.Client) -> None:
    def parts() -> Iterator[bytes]:
        yield b'{"question": "'
        yield from [b"x" * 500] * 10
        yield b'"}'

    for path, content in product(("/ask", "/mcp"), (b"x" * 2001, parts)):
        response = client.post(
            path,
            content=content() if callable(content) else content,
            headers={"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
        )
        assert (response.status_code, response.json()["error"], set(response.json())) == (413, "TooLarge", ERROR)
        assert "2,000" in response.json()["detail"]


def test_books_that_are_sent_in_may_be_larger(client: httpx2.Client) -> None:
    for size, status in ((3000, 200), (5001, 413)):
        text = "# Bells\n\n" + "The bell rang. " * 400
        assert client.post("/books", params={"name": "bells.md"}, content=text[:size].encode()).status_code == status


@pytest.mark.parametrize(("given", "kept"), [("a-Sane_1.id", True), ("x" * 65, False), ("a b", False), ("<s>", False)])
def test_a_request_has_one_name_everywhere(client: httpx2.Client, given: str, kept: bool) -> None:
    response = client.get("/nowhere", headers={"X-Request-Id": given})
    name = response.headers["X-Request-Id"]
    assert response.json()["request_id"] == name
    assert (name == given) is kept
    assert re.fullmatch(r"[\w.-]{1,64}", name)


def test_every_response_keeps_a_browser_strict(client: httpx2.Client) -> None:
    for path, status in (("/indexes", 200), ("/nowhere", 404), ("/", 200)):
        response = client.get(path)
        assert response.status_code == status
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "server" not in response.headers or "chapterverse" not in response.headers["server"]


def test_metrics_count_by_route(client: httpx2.Client) -> None:
    client.get("/indexes/nothing")
    client.get("/indexes/nothing-else")
    client.request("MADEUP", "/made-up")
    text = client.get("/metrics").text
    assert re.search(r'^chapterverse_requests_total{method="GET",route="/indexes/{index}",status="404"} 2$', text, re.M)
    assert re.search(r'^chapterverse_request_seconds_bucket{route="/indexes/{index}",le="\+Inf"} 2$', text, re.M)
    assert re.search(r'^chapterverse_requests_total{method="other",route="other",status="404"} 1$', text, re.M)
    assert "nothing" not in text
    assert "made" not in text.lower()
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|\w+({[^}]+(}[^}]*)*})? [\d.]+", line), line


def test_surprises_tell_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = small_library(tmp_path)

    async def break_down() -> None:
        raise RuntimeError("the secret of /home/user/keys")

    monkeypatch.setattr(library, "indexes", break_down)
    with served(library) as client:
        response = client.get("/indexes")
        assert (response.status_code, response.json()["error"], set(response.json())) == (500, "InternalError", ERROR)
        assert "secret" not in response.text
        assert response.headers["X-Request-Id"] == response.json()["request_id"]
        assert client.delete("/health").json()["error"] == "MethodNotAllowed"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("/home/user/books/a.pdf: it is damaged", "a.pdf: it is damaged"),
        ("There is no file '/srv/b c/book.md' here", "There is no file 'book.md' here"),
        (r"C:\Users\me\book.pdf is locked", "book.pdf is locked"),
        ("see https://docs.example/a/b/c", "see https://docs.example/a/b/c"),
    ],
)
def test_details_name_files_and_not_where_they_are(message: str, shown: str) -> None:
    assert shown in bytes(response_to({"type": "http", "path": "/"}, AstRagError(message)).body).decode()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"host": "0.0.0.0"}, "CHAPTERVERSE_API_KEY"),
        ({"host": "books.example"}, "CHAPTERVERSE_API_KEY"),
        ({"origins": ["*"]}, "any web page"),
        ({"origins": ["*"], "unprotected": True}, "any web page"),
        ({"hosts": ["*"]}, "--allow-host '*'"),
        ({"workers": 2}, "QDRANT_URL"),
        ({"roots": ["no-such-folder"]}, "no-such-folder"),
        ({"model": "nobody:nothing"}, "nobody"),
        ({"api_key": "short"}, "at least 16"),
        ({"api_key": "short" + " " * 16}, "at least 16"),
        ({"api_key": f"{KEY}\nand another"}, "line break"),
        ({"api_key": f"{KEY}\udcff"}, "cannot be printed"),
        ({"origins": ["reader.example"]}, "https://reader.example"),
        ({"port": 70000}, "CHAPTERVERSE_PORT"),
        ({"deadline": 0}, "CHAPTERVERSE_DEADLINE"),
        ({"deadline": math.inf}, "CHAPTERVERSE_DEADLINE"),
        ({"deadline": math.nan}, "CHAPTERVERSE_DEADLINE"),
    ],
)
def test_what_is_unsafe_or_cannot_work_is_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(AstRagError, match=re.escape(said)):
        check(Settings(), ServiceSettings(**given))


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({}, {}),
        ({}, {"host": "localhost"}),
        ({}, {"host": "::1"}),
        ({}, {"host": "0.0.0.0", "api_key": KEY, "origins": ["*"]}),
        ({}, {"host": "0.0.0.0", "unprotected": True, "hosts": ["*"]}),
        ({}, {"hosts": ["*"], "api_key": KEY}),
        ({"qdrant_url": "http://127.0.0.1:6333"}, {"workers": 2}),
        ({}, {"roots": [".", "https://docs.example/", "gdrive:abc", "sample"]}),
    ],
)
def test_what_is_safe_is_not(settings: dict[str, str], given: dict[str, object]) -> None:
    check(Settings(**settings), ServiceSettings(**given))


def test_workers_read_from_the_environment_what_the_command_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"port": 1234, "origins": [SITE, "https://b.example"], "read_only": True, "deadline": 2.5}
    for name, value in as_environment(given).items():
        monkeypatch.setenv(name, value)
    assert ServiceSettings() == ServiceSettings(**given)


def test_the_local_address_is_the_default() -> None:
    assert (ServiceSettings().host, ServiceSettings().roots, ServiceSettings().origins) == ("127.0.0.1", (), ())
