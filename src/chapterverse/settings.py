"""What a user may set once and for all, by environment variable. Values only: nothing is opened or built here.

`docs/settings.md` is made from this.
"""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from chapterverse.errors import AstRagValidationError

_ORIGIN = re.compile(r"\*|https?://[^/\s*]+", re.IGNORECASE)
_SHORTEST_KEY = 16


def _listed(given: Any) -> Any:
    """A list as an environment variable has it: with commas."""
    return tuple(part for one in given.split(",") if (part := one.strip())) if isinstance(given, str) else given


Listed = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]


class _FromEnvironment(BaseSettings):
    """Raises `AstRagValidationError` that names whatever is wrong, as an environment variable has it."""

    model_config = SettingsConfigDict(
        env_prefix="CHAPTERVERSE_",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        hide_input_in_errors=True,  # there are keys among them
        use_attribute_docstrings=True,
    )

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            faults: dict[str, str] = {}
            said = []
            for fault in error.errors(include_url=False, include_input=False, include_context=False):
                name, what = str(fault["loc"][0]), fault["msg"].removeprefix("Value error, ")
                variable = name if name.startswith("QDRANT") else f"CHAPTERVERSE_{name.upper()}"
                faults[variable] = what
                said.append(f"{name} ({variable}): {what}." if name != variable else f"{name}: {what}.")
            raise AstRagValidationError(" ".join(said), details=faults) from None


class Settings(_FromEnvironment):
    """Read from `CHAPTERVERSE_…`, and from Qdrant's own names where it has them."""

    home: Path | None = None
    """Where embedded indexes are kept; without it, the user's data folder."""
    index: str | None = None
    """The index to ask when none is named."""
    embedding: str = "local"
    """What new indexes are embedded with, as `provider` or `provider:model`."""
    deadline: float = Field(default=5.0, gt=0, allow_inf_nan=False)
    """Seconds that an answer may take."""
    qdrant_url: str | None = Field(default=None, validation_alias="QDRANT_URL")
    """The Qdrant server that keeps the indexes; without it, they are embedded in the process."""
    qdrant_api_key: SecretStr | None = Field(default=None, validation_alias="QDRANT_API_KEY")
    """The Qdrant server's key."""
    qdrant_timeout: int = Field(default=10, ge=1, validation_alias="QDRANT_TIMEOUT")
    """Seconds that the server may take for a request."""
    qdrant_shards: int | None = Field(default=None, ge=1, validation_alias="QDRANT_SHARDS")
    """Parts that a cluster cuts each new index into; without it, as the server has it."""
    qdrant_replicas: int | None = Field(default=None, ge=1, validation_alias="QDRANT_REPLICAS")
    """Copies that a cluster keeps of each part of a new index; without it, as the server has it."""
    qdrant_write_consistency: int | None = Field(default=None, ge=1, validation_alias="QDRANT_WRITE_CONSISTENCY")
    """Copies that must have a write before it counts, of new indexes; without it, as the server has it."""


class ServiceSettings(_FromEnvironment):
    """What `chapterverse serve` goes by; each is also an option of the command."""

    host: str = "127.0.0.1"
    """Address to listen on. Any but this machine's own needs an API key."""
    port: int = Field(default=8080, ge=0, le=65535)
    """Port to listen on."""
    workers: int = Field(default=1, ge=1)
    """Processes that answer. More than one needs indexes on a Qdrant server."""
    api_key: SecretStr | None = None
    """What clients must send as `Authorization: Bearer …`; at least 16 characters."""
    unprotected: bool = False
    """Listen on other addresses without an API key: only where something in front of the service asks who is there."""
    read_only: bool = False
    """Questions only: nothing can be built, synced, sent in or deleted over HTTP."""
    hosts: Listed = ()
    """Names that the service is reached by, beside this machine's own; `*` stands for any."""
    origins: Listed = ()
    """Web sites whose pages may use the service, such as `https://reader.example`; `*` stands for any."""
    roots: Listed = ()
    """Folders, web addresses and `gdrive:<id>` that indexes may be built from over HTTP; nothing else may be read."""
    model: str = "local"
    """Who writes the answers: `local`, or `provider:model`; of `ask`, `eval` and `mcp` too."""
    deadline: float = Field(default=5.0, gt=0, allow_inf_nan=False)
    """Seconds that an answer or a search may take."""
    max_body: int = Field(default=1_000_000, ge=1)
    """Bytes that a request may have."""
    max_upload: int = Field(default=100_000_000, ge=1)
    """Bytes that a book may have that is sent in."""

    @field_validator("api_key")
    @classmethod
    def _can_be_sent(cls, given: SecretStr | None) -> SecretStr | None:
        if given is None:
            return None
        # A file that a key is kept in ends with a newline, and a header loses what stands around its value.
        key = given.get_secret_value().strip(string.whitespace)
        if not key.isprintable():
            raise ValueError("it holds a line break or another character that cannot be printed; leave that out")
        if len(key) < _SHORTEST_KEY:
            raise ValueError(f"it needs at least {_SHORTEST_KEY} characters")
        return SecretStr(key)

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"{origin!r} is none: give scheme and host, as in https://reader.example")
        return tuple(origin.casefold() for origin in origins)  # as browsers send them
