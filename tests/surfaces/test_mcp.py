"""The MCP server, driven by the official client: the command on stdin and stdout, and `/mcp` of the service."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ResourceTemplateReference

from chapterverse.answer.prompts import EMPTY_QUESTION, NAMES_NOTHING, NOT_IN_BOOK, NOT_IN_SELECTION, SEARCH_FAILED
from chapterverse.errors import AstRagError
from chapterverse.library import AsyncLibrary
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.mcp.run import run_http, run_stdio
from tests.clocks import INDEX
from tests.surfaces.service import build, free_port, served, small_library, write_books

ROOT = Path(__file__).parents[2]
BOOK = "the-clocks-of-harrow-vale.pdf"
QUESTION = "Who taught apprentices by handing them a weight?"
ENVIRONMENT = {"PATH": os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"]))}


def snippets() -> dict[str, dict[str, Any]]:
    """The server's entry in each configuration that the page shows, by the client it is for."""
    page = (ROOT / "docs/mcp.md").read_text()
    found = {}
    for title, block in re.findall(r"^### (.+?)$.*?```json\n(.*?)```", page, re.MULTILINE | re.DOTALL):
        (servers,) = json.loads(block).values()
        found[title] = servers["chapterverse"]
    return found


class Assistant:
    """The official client for plain tests."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def __call__(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return self._portal.call(work, *arguments)

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        result = self(self.client.call_tool, tool, arguments)
        assert isinstance(result, CallToolResult)
        return result

    def structured(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        return result.structured_content

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


def connected(server: Any, mode: str = "auto", http: httpx2.AsyncClient | None = None) -> Iterator[Assistant]:
    client = Client(streamable_http_client(server, http_client=http) if http else server, mode=mode)
    with start_blocking_portal() as portal, ExitStack() as stack:
        for one in (http, client):
            if one is not None:
                stack.enter_context(portal.wrap_async_context_manager(one))
        yield Assistant(portal, client)


@pytest.fixture(scope="module")
def stdio(clocks_home: Path) -> Iterator[Assistant]:
    """The very command of the page's first configuration."""
    entry = snippets()["Claude Desktop"]
    yield from connected(
        StdioServerParameters(**{**entry, "env": {**ENVIRONMENT, "CHAPTERVERSE_HOME": str(clocks_home)}}), mode="legacy"
    )


@pytest.fixture(scope="module")
def http(clocks_home: Path, stdio: Assistant) -> Iterator[Assistant]:
    """The service, which finds the index in the hands of the other process."""
    with served(AsyncLibrary(Settings(home=clocks_home))) as service:
        yield from connected(str(service.base_url.join("/mcp")))


@pytest.fixture(scope="module", params=["stdio", "http"])
def assistant(request: pytest.FixtureRequest) -> Assistant:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Assistant)
    return found


def test_tools_have_schemas_descriptions_and_hints(assistant: Assistant) -> None:
    tools = {tool.name: tool for tool in assistant(assistant.client.list_tools).tools}
    assert list(tools) == ["ask", "search", "read_passage", "list_books"]
    for tool in tools.values():
        assert tool.description
        assert "  " not in tool.description, "the indentation of the code is no part of it"
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.output_schema is not None
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert all(field.get("description") for field in tool.input_schema["properties"].values())
    assert tools["ask"].input_schema["required"] == ["question"]
    assert "do not fill it in" in assistant.client.instructions


