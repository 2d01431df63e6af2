"""Encoders on this machine: both kinds, as they are shipped, made small."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from chapterverse.errors import AstRagEmbeddingCapabilityError
from chapterverse.protocols import Embedded, InputType
from chapterverse.providers import Embeddings, Registry
from chapterverse.providers.encoders import Encoder, EncoderCard, load_encoder
from chapterverse.providers.local import LocalEmbedder
from tests.conformance.embedder import EmbedderConformance

WORDS = "the miller clock was always late snow fell on pass of as query a passage b s word".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", ".", ",", "'", ":", *WORDS]
IDS = {word: number for number, word in enumerate(VOCABULARY)}
DIMENSIONS = 16
TABLE = np.random.default_rng(7).normal(size=(len(VOCABULARY), DIMENSIONS)).astype(np.float32)


def write_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel(IDS, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", IDS["[CLS]"]), ("[SEP]", IDS["[SEP]"])]
    )
    # As it may come from a training set-up; what is encoded must not depend on it.
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(folder / "tokenizer.json"))


def write_card(folder: Path, **card: Any) -> None:
    files = sorted(path for path in folder.iterdir() if path.name != "card.json")
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (folder / "card.json").write_text(json.dumps({"dimensions": DIMENSIONS, "sha256": sums, **card}))


def table_model(folder: Path, **card: Any) -> Path:
    folder.mkdir(parents=True)
    write_tokenizer(folder)
    np.save(folder / "table.npy", TABLE.astype(np.float16))
    write_card(folder, kind="table", **card)
    return folder


def onnx_model(folder: Path, *, pooled: bool = False, **card: Any) -> Path:
    """A transformer's inputs and outputs around a look-up: the state of a token is its row of the table."""
    folder.mkdir(parents=True)
    write_tokenizer(folder)
    shape = ["batch", "length"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    nodes = [
        helper.make_node("Cast", ["token_type_ids"], ["kinds"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["kinds", "last"], ["wide"]),
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Add", ["rows", "wide"], ["states"]),
    ]
    output, output_shape = "states", [*shape, DIMENSIONS]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["states"], ["mean"], axes=[1], keepdims=0))
        output, output_shape = "mean", ["batch", DIMENSIONS]
    graph = helper.make_graph(
        nodes,
        "look-up",
        inputs,
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, output_shape)],
        [
            numpy_helper.from_array(TABLE, "table"),
            numpy_helper.from_array(np.array([2], dtype=np.int64), "last"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    write_card(folder, kind="onnx", **card)
    return folder


def encode(folder: Path, texts: Sequence[str]) -> tuple[np.ndarray[Any, Any], int]:
    card = EncoderCard.read(folder)
    assert card is not None
    return load_encoder(folder, card).encode(texts)


def unit(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)


def rows(*words: str) -> Any:
    return TABLE[[IDS[word] for word in words]]


class TestTable:
    def test_the_mean_of_its_tokens(self, tmp_path: Path) -> None:
        vectors, tokens = encode(table_model(tmp_path / "m"), ["The miller's clock", "Snow fell"])
        np.testing.assert_allclose(vectors[0], rows("the", "miller", "'", "s", "clock").mean(0), atol=2e-3)
        np.testing.assert_allclose(vectors[1], rows("snow", "fell").mean(0), atol=2e-3)
        assert tokens == 7

    @pytest.mark.parametrize("by", ["row", "column"])
    def test_whole_numbers_with_a_scale_and_weights(self, by: str, tmp_path: Path) -> None:
        folder = tmp_path / "m"
        folder.mkdir()
        write_tokenizer(folder)
        scale = np.abs(TABLE).max(axis=1 if by == "row" else 0, keepdims=True) / 127
        weights = np.linspace(0.1, 1, len(TABLE)).astype(np.float32)
        np.save(folder / "table.npy", np.round(TABLE / scale).astype(np.int8))
        np.save(folder / "scale.npy", scale.ravel().astype(np.float16))
        np.save(folder / "weights.npy", weights)
        write_card(folder, kind="table")
        vectors, _ = encode(folder, ["snow fell on the pass"])
        words = "snow fell on the pass".split()
        expected = (rows(*words) * weights[[IDS[word] for word in words], None]).sum(0)
        assert unit(vectors[0]) @ unit(expected) > 0.999

    def test_a_text_without_tokens_is_a_vector_of_zeros(self, tmp_path: Path) -> None:
        vectors, tokens = encode(table_model(tmp_path / "m"), ["", "snow"])
        assert not vectors[0].any()
        assert vectors[1].any()
        assert tokens == 1


class TestOnnx:
    def test_the_mean_of_its_states(self, tmp_path: Path) -> None:
        vectors, _ = encode(onnx_model(tmp_path / "m", max_tokens=64), ["Snow fell", "the late clock of the miller"])
        np.testing.assert_allclose(unit(vectors[0]), unit(rows("[CLS]", "snow", "fell", "[SEP]").mean(0)), atol=1e-5)
        longer = rows("[CLS]", *"the late clock of the miller".split(), "[SEP]")
        np.testing.assert_allclose(unit(vectors[1]), unit(longer.mean(0)), atol=1e-5)

    def test_a_model_that_averages_by_itself(self, tmp_path: Path) -> None:
        vectors, _ = encode(onnx_model(tmp_path / "m", pooled=True), ["snow fell"])
        np.testing.assert_allclose(unit(vectors[0]), unit(rows("[CLS]", "snow", "fell", "[SEP]").mean(0)), atol=1e-5)

    def test_long_texts_are_read_to_their_end(self, tmp_path: Path) -> None:
        folder = onnx_model(tmp_path / "m", max_tokens=6)
        vectors, tokens = encode(folder, ["snow " * 4 + "clock " * 4 + "pass", "snow " * 4])
        framed = [["snow"] * 4, ["clock"] * 4, ["pass"]]
        expected = np.concatenate([rows("[CLS]", *window, "[SEP]") for window in framed])
        np.testing.assert_allclose(unit(vectors[0]), unit(expected.mean(0)), atol=1e-5)
        assert tokens == 13

    def test_what_else_is_in_the_batch_makes_no_difference(self, tmp_path: Path) -> None:
        folder = onnx_model(tmp_path / "m", max_tokens=128)
        random = np.random.default_rng(1)
        texts = [" ".join(random.choice(WORDS, size)) for size in random.integers(1, 300, 60)]
        together, _ = encode(folder, texts)
        for text, vector in zip(texts, together, strict=True):
            np.testing.assert_allclose(unit(encode(folder, [text])[0][0]), unit(vector), atol=1e-5)


def embed(embedder: LocalEmbedder, texts: list[str], input_type: InputType = "document", **settings: Any) -> Embedded:
    registry = Registry()
    registry.register("local", embedder, overwrite=True)
    return asyncio.run(Embeddings(registry).embed(registry.resolve("local", **settings), texts, input_type))


class TestLocal:
    def test_the_folders_are_the_models_and_a_card_names_the_default(self, tmp_path: Path) -> None:
        table_model(tmp_path / "aa")
        onnx_model(tmp_path / "quality", max_tokens=32)
        table_model(tmp_path / "zz", default=True, licence="Apache-2.0", hybrid={"vector": 0.8}, trained_on="nothing")
        (tmp_path / "reader").mkdir()
        (tmp_path / "reader" / "card.json").write_text('{"kind": "reader"}')
        offered = LocalEmbedder(tmp_path).capabilities()
        assert [card.name for card in offered.models] == ["zz", "aa", "quality"]
        assert offered.models[0].licence == "Apache-2.0"
        assert [card.vector_weight for card in offered.models] == [0.8, None, None]
        assert {card.price for card in offered.models} == {0.0}
        assert not offered.keeps

    def test_prefixes(self, tmp_path: Path) -> None:
        table_model(tmp_path / "m", query_prefix="query: ", document_prefix="passage: ")
        embedder = LocalEmbedder(tmp_path)
        for input_type, word in (("query", "query"), ("document", "passage")):
            vector = embed(embedder, ["snow"], input_type).vectors[0]  # type: ignore[arg-type]
            np.testing.assert_allclose(vector, unit(rows(word, ":", "snow").mean(0)), atol=2e-3)

    def test_dimensions_and_models_it_does_not_have(self, tmp_path: Path) -> None:
        table_model(tmp_path / "m")
        with pytest.raises(AstRagEmbeddingCapabilityError, match="16"):
            embed(LocalEmbedder(tmp_path), ["x"], options={"dimensions": 8})
        with pytest.raises(AstRagEmbeddingCapabilityError, match="known are m"):
            embed(LocalEmbedder(tmp_path), ["x"], model="other")

    @pytest.mark.parametrize("name", ["table.npy", "tokenizer.json"])
    def test_changed_files_are_found_out(self, name: str, tmp_path: Path) -> None:
        folder = table_model(tmp_path / "m")
        with (folder / name).open("ab") as file:
            file.write(b" ")
        with pytest.raises(AstRagEmbeddingCapabilityError, match=f"{name} is not what card.json says"):
            embed(LocalEmbedder(tmp_path), ["x"])

    def test_missing_files_and_models(self, tmp_path: Path) -> None:
        with pytest.raises(AstRagEmbeddingCapabilityError, match="no model"):
            LocalEmbedder(tmp_path).capabilities()
        (table_model(tmp_path / "m") / "table.npy").unlink()
        with pytest.raises(AstRagEmbeddingCapabilityError, match=r"table\.npy cannot be read"):
            embed(LocalEmbedder(tmp_path), ["x"])
        (tmp_path / "m" / "card.json").write_text("{")
        with pytest.raises(AstRagEmbeddingCapabilityError, match=r"card\.json cannot be read"):
            LocalEmbedder(tmp_path).capabilities()

    def test_it_is_loaded_once_and_used_by_many_threads(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        onnx_model(tmp_path / "m", max_tokens=32)
        embedder = LocalEmbedder(tmp_path)
        expected = embed(LocalEmbedder(tmp_path), ["snow fell", "late clock"]).vectors
        results: list[Any] = []
        loads: list[Path] = []

        def load(folder: Path, card: EncoderCard) -> Encoder:
            loads.append(folder)
            return load_encoder(folder, card)

        monkeypatch.setattr("chapterverse.providers.local.load_encoder", load)

        def work() -> None:
            for _ in range(10):
                results.append(embed(embedder, ["snow fell", "late clock"]).vectors)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(loads) == 1
        assert len(results) == 60
        for vectors in results:
            np.testing.assert_allclose(vectors, expected, atol=1e-6)

    def test_the_event_loop_goes_on(self, tmp_path: Path) -> None:
        table_model(tmp_path / "m")
        embedder = LocalEmbedder(tmp_path)

        async def run() -> int:
            registry = Registry()
            registry.register("local", embedder, overwrite=True)
            texts = [f"{number} " + "snow fell on the pass " * 50 for number in range(600)]
            work = asyncio.create_task(Embeddings(registry).embed(registry.resolve("local"), texts, "document"))
            ticks = 0
            while not work.done():
                await asyncio.sleep(0.002)
                ticks += 1
            await work
            return ticks

        assert asyncio.run(run()) > 3


class TestTableConformance(EmbedderConformance):
    @pytest.fixture(autouse=True)
    def _models(self, tmp_path: Path) -> None:
        table_model(tmp_path / "m")
        self.folder = tmp_path

    def make(self) -> tuple[Any, dict[str, Any]]:
        return LocalEmbedder(self.folder), {}


class TestOnnxConformance(EmbedderConformance):
    @pytest.fixture(autouse=True)
    def _models(self, tmp_path: Path) -> None:
        onnx_model(tmp_path / "m", max_tokens=32)
        self.folder = tmp_path

    def make(self) -> tuple[Any, dict[str, Any]]:
        return LocalEmbedder(self.folder), {}
