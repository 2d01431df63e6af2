"""The requests of the RAG surface, field by field. Keys may be camelCase or snake_case; any other key is an error.

Nothing has a default here: what a request does not say is looked up elsewhere first (see `settle.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from chapterverse.errors import AstRagValidationError
from chapterverse.library.terms import NO_TEXT, is_text

Auth = str | Mapping[str, Any] | None


class Section(BaseModel):
    """A part of a request. None means: not said."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        strict=True,
        frozen=True,
        hide_input_in_errors=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _supported(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        names = {to_camel(name): name for name in cls.model_fields}
        unknown = [key for key in given if key not in names and key not in cls.model_fields]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not supported; supported are {', '.join(names)}")
        twice = [camel for camel, name in names.items() if camel != name and camel in given and name in given]
        if twice:
            raise ValueError(f"{twice[0]!r} is given twice, once in snake_case")
        return given

    @model_validator(mode="after")
    def _readable(self) -> Self:
        for name, value in self:
            if not is_text(value):
                raise ValueError(f"{to_camel(name)!r}: {NO_TEXT}")
        return self


class Source(Section):
    folder_id: str
    include_subfolders: bool | None = None
    include_mime_types: Sequence[str] | None = None
    exclude_file_ids: Sequence[str] | None = None


class Index(Section):
    index_name: str | None = None
    destination_folder_id: str | None = None
    index_file_id: str | None = None


class ProviderOptions(Section):
    """What a query may say of embedding: its provider and model are those of the index."""

    provider_options: Mapping[str, Any] | None = None


class Embedding(ProviderOptions):
    provider: str | None = None
    model: str | None = None


class ChunkingSizes(Section):
    chunk_size_chars: int | None = None
    chunk_overlap_chars: int | None = None
    min_chunk_chars: int | None = None


class IngestionOptions(Section):
    max_files: Annotated[int, Field(ge=1)] | None = None
    max_chunks: Annotated[int, Field(ge=1)] | None = None
    skip_parse_failures: bool | None = None
    truncate: bool | None = None


class SyncOptions(IngestionOptions):
    dry_run: bool | None = None


class Rerank(Section):
    enabled: bool | None = None
    top_n: int | None = None


class Ranking(Section):
    """How to rank, which an index may have defaults for."""

    top_k: int | None = None
    min_score: float | None = None
    mode: str | None = None
    vector_weight: float | None = None
    lexical_weight: float | None = None
    rerank: Rerank | None = None


class Filters(Section):
    """Where to look. An empty list does not restrict."""

    file_ids: Sequence[str] | None = None
    mime_types: Sequence[str] | None = None
    source_urls: Sequence[str] | None = None
    chapters: Sequence[str] | None = None
    sections: Sequence[str] | None = None
    pages: Annotated[Sequence[int], Field(min_length=2, max_length=2)] | None = None
    """First and last."""
    page_labels: Sequence[str] | None = None
    read_until: int | None = None
    slides: Sequence[int] | None = None


class RetrievalSection(Ranking):
    filters: Filters | None = None


class Turn(Section):
    role: Literal["user", "assistant"]
    content: str


class GenerationOptions(Section):
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None


class GenerationSection(Section):
    provider: str | None = None
    model: str | None = None
    auth: Auth = None
    provider_options: Mapping[str, Any] | None = None
    options: GenerationOptions | None = None


class AnswerOptions(Section):
    require_citations: bool | None = None
    insufficient_evidence_message: str | None = None
    deadline_seconds: Annotated[float, Field(gt=0)] | None = None


class BuildRequest(Section):
    source: Source
    index: Index | None = None
    embedding: Embedding | None = None
    chunking: ChunkingSizes | None = None
    retrieval: Ranking | None = None
    """What the index keeps as its `retrievalDefaults`."""
    options: IngestionOptions | None = None
    auth: Auth = None


class SyncRequest(Section):
    index_file_id: str | None = None
    source: Source | None = None
    embedding: Embedding | None = None
    chunking: ChunkingSizes | None = None
    options: SyncOptions | None = None
    dry_run: bool | None = None
    auth: Auth = None

    @model_validator(mode="after")
    def _of_one_mind(self) -> Self:
        """A trial that was asked for is never carried out because it was called off elsewhere in the request."""
        said = {self.dry_run, self.options and self.options.dry_run}
        if said >= {True, False}:
            raise ValueError("'dryRun' and 'options.dryRun' contradict each other: leave one of them out")
        return self


class QueryRequest(RetrievalSection):
    """What searching and answering share. Fields of `retrieval` also stand at the top, as they did of old."""

    index_file_id: str | None = None
    retrieval: RetrievalSection | None = None
    auth: Auth = None
    embedding: ProviderOptions | None = None


class SearchRequest(QueryRequest):
    query: str


class AnswerRequest(QueryRequest):
    question: str
    history: Sequence[Turn] | None = None
    generation: GenerationSection | None = None
    options: AnswerOptions | None = None


class InspectRequest(Section):
    index_file_id: str | None = None


class ConfiguredOptions(IngestionOptions, AnswerOptions):
    """Options of any request."""


class Configuration(Section):
    """What `configure` keeps: the sections of all requests, to be used where a request does not say."""

    index_file_id: str | None = None
    embedding: Embedding | None = None
    chunking: ChunkingSizes | None = None
    retrieval: Ranking | None = None
    generation: GenerationSection | None = None
    options: ConfiguredOptions | None = None
    auth: Auth = None


S = TypeVar("S", bound=Section)


def parse(kind: type[S], request: Any) -> S:
    """A request that is well formed; otherwise `AstRagValidationError` names the field, and what it may be."""
    try:
        return kind.model_validate(request)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        # Not as its cause: the request may hold keys.
        raise AstRagValidationError(f"{field or 'request'}: {message}.", details={"field": field}) from None
