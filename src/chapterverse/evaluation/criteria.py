"""The success criteria SC-001 to SC-010, measured on an index and its question set. They are the release gate.

SC-002 and SC-008 ask for human raters. Proxies stand in for them, stated with each, until there are sheets that people
have filled in (`ratings`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from chapterverse.answer.prompts import NOT_IN_BOOK, NOT_IN_SELECTION
from chapterverse.answer.questions import asks_for_list, asks_for_theme, parts
from chapterverse.errors import AstRagError
from chapterverse.evaluation.faults import Failing, Touched, Untouchable
from chapterverse.evaluation.questions import Question
from chapterverse.evaluation.ratings import UNRATED, Ratings
from chapterverse.evaluation.run import PATIENCE, Case, Outcome, Run, run
from chapterverse.evaluation.worth import right
from chapterverse.index.server import ServerStore
from chapterverse.library import Generation, Library
from chapterverse.library.parts import open_reader, open_store
from chapterverse.settings import Settings
from chapterverse.types import Answer

Opener = Callable[..., Library]
"""Makes a library of settings and parts, as `Library` does."""

Answered = Sequence[tuple[Case, Outcome]]

PATIENT = Generation(seconds=PATIENCE)
SECONDS = 5.0
ACCURATE = 0.95
CLEAR = 4.0
_REPEATED = 12
"""How many questions are asked again, elsewhere and in another order."""
_FOLLOW_UP = "And where did he go after that?"
_NOBODY = "http://127.0.0.1:9"
"""An address where no store answers."""
_LONG = 60
"""Words of a sentence that is hard to follow."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One success criterion: what it asks for, what was found, and whether that is enough."""

    id: str
    demand: str
    found: str
    met: bool
    proxy: str = ""
    """What stands in for human raters."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many questions there must be for the criteria to mean what they say."""

    questions: int = 100
    in_scope: int = 25
    out_of_scope: int = 25


FULL = Sizes()


def check(
    home: Path,
    questions: Sequence[Question],
    *,
    index: str | None = None,
    library: Opener = Library,
    sizes: Sizes = FULL,
    rated: Ratings = UNRATED,
    progress: Callable[[Question], None] | None = None,
) -> tuple[list[Criterion], Run]:
    """Measure all ten on the index in `home`; every library is made by `library`, so that a broken one can be tried.

    Where there are ratings, they decide SC-002 and SC-008.
    """
    settings = Settings(home=home)
    with library(settings) as opened:
        measured = rated.of(run(opened, questions, index, curve=False, progress=progress))
    probes = _Probes(settings, index, library, measured)
    criteria = [*_of_run(measured, sizes), probes.selections(), probes.memory(), probes.failures()]
    return sorted(criteria, key=lambda one: one.id), measured


def _of_run(measured: Run, sizes: Sizes) -> Iterator[Criterion]:
    """Those that a run shows by itself."""
    answered = [(case, case.outcome) for case in measured.cases if case.outcome and not case.outcome.refused]
    outcomes = [outcome for _, outcome in answered]
    yield _time(measured)
    yield _accuracy(answered)
    yield _support(measured, sizes)
    yield _scope(measured, sizes)
    yield _all("SC-006", "all answers name their sources", map(_has_sources, outcomes))
    yield _all("SC-007", "all answers bring the passages they rest on", map(_has_passages, outcomes))
    yield _clarity(answered)


def _time(measured: Run) -> Criterion:
    took = [case.outcome.seconds for case in measured.cases if case.outcome]
    slowest, lost = max(took, default=PATIENCE), len(measured.cases) - len(took)
    found = f"slowest {slowest:.2f} s of {len(took)}, {lost} failed"
    return Criterion("SC-001", "answers in under 5 seconds", found, slowest < SECONDS and not lost)


