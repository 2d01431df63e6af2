"""`chapterverse doctor`: everything it can find well or broken, with the real thing behind it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from typer.testing import CliRunner
from werkzeug import Request, Response

from chapterverse import __version__
from chapterverse.index.edge import EdgeStore
from chapterverse.index.folder import MANIFEST, IndexFolder
from chapterverse.index.owner import Owner
from chapterverse.providers.generation import NAMES
from chapterverse.providers.local import MODELS
from chapterverse.providers.registry import Registry
from chapterverse.surfaces.cli import app
from chapterverse.surfaces.cli.doctor import Finding, _folder
from tests.index.standin import StandIn

KEY = "sk-test-0123456789abcdef"
_VARIABLES = ("OPENAI_", "COHERE_", "CO_API", "GEMINI_", "GOOGLE_", "OPENROUTER_", "PERPLEXITY_", "PPLX_", "QDRANT_")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of indexes of the test's own, and nothing configured."""
    for name in os.environ:
        if name.startswith((*_VARIABLES, "CHAPTERVERSE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def diagnose(*options: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit code, and the findings by what they are about."""
    done = CliRunner().invoke(app, ["doctor", "--json", *options])
    assert KEY not in done.output
    said = json.loads(done.stdout)
    findings = {finding["what"]: finding for finding in said["findings"]}
    assert said["ok"] is (done.exit_code == 0)
    for finding in findings.values():
        assert finding["next"] or finding["state"] not in ("broken", "warning"), finding
    return done.exit_code, findings


def test_all_is_well_without_any_configuration(home: Path) -> None:
    code, findings = diagnose()
    assert code == 0
    assert __version__ in findings["chapterverse"]["says"]
    assert "memory" in findings["sandbox"]["says"] or sys.platform == "win32"
    assert findings["index folder"]["says"] == f"{home}, 0 indexes, held by nobody"
    assert "Qdrant Edge" in findings["store"]["says"]
    assert "GB free" in findings["disk"]["says"]
    states = {what: finding["state"] for what, finding in findings.items()}
    assert {what for what in states if what.startswith("model ")} == {"model embedder-compact-2", "model reader"}
    assert {what: state for what, state in states.items() if state not in ("ok", "off")} == {}
    providers = {f"embedding {name}" for name in Registry().names()} | {f"generation {name}" for name in NAMES}
    assert {what for what in states if what.startswith(("embedding", "generation"))} == providers
    assert {what for what in providers if states[what] == "ok"} == {"embedding local", "generation local"}


def test_the_table_is_for_people() -> None:
    done = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200", "CHAPTERVERSE_MODEL": "nobody"})
    assert done.exit_code == 1
    assert "ok" in done.output
    assert "not configured: set COHERE_API_KEY or CO_API_KEY to use it" in done.output
    assert "→ Correct CHAPTERVERSE_MODEL, or unset it to use `local`." in done.output


def test_who_holds_an_index(home: Path) -> None:
    folder = IndexFolder("bells", home / "bells")
    folder.manifest.write_text("{}")
    try:
        says = diagnose()[1]["index folder"]["says"]
    finally:
        folder.release()
    assert "1 index; bells is held by process" in says
    assert str(os.getpid()) in says


def test_who_shares_the_indexes(home: Path) -> None:
    async def look() -> Finding:
        store = EdgeStore(home)
        owner = await Owner.claim(store, home)
        assert owner is not None
        try:
            return _folder(home)
        finally:
            await owner.close()
            await store.close()

    assert f"shared by process {os.getpid()}" in asyncio.run(look()).says


@pytest.mark.parametrize(("name", "file"), [("reader", "tokenizer.json"), ("embedder-compact-2", "tokenizer.json")])
@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_damaged_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, file: str, damage: str) -> None:
    shutil.copytree(MODELS / name, tmp_path / name)
    (tmp_path / name / file).unlink()
    if damage == "changed":
        (tmp_path / name / file).write_text("{}")
    monkeypatch.setattr("chapterverse.surfaces.cli.doctor.MODELS", tmp_path)
    code, findings = diagnose()
    assert (code, findings[f"model {name}"]["state"]) == (1, "broken")
    assert file in findings[f"model {name}"]["says"]
    assert findings[f"model {name}"]["next"] == "Install chapterverse again."


def test_a_sandbox_that_cannot_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    code, findings = diagnose()
    assert (code, findings["sandbox"]["state"]) == (1, "broken")


def test_a_setting_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAPTERVERSE_DEADLINE", "soon")
    code, findings = diagnose()
    assert (code, findings["settings"]["state"]) == (1, "broken")
    assert findings["settings"]["next"] == "Correct CHAPTERVERSE_DEADLINE, or unset it."


def test_a_folder_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(tmp_path / "file" / "home"))
    code, findings = diagnose()
    assert (code, findings["index folder"]["state"]) == (1, "broken")
    assert "CHAPTERVERSE_HOME" in findings["index folder"]["next"]


@pytest.mark.parametrize(("free", "code", "state"), [(2e9, 0, "ok"), (5e8, 0, "warning"), (5e7, 1, "broken")])
def test_disk_space(monkeypatch: pytest.MonkeyPatch, free: float, code: int, state: str) -> None:
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=int(free)))
    found, findings = diagnose()
    assert (found, findings["disk"]["state"]) == (code, state)


