"""Answers by quoting: what is quoted, what comes with it, and that no word is ours."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapterverse.answer.drafting import Composed, compose
from chapterverse.answer.fences import Brief, Offered
from chapterverse.answer.gate import PLAIN, check
from chapterverse.answer.layout import gap
from chapterverse.answer.questions import asks_for_theme, defined_subject, parts, points_at_text
from chapterverse.answer.validate import Excerpt
from chapterverse.ingest.sentences import split
from chapterverse.protocols import Reader
from chapterverse.types import AnswerSpan, DraftSentence, Reading
from tests.answer.stand_ins import WordReader

SAMPLE = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "sample" / "questions.jsonl").read_text("utf-8").splitlines()
]

THORNE = (
    "Silas Thorne came from High Garth, a shepherd's son. He was bound to Ambrose Kell at the age of thirteen."
    " He served seven years at the bench."
)
TABLE = (
    "The towers differ.\n\n"
    "Tower | Weight (pounds) | Drop (feet)\nHigh Garth | 180 | 22\nStennet | 310 | 48\n\n"
    "There is nothing mysterious in this."
)
RULES = (
    "The charter had three articles. I give the sense of them:\n\n"
    "1. That no clock be sold without a mark.\n2. That every maker mend his clocks.\n3. That brass be weighed.\n\n"
    "The third was disputed."
)
CRUTCH = (
    "Few visitors notice it. The crutch is the light arm that reaches down behind the pendulum."
    " A bent crutch makes a clock limp."
)


def answered(
    question: str, *texts: str, label: str = "book.md", reader: Reader | None = None, threshold: float = 0.0
) -> Composed:
    offered = tuple(Offered(f"S{n}", label, text) for n, text in enumerate(texts, 1))
    return compose(Brief(question, offered), reader or WordReader(), split, threshold)


def quoted(question: str, *texts: str, label: str = "book.md") -> list[str]:
    return [sentence.text for sentence in answered(question, *texts, label=label).sentences]


class TestOnePart:
    def test_one_sentence_is_enough(self) -> None:
        assert quoted("What makes a clock limp?", CRUTCH) == ["A bent crutch makes a clock limp."]

    def test_a_pronoun_brings_the_sentence_that_names_whom_it_means(self) -> None:
        assert quoted("How many years did Silas Thorne serve at the bench?", THORNE) == [
            "Silas Thorne came from High Garth, a shepherd's son.",
            "He served seven years at the bench.",
        ]

    def test_a_name_that_the_question_has_and_the_answer_lacks_is_brought(self) -> None:
        text = "The flood of 1744 came at night. Nobody slept. The clock was stopped for eleven days."
        assert quoted("For how many days was the clock stopped in 1744?", text) == [
            "The flood of 1744 came at night.",
            "The clock was stopped for eleven days.",
        ]

    @pytest.mark.parametrize("opening", ["There seemed to be", "There was", "Here stood", "There's"])
    def test_there_is_no_pronoun_before_a_verb_of_being(self, opening: str) -> None:
        told = f"{opening} no bell to ring at noon."
        assert quoted("Was there no bell to ring at noon?", f"The bell tower is old. {told}") == [told]

    def test_what_stands_between_is_brought_where_a_pronoun_would_mean_something_else(self) -> None:
        told = ["The retry count says how often.", "The default is 3.", "It must stay below 10."]
        reader = Cites("It must stay below 10.")
        composed = answered("Why must the retry count stay below 10?", " ".join(told), reader=reader)
        assert [one.text for one in composed.sentences] == told

    def test_they_are_always_somebody(self) -> None:
        told = ["The first settlers came by boat.", "They also brought the vole."]
        assert quoted("How did the vole get here?", "Nobody lived here.\n\nArrival\n\n" + " ".join(told)) == told

    def test_another_pronoun_behind_it_is_one(self) -> None:
        told = ["She finished 412 dials.", "There is a grey heron on every one of them."]
        assert quoted("Is there a grey heron on the dials?", " ".join(told)) == told

    def test_what_is_said_of_a_rival_is_left_for_what_is_said_of_the_thing_itself(self) -> None:
        rival = "Peter Holm paid for the bridge in 1902, and paid at once."
        own = "When the bridge was done, in 1904, Anna Holm paid for half."
        assert quoted("When did Anna Holm pay at once for the bridge?", rival, own) == [own]
        assert quoted("When did Anna Holm pay at once for the bridge?", rival) == []

    def test_what_stands_under_another_number_is_no_answer(self) -> None:
        text = "Rule 4.3.4. Lamps\n\nLamps are lit at dusk by the keeper.\n\nRule 4.3.3. Bells\n\nBells ring at dusk."
        reader = Cites("Lamps are lit at dusk by the keeper.")
        assert answered("What does Rule 4.3.3 say of dusk?", text, reader=reader).sentences == ()
        assert answered("What does Rule 4.3.4 say of dusk?", text, reader=reader).sentences

    def test_a_passage_that_is_likely_for_a_rival_alone_has_no_other_answer(self) -> None:
        text = "The bank was closed in 1888. Peter Holm left the bank in 1902."
        for asked, told in (("Anna", []), ("Peter", ["Peter Holm left the bank in 1902."])):
            question = f"When did {asked} Holm leave the bank?"
            composed = answered(question, text, reader=Finds((0.9, ("1902", "1888"))), threshold=0.5)
            assert [one.text for one in composed.sentences] == told

    def test_nothing_is_brought_that_the_question_does_not_speak_of(self) -> None:
        text = "Rain fell all day. It was cold in the tower."
        assert quoted("Was the tower cold?", text) == ["It was cold in the tower."]

    def test_of_two_equal_passages_the_one_that_speaks_of_the_question_is_quoted(self) -> None:
        stairs = "The tower at {} is square. A winding stair of {} steps leads up."
        composed = answered(
            "How many steps has the stair of the tower at Tollen?",
            stairs.format("Nether Garth", 68),
            stairs.format("Tollen", 86),
        )
        assert composed.sentences[-1].text == "A winding stair of 86 steps leads up."
        assert composed.sentences[-1].citations == ("S2",)

    def test_a_definition_is_the_sentence_that_says_what_it_is(self) -> None:
        expected = ["The crutch is the light arm that reaches down behind the pendulum."]
        assert quoted("What is a crutch?", CRUTCH) == expected
        assert quoted("What does 'the crutch' mean?", CRUTCH) == expected
        assert quoted("What is meant by crutch?", CRUTCH) == expected

    @pytest.mark.parametrize(
        "told",
        [
            "Send it to the general head quarters (GHQ) at noon.",
            "At noon the GHQ (general head quarters) was shut.",
            "All gate and hall-quoin stones (GHQs) were sold.",
        ],
    )
    def test_an_abbreviation_is_spelled_out(self, told: str) -> None:
        text = f"The GHQ does not stand for much. In brackets (GHQ) it is short, and GHQ (see below) is old. {told}"
        for question in ("What is GHQ?", "What does GHQ stand for?", "What's a GHQ?", "What are GHQs?"):
            assert quoted(question, text) == [told]
        assert quoted("What is a GHQ?", text, "A GHQ is a place.") == ["A GHQ is a place."]


class Chances(WordReader):
    """Thinks of each passage what it is told to, and finds the answer in its whole first sentence."""

    def __init__(self, *chances: float) -> None:
        self.chances = chances

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        spans = [AnswerSpan(*split(text)[0], 0.9) for text in passages]
        return [Reading(1.0, chance, (span,)) for chance, span in zip(self.chances, spans, strict=True)]


class Finds(WordReader):
    """Is told for each passage how likely it answers, and with which words, the best first."""

    def __init__(self, *found: tuple[float, tuple[str, ...]]) -> None:
        self.found = found

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        return [
            Reading(1.0, chance, tuple(_at(words, text, 0.8 / 4**n) for n, words in enumerate(spans)))
            for (chance, spans), text in zip(self.found, passages, strict=True)
        ]


def _at(words: str, text: str, score: float) -> AnswerSpan:
    return AnswerSpan(text.index(words), text.index(words) + len(words), score)


@pytest.mark.parametrize(
    ("first", "answer"),
    [
        ("Drums and Lines", "A bin of sand stands below."),
        ("Lines\n\nA rope", "A bin of sand stands below."),
        ("A rope", "A rope runs over the drum."),
    ],
    ids=["a heading", "the end of it and what follows", "a sentence"],
)
def test_what_is_no_sentence_leaves_the_next_best_answer(first: str, answer: str) -> None:
    texts = ("Drums and Lines\n\nA rope runs over the drum.", "A bin of sand stands below.")
    reader = Finds((0.9, (first, "the drum")), (0.8, ("A bin of sand",)))
    composed = answered("What catches it?", *texts, reader=reader)
    assert [sentence.text for sentence in composed.sentences] == [answer]


class TestTheThreshold:
    TITLE = "The Clocks of Quern, by Ada Marl\n\nAda Marl\n\nThis copy may be given away by its owner."
    OTHER = "A bin of sand stands below."

    def quoted(self, *found: tuple[float, tuple[str, ...]], threshold: float = 0.5) -> list[str]:
        composed = answered("Who is it?", self.TITLE, self.OTHER, reader=Finds(*found), threshold=threshold)
        return [one.text for one in composed.sentences]

    def test_no_passage_below_it_is_quoted(self) -> None:
        assert self.quoted((0.4, ("its owner",)), (0.45, ("A bin",))) == []
        assert self.quoted((0.4, ("its owner",)), (0.55, ("A bin",))) == [self.OTHER]

    def test_an_answer_in_a_heading_is_its_line_where_no_sentence_is_as_likely(self) -> None:
        title = "The Clocks of Quern, by Ada Marl"
        assert self.quoted((0.9, ("by Ada Marl", "its owner")), (0.3, ("A bin",))) == [title]
        assert self.quoted((0.9, ("by Ada Marl",)), (0.3, ("A bin",))) == [title]
        assert self.quoted((0.9, ("by Ada Marl",)), (0.6, ("A bin",))) == [self.OTHER]

    def test_a_heading_takes_nothing_from_a_sentence_that_is_likelier(self) -> None:
        said = "This copy may be given away by its owner."
        assert self.quoted((0.6, ("its owner", "by Ada Marl")), (0.3, ("A bin",))) == [said]

    def test_a_heading_that_says_no_more_than_the_answer_is_none(self) -> None:
        assert self.quoted((0.9, ("Ada Marl\n\nThis copy",)), (0.3, ("A bin",)), threshold=0.95) == []
        bare = answered("Who?", "Ada Marl\n\nIt rained.", reader=Finds((0.9, ("Ada Marl",))), threshold=0.5)
        assert bare == Composed(())


class Cites(WordReader):
    """Finds the answer in the first of these sentences, and would quote all of them."""

    def __init__(self, *cited: str) -> None:
        self.cited = cited

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        return [
            Reading(1.0, 0.9, tuple(told[:1]), tuple(told), tuple(told))
            for told in ([_at(words, text, 0.8) for words in self.cited] for text in passages)
        ]


class FindsAll(Cites):
    """Finds the answer in all of these words alike."""

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
        return [replace(one, spans=one.cited, cited=()) for one in super().read(question, passages, whole=whole)]


class TestEntries:
    FAQ = (
        "1. How do I open the hive?\n\nSmoke it first. Wait for a minute.\n\n"
        "2. When is honey ripe?\n\nIn July. After rain it is a week later.\n\n3. Who may help?\n\nAny member."
    )

    def quoted(self, question: str, *spans: str, text: str = FAQ) -> list[str]:
        reader = Finds((0.9, spans), (0.6, ("Bees sleep.",)))
        return [one.text for one in answered(question, text, "Bees sleep.", reader=reader, threshold=0.5).sentences]

    def test_the_answer_to_a_question_that_the_book_asks_is_all_that_stands_below_it(self) -> None:
        assert self.quoted("How do I open the hive?", "open the hive") == ["Smoke it first. Wait for a minute."]
        assert self.quoted("When is honey ripe?", "In July") == ["In July. After rain it is a week later."]

    def test_and_not_what_stands_below_the_next(self) -> None:
        assert self.quoted("When is honey ripe?", "Any member") == ["In July. After rain it is a week later."]

    def test_of_a_long_answer_its_opening_or_what_the_reader_chose(self) -> None:
        text = "When is honey ripe?\n\nIn July. It is dark. Some like it. Taste it on the day of the fair.\n\nBees hum."
        assert self.quoted("When is honey ripe?", "Bees hum.", text=text) == [
            "In July.",
            "It is dark.",
            "Some like it.",
        ]
        assert "Taste it on the day of the fair." in self.quoted("When is honey ripe?", "on the day", text=text)

    def test_a_heading_that_names_what_is_asked_for_brings_all_below_it(self) -> None:
        text = "Aim\n\nWe keep bees alive. Nobody pays for it.\n\nPast\n\nIt began in 1911."
        whole = ["We keep bees alive. Nobody pays for it."]
        assert self.quoted("What is the aim?", "bees alive", text=text) == whole
        assert self.quoted("What is the aim?", "1911", text=text) == ["It began in 1911."]

    def test_clauses_under_it_are_quoted_to_the_last(self) -> None:
        advice = "\n\n".join(f"2.{n}. {one}" for n, one in enumerate(("Mend it.", "Dig.", "Wait.", "Ask."), 1))
        text = f"2 Advice\n\n{advice}\n\n3 Thanks\n\nWe thank all."
        assert self.quoted("What is the advice?", "Dig", text=text) == [advice]

    def test_all_that_is_new_in_a_version_is_quoted(self) -> None:
        new = "- New: it chimes.\n- New: it stops.\n- Fixed: it was late."
        text = f"Chime 2.4\n\n{new}\n\nChime 2.3\n\n- New: a hand.\n- Fixed: the bell."
        assert self.quoted("What is new in Chime 2.4?", "it chimes", text=text) == [new]

    STEPS = "Opening the hive\n\n1. Smoke it.\n2. Lift the lid.\n\nBees sting."

    @pytest.mark.parametrize("place", ["Opening the hive", "Cleaning", "Opening the hive and the shed"])
    def test_steps_under_a_heading_that_names_what_is_to_be_done_go_before(self, place: str) -> None:
        text, table = self.STEPS.replace("Opening the hive", place), "Hive | Tool\nMarl | Hive tool, to open it"
        reader = Finds((0.2, ("Lift the lid",)), (0.9, ("Hive tool",)))
        told = answered("How do I open the Marl hive?", f"{text} Marl hums.", table, reader=reader, threshold=0.5)
        steps = ["1. Smoke it.\n2. Lift the lid."]
        assert ([one.text for one in told.sentences] == steps) == (place == "Opening the hive")

    def test_but_not_those_for_something_else(self) -> None:
        assert self.quoted("How do I open the hive?", "Bees", text=self.STEPS) == ["1. Smoke it.\n2. Lift the lid."]
        assert self.quoted("How do I open the Tate hive?", "Bees", text=self.STEPS)[0] == "Bees sting."


class TestEnumerations:
    LEAD = "The inn had three faults."
    MEMBERS = ("First, it was wet.", "Second, it was draughty.", "Finally, it was far off.")

    def quoted(self, question: str, *members: str) -> list[str]:
        text = f"{self.LEAD} {' '.join(members)} It was sold in May."
        return [one.text for one in answered(question, text, reader=Cites(members[0])).sentences]

    def test_all_members_are_quoted_with_what_leads_into_them(self) -> None:
        assert self.quoted("What were the faults of the inn?", *self.MEMBERS) == [self.LEAD, *self.MEMBERS]

    def test_without_it_where_there_is_no_room(self) -> None:
        assert self.quoted("Why did the inn fail?", *self.MEMBERS) == [*self.MEMBERS]

    def test_too_many_members_are_left_as_they_were(self) -> None:
        many = (*self.MEMBERS[:2], "Third, it was dear.", self.MEMBERS[2])
        assert self.quoted("Why did the inn fail?", *many) == [self.MEMBERS[0]]

    def test_one_member_answers_another_question(self) -> None:
        assert self.quoted("Who said that it was wet?", *self.MEMBERS) == [self.MEMBERS[0]]

    def test_members_within_a_sentence_stay_together(self) -> None:
        told = "The inn has three parts: (a) the hall; (b) the stable; and (c) the well."
        assert quoted("What are the parts of the inn?", f"Elms grow here. {told} They are dark.") == [told]


class TestWhatIsAnnounced:
    GUIDE = (
        "Undoing\n\nTo cancel your last commit, run the following command:\n\nvcs revert HEAD\n\nThis adds a commit."
        " To see an old version, run the following commands:\n\nvcs log\nvcs show NUMBER\n\nHabits\n\n"
        "Commit often. In short:"
    )
    REVERT = "To cancel your last commit, run the following command:\n\nvcs revert HEAD"
    SHOW = "To see an old version, run the following commands:\n\nvcs log\nvcs show NUMBER"

    def quoted(self, *cited: str, text: str = GUIDE) -> list[str]:
        return [one.text for one in answered("How do I undo it?", text, reader=Cites(*cited)).sentences]

    def test_a_sentence_is_quoted_with_the_lines_that_it_announces(self) -> None:
        assert self.quoted("vcs revert HEAD") == [self.REVERT]
        assert self.quoted("run the following command:", "This adds a commit.") == [self.REVERT, "This adds a commit."]
        assert self.quoted("This adds a commit.", self.SHOW) == ["This adds a commit.", self.SHOW]

    def test_one_that_announces_nothing_is_not_quoted(self) -> None:
        assert self.quoted("Commit often.", "In short:") == ["Commit often."]
        towers = "Rain fell. The towers are these:\n\nTower | Weight\nStennet | 310"
        assert self.quoted("Rain fell.", "The towers are these:", text=towers) == ["Rain fell."]

    def test_one_that_leads_into_a_list_is_not_quoted_without_it(self) -> None:
        assert self.quoted("The third was disputed.", "I give the sense of them:", text=RULES) == [
            "The third was disputed."
        ]

    def test_speech_follows_who_speaks(self) -> None:
        text = 'The miller rose and said:\n\n"The wheel is broken. Go home."\n\nNobody moved.'
        assert self.quoted("The miller rose", text=text) == [text.removesuffix("\n\nNobody moved.")]


def test_lines_of_verse_are_quoted_together() -> None:
    verse = (
        "'The miller's wife, she baked some bread,\n\nOne morning in the May:\n\n"
        "The smith came by to see her loaves,\n\nAnd bore them all away!'"
    )
    text = f"The boy stood up and sang.\n\n{verse}\n\nNobody clapped."
    assert quoted("Who bore the loaves away?", text) == [verse]
    offered = [Excerpt("S1", text)]
    (passed,) = check([DraftSentence(verse, ("S1",), verse, "quote")], offered, WordReader(), split, PLAIN).sentences
    assert passed.text == verse


class TestWhatAnswersToo:
    STRIKE = (
        "Lightning\n\nThe controller is guarded against strikes. One came in 2014. It followed the water down the pipe."
        " A kettle and a hen were lost. The insurance paid. Nobody was hurt."
    )

    def quoted(self, question: str, *cited: str, text: str = STRIKE) -> list[str]:
        return [one.text for one in answered(question, text, reader=Cites(*cited)).sentences]

    def test_sentences_that_the_reader_would_quote_follow_in_the_books_order(self) -> None:
        best, later, earlier = "A kettle and a hen were lost.", "The insurance paid.", "One came in 2014."
        assert self.quoted("What came of it?", best, later, earlier) == [best, earlier, later]

    def test_a_plain_question_gets_the_best_three_at_most(self) -> None:
        told = ["A kettle and a hen were lost.", "Nobody was hurt.", "The insurance paid.", "One came in 2014."]
        assert self.quoted("What came of it?", *told) == [told[0], told[2], told[1]]
        assert len(self.quoted("List all that came of it.", *told)) == 4

    def test_sentences_are_counted_not_quotes(self) -> None:
        told = ["The insurance paid. Nobody was hurt.", "A kettle and a hen were lost.", "One came in 2014."]
        assert self.quoted("What came of it?", *told) == [told[1], told[0]]

    def test_what_stands_right_before_the_answer_stays_there(self) -> None:
        before, best = "The case is dust-proof.", "It must not be put under water."
        assert self.quoted("Is it waterproof?", best, before, text=f"{before} {best}") == [before, best]
        further = "The lid is blue."
        text = f"{further} {before} {best} Keep it dry."
        assert self.quoted("Is it waterproof?", best, further, before, text=text) == [further, before, best]

    def test_a_pronoun_follows_the_sentence_that_says_what_it_means(self) -> None:
        best, leaning, before = "The insurance paid.", "It followed the water down the pipe.", "One came in 2014."
        assert self.quoted("What came of it?", best, leaning) == [best, before, leaning]
        assert self.quoted("What came of it?", before, leaning) == [before, leaning]

    def test_a_pronoun_without_room_for_that_sentence_is_left_out(self) -> None:
        told = ["The insurance paid.", "Nobody was hurt.", "It followed the water down the pipe."]
        assert self.quoted("What came of it?", *told) == told[:2]
        text = "It rained. It followed the pipe. The insurance paid."
        assert self.quoted("What came of it?", "The insurance paid.", "It followed the pipe.", text=text) == [
            "The insurance paid."
        ]

    def test_each_part_of_a_question_keeps_to_its_own_answer(self) -> None:
        told = ("The insurance paid.", "Nobody was hurt.")
        assert self.quoted("Who paid?", *told) == [*told]
        assert self.quoted("Who paid for the hen, and when did the strike come?", *told) == [told[0]]

    def test_nothing_comes_with_a_row_and_no_heading_with_anything(self) -> None:
        assert self.quoted("What?", "High Garth | 180 | 22", "The towers differ.", text=TABLE)[-1].startswith("High")
        assert self.quoted("What?", "The insurance paid.", "Lightning") == ["The insurance paid."]


@pytest.mark.parametrize(
    ("chances", "best"),
    [((0.85, 0.31), 0), ((0.85, 0.8), 1), ((0.5, 0.5), 1)],
    ids=["the reader is not outweighed", "the name decides between good places", "and between equal ones"],
)
def test_the_best_place_is_likely_and_speaks_of_what_is_asked(chances: tuple[float, float], best: int) -> None:
    texts = ("He set a lead in every new hand.", "Orrin Vale rang the hours himself.")
    composed = answered("Who taught with a lead at Orrin Vale?", *texts, reader=Chances(*chances))
    assert [sentence.text for sentence in composed.sentences] == [texts[best]]


class TestTablesAndLists:
    def test_a_row_comes_with_the_head_of_its_table(self) -> None:
        head, row = "Tower | Weight (pounds) | Drop (feet)", "Stennet | 310 | 48"
        assert quoted("Do we know of Stennet?", TABLE) == [head, row]

    def test_a_question_about_the_columns_gets_the_whole_table_as_one(self) -> None:
        (table,) = quoted("Weight in pounds and drop in feet, tower by tower?", TABLE)
        assert table.splitlines()[0].startswith("Tower | ")
        assert table.splitlines()[-1].startswith("Stennet | ")

    def test_the_row_and_column_that_a_question_names_are_found(self) -> None:
        prose = "How many pounds did they weigh at Stennet, and how many feet, they asked at Stennet."
        assert quoted("How many pounds was it at Stennet?", prose, TABLE)[-1] == "Stennet | 310 | 48"

    def test_a_column_that_does_not_name_what_is_counted_is_not_meant(self) -> None:
        prose = "To lift the weight at Stennet takes 208 turns of the crank; how many men it takes is not said."
        assert quoted("How many turns does it take to lift the weight at Stennet?", TABLE, prose) == [prose]

    def test_a_row_that_is_surely_named_goes_before_one_of_another_table(self) -> None:
        other = "Tower | Late (minutes)\nStennet | 7\n\nIt was a cold year."
        reader = Finds((0.2, ("310",)), (0.9, ("7",)))
        composed = answered("What is the drop of Stennet?", TABLE, other, reader=reader, threshold=0.6)
        assert composed.sentences[-1].text == "Stennet | 310 | 48"
        composed = answered("What is the bell rope of Stennet?", TABLE, other, reader=reader, threshold=0.6)
        assert composed.sentences[-1].text == "Stennet | 7"  # no row is named by all of that

    def test_a_heading_is_never_an_answer(self) -> None:
        assert quoted("Who was Edmund Sallis?", "Edmund Sallis\n\nThe last master was Edmund Sallis.") == [
            "The last master was Edmund Sallis."
        ]

    def test_the_last_line_of_a_broken_paragraph_is_no_heading(self) -> None:
        text = "The mill is open all week. \nClosed on the feast of Harrow\n\nThe miller sleeps late."
        assert quoted("When is the mill closed for the feast?", text) == ["Closed on the feast of Harrow"]

    def test_a_head_that_one_passage_cut_off_is_taken_from_another(self) -> None:
        composed = answered("Which of them had 310?", "Stennet | 310 | 48\nQuillbridge | 265 | 41", TABLE)
        assert [(one.text, one.citations) for one in composed.sentences] == [
            ("Tower | Weight (pounds) | Drop (feet)", ("S2",)),
            ("Stennet | 310 | 48", ("S2",)),
        ]

    def test_a_list_that_is_asked_for_is_quoted_whole_as_one(self) -> None:
        whole = RULES[RULES.index("I give") : RULES.index("\n\nThe third")]
        assert quoted("What are the articles of the charter?", RULES) == ["The charter had three articles.", whole]
        assert quoted("What is the sense of them?", RULES) == [whole]

    def test_a_sentence_that_a_row_begins_with_comes_alone_and_any_other_cell_with_its_row(self) -> None:
        goal = "The mill at Quern will be painted by the keeper."
        text = f"Goal | Due | Number\n{goal} | 1702 | 40 wheels\nRest. | 1703 | 9"
        assert quoted("Who is the keeper by whom the mill at Quern will be painted?", text) == [goal]
        assert quoted("Are there 40 wheels?", text) == text.splitlines()[:2]

    ORDER = (
        "Kell gave the Order three rules, to work, to pray, and to keep silence. He was abbot then."
        " Rules were read aloud. Marl added a fourth rule: to sing. Bread was dear."
    )

    def test_of_a_list_whose_count_is_asked_for_all_is_quoted(self) -> None:
        text = self.ORDER.replace(" He was abbot then. Rules were read aloud.", "")
        composed = answered("What are the four rules?", text, reader=Cites("to sing"))
        assert [one.text for one in composed.sentences] == [
            "Kell gave the Order three rules, to work, to pray, and to keep silence.",
            "Marl added a fourth rule: to sing.",
        ]

    def test_or_nothing(self) -> None:
        assert answered("What are the four rules?", self.ORDER, reader=Cites("to sing")) == Composed(())
        assert quoted("What are the three articles?", RULES)[-1].endswith("3. That brass be weighed.")

    STEPS = (
        "To reset it:\n\n1. Hold the button. Count to ten.\n2. Release it.\n3. Wait for the green light.\n\n"
        "Then it is ready."
    )

    NESTED = (
        "To set it up:\n\n1. Unpack the parcel:\n\nunpack PARCEL\n\n2. Run the helper. It asks for two things:\n"
        "- the name of the house,\n- a password.\n3. Write down the key.\n\nIt is ready within a minute."
    )

    def test_steps_go_on_past_commands_and_lists_of_their_own(self) -> None:
        def told(question: str, words: str) -> list[str]:
            return [one.text for one in answered(question, self.NESTED, reader=Cites(words)).sentences]

        steps = self.NESTED.partition("\n\nIt is ready")[0]
        assert "".join(told("How do I set it up?", "2. Run the helper.")) == steps
        assert told("What are the things that the helper asks for?", "a password") == [
            "It asks for two things:\n- the name of the house,\n- a password."
        ]
        assert told("How long must the password be?", "a password") == ["- a password."]

    def test_every_row_that_has_the_value_is_quoted(self) -> None:
        rows = ["Part | Cleaned", "Tray | daily", "Screen | weekly", "Wand | daily", "Hopper | weekly"]
        text = "\n".join(rows) + "\n\nThe rest needs no care."
        assert quoted("Which parts are cleaned weekly?", text) == [rows[0], rows[2], rows[4]]
        assert quoted("Which parts are cleaned daily?", text) == ["\n".join(rows[:2]), rows[3]]

    def test_conditions_are_quoted_together(self) -> None:
        text = "The maker may refuse it only if:\n(a) it is too large; or\n(b) an older one is unpaid.\n\nHe pays."
        for question in ("When may the maker refuse an order?", "Who has not paid?"):
            told = answered(question, text, reader=Cites("an older one is unpaid")).sentences
            assert [one.text for one in told] == [text.partition("\n\nHe")[0]]

    def test_a_number_before_a_clause_does_not_hide_that_it_leans(self) -> None:
        told = ["9.1 The seal of Harn binds both houses.", "9.2 It ends after three years."]
        composed = answered("When does the seal of Harn end?", "\n\n".join(told), reader=Cites("after three years"))
        assert [one.text for one in composed.sentences] == told

    def test_words_over_several_items_mean_all_of_the_list(self) -> None:
        [found] = answered("What is to be named?", self.NESTED, reader=Cites("the house,\n- a password")).sentences
        assert found.text == "It asks for two things:\n- the name of the house,\n- a password."

    def test_an_item_of_another_list_does_not_join_one(self) -> None:
        text = "It can:\n- sing,\n- dance.\n\nIt has these limits:\n- it is dear,\n- it is slow."
        told = answered("What are the limits of it?", text, reader=Cites("it is dear", "- dance.")).sentences
        assert [one.text for one in told] == ["It has these limits:\n- it is dear,\n- it is slow."]

    def test_a_numbered_heading_is_no_item(self) -> None:
        text = "9. Warranty\n\nIt lasts two years.\n\n11. Rules\n\n- Wear gloves.\n- Be quick."
        assert quoted("How long does the warranty last?", text) == ["It lasts two years."]
        told = answered("What are the rules?", text, reader=Cites("Wear gloves.")).sentences
        assert [one.text for one in told] == ["- Wear gloves.\n- Be quick."]

    def test_a_heading_that_answers_points_at_the_list_below_it(self) -> None:
        text = "Adding a lamp\n\nTo add one:\n\n1. Open the panel.\n2. Choose Join.\n\nIt takes a minute."
        told = answered("How do I add a lamp?", text, reader=Cites("Adding a lamp")).sentences
        assert [one.text for one in told] == ["To add one:\n\n1. Open the panel.\n2. Choose Join."]

    def test_a_bar_in_a_paragraph_makes_no_row_of_it(self) -> None:
        text = "Bridges were counted. | Of them, 9 were bad. Tunnels were not. Nobody knows why."
        told = answered("How many bridges were bad?", text, reader=Cites("9 were bad")).sentences
        assert [one.text for one in told] == ["| Of them, 9 were bad."]

    def test_a_line_that_only_asks_tells_nothing(self) -> None:
        text = "- How a colony lives\n- How to open a hive\n\nOpen a hive slowly. Bees dislike haste.\n\n1. Why so?"
        told = answered("How is a hive opened?", text, reader=Cites("How to open a hive", "slowly")).sentences
        assert [one.text for one in told] == ["Open a hive slowly."]

    @pytest.mark.parametrize("asks", ["Does a mouse gnaw at the frames?", "3. Does a mouse gnaw at the frames?"])
    def test_nor_is_a_question_by_itself_an_answer(self, asks: str) -> None:
        def told(text: str) -> list[str]:
            reader = Finds((0.9, (asks,)))
            return [one.text for one in answered("What gnaws at frames?", text, reader=reader, threshold=0.5).sentences]

        assert told(f"Look for these signs.\n\n{asks}\n\nClose the door.") == []

    def test_but_what_somebody_asks_may_be(self) -> None:
        for told in (
            "Ada wrote: “Does a mouse gnaw at the frames?”",
            "They are bare. Does a mouse gnaw at the frames?",
        ):
            assert quoted("What does Ada think gnaws at the frames?", f"{told}\n\nClose the door.")[-1] in told

    def test_of_a_list_all_is_quoted_or_one_item(self) -> None:
        def cited(*words: str, text: str = self.STEPS, question: str = "What is done?") -> list[str]:
            return [one.text for one in answered(question, text, reader=Cites(*words)).sentences]

        whole = self.STEPS.partition("\n\nThen")[0]
        assert cited("Release it.", "1. Hold the button.") == [whole]
        assert cited("Release it.", "1. Hold the button.", question="When is it released?") == ["2. Release it."]
        assert cited("Then it is ready.", "Release it.", "Wait for the") == [whole, "Then it is ready."]
        assert cited("Release it.") == ["2. Release it."]
        assert cited("1. Hold the button.", "Count to ten.") == ["1. Hold the button.", "Count to ten."]
        many = "\n".join(f"- The town of N{n} is old." for n in range(40))
        assert len(cited("The town of N3 is old.", "The town of N7 is old.", text=many)) == 2

    ROLES = "We have three roles:\n\nPacker: Prints labels. Cannot see prices.\nClerk: Writes bills.\nBoss: Pays."

    @pytest.mark.parametrize("text", [ROLES, ROLES.replace(".\n", ".\n\n"), ROLES.replace(".\n", "\n")])
    def test_terms_that_a_colon_announces_are_a_list(self, text: str) -> None:
        def told(question: str, *words: str) -> list[str]:
            found = answered(question, f"{text}\n\nNobody else may.", reader=Cites(*words)).sentences
            return [one.text.rstrip(".") for one in found]

        assert told("What are the three roles?", "three roles") == [text.rstrip(".")]
        assert told("What roles are there?", "Clerk") == [text.rstrip(".")]
        assert told("What does a clerk do?", "Writes bills", "Cannot see prices") == ["Clerk: Writes bills"]
        assert told("Who writes bills?", "Writes bills", "Pays.") == ["Clerk: Writes bills"]
        assert told("What is hidden?", "Cannot see prices") == ["Packer: Prints labels", "Cannot see prices"]

    def test_lines_with_a_colon_are_none_where_nothing_announces_them(self) -> None:
        told = answered("What are the roles?", self.ROLES.replace("roles:", "roles."), reader=Cites("Writes bills."))
        assert [one.text for one in told.sentences] == ["Clerk: Writes bills."]

    def test_words_that_lead_into_a_list_bring_what_they_call_they(self) -> None:
        items = "- be short\n- be plain"
        text = f"Names of boats are painted on both sides. They must:\n\n{items}\n\nPaint is dear."
        told = answered("What are the rules for names of boats?", text, reader=Cites("be plain")).sentences
        assert [one.text for one in told] == ["Names of boats are painted on both sides.", f"They must:\n\n{items}"]

    def test_other_answers_stand_in_the_order_of_the_book(self) -> None:
        text = "Elm burns badly. It rains. Oak burns long. It snows. Ash burns green."
        reader = FindsAll("Oak burns long", "Elm burns badly", "Ash burns green")
        told = answered("What are the woods that burn?", text, reader=reader).sentences
        assert [one.text for one in told] == ["Elm burns badly.", "Oak burns long.", "Ash burns green."]

    def test_items_are_set_apart(self) -> None:
        assert gap("1. Hold the button.", "Count to ten.") == gap("Hold.", "- Release it.") == "\n"
        assert gap("Hold the button.", "Release it.") == " "

    def test_a_list_under_the_next_heading_is_not_meant(self) -> None:
        told, names = "Cite the founder by name.", "- Ada Marl\n- Silas Kell"
        for heading in ("Thanks", "Thanks (all)"):
            assert quoted("How do I cite the founder?", f"Citing\n\n{told}\n\n{heading}\n\n{names}") == [told]
        assert quoted("How do I cite the founder?", f"Citing\n\n{told}\n\n{names}") == [told, names]

    @pytest.mark.parametrize("heading", ["Citing (software)", "Citing [software]", "Citing “software”"])
    def test_a_heading_may_end_in_brackets_or_quotes(self, heading: str) -> None:
        text = f"{heading}\n\nSoftware is named with its version."
        assert quoted("Citing software?", text) == ["Software is named with its version."]

    def test_nothing_is_quoted_of_headings_and_names_alone(self) -> None:
        names = "Citing Clocks\n\nAda Marl\n\nSilas Kell\n"
        assert answered("How do I cite clocks?", names, reader=Finds((0.9, ("Citing Clocks",)))) == Composed(())
        assert [one.text for one in answered("Cite?", names, reader=Finds((0.9, ("Clocks",)))).sentences] == [
            "Citing Clocks"
        ]

    MARKDOWN = "| Model | Price |\n|---|---|\n| Basic | 20 EUR |\n| Pro | 40 EUR |\n\nAll have a lid."

    @pytest.mark.parametrize("text", [MARKDOWN, MARKDOWN.replace(" | ", "|"), MARKDOWN.replace("---|", " :-- |")])
    def test_a_table_may_be_written_in_markdown(self, text: str) -> None:
        lines = text.splitlines()
        assert quoted("What is the price of the Pro model?", text) == [lines[0], lines[3]]

    def test_an_item_that_is_asked_for_is_quoted_alone(self) -> None:
        assert quoted("What must a maker mend?", RULES) == ["2. That every maker mend his clocks."]


class TestSeveralParts:
    def test_each_part_is_answered(self) -> None:
        question = "What makes a clock limp, and when did Silas Thorne come from High Garth?"
        assert quoted(question, CRUTCH, THORNE) == [
            "A bent crutch makes a clock limp.",
            "Silas Thorne came from High Garth, a shepherd's son.",
        ]

    def test_a_part_that_is_absent_is_named_as_the_question_words_it(self) -> None:
        composed = answered("What makes a clock limp? Who painted the weathercock at Tollen?", CRUTCH)
        assert [one.text for one in composed.sentences] == ["A bent crutch makes a clock limp."]
        assert [one.part for one in composed.missing] == ["Who painted the weathercock at Tollen?"]

    def test_a_definition_answers_no_part_that_the_reader_finds_nowhere(self) -> None:
        class Doubtful(WordReader):
            """Believes in an answer to one part only."""

            def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
                found = super().read(question, passages, whole=whole)
                return found if "limp" in question else [replace(one, answerable=0.3) for one in found]

        brief = Brief("What is a crutch, and what makes a clock limp?", (Offered("S1", "b", CRUTCH),))
        composed = compose(brief, Doubtful(), split)
        assert [one.part for one in composed.missing] == ["What is a crutch"]

    @pytest.mark.parametrize(("chance", "absent"), [(0.3, []), (0.2, ["what wood is it of?"])])
    def test_a_part_that_the_quote_may_answer_is_not_called_absent(self, chance: float, absent: list[str]) -> None:
        class Doubtful(WordReader):
            """Is not sure of what else the sentence says."""

            def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
                found = super().read(question, passages, whole=whole)
                return found if "What makes" in question else [replace(one, answerable=chance) for one in found]

        brief = Brief("What makes a clock limp, and what wood is it of?", (Offered("S1", "b", CRUTCH),))
        composed = compose(brief, Doubtful(), split)
        assert [one.text for one in composed.sentences] == ["A bent crutch makes a clock limp."]
        assert [one.part for one in composed.missing] == absent

    @pytest.mark.parametrize(
        ("later", "absent"),
        [
            ("what is the cure", []),
            ("who is the keeper", ["who is the keeper?"]),  # the cell is empty
            ("why is there a cure", ["why is there a cure?"]),
            ("how many signs are there", ["how many signs are there?"]),  # the row has one of them
            ("what is the cure for rust", ["what is the cure for rust?"]),
        ],
    )
    def test_the_row_that_is_quoted_for_one_part_answers_what_another_of_its_columns_tells(
        self, later: str, absent: list[str]
    ) -> None:
        class OfFirst(WordReader):
            """Believes in an answer to the first part only."""

            def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
                found = super().read(question, passages, whole=whole)
                return found if "K-7" in question else [replace(one, answerable=0.1) for one in found]

        table = (
            "Sign | Meaning | Cure | Keeper\nK-6 | Oil is low | Add oil | Ada\nK-7 | Lid is loose | Turn the key | \n"
        )
        composed = answered(f"What is the meaning of K-7, and {later}?", table, reader=OfFirst())
        assert [one.text.rstrip(" |") for one in composed.sentences][-1] == "K-7 | Lid is loose | Turn the key"
        assert [one.part for one in composed.missing] == absent

    def test_a_later_part_is_read_with_what_the_first_found(self) -> None:
        reader = WordReader()
        brief = Brief(
            "Who served at the bench, and where was he born?",
            (Offered("S1", "b", "Old Innick of Stennet served at the bench."),),
        )
        compose(brief, reader, split)
        assert reader.questions == [
            "Who served at the bench?",
            "where was he born (Old Innick of Stennet served at the bench.)?",
        ]

    @pytest.mark.parametrize(("again", "absent"), [(0, []), (1, ["when did he serve?"])], ids=["same", "other"])
    def test_a_passage_that_was_quoted_for_one_part_may_answer_the_next(self, again: int, absent: list[str]) -> None:
        class ByOffice(Chances):
            """Knows when "the first head" served, in one of the passages, and nothing of Kell's years."""

            def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[Reading]:
                sure = {"Who was the first head": 0, "when did the first head": again}.get(
                    " ".join(question.split()[:5])
                )
                self.chances = tuple(0.9 if n == sure else 0.1 for n in range(len(passages)))
                return super().read(question, passages, whole=whole)

        texts = ("Kell was first head until 1710.", "The first head on a coin is of 1702.")
        composed = answered("Who was the first head of the guild, and when did he serve?", *texts, reader=ByOffice())
        assert [one.text for one in composed.sentences] == [texts[0]]
        assert [one.part for one in composed.missing] == absent

    def test_what_the_first_part_does_not_name_is_not_guessed(self) -> None:
        reader = WordReader()
        question = "Does it run at Tollen, and how do I start it?"
        compose(Brief(question, (Offered("S1", "b", "It does run at Tollen. To start it, pull."),)), reader, split)
        assert reader.questions[:2] == ["Does it run at Tollen?", "how do I start it?"]

    def test_it_is_no_person_and_he_is_no_thing(self) -> None:
        reader = WordReader()
        text = "The clock was called Pilgrim. Innick was its maker."
        question = "What was the clock called, who was its maker, and when was it sold?"
        compose(Brief(question, (Offered("S1", "b", text),)), reader, split)
        assert reader.questions[-1] == "when was the clock sold?"

    def test_what_is_missing_can_be_searched_for_by_itself(self) -> None:
        composed = answered("How does a clock limp, and which famous painter at Tollen ever drew it?", CRUTCH)
        (missing,) = composed.missing
        assert missing.part == "which famous painter at Tollen ever drew it?"
        assert missing.query == "which famous painter at Tollen ever drew a clock?"

    @pytest.mark.parametrize(
        ("question", "expected"),
        [
            ("Who was Kell?", ["Who was Kell?"]),
            ("Which metals, and in what proportions, did she use?", None),
            ("Was it salt and pepper?", None),
            (
                "Who made the watch, and how many years did he train?",
                ["Who made the watch", "how many years did he train?"],
            ),
            ("Who made it? When did the flood come?", None),
            (
                "What was the clock called, who was its maker, and when was it sold?",
                ["What was the clock called", "who was its maker", "when was it sold?"],
            ),
            ("Who was Kell, who disliked talking?", None),
            ("Who made the watch? When did the flood come?", ["Who made the watch?", "When did the flood come?"]),
        ],
    )
    def test_questions_are_split_where_each_piece_stands_alone(self, question: str, expected: list[str] | None) -> None:
        assert [part.text for part in parts(question)] == (expected or [question])

    def test_a_shared_beginning_is_shared(self) -> None:
        first, second = parts("How old was Kell when the clock was mended, and when the Guild was founded?")
        assert first.asked == "How old was Kell when the clock was mended?"
        assert second.asked == "How old was Kell when the Guild was founded?"
        assert second.text == "when the Guild was founded?"

    @given(st.text(max_size=200))
    def test_parts_are_words_of_the_question(self, question: str) -> None:
        assert all(part.text in question for part in parts(question))


