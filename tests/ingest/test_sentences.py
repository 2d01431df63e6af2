"""Where sentences end: not at the stops of commands, references and titles."""

from __future__ import annotations

import pytest

from chapterverse.ingest.sentences import split

WHOLE = [
    "Stage all of it (git add .) before you commit.",
    "Stage all of it with git add . then commit.",
    "Type git add . && git commit, and wait.",
    "Halloy gave his opinion in the Bulletins of Bruxelles (tom. xiii, page 581).",
    "Vols. I and II are lost.",
    "The tolls are listed in chap. 4, tab. 2 and arts. 7 to 9, with fig. 3, vol. IV, pp. 12 and no. 5.",
    "The fossil bones were found by MM. Lund and Clausen.",
    "The letter is by Lt. Smith, Prof. Harlan, Capt. Reyes and Messrs. Tate.",
    "The Dept. of Works paid Tate Bros. approx. 5 crowns for nails, rope, etc. before the frost.",
]
SEVERAL = [
    ["They kept sheep, goats, etc.", "The guild took a share."],
    ["He closed the tab.", "I left."],
    ["He ate a fig.", "The tree died."],
    ["He said no.", "The guild left."],
    ["The bell rang .", "The crowd left ."],
    ["It was built by Tate Bros.", "The shop closed."],
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_stop_within_a_sentence_does_not_cut_it(text: str) -> None:
    assert [text[start:end] for start, end in split(text)] == [text]


@pytest.mark.parametrize("parts", SEVERAL)
def test_a_sentence_that_ends_is_cut(parts: list[str]) -> None:
    text = " ".join(parts)
    assert [text[start:end] for start, end in split(text)] == parts
