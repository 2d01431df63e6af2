"""The topic gate: a small profile, stored with an index, that knows which questions the index cannot be about.

A profile holds the index's vocabulary (a Bloom filter over word stems), the middles of clusters of its chunks, and
how near its own sentences come to them: the measure for "far" is always the index itself, whatever embedded it. A
question is refused only if it is foreign twice: most of its words occur nowhere in the index, and it is further from
all clusters than nearly every sentence of the index (or, where not one word occurs, than most of them). Everything
else goes on to retrieval.
"""

from __future__ import annotations

import base64
import heapq
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt

from chapterverse.answer.facts import names
from chapterverse.answer.validate import Sentences
from chapterverse.protocols import Vectors

Analyse = Callable[[str], Iterable[int]]
"""The ids of a text's words."""
Clusters = npt.NDArray[np.intp]
"""The number of the cluster that each vector belongs to."""

_SAMPLE = 2000
"""Chunks that the clusters are made from, at the most."""
_PROBES = 64
"""Sentences that are compared with the clusters; fewer than a quarter of them say too little to refuse anything."""
_PROBED = 4 * _PROBES
"""Chunks that those are chosen from, at the most: finding the sentences of a chunk takes longer than all else here."""
_PROBE_LENGTH = range(30, 250)
"""In characters: the length of questions, more or less."""
_FAR, _ASIDE, _TYPICAL = 0.02, 0.25, 0.5
"""Quantiles of the nearness of the index's own sentences: what is further away than so many of them."""
_BITS_PER_WORD, _HASHES, _MAX_BITS = 10, 5, 24 * 1024 * 8
_MAX_CLUSTERS, _MAX_CLUSTER_BYTES = 64, 20 * 1024
_ROUNDS = 10

