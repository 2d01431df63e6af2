"""Admonitions that CommonMark takes for code or quotes: those of MkDocs (`!!! warning`) and GitHub (`> [!NOTE]`)."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.admon.index import admonition

_MKDOCS = re.compile(r"""(?:!!!|\?\?\?\+?) ?[\w-]+(?: +[\w-]+)*(?: +".*")? *""")
_ALERT = re.compile(r"\[!([A-Za-z]+)\][+-]?[ \t]*(.*)")
_INDENT = 4


def admonitions(parser: MarkdownIt) -> None:
    """A plugin of the parser: admonitions of MkDocs, with their title and paragraphs."""
    parser.use(admon_plugin)
    parser.block.ruler.at("admonition", _admonition, {"alt": ["paragraph", "reference", "blockquote", "list"]})


def _admonition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Three marks begin an admonition if they name its kind, and if an indented body follows; else they are prose."""
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if not _MKDOCS.fullmatch(line):
        return False
    body = next((number for number in range(start + 1, end) if not state.isEmpty(number)), None)
    is_indented = body is not None and state.sCount[body] >= state.sCount[start] + _INDENT
    return is_indented and admonition(state, start, end, silent)


def take_alert(inline: Token) -> str:
    """The label of an alert of GitHub, whose marker is taken from its text; nothing if it is none."""
    alert = _ALERT.match(inline.content)
    if alert is None:
        return ""
    children = inline.children or []
    breaks = (n for n, child in enumerate(children, 1) if child.type in ("softbreak", "hardbreak"))
    inline.children = children[next(breaks, len(children)) :]
    return alert[2] or alert[1].capitalize()
