"""HTML: the article of a page, without the site around it; made for Docusaurus-like books."""

from __future__ import annotations

import re
from urllib.parse import urldefrag, urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from chapterverse.ingest.composer import Composer, clean
from chapterverse.ingest.formats.markup.notes import place_notes
from chapterverse.ingest.formats.markup.reader import MarkupReader
from chapterverse.ingest.formats.markup.trees import parse_html, walk_html
from chapterverse.ingest.formats.text import decode as decode_plain
from chapterverse.types import ReadOptions

_ARTICLES = ("article", ".theme-doc-markdown", "main", '[role="main"]')
_ASIDE = (
    'aside:not([role="note"], [role="doc-footnote"], [role="doc-tip"], [class*="footnote"], [class*="admonition"], '
    '[class*="starlight-aside"], [class*="callout"])'
)
_ANCHORS = ".hash-link, .headerlink, .header-anchor, .anchorjs-link"
_BOILERPLATE = ", ".join(
    (
        "header:not(:has(h1, h2))",
        "footer",
        '[role="banner"]',
        '[role="contentinfo"]',
        '[role="complementary"]',
        ".breadcrumbs",
        ".pagination",
        ".pagination-nav",
        ".table-of-contents",
        ".toc",
        ".theme-doc-breadcrumbs",
        ".theme-doc-footer",
        ".theme-doc-toc-mobile",
        ".theme-doc-version-badge",
        ".theme-doc-version-banner",
        ".theme-edit-this-page",
        ".mw-editsection",
        ".mw-cite-backlink",
        _ANCHORS,
    )
)
_AROUND_TEXT = ", ".join(
    ("#sidebar", ".sidebar", "#navbar", ".navbar", "#nav", "#footer", ".footer", "#toc", ".cookie-banner", ".skip-link")
)
"""What stands around the text of a page that has no article to tell the two apart."""

_OF_THE_SITE = ", ".join(('[class*="sidebar"]', '[class*="related"]', '[class*="promo"]', _AROUND_TEXT))
"""What an aside of the text itself is not called."""

_CHARSET = re.compile(rb"(?:<meta\b[^>]{0,200}?charset|<\?xml\b[^>]{0,200}?encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_XHTML = re.compile(r"<\?xml\s|<html\b[^>]*\sxmlns=[\"']http://www\.w3\.org/1999/xhtml")
_HEAD = 2048
"""Characters within which a page says that it is XHTML."""
_EMPTY_TAG = re.compile(r"<([A-Za-z][\w:.-]*)((?:\s[^<>]*?)?)/>")
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_AS_BROWSERS_READ = {"iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252",
                     "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
                     "euc-kr": "cp949", "utf-16": "utf-8", "utf-16le": "utf-8", "utf-16be": "utf-8"}  # fmt: skip
_SUFFIX = re.compile(r"\s+[|\u00b7\u2022\u2013\u2014:-]{1,2}\s+")


def parse(data: bytes, composer: Composer, options: ReadOptions) -> None:  # noqa: ARG001 - one shape for all formats
    """Tell the composer about each block of the page's article."""
    text = decode(data, composer)
    tree = parse_html(with_end_tags(text) if _XHTML.search(text, 0, _HEAD) else text)
    body = tree.body
    if body is None:
        return
    boilerplate = {node.mem_id for node in body.css(_BOILERPLATE)} | _asides_of_the_site(body)
    article = _article(body, boilerplate)
    if article is None:
        boilerplate |= {node.mem_id for node in body.css(_AROUND_TEXT)}
    _metadata(tree, article or body, composer)
    reader = MarkupReader()
    walk_html(article or body, reader, boilerplate)
    reader.end()
    for passage in place_notes(reader.passages, reader.anchors):
        passage.write(composer)


def links(data: bytes, base_url: str = "") -> list[str]:
    """The addresses that a page links to, in order and once each: absolute given `base_url`, without fragments."""
    tree = parse_html(decode(data, Composer()))
    base = _join(base_url, _attribute(tree.css_first("base[href]"), "href"))
    hrefs = (_attribute(node, "href") for node in tree.css("a[href], area[href]"))
    found = (_join(base, href) for href in hrefs if not href.startswith("#"))
    return list(dict.fromkeys(address for address in found if address))


def canonical_url(data: bytes, base_url: str = "") -> str | None:
    """The address that a page names as its own."""
    href = _attribute(parse_html(decode(data, Composer())).css_first('link[rel="canonical"]'), "href")
    return (_join(base_url, href) or None) if href else None


def decode(data: bytes, composer: Composer) -> str:
    """The page's text: by byte order mark, by what the page declares, or by what the bytes look like.

    What is not ASCII and can be read as UTF-8 is UTF-8: servers override what pages of an older time declare.
    """
    declared = _CHARSET.search(_COMMENT.sub(b"", data[:8192]))
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) and not _is_utf8(data):
        name = declared.group(1).decode("ascii", "replace").lower()
        try:
            return data.decode(_AS_BROWSERS_READ.get(name, name))
        except (UnicodeDecodeError, LookupError):
            pass  # the declaration is wrong: what the bytes look like decides
    return decode_plain(data, composer)


