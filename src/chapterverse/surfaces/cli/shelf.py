"""The commands that make, keep, show and remove indexes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from rich.text import Text

from chapterverse.errors import AstRagError, AstRagIndexError
from chapterverse.index.build import BuildResult
from chapterverse.index.sync import SyncResult
from chapterverse.library import Ingestion, Library
from chapterverse.library.terms import SAMPLE
from chapterverse.providers.service import Preview
from chapterverse.surfaces.cli.console import complain, console, counted, error_console, print_json, table
from chapterverse.surfaces.cli.exits import OK, PARTIAL
from chapterverse.surfaces.cli.hints import with_flags
from chapterverse.types import IndexRecord, Notice, ReadOptions, SourceRecord


def add(
    addresses: list[str],
    *,
    index: str | None,
    replacing: str | None,
    embedding: str | None,
    chunking: Mapping[str, int],
    spec: dict[str, Any],
    password: str | None,
    max_files: int | None,
    ask_above: float,
    yes: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Index each address; all of them go into the index that is named, or each into its own.

    One that cannot be indexed keeps none of the others from it; if none can, the last of their errors is raised.
    """
    results, failed = [], dict[str, AstRagError | OSError]()
    if SAMPLE in addresses and Path(SAMPLE).exists():
        error_console().print(f"`{SAMPLE}` is the book that comes along; what lies here by that name is ./{SAMPLE}.")
    with Library() as library:
        for address in addresses:
            try:
                with _progress(f"Indexing {address}", not quiet) as show:
                    ingestion = _ingestion(
                        show, password, max_files=max_files, confirm=lambda cost: yes or _confirm(cost, ask_above)
                    )
                    result = library.add(
                        address,
                        index=index,
                        embedding=embedding,
                        chunking=chunking,
                        spec=spec,
                        ingestion=ingestion,
                        replacing=[replacing] if replacing is not None else [],
                    )
            except (AstRagError, OSError) as error:
                failed[address] = error
                continue
            results.append(result)
            if not as_json:
                _tell(result)
    if as_json:
        errors = [{"address": address, "error": str(error)} for address, error in failed.items()]
        print_json([*map(_as_dict, results), *errors])
    last = None if results else failed.popitem()[1]
    for address, trouble in failed.items():
        complain(f"{address}: {with_flags(str(trouble))}")
    if last is not None:
        raise last
    return PARTIAL if failed or any(result.warnings for result in results) else OK


def sync(index: str | None, *, dry_run: bool, password: str | None, as_json: bool, quiet: bool) -> int:
    """Bring an index into step with its sources, and say what that took."""
    with Library() as library, _progress("Syncing", not quiet) as show:
        result = library.sync(index, dry_run=dry_run, ingestion=_ingestion(show, password))
    if as_json:
        print_json(_as_dict(result))
    else:
        _tell(result)
    return PARTIAL if result.warnings else OK


def watch(index: str | None, *, seconds: float, password: str | None = None) -> NoReturn:
    """Sync again and again until interrupted; each round that changes something is told.

    Trouble ends the first round alone: later it may pass, and other processes use the index through this one.
    """
    console().print("Watching; Ctrl-C ends it.")
    ingestion = Ingestion(options=ReadOptions(password=password))
    with Library() as library:
        index = library.find(index)
        library.share()
        trouble, warnings = "", _watched(library.sync(index, ingestion=ingestion), ())
        while True:
            time.sleep(seconds)
            try:
                warnings = _watched(library.sync(index, ingestion=ingestion), warnings)
                trouble = ""
            except (AstRagError, OSError) as error:
                if str(error) != trouble:  # told once, however many rounds it lasts
                    trouble = str(error)
                    error_console().print(f"{_now()} {with_flags(trouble)}")


def _watched(result: SyncResult, before: Sequence[Notice]) -> Sequence[Notice]:
    """Tell of a round what is new; its warnings, to be compared with those of the next."""
    if result.persisted:
        console().print(f"{_now()} {_changes(result)}")
    if result.warnings != before:
        _warn(result.warnings)
    return result.warnings


def _now() -> str:
    return time.strftime("%H:%M:%S")


