"""Builds Office files part by part, so that each feature of the format is exactly what a test says it is."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

TRANSITIONAL = "http://schemas.openxmlformats.org/"
STRICT = "http://purl.oclc.org/ooxml/"
OFFICE = f"{TRANSITIONAL}officeDocument/2006/"
NAMESPACES = {
    "w": f"{TRANSITIONAL}wordprocessingml/2006/main",
    "p": f"{TRANSITIONAL}presentationml/2006/main",
    "a": f"{TRANSITIONAL}drawingml/2006/main",
    "c": f"{TRANSITIONAL}drawingml/2006/chart",
    "dgm": f"{TRANSITIONAL}drawingml/2006/diagram",
    "m": f"{OFFICE}math",
    "r": f"{OFFICE}relationships",
    "mc": f"{TRANSITIONAL}markup-compatibility/2006",
    "wp": f"{TRANSITIONAL}drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "wpg": "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup",
    "v": "urn:schemas-microsoft-com:vml",
    "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
    "p14": "http://schemas.microsoft.com/office/powerpoint/2010/main",
    "dc": "http://purl.org/dc/elements/1.1/",
    "cp": f"{TRANSITIONAL}package/2006/metadata/core-properties",
}
_DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
_HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CONTENT_TYPES = {
    "word/document.xml": "wordprocessingml.document.main",
    "word/styles.xml": "wordprocessingml.styles",
    "word/numbering.xml": "wordprocessingml.numbering",
    "word/footnotes.xml": "wordprocessingml.footnotes",
    "word/endnotes.xml": "wordprocessingml.endnotes",
    "word/settings.xml": "wordprocessingml.settings",
    "ppt/presentation.xml": "presentationml.presentation.main",
    "ppt/slides/": "presentationml.slide",
    "ppt/slideLayouts/": "presentationml.slideLayout",
    "ppt/slideMasters/": "presentationml.slideMaster",
    "ppt/notesSlides/": "presentationml.notesSlide",
}
OLE = bytes.fromhex("D0CF11E0A1B11AE1")


def xml(root: str, content: str = "", attributes: str = "") -> str:
    """A part whose root declares every namespace that the fixtures use."""
    return f"{_HEADER}<{root} {_DECLARED} {attributes}>{content}</{root}>"


def strict(part: str) -> str:
    """The same part in the Strict vocabulary."""
    for folder in ("wordprocessingml", "presentationml", "drawingml", "officeDocument"):
        part = part.replace(f"{TRANSITIONAL}{folder}/2006/", f"{STRICT}{folder}/")
    return part


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """The relations of a part: id → (kind, target)."""
    items = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE}relationships/{kind}" Target={quoteattr(target)}/>'
        for key, (kind, target) in targets.items()
    )
    return f'{_HEADER}<Relationships xmlns="{TRANSITIONAL}package/2006/relationships">{items}</Relationships>'


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip of these parts, with content types for those that need one."""
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>'
        for name in parts
        for start, kind in _CONTENT_TYPES.items()
        if name.startswith(start) and not name.endswith(".rels")
    )
    types = (
        f'{_HEADER}<Types xmlns="{TRANSITIONAL}package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in {"[Content_Types].xml": types, **parts}.items():
            file.writestr(name, content)
    return target.getvalue()


def package_relations(main: str) -> str:
    """The relations of the package itself."""
    listed = relations({"rId1": ("officeDocument", main), "rId2": ("metadata/core-properties", "docProps/core.xml")})
    return listed.replace(f"{OFFICE}relationships/metadata", f"{TRANSITIONAL}package/2006/relationships/metadata")


def core(title: str = "", author: str = "", language: str = "") -> str:
    return xml(
        "cp:coreProperties",
        f"<dc:title>{escape(title)}</dc:title><dc:creator>{escape(author)}</dc:creator>"
        f"<dc:language>{escape(language)}</dc:language>",
    )


def cache(kind: str, values: Mapping[int, str], code: str = "") -> str:
    points = "".join(f'<c:pt idx="{index}"><c:v>{escape(text)}</c:v></c:pt>' for index, text in values.items())
    form = f"<c:formatCode>{escape(code)}</c:formatCode>" if code else ""
    return f"<c:{kind}Ref><c:{kind}Cache>{form}{points}</c:{kind}Cache></c:{kind}Ref>"


def series(name: str, categories: str, values: str, of: tuple[str, str] = ("cat", "val")) -> str:
    return (
        f"<c:ser><c:tx>{cache('str', {0: name})}</c:tx><c:{of[0]}>{categories}</c:{of[0]}>"
        f"<c:{of[1]}>{values}</c:{of[1]}></c:ser>"
    )


def chart(title: str, *all_series: str, axis: str = "") -> str:
    return xml(
        "c:chartSpace",
        f"<c:chart>{_chart_title(title)}<c:plotArea><c:barChart>{''.join(all_series)}</c:barChart>"
        f"<c:catAx>{_chart_title(axis)}</c:catAx></c:plotArea></c:chart>",
    )


def _chart_title(text: str) -> str:
    if not text:
        return ""
    return f"<c:title><c:tx><c:rich><a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p></c:rich></c:tx></c:title>"


def diagram(points: Mapping[str, tuple[str, str]], links: list[tuple[str, str, int]]) -> str:
    """SmartArt data: id → (type, text), and links (parent, child, order)."""
    listed = "".join(
        f'<dgm:pt modelId="{key}" type="{kind}"><dgm:t><a:bodyPr/><a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>'
        "</dgm:t></dgm:pt>"
        for key, (kind, text) in points.items()
    )
    linked = "".join(
        f'<dgm:cxn modelId="{parent}{target}" srcId="{parent}" destId="{target}" srcOrd="{order}"/>'
        for parent, target, order in links
    )
    return xml("dgm:dataModel", f"<dgm:ptLst>{listed}</dgm:ptLst><dgm:cxnLst>{linked}</dgm:cxnLst>")


def encrypted() -> bytes:
    """The outside of a package behind a password: an OLE file whose directory names the encrypted stream."""
    return OLE + bytes(504) + "EncryptionInfo".encode("utf-16-le") + bytes(36) + "EncryptedPackage".encode("utf-16-le")


def before_2007() -> bytes:
    return OLE + bytes(504) + "WordDocument".encode("utf-16-le")


def part(data: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        return source.read(name).decode()


def with_part(data: bytes, name: str, content: str | bytes | None) -> bytes:
    """The same file with one part put in another's place, or taken away."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for item in source.namelist():
            if item != name:
                file.writestr(item, source.read(item))
        if content is not None:
            file.writestr(name, content)
    return target.getvalue()


def external_entity(root: str) -> str:
    return f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>{_without_header(root)}'


def billion_laughs(root: str) -> str:
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    return f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]>{_without_header(root)}'


def _without_header(part: str) -> str:
    return part.split("?>", 1)[1]
