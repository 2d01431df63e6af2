"""What offers the books to others, and whether all of it works."""

from __future__ import annotations

from typing import Annotated

import typer

from chapterverse.surfaces.cli.commands.options import Deadline, Json, Model


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 unless said otherwise.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 8080 unless said otherwise.")] = None,
    model: Annotated[str | None, typer.Option(help="Who writes: `local`, or provider:model.")] = None,
    root: Annotated[list[str] | None, typer.Option(help="What indexes may be built from over HTTP.")] = None,
    read_only: Annotated[bool | None, typer.Option("--read-only", help="Answer only: change no index.")] = None,
    allow_host: Annotated[list[str] | None, typer.Option(help="A name that the service is reached by.")] = None,
    allow_origin: Annotated[list[str] | None, typer.Option(help="A web site that may use the service.")] = None,
    unprotected: Annotated[
        bool | None, typer.Option("--unprotected", help="Without a key also on addresses that others can reach.")
    ] = None,
    deadline: Deadline = None,
    max_body: Annotated[int | None, typer.Option(help="Bytes that a request may have.")] = None,
    max_upload: Annotated[int | None, typer.Option(help="Bytes that a book may have that is sent in.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that answer; several need a Qdrant server.")] = None,
) -> None:
    """Serve questions, books and indexes over HTTP.

    CHAPTERVERSE_API_KEY is the key that clients must send; all the rest can be set by environment variable too.
    """
    from chapterverse.surfaces.http.serving import serve

    given = {
        "host": host, "port": port, "model": model, "roots": root, "read_only": read_only, "hosts": allow_host,
        "origins": allow_origin, "unprotected": unprotected, "deadline": deadline, "max_body": max_body,
        "max_upload": max_upload, "workers": workers,
    }  # fmt: skip
    serve(**{name: value for name, value in given.items() if value is not None})


def mcp(
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve streamable HTTP there, at /mcp, instead of stdin and stdout."),
    ] = None,
    model: Model = "local",
) -> None:
    """Offer the books to an assistant through the Model Context Protocol (MCP)."""
    from chapterverse.surfaces.mcp.run import run_http, run_stdio

    if http is None:
        run_stdio(model)
    else:
        run_http(http, model)


def doctor(
    online: Annotated[
        bool, typer.Option("--online", help="Also try the providers that are configured; costs a few tokens.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what is configured and whether it works; exit code 1 if something that is needed does not."""
    from chapterverse.surfaces.cli.doctor import run

    raise typer.Exit(run(online=online, as_json=json))
