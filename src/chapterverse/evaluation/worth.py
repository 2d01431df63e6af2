"""What an answer is worth: is it the gold answer, does it quote the gold places, is it right?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from textwrap import shorten

from chapterverse.evaluation.questions import Question
from chapterverse.evaluation.run import Case, Gold, Outcome

_WORD = re.compile(
    r"(?<![\w.)-])[-−]?\d+(?:[.,:/–-]\d+)*[^\W\d_]*"  # a number whole: 3.5 is no 35, 10–12 no 12
    r"|[^\W\d](?:\.[^\W\d])+(?!\w)"  # U.S.
    r"|[^\W_]+(?:[’'‐‑-][^\W_]+)*"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_JOINTS = str.maketrans(dict.fromkeys(".’'‐‑-", ""))
_DASHES = str.maketrans("–−‐‑", "----")
_ARTICLES = frozenset(("a", "an", "the"))
_BEGINS = re.compile(r"(?:^|[.!?:;\n“\"‘(])\W*$")


_MANY = 5
"""A sentence may stand in a book and in its summary; what stands in more places than this is hardly one."""


def words(text: str) -> list[str]:
    """Words as they are compared: without case, punctuation and articles.

    Numbers are left whole, dashes and slashes part words, and the A of Vitamin A is no article.
    """
    found = list(_WORD.finditer(text))
    telling = [one for one in found if one[0].lower() not in _ARTICLES or _is_name(one, text)]
    return [_plain(one[0]) for one in telling or found]


def _is_name(found: re.Match[str], text: str) -> bool:
    return found[0] == "A" and not _BEGINS.search(text[: found.start()])


def _plain(word: str) -> str:
    if any(sign.isdigit() for sign in word):
        return _THOUSANDS.sub("", word).translate(_DASHES).lower()
    return word.translate(_JOINTS).lower()


def exact(question: Question, outcome: Outcome) -> bool:
    """Whether the gold answer stands in the answer, word for word; an answer that quotes holds more than that."""
    said = f" {' '.join(words(_told(outcome)))} "
    return any(f" {' '.join(words(gold))} " in said for gold in question.answers)


def token_f1(question: Question, outcome: Outcome) -> float:
    """The best overlap of the answer's words with a gold answer or the gold quotes."""
    said = Counter(words(_told(outcome)))
    golds = [Counter(words(gold)) for gold in (*question.answers, " ".join(question.quotes)) if words(gold)]
    return max((2 * (said & gold).total() / (said.total() + gold.total()) for gold in golds), default=0.0)


def _told(outcome: Outcome) -> str:
    """What is said of the book: a notice of what was not found has the question's words."""
    return "\n".join(one.text for one in outcome.sentences if one.kind != "notice")


def cited_gold(case: Case, outcome: Outcome) -> float:
    """The share of the gold quotes that are cited, each at any of its places."""
    places = by_quote(case)
    return sum(any(one.meets(gold) for gold in same for one in outcome.citations) for same in places) / len(places)


def by_quote(case: Case) -> list[list[Gold]]:
    """The gold places, those of the same quote together."""
    found: dict[int, list[Gold]] = {}
    for n, one in enumerate(case.gold):
        found.setdefault(-1 - n if one.of is None else one.of, []).append(one)
    return list(found.values())


def judged(case: Case) -> bool:
    """Whether there is something to tell right from wrong by: quotes that are not in the book are nothing."""
    return not case.question.has_answer or bool(case.question.answers or (case.question.quotes and case.gold))


def right(case: Case, outcome: Outcome) -> bool:
    """An answer is right if the question has one, and it quotes a gold quote or says the gold answer.

    To stand in the right section is not enough.
    """
    if outcome.refused or not case.question.has_answer:
        return False
    quoted = bool(case.question.quotes and case.gold) and cited_gold(case, outcome) > 0
    return quoted or exact(case.question, outcome)


def wrong(case: Case) -> bool:
    """An answer that should have been another or a refusal, or a refusal that should have been an answer."""
    if case.outcome is None:
        return True
    if case.outcome.refused:
        return case.question.has_answer
    return judged(case) and not right(case, case.outcome)


def unsupported(case: Case) -> bool:
    return case.outcome is not None and any(said.verdict == "unsupported" for said in case.outcome.sentences)


def doubts(case: Case) -> Iterator[str]:
    """What is odd about a question's quotes and sections: those that are nowhere, and those that are everywhere."""
    where = "its selection" if case.question.selection is not None else "the books of this index"
    for name in case.lost:
        told = "" if judged(case) else "; as there is no other, what is answered counts neither as right nor as wrong"
        yield f"{_short(name)} is not in {where}{told}"
    for same in by_quote(case):
        if case.question.quotes and len(same) > _MANY and (of := same[0].of) is not None:
            yield f"{_short(case.question.quotes[of])} stands in {len(same)} places, each of which counts as proof"


def _short(text: str) -> str:
    return f"“{shorten(text, 60, placeholder=' …')}”"
