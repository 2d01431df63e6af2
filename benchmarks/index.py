"""How fast books become an index, and how fast it is searched, beside other embedded engines.

    python -m benchmarks.index --data FOLDER [--files N] [--sizes 1000,10000,100000] [--rounds N] [--no-peers]

FOLDER holds books: every PDF and every folder of Markdown files in it is indexed, compared with the bare encoder on the
same texts, and synced again unchanged. Searches are measured on vectors and texts that are drawn at random: vectors in
clusters, words as frequent as in English. Every engine builds and searches in processes of its own; peers are installed
into environments below `.local/peers`. Results are printed, and kept in `benchmarks/results/index.md`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from benchmarks.environments import Peer, circumstances, existing_folder, install, last_line, publish, table, versions

from chapterverse import Chunking, Reading, chunk
from chapterverse.library import Library
from chapterverse.library.shelving import embedding_text
from chapterverse.providers.encoders import EncoderCard, load_encoder
from chapterverse.providers.local import MODELS
from chapterverse.providers.service import Embeddings
from chapterverse.settings import Settings

SCRIPT = Path(__file__).with_name("peer_index.py")
OURS = "chapterverse"
ENGINES = (
    Peer("chroma", ("chromadb",), ("chroma",)),
    Peer("lancedb", ("lancedb", "numpy"), ("lancedb",)),
    Peer("qdrant_local", ("qdrant-client",), ("qdrant_local",)),
)
DIMENSIONS = 384
QUERIES = 105
FILES = 100
WORDS = 180
"""In a chunk of 1,200 characters."""
VOCABULARY = 30_000
FUNCTION_WORDS = 80
"""The most frequent ones; questions do without them."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a piece of work took: seconds on the clock, and of the processor."""

    wall: float
    cpu: float


def taken(work: Callable[[], object]) -> Taken:
    wall, cpu = time.perf_counter(), _cpu()
    work()
    return Taken(time.perf_counter() - wall, _cpu() - cpu)


