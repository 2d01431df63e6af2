"""Builds DOCX files out of paragraphs, tables, notes and boxes, and reads them back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from chapterverse.types import Document
from tests.ingest.office import archive, core, package_relations, relations, xml
from tests.ingest.reading import blocks, parse


def r(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def p(content: str = "", style: str = "", properties: str = "") -> str:
    """A paragraph of plain text, or of runs when the content is markup."""
    inner = content if content.startswith("<") else r(content) if content else ""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{inner}</w:p>"


def numbered(number: int, level: int | None = 0) -> str:
    depth = "" if level is None else f'<w:ilvl w:val="{level}"/>'
    return f'<w:numPr>{depth}<w:numId w:val="{number}"/></w:numPr>'


def style(
    style_id: str, name: str, based_on: str = "", paragraph: str = "", run: str = "", kind: str = "paragraph"
) -> str:
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    default = ' w:default="1"' if style_id == "Normal" else ""
    return (
        f'<w:style w:type="{kind}" w:styleId="{style_id}"{default}><w:name w:val="{name}"/>{base}'
        f"<w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
    )


STYLES = "".join(
    [
        style("Normal", "Normal"),
        style("Heading1", "heading 1", "Normal", '<w:outlineLvl w:val="0"/>'),
        style("Heading2", "heading 2", "Heading1", '<w:outlineLvl w:val="1"/>'),
        style("Title", "Title", "Normal"),
        style("Subtitle", "Subtitle", "Title"),
        style("Caption", "caption", "Normal"),
        style("Quote", "Quote", "Normal"),
        style("Code", "Source Code", "Normal"),
        style("TOC1", "toc 1", "Normal"),
    ]
)


def level(index: int, form: str, text: str, start: int = 1, more: str = "") -> str:
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbering(lists: Mapping[int, str], numbers: Mapping[int, tuple[int, str]]) -> str:
    """Lists by id, each its levels; numbers by id, each the list it counts in and its overrides."""
    definitions = "".join(
        f'<w:abstractNum w:abstractNumId="{key}">{levels}</w:abstractNum>' for key, levels in lists.items()
    )
    uses = "".join(
        f'<w:num w:numId="{key}"><w:abstractNumId w:val="{target}"/>{overrides}</w:num>'
        for key, (target, overrides) in numbers.items()
    )
    return definitions + uses


def docx(
    body: str,
    *,
    styles: str | None = STYLES,
    core_properties: str = core(),
    related: Mapping[str, tuple[str, str]] | None = None,
    parts: Mapping[str, str | bytes] | None = None,
    **stories: str,
) -> bytes:
    """A DOCX file; `stories` are the contents of numbering, footnotes, endnotes and settings."""
    roots = {"numbering": "w:numbering", "footnotes": "w:footnotes", "endnotes": "w:endnotes", "settings": "w:settings"}
    contents = {name: xml(roots[name], content) for name, content in stories.items()}
    if styles is not None:
        contents["styles"] = xml("w:styles", styles)
    known = {name: (name, f"{name}.xml") for name in contents}
    return archive(
        {
            "_rels/.rels": package_relations("word/document.xml"),
            "docProps/core.xml": core_properties,
            "word/document.xml": xml("w:document", f"<w:body>{body}</w:body>"),
            "word/_rels/document.xml.rels": relations({**known, **(related or {})}),
            **{f"word/{name}.xml": content for name, content in contents.items()},
            **(parts or {}),
        }
    )


def note(note_id: int, content: str, kind: str = "footnote") -> str:
    mark = f"<w:r><w:{kind}Ref/></w:r>"
    return f'<w:{kind} w:id="{note_id}"><w:p>{mark}{r(" " + content)}</w:p></w:{kind}>'


def reference(note_id: int, kind: str = "footnote") -> str:
    return f'<w:r><w:{kind}Reference w:id="{note_id}"/></w:r>'


def tbl(*rows: str) -> str:
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(rows)}</w:tbl>"


def tr(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def tc(content: str = "", properties: str = "") -> str:
    inner = content if content.startswith(("<w:p>", "<w:tbl>")) else p(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def field(code: str, result: str) -> str:
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    instruction = f'<w:r><w:instrText xml:space="preserve"> {escape(code)} </w:instrText></w:r>'
    return mark("begin") + instruction + mark("separate") + result + mark("end")


def text_box(content: str) -> str:
    """A text box as Word writes it: DrawingML, and the same again in VML for older programs."""
    return (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor>'
        '<wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="Box"/><a:graphic>'
        '<a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp>'
        f"<wps:txbx><w:txbxContent>{content}</w:txbxContent></wps:txbx><wps:bodyPr/></wps:wsp></a:graphicData></a:graphic>"
        "</wp:anchor></w:drawing></mc:Choice><mc:Fallback>"
        f"{vml_box(content)}</mc:Fallback></mc:AlternateContent></w:r>"
    )


def vml_box(content: str) -> str:
    return "<w:pict><v:shape><v:textbox><w:txbxContent>" + content + "</w:txbxContent></v:textbox></v:shape></w:pict>"


def graphic(inner: str) -> str:
    """A chart or diagram in the text."""
    data = f"<a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic>"
    return f"<w:r><w:drawing><wp:inline>{data}</wp:inline></w:drawing></w:r>"


def document(body: str, **more: Any) -> Document:
    """What is read from a document with this body."""
    return parse(docx(body, **more), "book.docx")


def read(body: str, **more: Any) -> list[tuple[str, str]]:
    return blocks(document(body, **more))


def paragraphs(*texts: str) -> list[tuple[str, str]]:
    return [("paragraph", text) for text in texts]
