"""The settings, and the pages and files that are made of them or rest on them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer

from chapterverse.errors import AstRagValidationError
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.cli import app

ROOT = Path(__file__).parent.parent


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_settings", ROOT / "docs/make_settings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_code_says() -> None:
    assert (ROOT / "docs/settings.md").read_text() == generator().page(), "run: python docs/make_settings.py"


def test_every_setting_of_the_service_is_an_option_of_serve() -> None:
    serve = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    options = {option for parameter in serve.params for option in parameter.opts} - {"--help"}
    assert options == {option for name in ServiceSettings.model_fields if (option := generator().option_of(name))}


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:6333")
    monkeypatch.setenv("CHAPTERVERSE_ROOTS", "/books, gdrive:abc")
    monkeypatch.setenv("CHAPTERVERSE_API_KEY", "a key of sixteen or more")
    assert Settings().qdrant_url == "http://127.0.0.1:6333"
    assert ServiceSettings().roots == ("/books", "gdrive:abc")
    assert "sixteen" not in repr(ServiceSettings())
    monkeypatch.setenv("CHAPTERVERSE_API_KEY", "")
    assert ServiceSettings().api_key is None


def test_every_setting_that_is_wrong_is_named_as_the_variable_that_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAPTERVERSE_DEADLINE", "soon")
    monkeypatch.setenv("CHAPTERVERSE_PORT", "70000")
    monkeypatch.setenv("CHAPTERVERSE_API_KEY", "secret")
    with pytest.raises(AstRagValidationError) as caught:
        ServiceSettings()
    assert list(caught.value.details) == ["CHAPTERVERSE_PORT", "CHAPTERVERSE_API_KEY", "CHAPTERVERSE_DEADLINE"]
    assert "port (CHAPTERVERSE_PORT): Input should be less than or equal to 65535." in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "soon" not in str(caught.value)
    with pytest.raises(AstRagValidationError, match=r"^deadline \(CHAPTERVERSE_DEADLINE\): Input should be a valid"):
        Settings()


def test_containers_are_given_settings_that_exist() -> None:
    known = set(re.findall(r"`((?:CHAPTERVERSE|QDRANT)_\w+)`", (ROOT / "docs/settings.md").read_text()))
    for name in ("Dockerfile", "compose.yaml"):
        text = (ROOT / name).read_text()
        assert set(re.findall(r"\b(?:CHAPTERVERSE|QDRANT)_(?!_)[A-Z_]*[A-Z]\b", text)) <= known, name
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.M)
    paths = [path for line in copied for path in line.split()]
    assert len(paths) >= 5
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {path.split("/")[0] for path in paths} == let_in
    assert all((ROOT / path).exists() for path in paths)


def test_settings_cost_no_start_up_time() -> None:
    code = "import sys, chapterverse.surfaces.cli; sys.exit('pydantic_settings' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
