"""Wording: which words mean the same, which mean the opposite, and which change the force of a sentence."""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock
from typing import Literal, NamedTuple

import Stemmer

_stemmer = Stemmer.Stemmer("english")
_lock = Lock()  # a stemmer object is not safe to share between threads

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those i me my we us our you your he him his she her hers it its they them their theirs who
    whom whose which what where how am is are was were be been being do does did done has have had having will would
    shall should can could may might must and or but nor so yet if of to in on at by for from with into onto upon as
    than then there here not no also too very such own same other another both either neither each every all any some
    more most less least much many few several only just even still about up out off over under after before when while
    because since until though although whereas between among during through across along around near per via about
    however therefore thus hence again else ever never always often sometimes usually once one ones itself himself
    herself themselves yourself above below beneath behind beyond now already soon against within without towards toward
    despite s t p m pm
    """.split()
)
PRONOUNS = frozenset("he she it they this these that his her its their him them here there".split())
COORDINATORS = frozenset("but and or while whereas although though".split())
REFERRING = frozenset("he she it they his her its their this these".split())
DETERMINERS = frozenset("the a an this that these those his her its their our my your each every some any no".split())
BE = frozenset("is are was were be been being am get gets got".split())
AUXILIARIES = BE | frozenset("has have had do does did will would can could may might must shall should".split())
PREPOSITIONS = frozenset(
    "of to from with for at in on into under over against between among about unlike like than except besides".split()
)

_IRREGULAR = """
    be was were been is are|become became|begin began begun|bend bent|bind bound|bite bit bitten|blow blew blown
    break broke broken|bring brought|build built|burn burnt|buy bought|cast|catch caught|choose chose chosen
    come came|cost|cut|deal dealt|dig dug|do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten
    fall fell fallen|feed fed|feel felt|fight fought|find found|fly flew flown|forget forgot forgotten
    freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden
    hold held|keep kept|know knew known|lay laid|lead led|learn learnt|leave left|lend lent|lie lay lain|light lit
    lose lost|make made|mean meant|meet met|pay paid|put|read|ride rode ridden|ring rang rung|rise rose risen|run ran
    say said|see saw seen|seek sought|sell sold|send sent|set|shake shook shaken|shoot shot|show showed shown|shut
    sing sang sung|sink sank sunk|sit sat|sleep slept|shine shone
    shrink shrank shrunk|slide slid|sow sown|spin spun|spring sprang sprung|stick stuck|swear swore sworn|flee fled
    forbid forbade forbidden|grind ground|bear bore borne|wake woke woken|weep wept|withdraw withdrew withdrawn
    speak spoke spoken|spend spent|split|spread|stand stood
    steal stole stolen|strike struck|sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn
    tell told|think thought|throw threw thrown|understand understood|wear wore worn|weave wove woven|win won
    wind wound|write wrote written
"""
_PLURALS = "man men|woman women|child children|foot feet|mouse mice|life lives|half halves|wife wives|tooth teeth"


def _bases(table: str) -> dict[str, str]:
    groups = [group.split() for line in table.splitlines() for group in line.split("|") if group.strip()]
    return {form: group[0] for group in groups for form in group}


VERB_FORMS = frozenset(_bases(_IRREGULAR))
PAST_FORMS = frozenset(form for form, base in _bases(_IRREGULAR).items() if form != base)
_BASE = _bases(_IRREGULAR) | _bases(_PLURALS)

_SYNONYMS = """
    buy purchase acquire|sell vend|stop cease end halt finish|begin start commence|found establish create
    build construct erect|make produce manufacture|large big great huge|small little tiny|show display depict
    receive get obtain|get entitle|own possess|need require|require demand|approval consent permission agreement
    allow permit|forbid prohibit ban|use employ utilise utilize|employ staff|help assist|repair mend fix
    repair maintain|live reside dwell|dwell inhabit|house home|shut close|stay remain
    keep retain|pay spend|cost price|carry transport convey|throw discard|replace change swap
    say state|tell inform|speak talk|ask request|answer reply respond|think believe belief opinion
    argue contend maintain|guess suppose|frequency often|feed eat|author writer|die death|birth bear born|marry wed
    child kid|teach instruct|learn study|write compose|letter note|rest remainder|whole entire|yearly annual year
    daily day|weekly week|monthly month|adult grown-up|illness disease|doctor physician|medicine drug|patient sufferer
    quick fast rapid|fast quickly|slow slowly|usual normal|mainly chiefly mostly|chief main principal primary
    cheap inexpensive|expensive costly dear|rich wealthy|poor needy|end finish|cease stop|leave depart go
    arrive come reach|give grant|give present|fall decline drop decrease|rise increase grow|lower reduce decrease
    raise increase|lie stand locate situate|happen occur|area region|road street|near close|join unite|divide split
    begin launch|choose select pick|collect gather|send dispatch|name call title|sign signature
    follow obey|lead guide|hold contain|include contain comprise|consist comprise|war conflict|king monarch
    boat ship vessel|car vehicle|picture image|goal aim purpose|job work occupation|worker labourer|cook bake
    near beside next|asleep sleep|weight weigh|height high|length long|width wide|depth deep|age old|proposal propose
    sea ocean|work labour|person people individual|wood timber|gap pass|income revenue
    settle settlement|admit admission|thick thickness|warm heat|predator hunter|ill sick|error mistake
    additional extra further|grey gray|aluminium aluminum|north northern|south southern|east eastern|west western
