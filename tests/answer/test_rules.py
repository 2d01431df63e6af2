"""Each rule by itself: what it objects to, and that it leaves alone what is merely said in another way."""

from __future__ import annotations

import pytest

from chapterverse.answer.evidence import Evidence
from chapterverse.answer.rules import compare
from chapterverse.answer.wording import opposite, same, stem


def objections(claim: str, *evidence: str) -> list[str]:
    found = [Evidence(text, previous=before) for before, text in zip(("", *evidence), evidence, strict=False)]
    return [objection.code for objection in compare(claim, found, " ".join(evidence)).objections]


@pytest.mark.parametrize(
    ("code", "claim", "evidence"),
    [
        ("number", "The mill has nine wheels.", "The mill has six wheels."),
        ("unit", "The mill is 30 miles away.", "The mill is 30 kilometres away."),
        ("unit", "It holds at least 30 barrels.", "It holds up to 30 barrels."),
        ("binding", "Anna paid nine crowns.", "Anna paid six crowns and Bertha paid nine."),
        ("binding", "The mill was closed in 1801.", "The mill was opened in 1801 and closed in 1850."),
        ("date", "It burned on 3 May 1801.", "It burned on 3 June 1801, in May it was rebuilt."),
        ("closed_set", "The door is green.", "The door is red."),
        ("number", "The bell rings every hour.", "The bell rings every two hours."),
        ("name", "The mill belonged to Otto Reis.", "The mill belonged to Anna Reis."),
        ("subject", "Barley is ground on Mondays.", "Wheat is ground on Mondays."),
        ("subject", "Anna Reis slept at the mill.", "The widow of Anna Reis slept at the mill."),
        ("crossed", "Anna says the dam broke.", "Otto says the dam broke, while Anna says the wall fell."),
        ("opposite", "The water is cold.", "The water is hot."),
        ("replaced", "Half of the farmers left.", "Half of the millers left."),
        ("negation", "The mill grinds at night.", "The mill does not grind at night."),
        ("negation", "The mill never grinds.", "The mill grinds."),
        ("contrast", "It is fast when it is pushed softly.", "It is fast when it is pushed hard and slow when softly."),
        ("strength", "All millers are paid.", "Most millers are paid."),
        ("strength", "Millers are paid.", "Most millers are paid."),
        ("strength", "The dam will hold.", "The dam may hold."),
        ("strength", "The dam broke.", "Otto swore that the dam broke."),
        ("strength", "The mill stops.", "The mill stops if the river freezes."),
        ("strength", "The mill stopped because the river froze.", "The mill stopped. The river froze."),
        ("strength", "Visitors must ring.", "Visitors may ring."),
        ("restriction", "The mill does not run.", "The mill does not run on Sundays."),
        ("restriction", "A wheel that stops is replaced.", "A wheel that stops three times is replaced."),
        ("roles", "Otto paid Anna.", "Anna paid Otto."),
        ("roles", "The dog was bitten by Anna.", "The dog has bitten Anna."),
        ("roles", "Oats are dearer than wheat.", "Wheat is dearer than oats."),
        ("direction", "The road leads from Marn.", "The road leads to Marn."),
        ("number", "The duty grew by 8 percent.", "The duty grew by 8 percentage points."),
        ("number", "The duty grew by eight percentage points.", "The duty grew by 8%."),
        ("direction", "The wage grew to 9 shillings.", "The wage grew by 9 shillings."),
        ("direction", "The flock shrank by 60 head.", "The flock shrank to 60 head."),
        ("direction", "The inn stood empty from 1790.", "The inn stood empty until 1790."),
        ("direction", "The debt is paid after ten days.", "The debt is paid within ten days."),
        ("number", "The shop opens at 6:15 a.m. on Mondays.", "The shop opens at 6:15 p.m. on Mondays."),
        ("number", "The shop opens at noon.", "The shop opens at 9 o'clock."),
        ("number", "The pump was mended thrice.", "The pump was mended twice."),
        ("number", "The pump was mended four times.", "The pump was mended twice."),
        ("opposite", "The rent tripled.", "The rent halved."),
        ("opposite", "The herd quadrupled.", "The herd trebled."),
        ("number", "The market is held every Monday.", "The market is held every third Monday."),
        ("number", "The field is sown each year.", "The field is sown every other year."),
        ("number", "The barn held the crop.", "The barn held a fifth of the crop, the mill the rest."),
        ("number", "The wells ran dry.", "Four of the wells ran dry."),
    ],
)  # fmt: skip
def test_a_rule_objects(code: str, claim: str, evidence: str) -> None:
    assert code in objections(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The mill has 6 wheels.", "The mill has six wheels."),
        ("In 1801 Anna Reis bought the mill.", "Anna Reis bought the mill in 1801."),
        ("The mill was bought by Anna Reis.", "Anna Reis bought the mill in 1801."),
        ("Anna Reis purchased the mill.", "Anna Reis bought the mill in 1801."),
        ("The wheel of the mill is old.", "The mill's wheel is old."),
        ("The bridge is not safe.", "The bridge is unsafe."),
        ("Smoking is not allowed.", "Smoking is forbidden."),
        ("Most millers are paid.", "Most millers are paid in flour."),
        ("Bertha paid nine crowns.", "Anna paid six crowns and Bertha paid nine crowns."),
        ("A quarter of the flour was lost.", "25 percent of the flour was lost."),
        ("Otto sleeps at noon, and Anna grinds.", "Anna grinds, and Otto sleeps at noon."),
        ("The duty grew by eight percentage points.", "The duty grew by 8 percentage points."),
        ("The wage grew by 9 shillings.", "In spring the wage grew by nine shillings."),
        ("The shop opens at 6:15.", "The shop opens at 6:15 p.m. on Mondays."),
        ("The pump was mended two times.", "The pump was mended twice."),
        ("The herd tripled.", "The herd tripled in a year."),
        ("The market is held every third Monday.", "The market is held every third Monday by the river."),
        ("The barn held 20 percent of the crop.", "The barn held one fifth of the crop."),
        ("Some of the wells ran dry.", "Four of the wells ran dry, and some of the ponds."),
        ("In 1790 a gallon of ale cost 3 pence.", "A gallon of ale cost 3 pence in 1790."),
        ("You can change the port by editing the file.", "To change the port, edit the file."),
    ],
)
def test_no_rule_objects_to_other_words_for_the_same(claim: str, evidence: str) -> None:
    assert objections(claim, evidence) == []