_ANY_BOOK = "book chapter section part page paragraph passage text title author theme topic subject summary summarise"
"""How one speaks of any book: words that are at home in every index."""
_ENDING = re.compile(r"['’]\w+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a question can be about an index, and why."""

    decision: Literal["in_scope", "out_of_scope", "uncertain", "empty_question"]
    reason: str
    distant: bool = False
    """Further in meaning than nearly every sentence of the index, though its words may occur there; or with a name that
    occurs nowhere."""


class ProfileBuilder:
    """Makes a profile from chunks in any order: `add` them all, embed the `probes` as queries, and `build`."""

    def __init__(self) -> None:
        self._vocabulary: set[int] = set()
        self._heap: list[tuple[int, str, Sequence[float]]] = []
        self._probes: list[tuple[int, str]] = []

    def add(self, text: str, vector: Sequence[float], words: Iterable[int]) -> None:
        """One chunk, or its heading path in front of it, its vector and the ids of its words.

        Of all words, function words too: "What is it?" is never foreign.
        """
        self._vocabulary.update(words)
        # The chunks with the largest hashes are kept, so that their order makes no difference.
        item = (crc32(text.encode()), text, vector)
        if len(self._heap) < _SAMPLE:
            heapq.heappush(self._heap, item)
        else:
            heapq.heappushpop(self._heap, item)

    def probes(self, sentences: Sentences) -> list[str]:
        """Sentences of the index, to be embedded as if they were questions."""
        self._heap.sort(key=lambda item: item[:2])
        found = [
            (crc32(text[start:end].encode()), row, text[start:end])
            for row, (_, text, _) in enumerate(self._heap[:_PROBED])
            for start, end in sentences(text)
            if end - start in _PROBE_LENGTH
        ]
        self._probes = [(row, sentence) for _, row, sentence in sorted(found)[:_PROBES]]
        return [sentence for _, sentence in self._probes]

    def build(self, probe_vectors: Vectors) -> dict[str, Any]:
        """The profile as plain JSON, under 64 KB; `probe_vectors` are those of `probes`, in their order."""
        profile: dict[str, Any] = {"vocabulary": _encode(_bloom(self._vocabulary))}
        if len(self._probes) < _PROBES // 4:
            return profile
        vectors = _unit(np.asarray([vector for _, _, vector in self._heap], np.float32))
        clusters = _cluster(vectors, min(_MAX_CLUSTERS, max(1, _MAX_CLUSTER_BYTES // vectors.shape[1])))
        near = _nearness(_unit(probe_vectors), [row for row, _ in self._probes], vectors, clusters)
        if not len(near):
            return profile
        sums = np.stack([vectors[clusters == number].sum(axis=0) for number in np.unique(clusters)])
        middles = np.rint(sums / np.abs(sums).max(axis=1, keepdims=True) * 127).astype(np.int8)
        far, aside, typical = (float(value) for value in np.quantile(near, [_FAR, _ASIDE, _TYPICAL]))
        cuts = {"far": far, "aside": aside, "typical": typical}
        return profile | {"clusters": _encode(middles), "count": len(middles), **cuts}


def judge(
    profile: Mapping[str, Any], question: str, analyse: Analyse, vector: Sequence[float] | Vectors | None
) -> Verdict:
    """Whether a question can be about the index; `analyse` tells its content words.

    An index without a profile can be about anything, and a single word can mean anything.
    """
    words = set(analyse(_ENDING.sub("", question)))
    if not profile or not words:
        return Verdict("uncertain", "There is too little to judge by.")
    known = words & (_known(profile["vocabulary"], words) | set(analyse(_ANY_BOOK)))
    named = {word for name in names(question) if not name.opens for word in analyse(_ENDING.sub("", name.text))}
    strange = not named & words <= known
    if len(words) < 2:
        return Verdict("uncertain", "There is too little to judge by.", distant=strange)
    share = f"{len(known)} of the question's {len(words)} words occur in the index"
    if vector is None or "clusters" not in profile:
        return Verdict("uncertain", f"{share}.", distant=strange)
    near = _nearest(profile, np.asarray(vector, np.float32))
    if 2 * len(known) < len(words) and near < profile["far" if known else "aside"]:
        return Verdict("out_of_scope", f"{share}, and in meaning it is far from everything there.")
    if 2 * len(known) >= len(words) and near >= profile["typical"]:
        return Verdict("in_scope", f"{share}, and in meaning it is near.", distant=strange)
    return Verdict("uncertain", f"{share}.", distant=strange or near < profile["far"])


def _nearest(profile: Mapping[str, Any], vector: Vectors) -> float:
    middles = np.frombuffer(base64.b64decode(profile["clusters"]), np.int8).reshape(profile["count"], -1)
    return float((_unit(middles.astype(np.float32)) @ _unit(vector[None])[0]).max())


def _nearness(probes: Vectors, rows: Sequence[int], vectors: Vectors, clusters: Clusters) -> Vectors:
    """How near each probe is to the nearest cluster, its own chunk taken out of it; none where nothing is left."""
    numbers = np.unique(clusters)
    sums = np.stack([vectors[clusters == number].sum(axis=0) for number in numbers])
    near = []
    for probe, row in zip(probes, rows, strict=True):
        others = sums.copy()
        others[np.searchsorted(numbers, clusters[row])] -= vectors[row]
        lengths = np.linalg.norm(others, axis=1)
        kept = lengths > 1e-3
        if kept.any():
            near.append(float((others[kept] @ probe / lengths[kept]).max()))
    return np.asarray(near, np.float32)


def _cluster(vectors: Vectors, count: int) -> Clusters:
    """The cluster of each vector: k-means on the sphere, begun with vectors far from each other."""
    if len(vectors) <= count:
        return np.arange(len(vectors))
    chosen = [int((vectors @ vectors.mean(axis=0)).argmax())]
    nearest = vectors @ vectors[chosen[0]]
    while len(chosen) < count:
        chosen.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, vectors @ vectors[chosen[-1]])
    middles = vectors[chosen]
    for _ in range(_ROUNDS):
        clusters: Clusters = (vectors @ middles.T).argmax(axis=1)
        sums = np.zeros_like(middles)
        np.add.at(sums, clusters, vectors)
        middles = _unit(sums)
    return clusters


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-9), np.float32)


def _bloom(words: set[int]) -> npt.NDArray[np.uint8]:
    """The words as a Bloom filter; what it wrongly takes for known only makes the gate more careful."""
    size = min(max(_BITS_PER_WORD * len(words), 64), _MAX_BITS)
    bits = np.zeros(-(-size // 8) * 8, bool)
    for word in words:
        bits[_places(word, len(bits))] = True
    return np.packbits(bits)


def _known(vocabulary: str, words: set[int]) -> set[int]:
    bits = np.unpackbits(np.frombuffer(base64.b64decode(vocabulary), np.uint8))
    return {word for word in words if bits[_places(word, len(bits))].all()}


def _places(word: int, size: int) -> list[int]:
    return [crc32(word.to_bytes(4, "big"), seed) % size for seed in range(_HASHES)]


def _encode(values: npt.NDArray[Any]) -> str:
    return base64.b64encode(values.tobytes()).decode()