"""
_ANTONYMS = """
    before/after above/below over/under early/late earlier/later first/last more/less more/fewer most/least
    large/small big/small larger/smaller largest/smallest bigger/smaller higher/lower highest/lowest
    longer/shorter longest/shortest older/younger oldest/youngest eldest/youngest
    increase/decrease rise/fall raise/lower grow/shrink begin/end
    start/stop open/close win/lose buy/sell lend/borrow give/receive give/take teach/learn arrive/leave enter/leave
    accept/reject sign/reject allow/forbid allow/ban allow/prohibit permit/prohibit permit/ban permit/forbid
    include/exclude succeed/fail pass/fail love/hate
    hot/cold warm/cool dry/wet full/empty full/part heavy/light fast/slow quick/slow hard/soft hard/easy strong/weak
    rich/poor cheap/expensive old/new old/young good/bad best/worst better/worse true/false right/wrong left/right
    north/south east/west inner/outer inside/outside upper/lower public/private male/female man/woman boy/girl
    father/mother son/daughter brother/sister husband/wife king/queen widow/widower uncle/aunt friend/enemy
    live/die birth/death born/died day/night summer/winter spring/autumn morning/evening dawn/dusk brass/steel
    temporary/permanent minimum/maximum import/export build/destroy build/demolish found/abolish
    create/destroy attack/defend add/remove import/export safe/dangerous clean/dirty always/never all/none
    landlord/tenant buyer/seller lender/borrower teacher/pupil master/apprentice employer/employee
    monday/tuesday arctic/antarctic minute/hour daily/weekly odd/even dwarf/tall thick/thin deep/shallow wide/narrow
    double/triple/quadruple/halve double/treble/quadruple/halve
    expand/contract guilty/innocent alive/dead optional/mandatory voluntary/compulsory
"""


_SEVERAL = re.compile(r"([A-Z][A-Z0-9]+)['’]?s")
_NO_ADVERBS = frozenset("family assembly supply multiply anomaly homily monopoly butterfly".split())


def small(word: str) -> str:
    """A word in small letters; of `MPOs` and `VM's`, where no stemmer sees an ending any more, without it."""
    several = _SEVERAL.fullmatch(word)
    return (several[1] if several else word).lower()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """What a word has in common with its other forms: "buy" of "bought", "employ" of "employed"."""
    base = _BASE.get(word, word)
    if base.endswith("ly") and len(base) > 5 and base not in _NO_ADVERBS:
        base = base.removesuffix("ly")
    with _lock:
        found: str = _stemmer.stemWord(base)
    return found


def _pairs(table: str, separator: str) -> dict[str, frozenset[str]]:
    """Each stem with those it stands beside in some group."""
    groups = [[stem(w) for w in g.split(separator)] for line in table.splitlines() for g in _split(line, separator)]
    found: dict[str, set[str]] = {}
    for group in groups:
        for word in group:
            found.setdefault(word, set()).update(other for other in group if other != word)
    return {word: frozenset(others) for word, others in found.items()}


def _split(line: str, separator: str) -> list[str]:
    if separator == "/":
        return line.split()
    return [" ".join(group.split()) for group in line.split("|") if group.strip()]


_SAME = _pairs(_SYNONYMS, " ")
_OPPOSITE = _pairs(_ANTONYMS, "/")
_PREFIXES = [
    tuple(pair.split("/"))
    for pair in "endo/exo hyper/hypo over/under pre/post im/ex in/ex micro/macro mono/poly up/down inter/intra".split()
]
_CLOSED = {
    stem(word): name
    for name, words in {
        "colour": "red orange yellow green blue purple violet pink brown black white grey gray gold silver",
        "season": "spring summer autumn winter",
        "time of day": "dawn morning noon midday afternoon evening dusk night midnight",
        "direction": "north south east west northern southern eastern western left right",
        "kin": "father mother son daughter brother sister husband wife uncle aunt nephew niece cousin grandfather"
        " grandmother grandson granddaughter widow widower",
        "metal": "iron steel copper brass bronze tin lead zinc aluminium nickel",
    }.items()
    for word in words.split()
}


def closed_set(word: str) -> str:
    """The closed set that a stem belongs to, or an empty string."""
    return _CLOSED.get(word, "")


def same(first: str, second: str) -> bool:
    """Whether two stems mean about the same."""
    return first == second or second in _SAME.get(first, ())


def opposite(first: str, second: str) -> bool:
    """Whether two stems mean opposite things, by themselves or by their prefixes ("endothermic", "exothermic")."""
    return second in _opposites(first)


@lru_cache(maxsize=4096)
def _opposites(word: str) -> frozenset[str]:
    prefixes = [way for pair in _PREFIXES for way in (pair, pair[::-1])]
    bare = [(other, word.removeprefix(one)) for one, other in prefixes if word.startswith(one)]
    return frozenset(_OPPOSITE.get(word, ())).union(other + rest for other, rest in bare if len(rest) > 3)


class Marker(NamedTuple):
    """Words that change the force of what is said, and which way they may be lost or won.

    `kept`: where the evidence has one, the claim must (a "may" that is dropped makes a claim too strong).
    `needed`: where the claim has one, the evidence must (an "all" that is added does).
    """

    name: str
    words: frozenset[str]
    kept: bool
    needed: bool
    reach: Literal["clause", "rest", "part"]
    """What it governs: its own clause, that and all that follows, or the part of the sentence it is in."""
    equals: frozenset[str]
    """Words that say as much, but do not call for one of the marker's own."""