def test_values_of_two_places_are_not_stitched_together() -> None:
    thorne, innick = "Silas Thorne came from High Garth.", "Robert Innick served nine years."
    assert "stitched" in objections("Silas Thorne served nine years.", thorne, innick)
    assert objections("Silas Thorne served nine years.", thorne, "He served nine years.") == []


def test_a_name_is_completed_only_if_the_passage_has_no_other_of_that_part() -> None:
    evidence = [Evidence("Kell mended the clock.")]
    claim = "Ambrose Kell mended the clock."
    assert not compare(claim, evidence, "Ambrose Kell was a smith. Kell mended the clock.").objections
    assert compare(claim, evidence, "Ambrose Kell and Matthias Kell were smiths. Kell mended the clock.").objections


def test_new_words_are_those_without_any_form_in_the_evidence() -> None:
    evidence = [Evidence("The miller bought a heavy wheel.")]
    assert compare("The miller purchased a heavy stone wheel.", evidence, "").new_words == ("stone",)


def test_words_and_their_forms() -> None:
    assert stem("bought") == stem("buys") == stem("buy")
    assert same(stem("purchased"), stem("bought"))
    assert opposite(stem("raised"), stem("lowered"))
    assert opposite("endotherm", "exotherm")
    assert not same(stem("mill"), stem("wheel"))
