"""A deterministic embedder for tests and demonstrations: a hashed bag of words, in as many dimensions as you like."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chapterverse.protocols import Capabilities, Embedded, EmbeddingUsage, InputType, ModelCard, Vectors

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Texts that share words are near each other. Register it to show or test what a custom adapter does."""

    def __init__(self, dimensions: int = 64) -> None:
        self._dimensions = dimensions

    def capabilities(self) -> Capabilities:
        return Capabilities(models=(ModelCard("bag-of-words", self._dimensions, price=0.0),))

    def validate_config(self, model: str, auth: Mapping[str, str], options: Mapping[str, Any]) -> None:
        """Whatever the registry lets through is fine."""

    async def embed(
        self,
        texts: Sequence[str],
        input_type: InputType,  # noqa: ARG002 (a bag of words is the same for both)
        model: str,  # noqa: ARG002
        auth: Mapping[str, str],  # noqa: ARG002
        options: Mapping[str, Any],  # noqa: ARG002
    ) -> Embedded:
        vectors = np.stack([self._vector(text) for text in texts])
        return Embedded(vectors, EmbeddingUsage(sum(len(_WORD.findall(text)) for text in texts), 1))

    async def close(self) -> None:
        """Nothing is held."""

    def _vector(self, text: str) -> Vectors:
        vector = np.zeros(self._dimensions, dtype=np.float32)
        for word in _WORD.findall(text.casefold()):
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            vector[int.from_bytes(digest[:7]) % self._dimensions] += 1 if digest[7] % 2 else -1
        return vector
