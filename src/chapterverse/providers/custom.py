"""Adapters that others write: plain objects, dictionaries of functions or single functions, made into an `Embedder`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from chapterverse.errors import AstRagEmbeddingCapabilityError, AstRagError, AstRagValidationError
from chapterverse.protocols import Capabilities, Embedded, Embedder, EmbeddingUsage, InputType, ModelCard
from chapterverse.providers.settings import snake

_CARD_FIELDS = {"name", "dimensions", "max_tokens", "max_batch", "max_request_tokens", "price", "licence", "link"}
_OTHER_FIELDS = {"models", "options", "key_variables", "keeps", "concurrency"}


class CustomEmbedder:
    """An adapter whose functions may be blocking or not, and whose answers may be as plain as lists of numbers."""

    def __init__(self, name: str, adapter: Any) -> None:
        source: Any = adapter
        if isinstance(adapter, Mapping):
            source = SimpleNamespace(**{snake(key): value for key, value in adapter.items()})
        self._name = name
        self._embed: Any = getattr(source, "embed", source)
        if not callable(self._embed) or inspect.isclass(self._embed):
            raise AstRagValidationError(
                f"The adapter {name!r} must have a function `embed(texts, input_type, model, auth, options)` or be one."
            )
        described = _optional(source, "capabilities")
        self._capabilities = _capabilities(name, described() if described else {})
        self._validate = _optional(source, "validate_config") or _optional(source, "validateConfig")
        self._close = _optional(source, "close")

    def capabilities(self) -> Capabilities:
        return self._capabilities

    def validate_config(self, model: str, auth: Mapping[str, str], options: Mapping[str, Any]) -> None:
        if self._validate is not None:
            self._validate(model, auth, options)

    async def embed(
        self,
        texts: Sequence[str],
        input_type: InputType,
        model: str,
        auth: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> Embedded:
        try:
            result = await _called(self._embed, list(texts), input_type, model, auth, options)
        except AstRagError:
            raise
        except Exception as error:
            message = f"The adapter {self._name!r} failed: {type(error).__name__}."
            raise AstRagEmbeddingCapabilityError(message, details={"provider": self._name}, cause=error) from error
        return result if isinstance(result, Embedded) else self._read(result)

    async def close(self) -> None:
        if self._close is not None:
            await _called(self._close)

    def _read(self, result: Any) -> Embedded:
        vectors, usage = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        tokens = usage.get("tokens", 0) if isinstance(usage, Mapping) else 0
        cost = usage.get("cost") if isinstance(usage, Mapping) else None
        try:
            array = np.asarray(vectors, dtype=np.float32)
        except (TypeError, ValueError) as error:
            message = f"The adapter {self._name!r} returned something that is not a list of vectors of one length."
            raise AstRagEmbeddingCapabilityError(message, details={"provider": self._name}, cause=error) from error
        return Embedded(array, EmbeddingUsage(int(tokens), 1, cost))


def as_embedder(name: str, adapter: Any) -> Embedder:
    """The adapter, made to offer all that an `Embedder` offers."""
    return CustomEmbedder(name, adapter)


def _optional(source: Any, name: str) -> Callable[..., Any] | None:
    found = getattr(source, name, None)
    return found if callable(found) else None


async def _called(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function that may block, without blocking the event loop."""
    if inspect.iscoroutinefunction(function):
        return await function(*args)
    result = await asyncio.to_thread(function, *args)
    return await result if inspect.isawaitable(result) else result


def _capabilities(name: str, described: Any) -> Capabilities:
    if isinstance(described, Capabilities):
        return described
    if not isinstance(described, Mapping):
        raise AstRagValidationError(f"capabilities() of the adapter {name!r} must return a dictionary.")
    given = {snake(key): value for key, value in described.items()}
    models = given.pop("models", None)
    unknown = sorted(set(given) - _CARD_FIELDS - _OTHER_FIELDS)
    if unknown:
        known = ", ".join(sorted(_CARD_FIELDS | _OTHER_FIELDS))
        raise AstRagValidationError(f"capabilities() of the adapter {name!r} names {unknown[0]!r}; known are {known}.")
    shared = {key: given.pop(key) for key in _CARD_FIELDS & set(given)}
    cards = [{**shared, **{snake(key): value for key, value in model.items()}} for model in models or [{}]]
    for key in ("options", "key_variables"):
        if key in given:
            given[key] = tuple(given[key])
    return Capabilities(models=tuple(_card(card) for card in cards), **given)


def _card(given: dict[str, Any]) -> ModelCard:
    known = {one.name for one in fields(ModelCard)}
    return ModelCard(**{"name": "default", "dimensions": None, **{k: v for k, v in given.items() if k in known}})
