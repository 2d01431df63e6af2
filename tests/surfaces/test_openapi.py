"""What the API says of itself is what it does: the examples of `/ask` against real answers of the sample book."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from chapterverse.contracts.ask import AskResponse, ErrorBody


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
    assert set(errors) == {"400", "401", "404", "413", "429", "502", "503", "504"}
    for response in errors.values():
        ErrorBody.model_validate(response["content"]["application/json"]["example"], strict=True)


def test_errors_are_as_described(client: httpx2.Client, ask: dict[str, Any]) -> None:
    for body, status in (({"question": "?"}, 400), ({"question": "What is it?", "index": "nowhere"}, 404)):
        example = ask["responses"][str(status)]["content"]["application/json"]["example"]
        response = client.post("/ask", json=body)
        ErrorBody.model_validate(response.json(), strict=True)
        assert {**response.json(), "request_id": ""} == {**example, "request_id": ""}


def test_all_routes_are_described(client: httpx2.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/ask", "/search", "/answer", "/indexes", "/indexes/{index}", "/indexes/{index}/sync"} <= set(paths)
    assert {"/health", "/ready", "/metrics"} <= set(paths)