class TestThemesAndSelections:
    def test_a_section_of_lines_without_stops_says_them(self) -> None:
        text = "4.2. Coins\n\nFind false coins and the misuse of bank payments\n\nMeant for:\n\nBanks"
        assert quoted("What does section 4.2 say?", text) == ["Find false coins and the misuse of bank payments"]
        assert quoted("What does section 4.2 say?", "4.2. Coins of the old mint of Sall\n\nMeant for:\n\nBanks") == []

    CHAPTER = (
        "A clock is a way of making a fall last.",
        "The clockmaker lets the weight of the clock fall slowly and evenly. There was a dance in May.",
        "Whether of lead or of stone, the weight of a clock must be lifted and must fall. My aunt dislikes cheese.",
    )

    def test_a_theme_is_quoted_from_the_most_central_sentences(self) -> None:
        said = quoted("What is the main theme of Chapter 3?", *self.CHAPTER)
        assert 1 <= len(said) <= 3
        assert "A clock is a way of making a fall last." in said
        assert not any("cheese" in sentence or "dance" in sentence for sentence in said)

    def test_a_sentence_that_sums_up_is_a_theme(self) -> None:
        said = quoted(
            "What is the main theme of Chapter 3?",
            *self.CHAPTER,
            "If there is one lesson, it is that lead has patience and falls.",
        )
        assert "If there is one lesson, it is that lead has patience and falls." in said

    @pytest.mark.parametrize("question", ["What does this passage mean?", "Explain this concept", "Summarise this."])
    def test_a_question_about_the_selection_itself_gets_its_definition(self, question: str) -> None:
        assert quoted(question, CRUTCH, label="selected text") == [
            "The crutch is the light arm that reaches down behind the pendulum."
        ]

    def test_neither_captions_nor_code_nor_exercises_nor_licences_are_a_theme(self) -> None:
        pears = "Pears are picked late in autumn here. Dry cellars keep pears until spring."
        text = (
            f"Figure 1: Pears that are picked in autumn keep until spring.\n\n{pears}\n\n"
            "pears = picked(autumn)  # Pears that are picked in autumn keep until spring.\n\nWho may copy it\n\n"
            "Pears picked in autumn are licensed under the terms that keep until spring.\n\nExercises\n\n"
            "Tell why pears that are picked in autumn keep until spring."
        )
        assert " ".join(quoted("What is this document about?", text)) == pears
        exercise = "Tell why pears that are picked in autumn keep until spring."
        for label in ("book.md (Pears › Exercises)", "book.md (page 3, Exercises)"):
            offered = (Offered("S1", label, exercise), Offered("S2", "book.md", pears))
            composed = compose(Brief("What is this document about?", offered), WordReader(), split)
            assert " ".join(one.text for one in composed.sentences) == pears

    def test_a_stated_purpose_goes_before_what_is_most_central(self) -> None:
        purpose = "This guide explains how fruit is kept in a cellar."
        pears = [
            f"Pears from the {side} wall are picked in {month}." for side in ("old", "new") for month in ("May", "June")
        ]
        assert purpose in quoted("What is this document about?", " ".join((*pears, purpose, "Nobody eats them raw.")))

    def test_a_theme_is_neither_said_by_somebody_nor_a_title_nor_an_imprint(self) -> None:
        own = [
            "The miller and his wife grind the flour of the valley with the old mill.",
            "The old mill of the valley belongs to the miller.",
            "His wife sells the flour of the mill in the valley.",
        ]
        others = (
            "THE MILLER AND HIS WIFE AND THE FLOUR OF THE OLD MILL\n\n"
            "‘The miller and his wife grind the flour of the old mill,’ said the baker of the valley.\n\n"
            "Do the miller and his wife grind the flour of the old mill of the valley?\n\n"
            "This ebook of the miller, his wife, the flour, the mill and the valley was made by volunteers.\n\n"
        )
        assert quoted("What is the book about?", others + " ".join(own)) == own

    def test_without_a_definition_it_gets_what_is_most_central(self) -> None:
        text = "It rained. The weight of a clock falls. The clock runs while its weight falls slowly. Cheese was sold."
        said = quoted("What does this passage mean?", text, label="selected text")
        assert "The clock runs while its weight falls slowly." in said
        assert not any("Cheese" in sentence for sentence in said)

    def test_other_questions_on_a_selection_are_answered_from_it(self) -> None:
        assert quoted("What makes a clock limp?", CRUTCH, label="selected text") == [
            "A bent crutch makes a clock limp."
        ]

    @pytest.mark.parametrize(
        ("question", "yes"),
        [
            ("What is the main theme of Chapter 3?", True),
            ("Summarize the second chapter", True),
            ("What is chapter 5 about?", True),
            ("What happens in chapter 34?", True),
            ("What's this book about?", True),
            ("What is the author’s main argument?", True),
            ("Give me a short overview of the second part of this book.", True),
            ("What is this chapter about?", True),
            ("What does page 23 say?", True),
            ("What is on page 2?", True),
            ("What's in chapter 4?", True),
            ("What does slide 7 show?", True),
            ("Explain chapter 12.", True),
            ("What does page 23 say of the miller?", False),
            ("Who is in chapter 7?", False),
            ("What does section 3.2 say?", True),
            ("What is in article 5?", True),
            ("What is section 309?", False),  # of a law, perhaps
            ("What does section 309 mean?", False),
            ("What is the title of chapter 3?", False),
            ("What is the key point of winding?", False),
            ("Give me an overview of tower clocks.", False),
            ("What are pallets about?", False),
            ("What is the quarrel between Kell and the Guild about?", False),
            ("What is the first part of Kell's letter about?", False),
            ("What happened in 1744?", False),
            ("What happens at the end of the book?", False),
            ("Summarise chapter 2 and chapter 3.", False),
            ("Who stole the watch?", False),
            ("What point did he make at the trial?", False),
        ],
    )
    def test_theme_questions_are_told_from_others(self, question: str, yes: bool) -> None:
        assert asks_for_theme(question) is yes

    @pytest.mark.parametrize(
        ("question", "yes"),
        [
            ("Explain this concept", True),
            ("What is this about?", True),
            ("What's this?", True),
            ("Summarise it, please.", True),
            ("What does this cost?", False),
            ("Where is he?", False),
            ("When was it?", False),
            ("How many were there?", False),
            ("Who says this?", False),
            ("Whose is it?", False),
            ("Is it so?", False),
            ("Why?", False),
        ],
    )
    def test_questions_that_point_are_told_from_others(self, question: str, yes: bool) -> None:
        assert points_at_text(question) is yes

    @pytest.mark.parametrize(
        ("question", "subject"),
        [
            ("What is a foliot?", "foliot"),
            ("What does the book mean by 'the drop'?", "drop"),
            ("Explain what a timewarden was.", "timewarden"),
            ("Define maintaining power", "maintaining power"),
            ("What's a foliot?", "foliot"),
            ("What is the meaning of 'foliot'?", "foliot"),
            ("What is the definition of the term foliot?", "foliot"),
            ("Definition of maintaining power", "maintaining power"),
            ("Meaning is all", None),
            ("What does GHQ stand for?", "GHQ"),
            ("Who was Kell?", None),
            ("What did Innick ask for an eight-day clock showing the moon?", None),
        ],
    )
    def test_the_subject_of_a_definition(self, question: str, subject: str | None) -> None:
        assert defined_subject(question) == subject


