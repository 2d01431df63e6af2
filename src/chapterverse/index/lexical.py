"""BM25 as sparse vectors: text in, term ids and weights out; the engine multiplies by the inverse document frequency.

A passage's weights are `tf·(k1+1) / (tf + k1·(1-b+b·length/average))`, a query's are 1, and the engine's IDF is
`ln(1 + (N-df+½)/(df+½))`, so that their product is BM25 itself and its score can be compared with any other's.

Passages keep every word. Queries drop function words, question words among them, unless nothing else is left: that
ranks as well as dropping them on both sides, and "to be or not to be" still finds its page.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from threading import Lock
from zlib import crc32

import Stemmer

from chapterverse.types import SparseVector

K1 = 1.2
B = 0.75

FUNCTION_WORDS = frozenset(
    """
    a about am an and are as at be been being but by can could did do does for from had has have he her him his how i if
    in into is it its may me might my no not of on or our she should so such than that the their them then there these
    they this to too very was we were what when where which who whom whose why will with would you your
    """.split()
)

# Letters and digits with inner apostrophes ("don't"); scripts written without spaces are cut into pairs afterwards.
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_ACCENTS = re.compile(r"[\u0300-\u036f]")
_SEVERAL = re.compile(r"\b([A-Z][A-Z0-9]+)s\b")
"""`MPOs`: the stemmer takes neither "mpos" nor "vms" for a plural."""
_DOTTED = re.compile(r"\d+(?:\.\d+)+")
"""`4.3.3`: by its pieces alone it is as near to 3.4.3 as to itself."""

_stemmer = Stemmer.Stemmer("english")
_stemmer_lock = Lock()  # a stemmer object is not safe to share between threads


def words(text: str) -> list[str]:
    """The words of a text: case, width, accents and the kind of apostrophe folded away; then whole dotted numbers."""
    text = _SEVERAL.sub(r"\1", text)
    if text.isascii():
        return _found(text.lower())
    folded = unicodedata.normalize("NFKD", text).casefold().replace("’", "'")
    found = _found(unicodedata.normalize("NFC", _ACCENTS.sub("", folded)))
    if not _UNSPACED.search(folded):
        return found
    return [piece for word in found for piece in _pieces(word)]


def _found(folded: str) -> list[str]:
    return [*_WORD.findall(folded), *_DOTTED.findall(folded)]


def terms(text: str) -> list[int]:
    """The term ids of a passage, in the order of its words, repeats included."""
    return list(map(_term, words(text)))


def counted(text: str) -> Counter[int]:
    """The term ids of a passage, and how often each occurs."""
    return Counter(map(_term, words(text)))


def document_vector(text: str, average_length: float) -> SparseVector:
    """A passage's BM25 weights, in an index whose passages have `average_length` words."""
    return weights(counted(text), average_length)


def weights(counts: Counter[int], average_length: float) -> SparseVector:
    """The same from what has been counted."""
    norm = K1 * (1 - B + B * counts.total() / average_length)
    weight = {count: count * (K1 + 1) / (count + norm) for count in set(counts.values())}
    indices = tuple(sorted(counts))
    return SparseVector(indices, tuple([weight[counts[term]] for term in indices]))


def query_vector(text: str) -> SparseVector:
    """A question's content words, each with weight 1."""
    found = words(text)
    content = [word for word in found if word not in FUNCTION_WORDS] or found
    indices = tuple(sorted({_term(word) for word in content}))
    return SparseVector(indices=indices, values=(1.0,) * len(indices))


def word_count(texts: Iterable[str]) -> int:
    """How many words passages have together."""
    return sum(len(words(text)) for text in texts)


def average_length(texts: Collection[str]) -> float:
    """The mean number of words per passage, at least 1."""
    return mean_length(word_count(texts), len(texts))


def mean_length(words: int, passages: int) -> float:
    """The same from what has been counted."""
    return max(words / passages, 1.0) if passages else 1.0


@lru_cache(maxsize=200_000)
def _term(word: str) -> int:
    """A stable 32-bit id of the word's stem, the same on every machine."""
    with _stemmer_lock:
        stem = _stemmer.stemWord(word)
    return crc32(stem.encode())


def _pieces(word: str) -> list[str]:
    """The word itself, or overlapping pairs of characters where the script has no spaces."""
    pieces: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(word):
        pieces.append(word[end : run.start()])
        characters = run.group()
        pieces.extend(characters[i : i + 2] for i in range(max(len(characters) - 1, 1)))
        end = run.end()
    pieces.append(word[end:])
    return [piece for piece in pieces if piece]
