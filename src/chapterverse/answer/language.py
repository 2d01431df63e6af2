"""Whether a text is English: rules and reader judge nothing else."""

from __future__ import annotations

import re
from collections import Counter

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    "the of and to a is was that for it on with as are by this from be were which had not have at an or his her".split()
)
_OTHERS = tuple(
    frozenset(words.split())
    for words in (
        "der die das und ist nicht ein eine den dem des von zu mit war auf für im wurde sich",
        "le la les et est pas une un des du que dans il elle qui ne au pour sur était",
        "el la los las y es una un que en del por con se fue al su para",
        "il lo la gli e è una un che non di del con era nel si le",
        "o a os as e é uma um que não do da em foi se na por com",
        "de het een en is niet van dat op te was die met voor zijn aan door",
        "och att det som en är inte på av för var den med till ett har",
        "og at det som en er ikke på af for var den med til et har der",
        "i w nie na się że z jest do to jak był była od po za oraz",
        "ve bir bu da de için ile çok olarak daha en kadar sonra değil",
    )
)
"""Of German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish and Norwegian, Polish and Turkish."""


def is_english(text: str) -> bool:
    """Whether a text may be English: its letters are Latin, and no other language has clearly more of its small words.

    A text with hardly any small words, such as a row of a table, may be.
    """
    words = _WORD.findall(text.lower())
    if sum(not _latin(word) for word in words) > len(words) / 3:
        return False
    counts = Counter(words)
    most = max(sum(counts[word] for word in small) for small in _OTHERS)
    return most < sum(counts[word] for word in _ENGLISH) + 3 or most <= len(words) / 10


def _latin(word: str) -> bool:
    return all(sign < "\u0250" or "\u1e00" <= sign <= "\u1eff" for sign in word)
