"""The gate for plain text: a response that somebody else wrote, held against the content that it must rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from chapterverse.answer import marks, prompts
from chapterverse.answer.evidence import find, units
from chapterverse.answer.gate import DEFAULT, Limits, Passed, check
from chapterverse.answer.parse import parse
from chapterverse.answer.validate import Excerpt, Sentences
from chapterverse.answer.validate import Passage as PassageLike
from chapterverse.protocols import Reader
from chapterverse.types import DraftSentence, Issue


@dataclass(frozen=True, slots=True)
class ResponseCheck:
    """Whether a response is grounded, and what is wrong with it where it is not."""

    is_valid: bool
    issues: tuple[Issue, ...]
    sentences: tuple[Passed, ...] = field(default=(), repr=False)
    """What passed, with offsets in the content that was given."""

    def as_dict(self) -> dict[str, Any]:
        """The contract's dictionary."""
        return {"is_valid": self.is_valid, "issues": [asdict(issue) for issue in self.issues]}


def validate_response(
    response: str, content: Sequence[PassageLike | str], reader: Reader, sentences: Sentences, limits: Limits = DEFAULT
) -> ResponseCheck:
    """The gate for plain text: `[Sn]` says what a sentence cites; one without a mark may rest on any of the content."""
    passages = [Excerpt(f"S{n}", item if isinstance(item, str) else item.text) for n, item in enumerate(content, 1)]
    draft = [_aligned(response[start:end], passages, sentences) for start, end in marks.sentences(response, sentences)]
    gated = check(draft, passages, reader, sentences, limits)
    empty = () if draft else (Issue("empty", "The response is empty."),)
    return ResponseCheck(bool(draft) and not gated.issues, (*empty, *gated.issues), gated.sentences)


def _aligned(text: str, passages: Sequence[PassageLike], sentences: Sentences) -> DraftSentence:
    """A sentence with the quote of the content that is nearest to it."""
    cited, bare = marks.keys(text), marks.without(text)
    if prompts.is_notice(bare):
        return DraftSentence(bare, kind="notice")
    chosen = [p for p in passages if p.id in cited] or ([] if cited else list(passages))
    if exact := next((p for p in chosen if find(bare, p.text)), None):
        return DraftSentence(bare, (exact.id, *(m for m in cited if m != exact.id)), bare, "quote")
    best = max(
        ((p, span) for p in chosen for span in _windows(units(p.text, sentences))),
        key=lambda place: _likeness(bare, place[0].text[slice(*place[1])]),
        default=None,
    )
    if best is None:
        return DraftSentence(bare, cited)
    passage, span = best
    return DraftSentence(bare, (passage.id, *(m for m in cited if m != passage.id)), passage.text[slice(*span)])


def _windows(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Single sentences and pairs of neighbours, for a claim may merge two."""
    yield from spans
    for first, second in pairwise(spans):
        yield first[0], second[1]


def _likeness(claim: str, text: str) -> float:
    """The words that they share, less a little for every word that the text has besides."""
    ours, theirs = parse(claim), parse(text)
    shared = {t.key for t in ours.terms} & {t.key for t in theirs.terms}
    return len(shared) - 0.01 * len(theirs.tokens)
