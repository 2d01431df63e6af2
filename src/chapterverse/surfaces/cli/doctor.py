"""`chapterverse doctor`: what is configured, whether it works, and what to do where it does not."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from rich.text import Text

from chapterverse import __version__
from chapterverse.errors import AstRagError, AstRagValidationError
from chapterverse.index.edge import default_root
from chapterverse.index.folder import MANIFEST, read_holder
from chapterverse.index.owner import find_owner
from chapterverse.ingest.sandbox import Sandbox
from chapterverse.providers.encoders import CARD
from chapterverse.providers.generation import HOSTED, NAMES, resolve
from chapterverse.providers.generation.catalog import LOCAL
from chapterverse.providers.local import MODELS
from chapterverse.providers.registry import Registry
from chapterverse.providers.service import Embeddings
from chapterverse.reading.runtime import MANIFEST as READER_MANIFEST
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.cli.console import console, print_json
from chapterverse.surfaces.cli.exits import FAILED, OK
from chapterverse.types import ReadOptions, SourceItem

State = Literal["ok", "off", "warning", "broken"]
_COLOURS: dict[State, str] = {"ok": "green", "off": "dim", "warning": "yellow", "broken": "red"}
_LOW, _TOO_LOW = 1_000_000_000, 100_000_000
"""Bytes of free disk space that are little, and too little to build an index."""
_ONLINE_SECONDS = 15.0
_NO_LIST = (404, 405)
"""What a provider answers that does not list its models."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `next` says what to do about it."""

    what: str
    state: State
    says: str
    next: str = ""


def run(*, online: bool, as_json: bool) -> int:
    """Print what was found; the exit code is 1 if something that is needed does not work."""
    findings = list(examine(online))
    broken = any(finding.state == "broken" for finding in findings)
    if as_json:
        print_json({"ok": not broken, "findings": [asdict(finding) for finding in findings]})
    else:
        _print(findings)
    return FAILED if broken else OK


def examine(online: bool) -> Iterator[Finding]:
    """Everything there is to say, from the package itself to what lies outside of it."""
    yield Finding("chapterverse", "ok", f"{__version__} on Python {platform.python_version()}, {platform.platform()}")
    try:
        settings, service = Settings(), ServiceSettings()
    except AstRagValidationError as error:
        for variable, what in error.details.items():
            yield Finding("settings", "broken", f"{variable}: {what}.", f"Correct {variable}, or unset it.")
        return
    yield from _models()
    yield _sandbox()
    yield from _store(settings)
    yield from asyncio.run(_providers(settings, service, online))


def _models() -> Iterator[Finding]:
    """The shipped models, file by file against the checksums that they were shipped with."""
    for card in sorted([*MODELS.glob(f"*/{CARD}"), *MODELS.glob(f"*/{READER_MANIFEST}")]):
        sums: dict[str, str] = json.loads(card.read_text("utf-8"))["sha256"]
        wrong = [name for name, expected in sums.items() if _sha256(card.parent / name) != expected]
        what = f"model {card.parent.name}"
        if wrong:
            says = f"{', '.join(wrong)} in {card.parent} is missing or is not the file that was shipped"
            yield Finding(what, "broken", says, "Install chapterverse again.")
        else:
            yield Finding(what, "ok", f"{len(sums)} files have their checksums")


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _sandbox() -> Finding:
    """Whether files can be parsed in a process of their own, and which limits the system itself puts on that."""
    try:
        import resource
    except ImportError:
        held: list[str] = []
    else:
        limits = {"RLIMIT_AS": "memory", "RLIMIT_CPU": "CPU time", "RLIMIT_CORE": "core dumps"}
        held = [title for name, title in limits.items() if hasattr(resource, name)]
    data = b"Is it ready?"
    try:
        with Sandbox() as sandbox:
            probe = SourceItem("probe.txt", "probe.txt")
            sandbox.parse(data, "text/plain", hashlib.sha256(data).hexdigest(), probe, ReadOptions())
    except (AstRagError, OSError) as error:
        advice = "Allow chapterverse to start processes: PDF, EPUB and Office files are parsed in one of their own."
        return Finding("sandbox", "broken", f"the worker process cannot read a file: {error}", advice)
    return Finding("sandbox", "ok", f"works; watched, and limited by the system in {', '.join(held) or 'nothing'}")