def test_an_answer_has_citations_text_and_progress(assistant: Assistant) -> None:
    heard: list[str] = []

    async def ask() -> CallToolResult:
        async def hear(progress: float, total: float | None, message: str | None) -> None:
            assert (progress, total) == (len(heard) + 1, None)
            heard.append(message or "")

        result = await assistant.client.call_tool("ask", {"question": QUESTION}, progress_callback=hear)
        assert isinstance(result, CallToolResult)
        return result

    result = assistant(ask)
    answer = result.structured_content
    assert (answer["status"], answer["grounded"], answer["related"]) == ("ok", True, [])
    assert "Ambrose Kell" in answer["answer"]
    assert answer["sentences"][0]["citations"] == [1]
    cited = answer["citations"][0]
    assert (cited["index"], cited["file_id"], cited["page_label"]) == (INDEX, BOOK, "12")
    assert cited["chapter"] == "Chapter 3: The Weight and the Drop"
    assert heard[0] == "retrieve"
    assert heard[-1] == answer["sentences"][-1]["text"]
    sentence, footnote = text_of(result).split("\n\n")
    assert sentence == f"{answer['answer']} [1]"
    assert footnote.startswith("[1] The Clocks of Harrow Vale, Chapter 3")
    assert cited["quote"] in footnote

    read = assistant.structured("read_passage", start=cited["start"], length=cited["end"] - cited["start"])
    assert read["text"] == cited["quote"]
    chapter = assistant(assistant.client.read_resource, cited["uri"]).contents[0].text
    assert cited["quote"] in chapter


def test_a_refusal_is_an_answer_with_what_came_nearest(assistant: Assistant) -> None:
    result = assistant.call("ask", question="What did Ambrose Kell eat for breakfast?")
    assert not result.is_error
    answer = result.structured_content
    assert answer is not None
    assert (answer["answer"], answer["grounded"], answer["citations"]) == (NOT_IN_BOOK, False, [])
    assert answer["reason"]
    assert text_of(result).startswith(f"{NOT_IN_BOOK}\n\nRelated, but it does not answer:\n- ")
    related = answer["related"][0]
    assert assistant.structured("read_passage", start=related["start"])["text"].startswith(related["text"][:200])


def test_a_selection_is_answered_from_alone(stdio: Assistant) -> None:
    text = "The drop is the height through which a weight may fall between one winding and the next."
    answer = stdio.structured("ask", question="What is the drop?", selected_text=text)
    assert (answer["answer"], answer["citations"][0]["index"], answer["citations"][0]["uri"]) == (text, None, None)
    refused = stdio.structured("ask", question="Who cast the bell?", selected_text=text)
    assert (refused["answer"], refused["related"]) == (NOT_IN_SELECTION, [])
    assert "answered from alone" in stdio.error("ask", question="What is it?", selected_text=text, chapter="3")


def test_a_question_about_nobody_says_that_it_does_not_say_whom(stdio: Assistant) -> None:
    assert text_of(stdio.call("ask", question="And what about him?")) == f"{EMPTY_QUESTION} {NAMES_NOTHING}"


def test_search_stays_within_a_place(stdio: Assistant) -> None:
    found = stdio.structured("search", query="the longest drop", top_k=3, chapter="Chapter 3", file=BOOK)["passages"]
    assert len(found) == 3
    assert {one["chapter"] for one in found} == {"Chapter 3: The Weight and the Drop"}
    one = found[0]
    assert stdio.structured("read_passage", start=one["start"], length=len(one["text"]))["text"] == one["text"]
    early = stdio.structured("search", query="the longest drop", read_until=12)["passages"]
    assert early
    assert max(one["page"] for one in early) <= 12
    assert stdio.structured("search", query="weight", pages="11")["passages"][0]["page_label"] == "11"


def test_a_chapter_is_read_piece_by_piece(stdio: Assistant) -> None:
    title = "Chapter 3: The Weight and the Drop"
    uri = next(line for line in _outline(stdio).splitlines() if title in line).partition("](")[2][:-1]
    whole = stdio(stdio.client.read_resource, uri).contents[0].text
    piece = stdio.structured("read_passage", chapter="3", length=2_000)
    assert (piece["chapter"], piece["page_label"]) == (title, "11")
    text = piece["text"]
    while len(text) < len(whole):
        piece = stdio.structured("read_passage", start=piece["next_start"], length=2_000)
        text += piece["text"]
    assert text.startswith(whole)
    assert whole.startswith(title)
    end = stdio.structured("read_passage", start=piece["book_length"] - 10)
    assert (end["next_start"], len(end["text"])) == (None, 10)
    page = stdio.structured("read_passage", page="iv")
    assert (page["page_label"], page["section"]) == ("iv", "Preface")
    begun = stdio.call("read_passage", length=50)
    assert "(It goes on: read_passage with start=" in text_of(begun)


