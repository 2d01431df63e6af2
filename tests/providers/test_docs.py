"""The page on embeddings says what the catalog says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chapterverse.providers import Registry
from chapterverse.providers.catalog import describe

PAGE = (Path(__file__).parents[2] / "docs" / "embeddings.md").read_text("utf-8")


@pytest.mark.parametrize("provider", ["cohere", "openai", "gemini", "perplexity"])
def test_its_table_is_the_catalog(provider: str) -> None:
    for card in Registry().capabilities(provider).models:
        row = next(line for line in PAGE.splitlines() if f"`{card.name}`" in line and line.startswith("|"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[2].split()[0] == str(card.dimensions)
        assert cells[3] == str(card.max_tokens)
        assert float(cells[4]) == card.price
        if isinstance(card.allowed_dimensions, range):
            assert f"({card.allowed_dimensions.start} to {card.allowed_dimensions.stop - 1})" in cells[2]


@pytest.mark.parametrize("provider", ["cohere", "openai", "gemini", "vertex_gemini", "openrouter", "perplexity"])
def test_every_provider_and_its_key_is_named(provider: str) -> None:
    offered = Registry().capabilities(provider)
    assert f"| `{provider}` |" in PAGE
    assert f"`{offered.key_variables[0]}`" in PAGE
    for card in offered.models:
        assert f"`{card.name}`" in PAGE
    assert all(option in PAGE for option in offered.options)


def test_capabilities_are_fit_for_json() -> None:
    for provider in Registry().names()[1:]:
        described = json.loads(json.dumps(describe(Registry().capabilities(provider))))
        assert described["models"][0]["dimensions"] >= 1024
    openai = describe(Registry().capabilities("openai"))["models"][0]
    assert openai["allowed_dimensions"] == {"min": 1, "max": 1536}
