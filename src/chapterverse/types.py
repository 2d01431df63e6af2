"""The nouns of Chapterverse: frozen records that every module passes along, with no behaviour but looking things up.

A `Document` is one canonical text. Everything that is ever said about a book is a slice of it: a `Block` is a
paragraph, heading or table; a `Chunk` is what is indexed; a `Place` is the chapter and verse of a slice.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from chapterverse.errors import AstRagValidationError

BlockKind = Literal["heading", "paragraph", "list", "table", "caption", "code", "quote", "footnote", "notes"]


@dataclass(frozen=True, slots=True)
class Page:
    """A page's number in the file (from 1) and the label printed on it ("iv", "45"); each is None when unknown."""

    number: int | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class PageStart:
    """The offset in the document's text at which a page begins."""

    start: int
    page: Page


@dataclass(frozen=True, slots=True)
class Block:
    """A run of the text with one role and one place in the outline; blocks are ordered and never overlap."""

    start: int
    end: int
    kind: BlockKind
    headings: tuple[str, ...] = ()
    """The outline path in force, chapter first; a heading block's own text is the last entry."""
    slide: int | None = None
    cfi: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Chapter and verse of a slice of a document."""

    headings: tuple[str, ...] = ()
    first_page: Page | None = None
    last_page: Page | None = None
    slide: int | None = None
    cfi: str | None = None

    @property
    def chapter(self) -> str | None:
        return self.headings[0] if self.headings else None

    @property
    def section(self) -> str | None:
        return self.headings[-1] if len(self.headings) > 1 else None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a user should know about a file that was read, or left out: never raised, always reported."""

    file_id: str
    file_name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """One file as canonical text, with the blocks and page starts that place every character of it."""

    file_id: str
    file_name: str
    mime_type: str
    sha256: str
    """Of the file's bytes, so that a citation can be checked against the original."""
    title: str
    text: str
    blocks: tuple[Block, ...]
    pages: tuple[PageStart, ...] = ()
    author: str | None = None
    language: str | None = None
    source_url: str | None = None
    modified_time: str | None = None
    page_count: int | None = None
    notices: tuple[Notice, ...] = ()

    def page_at(self, offset: int) -> Page | None:
        """The page that the character at `offset` stands on."""
        found = bisect_right(self.pages, offset, key=lambda mark: mark.start)
        return self.pages[found - 1].page if found else None

    def block_index(self, offset: int) -> int:
        """The index of the block that holds `offset`, or of the nearest one before it."""
        return max(bisect_right(self.blocks, offset, key=lambda block: block.start) - 1, 0)

    def place(self, start: int, end: int) -> Place:
        """Chapter and verse of `text[start:end]`: the outline at its start, and the pages it runs over."""
        block = self.blocks[self.block_index(start)]
        return Place(
            headings=block.headings,
            first_page=self.page_at(start),
            last_page=self.page_at(max(start, end - 1)),
            slide=block.slide,
            cfi=block.cfi,
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document that is indexed and quoted: `document.text[start:end] == text`, always."""

    id: str
    file_id: str
    start: int
    end: int
    text: str
    place: Place
    sections: tuple[str, ...] = ()
    """Every heading in force somewhere in the chunk, so that a filter finds a chunk that spans two sections."""


@dataclass(frozen=True, slots=True)
class Chunking:
    """How long chunks are, in characters. Invalid settings are refused here, so that nothing else checks them."""

    size: int = 1200
    overlap: int = 200
    minimum: int = 200

    def __post_init__(self) -> None:
        for name, value in (("size", self.size), ("overlap", self.overlap), ("minimum", self.minimum)):
            if type(value) is not int:
                raise AstRagValidationError(f"Chunking {name} must be a whole number of characters, not {value!r}.")
        if self.size < 200:
            raise AstRagValidationError(f"Chunking size is {self.size}; it must be at least 200 characters.")
        if not 0 <= self.overlap < self.size:
            raise AstRagValidationError(f"Chunking overlap is {self.overlap}; it must be 0 to {self.size - 1}.")
        if not 0 <= self.minimum <= self.size:
            raise AstRagValidationError(f"Chunking minimum is {self.minimum}; it must be 0 to {self.size}.")


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file that a source offers, before it is fetched."""

    file_id: str
    file_name: str
    size: int | None = None
    modified_time: str | None = None
    url: str | None = None
    mime_type: str | None = None
    """What the source says; the content decides."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read: a password for encrypted ones, and the limits that keep a hostile one harmless."""

    password: str | None = field(default=None, repr=False)
    max_pages: int = 20_000
    max_seconds: float = 60.0
    max_cpu_seconds: int = 20
    max_memory_mb: int = 1536
    max_unpacked_mb: int = 512


def to_dict(record: Any) -> dict[str, Any]:
    """A record as plain JSON-ready dictionaries and lists."""
    return dataclasses.asdict(record)


def document_from_dict(data: Mapping[str, Any]) -> Document:
    """The inverse of `to_dict` for a document."""
    fields = dict(data)
    fields["blocks"] = tuple(Block(**{**b, "headings": tuple(b["headings"])}) for b in data["blocks"])
    fields["pages"] = tuple(PageStart(p["start"], Page(**p["page"])) for p in data["pages"])
    fields["notices"] = tuple(Notice(**n) for n in data["notices"])
    return Document(**fields)


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
    average_length: float = 100.0
    """Words per chunk, fixed when the index is built: BM25 weights are relative to it."""


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
    """An entry that a search found, with its raw score: a cosine or a BM25."""

    entry: Entry
    score: float
    dense: Sequence[float] | None = None


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
    read_until: int | None = None
    """Nothing that stands after this page, or whose page is unknown."""
    slides: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class IndexStats:
    """How much an index holds; `size_bytes` is None where the store cannot tell."""

    chunks: int
    sources: int
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """Characters of a passage, and how strongly they are meant, from 0 to 1."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What one passage says to a question."""

    relevance: float
    """How much the passage bears on the question, answered or not."""
    answerable: float
    """Calibrated probability that the passage holds the answer."""
    spans: tuple[AnswerSpan, ...] = ()
    """Where the answer is, best first; empty where the passage was not worth reading to its end."""
    evidence: tuple[AnswerSpan, ...] = ()
    """The sentences that bear on the question, best first."""
    cited: tuple[AnswerSpan, ...] = ()
    """The part of the evidence to quote: the best sentence, and every other that is strong enough."""


@dataclass(frozen=True, slots=True)
class Support:
    """How far one passage bears out a claim, and the sentence that says so best."""

    probability: float
    start: int
    end: int


SentenceKind = Literal["quote", "statement", "notice"]
"""The book's own words; a model's words that the book bears out; one of our fixed phrases."""

Status = Literal["ok", "partial", "conflict", "refused", "needs_clarification"]

Reason = Literal[
    "empty_question",
    "out_of_scope",
    "no_matches",
    "below_threshold",
    "answer_absent",
    "not_supported",
    "selection_lacks_answer",
]
"""Why nothing was answered."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What an answer may rest on, under the id it is offered by (`S1`…): a slice of a document, or a selection."""

    id: str
    text: str
    start: int = 0
    """Where the text begins in its document; 0 for a selection."""
    entry: Entry | None = None
    """The indexed chunk it was found by; None for a selection."""
    vector_score: float | None = None
    lexical_score: float | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence as a generator wrote it, with the passages it cites and the words in them that it rests on."""

    text: str
    citations: tuple[str, ...] = ()
    quote: str = ""
    kind: SentenceKind = "statement"


@dataclass(frozen=True, slots=True)
class Citation:
    """Chapter and verse of one quote, with everything that is needed to check it again."""

    id: str
    chunk_id: str | None
    quote: str
    start: int
    """Offsets of the quote in the document's text, or in the selection."""
    end: int
    snippet: str
    """The passage around the quote."""
    place: Place
    title: str | None = None
    file_id: str | None = None
    file_name: str | None = None
    mime_type: str | None = None
    source_url: str | None = None
    sha256: str | None = None
    """Of the document's bytes; of the selection's text for a selection."""
    score: float = 0.0
    vector_score: float | None = None
    lexical_score: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence that passed the gate; `citations` are indexes into the answer's citations."""

    text: str
    kind: SentenceKind
    citations: tuple[int, ...] = ()
    support: float = 1.0
    """The reader's calibrated probability that its evidence bears it out."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A sentence that did not pass the gate, and why."""

    code: str
    message: str
    sentence: str = ""
    citation: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was said to a question, and on what grounds. A refusal is an answer without citations."""

    question: str
    text: str
    status: Status
    reason: Reason | None
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    """What was offered; of a refusal, the nearest passages, which do not answer."""
    confidence: float
    retrieval_quality: Literal["Good", "Partial", "Poor"]
    timestamp: str
    issues: tuple[Issue, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each stage."""
