"""What a reader sees of a line of Markdown, without its markup."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from chapterverse.ingest.composer import LINE_BREAK
from chapterverse.ingest.formats.pictures import told
from chapterverse.ingest.formats.powers import raise_power

_STRUCK_OUT = re.compile(r"<(/?)(?:del|s|strike)[\s>]", re.IGNORECASE)
_WIKI_LINK = re.compile(r"!?\[\[(?=[^\[\]|]*[^\W\d_])([^\s\[\]|^][^\[\]|\n]*)(?:\|([^\[\]\n]+))?\]\](?!\()")
"""Of Obsidian and its like: `[[page]]`, `[[page#heading|words]]`; with a mark before it, something is shown there."""
_UNSEEN = re.compile(
    r"\{/\*.{0,2000}?\*/\}|\{%-?[ ]*comment[ ]*-?%\}.{0,2000}?\{%-?[ ]*endcomment[ ]*-?%\}"
    r"|\{%-?[ ]*[a-z_]+\b[^{}%]{0,500}%\}|\{\{[<%][^{}]{1,500}[>%]\}\}|(?<![\w%])%%(?!%).{0,2000}?%%"
    r"|\{:?[ ]?(?:(?:[.#][A-Za-z][\w:-]*|[A-Za-z][\w-]*=\"[^\"\n]{0,200}\")[ ]?)+\}|\{:toc\}",
    re.DOTALL,
)
"""Comments of MDX and Obsidian, tags of Liquid and Hugo, and attributes as kramdown, MkDocs and Pandoc write them."""
_EDIT = re.compile(
    r"(`+)(?:.{0,2000}?[^`])?\1(?!`)"
    r"|\{--.{0,2000}?--\}|\{>>.{0,2000}?<<\}|\{\+\+(?P<added>.{0,2000}?)\+\+\}|\{==(?P<marked>.{0,2000}?)==\}"
    r"|\{~~.{0,2000}?~>(?P<new>.{0,2000}?)~~\}"
    r"|(?<![=\w])==(?P<shown>[^\s=](?:[^\n]{0,2000}?[^\s=])?)==(?![=\w])",
    re.DOTALL,
)
"""Code, which stays; edits and comments of CriticMarkup; and words that are marked with two signs on either side."""


def wiki(parser: MarkdownIt) -> None:
    """A plugin of the parser: links between pages are their words, and what is written for machines is no text."""
    parser.inline.ruler.before("link", "wiki", _wiki)


def _wiki(state: StateInline, silent: bool) -> bool:
    is_link = state.src[state.pos] in "!["
    found = (_WIKI_LINK if is_link else _UNSEEN).match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if is_link and found[0][0] == "[" and not silent:
        state.pending += found[2] or found[1].lstrip("#").replace("#", " > ")
    state.pos = found.end()
    return True


def accept_edits(state: StateCore) -> None:
    """A rule of the parser: edits of CriticMarkup are read as accepted, and marked words without their marks."""
    for token in state.tokens:
        if token.type == "inline" and ("==" in token.content or "{" in token.content):
            token.content = _EDIT.sub(_accepted, token.content)


def _accepted(edit: re.Match[str]) -> str:
    return edit[0] if edit[1] else next(filter(None, edit.group("added", "marked", "new", "shown")), "")


def leave_out_struck(state: StateCore) -> None:
    """A rule of the parser: words that are struck out are not the book's any more."""
    for token in state.tokens:
        if token.children:
            token.children = _unstruck(token.children)


def _unstruck(children: list[Token]) -> list[Token]:
    kept: list[Token] = []
    begun: list[int] = []
    for child in children:
        tag = _STRUCK_OUT.match(child.content) if child.type == "html_inline" else None
        if child.type == "s_open" or (tag and not tag[1]):
            begun.append(len(kept))
        elif begun and (child.type == "s_close" or tag):
            del kept[begun.pop() :]
            continue
        kept.append(child)
    return kept


def pictured(inline: Token) -> str:
    """What is told of the pictures that a paragraph consists of."""
    return " ".join(filter(None, (told(child.content) for child in inline.children or () if child.type == "image")))


def inline_text(inline: Token) -> str:
    """What a reader sees of an inline token: no markup, no images, no addresses of links."""
    parts: list[str] = []
    raised = 0
    for child in inline.children or ():
        if child.type in ("text", "text_special", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "hardbreak":
            parts.append(LINE_BREAK)
        elif child.type == "footnote_ref":
            parts.append(f"[{child.meta.get('label') or child.meta['id'] + 1}]")
        elif child.type == "html_inline" and child.content.startswith(("<br", "<p")):
            parts.append(LINE_BREAK if child.content.startswith("<br") else " ")
        elif child.type == "html_inline" and child.content.startswith("<sup"):
            raised = len(parts)
        elif child.type == "html_inline" and child.content == "</sup>" and raised:
            raise_power(parts, raised)
    return "".join(parts)
