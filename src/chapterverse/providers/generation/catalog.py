"""Which generation providers there are, where they live and how they are spoken to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chapterverse.providers.failures import Provider

LOCAL = "local"
"""The reader on this machine: no key, no network, no cost."""


@dataclass(frozen=True, slots=True)
class GenerationProvider:
    """A provider whose models are reached through OpenAI's client."""

    provider: Provider
    home: str | None
    """Its address; None if the user must say it."""
    protocol: Literal["chat", "responses"]
    """OpenAI's chat completions, or its newer responses."""
    example: str
    """A model of theirs, for messages: models come and go, so that none is taken unasked."""
    tools: bool = True
    """Whether its models may be offered tools beside a form for their answer."""
    needs_key: bool = True
    stores: bool = False
    """Whether it keeps what is sent unless it is told not to."""
    base_url_variable: str = ""
    options: tuple[str, ...] = ("base_url", "timeout")

    @property
    def name(self) -> str:
        return self.provider.name


_OPENAI = GenerationProvider(
    provider=Provider("openai", "OpenAI", ("OPENAI_API_KEY",)),
    home="https://api.openai.com/v1",
    protocol="responses",
    example="gpt-5.4-mini",
    stores=True,
    base_url_variable="OPENAI_BASE_URL",
)
_GEMINI = GenerationProvider(
    provider=Provider("gemini", "Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    home="https://generativelanguage.googleapis.com/v1beta/openai",
    protocol="chat",
    example="gemini-3.6-flash",
    tools=False,  # before version 3 they refuse both at once, and after it tool calls carry signatures of their own
)
_VERTEX_GEMINI = GenerationProvider(
    provider=Provider(
        "vertex_gemini",
        "Gemini on Vertex AI",
        ("GOOGLE_CLOUD_PROJECT",),
        other_way="sign in with `gcloud auth application-default login` and give the option `project`",
    ),
    home="https://{host}/v1/projects/{project}/locations/{location}/endpoints/openapi",
    protocol="chat",
    example="google/gemini-3.6-flash",
    tools=False,
    needs_key=False,  # but a project, and Google's sign-in or an access token
    options=("base_url", "timeout", "project", "location"),
)
_OPENROUTER = GenerationProvider(
    provider=Provider("openrouter", "OpenRouter", ("OPENROUTER_API_KEY",)),
    home="https://openrouter.ai/api/v1",
    protocol="chat",
    example="openai/gpt-5.4-mini",
)
_PERPLEXITY = GenerationProvider(
    provider=Provider("perplexity", "Perplexity", ("PERPLEXITY_API_KEY", "PPLX_API_KEY")),
    home="https://api.perplexity.ai/v1",
    protocol="responses",
    example="perplexity/sonar",
    tools=False,
)
_COMPATIBLE = GenerationProvider(
    provider=Provider("openai-compatible", "The server", ("OPENAI_COMPATIBLE_API_KEY",)),
    home=None,
    protocol="chat",
    example="qwen3:8b",
    needs_key=False,
    base_url_variable="OPENAI_COMPATIBLE_BASE_URL",
)

HOSTED = {one.name: one for one in (_OPENAI, _GEMINI, _VERTEX_GEMINI, _OPENROUTER, _PERPLEXITY, _COMPATIBLE)}
NAMES = (LOCAL, *HOSTED)
