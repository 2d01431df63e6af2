"""Each rule by itself: what it objects to, and that it leaves alone what is merely said in another way."""

from __future__ import annotations

import cProfile
import pstats

import pytest

from chapterverse.answer.evidence import Evidence
from chapterverse.answer.parse import parse
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
        ("unit", "The limit is < 5 bar.", "The limit is > 5 bar."),
        ("unit", "The limit is < 5 bar.", "The limit is 5 bar."),
        ("unit", "The limit is 5 bar.", "The limit is ≥ 5 bar."),
        ("number", "It weighs ≠ 1,240 pounds.", "It weighs 1,240 pounds."),
        ("number", "It is 3 + 4 metres long.", "It is 3 × 4 metres long."),
        ("number", "It is 3 + 4 metres.", "It is 3 by 4 metres."),
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
        ("number", "The shop shuts at 11 am.", "The shop opens at noon and shuts at 11 pm."),
        ("number", "The pump was mended thrice.", "The pump was mended twice."),
        ("number", "The pump was mended four times.", "The pump was mended twice."),
        ("opposite", "The rent tripled.", "The rent halved."),
        ("opposite", "The herd quadrupled.", "The herd trebled."),
        ("number", "The market is held every Monday.", "The market is held every third Monday."),
        ("number", "The field is sown each year.", "The field is sown every other year."),
        ("number", "The barn held the crop.", "The barn held a fifth of the crop, the mill the rest."),
        ("number", "The wells ran dry.", "Four of the wells ran dry."),
        ("opposite", "Latin was taught by the sexton.", "The sexton learned Latin."),
        ("subject", "The majority of carters are paid.", "Most millers are paid."),
        ("roles", "There is a mill in the wheel.", "The mill has a wheel and a pond."),
        ("roles", "A gallon of beer cost ale.", "Ale cost a gallon of beer."),
        ("contrast", "The new barn is east of the well.", "The old barn is east of the well; the new one west of it."),
        ("strength", "All the barns were saved.", "All the barns but one were saved."),
        ("strength", "Everybody paid.", "Everybody but the smith paid."),
        ("restriction", "The licence is valid.", "The licence is valid with a stamp."),
        ("restriction", "Dogs are allowed in the hall.", "Dogs are allowed in the hall on Mondays."),
        ("restriction", "The fine applies to carts.", "The fine applies to carts without lamps."),
        ("restriction", "The lift holds at most nine people.", "The lift holds at most nine people in summer."),
        ("opposite", "A few of the barns were saved.", "Few of the barns were saved."),
        ("opposite", "Few of the barns were saved.", "Some of the barns were saved."),
        ("strength", "Tea and milk were served.", "Tea or milk was served."),
        ("strength", "The carter rang the bell.", "Either the carter or the smith rang the bell."),
        ("negation", "The mill stops if it rains.", "The mill stops unless it rains."),
        ("strength", "The bakers sell only bread.", "Only the bakers sell bread."),
        ("strength", "Only the bakers sell bread.", "The bakers sell only bread."),
        ("strength", "Rain harms the crop.", "Too much rain harms the crop."),
        ("opposite", "The pump weighs less than the wheel.", "The pump weighs more than the wheel."),
        ("replaced", "The cart carried coal, wool and salt.", "The cart carried coal, timber and salt."),
        ("replaced", "The cart carried wine and salt.", "The cart carried coal and salt."),
        ("strength", "The mill is a castle.", "The mill is a mock castle."),
        ("strength", "The mayor opened the fair.", "The deputy mayor opened the fair."),
        ("strength", "The owner of the barn paid the tax.", "The former owner of the barn paid the tax."),
        ("strength", "The weir was mended in 1811.", "The weir was to be mended in 1811."),
        ("strength", "Otto sold the barn.", "Otto was about to sell the barn."),
        ("strength", "Otto robbed the mill.", "Otto was charged with robbing the mill."),
        ("strength", "Otto sold the barn.", "Otto was suspected of selling the barn."),
        ("strength", "Otto oiled the pump.", "Otto neglected to oil the pump."),
        ("strength", "Anna sold the barn.", "Otto ordered Anna to sell the barn."),
        ("strength", "In 1811 Otto sold eels.", "In 1811 Otto ceased selling eels."),
        ("strength", "Otto signed the will.", "Otto was accused of signing the will."),
        ("strength", "Otto sold the barn.", "Otto decided against selling the barn."),
        ("strength", "Otto visited the fair.", "Otto avoided visiting the fair."),
        ("strength", "The wolf ate the miller.", "In the fable the wolf ate the miller."),
        ("strength", "The wolf ate the miller.", "The wolf ate the miller in her nightmare."),
        ("negation", "The tax applies to cloth.", "The tax applies to goods other than cloth."),
        ("negation", "The tax applies to goods.", "The tax applies to goods apart from cloth."),
        ("negation", "The mules ate oats.", "The mules ate hay instead of oats."),
        ("opposite", "The pump is switched on by the left lever.", "The pump is switched off by the left lever."),
        ("opposite", "Millers clock in at the gate.", "Millers clock out at the gate."),
        ("direction", "Wet the stone after spreading the flour.", "Wet the stone, then spread the flour."),
        ("negation", "Use grease on the axle.", "Avoid using grease on the axle."),
        ("negation", "Dogs are allowed in the mill.", "Dogs are banned from the mill."),
        ("strength", "The mill opened in 1811.", "The mill was due to open in 1811."),
        ("strength", "Otto sold the mill.", "Otto agreed to sell the mill."),
        ("strength", "The barn was flooded.", "The barn was saved from flooding."),
        ("strength", "Anna won the prize.", "Anna came close to winning the prize."),
        ("restriction", "Millers work on Sundays.", "Millers under thirty work on Sundays."),
        ("unit", "Millers must be 21.", "Millers must be 21 or older."),
        ("strength", "When it rains, the mill runs.", "Unless it rains, the mill runs."),
        ("closed_set", "The sluice is cleaned every day.", "The sluice is cleaned weekly."),
        ("date", "It burned on 4 May 1802.", "In 1801 it was built, on 4 May it burned, in 1802 it rose."),
        ("strength", "The dam does not hold.", "The dam may not hold."),
        ("strength", "All millers are dismissed.", "Any miller who hides a sack is dismissed."),
        ("strength", "All rivers froze.", "Rivers froze throughout the valley."),
        ("strength", "Both Anna and Otto run the mill.", "Anna runs the bakery and Otto runs the mill."),
        ("strength", "The wheel squeaks when you grease it.", "If the wheel squeaks, grease it."),
        ("strength", "Smoke causes damp straw.", "Smoke results from damp straw."),
        ("binding", "The mill shuts at 9:00.", "The mill opens at 9 a.m. and shuts at 5 p.m."),
        ("restriction", "A law limits the toll.", "In 1823 a law limited the toll."),
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
        ("The shop opens at 7 a.m.", "The shop opens at seven and shuts at noon."),
        ("The sexton was taught Latin.", "The sexton learned Latin."),
        ("The majority of millers are paid.", "Most millers are paid."),
        ("According to Anna, the dam broke.", "Anna said that the dam broke."),
        ("Unless the river is frozen, the mill runs at night.", "The mill runs at night unless the river is frozen."),
        ("There is a wheel in the mill.", "The mill has a pond and a wheel."),
        ("In 1790 a gallon of ale cost 3 pence.", "Ale cost 3 pence a gallon in 1790."),
        ("The new barn is west of the well.", "The old barn stood east of the well; the new one stands west of it."),
        ("All the barns except one were saved.", "All the barns but one were saved."),
        ("All pumps broke.", "All pumps broke but were mended."),
        ("The licence is valid with a stamp.", "The licence is valid with a stamp of the town."),
        ("Dogs were admitted.", "Dogs were admitted in 1911."),
        ("At least nine people drowned.", "At least nine people drowned in the flood."),
        ("The lift holds nine people.", "The lift holds nine people in its cabin."),
        ("Five of the wells stayed full.", "Four of the wells ran dry and five of the wells stayed full."),
        ("A few of the barns were saved.", "A few of the barns were saved from the fire."),
        ("The bell was rung.", "Either the carter or the smith rang the bell."),
        ("You may pay in coin and wool.", "You may pay in coin or wool."),
        ("The mill stops if it does not rain.", "The mill stops unless it rains."),
        ("Bread is sold only by the bakers.", "Only the bakers sell bread."),
        ("The shop only opens on Mondays.", "The shop opens only on Mondays."),
        ("The cart was heavy.", "The cart was too heavy to pull."),
        ("The cart carried coal and salt.", "The cart carried coal, timber and salt."),
        ("The deputy mayor opened the fair.", "The deputy mayor opened the fair in June."),
        ("The mayor opened the fair.", "The mayor and a mock knight opened the fair."),
        ("Otto was charged with robbing the mill.", "Otto was charged with robbing the mill in 1811."),
        ("Otto neglected the pump.", "Otto neglected to oil the pump."),
        ("Otto sold eels until 1811.", "Otto stopped selling eels in 1811."),
        ("Otto bought a cart.", "Otto bought a cart to sell the eels that he was about to catch."),
        ("Wages grew in the film industry.", "In the film industry the wages grew."),
        ("In the fable the wolf ate the miller.", "In the fable the wolf ate the miller at night."),
        ("The mules ate hay.", "The mules ate hay instead of oats."),
        ("The wage grew by 9 shillings.", "In the old days the wage grew by nine shillings."),
        ("You can change the port by editing the file.", "To change the port, edit the file."),
        ("Grease the axle when the wheel squeaks.", "If the wheel squeaks, grease the axle."),
        ("When the gate is shut, open the sluice.", "Once the gate is shut, open the sluice."),
        ("Bread is offered in the yard.", "Bread is provided in the yard."),
        ("The mill has the largest wheel.", "The mill has the largest wheel in the canal system."),
        ("Both the barn and the mill are locked at night.", "The barn and the mill are locked at night."),
        ("Millers must be at least 21.", "Millers must be 21 or older."),
        ("The limit is < 5 bar.", "The limit is less than 5 bar."),
        ("The limit is at most 5 bar.", "The limit is ≤ 5 bar."),
        ("The room is 3 by 4 metres.", "The room is 3 × 4 metres."),
        ("A sack must weigh at most 80 kg.", "A sack must not exceed 80 kg."),
        ("The bell rings at 5:00 p.m.", "The bell rings at 5 p.m."),
        ("The fair lasts from May 3 to May 5.", "The fair lasts from 3 to 5 May."),
        ("Do not use grease on the axle.", "Avoid using grease on the axle."),
        ("Do not feed the geese.", "Please do not feed the geese."),
        ("A flood destroyed the mill.", "In 1851 a flood destroyed the mill."),
        ("The mill has twelve windows.", "There are twelve windows in the mill."),
        ("Marn has a population of 420.", "The population of Marn is 420."),
        ("The axle is gray.", "The axle is grey."),
        ("The anvil is heated to between 2°C and 8°C.", "The anvil is heated to between 2 and 8 °C."),
        ("Spread the flour after wetting the stone.", "Wet the stone, then spread the flour."),
        ("In 1787 the mill nearly won the prize.", "In 1787 the mill came close to winning the prize."),
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