def test_nothing_is_read_beyond_the_page_that_was_read_last(stdio: Assistant) -> None:
    whole = stdio.structured("read_passage", start=0, length=20_000)["text"]
    page = stdio.structured("read_passage", page="5")["text"]
    read = stdio.structured("read_passage", read_until=9, length=20_000)
    assert whole.startswith(read["text"])
    assert stdio.structured("read_passage", page="ii", read_until=9)["text"] in read["text"]
    assert (read["next_start"], read["book_length"]) == (None, len(read["text"]))
    assert page not in read["text"]
    for told, arguments in (
        ("It has pages", {"page": "20"}),
        ("It has: The Clocks of Harrow Vale", {"chapter": "Chapter 9"}),
        ("characters 0 to", {"start": read["book_length"]}),
        ("nothing of The Clocks of Harrow Vale is known to stand on its pages up to 0", {"read_until": 0}),
    ):
        error = stdio.error("read_passage", **{"read_until": 9, **arguments})
        assert told in error
        assert "Chapter 2" not in error


def _outline(assistant: Assistant) -> str:
    (book,) = assistant(assistant.client.list_resources).resources
    assert (book.name, book.mime_type) == ("The Clocks of Harrow Vale", "text/markdown")
    outline = assistant(assistant.client.read_resource, book.uri).contents[0].text
    assert isinstance(outline, str)
    return outline


def test_books_are_listed_and_can_be_completed(assistant: Assistant) -> None:
    (book,) = assistant.structured("list_books")["books"]
    assert (book["index"], book["file_id"], book["pages"]) == (INDEX, BOOK, 68)
    assert book["chapters"][3] == "Chapter 3: The Weight and the Drop"
    assert _outline(assistant).startswith("# The Clocks of Harrow Vale by Wilhelmina Tarrant\n\n- [")
    templates = assistant(assistant.client.list_resource_templates).resource_templates
    assert [one.uri_template for one in templates] == [
        "chapterverse://{index}/{file}",
        "chapterverse://{index}/{file}/{chapter}",
    ]

    def complete(name: str, value: str) -> list[str]:
        ref = ResourceTemplateReference(type="ref/resource", uri=templates[1].uri_template)
        argument = {"name": name, "value": value}
        values = assistant(assistant.client.complete, ref, argument).completion.values
        assert isinstance(values, list)
        return values

    assert (complete("index", "clo"), complete("file", "")) == ([INDEX], [BOOK])
    assert complete("chapter", "towers") == ["Chapter 5: The Five Towers"]


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("ask", {"question": "What is it?", "index": "nowhere"}, "There is no index 'nowhere'. There are: clocks."),
        ("ask", {"question": " "}, "Please provide a question about the book."),
        ("ask", {"question": "x" * 1001}, "Please shorten it."),
        ("ask", {"question": "What?", "chapter": "1", "pages": "2"}, "Give a chapter or pages, not both."),
        ("ask", {"question": "Who was Ambrose Kell?", "chapter": "Chapter 77"}, "no chapter or section 'Chapter 77'"),
        ("ask", {"question": "How do I bake a cake?", "chapter": "Chapter 77"}, "there are The Clocks of Harrow Vale"),
        ("ask", {"question": "Who was Ambrose Kell?", "pages": "x"}, "There is no page 'x'; the last is page 68"),
        ("ask", {"question": "Who was Ambrose Kell?", "read_until": -1}, "read_until is -1"),
        ("ask", {}, "question: Field required"),
        ("ask", {"question": "What?", "chapters": "1"}, "has no argument chapters. It takes: question, index"),
        ("search", {"query": "bells", "top_k": 51}, "top_k is 51"),
        ("search", {"query": "bells", "file": "other.pdf"}, f"there is no 'other.pdf' in {INDEX}. `list_books`"),
        ("search", {"query": "bells", "chapter": "Chapter 77"}, "no chapter or section 'Chapter 77'"),
        ("read_passage", {"chapter": "Chapter 99"}, "It has: The Clocks of Harrow Vale, Chapter 1"),
        ("read_passage", {"page": "999"}, "It has pages i to 63."),
        ("read_passage", {"start": 10_000_000}, "has characters 0 to"),
        ("read_passage", {"start": 0, "page": "1"}, "Give one of chapter, page and start"),
        ("read_passage", {"length": 20_001}, "1 to 20,000"),
        ("list_books", {"index": "nowhere"}, "There are: clocks."),
    ],
)
def test_errors_say_what_to_do(stdio: Assistant, tool: str, arguments: dict[str, Any], told: str) -> None:
    said = stdio.error(tool, **arguments)
    assert told in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("chapterverse://nowhere/book.pdf", "There is no index 'nowhere'"),
        (f"chapterverse://{INDEX}/other.pdf", "there is no 'other.pdf'"),
        (f"chapterverse://{INDEX}/{BOOK}/Chapter%2099", "It has: "),
        (f"chapterverse://{INDEX}/..%2F..%2Fetc%2Fpasswd", "there is no '../../etc/passwd'"),
    ],
)
def test_unknown_resources_say_what_there_is(stdio: Assistant, uri: str, told: str) -> None:
    with pytest.raises(MCPError, match=re.escape(told)):
        stdio(stdio.client.read_resource, uri)


