"""Binds slides: every section's full sentences under its title, tables as tables, footnotes in the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import escape, quoteattr

import pptx_masters as masters
from manuscript import Block, Book, Chapter, Figure, Listing, Note, Paragraph, Span, Table, Text, texts
from package import OfficeFile

_FULL = 1100
"""Characters on a slide after which the next paragraph goes to a new one."""

_FIRST_SLIDE_ID = 256
_COVER, _TEXT, _TABLE = 1, 2, 3
_MASTER, _NOTES_MASTER = "ppt/slideMasters/slideMaster1.xml", "ppt/notesMasters/notesMaster1.xml"
_TABLE_STYLE = "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}"  # PowerPoint's own "Medium Style 2"
_EMU_PER_ROW = 400000


@dataclass(frozen=True)
class _Slide:
    layout: int
    title: Text
    blocks: tuple[Block, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(note for block in self.blocks for text in texts(block) for note in text.notes)


def bind(book: Book) -> bytes:
    file = OfficeFile(book.title, book.author)
    sections = [(chapter.title.plain, list(_slides(chapter))) for chapter in book.parts]
    slides = [slide for _, inside in sections for slide in inside]
    _add_masters(file)
    names = []
    for number, slide in enumerate(slides, 1):
        names.append(f"ppt/slides/slide{number}.xml")
        _add_slide(file, slide, names[-1], f"ppt/notesSlides/notesSlide{number}.xml")
    relations = [
        ("slideMaster", _MASTER),
        ("notesMaster", _NOTES_MASTER),
        ("theme", "ppt/theme/theme1.xml"),
        ("tableStyles", "ppt/tableStyles.xml"),
    ]
    sizes = [(name, len(inside)) for name, inside in sections]
    presentation = _presentation(sizes, first_relation=len(relations) + 1)
    relations += [("slide", name) for name in names]
    file.add_main("ppt/presentation.xml", "presentationml.presentation.main", presentation, relations)
    return file.pack()


def _slides(chapter: Chapter) -> Iterator[_Slide]:
    """A cover, then each section. The title page's lines stand on its cover."""
    if chapter.title.plain.startswith("Chapter"):
        yield _Slide(_COVER, chapter.title)
        yield from _section_slides(chapter.title, chapter.blocks)
    else:
        yield _Slide(_COVER, chapter.title, chapter.blocks)
    for section in chapter.sections:
        yield from _section_slides(section.title, section.blocks)


def _section_slides(title: Text, blocks: Iterable[Block]) -> Iterator[_Slide]:
    """Whole paragraphs only: a sentence is never torn between slides."""
    gathered: list[Block] = []
    for block in blocks:
        size = sum(len(text.plain) for each in (*gathered, block) for text in texts(each))
        if gathered and (isinstance(block, Table) or size > _FULL):
            yield _Slide(_TEXT, title, tuple(gathered))
            gathered = []
        if isinstance(block, Table):
            yield _Slide(_TABLE, title, (block,))
        else:
            gathered.append(block)
    if gathered:
        yield _Slide(_TEXT, title, tuple(gathered))


def _add_masters(file: OfficeFile) -> None:
    layouts = masters.layouts()
    names = [f"ppt/slideLayouts/slideLayout{number}.xml" for number in range(1, len(layouts) + 1)]
    for name, layout in zip(names, layouts, strict=True):
        file.add(name, "presentationml.slideLayout", layout, [("slideMaster", _MASTER)])
    for number in (1, 2):
        file.add(f"ppt/theme/theme{number}.xml", "theme", masters.theme())
    relations = [*(("slideLayout", name) for name in names), ("theme", "ppt/theme/theme1.xml")]
    file.add(_MASTER, "presentationml.slideMaster", masters.slide_master(len(layouts)), relations)
    notes_relations = [("theme", "ppt/theme/theme2.xml")]
    file.add(_NOTES_MASTER, "presentationml.notesMaster", masters.notes_master(), notes_relations)
    styles = f'<a:tblStyleLst {masters.DRAWING} def="{_TABLE_STYLE}"/>'
    file.add("ppt/tableStyles.xml", "presentationml.tableStyles", styles)


def _add_slide(file: OfficeFile, slide: _Slide, name: str, notes_name: str) -> None:
    relations = [("slideLayout", f"ppt/slideLayouts/slideLayout{slide.layout}.xml")]
    if slide.notes:
        relations.append(("notesSlide", notes_name))
        notes_relations = [("notesMaster", _NOTES_MASTER), ("slide", name)]
        file.add(notes_name, "presentationml.notesSlide", _notes(slide.notes), notes_relations)
    title = _paragraph(slide.title)
    if slide.layout == _COVER:
        lines = "".join(_paragraph(text) for block in slide.blocks for text in texts(block))
        shapes = masters.placeholder(2, "ctrTitle", title)
        shapes += masters.placeholder(3, "subTitle", lines, index=1) if lines else ""
    elif isinstance(table := slide.blocks[0], Table):
        shapes = masters.placeholder(2, "title", title) + _table(table)
    else:
        body = "".join(paragraph for block in slide.blocks for paragraph in _paragraphs(block))
        shapes = masters.placeholder(2, "title", title) + masters.placeholder(3, "body", body, index=1)
    mapping = "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>"
    file.add(name, "presentationml.slide", _part("sld", masters.tree(shapes) + mapping), relations)


