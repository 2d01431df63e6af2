"""What a user may set once and for all, by environment variable. Values only: nothing is opened or built here."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Read from `CHAPTERVERSE_…`, and from Qdrant's own names where it has them."""

    model_config = SettingsConfigDict(env_prefix="CHAPTERVERSE_", frozen=True, extra="ignore")

    home: Path | None = None
    """Where embedded indexes are kept; None is the user's data folder."""
    index: str | None = None
    """The index to ask when none is named."""
    embedding: str = "local"
    """What new indexes are embedded with, as `provider` or `provider:model`."""
    qdrant_url: str | None = Field(default=None, validation_alias="QDRANT_URL")
    qdrant_api_key: SecretStr | None = Field(default=None, validation_alias="QDRANT_API_KEY")
