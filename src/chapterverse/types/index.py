"""What an index holds and says of itself, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import le
from typing import Any

from chapterverse.errors import AstRagValidationError
from chapterverse.types.documents import Chunk


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids, ascending, and their weights."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """What an index was embedded with; its queries must be embedded with the same."""

    provider: str
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """What an index says of itself. Its sources are stored beside it, one record per file."""

    id: str
    name: str
    embedding: EmbeddingModel
    created_at: str
    updated_at: str
    chunking: Mapping[str, Any] = field(default_factory=dict)
    retrieval_defaults: Mapping[str, Any] = field(default_factory=dict)
    source_config: Mapping[str, Any] = field(default_factory=dict)
    sync: Mapping[str, Any] = field(default_factory=dict)
    profile: Mapping[str, Any] = field(default_factory=dict)
    """What the index is about, for deciding that a question is not."""
    calibration: Mapping[str, Any] = field(default_factory=dict)
    """From where an answer counts as present, as questions about these books have shown; empty: the reader's own."""
    average_length: float = 100.0
    """Words per chunk that all BM25 weights are relative to: near the true mean, and made anew when that moves away."""
    words: int | None = None
    """Of all chunks together; None where they were never counted."""


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A file that an index holds."""

    source_id: str
    file_id: str
    file_name: str
    mime_type: str
    fingerprint: str
    """Of the file's bytes: a file whose fingerprint is unchanged is not read again."""
    chunk_count: int
    title: str
    modified_time: str | None = None
    source_url: str | None = None
    page_count: int | None = None
    outline: tuple[tuple[str, ...], ...] = ()
    """Every heading path of the document, chapter first."""


def source_from_dict(data: Mapping[str, Any]) -> SourceRecord:
    """The inverse of `to_dict` for a source record."""
    return SourceRecord(**{**data, "outline": tuple(tuple(path) for path in data.get("outline", ()))})


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk as the index holds it: with what a citation of it must say, and its number among its file's chunks."""

    chunk: Chunk
    ordinal: int
    file_name: str
    title: str
    mime_type: str
    sha256: str
    embedded: str
    """Hash of the text that its vector was made from: an equal one need not be embedded again."""
    source_url: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """An entry with its two vectors."""

    entry: Entry
    dense: Sequence[float]
    terms: SparseVector


@dataclass(frozen=True, slots=True)
class Hit:
    """What a search found, with its raw score: a cosine or a BM25."""

    point: str
    """The store's own name for an entry, for this reader alone."""
    score: float


_ENDLESS = 10**15
"""No file has so many pages; far higher numbers are none that an engine can compare."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Where to look. Conditions all hold at once; one that is None does not restrict, an empty one matches nothing."""

    chunk_ids: tuple[str, ...] | None = None
    file_ids: tuple[str, ...] | None = None
    mime_types: tuple[str, ...] | None = None
    source_urls: tuple[str, ...] | None = None
    chapters: tuple[str, ...] | None = None
    sections: tuple[str, ...] | None = None
    """Any heading in force somewhere in the chunk."""
    pages: tuple[int, int] | None = None
    """First and last page, both included; a chunk on any of them matches."""
    page_labels: tuple[str, ...] | None = None
    """As citations name pages: by what is printed on them, or else by their numbers in the file."""
    read_until: int | None = None
    """Nothing that stands after this page of the file, or whose page is unknown; a chunk begun by then matches."""
    slides: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.read_until is not None and (type(self.read_until) is not int or self.read_until < 1):
            raise AstRagValidationError(f"read_until is {self.read_until!r}; it must be a page of the file, 1 or more.")
        for name in _NAMES:
            if not _all(str, getattr(self, name)):
                raise AstRagValidationError(f"filters.{name} is {getattr(self, name)!r}; it must be a list of texts.")
        if not _all(int, self.slides):
            raise AstRagValidationError(f"filters.slides is {self.slides!r}; it must be a list of numbers.")
        if self.pages is not None and not (_all(int, self.pages) and len(self.pages) == 2 and le(*self.pages)):
            raise AstRagValidationError(
                f"filters.pages is {self.pages!r}; it must be two numbers, the first page and the last, in that order."
            )
        if any(abs(page) >= _ENDLESS for page in (self.read_until or 0, *(self.pages or ()))):
            raise AstRagValidationError("filters: a page among them has more digits than that of any file.")
        for name in ("file_ids", "source_urls", "chapters", "sections"):
            if not all(one.strip() for one in getattr(self, name) or ()):
                raise AstRagValidationError(f"filters.{name}: a name among them is blank; write it, or leave it out.")


_NAMES = ("chunk_ids", "file_ids", "mime_types", "source_urls", "chapters", "sections", "page_labels")


def _all(kind: type, values: object) -> bool:
    """Whether these are a list of such values, or None. A text is no list of texts, nor is a truth a number."""
    return values is None or (isinstance(values, list | tuple) and all(type(one) is kind for one in values))


@dataclass(frozen=True, slots=True)
class IndexStats:
    """How much an index holds; `size_bytes` is None where the store cannot tell."""

    chunks: int
    sources: int
    size_bytes: int | None
