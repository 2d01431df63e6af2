"""The look of the Word document: its paragraph, character, table and list styles."""

from __future__ import annotations

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _style(name: str, paragraph: str = "", run: str = "", based_on: str = "Normal") -> str:
    """A paragraph style; its id is its name without spaces."""
    identity = "".join(word[0].upper() + word[1:] for word in name.split())
    base = f'<w:basedOn w:val="{based_on}"/>' if identity != based_on else ""
    default = ' w:default="1"' if identity == "Normal" else ""
    return (
        f'<w:style w:type="paragraph"{default} w:styleId="{identity}"><w:name w:val="{name}"/>{base}<w:qFormat/>'
        f"<w:pPr>{paragraph}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
    )


def _size(points: float) -> str:
    return f'<w:sz w:val="{points * 2:.0f}"/>'


def _space(before: int, after: int) -> str:
    return f'<w:spacing w:before="{before * 20}" w:after="{after * 20}"/>'


_DEFAULTS = (
    '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Times New Roman" w:hAnsi="Times New Roman" '
    'w:cs="Times New Roman"/><w:sz w:val="23"/><w:lang w:val="en-GB"/></w:rPr></w:rPrDefault>'
    '<w:pPrDefault><w:pPr><w:spacing w:after="0" w:line="288" w:lineRule="auto"/></w:pPr></w:pPrDefault>'
    "</w:docDefaults>"
)

_CENTER = '<w:jc w:val="center"/>'

_TABLE_GRID = (
    '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:tblPr><w:tblBorders>'
    + "".join(
        f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="888888"/>'
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    + '</w:tblBorders><w:tblCellMar><w:left w:w="80" w:type="dxa"/><w:right w:w="80" w:type="dxa"/></w:tblCellMar>'
    '</w:tblPr><w:tblStylePr w:type="firstRow"><w:rPr><w:b/></w:rPr></w:tblStylePr></w:style>'
)

STYLES = "".join(
    (
        _DEFAULTS,
        _style("Normal"),
        _style("Title", _space(120, 24) + _CENTER, _size(26)),
        _style("Subtitle", _space(0, 18) + _CENTER, _size(13)),
        _style(
            "heading 1", "<w:keepNext/><w:pageBreakBefore/>" + _space(48, 12) + '<w:outlineLvl w:val="0"/>', _size(20)
        ),
        _style("heading 2", "<w:keepNext/>" + _space(16, 6) + '<w:outlineLvl w:val="1"/>', "<w:b/>" + _size(13)),
        _style("Body Text", _space(0, 6) + '<w:jc w:val="both"/>'),
        _style("Quote", _space(4, 8) + '<w:ind w:left="400" w:right="400"/>'),
        _style("List Paragraph", _space(0, 2)),
        _style("caption", _space(8, 8), "<w:i/>" + _size(10)),
        _style("Table Text", "", _size(9.5)),
        _style("footnote text", "", _size(9)),
        '<w:style w:type="character" w:styleId="FootnoteReference"><w:name w:val="footnote reference"/>'
        '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>',
        _TABLE_GRID,
    )
)


def _abstract_list(number: int, kind: str, marker: str) -> str:
    return (
        f'<w:abstractNum w:abstractNumId="{number}"><w:multiLevelType w:val="singleLevel"/><w:lvl w:ilvl="0">'
        f'<w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{marker}"/><w:lvlJc w:val="left"/>'
        '<w:pPr><w:ind w:left="560" w:hanging="280"/></w:pPr></w:lvl></w:abstractNum>'
    )


NUMBERING_HEAD = _abstract_list(0, "bullet", "–") + _abstract_list(1, "decimal", "%1.")
