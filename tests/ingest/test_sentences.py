"""Where sentences end: not at the stops of commands, references, titles and numbers, nor inside a short quotation."""

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
    "Strategy 5.1.6. PFAS Contamination",
    "Chapter 3. The Loom",
    "CHAPTER VII. A Mad Tea-Party",
    "Fig. 3. The mill at dawn",
    "- Step 12. Open the lid",
    "1.2. The plan of the house",
    "IV. The Rabbit sends in a little bill",
    "They stage their updates (git add .), commit them and leave.",
    "They asked (what?), and left.",
    "Is it so?; no, it is not.",
    "Oh! the Duchess will be savage.",
    "“Why? because I say so!” said she.",
    "It was drawn by J. Smith and A. Miller.",
    "My brother and I and W. Jones went.",
    "In 1902 A. Smith bought it, and on May 5, W. Jones did.",
    "3 A. Miller, On Looms, gives the rest.",
    "It lies 3 m. N of the ford, at 40 W. Broad Street.",
    "It is 3 m. long and 2 m. N.E. of the gate.",
    '"I will not sell it. I cannot," she said.',
    "'I will not sell it. I can't,' she said.",
    "“Will you row? I must know,” he asked.",
    "“He told me, ‘Row. Do not stop.’ and left. I rowed,” said the boy.",
    "„Ich rudere nicht. Ich kann nicht“, sagte sie.",
    "«Je ne rame pas. Je dors», dit-il.",
    "「漕ぎません。眠ります」と彼は言った。",
    "The locks shut at nine (see table 2 (the long one). It has them all).",
    "[The page is torn. No more can be read.]",
    "“Where is the oar?” Tom asked.",
    '"Here!" I cried.',
    "“Who rows?” old Mrs. Ford called, and the ferryman answered.",
]
SEVERAL = [
    ["They kept sheep, goats, etc.", "The guild took a share."],
    ["He closed the tab.", "I left."],
    ["He ate a fig.", "The tree died."],
    ["He said no.", "The guild left."],
    ["The bell rang .", "The crowd left ."],
    ["It was built by Tate Bros.", "The shop closed."],
    ["He was born in 12.", "Then he left."],
    ["They live in Room 12.", "The door was open."],
    ["Step 1. Open the lid.", "Wait until it is cold."],
    ["They stage it (git add .)", "Then they leave."],
    ["(Is it so?)", "It is."],
    ["The shelf bears 80 kg.", "Pour in 2.5 l.", "Wait 30 s.", "It runs at 40 km/h.", "It has 4 m².", "Leave it."],
    ["Put 1/2 oz. into it.", "It draws 10 A.", "A plug for 230 V.", "Cables carry 1,200 W.", "Cut 5mm.", "I did."],
    ["It fits looms A and B.", "Loom C is wider."],
    ["Oh! the Duchess!", "Oh! won't she be savage?"],
    ["“Is it deep?” he asked.", "“I rowed. I sank.”", "They laughed."],
    ["(See table 2. It has them all.)", "Then go on."],
    ['The rail is 5" wide.', 'The post is 6" wide.', "Cut both."],
    ["He told 'em to row.", "They did.", "The dogs' bowl was 'full.'", "He left."],
    ["a) The oar is long.", "b) The boat is old.", "The rest (and more) follows."],
    ["“A letter begins.", "We were two.", "“Three came. Four left.”", "So it was."],
    ["“Row!”", "Tom left.", "They rowed."],
    ["“The river rose all night.", *["We moved the sheep up the hill."] * 8, "All lived.”", "He sat."],
]


@pytest.mark.parametrize("text", WHOLE)
def test_a_stop_within_a_sentence_does_not_cut_it(text: str) -> None:
    assert [text[start:end] for start, end in split(text)] == [text]


@pytest.mark.parametrize("parts", SEVERAL)
def test_a_sentence_that_ends_is_cut(parts: list[str]) -> None:
    text = " ".join(parts)
    assert [text[start:end] for start, end in split(text)] == parts


@pytest.mark.parametrize(
    "sentences",
    [
        ["They are kept until the best-before date.[1]", "Then they are sold."],
        ["It ends with a note.[4]"],
        ["A bracket is its own.", "[Sic] he wrote."],
    ],
)
def test_the_mark_of_a_note_belongs_to_the_words_it_is_glued_to(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in split(text)] == sentences
