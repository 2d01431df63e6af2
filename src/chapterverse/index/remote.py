"""One collection on a Qdrant server, and the one place where the client's errors become ours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any, TypeVar

import httpx
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from chapterverse.errors import (
    AstRagAuthError,
    AstRagError,
    AstRagIndexError,
    RetrievalError,
    StoreUnreachableError,
)
from chapterverse.index.points import (
    DENSE,
    PAYLOAD_INDEXES,
    TERMS,
    Payload,
    RawPoint,
    Where,
    both,
    visible_in,
)
from chapterverse.retry import Retry
from chapterverse.types import Hit, SparseVector

T = TypeVar("T")

_BATCH = 64
_SCHEMAS = {"keyword": models.PayloadSchemaType.KEYWORD, "integer": models.PayloadSchemaType.INTEGER}
# A server in strict mode, as Qdrant's own cloud is, filters by nothing that has no index.
_INDEXES = {**PAYLOAD_INDEXES, "ordinal": "integer", "lease_token": "keyword", "lease_until": "integer"}


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """How a cluster spreads new collections over its nodes; None leaves it to the server."""

    shard_number: int | None = None
    replication_factor: int | None = None
    write_consistency_factor: int | None = None


class _VendorResponse(UnexpectedResponse):
    """Takes our constructor's message through to `Exception`: the vendor's constructor wants other arguments."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


class UnexpectedStoreResponse(RetrievalError, _VendorResponse):
    """The server answered with an error; callers may catch it as ours or as the vendor's."""

    def __init__(self, message: str, response: UnexpectedResponse) -> None:
        status = response.status_code or 0
        super().__init__(message, details={"status": status}, cause=response, retryable=_may_pass(response))
        self.status_code = response.status_code
        self.reason_phrase = response.reason_phrase
        self.content = response.content
        self.headers = response.headers


class Server:
    """A client with retries on what may pass (network, 5xx, rate limits), and typed errors for what does not."""

    def __init__(self, url: str, api_key: str | None, *, timeout: int, attempts: int) -> None:
        self.url = url
        self._retry = Retry(attempts, wait_max=2.0)
        # As a header: given as `api_key`, every plain-HTTP address inside a cluster would earn a warning.
        headers = {"api-key": api_key} if api_key else None
        self.client = AsyncQdrantClient(url=url, headers=headers, timeout=timeout, check_compatibility=False)

    async def call(self, operation: Callable[[], Awaitable[T]]) -> T:
        """The result of one request."""
        try:
            return await self._retry.run(operation, _may_pass)
        except (UnexpectedResponse, ResponseHandlingException, ResourceExhaustedResponse, JSONDecodeError) as error:
            raise _typed(error, self.url) from error


@dataclass(frozen=True, slots=True)
class RemoteCollection:
    """A `Collection` on a server. Reads always choose their generation: another replica may be writing."""

    server: Server
    name: str

    async def create(self, dimensions: int, cluster: ClusterSettings) -> None:
        client = self.server.client
        dense = models.VectorParams(size=dimensions, distance=models.Distance.COSINE, datatype=models.Datatype.FLOAT16)
        terms = models.SparseVectorParams(modifier=models.Modifier.IDF)
        await self.server.call(
            lambda: client.create_collection(
                self.name,
                vectors_config={DENSE: dense},
                sparse_vectors_config={TERMS: terms},
                shard_number=cluster.shard_number,
                replication_factor=cluster.replication_factor,
                write_consistency_factor=cluster.write_consistency_factor,
            )
        )

    async def make_filterable(self) -> None:
        """Index every field that a filter can name."""
        for field, schema in _INDEXES.items():
            await self._index(field, _SCHEMAS[schema])

    async def _index(self, field: str, schema: models.PayloadSchemaType) -> None:
        await self.server.call(lambda: self.server.client.create_payload_index(self.name, field, schema))

    async def drop(self) -> None:
        await self.server.call(lambda: self.server.client.delete_collection(self.name))

    async def upsert(self, points: Sequence[RawPoint]) -> None:
        for start in range(0, len(points), _BATCH):
            await self._upsert([_to_client(point) for point in points[start : start + _BATCH]])

    async def _upsert(self, batch: list[models.PointStruct]) -> None:
        await self.server.call(lambda: self.server.client.upsert(self.name, batch))

    async def set_payload(self, where: Where, payload: Mapping[str, Any]) -> None:
        await self.server.call(
            lambda: self.server.client.set_payload(self.name, dict(payload), points=_client_filter(where))
        )

    async def delete_payload(self, where: Where, keys: Sequence[str]) -> None:
        await self.server.call(lambda: self.server.client.delete_payload(self.name, keys, points=_client_filter(where)))

    async def delete(self, where: Where) -> None:
        selector = models.FilterSelector(filter=_client_filter(where))
        await self.server.call(lambda: self.server.client.delete(self.name, selector))

    async def query(
        self, generation: int, vector: Sequence[float] | SparseVector, where: Where, limit: int
    ) -> list[Hit]:
        found = await self.server.call(
            lambda: self.server.client.query_points(
                self.name,
                query=_to_client_vector(vector),
                using=TERMS if isinstance(vector, SparseVector) else DENSE,
                query_filter=_client_filter(both(where, visible_in(generation))),
                limit=limit,
                with_payload=False,
            )
        )
        return [Hit(str(point.id), point.score) for point in found.points]

    async def payloads(self, points: Sequence[str]) -> dict[str, Payload]:
        found = await self.server.call(lambda: self.server.client.retrieve(self.name, list(points)))
        return {str(point.id): point.payload or {} for point in found}

    async def scroll(
        self, generation: int, where: Where, limit: int, offset: str | None, fields: Sequence[str], with_vectors: bool
    ) -> tuple[list[RawPoint], str | None]:
        found, following = await self.server.call(
            lambda: self.server.client.scroll(
                self.name,
                scroll_filter=_client_filter(both(where, visible_in(generation))),
                limit=limit,
                offset=offset,
                with_payload=list(fields) or True,
                with_vectors=with_vectors,
            )
        )
        return [_from_client(point) for point in found], None if following is None else str(following)

    async def count(self, generation: int, where: Where) -> int:
        counted = await self.server.call(
            lambda: self.server.client.count(
                self.name, count_filter=_client_filter(both(where, visible_in(generation))), exact=True
            )
        )
        return counted.count

    async def size_bytes(self) -> None:
        """The server does not say."""


