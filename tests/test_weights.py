"""What is added to the reader's weights for claims."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from chapterverse.reading.runtime import GRAPHS, MODELS, STRICT, Runtime
from chapterverse.reading.weights import adapted, packed, rounded, unpacked

DRAW = np.random.default_rng(3)
LAYER = "layers.4.qkv"


def weights() -> dict[str, np.ndarray]:
    """A linear layer of 12 inputs in two slices of columns, a neighbour of nearly the same name, and a head."""
    found: dict[str, np.ndarray] = {"head.weight": np.ones((12, 2), np.float32)}
    for name in (f"{LAYER}.0", f"{LAYER}.8", f"{LAYER}_other.0"):
        found[f"{name}.int8"], found[f"{name}.scale"] = rounded(DRAW.normal(size=(12, 8)).astype(np.float32))
    return found


def additions() -> dict[str, np.ndarray]:
    return {
        f"{LAYER}.down": DRAW.integers(-127, 128, (12, 3)).astype(np.int8),
        f"{LAYER}.up": DRAW.integers(-127, 128, (3, 16)).astype(np.int8),
        f"{LAYER}.scale": np.array([1e-4, 2e-4, 3e-5], np.float32),
        "head.weight": np.zeros((12, 2), np.float32),
    }


def test_each_slice_gets_its_columns_of_the_product() -> None:
    before, added = weights(), additions()
    after = adapted(before, added)
    product = (added[f"{LAYER}.down"] * added[f"{LAYER}.scale"]) @ added[f"{LAYER}.up"].astype(np.float32)
    for first in (0, 8):
        name = f"{LAYER}.{first}"
        expected = before[f"{name}.int8"] * before[f"{name}.scale"] + product[:, first : first + 8]
        found = after[f"{name}.int8"] * after[f"{name}.scale"]
        assert np.abs(found - expected).max() <= after[f"{name}.scale"].max() / 2 + 1e-6
        assert np.abs(found - before[f"{name}.int8"] * before[f"{name}.scale"]).max() > 0.1, "something was added"


def test_what_is_no_part_of_a_product_is_replaced_or_stays() -> None:
    before = weights()
    after = adapted(before, additions())
    assert not after["head.weight"].any()
    assert before["head.weight"].all(), "questions are read as before"
    other = f"{LAYER}_other.0.int8"
    assert after[other] is before[other]


def test_float_weights_get_the_same_product() -> None:
    added = additions()
    after = adapted({f"{LAYER}.0.weight": np.zeros((12, 16), np.float32)}, added)[f"{LAYER}.0.weight"]
    product = (added[f"{LAYER}.down"] * added[f"{LAYER}.scale"]) @ added[f"{LAYER}.up"].astype(np.float32)
    assert after == pytest.approx(product)


def test_files_hold_what_was_packed() -> None:
    before = weights()
    after = unpacked(packed(before))
    assert before.keys() == after.keys()
    assert all((before[name] == after[name]).all() for name in before)


@pytest.mark.parametrize("name", [*GRAPHS, STRICT])
def test_shipped_arrays_are_what_numpy_reads(name: str) -> None:
    blob = (MODELS / f"{name}.npz").read_bytes()
    found = unpacked(blob)
    with np.load(io.BytesIO(blob)) as file:
        assert list(found) == file.files
        for key in file.files:
            assert found[key].dtype == file[key].dtype
            assert np.array_equal(found[key], file[key])


def test_arrays_of_any_order_and_shape_come_back_and_objects_do_not() -> None:
    before = {"turned": np.asfortranarray(DRAW.normal(size=(3, 5))), "one": np.float32(2), "none": np.zeros((0, 4))}
    after = unpacked(packed(before))
    assert all(np.array_equal(before[name], after[name]) for name in before)
    buffer = io.BytesIO()
    np.savez(buffer, objects=np.array([{}, None], dtype=object))
    with pytest.raises(ValueError, match="OBJECT"):
        unpacked(buffer.getvalue())


def test_files_are_unpacked_in_many_threads_at_once() -> None:
    blob = (MODELS / "strict.npz").read_bytes()
    with ThreadPoolExecutor(8) as pool:
        assert {len(found) for found in pool.map(unpacked, [blob] * 64)} == {len(unpacked(blob))}


def test_every_shipped_addition_has_a_place_in_the_shipped_weights() -> None:
    weights_, added = (unpacked((MODELS / name).read_bytes()) for name in ("back.npz", "strict.npz"))
    assert added, "strict judgements have weights of their own"
    after = adapted(weights_, added)
    assert after.keys() == weights_.keys()
    assert all(after[name].shape == weights_[name].shape for name in after)
    changed = {name.rpartition(".")[0].rpartition(".")[0] for name in after if after[name] is not weights_[name]}
    layers = {f"layers.{number}.{part}" for number in range(3, 12) for part in ("qkv", "mix", "widen", "narrow")}
    assert layers < changed


def test_claims_leave_questions_as_they_are() -> None:
    runtime = Runtime()
    glances = runtime.glance([next(runtime.windows("When was it built?", "The mill was built in 1741."))])
    [before], [strict], [after] = (runtime.finish(glances, strictly=strictly) for strictly in (False, True, False))
    assert before.start.tolist() == after.start.tolist() != strict.start.tolist()
    assert (before.answer, before.support) == (after.answer, after.support)