def test_a_setting_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAPTERVERSE_PORT", "many")
    code, findings = diagnose()
    assert code == 1
    assert findings["settings"]["says"].startswith("CHAPTERVERSE_PORT: ")
    assert findings["settings"]["next"] == "Correct CHAPTERVERSE_PORT, or unset it."


@pytest.fixture
def qdrant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandIn]:
    standin = StandIn(tmp_path, api_key=KEY)
    monkeypatch.setenv("QDRANT_URL", standin.url)
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    yield standin
    standin.stop()


def test_a_qdrant_server(qdrant: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    code, findings = diagnose()
    assert code == 0
    says = f"Qdrant {qdrant.version} at {qdrant.url} with the key of QDRANT_API_KEY, 0 indexes"
    assert findings["store"]["says"] == says
    assert "index folder" not in findings
    monkeypatch.setenv("QDRANT_API_KEY", "another")
    assert diagnose()[0] == 1
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    qdrant.version = "1.2.0"
    code, findings = diagnose()
    assert code == 1
    assert "1.2.0; 1.10 or newer is needed" in findings["store"]["says"]


def test_a_qdrant_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    code, findings = diagnose()
    assert (code, findings["store"]["state"]) == (1, "broken")
    assert "QDRANT_URL" in findings["store"]["next"]


def test_where_a_key_comes_from_but_never_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    code, findings = diagnose()
    assert code == 0
    for kind in ("embedding", "generation"):
        finding = findings[f"{kind} openai"]
        assert (finding["state"], finding["says"]) == (
            *("ok", "configured by OPENAI_API_KEY; not tried (--online does)"),
        )


CHOSEN = [
    ("CHAPTERVERSE_EMBEDDING", "cohere:embed-v4.0", "embedding cohere:embed-v4.0", "COHERE_API_KEY"),
    ("CHAPTERVERSE_EMBEDDING", "nobody", "embedding", "CHAPTERVERSE_EMBEDDING"),
    ("CHAPTERVERSE_MODEL", "openai:gpt-x", "generation openai:gpt-x", "OPENAI_API_KEY"),
    ("CHAPTERVERSE_MODEL", "openai-compatible:m", "generation openai-compatible:m", "OPENAI_COMPATIBLE_BASE_URL"),
]


@pytest.mark.parametrize(("variable", "choice", "what", "advice"), CHOSEN)
def test_what_is_chosen_must_work(
    monkeypatch: pytest.MonkeyPatch, variable: str, choice: str, what: str, advice: str
) -> None:
    monkeypatch.setenv(variable, choice)
    code, findings = diagnose()
    assert (code, findings[what]["state"]) == (1, "broken")
    assert advice in findings[what]["next"]
    assert variable in findings[what]["next"]


ONLINE = [(200, 0, "ok"), (404, 0, "ok"), (401, 1, "broken"), (500, 1, "broken")]


@pytest.mark.parametrize(("status", "code", "state"), ONLINE)
def test_a_model_that_is_tried(
    monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer, status: int, code: int, state: str
) -> None:
    body = {"object": "list", "data": []} if status == 200 else {"error": {"message": "no"}}
    httpserver.expect_request("/v1/models").respond_with_json(body, status)
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", httpserver.url_for("/v1"))
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", KEY)
    monkeypatch.setenv("CHAPTERVERSE_MODEL", "openai-compatible:m")
    assert diagnose()[0] == 0
    assert httpserver.log == []
    found, findings = diagnose("--online")
    assert (found, findings["generation openai-compatible:m"]["state"]) == (code, state)
    assert len(httpserver.log) == 1


def test_a_server_that_is_configured_and_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "http://127.0.0.1:9/v1")
    code, findings = diagnose("--online")
    assert (code, findings["generation openai-compatible"]["state"]) == (0, "warning")


@pytest.mark.parametrize(("status", "state"), [(200, "ok"), (401, "warning")])
def test_an_embedder_that_is_tried(
    monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer, status: int, state: str
) -> None:
    def embed(request: Request) -> Response:
        texts: list[Any] = json.loads(request.data)["texts"]
        body = {"id": "1", "response_type": "embeddings_by_type", "embeddings": {"float": [[1.0] * 1536] * len(texts)}}
        answer = {**body, "texts": []} if status == 200 else {"message": "no"}
        return Response(json.dumps(answer), status, content_type="application/json")

    httpserver.expect_request("/v2/embed").respond_with_handler(embed)
    monkeypatch.setenv("CO_API_URL", httpserver.url_for("").rstrip("/"))
    monkeypatch.setenv("COHERE_API_KEY", KEY)
    findings = diagnose("--online")[1]
    assert findings["embedding cohere"]["state"] == state
    assert "configured by COHERE_API_KEY; reachable" in findings["embedding cohere"]["says"] or status != 200


def test_manifests_are_what_counts_as_an_index(home: Path) -> None:
    (home / "bells").mkdir(parents=True)
    (home / "bells" / MANIFEST).write_text("{}")
    (home / "other").mkdir()
    assert "1 index, held by nobody" in diagnose()[1]["index folder"]["says"]


def test_the_address_of_a_server_for_embeddings_is_no_key_for_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("CHAPTERVERSE_EMBEDDING", "openai:nomic-embed-text")
    code, findings = diagnose()
    assert (code, findings["embedding openai:nomic-embed-text"]["state"]) == (0, "ok")
    openai = findings["generation openai"]
    assert (openai["state"], openai["says"]) == ("off", "not configured: set OPENAI_API_KEY to use it")
