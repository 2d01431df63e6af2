"""What a caller has set for all requests: merged, copied on the way out, and without its secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from pydantic.alias_generators import to_camel

from chapterverse.contracts.requests import Configuration, Section, parse
from chapterverse.errors import AstRagValidationError

HIDDEN = "***"
_FREE = frozenset({"auth", "providerOptions"})
"""Sections whose keys belong to a provider, and stay as they are written."""
_SECRET = re.compile(
    r"key|token|secret|passw|passphrase|credential|auth$|authori[sz]ation|bearer|cookie|signature", re.IGNORECASE
)
_LOGIN = re.compile(r"(?<=://)[^/?#\s]+(?=@)")
"""Who an address says that one is, and with which password."""


class ConfigureOptions(Section):
    merge: bool = True


class Config:
    """The configuration of one RAG surface."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def configure(self, config: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Merge `config` into what is there, or with `merge: false` replace it; null and blank values delete."""
        if not isinstance(config, Mapping):
            raise AstRagValidationError("configure takes a dictionary.")
        base = self._values if parse(ConfigureOptions, options or {}).merge else {}
        values = _merged(base, _camel(config))
        parse(Configuration, values)
        self._values = values
        return self.get()

    def get(self) -> dict[str, Any]:
        """A copy, with secrets hidden."""
        shown: dict[str, Any] = _hidden(self._values)
        return shown

    def clear(self) -> dict[str, Any]:
        self._values = {}
        return {}

    def current(self) -> Configuration:
        return parse(Configuration, self._values)


def _camel(given: Mapping[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, value in given.items():
        key = to_camel(name) if isinstance(name, str) else name
        if key in named:
            raise AstRagValidationError(f"{key!r} is given twice, once in snake_case.")
        named[key] = _camel(value) if isinstance(value, Mapping) and key not in _FREE else deepcopy(value)
    return named


def _merged(base: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in given.items():
        if value is None or (isinstance(value, str) and not value.strip()):
            merged.pop(key, None)
        elif isinstance(value, str) and HIDDEN in value:
            raise AstRagValidationError(f"{key}: {HIDDEN!r} stands for a secret where it is shown; it is none itself.")
        elif isinstance(value, Mapping):
            old = merged.get(key)
            merged[key] = _merged(old if isinstance(old, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def _hidden(value: Any, secret: bool = False) -> Any:
    if isinstance(value, Mapping):
        return {key: _hidden(inner, secret or _is_secret(key, inner)) for key, inner in value.items()}
    if secret:
        return HIDDEN
    if isinstance(value, list | tuple):
        return [_hidden(inner) for inner in value]
    return _LOGIN.sub(HIDDEN, value) if isinstance(value, str) else deepcopy(value)


def _is_secret(key: object, value: Any) -> bool:
    """By its name; a number is how many tokens there may be."""
    return isinstance(key, str) and not isinstance(value, int | float) and _SECRET.search(key) is not None
