"""Generation providers: models that write answers, on this machine or at a service."""

from __future__ import annotations

from chapterverse.providers.generation.catalog import HOSTED, LOCAL, NAMES, GenerationProvider
from chapterverse.providers.generation.service import HostedModelService, resolve

__all__ = ["HOSTED", "LOCAL", "NAMES", "GenerationProvider", "HostedModelService", "resolve"]