def list_indexes(*, as_json: bool) -> int:
    """Every index, a line each."""
    with Library() as library:
        inspections, troubles = library.survey()
    if as_json:
        sound = [{**_record(one.record), "chunks": one.stats.chunks, "files": one.stats.sources} for one in inspections]
        print_json([*sound, *({"index": index, "trouble": error.message} for index, error in troubles.items())])
        return OK
    out = console()
    if not inspections and not troubles:
        out.print("No index yet: `chapterverse add BOOK` makes one.")
        return OK
    rows = table("Index", "Name", ">Files", ">Chunks", "Updated")
    for one in inspections:
        name = "" if one.record.name == one.record.id else one.record.name
        updated = one.record.updated_at[:16].replace("T", " ")
        rows.add_row(one.record.id, name, f"{one.stats.sources:,}", f"{one.stats.chunks:,}", updated)
    if inspections:
        out.print(rows)
    for index, error in troubles.items():
        out.print(Text.assemble((index, "yellow"), f": {error.message}"))
    return OK


def inspect(index: str | None, *, as_json: bool) -> int:
    """What an index was made from and how, and the files in it."""
    with Library() as library:
        one = library.inspect(index)
    if as_json:
        print_json(
            {
                **_record(one.record),
                "chunks": one.stats.chunks,
                "bytes": one.stats.size_bytes,
                "addresses": _addresses(one.record),
                "sources": [_source(source) for source in one.sources],
            }
        )
        return OK
    out, record = console(), one.record
    size = f", {one.stats.size_bytes / 1e6:,.1f} MB" if one.stats.size_bytes else ""
    out.print(Text.assemble((record.name, "bold"), f" ({record.id})"))
    out.print(f"{counted(one.stats.sources, 'file')}, {counted(one.stats.chunks, 'chunk')}{size}")
    made = record.embedding
    out.print(f"embedded with {made.provider}:{made.model} ({made.dimensions} dimensions)")
    if record.calibration:
        target = record.calibration.get("target")
        wanted = f", for at most {target:.1%} wrong answers" if target else ""
        out.print(f"calibrated to answer from {record.calibration['answer_threshold']:.3f} on{wanted}")
    out.print(f"chunks of {record.chunking['size']} characters, {record.chunking['overlap']} of overlap")
    out.print(f"made {record.created_at[:19]}, updated {record.updated_at[:19]}")
    for address in _addresses(record):
        out.print(f"from {address}")
    rows = table("File", "Title", ">Pages", ">Chunks")
    for source in one.sources:
        rows.add_row(source.file_id, source.title, str(source.page_count or ""), f"{source.chunk_count:,}")
    out.print(rows)
    return OK


def remove(index: str, *, yes: bool) -> int:
    """Delete an index, after asking; what an unfinished build has left of one goes unasked."""
    with Library() as library:
        try:
            found = library.find(index)
        except AstRagIndexError:
            left = library.remove(index)
            console().print(f"Removed what an unfinished build of {left} had left.")
            return OK
        if not yes and not _ask(f"Delete the index {found!r}?"):
            return OK
        library.remove(found)
    console().print(f"Deleted {found}.")
    return OK


def remove_source(index: str, source: str, *, yes: bool) -> int:
    """Drop one of several sources of an index, after asking."""
    with Library() as library:
        found = library.find(index)
        if not yes and not _ask(f"Drop {source!r} and what the index {found!r} has of it?"):
            return OK
        result = library.remove_source(found, source)
    console().print(f"Dropped {source} and {counted(result.removed_sources, 'file')} from {found}.", soft_wrap=True)
    return OK


def export_index(index: str | None, path: Path, *, replace: bool) -> int:
    """Write an index to one file."""
    with Library() as library:
        record = library.export_index(path, index, replace_old=replace)
    console().print(f"Wrote {record.name} to {path}.")
    return OK


def import_index(path: Path, index: str | None, *, replace: bool) -> int:
    """Read an index from a file."""
    with Library() as library:
        try:
            record = library.import_index(path, index, replace_old=replace)
        except AstRagIndexError as error:
            if error.details.get("reason") != "exists":
                raise
            name = error.details["index"]
            message = f"There is an index {name!r} already: say --replace to replace it, or --index for another name."
            raise AstRagIndexError(message, details=error.details, cause=error) from error
    console().print(f"Read {record.name} as {record.id}.")
    return OK


