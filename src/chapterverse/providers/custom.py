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
from chapterverse.protocols import Capabilities, Embedded, EmbeddingUsage, InputType, ModelCard
from chapterverse.providers.settings import snake


class CustomEmbedder:
    """An adapter whose functions may be blocking or not, and whose answers may be as plain as lists of numbers."""

    def __init__(self, name: str, adapter: Any) -> None:
        source: Any = adapter
        if isinstance(adapter, Mapping):
            source = SimpleNamespace(**_snaked(adapter))
        self._name = name
        self._embed: Any = getattr(source, "embed", source)
        if not callable(self._embed) or inspect.isclass(source):
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
    """What is said of all models may stand beside them; what is said of none makes one model, `default`."""
    if isinstance(described, Capabilities):
        return described
    try:
        given = _snaked(described)
        shared = {field.name: given.pop(field.name) for field in fields(ModelCard) if field.name in given}
        models = [_snaked(model) for model in given.pop("models", [{}])]
        cards = tuple(ModelCard(**{"name": "default", "dimensions": None, **shared, **model}) for model in models)
        lists: dict[str, Any] = {key: tuple(given.pop(key)) for key in ("options", "key_variables") if key in given}
        return Capabilities(cards, **lists, **given)
    except (AttributeError, TypeError) as error:
        message = f"capabilities() of the adapter {name!r} cannot be understood: {error}."
        raise AstRagValidationError(message, cause=error) from error


def _snaked(given: Mapping[str, Any]) -> dict[str, Any]:
    return {snake(key): value for key, value in given.items()}