def _accuracy(answered: Answered) -> Criterion:
    demand = "95 % of answers accurate and relevant"
    votes = [case.rating.accurate for case, _ in answered if case.rating and case.rating.accurate is not None]
    if votes:
        good = sum(vote > 0.5 for vote in votes)
        met = len(votes) == len(answered) and good >= ACCURATE * len(votes)
        return Criterion("SC-002", demand, f"{good} of {len(votes)}{_rated_by(answered, len(votes))}", met)
    good = sum(right(case, outcome) for case, outcome in answered)
    proxy = (
        "an answer counts as accurate and relevant if it quotes a sentence that was marked as the answer, or says the"
        " marked answer; needs people: rate the sheet"
    )
    met = bool(answered) and good >= ACCURATE * len(answered)
    return Criterion("SC-002", demand, f"{good} of {len(answered)}", met, proxy)


def _rated_by(answered: Answered, count: int) -> str:
    """Who says so, and of how many answers nobody does."""
    raters = max(case.rating.raters for case, _ in answered if case.rating)
    left = f"; {len(answered) - count} not rated" if count < len(answered) else ""
    return f", by {raters} rater{'s' if raters > 1 else ''}{left}"


def _support(measured: Run, sizes: Sizes) -> Criterion:
    outcomes = [case.outcome for case in measured.cases if case.outcome]
    verdicts = [sentence.verdict for one in outcomes for sentence in one.sentences]
    bad = sum(verdict != "supported" for verdict in verdicts)
    found = f"{bad} of {len(verdicts)} sentences, {len(outcomes)} questions"
    return Criterion("SC-003", "no hallucination in 100 questions", found, not bad and len(outcomes) >= sizes.questions)


def _clarity(answered: Answered) -> Criterion:
    demand = "clarity of 4 in 5 or more"
    votes = [case.rating.clarity for case, _ in answered if case.rating and case.rating.clarity is not None]
    if votes:
        mean = sum(votes) / len(votes)
        met = len(votes) == len(answered) and mean >= CLEAR
        return Criterion("SC-008", demand, f"{mean:.2f} over {len(votes)}{_rated_by(answered, len(votes))}", met)
    points = [clarity(case, outcome) for case, outcome in answered]
    mean = sum(points) / len(points) if points else 0.0
    proxy = (
        f"5 points, less one each for too many sentences, a sentence of more than {_LONG} words, one that does not"
        " begin or end as a sentence, and a beginning with a pronoun; needs people: rate the sheet"
    )
    return Criterion("SC-008", demand, f"{mean:.2f} over {len(points)}", mean >= CLEAR, proxy)


def _all(key: str, demand: str, each: Iterable[bool]) -> Criterion:
    seen = list(each)
    return Criterion(key, demand, f"{sum(seen)} of {len(seen)}", bool(seen) and all(seen))


def _scope(measured: Run, sizes: Sizes) -> Criterion:
    outside = [case.outcome for case in measured.cases if case.question.kind == "out_of_scope"]
    inside = [case.outcome for case in measured.cases if case.question.kind == "answerable"]
    refused = sum(one is not None and one.text == NOT_IN_BOOK and not one.citations for one in outside)
    mistaken = sum(one is None or one.reason == "out_of_scope" for one in inside)
    enough = len(outside) >= sizes.out_of_scope and len(inside) >= sizes.in_scope
    found = f"{refused} of {len(outside)} refused in the exact words; {mistaken} of {len(inside)} in scope mistaken"
    met = enough and refused == len(outside) and not mistaken
    return Criterion("SC-004", "all out-of-scope questions refused, none in scope mistaken for one", found, met)


def _has_sources(outcome: Outcome) -> bool:
    spoken = [said for said in outcome.sentences if said.kind != "notice"]
    return bool(spoken) and all(said.citations for said in spoken) and all(one.place for one in outcome.citations)


def _has_passages(outcome: Outcome) -> bool:
    return bool(outcome.citations) and all(
        any(one.quote in passage for passage in outcome.passages) for one in outcome.citations
    )


