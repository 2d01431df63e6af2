"""Cohere, through version 2 of its API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chapterverse.protocols import Embedded, EmbeddingUsage
from chapterverse.providers import catalog
from chapterverse.providers.failures import UNREADABLE, Failure, Provider, retry_after
from chapterverse.providers.remote import Access, Job, Remote

if TYPE_CHECKING:
    from cohere import AsyncClientV2, EmbedByTypeResponse


class CohereEmbedder(Remote["AsyncClientV2", "EmbedByTypeResponse"]):
    provider = Provider("cohere", "Cohere", ("COHERE_API_KEY", "CO_API_KEY"))
    models = catalog.COHERE
    package = "cohere"
    extra = "cohere"
    base_url_variable = "CO_API_URL"

    def _connect(self, access: Access) -> AsyncClientV2:
        import cohere

        return cohere.AsyncClientV2(
            api_key=access.key,
            base_url=access.base_url,
            timeout=access.timeout,
            max_retries=0,
            log_warning_experimental_features=False,
        )

    async def _request(self, client: AsyncClientV2, job: Job) -> EmbedByTypeResponse:
        more: dict[str, Any] = {"output_dimension": job.dimensions} if job.dimensions else {}
        return await client.embed(
            model=job.card.name,
            texts=list(job.texts),
            input_type=job.card.input_types.of(job.input_type),
            embedding_types=["float"],
            truncate="NONE",  # an error is better than a vector of half a text
            **more,
        )

    def _read(self, answer: EmbedByTypeResponse) -> Embedded:
        vectors = np.asarray(answer.embeddings.float_, dtype=np.float32)
        billed = answer.meta.billed_units if answer.meta else None
        tokens = int(billed.input_tokens) if billed and billed.input_tokens else 0
        return Embedded(vectors, EmbeddingUsage(tokens, 1, None))

    def _failure(self, error: Exception) -> Failure | None:
        import httpx
        from cohere.core.api_error import ApiError
        from cohere.core.parse_error import ParsingError

        if isinstance(error, ApiError | ParsingError):
            body = error.body
            message = body.get("message") if isinstance(body, dict) else body
            return Failure(str(message or ""), error.status_code, retry_after(error.headers))
        if isinstance(error, httpx.TimeoutException):
            return Failure("it did not answer in time")
        if isinstance(error, httpx.TransportError):
            return Failure(str(error))
        if isinstance(error, TypeError):  # how the SDK trips over JSON of another shape
            return UNREADABLE
        return None

    async def _close(self, client: AsyncClientV2) -> None:
        await client.__aexit__(None, None, None)  # type: ignore[no-untyped-call]
