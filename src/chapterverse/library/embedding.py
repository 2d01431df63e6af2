"""What an index was embedded with, and what it takes to embed with it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chapterverse.errors import AstRagEmbeddingCapabilityError
from chapterverse.providers.catalog import Target
from chapterverse.providers.registry import Registry
from chapterverse.providers.settings import Auth
from chapterverse.types import EmbeddingModel


@dataclass(frozen=True, slots=True)
class Access:
    """What an embedding provider is given beside its model: keys, and options such as its address."""

    auth: Auth = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)


FROM_ENVIRONMENT = Access()
"""Nothing is given: keys and addresses are those of the environment."""


def outgrown(registry: Registry, made: EmbeddingModel) -> bool:
    """Whether an index was made with a shipped model that this version no longer has."""
    return made.provider == "local" and all(
        card.name != made.model for card in registry.adapter("local").capabilities().models
    )


def made_with(registry: Registry, made: EmbeddingModel, access: Access) -> Target:
    """The provider and model that an index was made with; options that choose others are refused."""
    if outgrown(registry, made):
        raise AstRagEmbeddingCapabilityError(
            f"The index was made with local:{made.model}, which this version of Chapterverse no longer has. Sync it,"
            " and it is made anew with the present model; until then it can only be searched by words (mode lexical).",
            details={"provider": made.provider, "model": made.model},
        )
    options = {"adapter": made.provider, "dimensions": made.dimensions, **access.options}
    adapter = str(options.pop("adapter")).strip().casefold()
    if (adapter, options["dimensions"]) != (made.provider, made.dimensions):
        raise AstRagEmbeddingCapabilityError(
            f"The index was made with {made.provider}:{made.model} in {made.dimensions} dimensions, and its queries"
            f" must be too, not with {adapter} in {options['dimensions']}. To change that, sync or build the index with"
            " the other model.",
            details={"provider": made.provider, "model": made.model, "dimensions": made.dimensions},
        )
    return registry.resolve(made.provider, made.model, auth=access.auth, options=options)
