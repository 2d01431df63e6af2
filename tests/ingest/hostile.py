"""Broken and hostile files that no honest library would write, and honest files in the scripts of the world."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tests.ingest import epubs, office
from tests.ingest.office_docx import docx, p
from tests.ingest.office_pptx import pptx, slide, title

MEGABYTE = 1 << 20

WORD = docx(p("The Tower", "Heading1") + p("The clock strikes."))
SLIDES = pptx(slide(title("The Tower")), slide(title("The Clock")))
CHAPTERS = {
    "one.xhtml": "<h1>The Tower</h1><p>The clock strikes.</p>",
    "two.xhtml": "<h1>The Bell</h1><p>It rings.</p>",
}
CONTENTS = epubs.nav('<li><a href="one.xhtml">The Tower</a></li><li><a href="two.xhtml">The Bell</a></li>')
BOOK = epubs.epub(CHAPTERS, CONTENTS)


# --- zip files --------------------------------------------------------------------------------------------------------


class Member(NamedTuple):
    """A part of a zip as it is written, with the size that the zip claims for it."""

    name: str
    packed: bytes
    size: int
    crc: int = 0
    method: int = zipfile.ZIP_DEFLATED
    aliases: tuple[str, ...] = ()
    """Other names in the directory for the same bytes."""


def zip_of(members: Iterable[Member]) -> bytes:
    """A zip file, of which nothing is checked."""
    out, directory, count = bytearray(), bytearray(), 0
    for member in members:
        start = len(out)
        for name in (member.name.encode(), *(alias.encode() for alias in member.aliases)):
            head = struct.pack(
                "<5H3I2H", 20, 0, member.method, 0, 33, member.crc, len(member.packed), member.size, len(name), 0
            )
            if len(out) == start:
                out += b"PK\3\4" + head + name + member.packed
            directory += b"PK\1\2" + struct.pack("<H", 20) + head + struct.pack("<3H2I", 0, 0, 0, 0, start) + name
            count += 1
    end = b"PK\5\6" + struct.pack("<4H2IH", 0, 0, count, count, len(directory), len(out), 0)
    return bytes(out + directory + end)


def blanks(megabytes: int) -> bytes:
    """So many megabytes of blanks, deflated: one block over and over, since a full flush forgets what was before."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = deflater.compress(b" " * MEGABYTE) + deflater.flush(zlib.Z_FULL_FLUSH)
    return block * megabytes + b"\x03\0"


def with_member(data: bytes, added: Member) -> bytes:
    """A zip with one part added, or put in another's place."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {name: source.read(name) for name in source.namelist() if name != added.name}
    kept = (Member(name, part, len(part), zlib.crc32(part), zipfile.ZIP_STORED) for name, part in parts.items())
    return zip_of([*kept, added])


def bomb(data: bytes, part: str, megabytes: int = 600) -> bytes:
    """A small zip with a large part."""
    return with_member(data, Member(part, blanks(megabytes), megabytes * MEGABYTE))


def lying_bomb(data: bytes, part: str) -> bytes:
    """A zip with a large part that is said to be small."""
    return with_member(data, Member(part, blanks(600), 1000))


def overlapping_bomb(data: bytes) -> bytes:
    """A zip with many parts that are all the same bytes."""
    aliases = tuple(f"copy{number}" for number in range(40))
    return with_member(data, Member("kernel", blanks(16), 16 * MEGABYTE, aliases=aliases))


def crowded(data: bytes, count: int = 60_000) -> bytes:
    """A zip with more parts than any book has."""
    return with_member(data, Member("a", b"", 0, 0, zipfile.ZIP_STORED, tuple(f"part{n}" for n in range(count))))


def with_stray(data: bytes, name: str) -> bytes:
    """A zip with a part whose name leads out of it."""
    return with_member(data, Member(name, b"#!", 2, zlib.crc32(b"#!"), zipfile.ZIP_STORED))


def locked(data: bytes, part: str) -> bytes:
    """A zip with one part marked as encrypted."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        header = source.getinfo(part).header_offset
    locked = bytearray(data)
    directory = locked.rindex(b"PK\1\2", 0, locked.rindex(part.encode()))
    locked[header + 6] |= 1
    locked[directory + 8] |= 1
    return bytes(locked)


# --- XML --------------------------------------------------------------------------------------------------------------

DEEP = "<x>" * 50_000 + "</x>" * 50_000


def in_main(data: bytes, content: str | bytes) -> bytes:
    """An Office file with other content in its main part."""
    main = "word/document.xml" if data is WORD else "ppt/presentation.xml"
    return office.with_part(data, main, content)


def main_part(data: bytes) -> str:
    return office.part(data, "word/document.xml" if data is WORD else "ppt/presentation.xml")


def laughs(root: str) -> str:
    """A billion laughs that are laughed: in an attribute, where no parser can put them off."""
    declared, _, rest = office.billion_laughs(root).partition("]>")
    opening, _, content = rest.partition(">")
    return f'{declared}]>{opening} laugh="&l9;">{content}'


def book(changes: Mapping[str, str | bytes | None], contents: str = CONTENTS) -> bytes:
    """The book with documents put in the place of others, or taken away."""
    parts = epubs.parts(CHAPTERS, contents)
    for name, content in changes.items():
        part = f"OEBPS/{name}"
        if content is None:
            del parts[part]
        else:
            parts[part] = content.encode() if isinstance(content, str) else content
    return epubs.pack(parts)


def document_type(entities: str, body: str) -> str:
    return f'<?xml version="1.0"?><!DOCTYPE html [{entities}]><html><body>{body}</body></html>'


def book_with_many_gaps(count: int = 20_000) -> bytes:
    """A book of whose documents nearly all are missing."""
    documents = {**CHAPTERS, **{f"gap{number}.xhtml": "" for number in range(count)}}
    parts = epubs.parts(documents, CONTENTS)
    return epubs.pack({name: part for name, part in parts.items() if "gap" not in name})
