"""The seams of Chapterverse: what a part must offer to stand in for another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias

from chapterverse.types import (
    Document,
    Entry,
    Filter,
    Hit,
    IndexRecord,
    IndexStats,
    Notice,
    Point,
    Reading,
    SourceItem,
    SourceRecord,
    SparseVector,
    Support,
)

if TYPE_CHECKING:  # numpy takes a while to import, and the command line must not wait for it
    import numpy as np
    import numpy.typing as npt


class Source(Protocol):
    """A place that books come from: a folder, a web site, a Drive folder."""

    notices: list[Notice]
    """What was left out, and why; complete once all items have been listed and fetched."""
    unseen: set[str]
    """What of that is there but could not be looked at: ids of files, and of folders with all that is below them.

    "" stands for the whole source: more is there than could be listed, and it is not known what.
    """

    def items(self) -> Iterator[SourceItem]:
        """Every file on offer, in a deterministic order; raises `AstRagSourceError` if they cannot be listed."""
        ...

    def fetch(self, item: SourceItem) -> bytes:
        """The bytes of one file; raises `UnreadableFileError` if they cannot be had."""
        ...


class Store(Protocol):
    """A place that indexes are kept. Every index has one current generation; readers see it whole."""

    async def indexes(self) -> list[str]:
        """The ids of all indexes, in alphabetical order."""
        ...

    async def record(self, index: str) -> IndexRecord:
        """What an index says of itself; raises `AstRagIndexError` if it is unknown, corrupt or of another schema."""
        ...

    async def reader(self, index: str) -> IndexReader:
        """The current generation of an index, held until the reader is closed."""
        ...

    async def create(self, record: IndexRecord, *, replace: bool = True) -> Writer:
        """A writer for a whole new index; on commit it takes the place of the one with the same id, if there is one.

        Without `replace`, an index of that id is an error.
        """
        ...

    async def update(self, index: str) -> Writer:
        """A writer for the next generation of an index, which starts as the current one."""
        ...

    async def delete(self, index: str) -> None:
        """Remove an index and everything in it, or what an unfinished build has left of one."""
        ...

    async def share(self) -> None:
        """Let other processes of this machine work through this one, where they could not work beside it."""
        ...

    async def close(self) -> None:
        """Let go of everything; what was committed stays."""
        ...


class IndexReader(Protocol):
    """One generation of one index; what is written meanwhile stays unseen."""

    @property
    def record(self) -> IndexRecord: ...

    async def search_dense(self, vector: Sequence[float], where: Filter | None, limit: int) -> list[Hit]:
        """The nearest points, best first, each with its cosine; `entries` has what they hold."""
        ...

    async def search_lexical(self, terms: SparseVector, where: Filter | None, limit: int) -> list[Hit]:
        """The points that share a term with the query, best first, each with its BM25."""
        ...

    async def score_dense(self, vector: Sequence[float], points: Sequence[str]) -> dict[str, float]:
        """The cosines of points that another search found."""
        ...

    async def score_lexical(self, terms: SparseVector, points: Sequence[str]) -> dict[str, float]:
        """The same with their BM25; those that share no term with the query are left out."""
        ...

    async def entries(self, points: Sequence[str]) -> dict[str, Entry]:
        """The entries of points that this reader's searches found, in this order; a point that is gone is left out."""
        ...

    async def count(self, where: Filter | None = None) -> int:
        """How many chunks a filter lets through."""
        ...

    async def fetch(self, chunk_ids: Sequence[str]) -> list[Entry]:
        """The entries of these chunks, in this order; a chunk that is not there is left out."""
        ...

    async def window(self, file_id: str, first: int, last: int) -> list[Entry]:
        """The entries of a file whose ordinals lie in `first…last`, in order."""
        ...

    def points(self, where: Filter | None = None) -> AsyncIterator[Point]:
        """Every entry with its vectors, in no particular order."""
        ...

    async def document(self, file_id: str) -> Document:
        """A whole document; raises `AstRagIndexError` if the index does not hold it."""
        ...

    async def sources(self) -> list[SourceRecord]:
        """The files that the index holds, by file id."""
        ...

    async def stats(self) -> IndexStats: ...

    async def close(self) -> None: ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Writer(Protocol):
    """The next generation of an index: nobody sees any of it before `commit`, everybody all of it after."""

    @property
    def record(self) -> IndexRecord:
        """What the index says of itself in the generation that was started from."""
        ...

    async def put(self, points: Sequence[Point]) -> None:
        """Add points; one whose chunk is already there takes its place."""
        ...

    async def put_document(self, document: Document, source: SourceRecord) -> None:
        """Add a document, or replace it; its chunks are not touched."""
        ...

    async def remove(self, *, file_ids: Sequence[str] = (), chunk_ids: Sequence[str] = ()) -> None:
        """Take out whole files (document and chunks), or single chunks, of the generation that was started from."""
        ...

    def points(self) -> AsyncIterator[Point]:
        """Every chunk of this generation as far as it is written, in no particular order.

        One that is put meanwhile may come once more.
        """
        ...

    async def commit(self, record: IndexRecord) -> None:
        """Make the new generation the current one, in one step, with this record."""
        ...

    async def abort(self) -> None:
        """Forget all that was written; does nothing after a commit."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Aborts unless committed."""
        ...


