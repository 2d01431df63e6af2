"""The look of the slides: theme, masters and layouts."""

from __future__ import annotations

from package import OFFICE_RELATIONS

DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
NAMESPACES = (
    f'{DRAWING} xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{OFFICE_RELATIONS}"'
)
SLIDE_SIZE = 'cx="12192000" cy="6858000"'
Box = tuple[int, int, int, int]
TITLE_BOX: Box = (609600, 365125, 10972800, 914400)
BODY_BOX: Box = (609600, 1371600, 10972800, 5029200)
_COVER_TITLE: Box = (1219200, 2057400, 9753600, 1371600)
_COVER_TEXT: Box = (1219200, 3581400, 9753600, 1524000)

_GROUP = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
_COLOURS = {
    "dk1": "222222", "lt1": "FFFFFF", "dk2": "3B3A36", "lt2": "F4F1EA", "accent1": "8A6D3B", "accent2": "5F7A76",
    "accent3": "7A5F6A", "accent4": "5A6B8A", "accent5": "8A5A4A", "accent6": "6B7A4A", "hlink": "5A6B8A",
    "folHlink": "7A5F6A",
}  # fmt: skip


def transform(box: Box, namespace: str = "a") -> str:
    x, y, width, height = box
    place = f'<a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/>'
    return f"<{namespace}:xfrm>{place}</{namespace}:xfrm>"


def tree(shapes: str) -> str:
    """The content of a slide, layout or master."""
    return f"<p:cSld><p:spTree>{_GROUP}{shapes}</p:spTree></p:cSld>"


def placeholder(number: int, kind: str, paragraphs: str, box: Box | None = None, index: int | None = None) -> str:
    """A shape that takes its look from the master's shape of the same kind, and its place too where it has no box."""
    where = f"<p:spPr>{transform(box)}</p:spPr>" if box else "<p:spPr/>"
    at = "" if index is None else f' idx="{index}"'
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{kind} {number}"/><p:cNvSpPr/>'
        f'<p:nvPr><p:ph type="{kind}"{at}/></p:nvPr></p:nvSpPr>{where}'
        f"<p:txBody><a:bodyPr/><a:lstStyle/>{paragraphs}</p:txBody></p:sp>"
    )


_EMPTY = '<a:p><a:endParaRPr lang="en-GB"/></a:p>'
_COLOUR_MAP = (
    '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" '
    'accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>'
)


def _level(tag: str, size: int, alignment: str = "l") -> str:
    fill = '<a:solidFill><a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mn-lt"/>'
    space = '<a:spcBef><a:spcPts val="600"/></a:spcBef><a:buNone/>'
    return f'<a:{tag} marL="0" indent="0" algn="{alignment}">{space}<a:defRPr sz="{size}">{fill}</a:defRPr></a:{tag}>'


def theme() -> str:
    colours = "".join(f'<a:{name}><a:srgbClr val="{value}"/></a:{name}>' for name, value in _COLOURS.items())
    font = '<a:latin typeface="Georgia"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    line = f'<a:ln w="9525">{fill}</a:ln>'
    effect = "<a:effectStyle><a:effectLst/></a:effectStyle>"
    return (
        f'<a:theme {DRAWING} name="Harrow Vale"><a:themeElements>'
        f'<a:clrScheme name="Harrow Vale">{colours}</a:clrScheme><a:fontScheme name="Harrow Vale">'
        f"<a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>"
        f'<a:fmtScheme name="Harrow Vale"><a:fillStyleLst>{fill * 3}</a:fillStyleLst>'
        f"<a:lnStyleLst>{line * 3}</a:lnStyleLst><a:effectStyleLst>{effect * 3}</a:effectStyleLst>"
        f"<a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
    )


def slide_image(box: Box | None = None) -> str:
    """The picture of the slide above its notes."""
    where = f'{transform(box)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom>' if box else ""
    return (
        '<p:sp><p:nvSpPr><p:cNvPr id="2" name="Slide image 2"/>'
        '<p:cNvSpPr><a:spLocks noGrp="1" noRot="1" noChangeAspect="1"/></p:cNvSpPr>'
        f'<p:nvPr><p:ph type="sldImg"/></p:nvPr></p:nvSpPr><p:spPr>{where}</p:spPr></p:sp>'
    )


def slide_master(layouts: int) -> str:
    shapes = placeholder(2, "title", _EMPTY, TITLE_BOX) + placeholder(3, "body", _EMPTY, BODY_BOX, 1)
    ids = "".join(f'<p:sldLayoutId id="{2147483649 + index}" r:id="rId{index + 1}"/>' for index in range(layouts))
    styles = (
        f"<p:titleStyle>{_level('lvl1pPr', 3200)}</p:titleStyle><p:bodyStyle>{_level('lvl1pPr', 2000)}</p:bodyStyle>"
        f"<p:otherStyle>{_level('lvl1pPr', 1800)}</p:otherStyle>"
    )
    return (
        f"<p:sldMaster {NAMESPACES}>{tree(shapes)}{_COLOUR_MAP}<p:sldLayoutIdLst>{ids}</p:sldLayoutIdLst>"
        f"<p:txStyles>{styles}</p:txStyles></p:sldMaster>"
    )


def layouts() -> list[str]:
    """Cover (1), text (2) and table (3)."""
    cover = placeholder(2, "ctrTitle", _EMPTY, _COVER_TITLE) + placeholder(3, "subTitle", _EMPTY, _COVER_TEXT, 1)
    text = placeholder(2, "title", _EMPTY) + placeholder(3, "body", _EMPTY, index=1)
    shapes = (("title", "Cover", cover), ("tx", "Text", text), ("titleOnly", "Table", placeholder(2, "title", _EMPTY)))
    return [
        f'<p:sldLayout {NAMESPACES} type="{kind}">{tree(inside).replace("<p:cSld>", f"""<p:cSld name="{name}">""")}'
        "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>"
        for kind, name, inside in shapes
    ]


def notes_master() -> str:
    shapes = slide_image((685800, 1143000, 5486400, 3086100)) + placeholder(
        3, "body", _EMPTY, (685800, 4400550, 5486400, 3600450), 1
    )
    style = f"<p:notesStyle>{_level('lvl1pPr', 1200)}</p:notesStyle>"
    return f"<p:notesMaster {NAMESPACES}>{tree(shapes)}{_COLOUR_MAP}{style}</p:notesMaster>"