def _part(tag: str, inside: str) -> str:
    return f"<p:{tag} {masters.NAMESPACES}>{inside}</p:{tag}>"


def _paragraphs(block: Block) -> Iterator[str]:
    match block:
        case Listing(items, first):
            mark = '<a:buChar char="–"/>' if first is None else f'<a:buAutoNum type="arabicPeriod" startAt="{first}"/>'
            for item in items:
                yield _paragraph(item, f'<a:pPr marL="457200" indent="-342900">{mark}</a:pPr>')
        case Paragraph(text, quoted):
            yield _paragraph(text, '<a:pPr marL="457200" marR="457200"/>' if quoted else "")
        case Figure(caption):
            yield _paragraph(caption, italic=True)
        case Table():
            raise TypeError("a table has a slide of its own")


def _paragraph(text: Text, properties: str = "", italic: bool = False) -> str:
    runs = ""
    for span in text.spans:
        look = ' b="1"' if span.strong else ""
        look += ' i="1"' if span.emphasis != italic else ""
        look += ' baseline="30000"' if span.note else ""
        written = str(span.note.number) if span.note else escape(span.text)
        runs += f'<a:r><a:rPr lang="en-GB"{look}/><a:t>{written}</a:t></a:r>'
    return f"<a:p>{properties}{runs}</a:p>"


def _table(table: Table) -> str:
    """A real table in a frame, its caption in a box above."""
    x, y, width, _ = masters.BODY_BOX
    column = width // len(table.rows[0])
    grid = f'<a:gridCol w="{column}"/>' * len(table.rows[0])
    rows = ""
    for row in table.rows:
        cells = "".join(
            f"<a:tc><a:txBody><a:bodyPr/><a:lstStyle/>{_paragraph(cell)}</a:txBody><a:tcPr/></a:tc>" for cell in row
        )
        rows += f'<a:tr h="{_EMU_PER_ROW}">{cells}</a:tr>'
    look = f'<a:tblPr firstRow="1" bandRow="1"><a:tableStyleId>{_TABLE_STYLE}</a:tableStyleId></a:tblPr>'
    place = masters.transform((x, y + 640080, width, _EMU_PER_ROW * len(table.rows)), "p")
    frame = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="Table 4"/><p:cNvGraphicFramePr/><p:nvPr/>'
        f"</p:nvGraphicFramePr>{place}<a:graphic>"
        '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table">'
        f"<a:tbl>{look}<a:tblGrid>{grid}</a:tblGrid>{rows}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
    return (_caption(table.caption, (x, y, width, 548640)) if table.caption else "") + frame


def _caption(caption: Text, box: masters.Box) -> str:
    return (
        '<p:sp><p:nvSpPr><p:cNvPr id="3" name="Caption 3"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr>'
        f'<p:spPr>{masters.transform(box)}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>'
        f'<p:txBody><a:bodyPr wrap="square"/><a:lstStyle/>{_paragraph(caption, italic=True)}</p:txBody></p:sp>'
    )


def _notes(notes: Iterable[Note]) -> str:
    numbered = (Text((Span(f"{note.number}. "), *note.text.spans)) for note in notes)
    lines = "".join(map(_paragraph, numbered))
    mapping = "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>"
    return _part(
        "notes", masters.tree(masters.slide_image() + masters.placeholder(3, "body", lines, index=1)) + mapping
    )


def _presentation(sections: Iterable[tuple[str, int]], first_relation: int) -> str:
    """Slides in order, and the chapters as PowerPoint's sections (name, number of slides)."""
    slide_ids = ""
    groups = ""
    count = 0
    for name, size in sections:
        inside = ""
        for index in range(count, count + size):
            slide_ids += f'<p:sldId id="{_FIRST_SLIDE_ID + index}" r:id="rId{first_relation + index}"/>'
            inside += f'<p14:sldId id="{_FIRST_SLIDE_ID + index}"/>'
        count += size
        identity = f"{{{str(uuid5(NAMESPACE_URL, name)).upper()}}}"
        groups += (
            f'<p14:section name={quoteattr(name)} id="{identity}"><p14:sldIdLst>{inside}</p14:sldIdLst></p14:section>'
        )
    office_2010 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
    extension = (
        '<p:extLst><p:ext uri="{521415D9-36F7-43E2-AB2F-B90AF26B5E84}">'
        f'<p14:sectionLst xmlns:p14="{office_2010}">{groups}</p14:sectionLst></p:ext></p:extLst>'
    )
    return _part(
        "presentation",
        '<p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst>'
        '<p:notesMasterIdLst><p:notesMasterId r:id="rId2"/></p:notesMasterIdLst>'
        f'<p:sldIdLst>{slide_ids}</p:sldIdLst><p:sldSz {masters.SLIDE_SIZE}/><p:notesSz cx="6858000" cy="9144000"/>'
        + extension,
    )
