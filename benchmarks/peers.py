"""Chapterverse beside txtai, Haystack, LlamaIndex, LangChain and paper-qa: one run, one machine, the same texts.

    python -m benchmarks.peers --data FOLDER [--questions N] [--tasks NAME,…] [--only PEER,…]

Each peer is installed into an environment of its own below `.local/peers`, and runs in processes of its own. FOLDER
holds `dev/` with the public question sets. Results are printed, and kept in `benchmarks/results/peers.md`.

The frameworks bring no embedding model, so that their hybrid rows are given our vectors; embedding is not part of
their time to index. Chapterverse reads files, cuts, embeds and stores them on disk, all of which is part of its time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from benchmarks.common import Task, dev_tasks, measure
from benchmarks.environments import (
    ROOT,
    Peer,
    circumstances,
    install,
    installed_mb,
    last_line,
    publish,
    question_sets,
    table,
    versions,
)
from benchmarks.retrieval import figures_table, shipped, vectors

HERE = Path(__file__).parent
STARTS = 3
OURS = "chapterverse"
PEERS = (
    Peer(OURS, (str(ROOT),), (OURS,)),
    Peer("bm25s", ("bm25s", "PyStemmer", "numpy"), ("bm25s",)),
    Peer("tantivy", ("tantivy",), ("tantivy",)),
    Peer("txtai", ("txtai",), ("txtai_bm25", "txtai_hybrid")),
    Peer("haystack", ("haystack-ai",), ("haystack_bm25", "haystack_hybrid")),
    Peer(
        "llamaindex",
        ("llama-index-core", "llama-index-llms-openai", "llama-index-embeddings-openai", "bm25s", "PyStemmer"),
        ("llamaindex_bm25", "llamaindex_hybrid"),
        # It asks for a release of PyStemmer that has no wheels for some platforms; the current one works.
        ("llama-index-retrievers-bm25",),
    ),
    Peer(
        "langchain",
        ("langchain-community", "langchain-classic", "langchain-openai", "rank_bm25", "numpy"),
        ("langchain_bm25", "langchain_hybrid"),
    ),
    Peer("paperqa", ("paper-qa",), ("paperqa_dense",)),
)
IMPORTS = {
    "chapterverse": "chapterverse.library", "bm25s": "bm25s", "tantivy": "tantivy", "txtai": "txtai",
    "haystack": "haystack.components.retrievers.in_memory", "llamaindex": "llama_index.core",
    "langchain": "langchain_classic.retrievers", "paperqa": "paperqa",
}  # fmt: skip
"""What is imported to search."""
ANSWERERS = ("chapterverse", "txtai", "haystack", "llamaindex", "langchain", "paperqa")
OFFLINE = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "COHERE_API_KEY", "HF_TOKEN")


def main() -> None:
    options = _options()
    wanted = options.only.split(",") if options.only else [peer.name for peer in PEERS]
    tasks = [task for task in dev_tasks(options.data) if not options.tasks or task.name in options.tasks.split(",")]
    tasks = [task.head(options.questions) if options.questions else task for task in tasks]
    peers, absent = _installed(wanted)
    found: dict[str, dict[str, Any]] = {}
    for peer in peers:
        for function in peer.functions:
            for task in tasks:
                print(f"{function} on {task.name} ...", file=sys.stderr)
                ranked = _ranked(peer, function, task)
                if isinstance(ranked, str):
                    absent[f"{function} on {task.name}"] = ranked
                else:
                    found.setdefault(function, {})[task.name] = ranked
    publish("peers", _report(peers, tasks, found, absent))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=question_sets, required=True)
    parser.add_argument("--questions", type=int, default=0, help="so many of each task; 0 takes all")
    parser.add_argument("--tasks", default="", help="of squad2, fairytale and scifact; all if not given")
    parser.add_argument("--only", default="", help="peers by name, `chapterverse` among them; all if not given")
    return parser.parse_args()


def _installed(wanted: Sequence[str]) -> tuple[list[Peer], dict[str, str]]:
    """The peers that can be had, ours from the source as it is now; and why others cannot."""
    there, absent = [], {}
    for peer in PEERS:
        if peer.name in wanted:
            why = install(peer, again=peer.name == OURS)
            if why:
                absent[peer.name] = why
            else:
                there.append(peer)
    return there, absent


def _ranked(peer: Peer, function: str, task: Task) -> dict[str, Any] | str:
    """The figures of one system on one task, or why there are none."""
    model, _ = shipped()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = {"passages": task.passages, "questions": task.questions}
        (folder / "task.json").write_text(json.dumps(texts), "utf-8")
        np.save(folder / "passages.npy", vectors(model, task.passages, "document"))
        np.save(folder / "questions.npy", vectors(model, task.questions, "query"))
        done = _python(peer, str(HERE / "peer_retrieval.py"), function, name, str(folder / "result.json"))
        if done.returncode:
            return last_line(done.stderr)
        result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return {**result, "figures": measure(result["rankings"], task.relevant)}


def _python(peer: Peer, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs in a peer's environment, without keys and without a way out."""
    environment = {name: value for name, value in os.environ.items() if name not in KEYS} | OFFLINE
    environment |= {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
    command = [str(peer.python), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def _start_seconds(peer: Peer) -> float:
    """A fresh process that imports what it takes to search."""
    took = []
    for _ in range(STARTS):
        began = time.perf_counter()
        _python(peer, "-c", f"import {IMPORTS[peer.name]}")
        took.append(time.perf_counter() - began)
    return median(took)


def _answers(peer: Peer) -> tuple[str, ...]:
    """What it says, without key and network, to a question that the book answers, and to two that it does not."""
    done = _python(peer, str(HERE / "peer_answers.py"), peer.name)
    if done.returncode:
        return f"fails: {last_line(done.stderr)}", "", ""
    said: list[str] = json.loads(done.stdout.splitlines()[-1])
    return tuple(said)


def _report(peers: Sequence[Peer], tasks: Sequence[Task], found: dict[str, Any], absent: dict[str, str]) -> str:
    names = [task.name for task in tasks]
    sizes = "; ".join(f"{task.name}: {len(task.questions)} questions, {len(task.passages)} passages" for task in tasks)
    whole = {row: measured for row, measured in found.items() if set(measured) == set(names)}
    quality = {row: {name: measured[name]["figures"] for name in names} for row, measured in whole.items()}
    work = ((row, *(cell for name in names for cell in _work(measured[name]))) for row, measured in whole.items())
    homes = ((peer.name, f"{installed_mb(peer):,.0f}", f"{_start_seconds(peer):.2f}") for peer in peers)
    spoken = (
        (peer.name, *(cell.replace("|", "\\|").replace("\n", " ") for cell in _answers(peer)))
        for peer in peers
        if peer.name in ANSWERERS
    )
    parts = [
        "# Side by side",
        f"{sizes}. {circumstances()}",
        "## Retrieval",
        figures_table(quality, names),
        "## Indexing and searching",
        "Seconds to index all passages (Chapterverse: files read, cut, embedded and stored on disk; peers: in memory,"
        " vectors given), milliseconds to search (Chapterverse: with the embedding of the question; peers: given),"
        " and peak memory in MB.",
        table(("", *(f">{name} {what}" for name in names for what in ("index s", "p50 ms", "p95 ms", "MB"))), work),
        "## Installing and starting",
        table(("", ">installed MB", ">start s"), homes),
        "## Answering without a key or a network",
        "Asked of the same three sentences: a question that they answer, one that is related but absent, and one about"
        " something else.",
        table(("", "answered", "absent", "something else"), spoken),
        *(["## Not measured", "\n".join(f"- {name}: {why}" for name, why in absent.items())] if absent else []),
        "## Versions",
        "\n".join(f"- {peer.name}: {versions(peer)}" for peer in peers),
    ]
    return "\n\n".join(parts)


def _work(measured: dict[str, Any]) -> tuple[str, ...]:
    p50, p95 = (1e3 * float(value) for value in np.percentile(measured["search_seconds"], [50, 95]))
    return (f"{measured['build_seconds']:.2f}", f"{p50:.1f}", f"{p95:.1f}", f"{measured['peak_mb']:.0f}")


if __name__ == "__main__":
    main()
