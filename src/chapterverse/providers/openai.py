"""OpenAI, and the services that speak its protocol: OpenRouter, Perplexity, and any server at a `base_url`."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from chapterverse.protocols import Embedded, EmbeddingUsage, Vectors
from chapterverse.providers import catalog
from chapterverse.providers.failures import Failure, Provider, retry_after
from chapterverse.providers.remote import Access, Job, Remote

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class OpenAIEmbedder(Remote["AsyncOpenAI", bytes]):
    provider = Provider("openai", "OpenAI", ("OPENAI_API_KEY",))
    models = catalog.OPENAI
    package = "openai"
    extra = "openai"
    base_url_variable = "OPENAI_BASE_URL"
    serves_anywhere = True
    home: ClassVar[str] = "https://api.openai.com/v1"
    encoding: ClassVar[Literal["float", "base64", "base64_int8"]] = "base64"

    def _may_enter(self, access: Access) -> bool:
        # Servers of one's own that speak this protocol often ask for no key.
        return access.key is not None or access.base_url is not None

    def _connect(self, access: Access) -> AsyncOpenAI:
        import openai

        return openai.AsyncOpenAI(
            api_key=access.key or "none",
            base_url=access.base_url or self.home,
            timeout=access.timeout,
            max_retries=0,
        )

    async def _request(self, client: AsyncOpenAI, job: Job) -> bytes:
        # The SDK knows neither every encoding nor every field, and decodes what it does not know to garbage.
        extra: dict[str, Any] = {"encoding_format": self.encoding}
        if word := job.card.input_types.of(job.input_type):
            extra["input_type"] = word
        if job.dimensions:
            extra["dimensions"] = job.dimensions
        response = await client.embeddings.with_raw_response.create(
            input=job.prefixed, model=job.card.name, extra_body=extra
        )
        return response.content

    def _read(self, answer: bytes) -> Embedded:
        body = json.loads(answer)
        rows = sorted(body["data"], key=lambda row: row["index"])
        return Embedded(_stacked([self._vector(row["embedding"]) for row in rows]), _usage(body.get("usage") or {}))

    def _vector(self, value: str | list[float]) -> Vectors:
        if isinstance(value, str):
            kind = np.int8 if self.encoding == "base64_int8" else np.dtype("<f4")
            return np.frombuffer(base64.b64decode(value, validate=True), dtype=kind).astype(np.float32)
        return np.asarray(value, dtype=np.float32)

    def _failure(self, error: Exception) -> Failure | None:
        import openai

        if isinstance(error, openai.APIStatusError):
            spent = error.code == "insufficient_quota"
            return Failure(_said(error), error.status_code, retry_after(error.response.headers), quota_spent=spent)
        if isinstance(error, openai.APITimeoutError):
            return Failure("it did not answer in time")
        if isinstance(error, openai.APIConnectionError):
            return Failure(str(error.__cause__ or error))
        return None

    async def _close(self, client: AsyncOpenAI) -> None:
        await client.close()


class OpenRouterEmbedder(OpenAIEmbedder):
    provider = Provider("openrouter", "OpenRouter", ("OPENROUTER_API_KEY",))
    models = catalog.OPENROUTER
    base_url_variable = ""
    serves_anywhere = False
    home = "https://openrouter.ai/api/v1"
    encoding = "float"  # not every provider behind it knows base64


class PerplexityEmbedder(OpenAIEmbedder):
    provider = Provider("perplexity", "Perplexity", ("PERPLEXITY_API_KEY", "PPLX_API_KEY"))
    models = catalog.PERPLEXITY
    base_url_variable = ""
    serves_anywhere = False
    home = "https://api.perplexity.ai/v1"
    encoding = "base64_int8"


def _stacked(rows: list[Vectors]) -> Vectors:
    return np.stack(rows) if rows else np.empty((0, 0), dtype=np.float32)


def _usage(usage: dict[str, Any]) -> EmbeddingUsage:
    """Perplexity and OpenRouter say what they charged, each in its own way."""
    cost = usage.get("cost")
    charged = cost.get("total_cost") if isinstance(cost, dict) else cost
    tokens = usage.get("total_tokens") or usage.get("prompt_tokens") or 0
    return EmbeddingUsage(int(tokens), 1, None if charged is None else float(charged))


def _said(error: Any) -> str:
    body = error.body
    if isinstance(body, dict):
        return str(body.get("message") or body.get("detail") or body)
    return str(body or error.message)
