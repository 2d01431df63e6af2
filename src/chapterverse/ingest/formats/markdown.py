"""Markdown: CommonMark, tables, footnotes, definition lists, front matter; admonitions of MyST, Docusaurus, MkDocs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import groupby
from types import MappingProxyType

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.markdown_admonitions import admonitions, take_alert
from chapterverse.ingest.formats.markdown_inline import accept_edits, inline_text, leave_out_struck, pictured, wiki
from chapterverse.ingest.formats.markdown_links import TITLES, labelled, name_references
from chapterverse.ingest.formats.markdown_tables import listed_rows, separated_rows
from chapterverse.ingest.formats.markup.passages import LONGEST_TERM, MOST_DEFINITIONS
from chapterverse.ingest.formats.markup.reader import MarkupReader
from chapterverse.ingest.formats.markup.trees import parse_html, walk_html
from chapterverse.ingest.formats.text import decode
from chapterverse.types import BlockKind, ReadOptions

_META = re.compile(r"^(title|author|authors|lang|language):\s*(.+?)\s*$", re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML_SIGN = re.compile(r"^(\w+)[ \t]*=[ \t]*", re.MULTILINE)
_DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
_OPTION_LINES = re.compile(r"\A(?:---\n(?s:.*?)\n---\n|(?::[\w-]+:[^\n]*\n?)+)")
_TARGET_LABEL = re.compile(r"^[ \t>]*\([^()\n]+\)=[ \t]*$", re.MULTILINE)
_ADMONITION = re.compile(
    r"^[ \t]*:{3,}[ \t]*(?:\{?([\w-]+)\}?[ \t]*(?:\[(.*?)\]|(.*?)))?[ \t]*(?:\n[ \t]*:[\w-]+:.*)*$", re.MULTILINE
)
_MACHINE_LINE = re.compile(
    r"""%(?:[ \t].*)?|\+\+\+(?:[ \t]*\{.*\})?|import[ \t].+[ \t]from[ \t]+(?:"[^"]+"|'[^']+');?"""
    r"|export[ \t]+(?:const[ \t]+\w+[ \t]*=.*|default[ \t]+(?:\w+;?|[^\w\s].*|(?:async|class|function)[ \t].*))"
)
_ATTRIBUTES = re.compile(r"\{:?\s*(?:-|(?:[#.]|[\w-]+=)[^{}]*)\}\Z")
"""What may stand behind a heading for machines: `{#use .wide}`."""
_CODE_DIRECTIVES = frozenset({"code", "code-block", "code-cell", "sourcecode", "literalinclude", "math", "mermaid"})
_SILENT_DIRECTIVES = frozenset({"tableofcontents", "toctree", "contents", "raw", "index", "bibliography", "include"})

_TERM_TO_TEXT = frozenset({"dt_close", "dd_open", "paragraph_open"})
"""What stands between a term and the text that defines it; with anything else, the term stands alone."""


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(footnote_plugin).use(front_matter_plugin).use(deflist_plugin).use(admonitions).use(wiki)
    parser.block.ruler.before("lheading", "machine_line", _machine_line)
    parser.core.ruler.before("inline", "accept_edits", accept_edits)
    parser.core.ruler.push("name_references", name_references)
    parser.core.ruler.push("leave_out_struck", leave_out_struck)
    return parser


def parse(data: bytes, composer: Composer, options: ReadOptions) -> None:  # noqa: ARG001 - one shape for all formats
    """Tell the composer about each block."""
    text = decode(data, composer).replace("\r\n", "\n").replace("\r", "\n")
    if toml := _TOML.match(text):  # front matter of Hugo and Zola, in which only the sign between key and value differs
        text = "---\n" + _TOML_SIGN.sub(r"\1: ", toml[1]) + "\n---\n" + text[toml.end() :]
    titles = {label: _bare(_plain(heading)) for label, heading in labelled(text).items()}
    text = _TARGET_LABEL.sub("", text)
    text = _ADMONITION.sub(lambda fence: f"\n**{title}**\n" if (title := fence[2] or fence[3]) else "\n", text)
    _Walk(composer, titles).run(text)


