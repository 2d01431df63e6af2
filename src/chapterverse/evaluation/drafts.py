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
from functools import cached_property, partial

from chapterverse.errors import AstRagValidationError
from chapterverse.evaluation import questions, sentences
from chapterverse.evaluation.questions import Question
from chapterverse.ingest.books import sample_book
from chapterverse.ingest.read import LICENCE
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
_FEW = 3
"""A single word is a name if it stands within sentences so often, and never in small letters."""
_SAME = 5
"""How many questions may have one name for an answer: a hero does most of what is done in a book."""
_ROUNDS = 2
"""How often a question may have its name exchanged, each time for another."""
_BY_NAME = "cloze, name"
_AT = re.compile(r"\b(?:in|at|near|from|to|towards?) (?:the )?$")
_THE = re.compile(r"\b[Tt]he $")
_BEFORE = 12
"""Characters before a name that tell what sort of thing it is of."""


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
        return frozenset(word for text in self.paragraphs for word in sentences.content(text))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names that stand within sentences, of two words or more twice at least, the frequent ones first."""
        inside = (
            re.sub(r"[’']s?$", "", match[1])
            for text in self.paragraphs
            for match in re.finditer(rf"(?<=[a-z,] )({sentences.NAME})", text)
        )
        counted = Counter(name for name in inside if not name.isupper())
        return tuple(name for name, count in counted.most_common() if self._is_name(name, count))

    def _is_name(self, name: str, count: int) -> bool:
        """Whether a word or more with capitals name somebody or something; `English` and `March` do nothing."""
        if " " in name or count < _FEW or name.lower() in self.small:
            return " " in name and count > 1
        return sum(bool(sentences.DOES.match(self._text, at + len(name))) for at in self._places(name)) > 1

    def _places(self, name: str) -> list[int]:
        return [one.start() for one in re.finditer(rf"{re.escape(name)}\b", self._text)]

    @cached_property
    def _text(self) -> str:
        return "\n".join(self.paragraphs)

    @cached_property
    def small(self) -> frozenset[str]:
        """Words that stand in small letters somewhere."""
        return frozenset(word for text in self.paragraphs for word in re.findall(r"\b[a-z][\w’'-]*", text))

    @cached_property
    def _sorts(self) -> dict[str, tuple[bool, bool]]:
        """What sort of thing each name is of, as far as its company tells: a place or not, with an article or not."""
        sorts = {}
        for name in self.names:
            before = [self._text[max(0, at - _BEFORE) : at] for at in self._places(name)]
            places, articles = (sum(bool(sort.search(one)) for one in before) for sort in (_AT, _THE))
            sorts[name] = (3 * places >= len(before), 2 * articles >= len(before))
        return sorts

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Every sentence that stands once and names what it speaks of, with the heading above it."""
        found: list[tuple[str, str]] = []
        for document in self._documents:
            for block in document.blocks:
                if block.kind == "paragraph" and block.headings != LICENCE:
                    for start, end in block_sentences(document.text, block):
                        section = block.headings[-1] if block.headings else ""
                        if not sentences.in_speech(document.text[block.start : start]):
                            found.append((" ".join(document.text[start:end].split()), section))
        counted = Counter(sentence for sentence, _ in found)
        for sentence, section in found:
            if len(sentence) in _LENGTHS and sentences.stands_alone(sentence) and counted[sentence] == 1:
                yield sentence, section

    def drafts(self) -> list[_Draft]:
        """At most one question of every sentence, none twice, and few with the same name for an answer."""
        made: dict[str, _Draft] = {}
        named: Counter[str] = Counter()
        for sentence, section in self.sentences():
            for one in self._asked(sentence, section):
                often = one.note == _BY_NAME and named[one.answer] == _SAME
                if not often and made.setdefault(one.question.casefold(), one) is one:
                    named[one.answer] += 1
                    break
        return list(made.values())

    def _asked(self, sentence: str, section: str) -> Iterator[_Draft]:
        within: sentences.Within = partial(sentences.within_sentence, small=self.small)
        if (found := sentences.DEFINITION.fullmatch(sentence)) and sentences.defines(found):
            term = within(f"{found['article'] or ''}{found['term']}")
            yield _Draft("definition", f"What {found['verb']} {term}?", found["answer"], sentence, section)
        if (found := sentences.YEAR.search(sentence)) and (question := sentences.asked_when(found, within)):
            yield _Draft("cloze, year", question, found["answer"], sentence, section)
        found = next(filter(sentences.counts, sentences.COUNT.finditer(sentence)), None)
        if found and (question := sentences.asked_how_many(found)):
            yield _Draft("cloze, number", question, f"{found['answer']} {found['things']}", sentence, section)
        found = sentences.DOER.fullmatch(sentence)
        if found and found["answer"] in self.names and (question := sentences.asked_who(found)):
            yield _Draft(_BY_NAME, question, found["answer"], sentence, section)

    def strange(self, question: str) -> bool:
        """Whether a question is hardly in the words of this book."""
        asked = sentences.content(question)
        return bool(asked) and len(asked & self.vocabulary) < _STRANGE * len(asked)

    def exchanged(self, draft: _Draft, rng: random.Random) -> str | None:
        """The question about somebody or something else of the book, of whom no paragraph says the like."""
        asked_of = [name for name in self.names if sentences.stands_for_itself(name, draft.question)]
        if not asked_of:
            return None
        named, said = max(asked_of, key=len), set(draft.quote.split())
        others = [one for one in self.names if not set(one.split()) & said and self._sorts[one] == self._sorts[named]]
        for other in rng.sample(others, min(len(others), 5)):
            question = draft.question.replace(named, other)
            asked = sentences.content(question) - sentences.content(other)
            near = (sentences.content(text) for text in self.paragraphs if other in text)
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
    swapped = (book.exchanged(one, rng) for _ in range(_ROUNDS) for one in rng.sample(drafts, len(drafts)))
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
