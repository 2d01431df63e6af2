"""Tests of providers start from an environment without keys."""

from __future__ import annotations

import os
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # their sources have a stray escape or two, which is theirs to mend
    import cohere  # noqa: F401
    import google.genai  # noqa: F401
    import openai  # noqa: F401

_PREFIXES = ("OPENAI_", "COHERE_", "CO_API", "GEMINI_", "GOOGLE_", "OPENROUTER_", "PERPLEXITY_", "PPLX_")


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(_PREFIXES):
            monkeypatch.delenv(name)
