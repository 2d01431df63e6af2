"""Questions: what kind of answer one asks for, and the parts it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

from chapterverse.answer.facts import names
from chapterverse.answer.scope import may_be_elsewhere, parse_scope, without_scope
from chapterverse.answer.wording import AUXILIARIES, BE, FUNCTION_WORDS, PRONOUNS, VERB_FORMS, small, stem

_ASKING = r"(?:who|whom|whose|what|which|when|where|why|how)"
_BEFORE = r"(?:(?:in|at|of|to|from|by|for|with|on|under|out\s+of)\s+)?"
_JOINT = re.compile(rf"(?:\s*[,;]\s*|\s+)and\s+(?={_BEFORE}{_ASKING}\b)|(?<=\?)\s+(?=\S)", re.IGNORECASE)
_SERIAL = re.compile(rf"\s*[,;]\s*(?:and\s+)?(?={_BEFORE}{_ASKING}\b)", re.IGNORECASE)
"""`Who was A, when did B, and where is C?`"""
_EMBEDDED = re.compile(
    r"\w\s+(?!(?:me|us|know|say)\b)\w+\s+(?:who|what)\s+\w+(?:\s+(?:it|them|him|her))?$", re.IGNORECASE
)
"""`Which command shows what changed` …: what follows is asked of the command too."""
_OPENS = re.compile(rf"{_BEFORE}({_ASKING})\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SHORTENED = re.compile(r"['’]s$")
"""`what's`, `it's`; and `book's`."""

_THEME = re.compile(
    r"\b(?:main|central|overall|key|general|principal|underlying)\s+"
    r"(?:themes?|ideas?|points?|messages?|lessons?|arguments?|topics?|subjects?|claims?)\b"
    r"|\b(?:themes?|gist|summary|overview)\s+of\b|\bsummari[sz]e\b|\bwhat\s+happen(?:s|ed)\s+(?:in|on)\b"
    r"|\bwhat(?:['’]s|\s+(?:is|are|was|were|does|do))\b.{1,80}\babout\s*\??$",
    re.IGNORECASE,
)
_DEICTIC = frozenset(
    """
    passage text selection selected paragraph section sentence excerpt extract concept idea term thing part quote lines
    mean means meaning explain explanation describe description summarize summarise summary clarify interpret say says
    saying said tell point about main central key theme gist simply simple words plain please define definition
    """.split()
)
_TELLS = re.compile(
    r"\b(?:shows?|shown|covers?|covered|discuss(?:es|ed)?|contains?|presents?|deals?\s+with|stands?|written)\b", re.I
)
"""What else a chapter or page does than say."""
_TOLD_THERE = re.compile(r"\b(?:in|on|says?|said|tell|explain|describe|description|explanation)\b", re.IGNORECASE)
_ASKS_FOR_FACT = re.compile(r"\b(?:who|whom|whose|when|where|why|how\s+(?:many|much|often))\b", re.IGNORECASE)
"""Asks for something that a text must tell, though it may name nothing: `Where is he?`"""
_DEFINITION = re.compile(
    r"^(?:(?:please\s+)?(?:define|explain)\s+(?:what\s+)?|what(?:['’]s|\s+(?:is|are|was|were|does|did|do))\s+"
    r"(?:people\s+mean\s+by\s+|the\s+book\s+mean\s+by\s+|meant\s+by\s+)?|(?=(?:the\s+)?(?:definition|meaning)\s+of\s))"
    r"(?:(?:the\s+)?(?:definition|meaning)\s+of\s+(?:the\s+(?:term|word)\s+)?)?(?P<subject>.+?)"
    r"(?:\s+(?:mean|means|is|are|was|were|stands?\s+for))?\s*[?.!]*$",
    re.IGNORECASE,
)
_SAID_ABOUT = re.compile(r"what\s+(?:is|was)\s+said\s+(?:about|of|on)\s+(?P<subject>.+)", re.IGNORECASE)
_THE_BOOK = re.compile(
    r"\b(?:book|novel|e-?book|authors?|title)\b"
    r"|\bthis\s+(?:document|text|work|report|paper|guide|handbook|manual|story|play|volume)\b",
    re.IGNORECASE,
)
_THEME_WORDS = _DEICTIC | frozenset(
    """
    overall general principal underlying themes ideas points messages message lessons lesson arguments argument topics
    topic subjects subject claims claim overview happens happened talk give show write provide short brief briefly quick
    chapter page slide article essay
    """.split()
)
_BOOK = frozenset(
    """
    book novel ebook e-book document text work report paper guide handbook manual story play volume author authors
    writer
    """.split()
)
_OF_THE_BOOK = _BOOK | frozenset(
    """
    title titled name named called wrote write writes written published publish publisher publication edition year date
    end ends ending happen happens begin begins beginning
    """.split()
)
"""What can be asked of a book as a book; what its pages tell has other words."""
_QUOTES = " '\"‘’“”"
_IN_QUOTES = re.compile(r"[\"“«](.+?)[\"”»]|(?<!\w)['‘](.+?)['’](?!\w)", re.DOTALL)
_SHORTEST_QUOTE = 3
"""Words. Fewer are a name or a term, which any text may have."""
_BY_LINE = re.compile(r"\s*[:;,(]|\s+by\s|\s+[–—-]\s")
"""Where a title ends and its subtitle or its author begins."""
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)
_OWN = r"(?:the|its|their|his|her|our|your|my|(?:[\w.-]+\s+){0,3}?[\w.-]+(?:['’]s|s['’]))(?=\s)"
"""`the`, `its` or `EPA's`"""
_NO_ADJECTIVE = rf"(?:of|{'|'.join(sorted(AUXILIARIES))})"
_TO_KNOW = (
    r"(?:know|(?:tell|recogni[sz]e|notice|find\s+out|check|see|be\s+sure)\s+(?:whether|if|that|when|which|what|who))\b"
)
"""`How do I tell whether …`: a sign, and no steps."""
_HOW_TO = rf"\bhow\s+(?:to|(?:do|does|should|can|could)\s+(?:i|you|we|they|one))\b(?!\s+{_TO_KNOW})"
_NEW_IN = r"\bwhat(?:['’]s|\s+(?:is|was|were|has|been))*\s+(?:new|changed|fixed|added|removed)\s+in\s.*[0-9]\.[0-9]"
"""`What was new in 5.4?`: all that is said of a version; years have no dot."""
_LIST = re.compile(
    r"^(?:please\s+)?(?:(?:can|could|would)\s+you\s+(?:please\s+)?)?(?:list|name|enumerate)\b"
    rf"|\b(?:what|which)\s+(?:are|were)\s+{_OWN}|\b(?:steps|both)\b|\b(?:give|tell|show)\s+(?:me|us)\s+all\b"
    r"|\b(?:what|which)\s+(?:two|three|four|five|six|seven|(?:\w+\s+)?(?:kinds|types|sorts))\b"
    rf"|\b(?:what|which)\s+(?:(?!{_NO_ADJECTIVE}\b)[\w-]+\s+){{0,2}}?\w+(?<![isu])s\s+(?:do|does|can|are\s+there)\b(?!['’])"
    rf"|{_HOW_TO}|{_NEW_IN}"
    r"|\bwhat\s+(?:(?:should|must)\s+(?:i|you|we|one)|do\s+(?:i|you|we)\s+(?:have|need)\s+to)\s+do\b",
    re.IGNORECASE,
)
_STEPS = re.compile(rf"\bsteps\b|{_HOW_TO}", re.IGNORECASE)
_ONE = re.compile(
    r"\W*(?:(?:in|on|at|by|for|from|until|since|about)\s+)?(?:how\s+(?:many|much|long|often|old|far|tall|high|deep|big|large"
    r"|heavy|wide|thick|fast)\b|(?:where|who|(?:what|which)\s+(?:year|day|month|time))\b"
    r"|when\s+(?!(?:may|can|could|must|should|shall|does|do)\b))",
    re.IGNORECASE,
)
"""`When may an order be refused?` asks for conditions, of which there may be several."""
_HOW_DONE = re.compile(r"\bhow\s+(?:is|are)\s.*?(?:re)?(\w+)\W*$", re.IGNORECASE)
"""`How is the device reset?`"""
_NUMBERS = {word: n for n, word in enumerate("two three four five six seven eight nine ten".split(), 2)}
_NUMBERS |= {str(n): n for n in _NUMBERS.values()}
_COUNT = re.compile(rf"\b(?:{_OWN}|which|what)\s+({'|'.join(_NUMBERS)})\s+(.+)", re.IGNORECASE)
_STANDS_FOR = PRONOUNS | {"one", "ones", "those"}
_POINTING = _STANDS_FOR - {"here", "there", "one", "ones"}
_PERSONAL = frozenset("he him his she her hers".split())
_STANDS = re.compile(r"\b(?:(he|him|she|it|they|them)|(his|her|its|their))\b(?!['’])", re.IGNORECASE)
_SAME = {"him": "he", "his": "he", "her": "she", "its": "it", "them": "they", "their": "they"}
_ARTICLES = frozenset("the a an".split())
_DOES = frozenset("did does do".split())
_PARTICLES = frozenset("down away back apart together".split())
_TWO_OF_ONE = re.compile(
    r"(?P<asks>(?:what|which))\s+(?P<verb>is|are|was|were)\s+the\s+(?P<one>\w+(?:\s\w+)?)\s+and\s+(?P<again>the\s+)?"
    r"(?P<two>\w+(?:\s\w+)?)\s+(?P<of>of\s.+?)\s*\?*$",
    re.IGNORECASE,
)
"""`What are the height and the weight of the bell?`"""
_SHORTEST_PART = 4
"""Words. With fewer, as in `which metals, and in what proportions`, it needs the rest to be understood, …"""
_BARE = re.compile(r"(?:who|what|where|when)\s+(?P<verb>[a-z]+)\s+(?P<object>\S+)$", re.IGNORECASE)
"""… but for `Who is Dinah?` and `Who created DataLad?`"""
_AFTERTHOUGHT = re.compile(
    r"(?P<question>.+?)\s*(?:,\s*)?\band\s+(?P<piece>(?:when|where|why|how|by\s+whom|for\s+whom"
    r"|(?:in|at|on|from|to|for|under)\s+(?:what|which)\s+[a-z]+))\s*\?*$",
    re.IGNORECASE,
)
"""`Who built the mill and when?`"""
_LONGEST_NAME = 6
"""Words. A longer one cannot stand where a pronoun did."""
_LONGEST_SUBJECT = 4
"""Words. A longer one is a question about something, not a request for its definition."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a question: `text` as it stands there, `asked` with what it shares with the part before."""

    text: str
    asked: str

    @property
    def leans(self) -> bool:
        """Whether it speaks of something that an earlier part names."""
        return any(word.lower() in _STANDS_FOR for word in _WORD.findall(self.asked))

    def leans_on(self, first: Part) -> bool:
        """Whether it speaks of something that the first part names, and not of what that too calls "it"."""
        return self.leans and not self._pronouns & first._pronouns

    @property
    def _pronouns(self) -> frozenset[str]:
        """What it calls "it", "they", "he" or "she"."""
        return frozenset(_SAME.get(word, word) for word in (m[0].lower() for m in _STANDS.finditer(self.asked)))

    @property
    def means_person(self) -> bool:
        """Whether what it speaks of so is a person."""
        return any(word.lower() in _PERSONAL for word in _WORD.findall(self.asked))

    @property
    def asks_for_person(self) -> bool:
        """Whether its answer is one."""
        opening = _OPENS.match(self.asked)
        return opening is not None and opening.group(1).lower() in ("who", "whom")

    @property
    def subject(self) -> str:
        """The words that say what it is about, in their order."""
        return " ".join(word for word in _WORD.findall(self.asked) if word.lower() not in FUNCTION_WORDS)

    @property
    def person(self) -> str:
        """Whom a later part can mean by "she": a name, or else the first that is spoken of."""
        return next(iter([*_named(self.asked), *_phrases(self.asked)]), "")

    @property
    def thing(self) -> str:
        """What a later part can mean by "it": what is spoken of last."""
        return next(iter([*reversed(_phrases(self.asked)), *reversed(_named(self.asked))]), "")

    def about(self, subject: str) -> str:
        """The part with what it speaks of in place of its pronoun."""
        if len(subject.split()) <= _LONGEST_NAME and _STANDS.search(self.asked):
            return _STANDS.sub(lambda m: subject if m[1] else f"{subject}'s", self.asked, count=1)
        return f"{self.asked.rstrip(' ?')} ({subject})?"

    @property
    def wants_name(self) -> bool:
        """Whether its answer is something that a later part may go on about."""
        opening = _OPENS.match(self.asked)
        return opening is not None and opening.group(1).lower() in ("who", "whom", "what", "which")


