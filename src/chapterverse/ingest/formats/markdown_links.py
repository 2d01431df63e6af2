"""References of Markdown and MyST that carry no words of their own, as what they point to.

A label of the same file reads as the heading that it stands above. What lies in another file stays the label or path
that this file has: a quote must have no words that the book does not, and the title itself would make this file's text
depend on files that may change without it, though a citation names one file by its hash.
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
_ROLE = re.compile(r"(?:\{([\w:-]+)\}|(?<![\w:]):([a-z][\w+-]*(?::[\w+-]+)?):)$")
"""A role of MyST, or as reStructuredText writes it: `{ref}`, `:ref:`."""
_POINTING_ROLES = frozenset({"ref", "numref", "doc"})
_CITING_ROLE = re.compile(r"(?:foot)?cite(?:[:-]?[a-z]+)?")
_NUMBER = re.compile(r"%s|\{(?:number|name)\}")
"""Where a reference gets a number that only the printed book has."""


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
            child = _words(_shown(role[1] or role[2], child.content, titles))
        named.append(child)
    return named


def _words(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _shown(role: str, content: str, titles: Mapping[str, str]) -> str:
    """MyST writes `{ref}`words<target>``, or the target alone; keys of a bibliography are set apart: "[kell1698]"."""
    words, pointed, target = content.removesuffix(">").rpartition("<")
    if pointed and content.endswith(">"):
        return _NUMBER.sub(lambda _: _name(target, titles), words.strip()) or _name(target, titles)
    if _CITING_ROLE.fullmatch(role):
        return f"[{', '.join(key.strip() for key in content.split(','))}]"
    return _name(content, titles) if role in _POINTING_ROLES else content


def _name(target: str, titles: Mapping[str, str]) -> str:
    """What a reference points to: the heading under a label of this file, else the label, path or address itself."""
    label = unquote(target).removeprefix("#")
    return titles.get(label.lower()) or label