def test_the_year_of_a_day_is_the_one_named_before_it() -> None:
    told = ("In 1801 the mill was built.", "On 4 May it burned.")
    assert "date" not in objections("It burned on 4 May 1801.", *told)
    assert "date" in objections("It burned on 4 May 1802.", *told)


MANY = {
    "numbers": "1000 1007 1014 1021 1028 1035 1042 1049 ",
    "units": "1 kg of 2 m of 3 kg of 4 m of ",
    "clocks": "7:30, 8:45, 9:10, 10:20, ",
    "dates": "3 May 1801, 4 June 1802, ",
    "names": "Anna Reis and Otto Kell and ",
    "colours": "red blue green white ",
    "one word": "and the mill and the mill ",
    "by someone": "was taught by him and taught her and ",
    "opposites": "more and less and north or south and ",
}


@pytest.mark.parametrize("many", MANY.values(), ids=MANY.keys())
def test_the_work_of_rules_grows_with_the_evidence_and_not_with_its_square(many: str) -> None:
    """A text that goes on and on must hold up nobody: a model may quote all of it."""
    claim = f"It says {' '.join((many * 40).split()[:60])} here."
    short, long = (_work(claim, "It says " + many * (length // len(many))) for length in (500, 2_000))
    assert long < 6 * short


def _work(claim: str, evidence: str) -> int:
    """How many functions are called to hold a claim against its evidence, once both are taken apart."""
    parse(claim), parse(evidence)
    with cProfile.Profile() as profile:
        compare(claim, [Evidence(evidence)], evidence)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_new_words_are_those_without_any_form_in_the_evidence() -> None:
    evidence = [Evidence("The miller bought a heavy wheel.")]
    assert compare("The miller purchased a heavy stone wheel.", evidence, "").new_words == ("stone",)


def test_words_and_their_forms() -> None:
    assert stem("bought") == stem("buys") == stem("buy")
    assert same(stem("purchased"), stem("bought"))
    assert opposite(stem("raised"), stem("lowered"))
    assert opposite("endotherm", "exotherm")
    assert not same(stem("mill"), stem("wheel"))
