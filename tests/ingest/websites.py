"""Web sites on this machine for the tests of the web source: a polite one, and raw ones that need not be."""

from __future__ import annotations

import datetime as dt
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from pytest_httpserver import HTTPServer
from werkzeug import Response

from chapterverse.ingest.sources import SourceOptions, open_source
from chapterverse.ingest.sources.web import WebSource

HTML = "text/html; charset=utf-8"


class Site:
    """A small web site that counts what it is asked for."""

    def __init__(self, server: HTTPServer) -> None:
        server.no_handler_status_code = 404
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