def _store(settings: Settings) -> Iterator[Finding]:
    if settings.qdrant_url:
        yield _server(settings, settings.qdrant_url)
        yield _disk(Path.home())
        return
    root = (settings.home or default_root()).expanduser()
    yield _folder(root)
    yield Finding("store", "ok", f"embedded, Qdrant Edge {version('qdrant-edge-py')}")
    yield _disk(root)


def _folder(root: Path) -> Finding:
    """The folder of the embedded indexes, how many there are, and who has them open."""
    place = _existing(root)
    if not place.is_dir() or not os.access(place, os.W_OK):
        advice = "Set CHAPTERVERSE_HOME to a folder that you may write to."
        return Finding("index folder", "broken", f"{root}: {place} cannot be written to", advice)
    indexes = sorted(path.parent for path in root.glob(f"*/{MANIFEST}"))
    holders = {folder.name: holder for folder in indexes if (holder := read_holder(folder)) is not None}
    says = f"{root}, {len(indexes)} index{'' if len(indexes) == 1 else 'es'}"
    try:
        owner = find_owner(root) if root.is_dir() else None
    except AstRagError as error:
        return Finding("index folder", "broken", error.message, "Then run this command again.")
    if owner is not None:
        return Finding("index folder", "ok", f"{says}, shared by {owner.holder}")
    if holders:
        held = "; ".join(f"{name} is held by {holder}" for name, holder in holders.items())
        return Finding("index folder", "ok", f"{says}; {held}")
    return Finding("index folder", "ok", f"{says}, held by nobody")


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that there is."""
    return next(place for place in (path, *path.parents) if place.exists())


def _server(settings: Settings, url: str) -> Finding:
    from chapterverse.index.server import ServerStore

    async def look() -> str:
        key = settings.qdrant_api_key
        store = ServerStore(url, key.get_secret_value() if key else None, attempts=1)
        try:
            key_from = "with the key of QDRANT_API_KEY" if key else "without a key"
            return f"Qdrant {await store.version()} at {url} {key_from}, {len(await store.indexes())} indexes"
        finally:
            await store.close()

    try:
        return Finding("store", "ok", asyncio.run(look()))
    except AstRagError as error:
        advice = (
            "Start the server, correct QDRANT_URL and QDRANT_API_KEY, or unset them to keep indexes on this machine."
        )
        return Finding("store", "broken", error.message, advice)


def _disk(root: Path) -> Finding:
    free = shutil.disk_usage(_existing(root)).free
    state: State = "broken" if free < _TOO_LOW else "warning" if free < _LOW else "ok"
    advice = "" if state == "ok" else "Free some space, or set CHAPTERVERSE_HOME to a folder on another disk."
    return Finding("disk", state, f"{free / 1e9:,.1f} GB free", advice)


@dataclass(frozen=True, slots=True)
class _Provider:
    """A provider of embeddings or of answers, and the setting that may choose it."""

    what: str
    variables: Sequence[str]
    """What may hold its key or its address."""
    chosen: bool
    setting: str
    check: Callable[[], object]
    """Raises if it could not be used as it is configured."""
    reach: Callable[[], Awaitable[object]]

    async def finding(self, online: bool) -> Finding:
        """Whether it is configured, and by what; whether it can be reached, where that is asked for."""
        source = next((name for name in self.variables if os.environ.get(name, "").strip()), None)
        try:
            self.check()
            if not self.variables:
                return Finding(self.what, "ok", "on this machine")
            configured = f"configured by {source}" if source else "needs no key"
            if not online:
                return Finding(self.what, "ok", f"{configured}; not tried (--online does)")
            await asyncio.wait_for(self.reach(), _ONLINE_SECONDS)
            return Finding(self.what, "ok", f"{configured}; reachable")
        except TimeoutError:
            return self._bad(f"no answer within {_ONLINE_SECONDS:.0f} seconds")
        except AstRagError as error:
            if source or self.chosen:
                return self._bad(error.message)
            return Finding(self.what, "off", f"not configured: set {' or '.join(self.variables)} to use it")

    def _bad(self, says: str) -> Finding:
        """What new indexes or the service need must work; the rest is only of interest."""
        names = " and ".join(self.variables)
        if self.chosen:
            advice = f"Correct {names}, or unset {self.setting} to use `{LOCAL}`."
            return Finding(self.what, "broken", says, advice)
        return Finding(self.what, "warning", says, f"Correct {names}, or unset it if this provider is not needed.")


async def _providers(settings: Settings, service: ServiceSettings, online: bool) -> list[Finding]:
    registry = Registry()
    unknown = [
        _unknown("embedding", settings.embedding, registry.names(), "CHAPTERVERSE_EMBEDDING"),
        _unknown("generation", service.model, NAMES, "CHAPTERVERSE_MODEL"),
    ]
    providers = [*_embedding(settings.embedding, registry), *_generation(service.model)]
    return [
        *(finding for finding in unknown if finding),
        *await asyncio.gather(*(provider.finding(online) for provider in providers)),
    ]


def _name(choice: str) -> str:
    return choice.partition(":")[0].strip().casefold()


def _unknown(kind: str, choice: str, names: Sequence[str], setting: str) -> Finding | None:
    if _name(choice) in names:
        return None
    says = f"there is no provider {choice!r}; there are {', '.join(names)}"
    return Finding(kind, "broken", says, f"Correct {setting}, or unset it to use `{LOCAL}`.")


def _embedding(choice: str, registry: Registry) -> Iterator[_Provider]:
    async def embed(target: str) -> None:
        async with Embeddings(registry) as embeddings:
            await embeddings.embed(registry.resolve(target), ["Is it there?"], "query")

    for name in registry.names():
        chosen = name == _name(choice)
        wanted = choice if chosen else name
        yield _Provider(
            f"embedding {wanted}",
            registry.capabilities(name).key_variables,
            chosen,
            "CHAPTERVERSE_EMBEDDING",
            partial(registry.resolve, wanted),
            partial(embed, wanted),
        )


def _generation(choice: str) -> Iterator[_Provider]:
    for name in NAMES:
        chosen = name == _name(choice)
        entry = HOSTED.get(name)
        variables = entry.provider.key_variables if entry else ()
        if entry and not entry.needs_key and entry.base_url_variable:  # elsewhere an address does not do
            variables = (*variables, entry.base_url_variable)
        wanted = choice if chosen else f"{name}:{entry.example}" if entry else name
        yield _Provider(
            f"generation {choice if chosen else name}",
            variables,
            chosen,
            "CHAPTERVERSE_MODEL",
            partial(resolve, wanted),
            partial(_list_models, wanted),
        )


async def _list_models(choice: str) -> None:
    """Ask for something that costs nothing; a provider that has no such list is there all the same."""
    service = resolve(choice)
    assert service is not None
    try:
        await service.client().models.list()
    except Exception as error:
        known = service.error(error)
        if known is None:
            raise
        if known.details.get("status") not in _NO_LIST:
            raise known from error
    finally:
        await service.close()


def _print(findings: Sequence[Finding]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for finding in findings:
        advice = f"\n→ {finding.next}" if finding.next else ""
        table.add_row(Text(finding.state, _COLOURS[finding.state]), finding.what, f"{finding.says}{advice}")
    console().print(table)
