"""Writes the manuscript as HTML that is also well-formed XML, for the EPUB and for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

from manuscript import Block, Chapter, Figure, Listing, Note, Paragraph, Table, Text
from pages import Pages


class Markup:
    """HTML of a book; given its pages (for an EPUB), it marks where each begins and says what things are."""

    def __init__(self, pages: Pages | None = None) -> None:
        self._pages = pages

    def chapter(self, chapter: Chapter, name: str) -> str:
        """A chapter whose sections are called NAME-1, NAME-2, ..., with its footnotes at the end."""
        parts = [f"<h1>{self.inline(chapter.title)}</h1>", *map(self._block, chapter.blocks)]
        for index, section in enumerate(chapter.sections, 1):
            blocks = "\n".join(map(self._block, section.blocks))
            parts.append(f'<section id="{name}-{index}">\n<h2>{self.inline(section.title)}</h2>\n{blocks}\n</section>')
        if chapter.notes:
            notes = "\n".join(map(self._note, chapter.notes))
            parts.append(f'<section class="notes"{self._kind("footnotes", None)}>\n{notes}\n</section>')
        return "\n".join(parts)

    def inline(self, text: Text) -> str:
        written = ""
        offset = 0
        breaks = list(self._breaks(text))
        for span in text.spans:
            if span.note:
                written += self._reference(span.note)
            end = offset + len(span.text)
            part = ""
            while breaks and breaks[0][0] < end:
                cut, mark = breaks.pop(0)
                part += escape(text.plain[offset:cut]) + mark
                offset = cut
            part += escape(text.plain[offset:end])
            offset = end
            part = f"<em>{part}</em>" if span.emphasis else part
            written += f"<strong>{part}</strong>" if span.strong else part
        return written

    def _breaks(self, text: Text) -> Iterator[tuple[int, str]]:
        for offset, page in self._pages.breaks(text) if self._pages else ():
            label = f'id="page-{page.label}" aria-label="{page.label}"'
            yield offset, f'<span epub:type="pagebreak" role="doc-pagebreak" {label}></span>'

    def _block(self, block: Block) -> str:
        match block:
            case Paragraph(text, quoted):
                paragraph = f"<p>{self.inline(text)}</p>"
                return f"<blockquote>{paragraph}</blockquote>" if quoted else paragraph
            case Figure(caption):
                return f"<figure><figcaption>{self.inline(caption)}</figcaption></figure>"
            case Listing(items, first):
                written = "".join(f"<li>{self.inline(item)}</li>\n" for item in items)
                return f"<ul>\n{written}</ul>" if first is None else f'<ol start="{first}">\n{written}</ol>'
            case Table(caption, (head, *rows)):
                body = "".join(f"<tr>{self._cells('td', row)}</tr>\n" for row in rows)
                title = f"<caption>{self.inline(caption)}</caption>\n" if caption else ""
                head_row = f"<thead><tr>{self._cells('th', head)}</tr></thead>\n"
                return f"<table>\n{title}{head_row}<tbody>\n{body}</tbody>\n</table>"
        raise TypeError(block)

    def _cells(self, tag: str, cells: Iterable[Text]) -> str:
        return "".join(f"<{tag}>{self.inline(cell)}</{tag}>" for cell in cells)

    def _reference(self, note: Note) -> str:
        kind = self._kind("noteref", "doc-noteref")
        return f'<a href="#note-{note.number}" id="mark-{note.number}"{kind}><sup>{note.number}</sup></a>'

    def _note(self, note: Note) -> str:
        back = f'<a href="#mark-{note.number}"{self._kind(None, "doc-backlink")}>{note.number}</a>'
        kind = self._kind("footnote", "doc-footnote")
        return f'<aside id="note-{note.number}"{kind}><p>{back} {self.inline(note.text)}</p></aside>'

    def _kind(self, epub_type: str | None, role: str | None) -> str:
        epub = f' epub:type="{epub_type}"' if self._pages and epub_type else ""
        return epub + (f' role="{role}"' if role else "")