class TestNoWordIsOurs:
    TEXTS = (THORNE, TABLE, RULES, CRUTCH)

    @pytest.mark.parametrize("record", SAMPLE, ids=lambda record: record["id"])
    def test_every_sentence_is_a_slice_of_its_passage(self, record: dict[str, str]) -> None:
        offered = self.TEXTS if record["kind"] != "selection" else (record["selection"],)
        composed = answered(record["question"], *offered)
        for sentence in composed.sentences:
            (number,) = sentence.citations
            assert sentence.text == sentence.quote
            assert sentence.text in offered[int(number[1:]) - 1]
            assert sentence.kind == "quote"
        assert len(composed.sentences) <= 5
        assert composed.sentences or record["kind"] == "absent", "only a rival is no answer"
        assert len({sentence.text for sentence in composed.sentences}) == len(composed.sentences)
        assert all(one.part in record["question"] for one in composed.missing)
        assert composed == answered(record["question"], *offered)

    def test_no_passages_no_words(self) -> None:
        assert answered("Who was Kell?") == Composed(())

    @given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=300).filter(lambda text: text.strip()))
    def test_any_question_and_any_passage(self, question: str, text: str) -> None:
        for sentence in answered(question, text).sentences:
            assert sentence.text in text
            assert re.search(r"\S", sentence.text)


MESSAGES = (
    '"Update failed (U-17)". The download was damaged. Delete it and start again.\n\n'
    '"Update failed (U-22)". The battery was below 30 percent. Charge and try again.\n\n'
    '- "Error 5". Restart it.\n- "Error 7". Call us. We come at once.\n- "Error 9". Wait.\n\n'
    'At home: "Code 31: second screen". Unplug it. "Code 52: camera". Close other programs.\n\nAll is recorded.'
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("error u-22 when updating", ["The battery was below 30 percent.", "Charge and try again."]),
        ("code 52", ["Close other programs."]),
        ("What does error 7 mean?", ["Call us.", "We come at once."]),
    ],
)
def test_a_message_comes_with_what_explains_it(question: str, told: list[str]) -> None:
    assert quoted(question, MESSAGES)[1:] == told


def test_what_is_said_in_a_tale_is_no_message() -> None:
    told = '"I never saw the key." He turned away. Nobody spoke.'
    assert quoted("Who saw the key?", told) == ['"I never saw the key."']
