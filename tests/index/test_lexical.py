"""BM25: what counts as a word, and that scores agree with another implementation."""

from __future__ import annotations

import bm25s
import numpy as np
import pytest

from chapterverse.index import lexical

PASSAGES = [
    "The keeper of the lighthouse trimmed the lamp every evening before the ships came in.",
    "Ships that came too near the rocks were warned by the lamp and by the bell.",
    "The bell was rung by hand. The keeper's daughter rang it, rang it, and rang it again.",
    "In winter nobody came, and the keeper kept a diary of the storms.",
    "A diary, a bell and a lamp: that is all that is left of the lighthouse.",
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Sea, the SEA!", ["the", "sea", "the", "sea"]),
        ("don’t can't", ["don't", "can't"]),
        ("Café naïve Ærø", ["cafe", "naive", "ærø"]),
        ("ﬁnal ２０２４ ½", ["final", "2024", "1", "2"]),
        ("snake_case x-ray 3.14", ["snake", "case", "x", "ray", "3", "14", "3.14"]),
        ("Rule 2.10.1. Rule 10.2", ["rule", "2", "10", "1", "rule", "10", "2", "2.10.1", "10.2"]),
        ("Règle 2.1.", ["regle", "2", "1", "2.1"]),
        ("Straße ΣΊΣΥΦΟΣ", ["strasse", "σισυφοσ"]),
        ("鯨は海にいる", ["鯨は", "は海", "海に", "にい", "いる"]),
        ("Moby鯨 1", ["moby", "鯨", "1"]),
        ("한국어 책", ["한국어", "책"]),
        ("… — !?", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert lexical.words(text) == words


def test_forms_of_a_word_are_one_term() -> None:
    assert len(set(lexical.terms("sail sails sailing sailed"))) == 1
    assert len(set(lexical.terms("keeper keeper's keepers"))) == 1
    assert len(set(lexical.terms("CVO CVOs CVO's CVO’s CVOs’ cvo"))) == 1
    assert len(set(lexical.terms("VM VMs RX7s RX7 GAS"))) == 3


def test_term_ids_are_stable() -> None:
    assert lexical.terms("whale ships") == [0xCEC70445, 0xFA30EB24]


def test_queries_drop_function_words_unless_they_are_all_there_is() -> None:
    assert lexical.query_vector("What is the lamp?") == lexical.query_vector("lamp")
    assert len(lexical.query_vector("to be or not to be").indices) == 4
    assert lexical.query_vector("").indices == ()


def test_vectors_are_sorted_and_weights_saturate() -> None:
    vector = lexical.document_vector(PASSAGES[2], 10.0)
    assert list(vector.indices) == sorted(set(vector.indices))
    [rang] = lexical.terms("rang")
    weights = dict(zip(vector.indices, vector.values, strict=True))
    assert max(weights.values()) < lexical.K1 + 1
    assert weights[rang] > weights[lexical.terms("daughter")[0]]


def test_average_length() -> None:
    assert lexical.average_length(["one two three", "four"]) == 2.0
    assert lexical.average_length([]) == 1.0
    assert lexical.average_length(["?"]) == 1.0


@pytest.mark.parametrize("query", ["keeper of the lighthouse", "who rang the bell", "storms diary winter lamp ships"])
def test_scores_agree_with_bm25s(query: str) -> None:
    rival = bm25s.BM25(method="lucene", k1=lexical.K1, b=lexical.B)
    corpus = [[str(term) for term in lexical.terms(passage)] for passage in PASSAGES]
    rival.index(corpus, show_progress=False)
    wanted = lexical.query_vector(query).indices
    expected = rival.get_scores([str(term) for term in wanted])

    average = lexical.average_length(PASSAGES)
    weights = [lexical.document_vector(passage, average) for passage in PASSAGES]
    vectors = [dict(zip(vector.indices, vector.values, strict=True)) for vector in weights]
    counts = {term: sum(term in vector for vector in vectors) for term in wanted}
    idf = {term: np.log(1 + (len(PASSAGES) - df + 0.5) / (df + 0.5)) for term, df in counts.items()}
    ours = [sum(idf[term] * vector.get(term, 0.0) for term in wanted) for vector in vectors]
    # Lucene leaves out the factor (k1 + 1), which is the same for every passage.
    assert ours == pytest.approx((lexical.K1 + 1) * expected, rel=1e-5)