InputType = Literal["document", "query"]
Vectors: TypeAlias = "npt.NDArray[np.float32]"
"""One row for each text."""


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """What embedding took: tokens and requests, and US dollars, which are None where nobody knows the price."""

    tokens: int = 0
    requests: int = 0
    cost: float | None = 0.0

    def __add__(self, other: EmbeddingUsage) -> EmbeddingUsage:
        known = self.cost is not None and other.cost is not None
        cost = (self.cost or 0.0) + (other.cost or 0.0) if known else None
        return EmbeddingUsage(self.tokens + other.tokens, self.requests + other.requests, cost)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors, in the order of their texts, and what they took."""

    vectors: Vectors
    usage: EmbeddingUsage


@dataclass(frozen=True, slots=True)
class Forms:
    """How a model is told what a text is; empty where it makes no difference between the two."""

    document: str = ""
    query: str = ""

    def of(self, input_type: InputType) -> str:
        return self.query if input_type == "query" else self.document


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What an embedding model takes, gives and costs."""

    name: str
    dimensions: int | None
    """None if only its vectors tell."""
    allowed_dimensions: range | tuple[int, ...] = ()
    """What may be asked for instead of `dimensions`."""
    max_tokens: int | None = None
    """The longest text; None if there is no limit."""
    max_batch: int = 64
    """The most texts in one request."""
    max_request_tokens: int | None = None
    price: float | None = None
    """US dollars for a million tokens; 0 if it costs nothing, None if nobody knows."""
    input_types: Forms = Forms()
    """Words for a field of the request."""
    prefixes: Forms = Forms()
    """Text to be put in front."""
    vector_weight: float | None = None
    """What its cosines count for in a hybrid search, words counting for the rest; None if that was never measured."""
    licence: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an embedder offers."""

    models: tuple[ModelCard, ...]
    """The first is the default."""
    options: tuple[str, ...] = ()
    """The provider options that it understands, besides `dimensions`."""
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold its key; the first that is set counts."""
    base_url_variable: str = ""
    """The environment variable that may hold its address."""
    takes_other_models: bool = False
    serves_anywhere: bool = False
    """Whether a `base_url` may lead to servers of anybody, with models that only they know."""
    """Whether a model that is not listed may be used, given its `dimensions`."""
    keeps: bool = False
    """Whether its vectors are worth keeping: they cost money, and equal texts always get equal ones."""
    concurrency: int = 1
    """How many requests may be under way at once."""


class Embedder(Protocol):
    """Turns texts into vectors, one request at a time; batches, retries, checks and norms are the caller's."""

    async def embed(
        self,
        texts: Sequence[str],
        input_type: InputType,
        model: str,
        auth: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> Embedded:
        """One vector for each text; raises an `AstRagError` that says whether trying again may help."""
        ...

    def capabilities(self) -> Capabilities: ...

    def validate_config(self, model: str, auth: Mapping[str, str], options: Mapping[str, Any]) -> None:
        """Raise what `embed` would raise for this configuration, without sending anything."""
        ...

    async def close(self) -> None:
        """Let go of connections that belong to the running event loop."""
        ...


class Reader(Protocol):
    """The model that knows what a passage answers, and what it does not. Deterministic, and safe to share."""

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        """What each passage says to the question, in their order; read `whole`, not a word is skipped."""
        ...

    def supports(self, claim: str, passages: Sequence[str]) -> list[Support]:
        """How far each passage bears out the claim, in their order; what is added by the way is forgiven."""
        ...

    def strictly(self, claim: str, passages: Sequence[str]) -> list[float]:
        """The probability that each passage bears out all of the claim, in their order."""
        ...
