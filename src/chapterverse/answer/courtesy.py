"""Courtesy: what a question has around it that asks for nothing (`Could you tell me …, please?`).

A book has none of these words, so that with them a question is further from the passage that answers it, and an
indirect one (`… who the founder was`) has another form than those that the rules and the reader know.
"""

from __future__ import annotations

import re

from chapterverse.answer.wording import AUXILIARIES

_ASKING = r"(?:(?:in|at|of|to|from|by|for|with|on)\s+)?(?:who|whom|whose|what|which|when|where|why|how)\b"
_BIDS = r"(?:explain|define|describe|list|name|summari[sz]e|compare|give|show|tell)\b"
_PLEASE = r"(?:please|kindly|possibly)"
_GREETING = re.compile(
    r"(?:hi|hello|hey|good\s+(?:morning|afternoon|evening)|excuse\s+me|sorry)(?:\s+there)?\s*[,.!:]+\s*", re.IGNORECASE
)
_CALL = re.compile(rf"(?:can|could|would|will)\s+you\s+(?:{_PLEASE}\s+)?help(?:\s+me)?\s*[,.!:?]+\s*", re.IGNORECASE)
_LEAD = re.compile(
    rf"(?:{_PLEASE},?\s+)?(?:"
    rf"(?:(?:can|could|would|will)\s+you\s+(?:{_PLEASE}\s+)?)?(?:tell\s+me|explain\s+to\s+(?:me|us)|let\s+me\s+know)"
    rf"|(?:can|could|would|will)\s+you\s+(?:{_PLEASE}\s+)?(?:say|explain|tell\s+us)"
    r"|do\s+you\s+(?:happen\s+to\s+)?know|(?:can|could|may)\s+i\s+(?:ask|know)"
    r"|i(?:['’]d|\s+would)\s+(?:really\s+)?(?:like|love)\s+to\s+know|i\s+(?:want|need)\s+to\s+know"
    r"|i\s+wonder|i(?:['’]m|\s+(?:am|was))\s+(?:just\s+)?wondering"
    rf")(?:,?\s+{_PLEASE})?\s*[,:]?\s+(?={_ASKING})",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    rf"(?:(?:please,?\s+)?(?:can|could|would|will)\s+you\s+(?:{_PLEASE}\s+)?(?={_BIDS})|please,?\s+(?={_ASKING}))",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\s*(?:[,;]\s*please|[,;.!?]\s*(?:many\s+)?thank(?:s|\s+you)(?:\s+(?:a\s+lot|(?:very|so)\s+much|in\s+advance))*)"
    r"\s*[.!?]*$",
    re.IGNORECASE,
)
"""Only behind a stop or a comma: a word may please, and a book may thank somebody."""
_INDIRECT = re.compile(
    rf"(?P<asks>(?:who|what|where|when|which|how)(?:\s+(?!{'|'.join(sorted(AUXILIARIES))})[a-z]+)??)\s+"
    r"(?P<subject>(?:(?:the|an?|this|that|these|those|his|her|its|their|my|our|your)\s|(?-i:[A-Z])).*?|\w+)\s+"
    r"(?P<be>is|are|was|were)$",
    re.IGNORECASE,
)
"""`who the founder was`, `how heavy the bell is`"""


def without_courtesy(question: str) -> str:
    """What is asked, word for word but for the order of `who the founder was`; nothing else of it changes."""
    plain = _CALL.sub("", _GREETING.sub("", question.strip(), count=1), count=1)
    while (thanked := _THANKS.search(plain)) and thanked.start():
        plain = plain[: thanked.start()] + ("?" if "?" in thanked[0] else "")
    lead = _LEAD.match(plain)
    if lead is None:
        plain = _REQUEST.sub("", plain, count=1) if _REQUEST.match(plain) else plain
        return plain if any(map(str.isalnum, plain)) else question
    return f"{_direct(plain[lead.end() :].rstrip(' .!?'))}?"


def _direct(asked: str) -> str:
    """An indirect question in the order of a direct one, where its verb is at its end."""
    match = _INDIRECT.fullmatch(asked)
    if match is None or any(word in AUXILIARIES for word in match["subject"].lower().split()):
        return asked
    return f"{match['asks']} {match['be']} {match['subject']}"
