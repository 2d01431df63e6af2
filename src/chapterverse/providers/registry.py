"""Which embedding providers there are: the built-in ones, those of installed packages, and those added at run time."""

from __future__ import annotations

import importlib
import inspect
import logging
import re
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from chapterverse.errors import AstRagEmbeddingCapabilityError, AstRagValidationError
from chapterverse.protocols import Capabilities, Embedder
from chapterverse.providers.catalog import Target, card_for
from chapterverse.providers.custom import CustomEmbedder
from chapterverse.providers.settings import Auth, auth_for, environment, options_for

ENTRY_POINTS = "chapterverse.embeddings"

_BUILT_IN = {
    "local": "local:LocalEmbedder",
    "cohere": "cohere:CohereEmbedder",
    "openai": "openai:OpenAIEmbedder",
    "gemini": "gemini:GeminiEmbedder",
    "vertex_gemini": "gemini:VertexGeminiEmbedder",
    "openrouter": "openai:OpenRouterEmbedder",
    "perplexity": "openai:PerplexityEmbedder",
}
_CUSTOM = "custom"
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")

_log = logging.getLogger(__name__)


class Registry:
    """Providers by name, whatever its case. What is added at run time comes first, then what is built in."""

    def __init__(self) -> None:
        self._adapters: dict[str, Embedder] = {}
        self._added: dict[str, Embedder] = {}

    def names(self) -> list[str]:
        """The built-in providers first, the rest in alphabetical order."""
        others = (set(self._added) | set(self._installed)) - set(_BUILT_IN)
        return [*_BUILT_IN, *sorted(others)]

    def register(self, name: str, adapter: Any, *, overwrite: bool = False) -> None:
        """Add an adapter; to take the place of another of this name, `overwrite` must be true."""
        key = _key(name)
        if key == _CUSTOM or not _NAME.fullmatch(key):
            raise AstRagValidationError(
                f"{name!r} cannot name a provider: use letters, digits, '_', '.' and '-', and not 'custom'."
            )
        if key in self.names() and not overwrite:
            raise AstRagValidationError(f"There is a provider {key!r} already; overwrite=True replaces it.")
        self._added[key] = CustomEmbedder(key, adapter)

    def unregister(self, name: str) -> None:
        """Take out what was added; a built-in provider that it stood in for is there again."""
        key = _key(name)
        if key in self._added:
            del self._added[key]
        elif key in _BUILT_IN:
            raise AstRagValidationError(f"{key} is built in and cannot be unregistered.")
        elif key in self._installed:
            raise AstRagValidationError(f"{key} comes from an installed package; uninstall that to be rid of it.")
        else:
            raise self._unknown(key)

    def capabilities(self, name: str) -> Capabilities:
        return self.adapter(name).capabilities()

    def adapter(self, name: str) -> Embedder:
        """The adapter of this name, imported now if it was not before."""
        key = _key(name)
        if key in self._added:
            return self._added[key]
        if key not in self._adapters:
            if key in _BUILT_IN:
                module, _, attribute = _BUILT_IN[key].partition(":")
                created = getattr(importlib.import_module(f"chapterverse.providers.{module}"), attribute)()
            elif key in self._installed:
                created = _load(key, self._installed[key])
            else:
                raise self._unknown(key)
            self._adapters.setdefault(key, created)  # another thread may have been faster
        return self._adapters[key]

    def resolve(
        self,
        provider: str,
        model: str | None = None,
        *,
        auth: Auth = None,
        options: Mapping[str, Any] | None = None,
    ) -> Target:
        """What `provider`, or `provider:model`, stands for; raises if it could not be used as it is."""
        name, separator, in_name = provider.partition(":")
        if separator and model:
            raise AstRagValidationError(f"{provider!r} names a model already; {model!r} is one too many.")
        key, given = self._chosen(_key(name), dict(options or {}))
        adapter = self.adapter(key)
        offered = adapter.capabilities()
        settled = options_for(key, offered.options, given)
        address = environment([offered.base_url_variable])
        if address and "base_url" in offered.options:
            settled.setdefault("base_url", address)
        card = card_for(key, offered, model or in_name or None, settled)
        own_auth = auth_for(key, auth)
        adapter.validate_config(card.name, own_auth, settled)
        return Target(key, adapter, card, settled.get("dimensions") or card.dimensions, own_auth, settled)

    async def close(self) -> None:
        """Let go of the connections that belong to the running event loop."""
        for adapter in (*self._adapters.values(), *self._added.values()):
            await adapter.close()

    def _chosen(self, key: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if key != _CUSTOM:
            return key, options
        adapter = options.pop("adapter", None)
        if not isinstance(adapter, str) or not adapter.strip():
            raise AstRagValidationError(
                "The provider 'custom' needs the name of a registered one in providerOptions.adapter."
            )
        return _key(adapter), options

    @cached_property
    def _installed(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for point in entry_points(group=ENTRY_POINTS):
            key = _key(point.name)
            if key in _BUILT_IN or key == _CUSTOM or not _NAME.fullmatch(key):
                _log.warning("The embedding provider %r of %s is left out: its name is taken.", key, point.value)
            else:
                found[key] = point
        return found

    def _unknown(self, key: str) -> AstRagEmbeddingCapabilityError:
        return AstRagEmbeddingCapabilityError(
            f"There is no embedding provider {key!r}; there are {', '.join(self.names())}.", details={"provider": key}
        )


def _key(name: str) -> str:
    if not isinstance(name, str):
        raise AstRagValidationError(f"The name of a provider must be a text, not {name!r}.")
    return name.strip().casefold()


def _load(key: str, point: EntryPoint) -> Embedder:
    try:
        adapter = point.load()
        return CustomEmbedder(key, adapter() if inspect.isclass(adapter) else adapter)
    except Exception as error:
        raise AstRagEmbeddingCapabilityError(
            f"The embedding provider {key!r} cannot be loaded from {point.value}: {type(error).__name__}: {error}",
            details={"provider": key},
            cause=error,
        ) from error
