"""Validation of retrieval: the contract's record, exact quotes, the rules of its label, and what binds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from chapterverse.answer.odds import weighed
from chapterverse.answer.once import OncePerQuestion
from chapterverse.answer.validate import Excerpt, Validation, ValidationSettings, validate_retrieval
from chapterverse.errors import AstRagValidationError, InvalidQueryError
from chapterverse.ingest.sentences import split
from chapterverse.reading.reader import Reader
from chapterverse.types import AnswerSpan, Reading, Support

HARBOUR = Excerpt(
    "harbour",
    "Fishing was the town's whole living. The harbour wall at Ennisbay was built in 1834 by the engineer Rose Tully."
    " It still stands.",
)
STORM = Excerpt(
    "storm",
    "Everyone in Ennisbay remembers the storm. The wall of the harbour, which had been built in 1834, held firm, but"
    " nine boats were lost.",
)
BREAD = Excerpt("bread", "Knead the dough for ten minutes. Let it rise in a warm place until it has doubled.")
QUESTION = "When was the harbour wall at Ennisbay built?"


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


def judged(reader: Reader, question: str = QUESTION, *passages: Excerpt) -> Validation:
    return validate_retrieval(question, passages or (HARBOUR, STORM, BREAD), reader=reader, sentences=split)


def test_a_question_that_is_answered(reader: Reader) -> None:
    verdict = judged(reader)
    assert [chunk.chunk_id for chunk in verdict.relevant_chunks] == ["harbour", "storm", "bread"]
    assert [chunk.is_relevant for chunk in verdict.relevant_chunks] == [True, True, False]
    assert verdict.answer_present
    assert verdict.retrieval_quality == "Good"
    quote = next(evidence for evidence in verdict.evidence if evidence.chunk_id == "harbour")
    assert quote.quote == "The harbour wall at Ennisbay was built in 1834 by the engineer Rose Tully."
    assert quote.sentence_index == 1
    assert quote.context_before == "Fishing was the town's whole living."
    assert quote.context_after == "It still stands."


def test_summaries_and_quotes_are_slices_of_their_passages(reader: Reader) -> None:
    verdict = judged(reader)
    texts = {passage.id: passage.text for passage in (HARBOUR, STORM, BREAD)}
    for chunk in verdict.relevant_chunks:
        assert chunk.summary
        assert chunk.summary in texts[chunk.chunk_id]
    for evidence in verdict.evidence:
        assert evidence.quote
        joined = " ".join(filter(None, (evidence.context_before, evidence.quote, evidence.context_after)))
        assert joined in texts[evidence.chunk_id]


@pytest.mark.parametrize(
    "question",
    ["Who is the mayor of Ennisbay?", "When was the lighthouse at Corran built?", "Who invented the telephone?"],
)
def test_no_evidence_without_an_answer(reader: Reader, question: str) -> None:
    verdict = judged(reader, question)
    assert not verdict.answer_present
    assert verdict.evidence == ()
    assert verdict.retrieval_quality != "Good"


def test_nothing_relevant_is_poor_whatever_else(reader: Reader) -> None:
    verdict = judged(reader, QUESTION, BREAD)
    assert verdict.retrieval_quality == "Poor"
    assert verdict.quality_reasoning == "None of the 1 passages is relevant."
    assert not verdict.answer_present


def test_the_same_passages_get_the_same_verdict(reader: Reader) -> None:
    assert judged(reader) == judged(reader)


def test_the_view_has_the_fields_of_the_contract(reader: Reader) -> None:
    view = json.loads(json.dumps(judged(reader).as_dict()))
    assert list(view) == [
        "relevant_chunks",
        "answer_present",
        "evidence",
        "retrieval_quality",
        "quality_reasoning",
        "processing_time_ms",
    ]
    assert list(view["relevant_chunks"][0]) == ["chunk_id", "relevance_score", "is_relevant", "summary"]
    assert list(view["evidence"][0]) == ["chunk_id", "quote", "sentence_index", "context_before", "context_after"]
    assert view["processing_time_ms"] > 0


@dataclass
class Scored:
    """A reader whose judgement is given, for what no real one can be made to say exactly."""

    scores: Sequence[tuple[float, float]]

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        return [
            Reading(relevance, answerable, (AnswerSpan(0, 3, 1.0),), (AnswerSpan(0, 3, 0.1),))
            for relevance, answerable in (self.scores[int(passage.split()[1][:-1])] for passage in passages)
        ]

    def supports(self, claim: str, passages: Sequence[str]) -> list[Support]:
        raise AssertionError("validation makes no claims")

    def strictly(self, claim: str, passages: Sequence[str]) -> list[float]:
        raise AssertionError("validation makes no claims")


@dataclass
class Hasty(Scored):
    """One that says something else of what it reads whole, in the order of these looks."""

    closer: Sequence[float] = ()
    whole: list[str] = field(default_factory=list)

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        readings = super().read(question, passages)
        if not whole:
            return readings
        chances = self.closer[len(self.whole) :][: len(passages)]
        self.whole += passages
        return [replace(one, answerable=chance) for one, chance in zip(readings, chances, strict=True)]


@pytest.mark.parametrize(
    ("chances", "closer", "read", "found"),
    [
        ((0.2, 0.9, 0.5, 0.8), (0.95,), ["The 1."], (0.2, 0.95, 0.5, 0.8)),
        ((0.2, 0.9, 0.5, 0.8), (0.3, 0.85), ["The 1.", "The 3."], (0.2, 0.3, 0.5, 0.85)),
        ((0.2, 0.9, 0.7, 0.8), (0.4, 0.3), ["The 1.", "The 3."], (0.2, 0.4, 0.4, 0.3)),
        ((0.2, 0.9, 0.5, 0.3), (0.1, 0.2), ["The 1.", "The 2."], (0.2, 0.1, 0.2, 0.3)),
        ((0.3, 0.1), (), [], (0.3, 0.1)),
        ((0.9,), (), [], (0.9,)),
    ],
    ids=[
        "the likeliest",
        "then the next",
        "no other is likelier than these",
        "until nothing is likely",
        "nothing is likely",
        "one is read whole as it is",
    ],
)
def test_what_is_likely_to_answer_is_read_again_and_whole(
    chances: Sequence[float], closer: Sequence[float], read: list[str], found: Sequence[float]
) -> None:
    reader = Hasty([(0.9, chance) for chance in chances], closer)
    passages = [Excerpt(f"c{n}", f"The {n}.") for n in range(len(chances))]
    verdict = validate_retrieval("q", passages, reader=reader, sentences=split)
    assert reader.whole == read
    beside = weighed("q", [passage.text for passage in passages], [Reading(0.9, chance) for chance in found])
    assert [one.answerable for one in verdict.readings] == [one.answerable for one in beside]


def test_one_question_reads_each_passage_once_at_a_glance_and_once_whole() -> None:
    passages = ["The 0.", "The 1."]
    reader = Hasty([(0.9, 0.8), (0.9, 0.6)], closer=[0.3])
    once = OncePerQuestion(reader)
    assert [one.answerable for one in once.read("q", passages)] == [0.8, 0.6]
    assert [one.answerable for one in once.read("q", passages[:1], whole=True)] == [0.3]
    assert [one.answerable for one in once.read("q", passages)] == [0.3, 0.6], "what was read whole stands"
    once.read("q", passages[:1], whole=True)
    assert reader.whole == passages[:1]


def scored(*scores: tuple[float, float], threshold: float | None = None) -> Validation:
    passages = [Excerpt(f"c{n}", f"The {n}. Then more.") for n in range(len(scores))]
    return validate_retrieval("q", passages, threshold, reader=Scored(scores), sentences=split)


@pytest.mark.parametrize(
    ("scores", "quality"),
    [
        ([(0.6, 0.5), (0.6, 0.0)], "Good"),
        ([(0.59, 0.5), (0.6, 0.0)], "Partial"),  # the mean is short of 0.6
        ([(0.9, 0.49), (0.9, 0.0)], "Partial"),  # no answer
        ([(0.9, 0.9)], "Partial"),  # one passage
        ([(0.9, 0.9), (0.29, 0.9)], "Partial"),  # the second is not relevant
        ([(0.29, 0.29), (0.1, 0.1)], "Poor"),
        ([], "Poor"),
    ],
)
def test_the_label(scores: list[tuple[float, float]], quality: str) -> None:
    assert scored(*scores).retrieval_quality == quality


def test_a_low_threshold_makes_passages_relevant_but_the_mean_poor() -> None:
    verdict = scored((0.2, 0.9), (0.3, 0.1), threshold=0.1)
    assert [chunk.is_relevant for chunk in verdict.relevant_chunks] == [True, True]
    assert verdict.retrieval_quality == "Poor"
    assert verdict.answer_present


def test_an_answer_in_an_irrelevant_passage_does_not_count() -> None:
    verdict = scored((0.7, 0.9), threshold=0.8)
    assert not verdict.answer_present
    assert verdict.evidence == ()


def test_the_answer_threshold_is_a_setting() -> None:
    passages, reader = [Excerpt("c", "The 0.")], Scored([(0.9, 0.7)])
    for answer_threshold, present in ((0.7, True), (0.71, False)):
        settings = ValidationSettings(answer_threshold=answer_threshold)
        verdict = validate_retrieval("q", passages, reader=reader, sentences=split, settings=settings)
        assert verdict.answer_present is present


def test_evidence_comes_from_the_surest_passage_first() -> None:
    assert [quote.chunk_id for quote in scored((0.9, 0.6), (0.9, 0.8)).evidence] == ["c1", "c0"]


@pytest.mark.parametrize("query", ["", "  \n"])
def test_a_blank_question_is_refused(query: str) -> None:
    with pytest.raises(InvalidQueryError):
        validate_retrieval(query, [BREAD], reader=Scored([(0, 0)]), sentences=split)


def test_a_chunk_that_comes_twice_is_refused_by_its_id() -> None:
    with pytest.raises(AstRagValidationError, match="bread") as caught:
        validate_retrieval("q", [BREAD, HARBOUR, BREAD], reader=Scored([(0, 0)] * 3), sentences=split)
    assert caught.value.details == {"chunk_ids": ["bread"]}


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_0_to_1_is_refused(threshold: float) -> None:
    with pytest.raises(AstRagValidationError, match="relevance_threshold"):
        scored((0.5, 0.5), threshold=threshold)
