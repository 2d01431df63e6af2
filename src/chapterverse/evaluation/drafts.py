"""Drafting questions from a user's own books, offline, so that nobody has to begin with an empty page.

What the book answers comes from sentences that hold one fact each: a definition, a year, a number, a name that does
something. What it does not answer comes from the same questions with a name exchanged, and from other books. No model
takes part, so that the questions do not favour what ours is good at. Patterns err: the drafts are marked as
machine-made and are there to be read, mended and added to.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation import questions
from chapterverse.evaluation.questions import Question
from chapterverse.index.lexical import FUNCTION_WORDS
from chapterverse.ingest.books import sample_book
from chapterverse.ingest.sentences import block_sentences
from chapterverse.library import Library
from chapterverse.types import Document

MADE = "machine"
_LENGTHS = range(40, 261)
"""Characters of a sentence that is worth asking about."""
_STRANGE = 0.5
"""A question of another book shares less than this of its words with the book."""
_RELATED = 0.6
"""A paragraph with so many of a question's words might answer it."""

_NAME = r"[A-Z][\w’'-]+(?: (?:of |the |de |von |van )?[A-Z][\w’'-]+){0,3}"
_NUMBER = (
    r"\d(?:[\d,]*\d)?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|"
    r"eighty|ninety|a hundred"
)
_DOES = r"was|were|had|is|has|wrote|made|built|gave|took|became|found|kept|said|brought|told|left|held|\w{3,}ed"
_DEFINITION = re.compile(
    r"(?P<article>(?:The|An?) )?(?P<term>[\w’'-]+(?: [\w’'-]+){0,2}) (?P<verb>is|are) (?P<answer>(?:an?|the|any) .+)\."
)
_YEAR = re.compile(r"\bin (?P<answer>1[0-9]{3}|20[0-9]{2})\b")
_COUNT = re.compile(rf"(?<![\w.-])(?<!or )(?P<answer>{_NUMBER}) (?P<things>[a-z]{{3,}}s)\b(?! and)")
_YEAR_ALONE = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_NUMBERED = frozenset("section article chapter part title figure table page appendix volume step phase rule".split())
"""Nouns whose number is a name, not a count."""
_DOER = re.compile(rf"(?P<answer>{_NAME}) (?P<rest>(?:{_DOES}) .+)\.")
_TELLING = 3
"""A gap stands among at least so many words of meaning: "over the next how many years?" may ask of anything."""
_POINTING = frozenset(
    "it its this that these those there he she they his her their we you i what which who here such one".split()
)
"""Words that mean nothing without the sentence before."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A question made of one sentence."""

    note: str
    question: str
    answer: str
    quote: str
    section: str


