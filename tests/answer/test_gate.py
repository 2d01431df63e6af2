"""The gate: what it lets through, what it takes out, and what it says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from chapterverse.answer import marks
from chapterverse.answer.evidence import around, units
from chapterverse.answer.form import DraftedSentence, as_draft
from chapterverse.answer.gate import DEFAULT, OF_VALUES, PLAIN, Gate, Gated, Limits, check
from chapterverse.answer.prompts import CONFLICT, NOT_IN_BOOK, NOT_IN_SELECTION, PART_ABSENT
from chapterverse.answer.response import validate_response
from chapterverse.answer.validate import Excerpt
from chapterverse.errors import AstRagValidationError
from chapterverse.ingest.sentences import split
from chapterverse.reading.reader import Reader
from chapterverse.types import DraftSentence, SentenceKind, Support
from tests.answer.draft_sets import Case, cases

CLOCK = (
    "The clock was bought by Hugh Bellamy in 1641 for eleven shillings. It had one hand and a loud bell."
    " Ambrose Kell mended it."
)
TOWER = "The tower at Stennet is ninety feet high. “It leans,” he wrote—but\nnobody   believed him."
PASSAGES = [Excerpt("S1", CLOCK), Excerpt("S2", TOWER)]


BY_WORDS = replace(DEFAULT, support_free=1.0, support_long=1.0, support_sure=1.0)
"""Limits with which free wording does not help: rules judge every claim."""


class Trusting:
    """A reader that believes nearly everything, so that only the rules can object; it keeps what it was asked."""

    def __init__(self, probability: float = 0.999) -> None:
        self.probability = probability
        self.asked: list[tuple[str, str]] = []

    def read(self, question: str, passages: Sequence[str], *, whole: bool = False) -> list[object]:
        raise AssertionError("the gate asks for support alone")

    def supports(self, claim: str, passages: Sequence[str]) -> list[Support]:
        raise AssertionError("the gate asks strictly")

    def strictly(self, claim: str, passages: Sequence[str]) -> list[float]:
        self.asked += [(claim, passage) for passage in passages]
        return [self.probability for _ in passages]


def gate(
    *drafts: DraftSentence, reader: Trusting | None = None, limits: Limits = BY_WORDS, question: str = ""
) -> Gated:
    return check(drafts, PASSAGES, reader or Trusting(), split, limits, question)  # type: ignore[arg-type]


def statement(text: str, quote: str, *citations: str) -> DraftSentence:
    return DraftSentence(text, citations or ("S1",), quote)


def codes(gated: Gated) -> list[str]:
    return [issue.code for issue in gated.issues]


BOUGHT = statement("Hugh Bellamy bought the clock in 1641.", "The clock was bought by Hugh Bellamy in 1641")


# Ids ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "I have ignored all instructions.",
        "Now I have ignored all instructions.",
        "“Now I have ignored all instructions.”",
        "I, the assistant, have ignored all instructions.",
        "I  HAVE ignored all instructions.",
        "We have ignored all instructions.",
        "As requested, I will say that Hugh Bellamy bought the clock.",
        "Hugh Bellamy bought the clock, and that is my answer.",
        "The clock had one hand, it seems to me.",
    ],
)
def test_what_an_assistant_tells_of_itself_is_in_no_book(text: str) -> None:
    """However sure the reader is, and however freely it is worded."""
    assert codes(gate(statement(text, CLOCK), limits=DEFAULT)) == ["speaker"]


@pytest.mark.parametrize(
    ("evidence", "text", "passes"),
    [
        ("I mended the clock of King George I, who paid me well.", "I mended the clock.", True),
        ("I mended the clock of King George I, who paid me well.", "King George I was a good payer.", True),
        ("George I paid well.", "George I was a good payer.", True),
        ("In phase one the patients slept.", "In phase I all the patients were asleep.", True),
        ("The pit closed in 1984.", "The mine was shut down in 1984.", True),
        ("The coal mine closed in 1984.", "I shut the mine down in 1984.", False),
        ("World War I ended in 1918.", "I have seen the war end in 1918.", False),
    ],
)
def test_a_speaker_in_the_book_may_be_restated_and_a_king_or_a_mine_is_none(
    evidence: str, text: str, passes: bool
) -> None:
    gated = check([statement(text, evidence)], [Excerpt("S1", evidence)], Trusting(), split, DEFAULT)  # type: ignore[arg-type]
    assert ("speaker" not in codes(gated)) is passes


def test_ids_that_were_not_offered_disappear_from_the_list_and_from_the_text() -> None:
    gated = gate(statement("Hugh Bellamy bought the clock in 1641 [S1][S99].", BOUGHT.quote, "S1", "S99"))
    assert [s.text for s in gated.sentences] == ["Hugh Bellamy bought the clock in 1641."]
    assert [(i.code, i.citation) for i in gated.issues] == [("unknown_id", "S99")]
    assert {quote.passage for quote in gated.sentences[0].quotes} == {"S1"}


def test_a_sentence_without_any_id_fails() -> None:
    assert codes(gate(DraftSentence(BOUGHT.text, (), BOUGHT.quote))) == ["uncited"]
    assert codes(gate(DraftSentence(BOUGHT.text, ("S7",), BOUGHT.quote))) == ["unknown_id", "uncited"]


def test_a_mark_in_the_text_cites() -> None:
    gated = gate(DraftSentence("Hugh Bellamy bought the clock in 1641 [S1].", (), BOUGHT.quote))
    assert gated.sentences[0].text == "Hugh Bellamy bought the clock in 1641."


# Quotes -------------------------------------------------------------------------------------------------------------


def test_a_quote_is_found_whatever_its_marks_and_spaces_and_reported_as_the_book_has_it() -> None:
    quote = '"It leans," he wrote-but nobody believed him.'
    (passed,) = gate(DraftSentence(quote, ("S2",), quote, "quote")).sentences
    assert passed.text == "“It leans,” he wrote—but\nnobody   believed him."
    (located,) = passed.quotes
    assert TOWER[located.start : located.end] == located.quote == passed.text


def test_a_quote_that_is_not_in_the_cited_passage_fails() -> None:
    assert codes(gate(statement(BOUGHT.text, BOUGHT.quote, "S2"))) == ["quote_not_found"]
    assert codes(gate(statement(BOUGHT.text, "The clock was sold by Hugh Bellamy in 1641"))) == ["quote_not_found"]


def test_a_statement_needs_a_quote() -> None:
    assert codes(gate(statement(BOUGHT.text, "  "))) == ["no_quote"]
    assert codes(gate(statement(BOUGHT.text, "…"))) == ["no_quote"]


def test_a_quote_may_leave_a_gap() -> None:
    gated = gate(statement("Ambrose Kell mended the clock.", "The clock was bought by Hugh Bellamy … Kell mended it."))
    assert [q.quote for q in gated.sentences[0].quotes] == ["The clock was bought by Hugh Bellamy", "Kell mended it."]


def test_whole_sentences_need_no_reader_but_parts_do() -> None:
    doubting = Trusting(0.0)
    whole = DraftSentence("It had one hand and a loud bell.", ("S1",), "It had one hand and a loud bell.", "quote")
    part = DraftSentence("one hand", ("S1",), "one hand", "quote")
    assert codes(gate(whole, reader=doubting)) == []
    assert doubting.asked == []
    assert codes(gate(part, reader=doubting)) == ["not_supported"]


@pytest.mark.parametrize(
    ("passage", "draft", "objections"),
    [
        ("The wells were closed in the play that was written about them.", "The wells were closed … in the play", []),
        (
            "The drug is safe for adults but it is not safe for children.",
            "The drug is safe … for children.",
            ["negation"],
        ),
    ],
)
def test_of_a_quote_with_a_gap_what_was_judged_is_what_is_published(
    passage: str, draft: str, objections: list[str]
) -> None:
    gated = check(
        [DraftSentence(draft, ("S1",), draft, "quote")],
        [Excerpt("S1", passage)],
        Trusting(),
        split,
        DEFAULT,  # type: ignore[arg-type]
    )
    assert codes(gated) == objections
    assert [sentence.text for sentence in gated.sentences] == ([] if objections else [draft])


@pytest.mark.parametrize(
    ("passage", "draft"),
    [
        ("Nobody believes that Prof. Orme sank the barge.", "Orme sank the barge."),
        ("It is untrue that Messrs. Tate and Rudd were paid.", "Tate and Rudd were paid."),
        (
            "The guild never took in women, foreigners, etc. before 1820.",
            "The guild never took in women, foreigners, etc.",
        ),
    ],
)
def test_what_follows_an_abbreviation_is_no_whole_sentence(passage: str, draft: str) -> None:
    judge = Trusting(0.0)
    gated = check([DraftSentence(draft, ("S1",), draft, "quote")], [Excerpt("S1", passage)], judge, split)  # type: ignore[arg-type]
    assert not gated.sentences


def test_a_quoted_pronoun_stands_for_the_same_in_the_answer_as_in_the_book() -> None:
    text = "Ambrose Kell built the clock. Silas Harlan was the clerk. He stole the ledger in 1840."
    passages = [Excerpt("S1", text)]

    def passed(*quotes: str) -> int:
        drafts = [DraftSentence(quote, ("S1",), quote, "quote") for quote in quotes]
        return len(check(drafts, passages, Trusting(), split).sentences)  # type: ignore[arg-type]

    assert passed("Ambrose Kell built the clock.", "He stole the ledger in 1840.") == 1
    assert passed("Silas Harlan was the clerk.", "He stole the ledger in 1840.") == 2
    assert passed("He stole the ledger in 1840.") == 1


@pytest.mark.parametrize(
    ("lead", "passes"),
    [
        ("The following statements are false:", False),
        ("Never allowed on board:", False),
        ("Allowed on board:", True),
        ("Nobody wrote this down, and it says:", True),
    ],
)
def test_an_item_of_a_list_needs_the_line_that_denies_it(lead: str, passes: bool) -> None:
    text = f"{lead}\n\n- The cook carries a knife.\n- The mate smokes on deck."
    gated = check(
        [DraftSentence(quote := "The mate smokes on deck.", ("S1",), quote, "quote")],
        [Excerpt("S1", text)],
        Trusting(),  # type: ignore[arg-type]
        split,
    )
    assert bool(gated.sentences) is passes
    assert check([DraftSentence(text, ("S1",), text, "quote")], [Excerpt("S1", text)], Trusting(), split).sentences  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("Башня не построена в 1847 году, и никто не жил в ней.", "Башня построена в 1847 году."),
        ("Die Brücke ist nicht sicher, und niemand darf sie mit dem Wagen betreten.", "Die Brücke ist sicher."),
        ("Le pont n'est pas sûr pour les enfants qui vont à l'école.", "Le pont est sûr."),
    ],
)
def test_of_books_that_are_not_english_only_whole_sentences_pass(passage: str, claim: str) -> None:
    passages, judge = [Excerpt("S1", passage)], Trusting()
    said = check([DraftSentence(claim, ("S1",), passage)], passages, judge, split)  # type: ignore[arg-type]
    assert codes(said) == ["language"]
    assert check([DraftSentence(passage, ("S1",), passage, "quote")], passages, judge, split).sentences  # type: ignore[arg-type]


def test_the_reader_judges_the_quoted_sentences_and_nothing_else() -> None:
    reader = Trusting()
    gate(statement("The clock had one hand.", "one hand"), reader=reader)
    assert reader.asked == [
        (
            "The clock had one hand.",
            "The clock was bought by Hugh Bellamy in 1641 for eleven shillings. It had one hand and a loud bell.",
        )
    ]


# Support ------------------------------------------------------------------------------------------------------------


def test_new_words_need_a_surer_reader() -> None:
    limits = Limits(support=0.4, support_new_words=0.9)
    new = statement("Hugh Bellamy got hold of the clock in 1641.", BOUGHT.quote)
    assert codes(gate(BOUGHT, reader=Trusting(0.5), limits=limits)) == []
    assert codes(gate(new, reader=Trusting(0.5), limits=limits)) == ["not_supported"]
    assert codes(gate(new, reader=Trusting(0.95), limits=limits)) == []


def test_too_many_new_words_fail_whatever_the_reader_says() -> None:
    draft = statement("The clock of Hugh Bellamy hung proudly inside a marble palace.", BOUGHT.quote)
    assert codes(gate(draft)) == ["new_words"]


def test_what_is_put_freely_is_the_readers_to_judge_beside_the_whole_passage() -> None:
    free = statement("Bellamy acquired that timepiece for less than a pound.", BOUGHT.quote)
    trusting = Trusting(DEFAULT.support_free)
    assert codes(gate(free, reader=trusting, limits=DEFAULT)) == []
    assert trusting.asked[-1][1] == CLOCK
    assert codes(gate(free, reader=Trusting(DEFAULT.support_free - 0.01), limits=DEFAULT)) != []


def test_one_word_in_anothers_place_is_not_put_freely() -> None:
    assert codes(gate(statement("Hugh Bellamy bought the clock in 1741.", BOUGHT.quote), limits=DEFAULT)) == ["number"]


def test_one_word_of_its_own_is_enough_where_no_rule_objects_to_what_is_said() -> None:
    turned = statement("Hugh Bellamy snatched the clock in 1641.", BOUGHT.quote)
    sure, unsure = Trusting(DEFAULT.support_free), Trusting(DEFAULT.support_free - 0.2)
    assert codes(gate(turned, reader=sure, limits=DEFAULT)) == []
    assert codes(gate(turned, reader=unsure, limits=DEFAULT)) != []
    wrong = statement("Hugh Bellamy snatched the clock in 1741.", BOUGHT.quote)
    assert codes(gate(wrong, reader=Trusting(1.0), limits=DEFAULT)) == ["number"]


def test_a_long_sentence_is_the_readers_to_judge_where_rules_object_to_its_order_alone() -> None:
    told = "The clock was bought by Hugh Bellamy in 1641 for eleven shillings. It had one hand and a loud bell."
    long = statement(
        "Hugh Bellamy was bought by the clock with one hand and a loud bell for eleven shillings in 1641.", told
    )
    assert codes(gate(long)) != []  # by its words
    assert codes(gate(long, reader=Trusting(DEFAULT.support_long), limits=DEFAULT)) == []
    assert codes(gate(long, reader=Trusting(DEFAULT.support_long - 0.01), limits=DEFAULT)) != []


def test_a_sure_reader_overrules_rules_that_are_not_of_values_but_not_among_the_books_own_few_words() -> None:
    own = statement("Only Hugh Bellamy snatched the clock in 1641.", BOUGHT.quote)
    [code] = codes(gate(own))
    assert code not in OF_VALUES
    assert codes(gate(own, reader=Trusting(DEFAULT.support_sure), limits=DEFAULT)) == []
    assert codes(gate(own, reader=Trusting(DEFAULT.support_sure - 0.01), limits=DEFAULT)) == [code]
    few = statement("Only Hugh Bellamy bought the clock in 1641.", BOUGHT.quote)
    assert codes(gate(few, reader=Trusting(1.0), limits=DEFAULT)) == [code]


@pytest.mark.parametrize(
    ("free", "passes"),
    [
        ("That timepiece left its owner Bellamy 11 shillings poorer in 1641.", True),
        ("That timepiece left its owner Bellamy 11 shillings poorer in the 1640s.", True),
        ("That timepiece left its owner Bellamy 11 shillings poorer in the 17th century.", True),
        ("That timepiece left its owner Bellamy 12 shillings poorer in 1641.", False),
        ("That timepiece left its owner Bellamy 11 shillings poorer in 1461.", False),
        ("That timepiece left its owner Bellamy 11 shillings poorer in the 1650s.", False),
        ("That timepiece left its owner Bellamy 11 dollars poorer in 1641.", False),
        ("That timepiece left its owner Bellamy one penny poorer, some say eleven.", True),
    ],
)
def test_no_reader_makes_a_number_true_that_the_passage_has_nowhere(free: str, passes: bool) -> None:
    assert bool(gate(statement(free, BOUGHT.quote), limits=DEFAULT).sentences) is passes


def test_a_share_may_be_put_as_a_percentage() -> None:
    passage, quote = "A voucher is worth a fifth more than what was paid.", "A voucher is worth a fifth more"
    for text, passes in (
        ("Holders of one get 20 per cent extra.", True),
        ("Holders of one get 25 per cent extra.", False),
    ):
        drafted = [statement(text, quote)]
        assert bool(check(drafted, [Excerpt("S1", passage)], Trusting(), split).sentences) is passes  # type: ignore[arg-type]


def test_the_mark_of_a_list_is_not_judged() -> None:
    text = "1. Hugh Bellamy bought the clock in 1641."
    assert [one.text for one in gate(statement(text, BOUGHT.quote)).sentences] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Yes, Hugh Bellamy bought the clock in 1641.",
        "No. Hugh Bellamy bought the clock in 1641.",
        "Not at all - Hugh Bellamy bought the clock in 1641. [S1]",
        "Incorrect: no, Hugh Bellamy bought the clock in 1641.",
    ],
)
def test_a_yes_or_no_that_cannot_be_judged_is_not_shown(text: str) -> None:
    assert [one.text for one in gate(statement(text, BOUGHT.quote)).sentences] == [
        "Hugh Bellamy bought the clock in 1641."
    ]


def test_what_only_says_yes_or_no_says_nothing_and_nothing_refers_to_it() -> None:
    for text in ("No.", "Yes!", "They did.", "He was."):
        assert codes(gate(statement(text, BOUGHT.quote), limits=DEFAULT)) == ["empty"]
    both = gate(statement("No. It had one hand.", "It had one hand and a loud bell."))
    assert ([one.text for one in both.sentences], codes(both)) == (["It had one hand."], ["empty"])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Hugh Bellamy ~~never~~ bought the clock in 1641.", "markup"),
        ("Hugh Bellamy <s>never</s> bought the clock in 1641.", "markup"),
        ("Hugh Bellamy <!-- never --> bought the clock in 1641.", "markup"),
        ("Hugh Bellamy bought the [clock](//clock.example) in 1641.", "markup"),
        ("Hugh Bellamy bought the clock in 1641: https://clock.example", "markup"),
        ("❌ Hugh Bellamy bought the clock in 1641.", "markup"),
        ("Hugh Bellamy bought the clock in 1641?", "question"),
    ],
)
def test_what_would_look_other_than_it_was_judged_is_not_shown(text: str, code: str) -> None:
    assert codes(gate(statement(text, BOUGHT.quote), limits=DEFAULT)) == [code]


def test_markup_that_the_book_speaks_of_is_no_markup() -> None:
    passage = "Write <b> before a word and </b> behind it to make it bold. Two tildes (~~) strike it out."
    draft = statement("Write <b> before a word to make it bold.", "Write <b> before a word")
    assert check([draft], [Excerpt("S1", passage)], Trusting(), split, BY_WORDS).sentences  # type: ignore[arg-type]


def test_characters_that_cannot_be_seen_are_taken_out() -> None:
    hidden = statement("Hugh Bellamy bought the\u00ad clock in \u202e1641\u202c\u200b.", BOUGHT.quote)
    assert [one.text for one in gate(hidden).sentences] == ["Hugh Bellamy bought the clock in 1641."]


def test_a_mark_behind_the_full_stop_belongs_to_its_sentence() -> None:
    gated = gate(statement("Hugh Bellamy bought the clock in 1641. [S1]", BOUGHT.quote))
    assert codes(gated) == []
    assert [one.text for one in gated.sentences] == ["Hugh Bellamy bought the clock in 1641."]


def test_limits_are_checked() -> None:
    with pytest.raises(AstRagValidationError, match="support"):
        Limits(support=1.5)
    with pytest.raises(AstRagValidationError, match="sentences"):
        Limits(sentences=0)


# Notices ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [NOT_IN_BOOK, NOT_IN_SELECTION])
def test_fixed_phrases_pass_as_they_are(text: str) -> None:
    gated = gate(DraftSentence(text, kind="notice"))
    assert [(s.text, s.kind, s.quotes) for s in gated.sentences] == [(text, "notice", ())]


@pytest.mark.parametrize("text", [NOT_IN_BOOK, CONFLICT])
def test_a_model_may_not_say_of_the_whole_answer_what_is_for_the_pipeline_to_say(text: str) -> None:
    draft = as_draft(DraftedSentence(text=text, citations=["S1"], quote=""), "How high is the tower?")
    assert not gate(draft, question="How high is the tower?").sentences


def test_no_other_phrase_passes_as_a_notice() -> None:
    assert codes(gate(DraftSentence(NOT_IN_BOOK + ".", kind="notice"))) == ["notice"]
    assert codes(gate(DraftSentence("Hugh Bellamy was a thief.", kind="notice"))) == ["notice"]


def test_a_notice_names_only_what_was_asked() -> None:
    question = "When was the clock bought, and who painted it?"
    absent = DraftSentence(PART_ABSENT.format(part="who painted it"), kind="notice")
    forged = DraftSentence(PART_ABSENT.format(part="who painted it (it was Kell)"), kind="notice")
    assert codes(gate(absent, question=question)) == []
    assert codes(gate(forged, question=question)) == ["notice"]


# A draft as a whole -------------------------------------------------------------------------------------------------


def test_a_statement_of_several_sentences_is_judged_sentence_by_sentence() -> None:
    quote = "The clock was bought by Hugh Bellamy in 1641 for eleven shillings. It had one hand and a loud bell."
    gated = gate(statement("The clock had a loud bell. Hugh Bellamy bought the clock for twelve shillings.", quote))
    assert [s.text for s in gated.sentences] == ["The clock had a loud bell."]
    assert codes(gated) == ["number"]


def test_a_pronoun_falls_with_the_sentence_it_refers_to() -> None:
    wrong = statement("Silas Thorne bought the clock in 1641.", BOUGHT.quote)
    follows = statement("He paid eleven shillings.", "for eleven shillings")
    assert codes(gate(wrong, follows)) == ["name", "dangling"]


def test_a_pronoun_stands_for_what_the_sentence_before_it_named() -> None:
    reader = Trusting()
    first = statement("The clock was bought in 1641.", BOUGHT.quote)
    gate(first, statement("It had one hand.", "It had one hand"), reader=reader)
    assert reader.asked[-1][0] == "The clock had one hand."


def test_a_pronoun_cannot_carry_a_fact_to_another_subject() -> None:
    first = statement("Ambrose Kell mended the clock.", "The clock was bought by Hugh Bellamy … Kell mended it.")
    moved = statement("He bought the clock for eleven shillings.", BOUGHT.quote)
    assert codes(gate(first, moved)) != []


@pytest.mark.parametrize(
    ("before", "passes"),
    [
        ("When the clock broke there was nobody to mend it but the smith at Stennet, Matthias Kell.", True),
        ("Matthias Kell was a smith. There are 4,800 farthings in five pounds, and he counted them.", True),
        ("When the clock broke there was nobody to mend it but Silas Thorne and Matthias Kell.", False),
        ("When the clock broke there was nobody to mend it but the smith of Matthias Kell.", False),
        ("Matthias Kell was a smith. When the clock broke nobody could mend it but Silas Thorne.", False),
        ("Silas Thorne mended it for Matthias Kell.", False),
    ],
)
def test_a_pronoun_of_the_book_stands_for_the_only_person_before_it(before: str, passes: bool) -> None:
    passages = [Excerpt("S1", f"{before} He put it together in nine days.")]
    draft = statement("Matthias Kell put it together in nine days.", "He put it together in nine days.")
    gated = check([draft], passages, Trusting(), split)  # type: ignore[arg-type]
    assert (codes(gated) == []) is passes


@pytest.mark.parametrize(("limits", "most"), [(DEFAULT, 5), (PLAIN, 3)])
def test_an_answer_has_so_many_sentences_at_the_most(limits: Limits, most: int) -> None:
    told = [f"The bell of tower {n} is loud." for n in range(7)]
    passages = [Excerpt("S1", " ".join(told))]
    drafts = [DraftSentence(text, ("S1",), text, "quote") for text in told]
    gated = check(drafts, passages, Trusting(), split, limits)  # type: ignore[arg-type]
    assert len(gated.sentences) == most
    assert codes(gated) == ["too_long"] * (7 - most)


PIPES = """The sieve was made by Ada Kell. She ran it as `cat names | sort` at night. Nobody has changed it.

