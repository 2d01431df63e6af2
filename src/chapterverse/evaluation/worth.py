"""What an answer is worth: is it the gold answer, does it quote the gold places, is it right?"""

from __future__ import annotations

import re
from collections import Counter

from chapterverse.evaluation.questions import Question
from chapterverse.evaluation.run import Case, Outcome


def words(text: str) -> list[str]:
    """Words as they are compared: without case, punctuation and articles."""
    return re.sub(r"\b(a|an|the)\b", " ", re.sub(r"[^\w\s]", "", text.lower())).split()


def exact(question: Question, outcome: Outcome) -> bool:
    """Whether the gold answer stands in the answer, word for word; an answer that quotes holds more than that."""
    said = f" {' '.join(words(outcome.text))} "
    return any(f" {' '.join(words(gold))} " in said for gold in question.answers if words(gold))


def token_f1(question: Question, outcome: Outcome) -> float:
    """The best overlap of the answer's words with a gold answer or the gold quotes."""
    said = Counter(words(outcome.text))
    golds = [Counter(words(gold)) for gold in (*question.answers, " ".join(question.quotes)) if words(gold)]
    return max((2 * (said & gold).total() / (said.total() + gold.total()) for gold in golds), default=0.0)


def cited_gold(case: Case, outcome: Outcome) -> float:
    """The share of gold places that are cited."""
    return sum(any(one.meets(gold) for one in outcome.citations) for gold in case.gold) / len(case.gold)


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
    return not right(case, case.outcome)


def unsupported(case: Case) -> bool:
    return case.outcome is not None and any(said.verdict == "unsupported" for said in case.outcome.sentences)
