"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

Name = Annotated[str | None, typer.Argument(metavar="[INDEX]", help="Which index.")]
Index = Annotated[str | None, typer.Option("--index", "-i", help="Which index; not needed if there is only one.")]
Password = Annotated[
    str | None, typer.Option(help="Password of encrypted PDFs.", envvar="CHAPTERVERSE_PASSWORD", show_envvar=True)
]
Include = Annotated[list[str] | None, typer.Option(help="Only paths that match, e.g. 'docs/**/*.md'.")]
Exclude = Annotated[list[str] | None, typer.Option(help="Leave out paths that match.")]
MaxFiles = Annotated[int | None, typer.Option(min=1, help="Refuse sources with more files.")]
AllowPrivate = Annotated[
    bool, typer.Option("--allow-private", help="Also read web pages on this machine and the local network.")
]
Model = Annotated[
    str, typer.Option(help="Who writes: `local`, or provider:model.", envvar="CHAPTERVERSE_MODEL", show_envvar=True)
]
Deadline = Annotated[
    float | None, typer.Option(min=0.01, help="Seconds that an answer may take; 5 if nothing else is set.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
