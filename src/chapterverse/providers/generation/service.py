"""A hosted model that was chosen as `provider:model`, checked before anything is sent."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from chapterverse.errors import AstRagError, AstRagValidationError
from chapterverse.providers.failures import missing_key
from chapterverse.providers.generation.catalog import HOSTED, LOCAL, NAMES, GenerationProvider
from chapterverse.providers.generation.failures import generation_error
from chapterverse.providers.generation.google_token import GoogleToken
from chapterverse.providers.settings import Auth, api_key, auth_for, environment, snake

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Key = str | Callable[[], Awaitable[str]]

DEFAULT_TIMEOUT = 60.0
_VERTEX_LOCATION = "global"


def resolve(
    choice: str, model: str | None = None, *, auth: Auth = None, options: Mapping[str, Any] | None = None
) -> HostedModelService | None:
    """What `provider:model` stands for; None for `local`, which needs no service. Raises if it cannot be used."""
    name, separator, in_choice = choice.strip().partition(":")
    key = name.strip().casefold()
    if separator and model:
        raise AstRagValidationError(f"{choice!r} names a model already; {model!r} is one too many.")
    if key not in NAMES:
        raise AstRagValidationError(
            f"There is no generation provider {name!r}; there are {', '.join(NAMES)}.", details={"provider": key}
        )
    wanted = (in_choice or model or "").strip()
    if key == LOCAL:
        if wanted:
            raise AstRagValidationError(
                f"The provider local has one model, which needs no name; {wanted!r} is not one."
            )
        if given := [name for name, value in (options or {}).items() if value is not None]:
            raise AstRagValidationError(f"The provider local takes no options: {given[0]!r} would count for nothing.")
        return None
    entry = HOSTED[key]
    if not wanted:
        raise AstRagValidationError(
            f"Say which model of {entry.provider.title} to use, as in {key}:{entry.example}.", details={"provider": key}
        )
    return HostedModelService(entry, wanted, auth_for(key, auth), _options(entry, options or {}))


class HostedModelService:
    """A model, where it is and how to be let in. Its clients are kept, one for each event loop."""

    def __init__(
        self, entry: GenerationProvider, model: str, auth: Mapping[str, str], options: Mapping[str, Any]
    ) -> None:
        self.provider = entry.name
        self.model = model
        self.protocol = entry.protocol
        self.tools = entry.tools
        self.stores = entry.stores
        self._entry = entry
        self._timeout: float = options.get("timeout", DEFAULT_TIMEOUT)
        self._key = _key(entry, auth)
        self.base_url = _base_url(entry, options)
        # A client's connections belong to the event loop that they were opened in.
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = weakref.WeakKeyDictionary()

    def client(self) -> AsyncOpenAI:
        """A client of the SDK that does not retry by itself."""
        from openai import AsyncOpenAI

        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = AsyncOpenAI(
                api_key=self._key, base_url=self.base_url, timeout=self._timeout, max_retries=0
            )
        return self._clients[loop]

    def error(self, error: Exception) -> AstRagError | None:
        """What the client's error means; None if it is not one of a provider."""
        return generation_error(self._entry.provider, error, self._key if isinstance(self._key, str) else None)

    async def close(self) -> None:
        """Let go of connections that belong to the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


def _key(entry: GenerationProvider, auth: Mapping[str, str]) -> Key:
    if entry.name == "vertex_gemini":
        return auth.get("access_token") or auth.get("api_key") or GoogleToken()
    key = api_key(auth, entry.provider.key_variables)
    if key is None and entry.needs_key:
        raise missing_key(entry.provider)
    return key or "none"  # the SDK insists on one


def _base_url(entry: GenerationProvider, options: Mapping[str, Any]) -> str:
    given = options.get("base_url") or environment([entry.base_url_variable])
    if given:
        if not str(given).startswith(("http://", "https://")):
            raise AstRagValidationError(f"base_url must be an http or https address, not {given!r}.")
        return str(given)
    if entry.home is None:
        raise AstRagValidationError(
            f"Say where the server is: set {entry.base_url_variable} or give the option base_url,"
            " as in http://127.0.0.1:11434/v1.",
            details={"provider": entry.name},
        )
    return _vertex_url(entry, options) if entry.name == "vertex_gemini" else entry.home


def _vertex_url(entry: GenerationProvider, options: Mapping[str, Any]) -> str:
    project = options.get("project") or environment(entry.provider.key_variables)
    if not project:
        raise missing_key(entry.provider)
    location = options.get("location") or environment(["GOOGLE_CLOUD_LOCATION"]) or _VERTEX_LOCATION
    prefix = "" if location == _VERTEX_LOCATION else f"{location}-"
    assert entry.home is not None
    return entry.home.format(host=f"{prefix}aiplatform.googleapis.com", project=project, location=location)


def _options(entry: GenerationProvider, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options under their snake_case names, without those that are null; unknown ones are refused."""
    given = {snake(name): value for name, value in options.items() if value is not None}
    unknown = sorted(set(given) - set(entry.options))
    if unknown:
        raise AstRagValidationError(
            f"{entry.name} does not understand the option {unknown[0]!r}; it understands {', '.join(entry.options)}.",
            details={"provider": entry.name, "unknown": unknown},
        )
    timeout = given.get("timeout", DEFAULT_TIMEOUT)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
        raise AstRagValidationError(f"timeout must be a number of seconds above 0, not {timeout!r}.")
    return given
