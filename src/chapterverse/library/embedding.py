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


def made_with(registry: Registry, made: EmbeddingModel, access: Access) -> Target:
    """The provider and model that an index was made with; options that choose others are refused."""
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
