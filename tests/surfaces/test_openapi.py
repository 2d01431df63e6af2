"""What the API says of itself is what it does: the examples of `/ask` against real answers of the sample book."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest

from chapterverse.contracts.ask import AskResponse, ErrorBody
from chapterverse.settings import ServiceSettings
from tests.surfaces.service import served, small_library


@pytest.fixture(scope="module")
def ask(client: httpx2.Client) -> dict[str, Any]:
    described: dict[str, Any] = client.get("/openapi.json").json()["paths"]["/ask"]["post"]
    return described


def shape(value: Any) -> Any:
    """The fields of a body, without what is in them; a list is as one of its entries."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return [shape(value[0])] if isinstance(value, list) and value else type(value).__name__


@pytest.mark.parametrize("name", ["ok", "partial", "conflict", "refused", "needs_clarification", "selection"])
def test_examples_are_what_is_really_answered(client: httpx2.Client, ask: dict[str, Any], name: str) -> None:
    request = ask["requestBody"]["content"]["application/json"]["examples"][name]["value"]
    example = ask["responses"]["200"]["content"]["application/json"]["examples"][name]["value"]
    response = client.post("/ask", json=request).json()
    AskResponse.model_validate(response, strict=True)
    assert response["status"] == example["status"] == ("ok" if name == "selection" else name)
    assert shape(response) == shape(example)


def test_every_error_has_an_example(ask: dict[str, Any]) -> None:
    errors = {status: response for status, response in ask["responses"].items() if status != "200"}
    assert set(errors) == set("400 401 403 404 409 413 421 429 500 502 503 504".split())
    for response in errors.values():
        ErrorBody.model_validate(response["content"]["application/json"]["example"], strict=True)


def test_errors_are_as_described(client: httpx2.Client, ask: dict[str, Any]) -> None:
    for body, status in (({"question": "?"}, 400), ({"question": "What is it?", "index": "nowhere"}, 404)):
        example = ask["responses"][str(status)]["content"]["application/json"]["example"]
        response = client.post("/ask", json=body)
        ErrorBody.model_validate(response.json(), strict=True)
        assert {**response.json(), "request_id": ""} == {**example, "request_id": ""}


HERE = "localhost"
ASKED: list[tuple[str, str, str, Any, str, int]] = [
    ("get", "/books", "/books", None, HERE, 200),
    ("get", "/books", "/books", None, "evil.example", 421),
    ("get", "/books/outline", "/books/outline?index=nowhere&file=x", None, HERE, 404),
    ("get", "/books/text", "/books/text?index=clocks&file=x&part=-1", None, HERE, 400),
    ("post", "/books", "/books", b"x", HERE, 400),
    ("post", "/books", "/books?name=x.md", b"", HERE, 422),
    ("post", "/search", "/search", {"query": "bells"}, HERE, 200),
    ("post", "/search", "/search", {"query": "bells", "indexFileId": "nowhere"}, HERE, 404),
    ("post", "/search", "/search", b"x" * 1_000_001, HERE, 413),
    ("post", "/answer", "/answer", {}, HERE, 400),
    ("get", "/indexes", "/indexes", None, HERE, 200),
    ("get", "/indexes/{index}", "/indexes/clocks", None, HERE, 200),
    ("get", "/indexes/{index}", "/indexes/nowhere", None, HERE, 404),
    ("delete", "/indexes/{index}", "/indexes/nowhere", None, HERE, 404),
    ("post", "/indexes", "/indexes", {"source": {"folderId": "/"}}, HERE, 400),
    ("post", "/indexes/{index}/sync", "/indexes/nowhere/sync", {}, HERE, 404),
    ("get", "/v1/models", "/v1/models", None, HERE, 200),
    ("get", "/v1/models/{model}", "/v1/models/nowhere", None, HERE, 404),
    ("post", "/v1/chat/completions", "/v1/chat/completions", {}, HERE, 400),
    ("get", "/health", "/health", None, HERE, 200),
    ("get", "/metrics", "/metrics", None, HERE, 200),
    ("post", "/books", "/books?name=x.md", b"# Bells\n\nThe bell was cast in 1702.\n", HERE, 200),
]


@pytest.mark.parametrize(("method", "route", "path", "body", "host", "status"), ASKED)
def test_what_is_answered_is_what_is_described(
    client: httpx2.Client, method: str, route: str, path: str, body: Any, host: str, status: int
) -> None:
    schema = client.get("/openapi.json").json()
    sent: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
    response = client.request(method, path, headers={"Host": host}, **sent)
    assert response.status_code == status, response.text
    described = schema["paths"][route][method]["responses"][str(status)]["content"]
    kind = response.headers["Content-Type"].partition(";")[0]
    shape = described[kind]["schema"]
    value = response.json() if kind == "application/json" else response.text
    jsonschema.validate(value, {**shape, "components": schema["components"]})
    assert status == 200 or "$ref" in shape


def test_the_key_is_declared_and_needed_where_there_is_one(client: httpx2.Client, tmp_path: Path) -> None:
    open_to_all = client.get("/openapi.json").json()
    assert open_to_all["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert {} in open_to_all["paths"]["/ask"]["post"]["security"]
    key = "a key of sixteen or more"
    with served(small_library(tmp_path), ServiceSettings(api_key=key)) as guarded:
        bearer = {"Authorization": f"Bearer {key}"}
        for path, operations in guarded.get("/openapi.json", headers=bearer).json()["paths"].items():
            for method, operation in operations.items():
                needed = guarded.request(method, path, timeout=60).status_code == 401
                assert operation["security"] == ([{"key": []}] if needed else []), path
                assert ("401" in operation["responses"]) is needed


def test_all_routes_are_described(client: httpx2.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/ask", "/search", "/answer", "/indexes", "/indexes/{index}", "/indexes/{index}/sync"} <= set(paths)
    assert {"/health", "/ready", "/metrics"} <= set(paths)