def clarity(case: Case, outcome: Outcome) -> int:
    """1 to 5 points for how easily an answer is read, by its form alone."""
    question, said = case.question.question, [one.text for one in outcome.sentences if one.kind != "notice"]
    plain = len(parts(question)) == 1 and not (asks_for_theme(question) or asks_for_list(question))
    prose = [text for text in said if "|" not in text and "\n" not in text]  # rows and lists have no full stops
    faults = (
        len(said) > (3 if plain and outcome.status == "ok" else 5),
        any(len(text.split()) > _LONG for text in prose),
        any(not re.match(r"[\W\d]*[A-Z0-9]", text) or not re.search(r"[.!?:][\W\d]*$", text) for text in prose),
        bool(prose) and re.match(r"(?:He|She|It|They|This|These|His|Her|Its|Their)\b", prose[0]) is not None,
    )
    return 5 - sum(faults)


class _Probes:
    """Criteria that a plain run cannot show: each breaks or rearranges something and looks."""

    def __init__(self, settings: Settings, index: str | None, library: Opener, measured: Run) -> None:
        self._settings, self._index, self._make = settings, index, library
        self._reader = open_reader()
        self._cases = [case for case in measured.cases if case.outcome]

    def _library(self, store: object = None) -> Library:
        return self._make(self._settings, store=store, reader=self._reader)

    def selections(self) -> Criterion:
        """With a selection the store is not touched, and nothing is said but what the selection says."""
        asked = [case for case in self._cases if case.question.selection is not None]
        wrong: list[str] = []
        with self._library(Untouchable()) as library:
            for case in asked:
                selection = case.question.selection or ""
                try:
                    answer = library.ask(case.question.question, selection=selection, generation=PATIENT)
                except (Touched, AstRagError):
                    wrong.append(case.question.id)
                    continue
                strict = all(one.file_id is None and one.quote in selection for one in answer.citations)
                if not strict or (not answer.citations and answer.text != NOT_IN_SELECTION):
                    wrong.append(case.question.id)
        found = f"{len(asked) - len(wrong)} of {len(asked)}{_named(wrong)}"
        return Criterion(
            "SC-005", "a selection is answered from alone, without the store", found, bool(asked) and not wrong
        )

    def memory(self) -> Criterion:
        """Asked in another order, among other questions and after a restart, each question gets the same answer."""
        book = [case for case in self._cases if case.question.selection is None]
        again = book[:: max(1, len(book) // _REPEATED)][::-1]
        wrong: list[str] = []
        with self._library() as library:
            alone = library.ask(_FOLLOW_UP, index=self._index, generation=PATIENT)
            for case in again:
                answer = library.ask(case.question.question, index=self._index, generation=PATIENT)
                after = library.ask(_FOLLOW_UP, index=self._index, generation=PATIENT)
                assert case.outcome is not None
                if answer.text != case.outcome.text or not _same(after, alone):
                    wrong.append(case.question.id)
        found = f"{len(again) - len(wrong)} of {len(again)} alike{_named(wrong)}"
        return Criterion("SC-009", "no memory from one question to the next", found, bool(again) and not wrong)

    def failures(self) -> Criterion:
        """Whichever call to the store fails, the question ends in an error that says so, never in an answer."""
        demand = "store failures are errors, never answers"
        book = (one for one in self._cases if one.question.selection is None)
        case = next((one for one in book if one.outcome and one.outcome.citations), None)
        if case is None:
            return Criterion("SC-010", demand, "no answer to try it on", False)
        calls = 0
        while (ending := self._ending(Failing(open_store(self._settings), calls), case)) == "error":
            calls += 1
        unreachable = self._ending(ServerStore(_NOBODY, None), case)
        found = f"{calls} calls failed in turn, then {ending}; unreachable server: {unreachable}"
        return Criterion("SC-010", demand, found, calls > 0 and (ending, unreachable) == ("the answer", "error"))

    def _ending(self, store: object, case: Case) -> str:
        with self._library(store) as library:
            try:
                answer = library.ask(case.question.question, index=self._index, generation=PATIENT)
            except AstRagError:
                return "error"
            except Exception as error:
                return f"crash ({type(error).__name__})"
        return "the answer" if case.outcome and answer.text == case.outcome.text else "another answer"


def _same(one: Answer, other: Answer) -> bool:
    return (one.text, one.status, one.citations) == (other.text, other.status, other.citations)


def _named(ids: Sequence[str]) -> str:
    return f" (not: {', '.join(ids[:5])}{', …' if len(ids) > 5 else ''})" if ids else ""