def content(text: str) -> frozenset[str]:
    """The stems of the words that say what a text is about."""
    words = map(small, _WORD.findall(text))
    return frozenset(stem(word) for word in words if _SHORTENED.sub("", word) not in FUNCTION_WORDS)


def parts(question: str) -> list[Part]:
    """What a question asks, one thing at a time; the whole question where its pieces do not stand alone."""
    question = question.strip()
    if two := _with_afterthought(question) or _two_of_one(question):
        return two
    joint = _SERIAL if len(_SERIAL.findall(question)) > 1 and re.search(r"[,;]\s*and\s", question) else _JOINT
    pieces = [piece.strip() for piece in joint.split(question)]
    whole = all(map(_stands_alone, pieces, range(len(pieces)))) and not any(map(_EMBEDDED.search, pieces[:-1]))
    if len(pieces) < 2 or not whole:
        return [Part(question, question)]
    found: list[Part] = []
    for piece in pieces:
        found.append(_part(piece, _completed(piece, found[-1].asked if found else "")))
    return found


def _part(text: str, asked: str) -> Part:
    """A part is asked with a question mark as a question of its own is: without one the reader judges otherwise."""
    return Part(text, f"{asked.strip(' ?,;')}?")


def _stands_alone(piece: str, number: int) -> bool:
    """Whether a piece is a question; `who dug it` is one too, behind another that says what "it" is."""
    short = _is_bare(piece) or (number > 0 and _STANDS.search(piece) is not None)
    return len(piece.split()) >= _SHORTEST_PART - short and bool(content(piece))


