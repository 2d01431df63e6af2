"""What benchmarks share: the machine they ran on, and peers that each live in an environment of their own."""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PEERS = ROOT / ".local" / "peers"


@dataclass(frozen=True, slots=True)
class Peer:
    """An environment, and the functions that run in it."""

    name: str
    packages: tuple[str, ...]
    functions: tuple[str, ...] = ()
    bare_packages: tuple[str, ...] = ()
    """Installed without what they ask for."""

    @property
    def home(self) -> Path:
        return PEERS / self.name

    @property
    def python(self) -> Path:
        return self.home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(peer: Peer, again: bool = False) -> str | None:
    """Make a peer's environment when it is missing, or `again`; why it cannot be had, or None."""
    ready, wanted = peer.home / "ready", " ".join([*peer.packages, *peer.bare_packages])
    if not again and ready.exists() and ready.read_text() == wanted:
        return None
    print(f"Installing {peer.name} ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(peer.home)], check=True)
    pip = [str(peer.python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    for packages in filter(None, (peer.packages, ("--no-deps", *peer.bare_packages) if peer.bare_packages else ())):
        done = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
        if done.returncode:
            return f"cannot be installed: {last_line(done.stderr)}"
    ready.write_text(wanted)
    return None


def installed_mb(peer: Peer) -> float:
    """All that an environment holds, but for what every one has and what Python compiles."""
    files = (path for path in peer.home.rglob("site-packages/*") if not path.name.startswith(("pip", "setuptools")))
    every = (file for path in files for file in ([path] if path.is_file() else path.rglob("*")))
    return sum(one.stat().st_size for one in every if one.is_file() and one.suffix != ".pyc") / 1e6


def versions(peer: Peer) -> str:
    """What is installed of a peer."""
    packages = (*peer.packages, *peer.bare_packages)
    names = [peer.name if os.sep in package else re.split(r"[\[<>=]", package)[0] for package in packages]
    code = "import sys, importlib.metadata as m; print(', '.join(f'{n} {m.version(n)}' for n in sys.argv[1:]))"
    asked = [str(peer.python), "-c", code, *names]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def last_line(text: str) -> str:
    """The last line of a message, without addresses."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"\s*(?:from )?https?://\S+", "", lines[-1])[:160] if lines else "no message"


def circumstances(*packages: str) -> str:
    """When, from which commit and on what a figure was made; a sentence or two for the head of a result."""
    commit = _git("rev-parse", "--short", "HEAD") + (" with uncommitted changes" if _git("status", "-s", "src") else "")
    memory = psutil.virtual_memory().total / 2**30
    load = psutil.getloadavg()[0]
    busy = (
        " **The machine was busy with other work**: seconds are more than on an idle one."
        if load > 1.5 * (os.cpu_count() or 1)
        else ""
    )
    shown = ", ".join(
        f"{name} {version(name)}" for name in ("chapterverse", "onnxruntime", "qdrant-edge-py", *packages)
    )
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit}. {platform.machine()}, {os.cpu_count()} cores,"
        f" {memory:.0f} GiB, {platform.system()} {platform.release().split('-')[0]},"
        f" Python {platform.python_version()}; {shown}."
        f" Load at the end: {load:.1f}.{busy}"
    )


def existing_folder(text: str) -> Path:
    """The value of an option that takes a folder, which must be there before anything is installed or measured."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text!r}")
    return Path(text)


def question_sets(text: str) -> Path:
    """The value of an option that takes the folder of the public question sets."""
    if not (existing_folder(text) / "dev").is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} has no folder `dev` with question sets; see benchmarks/README.md")
    return Path(text)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; columns that begin with > hold numbers."""
    head = "| " + " | ".join(column.lstrip(">") for column in columns) + " |"
    rule = "|" + "|".join("---:" if column.startswith(">") else "---" for column in columns) + "|"
    return "\n".join([head, rule, *("| " + " | ".join(row) + " |" for row in rows)])


def publish(name: str, text: str) -> None:
    """Print a result and keep it."""
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text.rstrip() + "\n", encoding="utf-8")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
