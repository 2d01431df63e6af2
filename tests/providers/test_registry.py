"""Names, built-ins, adapters added at run time, adapters of installed packages, and what a name resolves to."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chapterverse.errors import AstRagEmbeddingCapabilityError, AstRagValidationError
from chapterverse.protocols import Capabilities, Embedded, EmbeddingUsage, ModelCard
from chapterverse.providers import Embeddings, Registry
from chapterverse.providers.fake import FakeEmbedder
from tests.providers.stand_ins import KEY

BUILT_IN = ["local", "cohere", "openai", "gemini", "vertex_gemini", "openrouter", "perplexity"]


def embed(registry: Registry, provider: str, texts: list[str], **settings: Any) -> Embedded:
    async def run() -> Embedded:
        async with Embeddings(registry) as embeddings:
            return await embeddings.embed(registry.resolve(provider, **settings), texts, "query")

    return asyncio.run(run())


class TestNames:
    def test_the_built_in_providers(self) -> None:
        assert Registry().names() == BUILT_IN

    def test_case_makes_no_difference(self) -> None:
        registry = Registry()
        registry.register(" MyVectors ", FakeEmbedder())
        assert registry.names() == [*BUILT_IN, "myvectors"]
        assert registry.resolve("MYVECTORS").provider == "myvectors"
        assert registry.resolve("OpenAI", auth=KEY).provider == "openai"

    @pytest.mark.parametrize("name", ["mine", "MINE", "openai", "OpenAI"])
    def test_a_duplicate_needs_overwrite(self, name: str) -> None:
        registry = Registry()
        registry.register("mine", FakeEmbedder(8))
        with pytest.raises(AstRagValidationError, match="overwrite"):
            registry.register(name, FakeEmbedder(16))
        registry.register(name, FakeEmbedder(16), overwrite=True)
        assert registry.capabilities(name).models[0].dimensions == 16

    @pytest.mark.parametrize("name", ["", " ", "custom", "Custom", "a:b", "a b", "-a"])
    def test_names_that_cannot_be(self, name: str) -> None:
        with pytest.raises(AstRagValidationError):
            Registry().register(name, FakeEmbedder())

    @pytest.mark.parametrize("name", BUILT_IN)
    def test_built_ins_cannot_be_unregistered(self, name: str) -> None:
        registry = Registry()
        with pytest.raises(AstRagValidationError, match="built in"):
            registry.unregister(name.upper())
        assert registry.names() == BUILT_IN

    def test_unregistering_gives_a_built_in_its_place_back(self) -> None:
        registry = Registry()
        before = registry.capabilities("openai")
        registry.register("openai", FakeEmbedder(), overwrite=True)
        assert registry.capabilities("openai") != before
        registry.unregister("openai")
        assert registry.capabilities("openai") == before

    def test_unregistering_what_is_not_there(self) -> None:
        registry = Registry()
        registry.register("mine", FakeEmbedder())
        registry.unregister("Mine")
        for call in (registry.unregister, registry.capabilities, registry.resolve):
            with pytest.raises(AstRagEmbeddingCapabilityError, match=r"no embedding provider 'mine'; there are local"):
                call("mine")

    def test_registries_know_nothing_of_each_other(self) -> None:
        first, second = Registry(), Registry()
        first.register("mine", FakeEmbedder())
        assert "mine" not in second.names()


class TestResolving:
    def test_defaults(self) -> None:
        models = {name: Registry().capabilities(name).models[0].name for name in BUILT_IN[1:]}
        assert models == {
            "cohere": "embed-v4.0",
            "openai": "text-embedding-3-small",
            "gemini": "gemini-embedding-001",
            "vertex_gemini": "gemini-embedding-001",
            "openrouter": "openai/text-embedding-3-small",
            "perplexity": "pplx-embed-v1-0.6b",
        }

    def test_provider_and_model_in_one(self) -> None:
        registry = Registry()
        target = registry.resolve("openai:text-embedding-3-large", auth=KEY)
        assert (target.model, target.dimensions) == ("text-embedding-3-large", 3072)
        assert registry.resolve("openai", "text-embedding-3-large", auth=KEY) == target
        free = registry.resolve("openrouter:maker/model:free", auth=KEY, options={"dimensions": 7})
        assert (free.model, free.dimensions) == ("maker/model:free", 7)

    def test_two_models_are_one_too_many(self) -> None:
        with pytest.raises(AstRagValidationError, match="one too many"):
            Registry().resolve("openai:text-embedding-3-large", "text-embedding-3-small", auth=KEY)

    def test_unknown_models_name_the_known_and_the_way(self) -> None:
        with pytest.raises(AstRagEmbeddingCapabilityError, match=r"text-embedding-3-small.*give its dimensions"):
            Registry().resolve("openai:text-embedding-9", auth=KEY)

    def test_a_server_of_ones_own_has_models_of_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        with monkeypatch.context() as there:
            there.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")
            target = Registry().resolve("openai:nomic-embed-text")
        assert (target.model, target.dimensions, target.card.price) == ("nomic-embed-text", None, None)
        for name, options in (("openai", {}), ("cohere", {"base_url": "http://127.0.0.1:11434"})):
            with pytest.raises(AstRagEmbeddingCapabilityError, match="no model 'nomic-embed-text'"):
                Registry().resolve(f"{name}:nomic-embed-text", auth=KEY, options=options)

    @pytest.mark.parametrize(
        ("target", "dimensions", "allowed"),
        [
            ("cohere:embed-v4.0", 300, "256, 512, 1024, 1536"),
            ("cohere:embed-english-v3.0", 512, "1024"),
            ("openai:text-embedding-3-small", 1537, "1 to 1536"),
            ("gemini", 64, "128 to 3072"),
        ],
    )
    def test_dimensions_that_a_model_does_not_have(self, target: str, dimensions: int, allowed: str) -> None:
        with pytest.raises(AstRagEmbeddingCapabilityError, match=allowed):
            Registry().resolve(target, auth=KEY, options={"dimensions": dimensions})

    def test_custom_names_a_registered_adapter(self) -> None:
        registry = Registry()
        registry.register("mine", FakeEmbedder(8))
        target = registry.resolve("custom", options={"adapter": "Mine", "dimensions": 8})
        assert (target.provider, target.dimensions, dict(target.options)) == ("mine", 8, {"dimensions": 8})
        with pytest.raises(AstRagValidationError, match=r"providerOptions\.adapter"):
            registry.resolve("custom")
        with pytest.raises(AstRagEmbeddingCapabilityError, match="no embedding provider 'other'"):
            registry.resolve("custom", options={"adapter": "other"})

    def test_options_in_either_spelling_and_nothing_ignored(self) -> None:
        target = Registry().resolve("openai", auth=KEY, options={"baseUrl": "http://localhost:1", "timeout": None})
        assert dict(target.options) == {"base_url": "http://localhost:1"}
        with pytest.raises(AstRagValidationError, match=r"'temperature'; it understands dimensions, base_url, timeout"):
            Registry().resolve("openai", auth=KEY, options={"temperature": 1})

    @pytest.mark.parametrize(
        "auth",
        [KEY, {"apiKey": KEY}, {"api_key": f" {KEY}\n"}, {"openai": KEY}, {"OpenAI": {"apiKey": KEY}, "api_key": "x"}],
    )
    def test_auth_in_all_its_forms(self, auth: Any) -> None:
        target = Registry().resolve("openai", auth=auth)
        assert target.auth["api_key"] == KEY
        assert KEY not in repr(target)


class TestAdapters:
    """Whatever can be called may be an adapter."""

    def check(self, adapter: Any) -> Embedded:
        registry = Registry()
        registry.register("mine", adapter)
        embedded = embed(registry, "mine", ["x", "y"])
        np.testing.assert_allclose(embedded.vectors, [[0.6, 0.8], [0.6, 0.8]], atol=1e-6)
        return embedded

    def test_a_function(self) -> None:
        assert self.check(lambda texts, *_: [[3, 4] for _ in texts]).usage.cost is None

    def test_a_coroutine_function_with_usage(self) -> None:
        async def adapter(texts: list[str], *_: Any) -> Any:
            return np.array([[3.0, 4.0]] * len(texts)), {"tokens": 12, "cost": 0.5}

        assert self.check(adapter).usage == EmbeddingUsage(12, 1, 0.5)

    def test_an_object_with_all_three_functions(self) -> None:
        seen: list[Any] = []

        class Adapter:
            def embed(self, texts: Any, input_type: Any, model: Any, auth: Any, options: Any) -> Any:
                seen.append((input_type, model))
                return [[3.0, 4.0] for _ in texts]

            def capabilities(self) -> dict[str, Any]:
                return {"models": [{"name": "m1", "dimensions": 2}, {"name": "m2", "dimensions": 4}], "maxBatch": 1}

            def validateConfig(self, model: str, auth: Any, options: Any) -> None:
                seen.append(model)

        self.check(Adapter())
        assert seen == ["m1", ("query", "m1"), ("query", "m1")]

    def test_a_dictionary_in_camel_case(self) -> None:
        def refuse(model: str, auth: Any, options: Any) -> None:
            raise AstRagValidationError("not today")

        registry = Registry()
        registry.register("mine", {"embed": lambda *_: [], "validateConfig": refuse})
        with pytest.raises(AstRagValidationError, match="not today"):
            registry.resolve("mine")

    def test_an_embedder_as_we_write_them(self) -> None:
        class Adapter(FakeEmbedder):
            def capabilities(self) -> Capabilities:
                return Capabilities(models=(ModelCard("m", 2),), concurrency=2)

            async def embed(self, texts: Any, *_: Any) -> Embedded:
                return Embedded(np.full((len(texts), 2), [3, 4], dtype=np.float32), EmbeddingUsage(5, 1))

        assert self.check(Adapter()).usage.tokens == 5

    def test_connections_are_closed(self) -> None:
        closed: list[bool] = []
        self.check({"embed": lambda texts, *_: [[3, 4] for _ in texts], "close": lambda: closed.append(True)})
        assert closed == [True]

    def test_its_errors_are_ours_and_are_not_tried_again(self) -> None:
        calls: list[int] = []

        def adapter(*_: Any) -> Any:
            calls.append(1)
            raise RuntimeError("secret detail")

        registry = Registry()
        registry.register("mine", adapter)
        with pytest.raises(AstRagEmbeddingCapabilityError, match="'mine' failed: RuntimeError") as caught:
            embed(registry, "mine", ["x"])
        assert isinstance(caught.value.cause, RuntimeError)
        assert len(calls) == 1

    def test_usage_in_the_words_of_the_engine_counts(self) -> None:
        spent = EmbeddingUsage(7, 1, 0.5)
        assert self.check(lambda texts, *_: ([[3, 4] for _ in texts], spent)).usage == spent

    def test_two_vectors_in_a_tuple_are_two_vectors(self) -> None:
        self.check(lambda texts, *_: tuple((3.0, 4.0) for _ in texts))

    @pytest.mark.parametrize("usage", [{"tokens": "many"}, {"tokens": [1]}, {"cost": "little"}])
    def test_a_usage_that_is_not_in_numbers(self, usage: Any) -> None:
        with pytest.raises(AstRagEmbeddingCapabilityError, match="'mine' returned something that is not"):
            self.check(lambda texts, *_: ([[3, 4] for _ in texts], usage))

    def test_options_are_declared_in_either_spelling(self) -> None:
        seen: list[Any] = []

        def adapter(texts: list[str], _type: str, _model: str, _auth: Any, options: Any) -> Any:
            seen.append(options)
            return [[3, 4] for _ in texts]

        registry = Registry()
        registry.register("mine", {"embed": adapter, "capabilities": {"dimensions": 2, "options": ["baseUrl", "rank"]}})
        for given in ({"baseUrl": "x", "rank": 1}, {"base_url": "x", "rank": 1}):
            embed(registry, "mine", ["x"], options=given)
        assert seen == [{"base_url": "x", "rank": 1}] * 2

    def test_capabilities_may_be_a_plain_value(self) -> None:
        registry = Registry()
        registry.register("mine", {"embed": lambda *_: [], "capabilities": {"dimensions": 3, "maxBatch": 7}})
        (model,) = registry.capabilities("mine").models
        assert (model.dimensions, model.max_batch) == (3, 7)

    def test_what_its_other_functions_raise_is_ours_too(self) -> None:
        def refuse(*_: Any) -> Any:
            raise ValueError("secret detail")

        async def later(*_: Any) -> None: ...

        registry = Registry()
        registry.register("mine", {"embed": lambda *_: [], "validateConfig": refuse})
        with pytest.raises(AstRagEmbeddingCapabilityError, match="refused its configuration: ValueError") as caught:
            registry.resolve("mine")
        assert isinstance(caught.value.cause, ValueError)
        with pytest.raises(AstRagValidationError, match=r"adapter 'other' cannot be understood: ValueError\.$"):
            registry.register("other", {"embed": lambda *_: [], "capabilities": refuse})
        with pytest.raises(AstRagValidationError, match="must not be a coroutine function"):
            registry.register("other", {"embed": lambda *_: [], "validateConfig": later})

    @pytest.mark.parametrize("adapter", [None, 3, "openai", object(), {}, {"embed": 3}, FakeEmbedder])
    def test_what_cannot_be_an_adapter(self, adapter: Any) -> None:
        with pytest.raises(AstRagValidationError, match=r"embed\(texts, input_type, model, auth, options\)"):
            Registry().register("mine", adapter)

    @pytest.mark.parametrize(
        "described",
        [
            *(3, {"dimension": 3}, {"models": [{"size": 3}]}, {"models": []}, {"models": 3}, {"options": "abc"}),
            *({"dimensions": "2"}, {"dimensions": 0}, {"maxBatch": 0}, {"maxBatch": None}, {"concurrency": 0}),
        ],
    )
    def test_capabilities_that_say_something_else(self, described: Any) -> None:
        with pytest.raises(AstRagValidationError, match=r"capabilities\(\) of the adapter 'mine'"):
            Registry().register("mine", {"embed": lambda *_: [], "capabilities": lambda: described})


class TestInstalledPackages:
    """Adapters that other packages bring, by entry point."""

    @pytest.fixture
    def install(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
        monkeypatch.syspath_prepend(str(tmp_path))

        def write(names: str, source: str) -> None:
            (tmp_path / "their_vectors.py").write_text(source, encoding="utf-8")
            folder = tmp_path / "their_vectors-1.0.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: their-vectors\nVersion: 1.0\n")
            (folder / "entry_points.txt").write_text(f"[chapterverse.embeddings]\n{names}\n")

        yield write
        sys.modules.pop("their_vectors", None)

    def test_a_class_is_found_and_imported_when_used(self, install: Any) -> None:
        install(
            "Theirs = their_vectors:Theirs",
            "class Theirs:\n    def embed(self, texts, *_):\n        return [[3.0, 4.0] for _ in texts]\n",
        )
        registry = Registry()
        assert registry.names() == [*BUILT_IN, "theirs"]
        assert "their_vectors" not in sys.modules
        np.testing.assert_allclose(embed(registry, "theirs", ["x"]).vectors, [[0.6, 0.8]], atol=1e-6)
        with pytest.raises(AstRagValidationError, match="installed package"):
            registry.unregister("theirs")

    def test_one_that_cannot_be_loaded_is_listed_and_says_why(self, install: Any) -> None:
        install("theirs = their_vectors:Theirs", "import a_package_that_is_missing\n")
        registry = Registry()
        assert "theirs" in registry.names()
        with pytest.raises(AstRagEmbeddingCapabilityError, match=r"their_vectors:Theirs.*a_package_that_is_missing"):
            registry.resolve("theirs")

    def test_a_name_that_is_taken_is_left_out_and_reported(
        self, install: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        install("OpenAI = their_vectors:Theirs", "Theirs = lambda texts, *_: []\n")
        with caplog.at_level(logging.WARNING):
            assert Registry().names() == BUILT_IN
        assert "'openai' of their_vectors:Theirs is left out" in caplog.text


def test_no_sdk_is_imported_before_it_is_used() -> None:
    code = (
        "import sys; from chapterverse.providers import Registry, Embeddings; r = Registry(); Embeddings(r); r.names();"
        "[r.capabilities(n) for n in r.names() if n != 'local']; r.resolve('openai', auth='k');"
        "print([m for m in ('openai', 'cohere', 'google.genai', 'onnxruntime', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
