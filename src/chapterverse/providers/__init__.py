"""Embedding providers: texts in, vectors out, from this machine or from a service."""

from __future__ import annotations

from chapterverse.providers.cache import EmbeddingCache
from chapterverse.providers.catalog import Target
from chapterverse.providers.registry import Registry
from chapterverse.providers.retry import RetryPolicy
from chapterverse.providers.service import Embeddings, Preview

__all__ = ["EmbeddingCache", "Embeddings", "Preview", "Registry", "RetryPolicy", "Target"]