def _cpu() -> float:
    """Of this process and those that it has started and seen end."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def middle(times: list[Taken]) -> Taken:
    return Taken(median(one.wall for one in times), median(one.cpu for one in times))


@dataclass(frozen=True, slots=True)
class Build:
    """A source beside the bare encoder on the same texts."""

    name: str
    pages: int | None
    chunks: int
    bare: Taken
    reading: Taken
    build: Taken
    resync: Taken

    def row(self) -> list[str]:
        return [
            self.name,
            f"{self.pages:,}" if self.pages else "",
            f"{self.chunks:,}",
            f"{self.reading.wall:.1f}",
            f"{self.build.wall:.1f}",
            f"{self.chunks / self.build.wall:.1f}",
            f"{self.bare.wall / self.build.wall:.2f}",
            f"{self.bare.cpu / self.build.cpu:.2f}",
            f"{self.bare.wall / (self.build.wall - self.reading.wall):.2f}" if self.pages else "",
            f"{1000 * self.bare.cpu / self.chunks:.0f}",
            f"{1000 * self.resync.wall:.0f}",
            f"{self.resync.wall / self.build.wall:.4f}",
        ]


BUILD_COLUMNS = (
    "source", ">pages", ">chunks", ">reading s", ">build s", ">chunks/s", ">bare encoder : build",
    ">the same in CPU", ">bare encoder : build without reading", ">encoder CPU ms a chunk", ">re-sync ms",
    ">re-sync : build",
)  # fmt: skip


def measure_build(path: Path, rounds: int) -> Build:
    """Build an index of a source, and sync it unchanged; each round has a bare run of the encoder beside it."""
    documents = [outcome.document for outcome in Reading(str(path)) if outcome.document]
    texts = [embedding_text(one, piece) for one in documents for piece in chunk(one, Chunking())]
    embeddings = Embeddings()  # of all rounds, so that the model is loaded once
    shipped = embeddings.registry.resolve("local")
    asyncio.run(embeddings.embed(shipped, texts[:2], "document"))
    card = EncoderCard.read(MODELS / shipped.model)
    assert card is not None
    encoder = load_encoder(MODELS / shipped.model, card)
    encoder.encode(texts[:2])
    times: dict[str, list[Taken]] = {"bare": [], "reading": [], "build": [], "resync": []}
    for turn in range(rounds):
        print(f"{path.name}: round {turn + 1} of {rounds}", file=sys.stderr)
        times["bare"].append(taken(lambda: encoder.encode(texts)))
        times["reading"].append(taken(lambda: list(Reading(str(path)))))
        with tempfile.TemporaryDirectory() as home:
            with Library(Settings(home=Path(home)), embeddings=embeddings) as library:
                times["build"].append(taken(lambda: library.add(path, index="bench")))
            with Library(Settings(home=Path(home)), embeddings=embeddings) as library:
                times["resync"].append(taken(lambda: library.sync("bench")))
    pages = sum(document.page_count or 0 for document in documents)
    return Build(path.name, pages or None, len(texts), **{name: middle(found) for name, found in times.items()})


def make_corpus(folder: Path, count: int) -> None:
    """Vectors in clusters, texts whose words are as frequent as English ones, and what each query should find."""
    draw = np.random.default_rng(count)
    middles = draw.standard_normal((256, DIMENSIONS)).astype(np.float32)

    def near(number: int) -> Any:
        found = middles[draw.integers(0, len(middles), number)]
        found = found + 0.8 * draw.standard_normal(found.shape).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    vectors, queries = near(count), near(QUERIES)
    truth = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
    weights = 1 / (np.arange(VOCABULARY) + 2.7)
    letters = np.array(list("etaoinshrdlucmwfgypb"))
    lexicon = np.array(["".join(letters[draw.integers(0, 20, draw.integers(3, 11))]) for _ in range(VOCABULARY)])
    chosen = np.searchsorted(np.cumsum(weights / weights.sum()), draw.random((count, WORDS))).clip(max=VOCABULARY - 1)
    texts = [" ".join(lexicon[row]) for row in chosen]
    about = chosen[draw.integers(0, count, QUERIES)]
    questions = [" ".join(lexicon[draw.choice(row[row >= FUNCTION_WORDS], 6)]) for row in about]
    for name, array in {
        "vectors": vectors,
        "queries": queries,
        "truth": truth,
        "files": np.arange(count) % FILES,
    }.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "texts.txt").write_text("\n".join(texts), "utf-8")
    (folder / "questions.txt").write_text("\n".join(questions), "utf-8")


def measure_engines(count: int, pythons: dict[str, Path]) -> dict[str, dict[str, Any] | str]:
    """What building and searching took each engine, or why it failed."""
    measured: dict[str, dict[str, Any] | str] = {}
    with tempfile.TemporaryDirectory() as name:
        make_corpus(Path(name), count)
        for engine, python in pythons.items():
            print(f"{engine}: {count:,} chunks", file=sys.stderr)
            found: dict[str, Any] = {}
            for mode in ("build", "search"):
                command = [str(python), str(SCRIPT), engine, mode, name]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    measured[engine] = last_line(done.stderr)
                    break
                found |= json.loads(done.stdout.splitlines()[-1])
            else:
                measured[engine] = found
            shutil.rmtree(Path(name) / f"home-{engine}", ignore_errors=True)
    return measured


SEARCH_COLUMNS = (
    "engine", ">p50", ">p95", ">p50 in one file", ">p95 in one file", ">recall@10", ">build s", ">disk KB a chunk",
    ">memory KB a chunk",
)  # fmt: skip


def search_rows(count: int, measured: dict[str, dict[str, Any] | str]) -> list[list[str]]:
    rows = []
    for engine, found in measured.items():
        if isinstance(found, str):
            rows.append([engine, found, *[""] * (len(SEARCH_COLUMNS) - 2)])
            continue
        for kind in ("vectors", "words", "hybrid"):
            if f"{kind} plain" not in found:
                continue
            times = [found[f"{kind} {how}"][cut] for how in ("plain", "filtered") for cut in ("p50", "p95")]
            sizes = [
                f"{found['recall']:.3f}",
                f"{found['seconds']:.1f}",
                f"{found['disk'] / count / 1024:.1f}",
                f"{found['memory'] / count / 1024:.1f}",
            ]
            name = engine if kind == "vectors" else f"{engine}, {kind}"
            rows.append([name, *(f"{one:.1f}" for one in times), *(sizes if kind == "vectors" else [""] * 4)])
    return rows


def main() -> None:
    options = _options()
    pythons = {OURS: Path(sys.executable)}
    about = []
    for peer in ENGINES if options.peers else ():
        why_not = install(peer)
        if why_not is None:
            pythons[peer.name] = peer.python
        about.append(f"- {peer.name}: {why_not or versions(peer)}")
    with tempfile.TemporaryDirectory() as some:
        builds = [measure_build(path, options.rounds) for path in _sources(options, Path(some))]
    searches = [(count, measure_engines(count, pythons)) for count in options.sizes]
    parts = ["# Building and searching an index", circumstances(), "## Building", BUILD_NOTE]
    parts.append(table(BUILD_COLUMNS, [one.row() for one in builds]))
    parts += ["## Searching", SEARCH_NOTE]
    for count, measured in searches:
        parts += [f"### {count:,} chunks", table(SEARCH_COLUMNS, search_rows(count, measured))]
    publish("index", "\n\n".join([*parts, *(["## Versions", "\n".join(about)] if about else [])]))


BUILD_NOTE = (
    "`build` is all of `chapterverse add`: reading, cutting, embedding, storing and the topic profile. The bare "
    "encoder embeds the same texts at once, with nothing beside it; 1.00 would mean that all the rest costs nothing. "
    "The processor's time is compared too, because it does not depend on what else the machine does. A file must have "
    "been read before its first chunk can be embedded; `reading` is how long that takes by itself. Files of a folder "
    "are read while others are embedded."
)
SEARCH_NOTE = (
    "Milliseconds for ten hits with their texts, out of vectors of 384 numbers; `words` is BM25, `hybrid` all that a "
    "search does once its query is embedded: fifty candidates of each kind, the score that each lacks, fusion, and the "
    "texts of the best. "
    "`recall@10` is the share of the ten nearest vectors that were found. One file is a hundredth of the chunks. Disk "
    "is what the files occupy; memory is what opening and searching added, the engine's own code included: among few "
    "chunks that is most of it."
)


def _sources(options: argparse.Namespace, scratch: Path) -> list[Path]:
    """The PDFs, and the folders of Markdown files, or the first files of each."""
    found = [path for path in sorted(options.data.iterdir()) if path.suffix == ".pdf" and path.match(options.books)]
    for folder in (path for path in sorted(options.data.iterdir()) if path.is_dir()):
        files = sorted(folder.rglob("*.md"))[: options.files]
        if not files:
            continue
        for file in files:
            place = scratch / folder.name / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
        found.append(scratch / folder.name)
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Building and searching an index, beside other engines.")
    parser.add_argument("--data", type=existing_folder, required=True, help="a folder of books")
    parser.add_argument("--books", default="*.pdf", help="which PDFs are indexed (all)")
    parser.add_argument("--files", type=int, help="only the first so many Markdown files of each folder")
    parser.add_argument("--sizes", type=_sizes, default=[1_000, 10_000, 100_000], help="chunks that are searched")
    parser.add_argument("--rounds", type=int, default=3, help="how often each source is built (3)")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="measure Chapterverse alone")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(one) for one in text.split(",") if one]


if __name__ == "__main__":
    main()