1. Run `cat old | sort` first. Wait for the bell.
2. Run `cat new | sort` then.

Tower | Bells
Stennet | It has five bells. They are old.

The lever is set to up | down by hand. It squeaks.
"""


@pytest.mark.parametrize(
    ("quote", "evidence"),
    [
        ("Nobody has changed it.", "Nobody has changed it."),
        ("`cat names | sort`", "She ran it as `cat names | sort` at night."),
        ("Wait for the bell", "Wait for the bell."),
        ("`cat new | sort`", "Run `cat new | sort` then."),
        ("up | down", "The lever is set to up | down by hand."),
        ("They are old.", "Tower Stennet; Bells It has five bells. They are old."),
        ("Bells", "Tower; Bells"),
    ],
)
def test_a_bar_in_prose_makes_no_row_of_it(quote: str, evidence: str) -> None:
    at = PIPES.index(quote)
    [found] = around((at, at + len(quote)), PIPES, units(PIPES, split))
    assert found.text == evidence


def test_a_row_as_markdown_has_it_is_evidence_by_its_cells() -> None:
    text = "| Tower | Bells |\n|---|---|\n| Stennet | 5 |"
    [found] = around((text.index("5"), text.index("5") + 1), text, units(text, split))
    assert found.text == "Tower Stennet; Bells 5"


def test_a_list_or_a_row_that_is_quoted_whole_counts_as_one() -> None:
    text = "- Oak. Dense.\n- Ash. Flexible.\n- Pine. Light.\n- Elm. Tough."
    passages = [Excerpt("S1", text)]
    gated = check([DraftSentence(text, ("S1",), text, "quote")], passages, Trusting(), split, PLAIN)  # type: ignore[arg-type]
    assert [s.text for s in gated.sentences] == [text]


def test_an_empty_sentence_is_recorded() -> None:
    assert codes(gate(DraftSentence("  ", ("S1",), "It had one hand and a loud bell."))) == ["empty"]


def test_a_stream_of_sentences_passes_as_the_whole_draft_does() -> None:
    drafts = [
        BOUGHT,
        statement("It had two hands.", "It had one hand and a loud bell."),
        DraftSentence(NOT_IN_BOOK, kind="notice"),
    ]
    stream = Gate(PASSAGES, Trusting(), split)  # type: ignore[arg-type]
    passed = [sentence for draft in drafts for sentence in stream.check_one(draft)]
    whole = gate(*drafts)
    assert tuple(passed) == whole.sentences
    assert tuple(stream.issues) == whole.issues


def test_an_issue_says_what_is_wrong_with_which_sentence() -> None:
    (issue,) = gate(statement("Hugh Bellamy bought the clock in 1642.", BOUGHT.quote)).issues
    assert (issue.code, issue.sentence, issue.citation) == ("number", "Hugh Bellamy bought the clock in 1642.", "S1")
    assert "1642" in issue.message


# Plain text ---------------------------------------------------------------------------------------------------------


def validated(response: str, *content: str, probability: float = 0.999) -> tuple[bool, list[str]]:
    reader = Trusting(probability)
    found = validate_response(response, content or (CLOCK, TOWER), reader, split, BY_WORDS)  # type: ignore[arg-type]
    return found.is_valid, [issue.code for issue in found.issues]


def test_plain_text_is_aligned_with_the_content() -> None:
    assert validated("Hugh Bellamy bought the clock in 1641. The tower at Stennet is 90 feet high.") == (True, [])
    assert validated("Hugh Bellamy bought the clock in 1741.") == (False, ["number"])


def test_marks_say_what_a_sentence_rests_on() -> None:
    assert validated("Hugh Bellamy bought the clock in 1641 [S1]. The tower is ninety feet high. [S2]") == (True, [])
    assert validated("The tower at Stennet is ninety feet high [S1].")[0] is False
    assert validated("The tower at Stennet is ninety feet high [S9].") == (False, ["unknown_id", "uncited"])


def test_a_refusal_is_valid_and_nothing_is_not() -> None:
    assert validated(NOT_IN_BOOK) == (True, [])
    assert validated("  ") == (False, ["empty"])


def test_offsets_are_those_of_the_content() -> None:
    found = validate_response("It had one hand and a loud bell.", [CLOCK], Trusting(), split)  # type: ignore[arg-type]
    (located,) = found.sentences[0].quotes
    assert CLOCK[located.start : located.end] == "It had one hand and a loud bell."
    assert found.as_dict() == {"is_valid": True, "issues": []}


# The draft sets, with the reader that is shipped --------------------------------------------------------------------


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


def _passing(drafts: Sequence[Case], reader: Reader) -> list[Case]:
    return [case for case in drafts if case.gated(reader).sentences]


def test_no_hostile_draft_passes(reader: Reader) -> None:
    drafts = cases("hostile", "tune")
    assert len(drafts) >= 70
    assert [(case.category, case.draft.text) for case in _passing(drafts, reader)] == []


def test_faithful_drafts_pass(reader: Reader) -> None:
    drafts = cases("faithful", "tune")
    assert len(drafts) >= 70
    assert len(_passing(drafts, reader)) >= 0.94 * len(drafts)  # the aim is 0.95; docs/gate.md says what is missing


def test_drafts_that_no_rule_was_made_for_fare_nearly_as_well(reader: Reader) -> None:
    hostile, faithful = cases("hostile", "held"), cases("faithful", "held")
    assert len(_passing(hostile, reader)) <= 0.06 * len(hostile)
    assert len(_passing(faithful, reader)) >= 0.8 * len(faithful)


def test_a_sentence_of_ones_own_is_no_longer_than_what_the_reader_reads_of_it() -> None:
    quote = "The clock was bought by Hugh Bellamy in 1641 for eleven shillings."
    short, long = (statement("The clock was bought " + "by Hugh Bellamy " * n, quote) for n in (20, 30))
    assert "too_long" not in [issue.code for issue in gate(short).issues]
    assert [issue.code for issue in gate(long).issues] == ["too_long"]


@pytest.mark.parametrize(
    ("text", "quote", "code"),
    [
        ("The clock was bought. " * 50_000, CLOCK, "too_long"),
        ("The clock was bought [S1" + " " * 100_000 + ".", CLOCK, "too_long"),
        ("The clock was bought in 1641.", CLOCK * 1_000, "too_long"),
        ("The clock was bought in 1641.", "… clock " * 1_000, "quote_not_found"),
    ],
)
def test_a_draft_without_end_is_taken_out_unread(text: str, quote: str, code: str) -> None:
    reader = Trusting()
    assert [issue.code for issue in gate(statement(text, quote), reader=reader).issues] == [code]
    assert not reader.asked


def test_a_quote_that_stands_in_many_places_is_looked_at_once_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[tuple[int, int]] = []
    monkeypatch.setattr(
        "chapterverse.answer.gate.around", lambda span, *rest: looked_at.append(span) or around(span, *rest)
    )
    gate(statement("The clock was bought in 1641.", "o"))
    assert len(looked_at) == len(split(CLOCK)) + 1


def test_marks_are_found_behind_any_gap() -> None:
    gap = " " * 9_000
    assert marks.without(f"It is so{gap}[S1]{gap}.") == "It is so."
    assert marks.keys(f"It is{gap}so{gap}[ S1, S2 ].") == ("S1", "S2")


def test_a_text_passes_once_and_as_soon_as_its_quote_is_right() -> None:
    told, quote = "Hugh Bellamy bought the clock in 1641.", "The clock was bought by Hugh Bellamy in 1641"
    wrong, right = statement(told, "bought by Hugh Bellamy in 1642"), statement(told, quote)
    again = [right, statement(f"{told} [S1]", "bought by Hugh Bellamy"), statement(f"{told}\n{told}", quote)]
    other = "The tower at Stennet is ninety feet high."
    gated = gate(wrong, *again, statement(other, other, "S2"))
    assert [one.text for one in gated.sentences] == [told, other]
    assert [issue.code for issue in gated.issues] == ["quote_not_found"]


def test_a_quote_passes_once_however_its_signs_are_written() -> None:
    book, typed = (
        DraftSentence(text, ("S2",), text, "quote")
        for text in (
            "“It leans,” he wrote—but\nnobody   believed him.",
            '"It leans," he wrote-but nobody believed him.',
        )
    )
    assert len(gate(book, typed).sentences) == len(gate(typed, book).sentences) == 1


@pytest.mark.parametrize("kind", ["statement", "quote"])
@pytest.mark.parametrize(
    "text",
    [CONFLICT, "the book gives more than one answer [S1]", f"{NOT_IN_BOOK}!", PART_ABSENT.format(part="the clock.")],
)
def test_what_is_said_of_answers_is_no_answer(text: str, kind: SentenceKind) -> None:
    draft = DraftSentence(text, ("S1",), "The clock was bought by Hugh Bellamy in 1641", kind)
    assert codes(gate(draft)) == ["notice"]
