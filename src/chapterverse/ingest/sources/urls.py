"""Addresses of the web: one spelling for each page, what lies below a page, and the links in it."""

from __future__ import annotations

from functools import lru_cache

import httpx2

from chapterverse.ingest.formats import html

_MAX_LENGTH = 2000
"""Longer ones are the work of a script that counts, not of an author."""

_INDEX_PAGES = ("index.html", "index.htm")


@lru_cache(maxsize=50_000)  # a site's navigation is on each of its pages
def normal(address: str) -> str | None:
    """The one spelling of a page's address, without its fragment; None if it is none that can be read."""
    try:
        url = httpx2.URL(address)
    except (httpx2.InvalidURL, ValueError):
        return None
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo or len(address) > _MAX_LENGTH:
        return None
    return origin(address) + target(address)


def origin(url: str) -> str:
    """Scheme, host and port: `https://example.org`."""
    parsed = httpx2.URL(url)
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii')}"


def target(url: str) -> str:
    """The path and query that a server is asked for."""
    return httpx2.URL(url).raw_path.decode("ascii")


def path(url: str) -> str:
    """The readable path from the site's root, without its first slash."""
    return httpx2.URL(url).path.lstrip("/")


def name(url: str) -> str:
    """What a page is called: the last part of its path, or the host."""
    return path(url).rstrip("/").rpartition("/")[2] or httpx2.URL(url).host


def prefix(url: str) -> str:
    """Where the paths of all pages of a book begin, given its first page.

    `/book/` and `/book` hold what is below them, `/book/index.html` what lies beside it.
    """
    whole = target(url).partition("?")[0]
    folder, _, last = whole.rpartition("/")
    return f"{folder}/" if "." in last else f"{folder}/{last}/".replace("//", "/")


def below(url: str, start: str) -> bool:
    """Whether a page's path begins with a prefix, or is the prefix without its last slash."""
    whole = target(url).partition("?")[0]
    return whole.startswith(start) or f"{whole}/" == start


def identity(url: str) -> str:
    """Equal for addresses that name one page: with and without a final slash or `index.html`."""
    whole, _, query = url.partition("?")
    for index in _INDEX_PAGES:
        whole = whole.removesuffix(f"/{index}")
    return f"{whole.rstrip('/')}?{query}"


def links(page: bytes, url: str) -> list[str]:
    """The pages that an HTML page links to, in its order."""
    return list(filter(None, map(normal, html.links(page, url))))


def canonical(page: bytes, url: str) -> str:
    """The address that an HTML page calls its own, believed only where it differs by its query or final slash.

    Many sites name their front page on every page by mistake; believing them would lose the book.
    """
    named = normal(html.canonical_url(page, url) or "")
    if named is not None and identity(named).partition("?")[0] == identity(url).partition("?")[0]:
        return named
    return url