def _two_of_one(question: str) -> list[Part]:
    """`What are the height and the weight of the bell?`: each is asked for, so that neither is left out silently."""
    match = _TWO_OF_ONE.match(question)
    if match is None:
        return []
    one, two = (match[name].lower().split() for name in ("one", "two"))
    of_one_kind = not match["again"] and len(one) != len(two)  # "the old and new gates"
    if of_one_kind or FUNCTION_WORDS & {*one, *two}:
        return []
    forms = ("was", "were") if match["verb"].lower() in ("was", "were") else ("is", "are")
    nouns = ((noun, re.search(r"[^s]s$", noun) is not None) for noun in (match["one"], match["two"]))
    pieces = [f"{match['asks']} {forms[several]} the {noun} {match['of']}" for noun, several in nouns]
    return [_part(piece, piece) for piece in pieces]


def _is_bare(piece: str) -> bool:
    match = _BARE.match(piece.rstrip(" ?"))
    if match is None or match["object"].lower() in _STANDS_FOR:
        return False
    verb = match["verb"].lower()
    return verb in AUXILIARIES or _may_be_verb(verb)


def _with_afterthought(question: str) -> list[Part]:
    """`Who built the mill and when?`: the second part asks the rest of the first again."""
    match = _AFTERTHOUGHT.match(question)
    opening = _OPENS.match(match["question"]) if match else None
    if match is None or opening is None:
        return []
    first, piece, rest = match["question"], match["piece"], match["question"][opening.end() :].strip(" ,")
    if re.search(rf"\b{_ASKING}\b", rest, re.IGNORECASE) or len(content(rest)) < 1 + (opening[1].lower() == "which"):
        return []
    return [_part(first, first), _part(piece, f"{piece} {rest}")]