class _Walk:
    """One pass over the flat list of tokens; lists and quotes are told apart by the containers that are open."""

    def __init__(self, composer: Composer, titles: Mapping[str, str]) -> None:
        self.composer = composer
        self.titles = titles
        self.containers: list[str] = []
        self.counters: list[int | None] = []
        self.marker = ""
        self.term: Token | None = None
        self.defined: Token | None = None
        self.definitions = 0
        self.notes: dict[int, str] = {}

    def run(self, text: str) -> None:
        tokens = self._parsed(text)
        self.notes = _footnotes(tokens)
        stream = iter(tokens)
        for token in stream:
            if token.type == "footnote_block_open":
                break
            if self.term and token.type not in _TERM_TO_TEXT:
                self._add_text("")
            handler = getattr(self, f"_on_{token.type}", None)
            if handler is not None:
                handler(token, stream)

    def _parsed(self, text: str) -> list[Token]:
        return _joined(_parser().parse(text, {TITLES: self.titles}))

    def _on_front_matter(self, token: Token, _: Iterator[Token]) -> None:
        for key, value in _META.findall(token.content):
            value = value.strip("\"'[]")
            if key == "title":
                self.composer.title = value
            elif key.startswith("author"):
                self.composer.author = value
            else:
                self.composer.language = value

    def _on_heading_open(self, token: Token, stream: Iterator[Token]) -> None:
        inline = next(stream)
        title = _bare(inline_text(_without_notes(inline)))
        self.composer.heading(_bare(inline_text(inline)), int(token.tag[1]), title=title)
        self._add_notes(inline)

    def _on_paragraph_open(self, _: Token, stream: Iterator[Token]) -> None:
        inline = next(stream)
        if self.containers[-1:] == ["quote"] and (label := take_alert(inline)):
            self.containers[-1] = "alert"
            self._add_text(_plain(label))
        text = inline_text(inline)
        if not text.strip() and (shown := pictured(inline)):
            self._add_text(shown, "caption")
        else:
            self._add_text(text, "caption" if _is_caption(inline) else "paragraph")
        self._add_notes(inline)

    _on_admonition_title_open = _on_paragraph_open

    def _on_dt_open(self, _: Token, stream: Iterator[Token]) -> None:
        self.term = self.defined = next(stream)
        self.definitions = 0

    def _on_dd_open(self, _: Token, __: Iterator[Token]) -> None:
        """A further definition has its term again, without the notes."""
        self.definitions += 1
        if self.term is None and self.defined is not None and self.definitions <= MOST_DEFINITIONS:
            self.term = _without_notes(self.defined) if len(self.defined.content) <= LONGEST_TERM else None

    def _on_dl_close(self, _: Token, __: Iterator[Token]) -> None:
        self.defined = None

    def _add_text(self, text: str, kind: BlockKind = "paragraph") -> None:
        """A paragraph, behind the marker of its list item or the term that it defines."""
        if "list" in self.containers:
            kind = "list"
        elif "quote" in self.containers:
            kind = "quote"
        term, self.term = self.term, None
        if term:
            text = f"{inline_text(term).rstrip(': ')}: {text}"
        self.composer.add(kind, self.marker + text)
        self.marker = ""
        if term:
            self._add_notes(term)

    def _on_bullet_list_open(self, _: Token, __: Iterator[Token]) -> None:
        self.containers.append("list")
        self.counters.append(None)

    def _on_ordered_list_open(self, token: Token, _: Iterator[Token]) -> None:
        self.containers.append("list")
        self.counters.append(int(token.attrs.get("start", 1)))

    def _on_list_item_open(self, token: Token, _: Iterator[Token]) -> None:
        number = self.counters[-1]
        self.marker = "- " if number is None else f"{number}{token.markup or '.'} "
        self.counters[-1] = None if number is None else number + 1

    def _close_list(self, _: Token, __: Iterator[Token]) -> None:
        self.containers.pop()
        self.counters.pop()

    _on_bullet_list_close = _on_ordered_list_close = _close_list

    def _on_blockquote_open(self, _: Token, __: Iterator[Token]) -> None:
        self.containers.append("quote")

    def _on_blockquote_close(self, _: Token, __: Iterator[Token]) -> None:
        self.containers.pop()

    def _on_code_block(self, token: Token, _: Iterator[Token]) -> None:
        self.composer.add("code", token.content)

    def _on_fence(self, token: Token, _: Iterator[Token]) -> None:
        directive = _DIRECTIVE.match(token.info.strip())
        if directive is None or directive[1] in _CODE_DIRECTIVES:
            self.composer.add("code", token.content)
        elif directive[1] not in _SILENT_DIRECTIVES:
            body = _OPTION_LINES.sub("", token.content)
            rows: list[list[str]] = []
            if directive[1] == "list-table":
                rows = listed_rows(self._parsed(body))
            elif directive[1] == "csv-table":
                rows = [[_plain(cell, self.titles) for cell in row] for row in separated_rows(token.content, body)]
            if rows:
                self.composer.add("caption", _plain(directive[2], self.titles))
                self.composer.add("table", "\n".join(" | ".join(row) for row in rows))
            else:
                self._directive(directive[1], directive[2], body)

    def _directive(self, name: str, argument: str, body: str) -> None:
        """A MyST directive holds Markdown of its own: a figure's caption, or an admonition's paragraphs."""
        if name in ("figure", "image"):
            for token in self._parsed(body):
                if token.type == "inline":
                    self.composer.add("caption", inline_text(token))
            return
        if argument:
            self.composer.add("paragraph", _plain(argument, self.titles))
        if len(self.containers) < 20:
            nested = _Walk(self.composer, self.titles)
            nested.containers = [*self.containers, "directive"]
            nested.run(body)

    def _on_html_block(self, token: Token, _: Iterator[Token]) -> None:
        reader = MarkupReader()
        if (body := parse_html(token.content).body) is not None:
            walk_html(body, reader)
            reader.end()
        for passage in reader.passages:
            if passage.kind == "paragraph":
                self._add_text(passage.text)
            else:
                passage.write(self.composer)

    def _on_table_open(self, _: Token, stream: Iterator[Token]) -> None:
        rows: list[list[str]] = []
        inlines: list[Token] = []
        for token in stream:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(inline_text(token))
                inlines.append(token)
        self.composer.add("table", "\n".join(" | ".join(row) for row in rows))
        for inline in inlines:
            self._add_notes(inline)

    def _add_notes(self, inline: Token) -> None:
        for child in inline.children or ():
            if child.type == "footnote_ref" and (note := self.notes.pop(child.meta["id"], None)):
                self.composer.add("footnote", note)


