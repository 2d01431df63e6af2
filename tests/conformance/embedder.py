"""What any embedding adapter must do to stand in for another. Run it on your own:

class TestMine(EmbedderConformance):
    def make(self) -> tuple[Any, dict[str, Any]]:
        return MyAdapter(), {"auth": "…"}
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from chapterverse.errors import AstRagError
from chapterverse.protocols import Embedded, InputType
from chapterverse.providers import Embeddings, Registry

TEXTS = ["The miller's clock was always late.", "Snow fell on the pass.", "The clock of the miller, late as always."]
INPUT_TYPES: tuple[InputType, ...] = ("document", "query")


class EmbedderConformance:
    """Subclass it and say how the adapter is made; it is used as everybody uses it, through the service."""

    def make(self) -> tuple[Any, dict[str, Any]]:
        """A new adapter, and the `auth`, `options` and `model` to use it with."""
        raise NotImplementedError

    def embed(self, texts: Sequence[str], input_type: InputType = "document", **changes: Any) -> Embedded:
        adapter, settings = self.make()
        registry = Registry()
        registry.register("candidate", adapter)

        async def run() -> Embedded:
            async with Embeddings(registry) as embeddings:
                target = registry.resolve("candidate", **{**settings, **changes})
                return await embeddings.embed(target, texts, input_type)

        return asyncio.run(run())

    def test_it_lists_its_models(self) -> None:
        registry = Registry()
        registry.register("candidate", self.make()[0])
        offered = registry.capabilities("candidate")
        assert offered.models
        assert all(card.name and card.max_batch >= 1 for card in offered.models)
        assert offered.concurrency >= 1

    @pytest.mark.parametrize("input_type", INPUT_TYPES)
    def test_each_text_gets_a_unit_vector(self, input_type: InputType) -> None:
        vectors = self.embed(TEXTS, input_type).vectors
        assert vectors.dtype == np.float32
        assert len(vectors) == len(TEXTS)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)

    def test_vectors_follow_their_texts(self) -> None:
        together = self.embed(TEXTS).vectors
        alone = np.concatenate([self.embed([text]).vectors for text in TEXTS])
        np.testing.assert_allclose(together, alone, atol=1e-3)
        np.testing.assert_allclose(self.embed(TEXTS[::-1]).vectors, together[::-1], atol=1e-3)

    def test_the_dimensions_are_the_declared_ones(self) -> None:
        adapter, settings = self.make()
        registry = Registry()
        registry.register("candidate", adapter)
        declared = registry.resolve("candidate", **settings).dimensions
        assert declared in (None, self.embed(TEXTS).vectors.shape[1])

    def test_likeness_shows(self) -> None:
        first, other, like = self.embed(TEXTS).vectors
        assert first @ like > first @ other

    def test_any_script_and_any_length_is_read(self) -> None:
        texts = ["Ελληνικά, русский, 日本語, العربية 🕰️", "word " * 900, "a", "1234567890 " * 40]
        vectors = self.embed(texts).vectors
        assert np.isfinite(vectors).all()

    def test_usage_is_reported(self) -> None:
        usage = self.embed(TEXTS).usage
        assert usage.tokens > 0
        assert usage.requests >= 1

    def test_an_unknown_model_is_refused_by_name(self) -> None:
        with pytest.raises(AstRagError, match="no-such-model"):
            self.embed(TEXTS, model="no-such-model")