class _Book:
    """The sentences and words of everything in an index."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self.paragraphs = [
            document.text[block.start : block.end]
            for document in documents
            for block in document.blocks
            if block.kind == "paragraph"
        ]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(word for text in self.paragraphs for word in _content(text))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of two words or more that stand within sentences twice or more, the frequent ones first."""
        inside = (
            re.sub(r"[’']s?$", "", match[1])
            for text in self.paragraphs
            for match in re.finditer(rf"(?<=[a-z,] )({_NAME})", text)
        )
        counted = Counter(name for name in inside if " " in name and not name.isupper())
        return tuple(name for name, count in counted.most_common() if count > 1)

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Every sentence that stands once and names what it speaks of, with the heading above it."""
        found: list[tuple[str, str]] = []
        for document in self._documents:
            for block in document.blocks:
                if block.kind == "paragraph":
                    for start, end in block_sentences(document.text, block):
                        section = block.headings[-1] if block.headings else ""
                        found.append((" ".join(document.text[start:end].split()), section))
        counted = Counter(sentence for sentence, _ in found)
        for sentence, section in found:
            alone = sentence[0].isupper() and sentence.split()[0].lower() not in _POINTING
            if len(sentence) in _LENGTHS and alone and counted[sentence] == 1:
                yield sentence, section

    def drafts(self) -> list[_Draft]:
        """At most one question of every sentence, and none twice."""
        made: dict[str, _Draft] = {}
        for sentence, section in self.sentences():
            for one in self._asked(sentence, section):
                if made.setdefault(one.question.casefold(), one) is one:
                    break
        return list(made.values())

    def _asked(self, sentence: str, section: str) -> Iterator[_Draft]:
        if (found := _DEFINITION.fullmatch(sentence)) and _is_term(found["term"]):
            term = f"{(found['article'] or '').lower()}{found['term']}"
            yield _Draft("definition", f"What {found['verb']} {term}?", found["answer"], sentence, section)
        if (found := _YEAR.search(sentence)) and (question := _gap(found, "in which year")):
            yield _Draft("cloze, year", question, found["answer"], sentence, section)
        found = next(filter(_is_count, _COUNT.finditer(sentence)), None)
        if found and (question := _gap(found, f"how many {found['things']}")):
            yield _Draft("cloze, number", question, f"{found['answer']} {found['things']}", sentence, section)
        if (found := _DOER.fullmatch(sentence)) and found["answer"] in self.names:
            yield _Draft("cloze, name", f"Who or what {found['rest']}?", found["answer"], sentence, section)

    def strange(self, question: str) -> bool:
        """Whether a question is hardly in the words of this book."""
        asked = _content(question)
        return bool(asked) and len(asked & self.vocabulary) < _STRANGE * len(asked)

    def exchanged(self, draft: _Draft, rng: random.Random) -> str | None:
        """The question about somebody or something else of the book, of whom no paragraph says the like."""
        named = next((name for name in self.names if name in draft.question), None)
        if named is None:
            return None
        others = [name for name in self.names if not set(name.split()) & set(draft.quote.split())]
        for other in rng.sample(others, min(len(others), 5)):
            question = draft.question.replace(named, other)
            asked = _content(question) - _content(other)
            near = (_content(text) for text in self.paragraphs if other in text)
            if all(len(asked & words) < _RELATED * len(asked) for words in near):
                return question
        return None


def draft(library: Library, index: str | None = None, count: int = 60) -> list[Question]:
    """About `count` questions: half answered by the books, at most a quarter related but absent, the rest strange."""
    if count < 4:
        raise AstRagValidationError(f"The count is {count}; at least 4 questions are drafted.")
    sources = library.inspect(index).sources
    book = _Book([library.document(source.file_id, index) for source in sources])
    rng = random.Random(0)
    drafts = book.drafts()
    chosen = _spread(drafts, count // 2, rng)
    if not chosen:
        raise AstRagValidationError(
            "No sentence of these books fits the patterns that questions are drafted by; write some by hand."
        )
    swapped = (book.exchanged(one, rng) for one in rng.sample(drafts, len(drafts)))
    absent = list(dict.fromkeys(question for question in swapped if question))[: count // 4]
    strange = [question for question in _of_other_books() if book.strange(question)]
    # Where few names can be exchanged, strange ones stand in, so that as many are to be refused as answered.
    strange = rng.sample(strange, min(len(strange), len(chosen) - len(absent)))
    return [
        *(_question(f"d{n:03}", one) for n, one in enumerate(chosen, 1)),
        *(_unanswered(f"x{n:03}", "absent", one) for n, one in enumerate(absent, 1)),
        *(_unanswered(f"o{n:03}", "out_of_scope", one) for n, one in enumerate(strange, 1)),
    ]


def _of_other_books() -> list[str]:
    asked = questions.load(sample_book().parent / "questions.jsonl")
    return [one.question for one in asked if one.kind in ("answerable", "out_of_scope")]


def _spread(drafts: Sequence[_Draft], count: int, rng: random.Random) -> list[_Draft]:
    """Some of each kind, from all over the book, in its order."""
    kinds: dict[str, list[int]] = {}
    for place, one in enumerate(drafts):
        kinds.setdefault(one.note, []).append(place)
    pools = [rng.sample(places, len(places)) for places in kinds.values()]
    taken: list[int] = []
    while len(taken) < count and any(pools):
        taken += [pool.pop() for pool in pools if pool]
    return [drafts[place] for place in sorted(taken[:count])]


def _question(key: str, one: _Draft) -> Question:
    section = [one.section] if one.section else []
    return Question(
        id=key, kind="answerable", question=one.question, answer=one.answer, quotes=[one.quote], section=section,
        note=one.note, made=MADE,
    )  # fmt: skip


def _unanswered(key: str, kind: questions.Kind, question: str) -> Question:
    return Question(id=key, kind=kind, question=question, made=MADE)


def _gap(found: re.Match[str], gap: str) -> str | None:
    """The clause around a match as a question, with a gap where the answer was; None where it asks of nothing."""
    before = re.split(r"[;:] ", found.string[: found.start()])[-1]
    after = re.split(r"[,;:.]", found.string[found.end() :])[0]
    if len(_content(f"{before} {after}")) < _TELLING:
        return None
    return f"{before[:1].upper()}{before[1:]}{gap}{after}?"


def _is_count(found: re.Match[str]) -> bool:
    """Whether a number counts things: it does not in "Section 309 reviews", "E.O. 14008 directs", "the 1990 rules"."""
    before = found.string[: found.start()].split()[-1:] or [""]
    named = before[0].lower() in _NUMBERED or (before[0][:1].isupper() and before[0].lower() not in FUNCTION_WORDS)
    return not (found["answer"][0].isdigit() and (named or _YEAR_ALONE.fullmatch(found["answer"])))


def _is_term(term: str) -> bool:
    words = term.lower().split()
    return words[0] not in _POINTING and words[-1] not in FUNCTION_WORDS


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"\w+", text.lower()) if word not in FUNCTION_WORDS)
