"""Embedding on this machine: no key, no network, nothing to pay."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from chapterverse.errors import AstRagEmbeddingCapabilityError
from chapterverse.protocols import Capabilities, Embedded, EmbeddingUsage, Forms, InputType, ModelCard
from chapterverse.providers.catalog import card_for
from chapterverse.providers.encoders import CARD, Encoder, EncoderCard, load_encoder

MODELS = Path(__file__).parent.parent / "models"


class LocalEmbedder:
    """The encoders that come with the package, one to a folder, each loaded when it is first used."""

    def __init__(self, models: Path = MODELS) -> None:
        self._folder = models
        self._encoders: dict[str, Encoder] = {}
        self._lock = threading.Lock()

    @cached_property
    def _cards(self) -> dict[str, EncoderCard]:
        found = {path.parent.name: EncoderCard.read(path.parent) for path in sorted(self._folder.glob(f"*/{CARD}"))}
        cards = [(name, card) for name, card in found.items() if card is not None]
        if not cards:
            raise AstRagEmbeddingCapabilityError(f"There is no model in {self._folder}. Reinstall chapterverse.")
        return dict(sorted(cards, key=lambda one: not one[1].default))

    def capabilities(self) -> Capabilities:
        return Capabilities(models=tuple(_model_card(name, card) for name, card in self._cards.items()))

    def validate_config(
        self,
        model: str,
        auth: Mapping[str, str],  # noqa: ARG002 (nothing to be let into)
        options: Mapping[str, Any],
    ) -> None:
        card_for("local", self.capabilities(), model, options)

    async def embed(
        self,
        texts: Sequence[str],
        input_type: InputType,
        model: str,
        auth: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> Embedded:
        self.validate_config(model, auth, options)
        return await asyncio.to_thread(self._embed, texts, input_type, model)

    async def close(self) -> None:
        """There are no connections; encoders stay loaded."""

    def _embed(self, texts: Sequence[str], input_type: InputType, model: str) -> Embedded:
        encoder = self._encoder(model)
        prefix = encoder.card.query_prefix if input_type == "query" else encoder.card.document_prefix
        vectors, tokens = encoder.encode([prefix + text for text in texts])
        return Embedded(vectors, EmbeddingUsage(tokens, 1, 0.0))

    def _encoder(self, model: str) -> Encoder:
        with self._lock:
            if model not in self._encoders:
                self._encoders[model] = load_encoder(self._folder / model, self._cards[model])
            return self._encoders[model]


def _model_card(name: str, card: EncoderCard) -> ModelCard:
    return ModelCard(
        name=name,
        dimensions=card.dimensions,
        max_batch=256,
        price=0.0,
        prefixes=Forms(card.document_prefix, card.query_prefix),
        vector_weight=card.hybrid.get("vector"),
        licence=card.licence,
        link=card.link,
    )
