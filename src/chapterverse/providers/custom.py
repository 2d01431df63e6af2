"""Adapters that others write: plain objects, dictionaries of functions or single functions, made into an `Embedder`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
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
        self._capabilities = _capabilities(name, getattr(source, "capabilities", {}))
        self._validate = _optional(source, "validate_config") or _optional(source, "validateConfig")
        if inspect.iscoroutinefunction(self._validate):
            raise AstRagValidationError(f"validate_config() of the adapter {name!r} must not be a coroutine function.")
        self._close = _optional(source, "close")

    def capabilities(self) -> Capabilities:
        return self._capabilities

    def validate_config(self, model: str, auth: Mapping[str, str], options: Mapping[str, Any]) -> None:
        if self._validate is None:
            return
        try:
            self._validate(model, auth, options)
        except AstRagError:
            raise
        except Exception as error:
            raise self._error(f"refused its configuration: {type(error).__name__}.", error) from error

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
            raise self._error(f"failed: {type(error).__name__}.", error) from error
        return result if isinstance(result, Embedded) else self._read(result)

    async def close(self) -> None:
        if self._close is not None:
            await _called(self._close)

    def _read(self, result: Any) -> Embedded:
        vectors, usage = result, None
        if isinstance(result, tuple) and len(result) == 2 and _is_usage(result[1]):
            vectors, usage = result
        try:
            return Embedded(np.asarray(vectors, dtype=np.float32), _usage(usage))
        except (TypeError, ValueError) as error:
            what = "returned something that is not a list of vectors of one length, or a usage that is not in numbers."
            raise self._error(what, error) from error

    def _error(self, what: str, cause: Exception) -> AstRagError:
        message = f"The adapter {self._name!r} {what}"
        return AstRagEmbeddingCapabilityError(message, details={"provider": self._name}, cause=cause)


def _is_usage(given: Any) -> bool:
    return given is None or isinstance(given, EmbeddingUsage | Mapping)


def _usage(given: EmbeddingUsage | Mapping[str, Any] | None) -> EmbeddingUsage:
    if isinstance(given, EmbeddingUsage):
        return given
    said = given or {}
    cost = said.get("cost")
    return EmbeddingUsage(int(said.get("tokens") or 0), 1, None if cost is None else float(cost))


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
    try:
        offered = _offered(described() if callable(described) else described)
    except AstRagError:
        raise
    except Exception as error:
        why = error if isinstance(error, AttributeError | TypeError) else type(error).__name__
        message = f"capabilities() of the adapter {name!r} cannot be understood: {why}."
        raise AstRagValidationError(message, cause=error) from error
    wrong = next(_wrong(offered), None)
    if wrong:
        raise AstRagValidationError(f"capabilities() of the adapter {name!r} cannot be understood: {wrong}.")
    return offered


def _offered(described: Any) -> Capabilities:
    if isinstance(described, Capabilities):
        return described
    given = _snaked(described)
    shared = {field.name: given.pop(field.name) for field in fields(ModelCard) if field.name in given}
    models = [_snaked(model) for model in given.pop("models", [{}])]
    cards = tuple(ModelCard(**{"name": "default", "dimensions": None, **shared, **model}) for model in models)
    variables = tuple(given.pop("key_variables", ()))
    options = given.pop("options", ())
    if isinstance(options, str):
        raise TypeError("options is a text, and not a list of names")
    return Capabilities(cards, tuple(snake(option) for option in options), variables, **given)


def _wrong(offered: Capabilities) -> Iterator[str]:
    """What would only be noticed in the middle of a build."""
    if not offered.models:
        yield "models is empty"
    for model in offered.models:
        sizes = {"dimensions": model.dimensions, "max_batch": model.max_batch, "max_tokens": model.max_tokens}
        for field, value in {**sizes, "concurrency": offered.concurrency}.items():
            optional = field in ("dimensions", "max_tokens")
            if not (optional if value is None else type(value) is int and value > 0):
                yield f"{field} is {value!r}; it must be a whole number above 0"


def _snaked(given: Mapping[str, Any]) -> dict[str, Any]:
    return {snake(key): value for key, value in given.items()}
