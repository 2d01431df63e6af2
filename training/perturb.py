"""Small edits that turn a question or a claim into one its passage no longer answers or supports.

An edit is a guess: the swapped question may still be answered. Edits therefore train the teacher at
reduced weight, and the student learns from the teacher's opinion of them.
"""

from __future__ import annotations

import random
import re

MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NUMBERS = "two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand".split()
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth last".split()
CLOSED = {word.lower(): kind for kind in (MONTHS, DAYS, NUMBERS, ORDINALS) for word in kind}
ANTONYMS = """
more/less most/least before/after largest/smallest larger/smaller biggest/smallest highest/lowest higher/lower
longest/shortest longer/shorter oldest/youngest older/younger earliest/latest earlier/later first/last
increase/decrease increased/decreased increasing/decreasing increases/decreases rise/fall rose/fell begin/end
began/ended start/stop started/stopped beginning/end win/lose won/lost winning/losing winner/loser north/south
northern/southern east/west eastern/western left/right male/female men/women man/woman boy/girl king/queen
father/mother son/daughter brother/sister husband/wife old/new young/old good/bad best/worst better/worse
strong/weak stronger/weaker strongest/weakest rich/poor hot/cold hottest/coldest warm/cool high/low long/short
large/small big/small fast/slow faster/slower early/late open/closed opened/closed legal/illegal public/private
positive/negative major/minor maximum/minimum majority/minority buy/sell bought/sold import/export arrive/leave
arrived/left enter/leave born/died birth/death friend/enemy allow/forbid allowed/forbidden accept/reject
accepted/rejected support/oppose supported/opposed include/exclude included/excluded create/destroy
created/destroyed build/destroy built/destroyed attack/defend attacked/defended cause/prevent caused/prevented
always/never all/none some/no with/without above/below inside/outside over/under same/different easy/difficult
common/rare popular/unpopular success/failure successful/unsuccessful able/unable possible/impossible cheap/expensive
cheaper/pricier like/dislike liked/disliked love/hate loved/hated happy/sad light/dark heavy/light thick/thin
wide/narrow deep/shallow full/empty top/bottom front/back upper/lower primary/secondary internal/external
domestic/foreign urban/rural modern/ancient natural/artificial simple/complex safe/dangerous active/inactive
remember/forget remembered/forgot teach/learn taught/learned send/receive sent/received give/take gave/took push/pull
""".split()
OPPOSITE = {a: b for pair in ANTONYMS for a, b in (pair.split("/"), pair.split("/")[::-1])}
NEGATED = {
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "did": "didn't", "does": "doesn't",
    "do": "don't", "can": "can't", "could": "couldn't", "will": "won't", "would": "wouldn't", "has": "hasn't",
    "have": "haven't", "had": "hadn't", "should": "shouldn't", "must": "must not",
}  # fmt: skip
STOP = set(
    "about above after again against also although among been before being below between both cannot could does "
    "doing down during each every from further have having here himself into itself just like many might more most "
    "much name named names only other over same should some such than that their them then there these they this "
    "those through under until used using very were what when where which while whom whose will with within would "
    "your kind type year years following called according".split()
)
NAME = re.compile(r"[A-Z][\w'’.-]*\w(?:\s+(?:(?:of|the|de|von|and|for)\s+)?[A-Z][\w'’.-]*\w)*")
DIGITS = re.compile(r"\d[\d,.]*\d|\d")
WORD = re.compile(r"[A-Za-z][a-z]+")


def edit(text: str, passage: str, rng: random.Random, kinds: str) -> str | None:
    """Try the edits of `kinds` (e entity, a antonym, n negation, w word) in random order; None if none fits."""
    edits = {"e": _swap_entity, "a": _swap_antonym, "n": _negate, "w": _swap_word}
    order = list(kinds)
    rng.shuffle(order)
    for kind in order:
        changed = edits[kind](text, passage, rng)
        if changed and changed != text:
            return changed
    return None


def kind_of(text: str) -> str:
    """The sort of thing a short span names, coarse enough to find a stand-in for it."""
    if text.lower() in CLOSED:
        return CLOSED[text.lower()][0]
    if re.fullmatch(r"1\d{3}|20\d{2}", text):
        return "year"
    if DIGITS.fullmatch(text):
        return "number"
    return "name" if NAME.fullmatch(text) else ""


def stand_in(target: str, passage: str, avoid: str, rng: random.Random) -> str | None:
    """Another span of the passage of the same sort as `target`, sharing no word with `avoid`."""
    kind = kind_of(target)
    banned = set(avoid.lower().split()) | set(target.lower().split())
    found = [text for _, _, text in _entities(passage) if kind_of(text) == kind]
    found = [text for text in found if not banned & set(text.lower().split())]
    if not found and target.lower() in CLOSED:
        found = [word for word in CLOSED[target.lower()] if word.lower() not in banned]
    if not found and kind == "year":
        found = [str(int(target) + rng.choice((-20, -7, -3, -1, 1, 2, 5, 12)))]
    return rng.choice(found) if found else None


def _entities(text: str) -> list[tuple[int, int, str]]:
    spans = [m.span() for m in DIGITS.finditer(text)]
    spans += [m.span() for m in WORD.finditer(text) if m.group().lower() in CLOSED]
    for match in NAME.finditer(text):
        opens = match.start() == 0 or text[: match.start()].rstrip()[-1:] in '.?!"“\n'
        if not (opens and " " not in match.group()) and match.group().lower() not in CLOSED:
            spans.append(match.span())
    return [(a, b, text[a:b]) for a, b in spans]


def _swap_entity(text: str, passage: str, rng: random.Random) -> str | None:
    found = _entities(text)
    if not found:  # lower-cased questions: look for the passage's names in them
        low = text.lower()
        for _, _, name in _entities(passage):
            place = low.find(name.lower())
            if place >= 0 and len(name) > 3:
                found.append((place, place + len(name), name))
    rng.shuffle(found)
    for start, end, name in found:
        other = stand_in(name, passage, text, rng)
        if other:
            return text[:start] + (other if name == text[start:end] else other.lower()) + text[end:]
    return None


def _swap_antonym(text: str, _passage: str, rng: random.Random) -> str | None:
    places = [m for m in WORD.finditer(text) if m.group() in OPPOSITE]
    if not places:
        return None
    match = rng.choice(places)
    return text[: match.start()] + OPPOSITE[match.group()] + text[match.end() :]


def _negate(text: str, _passage: str, _rng: random.Random) -> str | None:
    for match in re.finditer(r"\b[a-z]+\b", text):
        if match.group() in NEGATED and not text[match.end() :].startswith((" not", "n't")):
            return text[: match.start()] + NEGATED[match.group()] + text[match.end() :]
    return None


def _swap_word(text: str, passage: str, rng: random.Random) -> str | None:
    low = text.lower()
    around = {w.lower() for w in WORD.findall(passage) if len(w) > 4 and w.lower() not in STOP}
    targets = [m for m in WORD.finditer(text) if m.group() in around]
    if not targets:
        return None
    match = rng.choice(targets)
    others = sorted(w for w in around if w not in low and _ending(w) == _ending(match.group()))
    return text[: match.start()] + rng.choice(others) + text[match.end() :] if others else None


def _ending(word: str) -> str:
    return next((e for e in ("ing", "ed", "ly", "tion", "es", "s", "er") if word.endswith(e)), "")