def _ingestion(show: Callable[..., None], password: str | None, **limits: Any) -> Ingestion:
    return Ingestion(
        options=ReadOptions(password=password),
        on_file=lambda name: show(file=name),
        on_chunks=lambda count: show(chunks=count),
        **limits,
    )


def _tell(result: BuildResult | SyncResult) -> None:
    out = console()
    if isinstance(result, BuildResult):
        held = f"{counted(result.source_count, 'file')}, {counted(result.chunk_count, 'chunk')}"
        out.print(Text.assemble("Indexed ", (result.record.name, "bold"), f": {held}."))
        if result.note:
            out.print(result.note)
    else:
        out.print(Text.assemble((result.record.name, "bold"), f": {_changes(result)}"))
    _warn(result.warnings)


def _warn(warnings: Sequence[Notice]) -> None:
    out = console()
    for notice in warnings:
        out.print(Text.assemble(("warning", "yellow"), f" {notice.file_name}: {with_flags(notice.reason)}"))


def _changes(result: SyncResult) -> str:
    if not result.persisted and not (result.added_sources or result.updated_sources or result.removed_sources):
        return f"nothing has changed ({counted(result.unchanged_sources, 'file')})."
    would = "" if result.persisted else "would be: "
    return (
        f"{would}{counted(result.added_sources, 'file')} added, {result.updated_sources:,} updated, "
        f"{result.removed_sources:,} removed, {result.unchanged_sources:,} unchanged; "
        f"{counted(result.reembedded_chunks, 'chunk')} embedded, {result.reused_chunks:,} reused."
    )


def _as_dict(result: BuildResult | SyncResult) -> dict[str, Any]:
    warnings = [{"file": notice.file_id, "reason": notice.reason} for notice in result.warnings]
    counts = {
        name: getattr(result, name) for name in type(result).__slots__ if isinstance(getattr(result, name), bool | int)
    }
    return {"index": result.record.id, "name": result.record.name, **counts, "warnings": warnings}


def _record(record: IndexRecord) -> dict[str, Any]:
    made = record.embedding
    return {
        "index": record.id,
        "name": record.name,
        "embedding": f"{made.provider}:{made.model}",
        "dimensions": made.dimensions,
        "chunking": dict(record.chunking),
        "calibration": dict(record.calibration),
        "created_at": record.created_at,
        "updated_at": record.updated_at,
    }


def _addresses(record: IndexRecord) -> list[str]:
    """Where an index was made from."""
    return [source["address"] for source in record.source_config.get("sources", ())]


def _source(source: SourceRecord) -> dict[str, Any]:
    return {
        "file": source.file_id,
        "title": source.title,
        "mime_type": source.mime_type,
        "pages": source.page_count,
        "chunks": source.chunk_count,
        "sha256": source.fingerprint,
    }


def _confirm(preview: Preview, ask_above: float) -> bool:
    """Paid embedding above a stated cost is asked for; below it, it is only told."""
    cost = "an unknown amount" if preview.cost is None else f"about ${preview.cost:.2f}"
    chunks = counted(preview.texts - preview.kept, "chunk")
    told = f"Embedding {chunks} (about {preview.tokens:,} tokens) will cost {cost}."
    if preview.cost is not None and preview.cost <= ask_above:
        error_console().print(told)
        return True
    return _ask(told + " Go on?")


def _ask(question: str) -> bool:
    if not sys.stdin.isatty():
        raise AstRagError(f"{question} There is nobody to ask: say --yes to go on.")
    return error_console().input(Text(f"{question} [y/N] ")).strip().lower() in ("y", "yes")


@contextmanager
def _progress(what: str, show: bool) -> Iterator[Any]:
    """What is being done, on the terminal; nothing at all when piped."""
    if not (show and sys.stderr.isatty()):
        yield lambda **_: None
        return
    from rich.status import Status

    state: dict[str, Any] = {"file": "", "chunks": 0}
    with Status(Text(what), console=error_console()) as status:

        def update(**news: Any) -> None:
            state.update(news)
            status.update(Text(f"{what}: {counted(state['chunks'], 'chunk')} · {state['file']}"))

        yield update
