"""References of Markdown and MyST that carry no words of their own, as the words that a reader would see.

A label of the same file reads as the heading that it stands above. What lies in another file is called after its label
or name: the title itself would make this file's text depend on files that may change without it, and a citation names
one file by its hash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

TITLES = "titles"
"""Where a parser's environment has the headings by their labels."""

_LABEL = re.compile(r"[ \t>]*\(([^()\n]+)\)=[ \t]*")
_HEADING = re.compile(r"[ \t>]*#{1,6}[ \t]+(?=\S)")
_LONGEST = 250
"""What is longer is no heading to the composer, and repeated by a thousand links would make a bomb."""
_ROLE = re.compile(r"\{([\w:-]+)\}$")
_POINTING_ROLES = frozenset({"ref", "numref", "doc"})
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_SUFFIX = re.compile(r"\.\w{1,5}$")
_SEPARATORS = re.compile(r"[\s:_-]+")
_VOWEL = re.compile(r"[aeiouy0-9]", re.IGNORECASE)


def labelled(text: str) -> dict[str, str]:
    """The headings of a text by the labels above them, still in Markdown."""
    headings: dict[str, str] = {}
    waiting: list[str] = []
    for line in text.splitlines():
        if label := _LABEL.fullmatch(line):
            waiting.append(label[1].lower())
        elif line.strip():
            if waiting and (marks := _HEADING.match(line)):
                heading = line[marks.end() :].rstrip("# \t")
                headings |= dict.fromkeys(waiting if len(heading) <= _LONGEST else (), heading)
            waiting.clear()
    return headings


def name_references(state: StateCore) -> None:
    """A rule of the parser: empty links get words, and roles become the words that they show."""
    titles: Mapping[str, str] = state.env.get(TITLES, {})
    for token in state.tokens:
        if token.children:
            token.children = _named(token.children, titles)


def _named(children: list[Token], titles: Mapping[str, str]) -> list[Token]:
    named: list[Token] = []
    for child in children:
        last = named[-1] if named else None
        if last and child.type == "link_close" and last.type == "link_open":
            named.append(_words(_name(str(last.attrs.get("href", "")), titles)))
        elif last and last.type == "text" and child.type == "code_inline" and (role := _ROLE.search(last.content)):
            last.content = last.content[: role.start()]
            child = _words(_shown(role[1], child.content, titles))
        named.append(child)
    return named


def _words(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _shown(role: str, content: str, titles: Mapping[str, str]) -> str:
    """MyST writes `{ref}`words<target>``, or the target alone."""
    words, pointed, target = content.removesuffix(">").rpartition("<")
    if pointed and content.endswith(">"):
        return words.strip() or _name(target, titles)
    return _name(content, titles) if role in _POINTING_ROLES else content


def _name(target: str, titles: Mapping[str, str]) -> str:
    """What a reference points to, in words: a heading, an address as it is, or a label or file name made readable."""
    target = unquote(target)
    if _ADDRESS.match(target):
        return target
    path, _, label = target.partition("#")
    label = label or _SUFFIX.sub("", path.rstrip("/").rpartition("/")[2])
    return titles.get(label.lower()) or _readable(label)


def _readable(label: str) -> str:
    """A label in words: without the short prefix that keeps a book's labels apart, and with abbreviations as such."""
    first, *others = [part for part in _SEPARATORS.split(label) if part] or [label]
    parts = others if others and len(first) <= 2 else [first, *others]
    return " ".join(part if _VOWEL.search(part) else part.upper() for part in parts)