def queries(question: str) -> list[str]:
    """What to search for: each part of the question, with what the first is about where it leans on that."""
    first, *others = parts(question)
    return [first.asked, *(part.about(_meant(part, first)) if part.leans_on(first) else part.asked for part in others)]


def _meant(part: Part, first: Part) -> str:
    """What a part that leans on the first speaks of."""
    return (first.person if part.means_person else first.thing) or first.subject


def _named(text: str) -> list[str]:
    return [name.text for name in names(text) if not name.opens]


def _phrases(text: str) -> list[str]:
    """What a question speaks of: an article and the words behind it, without the verb that ends them."""
    words = _WORD.findall(text)
    found: list[str] = []
    for at, word in enumerate(words):
        if word.lower() in _ARTICLES:
            end = at + 1
            while end < len(words) and words[end].lower() not in FUNCTION_WORDS:
                end += 1
            before, after = (words[n].lower() if 0 <= n < len(words) else "" for n in (at - 1, end))
            phrase = words[at:end]
            if before in _DOES and after not in AUXILIARIES and len(phrase) > 2:
                phrase = phrase[:-1]
            while before in _DOES | BE and len(phrase) > 2 and _may_be_verb(phrase[-1].lower()):
                phrase = phrase[:-1]
            if len(phrase) > 1:
                found.append(" ".join(phrase))
    return found


def _may_be_verb(word: str) -> bool:
    return word in VERB_FORMS or word in _PARTICLES or word.endswith("ed")


def _completed(piece: str, before: str) -> str:
    """`How old was he when A, and when B?`: the second half asks what the first half opens with."""
    opening = _OPENS.match(piece)
    if opening and before:
        inner = re.search(rf"(?<=\s){re.escape(opening.group(0))}\b", before, re.IGNORECASE)
        if inner:
            return before[: inner.start()] + piece
    return piece


def asks_for_theme(question: str) -> bool:
    """Whether a question asks what the book or its scope is about, and not what one thing in it is about."""
    theme = speaks_of_theme(question) and _only(without_scope(question), _THEME_WORDS | _BOOK)
    return theme or _asks_what_stands(question)


