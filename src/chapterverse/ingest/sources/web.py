"""A web page, or a sitemap: the pages of one site that lie below an address, found by its sitemap or its links."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator

from chapterverse.errors import AstRagSourceError, UnreadableFileError
from chapterverse.ingest import detect
from chapterverse.ingest.sources import robots, sitemap, urls
from chapterverse.ingest.sources.guard import GuardedTransport
from chapterverse.ingest.sources.http import USER_AGENT, Http, Reply
from chapterverse.ingest.sources.options import SourceOptions
from chapterverse.types import Notice, SourceItem

MAX_CRAWLED = 10_000
"""How many pages are found by following links where `max_files` does not say: a site can be endless."""

_MAX_DELAY = 10.0
_MAX_SITEMAPS = 1000
_KEPT_BYTES = 64 * 1024 * 1024
_HTML = frozenset({detect.HTML, "application/xhtml+xml"})
_UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_PAGES = _HTML | _UNTOLD | {*detect.SUPPORTED, "text/x-markdown"}
_XML = frozenset({"application/xml", "text/xml", "application/gzip", "application/x-gzip"})
_SITEMAPS = _XML | _UNTOLD | {detect.TEXT}


class WebSource:
    """A book on the web. Ids are addresses, without fragments."""

    def __init__(self, address: str, options: SourceOptions) -> None:
        start = urls.normal(address)
        if start is None:
            raise AstRagSourceError("This is not the address of a web page that can be read without a password.")
        self.notices: list[Notice] = []
        self.unseen: set[str] = set()
        self._start = start
        self._options = options
        self._left: set[str] = set()
        """Ids that were to be left out, and were."""
        self._origin = urls.origin(start)
        self._prefix = urls.prefix(start)
        self._http = Http(options, GuardedTransport(options.allow_private_addresses))
        self._robots: robots.Robots | None = None
        self._last_request = 0.0
        self._room = _KEPT_BYTES
        self._kept: dict[str, bytes] = {}
        """Pages that had to be read for their links, until they are fetched."""

    def items(self) -> Iterator[SourceItem]:
        self.notices.clear()
        self.unseen.clear()
        self._kept.clear()
        self._left.clear()
        self._room = _KEPT_BYTES
        crawled = False
        start, listed = self._first()
        if listed is not None:
            self._prefix = "/"
            items = self._listed(start.url, listed)
        elif start.mime_type in _XML:
            raise AstRagSourceError(f"{self._start} is neither a page nor a sitemap.")
        elif start.mime_type not in _HTML or not self._options.include_subfolders:
            items = [self._item(start)]
        else:
            items = self._offered(start)
            if not items:
                crawled, items = True, self._crawl(start)
        self._options.tell_unmet(self._left, self.notices, self.unseen)
        yield from self._options.limit(items, self._start, self.notices, at_least=crawled)

    def fetch(self, item: SourceItem) -> bytes:
        kept = self._kept.pop(item.file_id, None)
        try:
            return kept if kept is not None else self._get(item.file_id).body
        except UnreadableFileError as error:
            raise UnreadableFileError(
                error.reason, error.explanation, file=item.file_id, cause=error, retryable=error.retryable
            ) from error

    def _first(self) -> tuple[Reply, sitemap.Sitemap | None]:
        """What is at the address itself, and what it lists if it is a sitemap: without it there is no book."""
        try:
            start = self._get(self._start, _PAGES | _XML)
            listed = self._sitemap(start)
        except UnreadableFileError as error:
            raise AstRagSourceError(
                f"{self._start} cannot be read: {error.explanation}", cause=error, retryable=error.retryable
            ) from error
        if not urls.below(start.url, self._prefix):
            self._prefix = urls.prefix(start.url)
        return start, listed

    def _get(self, url: str, mime_types: frozenset[str] = _PAGES) -> Reply:
        reply = self._http.get(url, check=self._check, mime_types=mime_types)
        if reply.status == 200:
            return reply
        reason = "missing" if reply.status in {404, 410} else "unreachable"
        raise UnreadableFileError(
            reason, f"The server answers with HTTP status {reply.status}.", retryable=reply.is_passing
        )

    def _check(self, url: str) -> None:
        """Refuse what is not ours to ask for, and keep the pace that the site wishes."""
        if urls.normal(url) is None or urls.origin(url) != self._origin:
            raise UnreadableFileError("refused", f"It leads to another site: {url}. To read that, give its address.")
        rules = self._rules()
        if not rules.allows(urls.target(url)):
            raise UnreadableFileError("refused", "The site's robots.txt does not allow it.")
        pause = self._last_request + min(rules.delay, _MAX_DELAY) - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        self._last_request = time.monotonic()

    def _rules(self) -> robots.Robots:
        if self._robots is None:
            self._robots = self._read_robots()
        return self._robots

    def _read_robots(self) -> robots.Robots:
        try:
            reply = self._http.get(f"{self._origin}/robots.txt")
        except UnreadableFileError as error:
            raise AstRagSourceError(
                f"{self._origin} cannot be read: {error.explanation}", cause=error, retryable=error.retryable
            ) from error
        if reply.is_passing or reply.status >= 500:
            raise AstRagSourceError(
                f"{self._origin}/robots.txt answers with HTTP status {reply.status}, so it is not known what may be"
                " read there. Try again later.",
                retryable=True,
            )
        return robots.parse(reply.body, USER_AGENT) if reply.status == 200 else robots.Robots()

    def _offered(self, start: Reply) -> list[SourceItem]:
        """The pages below the start that a sitemap of the site offers, the start first."""
        usual = (f"{self._origin}{folder}sitemap.xml" for folder in (self._prefix, "/"))
        for address in (*self._rules().sitemaps, *usual):
            url = urls.normal(address)
            if url is None or urls.origin(url) != self._origin:
                continue
            try:
                found = self._sitemap(self._get(url, _SITEMAPS))
            except UnreadableFileError as error:  # most sites have none; links will do
                if error.retryable:
                    self._miss(url, error.explanation)
                continue
            items = self._listed(url, found) if found is not None else []
            if items:
                listed = {urls.identity(item.file_id) for item in items}
                if urls.identity(start.url) not in listed and self._wanted(start.url):
                    items.insert(0, self._item(start))
                return items
        return []

    def _listed(self, first: str, listed: sitemap.Sitemap) -> list[SourceItem]:
        """The pages of a sitemap and of those that it refers to, in their order."""
        items: dict[str, SourceItem] = {}
        queue, seen = deque([first]), {first}
        elsewhere = 0
        while queue:
            address = queue.popleft()
            found = listed if address == first else self._referred(address)
            for page, changed in found.pages:
                url = urls.normal(page)
                if url is None or urls.origin(url) != self._origin:
                    elsewhere += 1
                elif urls.below(url, self._prefix) and urls.identity(url) not in items and self._wanted(url):
                    items[urls.identity(url)] = SourceItem(url, urls.name(url), modified_time=changed, url=url)
            if self._options.include_subfolders:
                named = filter(None, map(urls.normal, found.sitemaps))
                new = [url for url in named if url not in seen][: _MAX_SITEMAPS - len(seen)]
                seen.update(new)
                queue.extend(new)
        if elsewhere:
            self._leave(first, f"{elsewhere:,} addresses of the sitemap belong to other sites.")
        return list(items.values())

    def _referred(self, address: str) -> sitemap.Sitemap:
        """A sitemap that another one refers to; empty, with a notice, if it cannot be had."""
        try:
            found = self._sitemap(self._get(address, _SITEMAPS))
            if found is not None:
                return found
            self._miss(address, "It is no sitemap.")
        except UnreadableFileError as error:
            (self._leave if error.reason in {"missing", "refused"} else self._miss)(address, error.explanation)
        return sitemap.Sitemap((), ())

    def _sitemap(self, reply: Reply) -> sitemap.Sitemap | None:
        return None if reply.mime_type in _HTML else sitemap.parse(reply.body, self._options.max_bytes)

    def _crawl(self, start: Reply) -> list[SourceItem]:
        """The pages that can be reached by links from the start, nearest first."""
        items: list[SourceItem] = []
        queue, seen = deque([start.url]), {urls.identity(start.url)}
        most_visits = max(self._options.max_files or 0, MAX_CRAWLED)
        most_items = self._options.max_files or MAX_CRAWLED
        visits = 0
        while queue and len(items) <= most_items:
            visits += 1
            if visits > most_visits:
                raise AstRagSourceError(
                    f"{self._start} leads to more than {most_visits:,} pages. Give a sitemap's address instead."
                )
            url = queue.popleft()
            try:
                reply = start if url == start.url else self._get(url)
            except UnreadableFileError as error:
                (self._miss if error.retryable else self._leave)(url, error.explanation)
                continue
            if not self._is_new(url, reply.url, seen):
                continue
            is_html = reply.mime_type in _HTML
            if is_html and not self._is_new(reply.url, urls.canonical(reply.body, reply.url), seen):
                continue
            if self._wanted(reply.url):
                items.append(self._item(reply))
            if is_html:
                queue.extend(self._unseen(urls.links(reply.body, reply.url), seen))
        return items

    def _is_new(self, asked: str, given: str, seen: set[str]) -> bool:
        """Whether a page that turned out to have another address is one that was not met under it before."""
        if urls.identity(asked) == urls.identity(given):
            return True
        new = urls.identity(given) not in seen and urls.below(given, self._prefix)
        seen.add(urls.identity(given))
        return new

    def _unseen(self, links: Iterable[str], seen: set[str]) -> Iterator[str]:
        for url in links:
            known = urls.identity(url) in seen
            if known or urls.origin(url) != self._origin or not urls.below(url, self._prefix):
                continue
            if self._options.excludes(urls.path(url)):
                continue
            seen.add(urls.identity(url))
            yield url

    def _wanted(self, url: str) -> bool:
        if url in self._options.exclude_file_ids:
            self._left.add(url)
            return False
        if not self._options.selects(urls.path(url)):
            return False
        if self._rules().allows(urls.target(url)):
            return True
        self._leave(url, "The site's robots.txt does not allow it.")
        return False

    def _item(self, reply: Reply) -> SourceItem:
        if len(reply.body) <= self._room:
            self._room -= len(reply.body)
            self._kept[reply.url] = reply.body
        mime_type = None if reply.mime_type in _UNTOLD else reply.mime_type
        return SourceItem(
            reply.url, urls.name(reply.url), len(reply.body), reply.modified_time, url=reply.url, mime_type=mime_type
        )

    def _miss(self, url: str, why: str) -> None:
        """Leave out what may lead to any page of the site."""
        self.unseen.add("")
        self._leave(url, why)

    def _leave(self, url: str, why: str) -> None:
        self.notices.append(Notice(url, urls.name(url), f"Left out: {why}"))
