"""Gemini, through its own API and through Vertex AI."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx2
import numpy as np
from pydantic import ValidationError

from chapterverse.protocols import Embedded, EmbeddingUsage
from chapterverse.providers import catalog
from chapterverse.providers.failures import UNREADABLE, Failure, Provider, retry_after
from chapterverse.providers.remote import Access, Job, Remote
from chapterverse.providers.settings import environment

if TYPE_CHECKING:
    from google.genai import Client, types


@dataclass(frozen=True, slots=True)
class Session:
    """A client of the SDK with the connections that were made for it: without them it picks a library by itself."""

    client: Client
    http: httpx2.AsyncClient


class GeminiEmbedder(Remote[Session, "types.EmbedContentResponse"]):
    provider = Provider("gemini", "Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"))
    models = catalog.GEMINI
    package = "google.genai"
    extra = "gemini"
    base_url_variable = "GOOGLE_GEMINI_BASE_URL"

    def _connect(self, access: Access) -> Session:
        return self._session(access, vertexai=False, api_key=access.key)

    def _session(self, access: Access, **settings: Any) -> Session:
        from google.genai import Client, types

        http = httpx2.AsyncClient(timeout=access.timeout, follow_redirects=True)
        options = types.HttpOptions(
            base_url=access.base_url,
            timeout=round(access.timeout * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            httpx_async_client=http,
        )
        return Session(Client(http_options=options, **settings), http)

    async def _request(self, session: Session, job: Job) -> types.EmbedContentResponse:
        from google.genai import types

        return await session.client.aio.models.embed_content(
            model=job.card.name,
            # A list of strings would become one content with many parts, hence one vector for all of them.
            contents=[types.Content(parts=[types.Part(text=text)]) for text in job.prefixed],
            config=self._config(job),
        )

    def _read(self, answer: types.EmbedContentResponse) -> Embedded:
        if not answer.embeddings:
            raise ValueError("no embeddings")
        vectors = np.asarray([one.values for one in answer.embeddings], dtype=np.float32)
        return Embedded(vectors, EmbeddingUsage(_tokens(answer), 1, None))

    def _config(self, job: Job) -> types.EmbedContentConfig:
        from google.genai import types

        return types.EmbedContentConfig(
            task_type=job.card.input_types.of(job.input_type) or None,
            output_dimensionality=job.dimensions,
        )

    def _failure(self, error: Exception) -> Failure | None:
        from google.auth import exceptions as auth_errors
        from google.genai import errors

        if isinstance(error, errors.APIError):
            waits = retry_after(getattr(error.response, "headers", None)) or _retry_delay(error.details)
            # A key that is no key at all is a bad request here, not an unauthorised one.
            refused = "API_KEY_INVALID" in json.dumps(error.details, default=str)
            return Failure(str(error.message or error.status or ""), error.code, waits, key_refused=refused)
        if isinstance(error, httpx2.TimeoutException):
            return Failure("it did not answer in time")
        if isinstance(error, httpx2.TransportError | auth_errors.TransportError):
            return Failure(str(error))
        if isinstance(error, auth_errors.GoogleAuthError):
            return Failure(str(error), key_refused=True)
        if isinstance(error, errors.UnknownApiResponseError | json.JSONDecodeError | ValidationError):
            return UNREADABLE
        return None

    async def _close(self, session: Session) -> None:
        await session.client.aio.aclose()
        session.client.close()
        await session.http.aclose()


class VertexGeminiEmbedder(GeminiEmbedder):
    """Let in by a key, by an access token, or by the credentials that Google's own tools have left on the machine."""

    provider = Provider(
        "vertex_gemini",
        "Gemini on Vertex AI",
        ("GOOGLE_API_KEY",),
        other_way="set GOOGLE_CLOUD_PROJECT and sign in with `gcloud auth application-default login`",
    )
    models = catalog.VERTEX_GEMINI
    base_url_variable = "GOOGLE_VERTEX_BASE_URL"
    more_options = ("project", "location")
    concurrency = 16  # because each request takes one text

    def _access(self, auth: Mapping[str, str], options: Mapping[str, Any]) -> Access:
        access = super()._access(auth, options)
        project = access.project or environment(["GOOGLE_CLOUD_PROJECT"])
        if auth.get("api_key") or not project:
            return replace(access, project=None, location=None)
        location = access.location or environment(["GOOGLE_CLOUD_LOCATION"]) or "global"
        return replace(access, key=None, project=project, location=location)

    def _may_enter(self, access: Access) -> bool:
        return access.key is not None or access.project is not None

    def _connect(self, access: Access) -> Session:
        if access.key:
            return self._session(access, vertexai=True, api_key=access.key)
        from google.oauth2.credentials import Credentials

        credentials = Credentials(token=access.token) if access.token else None  # type: ignore[no-untyped-call]
        return self._session(
            access, vertexai=True, project=access.project, location=access.location, credentials=credentials
        )

    def _config(self, job: Job) -> types.EmbedContentConfig:
        config = super()._config(job)
        config.auto_truncate = False  # an error is better than a vector of half a text
        return config


def _tokens(response: types.EmbedContentResponse) -> int:
    """As the whole answer counts them, or (Vertex) each of its vectors."""
    if response.usage_metadata and response.usage_metadata.prompt_token_count:
        return response.usage_metadata.prompt_token_count
    counts = [one.statistics.token_count or 0 for one in response.embeddings or [] if one.statistics]
    return int(sum(counts))


def _retry_delay(details: Any) -> float | None:
    """The wait that Google names in the body of an error: `"retryDelay": "34s"`."""
    found = re.search(r'"retryDelay": "(\d+(?:\.\d+)?)s"', json.dumps(details, default=str))
    return float(found.group(1)) if found else None
