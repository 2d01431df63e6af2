"""Zip files and XML from strangers: bombs, traversal, external entities and endless nesting are refused by name."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from typing import Any

from lxml import etree

from chapterverse.errors import UnreadableFileError

MAX_MEMBERS = 50_000


class Archive:
    """A zip file that has been looked over: names stay inside, and what is unpacked stays within `max_unpacked_mb`."""

    def __init__(self, data: bytes, max_unpacked_mb: int) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            members = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OverflowError) as error:
            raise UnreadableFileError(
                "damaged", "The file is damaged or cut off: its zip directory cannot be read.", cause=error
            ) from error
        if len(members) > MAX_MEMBERS:
            raise UnreadableFileError("bomb", f"The file holds {len(members):,} parts; {MAX_MEMBERS:,} are allowed.")
        self._room = max_unpacked_mb * 1024 * 1024
        if sum(member.file_size for member in members) > self._room:
            raise UnreadableFileError("bomb", f"The file unpacks to more than {max_unpacked_mb} MB.")
        for member in members:
            _refuse_escape(member.filename)
        self.names = {member.filename: member for member in members}

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def read(self, name: str) -> bytes:
        """One member's bytes; the sizes that the directory claims are not trusted."""
        member = self.names.get(name)
        if member is None:
            raise UnreadableFileError("damaged", f"The part {name!r} is missing from the file.")
        if member.flag_bits & 0x1:
            raise UnreadableFileError("encrypted", f"The part {name!r} is encrypted.")
        try:
            with self._zip.open(member) as stream:
                data = stream.read(self._room + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OSError) as error:
            raise UnreadableFileError("damaged", f"The part {name!r} is damaged.", cause=error) from error
        if len(data) > self._room:
            raise UnreadableFileError("bomb", f"The part {name!r} unpacks to more than is allowed.")
        self._room -= len(data)
        return data


def resolve(base: str, target: str) -> str:
    """The member name that a relative `target` inside the member `base` points to."""
    path = target.lstrip("/") if target.startswith("/") else posixpath.join(posixpath.dirname(base), target)
    return posixpath.normpath(path)


def parse_xml(data: bytes, name: str, recover: bool = False) -> etree._Element:
    """Parse XML without entities, network or endless nesting; `recover` forgives bad markup."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _refusal(data, name, str(error)) from error
    if root is None:
        raise _refusal(data, name, "there is none")
    document_type: Any = root.getroottree().docinfo.internalDTD  # whose entities the type stubs do not know
    if document_type is not None and document_type.entities():
        raise _declares_entities(name)
    return root


def _refusal(data: bytes, name: str, problem: str) -> UnreadableFileError:
    """Why XML cannot be parsed."""
    if b"<!ENTITY" in data.replace(b"\0", b""):  # without its zeros, UTF-16 reads as ASCII
        return _declares_entities(name)
    if "Excessive depth" in problem:
        problem = "it is nested too deeply, beyond the depth of any honest document"
    return UnreadableFileError("damaged", f"The part {name!r} is not valid XML: {problem}")


def _declares_entities(name: str) -> UnreadableFileError:
    return UnreadableFileError("entities", f"The part {name!r} declares XML entities, which are refused.")


def _refuse_escape(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or (len(name) > 1 and name[1] == ":"):
        raise UnreadableFileError("traversal", f"The file holds a part that points outside of it: {name[:80]!r}.")