def _machine_line(state: StateBlock, start: int, _: int, silent: bool) -> bool:
    """A rule of the parser: a line that MDX runs, a comment of MyST and its mark of a new cell are no text.

    Such a line begins a block, in no list, quote or fence.
    """
    line = state.src[state.bMarks[start] : state.eMarks[start]].rstrip()
    is_title = not start and line.startswith("%")  # as Pandoc writes it
    if state.level or is_title or not _MACHINE_LINE.fullmatch(line):
        return False
    if not silent:
        state.line = start + 1
    return True


def _joined(tokens: list[Token]) -> list[Token]:
    """The tokens; raw HTML that blank lines cut into several is one again."""
    joined: list[Token] = []
    for (kind, _), run in groupby(tokens, lambda token: (token.type, token.level)):
        found = list(run)
        if kind == "html_block":
            found[0].content = "".join(token.content for token in found)
            found = found[:1]
        joined += found
    return joined


def _bare(heading: str) -> str:
    """A heading without the attributes behind it."""
    return _ATTRIBUTES.sub("", heading.rstrip()) or heading


def _footnotes(tokens: list[Token]) -> dict[int, str]:
    """Each footnote's text by its id; they are placed after the block that first refers to them."""
    notes: dict[int, str] = {}
    label, current = "", -1
    for token in tokens:
        if token.type == "footnote_open":
            current = token.meta["id"]
            label = token.meta.get("label") or str(current + 1)
            notes[current] = f"[{label}]"
        elif token.type == "footnote_close":
            current = -1
        elif token.type == "inline" and current >= 0:
            notes[current] += " " + inline_text(token)
    return notes


def _without_notes(inline: Token) -> Token:
    return inline.copy(children=[child for child in inline.children or () if child.type != "footnote_ref"])


def _is_caption(inline: Token) -> bool:
    """A paragraph that is emphasised as a whole and begins like a caption."""
    children = [child for child in inline.children or () if child.type != "text" or child.content.strip()]
    return (
        len(children) >= 3
        and children[0].type == "em_open"
        and children[-1].type == "em_close"
        and children[1].content.startswith(("Figure", "Fig.", "Table", "Plate", "Map"))
    )


def _plain(markdown: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """A line of Markdown as a reader sees it."""
    return inline_text(_parser().parseInline(markdown, {TITLES: titles})[0])