def _client_filter(where: Where) -> models.Filter:
    return models.Filter.model_validate(where)


def _to_client(point: RawPoint) -> models.PointStruct:
    vectors: dict[str, Any] = {}
    if point.dense is not None:
        vectors[DENSE] = _to_client_vector(point.dense)
    if point.terms is not None:
        vectors[TERMS] = _to_client_vector(point.terms)
    return models.PointStruct(id=point.id, vector=vectors, payload=point.payload)


def _to_client_vector(vector: Sequence[float] | SparseVector) -> list[float] | models.SparseVector:
    if isinstance(vector, SparseVector):
        return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
    return list(vector)


def _from_client(point: models.Record) -> RawPoint:
    vectors: dict[str, Any] = point.vector if isinstance(point.vector, dict) else {}
    terms = vectors.get(TERMS)
    return RawPoint(
        id=str(point.id),
        payload=point.payload or {},
        dense=vectors.get(DENSE),
        terms=SparseVector(tuple(terms.indices), tuple(terms.values)) if terms else None,
    )


def _may_pass(error: Exception) -> bool:
    if isinstance(error, UnexpectedResponse):
        return (error.status_code or 0) >= 500 or error.status_code == 429
    return isinstance(error, ResourceExhaustedResponse) or _is_unreachable(error)


def _is_unreachable(error: Exception) -> bool:
    return isinstance(error, ResponseHandlingException) and isinstance(error.source, httpx.TransportError)


def _typed(error: Exception, url: str) -> AstRagError:
    if isinstance(error, ResourceExhaustedResponse):
        message = f"The Qdrant server at {url} asks to wait {error.retry_after_s} s."
        return RetrievalError(message, details={"retry_after": error.retry_after_s}, cause=error)
    if _is_unreachable(error):
        message = f"No Qdrant server can be reached at {url} ({_why(error)}). Start it, or unset QDRANT_URL."
        return StoreUnreachableError(message, cause=error)
    if not isinstance(error, UnexpectedResponse):
        message = f"What answers at {url} does not seem to be a Qdrant server ({_why(error)})."
        return RetrievalError(message, cause=error, retryable=False)
    if error.status_code in (401, 403):
        message = f"The Qdrant server at {url} refuses the key: set QDRANT_API_KEY to one that it accepts."
        return AstRagAuthError(message, details={"status": error.status_code}, cause=error)
    if error.status_code == 404:
        message = f"The Qdrant server at {url} does not have this index (any more)."
        return AstRagIndexError(message, details={"reason": "unknown"}, cause=error)
    message = f"The Qdrant server at {url} answered {error.status_code} {error.reason_phrase}{_in_its_words(error)}."
    return UnexpectedStoreResponse(message, error)


def _in_its_words(error: UnexpectedResponse) -> str:
    """What the server says about its answer, if it does."""
    try:
        return f" ({error.structured()['status']['error']})"
    except (ValueError, TypeError, KeyError):
        return ""


def _why(error: Exception) -> str:
    source = error.source if isinstance(error, ResponseHandlingException) else error
    return str(source) or type(source).__name__
