"""Builds PPTX files out of shapes, groups, tables and notes."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from tests.ingest.office import archive, core, package_relations, relations, xml


def ap(text: str, properties: str = "", attributes: str = "") -> str:
    inner = text if text.startswith("<") else f"<a:r><a:t>{escape(text)}</a:t></a:r>"
    return f"<a:p><a:pPr {attributes}>{properties}</a:pPr>{inner}</a:p>"


def frame(
    at: tuple[int, int] | None, size: tuple[int, int] = (100, 100), child_at: tuple[int, int] | None = None
) -> str:
    if at is None:
        return ""
    inner = (
        f'<a:chOff x="{child_at[0]}" y="{child_at[1]}"/><a:chExt cx="{size[0]}" cy="{size[1]}"/>' if child_at else ""
    )
    return f'<a:xfrm><a:off x="{at[0]}" y="{at[1]}"/><a:ext cx="{size[0]}" cy="{size[1]}"/>{inner}</a:xfrm>'


def sp(
    *paragraphs: str,
    at: tuple[int, int] | None = None,
    size: tuple[int, int] = (100, 100),
    placeholder: str = "",
    list_style: str = "",
    attributes: str = "",
    tag: str = "sp",
) -> str:
    """A shape with text; `placeholder` is the attributes of its `p:ph`."""
    mark = f"<p:ph {placeholder}/>" if placeholder else ""
    return (
        f'<p:{tag}><p:nvSpPr><p:cNvPr id="2" name="Shape" {attributes}/><p:cNvSpPr/><p:nvPr>{mark}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{frame(at, size)}</p:spPr><p:txBody><a:bodyPr/><a:lstStyle>{list_style}</a:lstStyle>"
        f"{''.join(paragraphs)}</p:txBody></p:{tag}>"
    )


def title(text: str, kind: str = "title") -> str:
    return sp(ap(text), placeholder=f'type="{kind}"')


def group(
    *shapes: str, at: tuple[int, int] | None, size: tuple[int, int] = (100, 100), child_at: tuple[int, int] = (0, 0)
) -> str:
    return (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="3" name="Group"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
        f"<p:grpSpPr>{frame(at, size, child_at)}</p:grpSpPr>{''.join(shapes)}</p:grpSp>"
    )


def graphic_frame(inner: str, at: tuple[int, int] = (0, 0)) -> str:
    position = frame(at).replace("a:xfrm", "p:xfrm")
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="Graphic"/><p:cNvGraphicFramePr/><p:nvPr/>'
        f"</p:nvGraphicFramePr>{position}<a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def cell(text: str = "", attributes: str = "") -> str:
    return f"<a:tc {attributes}><a:txBody><a:bodyPr/>{ap(text) if text else '<a:p/>'}</a:txBody><a:tcPr/></a:tc>"


def slide_table(*rows: list[str]) -> str:
    return "<a:tbl><a:tblGrid/>" + "".join(f"<a:tr>{''.join(row)}</a:tr>" for row in rows) + "</a:tbl>"


def slide(*shapes: str, attributes: str = "", root: str = "p:sld", more: str = "") -> str:
    tree = "<p:nvGrpSpPr/><p:grpSpPr/>" + "".join(shapes)
    return xml(root, f"<p:cSld><p:spTree>{tree}</p:spTree></p:cSld>{more}", attributes)


LAYOUT = slide(
    sp(placeholder='type="title"', at=(0, 0)),
    sp(placeholder='idx="1"', at=(0, 1000), size=(100, 1000)),
    sp(placeholder='type="subTitle" idx="2"', at=(0, 3000), list_style="<a:lvl1pPr><a:buNone/></a:lvl1pPr>"),
    root="p:sldLayout",
)
MASTER = slide(
    sp(ap("Click to edit"), placeholder='type="title"', at=(0, 0)),
    sp(ap("Click to edit"), placeholder='type="body" idx="1"', at=(0, 500), size=(100, 1000)),
    root="p:sldMaster",
    more="<p:txStyles><p:titleStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></p:titleStyle><p:bodyStyle><a:lvl1pPr>"
    '<a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="–"/></a:lvl2pPr></p:bodyStyle></p:txStyles>',
)


def pptx(
    *slides: str,
    order: list[int] | None = None,
    sections: Mapping[str, list[int]] | None = None,
    notes: Mapping[int, str] | None = None,
    related: Mapping[str, tuple[str, str]] | None = None,
    core_properties: str = core(),
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A PPTX file; `order` is the numbers of the slide parts as shown, `related` are relations of every slide."""
    shown = order or list(range(1, len(slides) + 1))
    listed = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in shown)
    grouped = "".join(
        f'<p14:section name={quoteattr(name)} id="{{0}}"><p14:sldIdLst>'
        + "".join(f'<p14:sldId id="{255 + number}"/>' for number in members)
        + "</p14:sldIdLst></p14:section>"
        for name, members in (sections or {}).items()
    )
    extension = (
        f'<p:extLst><p:ext uri="{{1}}"><p14:sectionLst>{grouped}</p14:sectionLst></p:ext></p:extLst>' if grouped else ""
    )
    files: dict[str, str | bytes] = {
        "_rels/.rels": package_relations("ppt/presentation.xml"),
        "docProps/core.xml": core_properties,
        "ppt/presentation.xml": xml("p:presentation", f"<p:sldIdLst>{listed}</p:sldIdLst>{extension}"),
        "ppt/_rels/presentation.xml.rels": relations(
            {f"rId{number}": ("slide", f"slides/slide{number}.xml") for number in shown}
        ),
        "ppt/slideLayouts/slideLayout1.xml": LAYOUT,
        "ppt/slideLayouts/_rels/slideLayout1.xml.rels": relations(
            {"rId1": ("slideMaster", "../slideMasters/slideMaster1.xml")}
        ),
        "ppt/slideMasters/slideMaster1.xml": MASTER,
    }
    for number, content in enumerate(slides, start=1):
        targets = {"layout": ("slideLayout", "../slideLayouts/slideLayout1.xml"), **(related or {})}
        if notes and number in notes:
            targets["notes"] = ("notesSlide", f"../notesSlides/notesSlide{number}.xml")
            files[f"ppt/notesSlides/notesSlide{number}.xml"] = notes[number]
        files[f"ppt/slides/slide{number}.xml"] = content
        files[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(targets)
    return archive({**files, **(parts or {})})
