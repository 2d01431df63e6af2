"""Admonitions that CommonMark takes for code or quotes: those of MkDocs (`!!! warning`) and GitHub (`> [!NOTE]`).

The tabs of MkDocs (`=== "Linux"`) are written in the same way.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.admon.index import admonition

_MKDOCS = re.compile(r"""(?:!!!|\?\?\?\+?) ?[\w-]+(?: +[\w-]+)*(?: +".*")? *""")
_ALERT = re.compile(r"\[!([A-Za-z]+)\][+-]?[ \t]*(.*)")
_TAB = re.compile(r'===[!+]? +"(.*)" *')
_INDENT = 4
_ENDS: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
"""What both may end without an empty line."""


def admonitions(parser: MarkdownIt) -> None:
    """A plugin of the parser: admonitions and tabs of MkDocs, with their title and what is indented below it."""
    parser.use(admon_plugin)
    parser.block.ruler.at("admonition", _admonition, _ENDS)
    parser.block.ruler.after("admonition", "tab", _tab, _ENDS)


def _admonition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Three marks begin an admonition if they name its kind, and if an indented body follows; else they are prose."""
    if not _MKDOCS.fullmatch(_line(state, start)):
        return False
    return _has_body(state, start, end) and admonition(state, start, end, silent)


def _tab(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    tab = _TAB.fullmatch(_line(state, start))
    if tab is None or state.is_code_block(start) or not _has_body(state, start, end):
        return False
    if silent:
        return True
    inside, stop = state.sCount[start] + _INDENT, start + 1
    while stop < end and (state.isEmpty(stop) or state.sCount[stop] >= inside):
        stop += 1
    state.push("admonition_title_open", "p", 1)
    title = state.push("inline", "", 0)
    title.content, title.children, title.map = tab[1], [], [start, start + 1]
    state.push("admonition_title_close", "p", -1)
    before = state.blkIndent, state.lineMax
    state.blkIndent, state.lineMax = inside, stop
    state.md.block.tokenize(state, start + 1, stop)
    state.blkIndent, state.lineMax = before
    state.line = stop
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _has_body(state: StateBlock, start: int, end: int) -> bool:
    """Whether something is indented below a line."""
    body = next((number for number in range(start + 1, end) if not state.isEmpty(number)), None)
    return body is not None and state.sCount[body] >= state.sCount[start] + _INDENT


def take_alert(inline: Token) -> str:
    """The label of an alert of GitHub, whose marker is taken from its text; nothing if it is none."""
    alert = _ALERT.match(inline.content)
    if alert is None:
        return ""
    children = inline.children or []
    breaks = (n for n, child in enumerate(children, 1) if child.type in ("softbreak", "hardbreak"))
    inline.children = children[next(breaks, len(children)) :]
    return alert[2] or alert[1].capitalize()
