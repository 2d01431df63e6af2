"""How fast books become text, beside other readers, in one run on one machine.

    python -m benchmarks.ingest --data DIR

Reads the sample book in all its formats, and what lies in DIR: every PDF, EPUB, DOCX, PPTX and HTML file, and every
folder as one book of Markdown files. Each reading is a
process of its own; readers take turns, and the median of the rounds is reported. Every peer is installed into its own
environment below `.local/peers`. Results are printed, and kept in `benchmarks/results/ingest.md` and `.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from benchmarks import environments
from benchmarks.environments import RESULTS, ROOT, existing_folder, install, last_line

from chapterverse import sample_book

SCRIPT = ROOT / "benchmarks" / "peer_ingest.py"
OURS = "chapterverse"
FORMATS = (".pdf", ".epub", ".docx", ".pptx", ".html", ".md")
FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Peer(environments.Peer):
    """A reader by the name of its function in `peer_ingest.py`, and the formats that it reads."""

    formats: tuple[str, ...] = ()


PEER_READERS = (
    Peer("pypdfium2", ("pypdfium2",), formats=(".pdf",)),
    Peer("pymupdf", ("pymupdf",), formats=(".pdf",)),
    Peer("pypdf", ("pypdf",), formats=(".pdf",)),
    Peer("pdfminer", ("pdfminer.six",), formats=(".pdf",)),
    Peer("python_docx", ("python-docx",), formats=(".docx",)),
    Peer("python_pptx", ("python-pptx",), formats=(".pptx",)),
    Peer("ebooklib", ("EbookLib", "beautifulsoup4", "lxml"), formats=(".epub",)),
    Peer("beautifulsoup", ("beautifulsoup4", "lxml"), formats=(".html",)),
    Peer("trafilatura", ("trafilatura", "lxml_html_clean"), formats=(".html",)),
    Peer("markitdown", ("markitdown[pdf,docx,pptx]",), formats=(*FORMATS, FOLDER)),
    Peer("unstructured", ("unstructured[docx,pptx,md,epub]",), formats=(*FORMATS[1:], FOLDER)),
)

NOT_TRIED = {
    "docling": "not tried: installs torch, and fetches models when it first reads",
    "unstructured[pdf]": "not tried: installs torch, and fetches models when it first reads",
}

_BUSY = (
    "**The machine was busy with other work.** Seconds are several times what they are on an idle one; CPU time and "
    "ratios say more."
)


@dataclass
class Case:
    path: Path
    kind: str
    size_mb: float


@dataclass
class Row:
    """One reader on one book: all its runs, or why there are none."""

    book: str
    kind: str
    size_mb: float
    reader: str
    runs: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None

    def value(self, key: str) -> float | None:
        values = [run[key] for run in self.runs if run.get(key) is not None]
        return median(values) if values else None


def main() -> None:
    options = _options()
    cases = [_case(sample_book(suffix)) for suffix in FORMATS]
    if options.data:
        cases += [
            _case(path) for path in sorted(options.data.iterdir()) if path.is_dir() or path.suffix in FORMATS[:-1]
        ]
    pythons: dict[str, Path | str] = {OURS: Path(sys.executable)}
    for peer in PEER_READERS if options.peers else ():
        pythons[peer.name] = install(peer) or peer.python
    rows = [
        Row(case.path.name, case.kind, case.size_mb, reader)
        for case in cases
        for reader in (OURS, *(peer.name for peer in PEER_READERS if case.kind in peer.formats))
        if reader in pythons
    ]
    paths = {case.path.name: case.path for case in cases}
    for turn in range(options.rounds):
        for row in rows:
            patient = row.reader == OURS or (row.runs and row.runs[0]["process_seconds"] <= options.patience)
            if turn == 0 or patient:
                _run(row, pythons[row.reader], paths[row.book], options.timeout)
                print(f"\r{turn + 1}/{options.rounds} {row.book} {row.reader}".ljust(79), end="", file=sys.stderr)
    about = _about(pythons, options)
    report = _report(rows, about)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "ingest.md").write_text(report)
    kept = {"about": about, "rows": [asdict(row) for row in rows]}
    (RESULTS / "ingest.json").write_text(json.dumps(kept, indent=1) + "\n")
    print("\r".ljust(80), file=sys.stderr)
    print(report, end="")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Reading speed and memory, beside other readers.")
    parser.add_argument("--data", type=existing_folder, help="a folder of books; without it, the sample book alone")
    parser.add_argument("--rounds", type=int, default=3, help="how often each reader reads each book (3)")
    parser.add_argument("--patience", type=float, default=20, help="a peer's longer run is not repeated (20 s)")
    parser.add_argument("--timeout", type=float, default=300, help="a run longer than this is ended (300 s)")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="measure Chapterverse alone")
    return parser.parse_args()


def _case(path: Path) -> Case:
    files = [path] if path.is_file() else [file for file in path.rglob("*.md") if file.is_file()]
    kind = path.suffix if path.is_file() else FOLDER
    return Case(path, kind, sum(file.stat().st_size for file in files) / 1e6)


def _run(row: Row, python: Path | str, path: Path, timeout: float) -> None:
    """Read a book once in a fresh process, and note what it took."""
    if isinstance(python, str):
        row.error = python
        return
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(python), str(SCRIPT), row.reader, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    peak = 0.0
    while process.poll() is None and time.perf_counter() - start < timeout:
        peak = max(peak, _tree_mb(process.pid))
        time.sleep(0.03)
    if process.poll() is None:
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.kill()
        row.error = f"not done after {timeout:.0f} s"
    out, err = process.communicate()
    if process.returncode == 0:
        run = json.loads(out.splitlines()[-1])
        seconds = time.perf_counter() - start
        row.runs.append({**run, "process_seconds": seconds, "peak_mb": max(peak, run["peak_mb"])})
    elif row.error is None:
        row.error = last_line(err)


def _tree_mb(pid: int) -> float:
    """Resident memory of a process and all that it started; pages that they share count for each."""
    try:
        process = psutil.Process(pid)
        return sum(one.memory_info().rss for one in (process, *process.children(recursive=True))) / 2**20
    except psutil.Error:
        return 0.0


def _about(pythons: dict[str, Path | str], options: argparse.Namespace) -> dict[str, Any]:
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    changed = subprocess.run(["git", "status", "--short", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": git.stdout.strip() + (" with uncommitted changes" if changed.stdout.strip() else ""),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB, "
        f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "load": f"{psutil.getloadavg()[0]:.1f}",
        "rounds": options.rounds,
        "patience": options.patience,
        "versions": {name: _versions(name, python) for name, python in pythons.items()},
    }


def _versions(name: str, python: Path | str) -> str:
    if isinstance(python, str):
        return python
    packages = {peer.name: peer.packages for peer in PEER_READERS}.get(name, (OURS, "pypdfium2", "nupunkt"))
    names = [package.partition("[")[0] for package in packages]
    ask = "import importlib.metadata as m, sys; print(', '.join(f'{p} {m.version(p)}' for p in sys.argv[1:]))"
    return subprocess.run([str(python), "-c", ask, *names], capture_output=True, text=True, check=True).stdout.strip()


def _report(rows: list[Row], about: dict[str, Any]) -> str:
    lines = [
        "# Reading, side by side",
        "",
        f"{about['date']}, commit {about['commit']}. {about['machine']}, Python {about['python']}, "
        f"load {about['load']} at the end. Median of {about['rounds']} rounds; readers take turns, and a peer's run "
        f"of more than {about['patience']:.0f} s is not repeated.",
        *(["", _BUSY] if float(about["load"]) > (os.cpu_count() or 1) else []),
        "",
        "`seconds` is the reading alone, without start-up and imports (Chapterverse: with the start of its worker "
        "processes); `times ours` is the ratio of it. `process` is all of it as seen from outside, and `CPU` the "
        "processor time in it. `peak MB` is resident memory, workers included.",
        "",
        *_summary([row for row in rows if row.reader == OURS]),
    ]
    for book in dict.fromkeys(row.book for row in rows):
        lines += _comparison([row for row in rows if row.book == book])
    lines += ["## Not measured", "", "| reader | book | why |", "|---|---|---|"]
    lines += [f"| {row.reader} | {row.book} | {row.error} |" for row in rows if row.error]
    lines += [f"| {name} | all | {why} |" for name, why in NOT_TRIED.items()]
    lines += ["", "## Versions", "", *(f"- {name}: {what}" for name, what in about["versions"].items()), ""]
    return "\n".join(lines)


def _summary(rows: list[Row]) -> list[str]:
    """Chapterverse alone, all books."""
    lines = ["## Chapterverse", ""]
    lines += ["| book | MB | pages | blocks | chunks | seconds | chunking s | pages/s | MB/s | peak MB |"]
    lines += ["|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        pages, seconds = row.value("pages"), row.value("seconds")
        if seconds is None:
            continue
        counts = " | ".join(_number(row.value(key)) for key in ("pages", "blocks", "chunks"))
        speed = _number(pages / seconds if pages else None)
        lines.append(
            f"| {row.book} | {row.size_mb:.2f} | {counts} | {seconds:.2f} | {row.value('chunk_seconds'):.2f} | "
            f"{speed} | {row.size_mb / seconds:.2f} | {_number(row.value('peak_mb'))} |"
        )
    return [*lines, ""]


def _comparison(rows: list[Row]) -> list[str]:
    """All readers, one book."""
    ours = next(row for row in rows if row.reader == OURS)
    pages, seconds = ours.value("pages"), ours.value("seconds")
    lines = [f"## {ours.book}", ""]
    lines += ["| reader | runs | seconds | times ours | pages/s | MB/s | process s | CPU s | peak MB | characters |"]
    lines += ["|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        taken = row.value("seconds")
        if taken is None:
            continue
        lines.append(
            f"| {row.reader} | {len(row.runs)} | {taken:.2f} | {f'{taken / seconds:.2f}' if seconds else ''} | "
            f"{_number(pages / taken if pages else None)} | {row.size_mb / taken:.2f} | "
            f"{row.value('process_seconds'):.2f} | {row.value('cpu_seconds'):.2f} | {_number(row.value('peak_mb'))} | "
            f"{_number(row.value('characters'))} |"
        )
    return [*lines, ""]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


if __name__ == "__main__":
    main()