def _marker(
    name: str, words: str, rule: str, *, reach: Literal["clause", "rest", "part"] = "clause", equals: str = ""
) -> Marker:
    return Marker(name, frozenset(words.split()), "kept" in rule, "needed" in rule, reach, frozenset(equals.split()))


MARKERS = (
    _marker(
        "possibility",
        "may might can could perhaps possibly maybe possible potentially able",
        "kept",
        equals="allow allowed permit permitted entitled",
    ),
    _marker(
        "likelihood",
        "probably likely tends tend tended seems seem seemed appears appear appeared apparently suggest suggests"
        " suggested indicate",
        "kept",
    ),
    _marker(
        "frequency",
        "usually often sometimes generally typically normally mostly mainly chiefly largely occasionally frequently"
        " rarely",
        "kept",
    ),
    _marker("part", "most many some few several partly majority minority", "kept"),
    _marker("condition", "if provided whenever", "kept", reach="part", equals="when unless except otherwise"),
    _marker("exception", "unless except otherwise", "kept", reach="part", equals="if provided whenever"),
    _marker(
        "attribution",
        "believes believe believed belief thinks thought claims claim claimed argues argued argue alleged allegedly"
        " reportedly supposed supposedly rumoured rumored legend suspects suspected according tell tells told says"
        " said opinion imagined feared doubted doubts dreamed promised threatened pretend pretended",
        "kept",
        reach="rest",
    ),
    _marker(
        "plan",
        "will would plans planned intends intended proposed proposes propose tried attempted aims aimed wanted wants"
        " hoped hopes expected expects scheduled wished",
        "kept",
    ),
    _marker(
        "all",
        "all every each always everyone everybody everything entirely completely whole",
        "needed",
        equals="any entire daily weekly monthly yearly annually",
    ),
    _marker("both", "both", "needed", equals="and two"),
    _marker("only", "only solely exclusively alone sole", "kept needed", equals="just"),
    _marker("just", "just", "needed", equals="only solely exclusively alone sole"),
    _marker("most", "most mostly majority usually", "needed"),
    _marker("many", "many numerous", "needed"),
    _marker("often", "often frequently", "needed", equals="frequency common usually regularly"),
    _marker("speaker", "i we me my us our", "needed"),
    _marker("former times", "once formerly previously originally initially", "kept", equals="when after"),
    _marker("near miss", "almost nearly hardly scarcely barely", "kept"),
    _marker(
        "cause",
        "because therefore thus hence caused causes cause causing consequently owing due result resulted so since"
        " reason why",
        "needed",
        equals="results resulting lead leads led",
    ),
    _marker("comparison", "more less fewer than better worse", "needed"),
    _marker("exactness", "exactly precisely", "needed"),
    _marker("certainty", "proved proves proven certainly definitely undoubtedly surely indeed clearly", "needed"),
    _marker("instruction", "ignore disregard assistant prompt", "kept needed", reach="part"),
)
PERMISSION = frozenset("may can could might allow allowed permit permitted entitled optional".split())
OBLIGATION = frozenset("must shall require requires required obliged mandatory compulsory".split())