def _asks_what_stands(question: str) -> bool:
    """Whether a question asks what a place has: `What does page 23 say?` But "What is Section 230?" is of a law."""
    scope = parse_scope(question)
    asked = _TELLS.sub("say", without_scope(question))
    told = scope.type != "full-book" and (not may_be_elsewhere(scope) or _TOLD_THERE.search(asked) is not None)
    return told and points_at_text(asked)


def speaks_of_theme(question: str) -> bool:
    """Whether a question is put as one for a theme is, be it that of one thing only."""
    return _THEME.search(question) is not None


def theme_of(title: str, question: str) -> str | None:
    """A question for the theme of the book with this title, put so that it names "the book"; else None."""
    name = _BY_LINE.split(title.strip(), maxsplit=1)[0].strip()
    if not re.search(r"\w\w", name):
        return None
    words = r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", name)))
    asked = re.sub(
        rf"(?:\bthe\s+)?[{_QUOTES}_*]{{0,8}}\b{words}\b[{_QUOTES}_*]{{0,8}}",
        " the book ",
        question,
        flags=re.IGNORECASE,
    )
    return " ".join(asked.split()) if asked != question and asks_for_theme(asked) else None


def points_at_text(question: str) -> bool:
    """Whether a question asks for nothing but the text in front of the reader: `Explain this concept`."""
    asks_what = re.search(r"\bwhat\b", question, re.IGNORECASE) or not _only(question, frozenset())
    return bool(asks_what) and _only(question, _DEICTIC) and not _ASKS_FOR_FACT.search(question)


def spoken_of(question: str) -> frozenset[str]:
    """Stems of `the drop` of `What is said about the drop?`: a passage without any of them says nothing about it."""
    match = _SAID_ABOUT.match(question)
    return content(match["subject"]) if match else frozenset()


def quoted(question: str) -> list[str]:
    """What a question says in the words of a text: `We're all mad here` of `Who says "We're all mad here"?`"""
    found = ((one[1] or one[2]).strip(" .,;:!?") for one in _IN_QUOTES.finditer(question))
    return [words for words in found if len(words.split()) >= _SHORTEST_QUOTE]


def asks_about_book(question: str) -> bool:
    """Whether a question speaks of nothing but the book itself: `Who wrote this book?`"""
    return _THE_BOOK.search(question) is not None and _only(question, _OF_THE_BOOK)


def names_nothing(question: str) -> bool:
    """Whether a question speaks of nothing but "this", "it" or "him", so that the book cannot tell what is meant."""
    words = {word.lower() for word in _WORD.findall(question)}
    return bool(words & _POINTING) and _only(question, _DEICTIC) and not asks_for_theme(question)


def _only(question: str, words: frozenset[str]) -> bool:
    """Whether a question has no words but these, and such as say nothing by themselves."""
    said = (_SHORTENED.sub("", word.lower()) for word in _WORD.findall(question))
    return all(word in words or word in FUNCTION_WORDS for word in said)


def asks_for_list(question: str) -> bool:
    """Whether an answer may have several members, or steps."""
    done = _HOW_DONE.search(question)
    return _LIST.search(question) is not None or (done is not None and _may_be_verb(done[1].lower()))


def asks_for_steps(question: str) -> bool:
    """Whether a question wants to know how something is done, from beginning to end."""
    return _STEPS.search(question) is not None


def asks_for_one(question: str) -> bool:
    """Whether a question wants one thing: a number, a time, a place, a person."""
    return _ONE.match(question) is not None and not asks_for_list(question)


def asked_count(question: str) -> tuple[int, frozenset[str]]:
    """How many things a question wants listed, and the words for them: 4 of `What are the four principles?`; or 0."""
    match = _COUNT.search(question) if asks_for_list(question) else None
    if match is None:
        return 0, frozenset()
    counted = takewhile(lambda word: word.lower() not in FUNCTION_WORDS, _WORD.findall(match[2]))
    return _NUMBERS[match[1].lower()], content(" ".join(counted))


def content_asked(question: str) -> frozenset[str]:
    """The stems of what is asked for; of a definition, what is to be defined."""
    return content(defined_subject(question) or question)


def defined_subject(question: str) -> str | None:
    """`foliot` of `What is a foliot?`; None where no definition is asked for."""
    match = _DEFINITION.match(question.strip())
    subject = _ARTICLE.sub("", match.group("subject").strip(_QUOTES)) if match else ""
    return subject if 0 < len(subject.split()) <= _LONGEST_SUBJECT else None
