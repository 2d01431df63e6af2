"""Keys and options as callers give them, in the one shape that adapters get them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from chapterverse.errors import AstRagValidationError

Auth = str | Mapping[str, Any] | None
"""A key; or `{"api_key": …}`; or either of them under the name of a provider."""

_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")


def snake(name: str) -> str:
    """`baseUrl` as `base_url`."""
    return _INNER_CAPITAL.sub(r"_\1", name).lower()


def auth_for(provider: str, auth: Auth) -> dict[str, str]:
    """What is meant for this provider: what stands under its name, else what stands there by itself."""
    if auth is None:
        return {}
    if isinstance(auth, str):
        return {"api_key": auth.strip()} if auth.strip() else {}
    for name, own in auth.items():
        if not (own is None or isinstance(own, str | Mapping)):
            raise AstRagValidationError(f"auth.{name} is neither a text nor keys by their names.")
        if is_name(name, provider):
            return auth_for(provider, own)
    return {snake(name): value.strip() for name, value in auth.items() if isinstance(value, str) and value.strip()}


def is_name(name: str, provider: str) -> bool:
    """Whether this names the provider, in any case and either spelling."""
    return name.replace("_", "").casefold() == provider.replace("_", "")


def options_for(provider: str, understood: Sequence[str], options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Provider options under their snake_case names, without those that are null; unknown ones are refused."""
    given = {snake(name): value for name, value in (options or {}).items() if value is not None}
    allowed = ("dimensions", *understood)
    unknown = sorted(set(given) - set(allowed))
    if unknown:
        raise AstRagValidationError(
            f"{provider} does not understand the provider option {unknown[0]!r}; it understands {', '.join(allowed)}.",
            details={"provider": provider, "unknown": unknown},
        )
    dimensions = given.get("dimensions")
    if dimensions is not None and (type(dimensions) is not int or dimensions < 1):
        raise AstRagValidationError(f"dimensions must be a positive whole number, not {dimensions!r}.")
    return given


def api_key(auth: Mapping[str, str], variables: Sequence[str]) -> str | None:
    """The caller's key, else that of the environment; whoever brings a token of their own does not get ours."""
    return auth.get("api_key") or (None if auth.get("access_token") else environment(variables))


def environment(variables: Sequence[str]) -> str | None:
    """The value of the first of these environment variables that is set and not blank."""
    return next((value for name in variables if (value := os.environ.get(name, "").strip())), None)
