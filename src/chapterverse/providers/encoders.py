"""Encoders that run on this machine: a table of token vectors, or a transformer in ONNX."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from chapterverse.errors import AstRagEmbeddingCapabilityError
from chapterverse.protocols import Vectors

CARD = "card.json"

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EncoderCard:
    """What stands in the `card.json` of a model's folder."""

    kind: Literal["table", "onnx"]
    dimensions: int
    sha256: dict[str, str]
    """Of every file of the model."""
    max_tokens: int = 512
    """The longest window of a transformer; longer texts are read in several. A table has no limit."""
    query_prefix: str = ""
    document_prefix: str = ""
    default: bool = False
    hybrid: dict[str, float] = field(default_factory=dict)
    """Weights of a hybrid search: `vector` is what the cosines count for."""
    licence: str = ""
    link: str = ""
    more: dict[str, Any] = field(default_factory=dict)
    """How the model was made; for people."""

    @classmethod
    def read(cls, folder: Path) -> EncoderCard | None:
        """The card of the folder's encoder; None if what the folder holds is not an encoder."""
        try:
            data = json.loads((folder / CARD).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise _damaged(folder, f"{CARD} cannot be read") from error
        if not isinstance(data, dict) or data.get("kind") not in ("table", "onnx") or "dimensions" not in data:
            return None
        known = {name: data.pop(name) for name in cls.__dataclass_fields__ if name in data}
        return cls(**known, more=data)


class Encoder(ABC):
    """Tokens in, vectors out. Safe to use from many threads at once."""

    def __init__(self, folder: Path, card: EncoderCard) -> None:
        from tokenizers import Tokenizer

        self.card = card
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """One vector for each text, of any length, and the number of tokens read."""

    def _tokens(self, texts: Sequence[str]) -> list[Ids]:
        # Without special tokens: a table has no use for them, and windows get their own.
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [np.asarray(encoding.ids, dtype=np.int64) for encoding in encodings]


class TableEncoder(Encoder):
    """The weighted mean of the vectors of a text's tokens: `table.npy`, and perhaps `scale.npy` and `weights.npy`.

    A table of whole numbers is multiplied by its scale, one number for each row or for each column.
    """

    def __init__(self, folder: Path, card: EncoderCard) -> None:
        super().__init__(folder, card)
        table = np.load(folder / "table.npy").astype(np.float32)
        if (folder / "scale.npy").exists():
            scale = np.load(folder / "scale.npy").astype(np.float32)
            table *= scale.reshape(-1, 1) if scale.size == len(table) else scale
        if (folder / "weights.npy").exists():
            table *= np.load(folder / "weights.npy").astype(np.float32).reshape(-1, 1)
        self._table = table

    def encode(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        tokens = self._tokens(texts)
        vectors = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for row, ids in enumerate(tokens):
            if len(ids):
                np.mean(self._table[ids], axis=0, out=vectors[row])
        return vectors, sum(map(len, tokens))


class OnnxEncoder(Encoder):
    """A transformer, `model.onnx`, whose last states are averaged.

    Each core reads one text at a time. That takes less of the processor than batches do: nothing is padded, and no
    thread waits for another.
    """

    def __init__(self, folder: Path, card: EncoderCard) -> None:
        super().__init__(folder, card)
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._cores = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="chapterverse-encoder")
        self._inputs = {one.name for one in self._session.get_inputs()}
        special = self._tokenizer.encode("").ids
        middle = len(special) // 2
        self._before, self._after = special[:middle], special[middle:]

    def encode(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        tokens = self._tokens(texts)
        windows = [(row, window) for row, ids in enumerate(tokens) for window in self._windows(ids)]
        windows.sort(key=lambda one: -len(one[1]))  # the short ones last, so that the cores are done together
        vectors = np.zeros((len(texts), self.card.dimensions), dtype=np.float32)
        run = map if len(windows) == 1 else self._cores.map
        for (row, ids), mean in zip(windows, run(self._run, [ids for _, ids in windows]), strict=True):
            vectors[row] += len(ids) * mean  # a text's windows count by their length
        return vectors, sum(map(len, tokens))

    def _windows(self, ids: Ids) -> Iterator[Ids]:
        room = self.card.max_tokens - len(self._before) - len(self._after)
        for start in range(0, len(ids), room):
            yield np.concatenate([self._before, ids[start : start + room], self._after]).astype(np.int64)

    def _run(self, window: Ids) -> Vectors:
        ids = window[None, :]
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: feed[name] for name in self._inputs})[0][0]
        mean = states if states.ndim == 1 else states.mean(axis=0)  # some models average by themselves
        return np.asarray(mean, dtype=np.float32)


def load_encoder(folder: Path, card: EncoderCard) -> Encoder:
    """The encoder in a folder, once its files have been found to be the ones that the card speaks of."""
    for name, expected in card.sha256.items():
        try:
            with (folder / name).open("rb") as file:
                actual = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise _damaged(folder, f"{name} cannot be read") from error
        if actual != expected:
            raise _damaged(folder, f"{name} is not what {CARD} says")
    return (TableEncoder if card.kind == "table" else OnnxEncoder)(folder, card)


def _damaged(folder: Path, what: str) -> AstRagEmbeddingCapabilityError:
    message = f"The model in {folder} is damaged: {what}. Reinstall chapterverse."
    return AstRagEmbeddingCapabilityError(message, details={"model": folder.name})
