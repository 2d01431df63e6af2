"""Render: an answer with its sources, as text, Markdown, HTML or JSON, or sentence by sentence with footnotes."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chapterverse.answer.cite import describe
from chapterverse.answer.layout import gap
from chapterverse.errors import AstRagValidationError
from chapterverse.types import Answer, AnswerSentence, Citation

Source = Citation | Mapping[str, Any] | str
"""A citation, one of the contracts' source objects, or just its name."""

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")
_ACTIVE = re.compile(r"!(?=\[)|\](?=[(:])|<(?=[A-Za-z/!?])")
"""What begins an image, a link or HTML for whoever reads Markdown."""
_LINK = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)


class _Row(NamedTuple):
    """What is shown of a source."""

    id: str
    label: str
    quote: str
    url: str


def format_response(response: str | Answer, sources: Sequence[Source] | None = None, style: str = "text") -> str:
    """A response with attribution; an answer brings its own sources."""
    text = response.text if isinstance(response, Answer) else response
    if sources is None:
        sources = response.citations if isinstance(response, Answer) else ()
    if style not in _STYLES:
        raise AstRagValidationError(f"style is {style!r}; it must be one of {', '.join(_STYLES)}.")
    rows = list(dict.fromkeys(_row(number, source) for number, source in enumerate(sources, 1)))
    return _STYLES[style](text.strip(), rows)


def footnoted(answer: Answer) -> str:
    """An answer with a mark behind each sentence that cites, and the quotes that the marks stand for below it."""
    befores = (None, *answer.sentences)
    pieces = [footnote_piece(one, before) for one, before in zip(answer.sentences, befores, strict=False)]
    return ("".join(pieces) or _inert(answer.text)) + footnotes(answer.citations)


def footnote_piece(sentence: AnswerSentence, before: AnswerSentence | None = None) -> str:
    """What a sentence adds to a text with footnotes: the gap to the one before it, its words and its marks."""
    between = "" if before is None else gap(before.text, sentence.text)
    marks = "".join(f"[{number + 1}]" for number in sentence.citations)
    return f"{between}{_inert(sentence.text)} {marks}".rstrip()


def footnotes(citations: Sequence[Citation]) -> str:
    """What stands below a text with footnotes; nothing where nothing is cited."""
    lines = [_inert(f"[{number}] {describe(one)}: “{_line(one.quote)}”") for number, one in enumerate(citations, 1)]
    return "\n\n" + "\n".join(lines) if lines else ""


def _row(number: int, source: Source) -> _Row:
    if isinstance(source, str):
        return _Row(f"S{number}", source, "", "")
    if isinstance(source, Citation):
        return _Row(source.id, describe(source), source.quote, _safe(source.source_url))
    url = source.get("source_url") or source.get("url")
    title = source.get("source_title") or source.get("title") or source.get("fileName") or url
    page = source.get("page_label") or source.get("page")
    parts = [title, source.get("chapter"), source.get("section"), f"page {page}" if page else None]
    label = ", ".join(str(part) for part in parts if part)
    quote = source.get("quote") or source.get("content_preview") or source.get("text") or source.get("content") or ""
    name = source.get("citationId") or source.get("id") or f"S{number}"
    return _Row(str(name), label or str(name), str(quote), _safe(url))


def _safe(url: object) -> str:
    """An address that may be linked to: a book must not smuggle in a script."""
    return url if isinstance(url, str) and _LINK.fullmatch(url) else ""


def _text(text: str, rows: Sequence[_Row]) -> str:
    lines = [f"[{row.id}] {row.label}" + (f": “{_line(row.quote)}”" if row.quote else "") for row in rows]
    return "\n".join([text, "", "Sources:", *lines]) if lines else text


def _markdown(text: str, rows: Sequence[_Row]) -> str:
    lines = []
    for row in rows:
        label = _escaped(row.label)
        lines.append(f"- **{_escaped(row.id)}** " + (f"[{label}](<{row.url}>)" if row.url else label))
        if row.quote:
            lines.append(f"  > {_escaped(_line(row.quote))}")
    body = "  \n".join(_escaped(line) for line in text.splitlines())
    return "\n".join([body, "", "**Sources**", "", *lines]) if lines else body


def _html(text: str, rows: Sequence[_Row]) -> str:
    body = "<br>".join(html.escape(line) for line in text.splitlines())
    items = []
    for row in rows:
        label = html.escape(row.label)
        place = f'<a href="{html.escape(row.url)}">{label}</a>' if row.url else label
        quote = f"<blockquote>{html.escape(row.quote)}</blockquote>" if row.quote else ""
        items.append(f"<li><strong>{html.escape(row.id)}</strong> {place}{quote}</li>")
    listed = f"<ul>{''.join(items)}</ul>" if items else ""
    return f'<div class="answer"><p>{body}</p>{listed}</div>'


def _json(text: str, rows: Sequence[_Row]) -> str:
    return json.dumps({"response": text, "sources": [row._asdict() for row in rows]}, ensure_ascii=False)


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)


def _inert(text: str) -> str:
    """A text that some read as Markdown and others as it is: what would load or lead anywhere is escaped, no more."""
    return _ACTIVE.sub(r"\\\g<0>", text)


def _line(text: str) -> str:
    return " ".join(text.split())


_STYLES = {"text": _text, "markdown": _markdown, "html": _html, "json": _json}
