"""Lists, found again in plain text: runs of bullets, and steps that go on counting past what stands between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

_ITEM = re.compile(r"(?:[-*•–]|\(?(?:[0-9]{1,3}|[A-Za-z]|[ivxlc]{1,6})[.)])\s+\S")
_MARK = re.compile(r"\W*(?:\d+(?:\.\d+)*[.)]?|\(?[A-Za-z][.)])\s+(?=\S)|[-*•–]\s+")
_STEP = re.compile(r"\(?([0-9]{1,3})[.)]\s+\S")
_TERM = re.compile(r"(?!\W)(?:[^\s.:;!?|]+ ){0,4}[^\s.:;!?|]+:\s+\S")
_MOST_TERMS = 12
"""What a colon announces; more lines that begin with a name are a play."""
_CLAUSE = re.compile(r"((?:[0-9]{1,3}\.)+)([0-9]{1,3})\.?\s+\S.*[.;!]$")
_MOST_BETWEEN = 6
"""Lines that may stand between two steps: a command, a remark, a list of its own. With more, sections are numbered."""
_HEADING_NUMBER = re.compile(r"\(?([0-9]{1,3}|[ivxlc]{1,6})[.)]\s", re.IGNORECASE)

Line = tuple[int, int]


class List(NamedTuple):
    """The items of a list; `start` is where the sentence begins that leads into it, if there is one."""

    start: int
    items: tuple[Line, ...]

    @property
    def end(self) -> int:
        return self.items[-1][1]


def is_item(line: str) -> bool:
    """Whether a line is an item of a list."""
    return _ITEM.match(line) is not None


def unmarked(line: str) -> str:
    """A line or sentence without the bullet, or the number of an item or a clause, that it begins with."""
    mark = _MARK.match(line)
    return line[mark.end() :] if mark else line


def runs_of_items(text: str, lines: Sequence[Line]) -> list[list[Line]]:
    """The items of each list, the innermost first: bullets between two steps are a list within one."""
    runs = [*_bullets(text, lines), *_steps(text, lines), *runs_of_terms(text, lines)]
    return sorted((run for run in runs if len(run) > 1), key=lambda run: run[-1][1] - run[0][0])


def opens_with_term(line: str) -> bool:
    """Whether a line begins with a few words and a colon: "Packer: prints labels"."""
    return _TERM.match(line) is not None


def runs_of_terms(text: str, lines: Sequence[Line]) -> list[list[Line]]:
    """Lines that begin with a term, below one that announces them: "There are two roles:"."""
    runs: list[list[Line]] = []
    announced = False
    for start, end in lines:
        line = text[start:end]
        if announced and opens_with_term(line) and not is_item(line):
            runs[-1].append((start, end))
        else:
            announced = line.endswith(":")
            runs += [[]] if announced else []
    return [run for run in runs if 1 < len(run) <= _MOST_TERMS]


def clauses(lines: Sequence[str]) -> int:
    """How many of these lines, from the first on, are sentences that go on counting: 1.1., 1.2., 1.3."""
    numbers = [(one[1], int(one[2])) if (one := _CLAUSE.match(line)) else ("", 0) for line in lines]
    goes_on = (section and (section, n - 1) == before for before, (section, n) in pairwise(numbers))
    following = sum(1 for _ in takewhile(bool, goes_on))
    return following + 1 if following else 0


def count_items(text: str) -> int:
    """How many items of lists a text has."""
    lines = [match.span() for match in re.finditer(r"\S[^\n]*", text)]
    told = [text[slice(*line)] for line in lines]
    return sum(map(is_item, told)) or sum(map(len, runs_of_terms(text, lines))) or clauses(told)


def _bullets(text: str, lines: Sequence[Line]) -> list[list[Line]]:
    """Items without a number that follow each other."""
    runs: list[list[Line]] = [[]]
    for start, end in lines:
        line = text[start:end]
        if is_item(line) and not _STEP.match(line):
            runs[-1].append((start, end))
        elif runs[-1]:
            runs.append([])
    return runs


def _steps(text: str, lines: Sequence[Line]) -> list[list[Line]]:
    """Numbered items, each with what stands before the next; the last has only its line, or what that announces."""
    runs: list[list[Line]] = [[]]
    number, since = 0, 0
    for start, end in lines:
        step = _STEP.match(text, start, end)
        if step is None:
            since += 1
            continue
        goes_on = int(step[1]) == number + 1 and since <= _MOST_BETWEEN
        if runs[-1] and not (goes_on or since == 0):
            runs.append([])
        elif runs[-1]:
            runs[-1][-1] = (runs[-1][-1][0], text.rfind("\n", 0, start))
        runs[-1].append((start, end))
        number, since = int(step[1]), 0
    runs = [run for run in runs if run]
    for run in runs:
        run[-1] = (run[-1][0], _end_of_last(text, lines, run[-1]))
    return [[(start, start + len(text[start:end].rstrip())) for start, end in run] for run in runs]


def _end_of_last(text: str, lines: Sequence[Line], last: Line) -> int:
    """The last step ends with its line, or with the command or the bullets that this announces."""
    end = last[1]
    if not text[slice(*last)].endswith(":"):
        return end
    after = [line for line in lines if line[0] > last[0]]
    for n, (start, stop) in enumerate(after):
        bullet = is_item(text[start:stop]) and not _STEP.match(text, start, stop)
        if n and not bullet:
            break
        end = stop
        if not bullet:
            break
    return end


def numbered_questions(text: str, lines: Sequence[Line]) -> list[Line]:
    """Questions that go on counting with their answers between them: no items, each heads what stands below it."""
    asks = [text[slice(*line)].rstrip().endswith("?") for line in lines]
    found = [
        line
        for n, line in enumerate(lines)
        if asks[n] and _STEP.match(text, *line) and not any(asks[n + 1 : n + 2] + asks[max(0, n - 1) : n])
    ]
    numbers = [int(step[1]) for line in found if (step := _STEP.match(text, *line))]
    counting = all(after == before + 1 for before, after in pairwise(numbers))
    return found if len(found) > 1 and counting else []


def is_numbered_heading(text: str, start: int, end: int) -> bool:
    """Whether a line that looks like an item stands alone between blank lines, and no item before or after it."""
    number = _HEADING_NUMBER.match(text, start, end)
    alone = text[max(0, start - 2) : start] in ("", "\n\n") and text[end : end + 2] == "\n\n"
    if number is None or not alone or not text[end - 1].isalnum():
        return False
    before, after = text[:start].rstrip().rpartition("\n")[2], text[end:].lstrip().partition("\n")[0]
    return not any(_neighbours(number[1], line) for line in (before, after))


def _neighbours(number: str, line: str) -> bool:
    """Whether a line is numbered too, in the same way: then both are items."""
    other = _HEADING_NUMBER.match(line)
    return other is not None and other[1].isdigit() == number.isdigit()