def test_a_store_that_cannot_be_reached_is_a_tool_error() -> None:
    library = AsyncLibrary(Settings(QDRANT_URL="http://127.0.0.1:9", index=INDEX))
    with served(library) as service:
        for assistant in connected(str(service.base_url.join("/mcp"))):
            assert assistant.error("search", query="bells").endswith(f": {SEARCH_FAILED}")
            assert "127.0.0.1:9" not in assistant.error("ask", question="Who cast the bell?")


def test_an_index_that_cannot_be_opened_is_told_of(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with served(small_library(home), ServiceSettings(roots=(str(tmp_path),))) as service:
        for name in ("Books", "Torn"):
            build(service, write_books(tmp_path / "books"), name)
        (home / "torn" / "manifest.json").write_text("{")
        for assistant in connected(str(service.base_url.join("/mcp"))):
            listed = assistant.structured("list_books")
            assert ({book["index"] for book in listed["books"]}, listed["troubles"][0]["index"]) == ({"books"}, "torn")
            assert "`chapterverse remove torn`" in listed["troubles"][0]["trouble"]
            service.delete("/indexes/books")
            told = text_of(assistant.call("list_books"))
            assert "torn cannot be opened: The manifest of the index 'torn' is damaged" in told
            assert "There are no books yet" not in told
            assert str(tmp_path) not in told
            service.delete("/indexes/torn")
            assert "There are no books yet" in text_of(assistant.call("list_books"))


def test_every_surface_of_the_service_counts_its_answers(tmp_path: Path) -> None:
    asked = {"question": "What does this passage mean?"}
    with served(small_library(tmp_path / "home")) as service:
        service.post("/ask", json={**asked, "selected_text": "The bell was cast in 1702."})
        for assistant in connected(str(service.base_url.join("/mcp"))):
            assistant.call("ask", **asked, selected_text="The bell was cast in 1702.")
        counted = re.findall(r"^chapterverse_answers_total{.*} (\d+)$", service.get("/metrics").text, re.MULTILINE)
    assert counted == ["2"]


def test_a_server_that_cannot_start_says_so_and_the_library_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no server today")

    monkeypatch.setattr("chapterverse.surfaces.mcp.server.create_server", fail)
    with served(small_library(tmp_path)) as service:
        assert service.post("/mcp", json={}).status_code == 500
        assert (tmp_path / "owner.json").exists()
    assert not (tmp_path / "owner.json").exists()


def chapterverse(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["chapterverse", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **ENVIRONMENT, **environment},
    )  # fmt: skip


def test_nothing_but_the_protocol_is_on_stdout(tmp_path: Path) -> None:
    client = {"name": "test", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_books", "arguments": {}}},
    ]
    with chapterverse("mcp", CHAPTERVERSE_HOME=str(tmp_path / "home")) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        replies = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
        assert server.stdout.read() == ""
    assert [reply["id"] for reply in replies] == [1, 2]
    assert "chapterverse add BOOK" in replies[1]["result"]["content"][0]["text"]
    assert server.returncode == 0


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_no_stream_is_held_open_for_which_nothing_would_come(tmp_path: Path, method: str) -> None:
    with served(small_library(tmp_path)) as service:
        response = service.request(method, "/mcp", headers={"Accept": "text/event-stream"}, timeout=10)
        assert (response.status_code, response.headers["Allow"]) == (405, "POST")
        assert set(response.json()) == {"error", "detail", "request_id"}


def test_an_argument_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    call = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_books", "arguments": %s}}'
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    with served(small_library(tmp_path)) as service:
        for arguments in ('{"index": "bells", "index": "mills"}', '{"index": 1, "index": 1}'):
            response = service.post("/mcp", content=call % arguments, headers=headers)
            assert response.status_code == 400
            assert response.json()["detail"] == "'index' is given twice in one object of the body: give it once."
        whole = service.post("/mcp", content=iter([call[:30].encode(), (call % "{}")[30:].encode()]), headers=headers)
        assert (whole.status_code, '"isError":false' in whole.text) == (200, True)
        for odd in (b"\xff", b"[" * 100_000, b"1" * 5_000):
            assert service.post("/mcp", content=odd, headers=headers).status_code == 400


def test_what_is_logged_is_plain_lines() -> None:
    """The SDK would have it drawn in boxes: seconds for each traceback, in which a service answers nobody."""
    lines = (
        "import logging",
        "from chapterverse.library import AsyncLibrary",
        "from chapterverse.surfaces.mcp.server import create_server",
        "create_server(AsyncLibrary())",
        "try: 1 / 0",
        "except ArithmeticError: logging.getLogger('chapterverse.http').exception('Request %s failed', 'f' * 64)",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    head, *rest = done.stderr.splitlines()
    assert head.endswith(f" ERROR chapterverse.http: Request {'f' * 64} failed")
    assert (rest[0], rest[-1]) == ("Traceback (most recent call last):", "ZeroDivisionError: division by zero")


def test_the_command_serves_http_on_a_port_of_its_own(clocks_home: Path, stdio: Assistant) -> None:
    """Beside the other process, which has the index; whoever has no key is turned away, as by the service."""
    port, key = free_port(), "a key for assistants"
    environment = {"CHAPTERVERSE_HOME": str(clocks_home), "CHAPTERVERSE_API_KEY": key}
    with chapterverse("mcp", "--http", f"127.0.0.1:{port}", **environment) as server:
        try:
            assert server.stderr is not None
            assert any("running on" in line for line in iter(server.stderr.readline, ""))
            url = f"http://127.0.0.1:{port}/mcp"
            assert httpx2.post(url, json={}).status_code == 401
            known = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
            for assistant in connected(url, http=known):
                assert [book["index"] for book in assistant.structured("list_books")["books"]] == [INDEX]
        finally:
            server.terminate()
            server.communicate()


@pytest.mark.parametrize(
    ("address", "model", "told"),
    [
        ("8000", "local", "it must be HOST:PORT, such as 127.0.0.1:8000"),
        ("0.0.0.0:8000", "local", "Set CHAPTERVERSE_API_KEY"),
        ("127.0.0.1:8000", "nobody:nothing", "nobody"),
        (None, "nobody:nothing", "nobody"),
    ],
)
def test_what_cannot_be_served_is_refused(address: str | None, model: str, told: str) -> None:
    with pytest.raises(AstRagError, match=told):
        run_stdio(model) if address is None else run_http(address, model)


def test_the_sdk_is_imported_by_the_command_alone() -> None:
    code = "import sys, chapterverse.surfaces.cli, chapterverse.surfaces.http; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_configuration_that_is_shown_starts_the_same_server() -> None:
    found = snippets()
    assert len(found) >= 4
    (block,) = re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert json.loads(block)["mcpServers"]["chapterverse"] == found["Claude Desktop"]
    for client, entry in found.items():
        if "url" in entry:
            assert entry["url"] == "http://127.0.0.1:8080/mcp", client
        else:
            assert (entry["command"], entry["args"]) == ("chapterverse", ["mcp"]), client
