"""What elements mean: which are blocks, which are not text, how lists are numbered, what a page mark says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from chapterverse.types import BlockKind

BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol p pre section summary "
    "table tbody td tfoot th thead tr ul".split()
)
KINDS: Mapping[str, BlockKind] = {
    "blockquote": "quote",
    "caption": "caption",
    "dd": "list",
    "dt": "list",
    "figcaption": "caption",
    "li": "list",
    "pre": "code",
    "table": "paragraph",
}
NOTE_TYPES = frozenset({"footnote", "endnote", "rearnote"})

_NOT_TEXT = frozenset(
    "annotation annotation-xml audio button canvas datalist embed head iframe input map nav noscript object rp rt "
    "script select style svg template textarea video".split()
)
_STRUCK_OUT = frozenset({"del", "s", "strike"})
_CONTROLS = frozenset(
    {"backlink", "landmarks", "menu", "navigation", "page-list", "search", "tablist", "toc", "toolbar"}
)
_KEPT_THOUGH_HIDDEN = NOTE_TYPES | {"footnotes", "endnotes", "rearnotes", "tabpanel"}
_SHOWN_WHEN_SOUGHT = "until-found"
_HIDING_CLASSES = frozenset({"sr-only", "visually-hidden", "screen-reader-text"})
_HIDING_STYLE = re.compile(r"display:none|visibility:hidden")
_CLASS_TYPES = {
    "footnote-back": "backlink",
    "footnote-backref": "backlink",
    "reversefootnote": "backlink",
    "footnote-ref": "noteref",
    "footnote-reference": "noteref",
    "noteref": "noteref",
    "pagenum": "pagebreak",
    "pageno": "pagebreak",
    "x-ebookmaker-pageno": "pagebreak",
}
_NO_TYPES: frozenset[str] = frozenset()
_AROUND_LABELS = " \n\t\u00a0.:[](){}"
_PAGE_WORD = re.compile(r"^(?:page|pg\.?|p\.)\s*", re.IGNORECASE)
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_STYLES = {"lower-alpha": "a", "lower-latin": "a", "upper-alpha": "A", "upper-latin": "A", "lower-roman": "i",
           "upper-roman": "I", "decimal": "1", "none": "none"}  # fmt: skip
_STYLE = re.compile(r"list-style(?:-type)?:\s*([a-z-]+)")


def tokens(attributes: Mapping[str, str]) -> frozenset[str]:
    """What an element says it is: `epub:type`, ARIA role (without "doc-"), and the classes that mean the same."""
    if not attributes:
        return _NO_TYPES
    words = attributes.get("epub:type", "").split()
    words += [role.removeprefix("doc-") for role in attributes.get("role", "").split()]
    words += [_CLASS_TYPES[name] for name in attributes.get("class", "").split() if name in _CLASS_TYPES]
    if "data-footnote-ref" in attributes:
        words.append("noteref")
    if "data-footnote-backref" in attributes:
        words.append("backlink")
    return frozenset(words) if words else _NO_TYPES


def dropped(tag: str, attributes: Mapping[str, str], types: frozenset[str], in_heading: bool = False) -> bool:
    """Whether an element's content is no text of the book: machinery, controls, struck out, or hidden."""
    if tag == "button" and in_heading and "aria-expanded" in attributes:
        return False  # the heading itself, which opens what stands below it
    if tag in _NOT_TEXT or tag in _STRUCK_OUT or types & _CONTROLS:
        return True
    if tag == "dialog" and "open" not in attributes:
        return True
    if not attributes or types & _KEPT_THOUGH_HIDDEN or "pagebreak" in types:
        return False
    return (
        attributes.get("hidden", _SHOWN_WHEN_SOUGHT) != _SHOWN_WHEN_SOUGHT
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDING_STYLE.search(attributes.get("style", "").lower().replace(" ", "")))
        or not _HIDING_CLASSES.isdisjoint(attributes.get("class", "").split())
    )


def page_label(attributes: Mapping[str, str]) -> str:
    """The label that a page mark carries itself."""
    said = attributes.get("title") or attributes.get("aria-label") or ""
    return _PAGE_WORD.sub("", said.strip(_AROUND_LABELS)).strip(_AROUND_LABELS)


def numbering(tag: str, attributes: Mapping[str, str]) -> Callable[[Mapping[str, str]], str]:
    """A function that gives each next item of a list its marker."""
    style = _STYLE.search(attributes.get("style", ""))
    kind = _STYLES.get(style.group(1), "") if style else ""
    kind = kind or (attributes.get("type", "1") if tag == "ol" else "ul")
    step = -1 if "reversed" in attributes else 1
    number = _integer(attributes.get("start"), 1)

    def marker(item: Mapping[str, str]) -> str:
        nonlocal number
        value = _integer(item.get("value"), number)
        number = value + step
        return list_marker(kind, value)

    return marker


def list_marker(kind: str, number: int) -> str:
    """The marker of one item, as a browser prints it."""
    if kind in ("none", "ul"):
        return "" if kind == "none" else "- "
    text = str(number)
    if kind in ("a", "A") and number > 0:
        text = ""
        while number > 0:
            number, letter = divmod(number - 1, 26)
            text = chr(ord("a") + letter) + text
    elif kind in ("i", "I") and 0 < number < 4000:
        text = ""
        for value, letters in _ROMAN:
            count, number = divmod(number, value)
            text += letters * count
    return f"{text.upper() if kind in ('A', 'I') else text}. "


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", text) else default
