"""The reader with its shipped weights: golden figures, exact offsets, long passages, threads, and damage."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from chapterverse.errors import AstRagError
from chapterverse.reading.calibrate import Calibration, Citing, Curve
from chapterverse.reading.reader import WINDOWS, Reader
from chapterverse.reading.runtime import GRAPHS, LENGTH, MODELS, OVERLAP, UNREAD, Runtime

GOLDEN = json.loads((Path(__file__).parent / "reader_golden.json").read_text())
TOLERANCE = 0.75
"""Logits may differ by so much between processors: int8 kernels round differently. Between an x86-64 and an aarch64
processor the answer logits of 160 public questions differed by 0.07 in the mean and by 0.61 at most."""

MILL = (
    "The mill at Aldery was built in 1741 by the brothers Hobb. It ground barley for two villages until the flood of "
    "1809, which carried off the wheel. The owners never replaced it, and the building became a school."
)
BEES = "Worker bees fan their wings to cool the hive. In winter the cluster shivers to keep the queen warm."
FILLER = "The road ran on between hedges, and nothing that deserves to be told happened along it that day. "


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    return Runtime()


def answer_of(reader: Reader, question: str, passage: str) -> str:
    span = reader.read(question, [passage])[0].spans[0]
    return passage[span.start : span.end]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["query"])
def test_logits_are_the_recorded_ones(runtime: Runtime, case: dict[str, object]) -> None:
    window = next(runtime.windows(str(case["query"]), str(case["passage"])))
    [glance] = runtime.glance([window])
    [logits], [strict] = (runtime.finish([glance], strictly=strictly) for strictly in (False, True))
    found = [glance.answer, glance.support, logits.answer, logits.support, strict.support, logits.null]
    found += logits.start[:8].tolist()
    assert found == pytest.approx(case["logits"], abs=TOLERANCE)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who built the mill at Aldery?", "Hobb"),
        ("When was the mill built?", "1741"),
        ("What did the mill grind?", "barley"),
        ("What did the building become?", "school"),
    ],
)
def test_answers_are_found_in_place(reader: Reader, question: str, answer: str) -> None:
    assert answer in answer_of(reader, question, MILL)
    assert reader.read(question, [MILL])[0].answerable > 0.5


@pytest.mark.parametrize("question", ["How do bees cool the hive?", "Who painted the ceiling of the chapel?"])
def test_a_passage_about_something_else_does_not_answer(reader: Reader, question: str) -> None:
    assert reader.read(question, [MILL])[0].answerable < 0.2


def test_the_passage_that_answers_wins(reader: Reader) -> None:
    bees, mill, filler = reader.read("How do bees cool the hive?", [BEES, MILL, FILLER * 3])
    assert bees.answerable > max(mill.answerable, filler.answerable)
    assert bees.relevance > max(mill.relevance, filler.relevance)


def test_spans_lie_inside_the_passage_best_first_and_apart(reader: Reader) -> None:
    reading = reader.read("When was the mill built?", [MILL])[0]
    scores = [span.score for span in reading.spans]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= span.start < span.end <= len(MILL) and 0 <= span.score <= 1 for span in reading.spans)
    ordered = sorted((span.start, span.end) for span in reading.spans)
    assert all(a[1] <= b[0] for a, b in pairwise(ordered))


def test_evidence_is_the_sentence_that_answers(reader: Reader) -> None:
    best = reader.read("What carried off the wheel?", [MILL])[0].evidence[0]
    assert MILL[best.start : best.end].startswith("It ground barley")


def test_offsets_count_characters_not_bytes(reader: Reader) -> None:
    passage = "Der Müller hieß Jörg Schön — “the old wolf” 🐺 — and he was born in 1688 near Köln. " + FILLER
    assert answer_of(reader, "When was he born?", passage) == "1688"


def test_a_long_passage_is_read_to_its_end(reader: Reader) -> None:
    passage = FILLER * 60 + MILL + FILLER * 60
    assert answer_of(reader, "When was the mill at Aldery built?", passage) == "1741"


def test_windows_cover_the_passage_and_overlap(runtime: Runtime) -> None:
    passage = FILLER * 60
    windows = list(runtime.windows("Where did the road run?", passage))
    assert len(windows) > 2
    assert all(len(window.ids) <= LENGTH for window in windows)
    assert windows[0].offsets[0, 0] == 0
    assert windows[-1].offsets[-1, 1] == len(passage.rstrip())
    for one, following in pairwise(windows):
        shared = np.intersect1d(one.offsets[:, 0], following.offsets[:, 0])
        assert len(shared) >= OVERLAP


def test_claims_are_told_apart(reader: Reader) -> None:
    said, elsewhere = reader.supports("The Hobb brothers built the mill.", [MILL, BEES])
    unsaid = reader.supports("The mill was built by a duke in 1802.", [MILL])[0]
    assert said.probability > 0.5 > max(unsaid.probability, elsewhere.probability)
    strictly = reader.strictly("The Hobb brothers built the mill.", [MILL, BEES])
    strictly += reader.strictly("The mill was built by a duke in 1802.", [MILL])
    assert strictly[0] > 0.5 > max(strictly[1:])
    assert MILL[said.start : said.end].startswith("The mill at Aldery was built")


@pytest.mark.parametrize("passage", ["", "   \n"])
def test_an_empty_passage_answers_and_supports_nothing(reader: Reader, passage: str) -> None:
    reading, support = reader.read("Who?", [passage])[0], reader.supports("It is so.", [passage])[0]
    assert (reading.answerable, reading.spans, support.probability) == (0.0, (), 0.0)
    assert reader.strictly("It is so.", [passage]) == [0.0]


def test_no_passages_no_readings(reader: Reader) -> None:
    assert reader.read("Who?", []) == []
    assert reader.supports("It is so.", []) == []
    assert reader.strictly("It is so.", []) == []


def test_a_reading_does_not_depend_on_its_neighbours(reader: Reader) -> None:
    alone = reader.read("When was the mill built?", [MILL])[0]
    assert reader.read("When was the mill built?", [FILLER * 30, MILL, BEES])[1] == alone


def test_unpromising_passages_are_left_half_read_and_alone_are_read_whole(reader: Reader) -> None:
    question = "When was the mill at Aldery built?"
    others = [f"{BEES} {number}" for number in range(6)]
    readings = reader.read(question, [MILL, *others])
    assert sum(bool(reading.spans) for reading in readings) == WINDOWS
    assert readings[0].spans
    assert all(reading.answerable < 0.3 for reading in readings[1:])
    assert reader.read(question, others[-1:])[0].spans


def test_what_is_left_half_read_is_no_likelier_than_the_least_of_what_is_read(reader: Reader) -> None:
    readings = reader.read("When was the mill at Aldery built?", [MILL] * (WINDOWS + 3))
    least = min(reading.answerable for reading in readings if reading.spans)
    assert sum(not reading.spans for reading in readings) == 3
    assert all(reading.answerable <= least for reading in readings if not reading.spans)


def test_the_tokens_that_look_most_worth_it_are_read_to_the_end(runtime: Runtime) -> None:
    passage = FILLER * 4 + MILL + FILLER * 4
    glances = runtime.glance([next(runtime.windows("When was the mill at Aldery built?", passage))])
    [some], [every] = runtime.finish(glances, keep=48), runtime.finish(glances)
    assert (some.start > UNREAD).sum() == 48 < len(every.start) == (every.start > UNREAD).sum()
    assert np.argmax(some.start) == np.argmax(every.start), "the answer is among them"
    assert some.answer == pytest.approx(every.answer, abs=2)


def test_the_tokens_that_look_most_worth_it_are_read_on_after_skimming(runtime: Runtime) -> None:
    passage = FILLER * 4 + MILL + FILLER * 4
    window = next(runtime.windows("When was the mill at Aldery built?", passage))
    [some], [every] = runtime.glance([window], keep=64), runtime.glance([window])
    assert len(some.read) == 64 < len(every.read) == len(window.offsets)
    [few], [all_] = runtime.finish([some]), runtime.finish([every])
    assert set(np.flatnonzero(few.start > UNREAD)) == set(some.read.tolist()), "what was only skimmed is not read later"
    assert np.argmax(few.start) == np.argmax(all_.start), "the answer is among them"
    assert few.answer == pytest.approx(all_.answer, abs=2)


def test_passages_read_whole_are_read_as_if_each_were_alone(reader: Reader) -> None:
    question, passages = "When was the mill at Aldery built?", [FILLER * 4 + MILL + FILLER * 4, BEES]
    assert reader.read(question, passages, whole=True) == [reader.read(question, [one])[0] for one in passages]
    assert reader.read(question, passages)[0].evidence != reader.read(question, passages, whole=True)[0].evidence


def test_words_of_a_window_without_the_answer_come_after_those_of_the_one_that_has_it(reader: Reader) -> None:
    elsewhere = "The ferry at Corrie was sold in 1903. " + FILLER * 14
    [reading] = reader.read("When was the mill at Aldery built?", [elsewhere + MILL])
    found = [(elsewhere + MILL)[span.start : span.end] for span in reading.spans]
    assert found[0] == "1741"
    assert reading.spans[0].score > 10 * max(span.score for span in reading.spans[1:])


def test_threads_share_one_reader() -> None:
    reader = Reader()
    with ThreadPoolExecutor(4) as pool:
        readings = list(pool.map(lambda _: reader.read("When was the mill built?", [MILL, BEES]), range(8)))
    assert all(reading == readings[0] for reading in readings)


def test_nothing_is_loaded_before_it_is_needed(tmp_path: Path) -> None:
    reader = Reader(tmp_path)  # an empty folder: nothing is opened yet
    with pytest.raises((AstRagError, OSError)):
        reader.loaded()


FILES = [f"{name}.{part}" for name in GRAPHS for part in ("onnx", "npz")]


@pytest.mark.parametrize("name", [*FILES, "strict.npz", "tokenizer.json"])
def test_damaged_weights_are_refused(tmp_path: Path, name: str) -> None:
    for file in MODELS.iterdir():
        shutil.copy(file, tmp_path)
    damaged = bytearray((tmp_path / name).read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / name).write_bytes(damaged)
    with pytest.raises(AstRagError, match=name):
        Reader(tmp_path).read("Who?", ["Nobody."])


def test_curves_are_logistic_and_do_not_overflow() -> None:
    curve = Curve(2.0, -1.0)
    assert curve(0.5) == 0.5
    assert 0 <= curve(-1e6) < 1e-9
    assert 1 - 1e-9 < curve(1e6) <= 1


def test_the_shipped_calibration_rises_with_its_logits() -> None:
    calibration = Calibration.from_json(json.loads((MODELS / "manifest.json").read_text())["calibration"])
    for curve in (calibration.answer, calibration.support, calibration.early_answer):
        assert curve.slope > 0
    assert 0 < calibration.answer_from < 1


def test_as_many_sentences_are_quoted_as_are_likely_to_answer() -> None:
    cite = Calibration.from_json(json.loads((MODELS / "manifest.json").read_text())["calibration"]).cite
    assert cite([]) == 0
    assert cite([0.95, 0.002, 0.001]) == 1
    assert cite([0.9, 0.85, 0.8, 0.001]) == 3
    assert cite([0.0, 0.0, 0.0]) == 1  # nothing is likely: the best is quoted all the same
    alone, among = (Citing(1.0, 0.0, place, 0.0)([0.6, 0.6, 0.6, 0.6, 0.6]) for place in (0.0, -3.0))
    assert (alone, among) == (5, 1)


def test_what_answers_is_quoted(reader: Reader) -> None:
    passage = f"{FILLER}{MILL} {BEES} {FILLER}"
    [reading] = reader.read("Why did the mill stop, and what became of it?", [passage])
    told = [passage[s.start : s.end] for s in reading.cited]
    assert len(told) == 2
    assert any("became a school" in sentence for sentence in told)
    assert any("the flood of 1809" in sentence for sentence in told)


def test_the_sentence_of_the_best_span_is_quoted_whatever_the_evidence_says(reader: Reader) -> None:
    """Logits of a window with the best span in its last sentence, and all evidence in the first."""
    runtime, _ = reader.loaded()
    window = next(runtime.windows("Who?", BEES))
    [logits] = runtime.finish(runtime.glance([window]))
    first = window.offsets[:, 0] < BEES.index("In winter")
    last = np.where(first, -9.0, 0.0).astype(np.float32)
    biased = replace(logits, start=last, end=last, evidence=np.where(first, 9.0, -9.0).astype(np.float32))
    reading = reader._reading(BEES, runtime.glance([window]), [biased])
    assert [BEES[s.start : s.end].split()[0] for s in reading.evidence] == ["Worker", "In"]
    assert {BEES[s.start : s.end].split()[0] for s in reading.cited} == {"Worker", "In"}