def with_end_tags(text: str) -> str:
    """XHTML with its empty elements as HTML has them; else a `<script/>` would swallow all that follows it."""
    return _EMPTY_TAG.sub(_with_end_tag, text)


def _with_end_tag(tag: re.Match[str]) -> str:
    name, attributes = tag.groups()
    return tag.group() if name.lower() in _VOID else f"<{name}{attributes}></{name}>"


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return not data.isascii()


def _article(body: LexborNode, boilerplate: set[int]) -> LexborNode | None:
    """The one element that holds the page's text, unless none or several claim to, or most prose is elsewhere."""
    prose = _prose(body)
    for selector in _ARTICLES:
        found = [node for node in body.css(selector) if node.mem_id not in boilerplate]
        if len(found) == 1 and 3 * _prose(found[0]) >= prose:
            return found[0]
    return None


def _asides_of_the_site(body: LexborNode) -> set[int]:
    """The asides that are no words of the book: all outside of a text, and inside of it lists of links and the like."""
    inner = {node.mem_id for node in body.css("aside aside")}  # they are what the outer ones are
    in_text = {node.mem_id for article in _ARTICLES for node in body.css(f"{article} aside")}
    of_the_site = {node.mem_id for node in body.css(_OF_THE_SITE)}
    asides = (node for node in body.css(_ASIDE) if node.mem_id not in inner)
    return {
        node.mem_id
        for node in asides
        if node.mem_id not in in_text or node.mem_id in of_the_site or node.css_first("form") or _is_links(node)
    }


def _is_links(node: LexborNode) -> bool:
    """Whether most words lead elsewhere."""
    return 2 * sum(len(link.text()) for link in node.css("a[href]")) > len(node.text())


def _prose(node: LexborNode) -> int:
    return sum(len(paragraph.text()) for paragraph in node.css("p, pre"))


def _metadata(tree: LexborHTMLParser, text: LexborNode, composer: Composer) -> None:
    composer.language = _attribute(tree.css_first("html[lang]"), "lang") or None
    composer.author = _meta(tree, "author") or None
    heading, name = text.css_first("h1"), tree.css_first("head title")
    own = _words(heading) if heading is not None else ""
    said = _meta(tree, "og:title") or (clean(name.text()).strip() if name is not None else "")
    composer.title = _without_site(said, own, _meta(tree, "og:site_name")) or own or None


def _words(heading: LexborNode) -> str:
    """A heading without the sign that links to it, as Sphinx and others put behind it."""
    anchors = "".join(anchor.text() for anchor in heading.css(_ANCHORS))
    return clean(heading.text().strip().removesuffix(anchors.strip())).strip()


def _without_site(title: str, heading: str, site: str) -> str:
    """A page's title without the name of its site, which the first heading, the site's name or a bar gives away."""
    page, bar, suffix = _last_part(title)
    if bar and (suffix == site or "|" in bar):
        return page
    return heading if heading and _SUFFIX.match(title.removeprefix(heading)) else title


def _last_part(title: str) -> tuple[str, str, str]:
    """A title cut at its last separator."""
    bars = list(_SUFFIX.finditer(title))
    return (title[: bars[-1].start()], bars[-1].group(), title[bars[-1].end() :]) if bars else (title, "", "")


def _meta(tree: LexborHTMLParser, name: str) -> str:
    return _attribute(tree.css_first(f'meta[name="{name}"], meta[property="{name}"]'), "content")


def _attribute(node: LexborNode | None, name: str) -> str:
    return clean(node.attributes.get(name) or "").strip() if node is not None else ""


def _join(base: str, href: str) -> str:
    """An absolute address without its fragment; nothing for one that cannot be read."""
    try:
        return urldefrag(urljoin(base, href)).url
    except ValueError:
        return ""
