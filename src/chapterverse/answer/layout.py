"""Layout: the sentences, lists and tables of a passage, found again in its plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from chapterverse.answer.lists import (
    List,
    count_items,
    is_item,
    is_numbered_heading,
    numbered_questions,
    opens_with_term,
    runs_of_items,
    runs_of_terms,
    unmarked,
)
from chapterverse.answer.questions import content
from chapterverse.answer.wording import PRONOUNS
from chapterverse.types import KEPT_BREAK

_EXISTENTIAL = re.compile(
    r"\W*(?:there|here)(?:['’]s|\s+(?:is|are|was|were|be|been|seem(?:s|ed)?|ha[sd]|have|comes?|came|exist(?:s|ed)?|stands?"
    r"|stood|lies?|lay|remain(?:s|ed)?|can|could|may|might|must|shall|should|will|would))\b",
    re.IGNORECASE,
)
"""`There was once a miller`: it stands for nothing, …"""
_POINTS_BACK = re.compile(r"\b(?:of|on|in|to|for|with|by|from|at|under|over)\s+(?:it|them|him)\b", re.IGNORECASE)
"""… but in `There is a heron on each of them` another word does."""
_ASKING = re.compile(r"(?:how|what|where|when|why|which|who|whether)\b", re.IGNORECASE)
_JOINED = re.compile(r"[;,]\s+(?:and|or)$")
_CONDITION = re.compile(r"\b(?:if|unless|where|when|provided that|except)\b[^.:]*:$", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!?][”\"’')]*(?=\s+[A-Z“‘\"'(]|$)")
_QUOTED = re.compile(r"[\"“”‘«]|(?<!\w)'")
_SEVERAL = 3
_BAR = re.compile(r"(?<!\S)\|(?!\S)")
"""What stands between two cells; at the end of a line, beside an empty one."""
_BETWEEN = re.compile(r"[,;|](?:\s+(?:and|or)\b)?|\s(?:and|or)\s")
SHORTEST_PROSE = 4
"""Words that say something; with fewer, a line is a heading or a caption."""

_STOPS = ".!?:;…"
_CLOSING = ")]”\"’'"
_LONGEST_HEADING = 12
_MOST_LINES = 2
"""How many lines of what is announced belong to the sentence: with more, it would be longer than an answer may be."""

_MOST_VERSES = 8
"""How many lines that end with a comma make a sentence; with more they are an index."""


Span = tuple[int, int]


class Table(NamedTuple):
    """The head of a table, if it is in the passage, and the rows below it."""

    header: tuple[int, int] | None
    rows: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        return (self.header or self.rows[0])[0]

    @property
    def end(self) -> int:
        return (self.rows or (self.header or (0, 0),))[-1][1]


def lay_out(text: str, sentences: Sequence[tuple[int, int]]) -> Layout:
    """A passage without its headings: they say where something stands, and nothing of it.

    A sentence that ends with a colon is one with what it announces, be it a line of code that looks like a heading; a
    list that it leads into stays apart (`list_from`). One that announces nothing in the passage says nothing either.
    """
    body: list[tuple[int, int]] = []
    terms = {start for run in runs_of_terms(text, _lines(text)) for start, _ in run}
    for start, end in sentences:
        if _is_rule(text[start:end]):
            continue
        item = is_item(text[start:end]) and not is_numbered_heading(text, start, end)
        apart = item or start in terms or _is_row(_line_at(text, start))
        if body and not apart and _goes_on(text, *body[-1], start, end):
            body[-1] = (body[-1][0], end)
        elif start in terms or not _is_heading(text, start, end):
            body.append((start, end))
    leads = {end for _, end in body if is_item(text[end:].lstrip()) or _next(text, end) in terms}
    kept = [(start, end) for start, end in body if not _ends_with_colon(text[start:end]) or end in leads]
    return Layout(text, kept or sentences)


@dataclass(frozen=True)
class Layout:
    """A passage and its sentences; a row of a table and an item of a list are sentences of their own."""

    text: str
    sentences: Sequence[tuple[int, int]]

    def sentence(self, n: int) -> str:
        start, end = self.sentences[n]
        return self.text[start:end]

    def covering(self, start: int, end: int) -> tuple[int, int]:
        """First and last of the sentences that these characters touch; the one they touch most, if on several lines.

        Several items of a list are several answers.
        """
        touched = [n for n, (first, last) in enumerate(self.sentences) if first < end and last > start]
        items = [n for n in touched if self.opens_item(n)]
        if len(items) > 1:
            return items[0], items[-1]
        if touched and "\n" not in self.text[slice(*self.range(touched[0], touched[-1]))]:
            return touched[0], touched[-1]
        most = max(range(len(self.sentences)), key=lambda n: _shared(self.sentences[n], (start, end)))
        return most, most

    def within(self, start: int, end: int) -> list[int]:
        """The sentences whose middle lies between these characters, which others may have cut a little differently."""
        return [n for n, (first, last) in enumerate(self.sentences) if start <= (first + last) // 2 < end]

    def opening(self, n: int) -> str:
        """The first word of a sentence, in small letters, behind the number or the bullet that it may have."""
        return (unmarked(self.sentence(n)).split() or [""])[0].strip("\"'“”‘’,").lower()

    def leans(self, n: int) -> bool:
        """Whether a sentence opens with "he", "it" or "there", and so speaks of what was named before it."""
        there_is = _EXISTENTIAL.match(self.sentence(n)) and not _POINTS_BACK.search(self.sentence(n))
        return self.opening(n) in PRONOUNS and not there_is

    def is_whole(self, n: int) -> bool:
        """Whether a sentence ends as one does; a title does not, nor what leads into a list."""
        return self.sentence(n).rstrip(_CLOSING)[-1:] in set(_STOPS) - {":"}

    def leads(self, n: int) -> bool:
        """Whether a sentence leads into a list, and says nothing without it."""
        return _ends_with_colon(self.sentence(n))

    def tells(self, start: int, end: int) -> bool:
        """Whether these characters are words of a sentence: no heading, and no end of one paragraph with the next."""
        return not self.says_nothing(start, end) and "\n\n" not in self.text[start:end]

    def says_nothing(self, start: int, end: int) -> bool:
        """Whether these characters are words of a heading, or of a line that only asks."""
        return self.is_heading(start, end) or self.only_asks(start)

    def only_asks(self, offset: int) -> bool:
        """Whether a line is nothing but a question, direct or not: "How to open it" tells nothing either."""
        start, end = self.line(offset)
        line = self.text[start:end]
        words = unmarked(line).rstrip(_CLOSING)
        alone = _is_question(line) and any(start == first for first, _ in self.sentences)
        listed = words.endswith("?") and is_item(line)
        return alone or listed or (_ASKING.match(words) is not None and words[-1:].isalnum())

    def is_heading(self, start: int, end: int) -> bool:
        """Whether these characters stand in no sentence."""
        return self.is_bare or not any(first < end and last > start for first, last in self.sentences)

    def range(self, first: int, last: int) -> tuple[int, int]:
        return self.sentences[first][0], self.sentences[last][1]

    def line(self, offset: int) -> tuple[int, int]:
        """Where the line around an offset begins and ends."""
        return next((start, end) for start, end in self.lines if offset < end)

    def heading_above(self, offset: int) -> str:
        """The nearest heading before an offset, if the passage has one."""
        above = (line for line in reversed(self.lines) if line[1] <= offset and self.is_heading(*line))
        return self.text[slice(*next(above, (0, 0)))]

    def paragraph(self, offset: int) -> str:
        """The text between the blank lines around an offset."""
        start = self.text.rfind("\n\n", 0, offset) + 1
        end = self.text.find("\n\n", offset)
        return self.text[start : end if end >= 0 else len(self.text)]

    @cached_property
    def tables(self) -> list[Table]:
        runs = [[row for row in run if not _is_rule(self.text[slice(*row)])] for run in self._runs()]
        return [self._table(rows) for rows in runs if rows]

    def table_at(self, offset: int) -> Table | None:
        return next((table for table in self.tables if table.start <= offset < table.end), None)

    def _table(self, rows: list[tuple[int, int]]) -> Table:
        # A passage may begin in the middle of a table; heads of columns have no figures.
        cut_off = rows[0][0] == 0 and any(character.isdigit() for character in self.text[slice(*rows[0])])
        if cut_off:
            return Table(None, tuple(rows))
        # A table that goes on over a page may have its head again there; the last row tells where the table ends.
        head, last = self.text[slice(*rows[0])], rows[1:][-1:]
        return Table(rows[0], (*(row for row in rows[1:-1] if self.text[slice(*row)] != head), *last))

    def cells(self, row: tuple[int, int]) -> list[str]:
        """The cells of a row, also the empty ones: each stands below its head.

        A row whose first and last cells are empty looks as all rows do in Markdown; the head of its table tells.
        """
        line, table = self.text[slice(*row)], self.table_at(row[0])
        head = self.text[slice(*(table.header or row))] if table else line
        cells = line.strip()[1:-1].split("|") if _is_piped(line) and _is_piped(head) else _BAR.split(line)
        return [cell.strip() for cell in cells]

    def list_from(self, first: int, ahead: int, steps: bool = False) -> List | None:
        """The list that a sentence leads into, or one of the next `ahead`; if any, also one that it stands in.

        A list under the next heading is not meant. Of lists within each other the inner one is, unless `steps` are.
        """
        starts = [start for start, _ in self.sentences[first : first + ahead + 1]]
        around = [found for found in self.lists if found.start <= starts[0] < found.end]
        if ahead and around:
            return around[-1 if steps else 0]
        for found in sorted(self.lists):
            last = found.end if ahead else found.items[0][0]
            if any(found.start <= start < last for start in starts) and not self.headed(starts[0], found.start):
                return found
        return None

    @cached_property
    def lists(self) -> list[List]:
        """The innermost first."""
        asking = numbered_questions(self.text, self.lines)
        lines = [line for line in self.lines if not self._is_numbered_heading(line) and line not in asking]
        return [List(self._lead_in(run[0][0]), tuple(run)) for run in runs_of_items(self.text, lines)]

    def opens_item(self, n: int) -> bool:
        """Whether a sentence is an item of a list, or the first of one."""
        return is_item(self.sentence(n)) or self.term_of(n) == n

    def term_of(self, n: int) -> int | None:
        """The sentence that opens the item of a list in which another stands, with the term that it is about."""
        start = self.line(self.sentences[n][0])[0]
        listed = any(start == item[0] for found in self.lists for item in found.items)
        if not listed or not opens_with_term(unmarked(self.text[slice(*self.line(start))])):
            return None
        return next(i for i, (first, end) in enumerate(self.sentences) if first >= start)

    def bound(self, n: int) -> List | None:
        """The list that a sentence is an item of, where the items hold together: "… only if (a) …; or (b) …"."""
        start = self.sentences[n][0]
        for found in self.lists:
            if is_item(self.sentence(n)) and found.items[0][0] <= start < found.end:
                lead = self.text[found.start : found.items[0][0]].rstrip()
                joined = any(_JOINED.search(self.text[slice(*item)]) for item in found.items)
                return found if joined or _CONDITION.search(lead) else None
        return None

    def list_below(self, offset: int) -> List | None:
        """The list, or the sentence that leads into it, that comes next."""
        start = next((first for first, _ in self.sentences if first >= offset), len(self.text))
        return next((found for found in self.lists if found.start == start), None)

    def _is_numbered_heading(self, line: tuple[int, int]) -> bool:
        return is_numbered_heading(self.text, *line) and self.is_heading(*line)

    def headed(self, start: int, end: int) -> bool:
        """Whether a heading stands between these characters."""
        return any(start <= line[0] < end and self.is_heading(*line) for line in self.lines)

    @cached_property
    def prose(self) -> list[int]:
        """Sentences that are neither rows nor headings."""
        return [
            n
            for n in range(len(self.sentences))
            if not _is_row(self.sentence(n)) and len(content(self.sentence(n))) >= SHORTEST_PROSE
        ]

    @cached_property
    def is_bare(self) -> bool:
        """Whether there are only headings and names: not a row, an item, a stop or a line that says something."""
        return not any(
            _is_row(line) or is_item(line) or line.rstrip(_CLOSING)[-1:] in _STOPS or n in self.prose
            for n, line in enumerate(map(self.sentence, range(len(self.sentences))))
        )

    def _lead_in(self, items: int) -> int:
        before = [(start, end) for start, end in self.sentences if end <= items]
        return before[-1][0] if before and _ends_with_colon(self.text[slice(*before[-1])]) else items

    @cached_property
    def lines(self) -> list[tuple[int, int]]:
        """Where the lines begin and end that are not blank."""
        return _lines(self.text)

    def _runs(self) -> list[list[tuple[int, int]]]:
        """Rows that follow each other."""
        rows = {row for block in self._blocks() for row in self._rows(block)}
        runs: list[list[tuple[int, int]]] = [[]]
        for line in self.lines:
            if line in rows:
                runs[-1].append(line)
            elif runs[-1]:
                runs.append([])
        return [run for run in runs if run]

    def _rows(self, block: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The rows among lines without a blank one between them.

        Rows stand below each other: a sentence alone is prose, be there a bar in it, and so are steps with commands
        (`ps | sort`) in them.
        """
        rows = [line for line in block if _is_row(self.text[slice(*line)])]
        told = [self.text[slice(*row)] for row in rows]
        prose = all(map(_ends_as_sentence, told)) and (len(told) < 2 or all(map(is_item, told)))
        return [] if prose else rows

    def _blocks(self) -> list[list[tuple[int, int]]]:
        """The lines between blank ones."""
        blocks: list[list[tuple[int, int]]] = []
        for line in self.lines:
            if not blocks or self.text.count("\n", blocks[-1][-1][1], line[0]) > 1:
                blocks.append([])
            blocks[-1].append(line)
        return blocks


def _shared(one: tuple[int, int], other: tuple[int, int]) -> int:
    """How many characters two spans share; below 0, how far they are apart."""
    return min(one[1], other[1]) - max(one[0], other[0])


def listed(text: str) -> int:
    """How many things a text lists at the most: its items, or what stands between its commas, cells and "and"s."""
    return max(count_items(text), len(_BETWEEN.findall(text)) + 1)


def stands_above(text: str, start: int, end: int) -> bool:
    """Whether a paragraph is a heading, or one that only asks: it says nothing without what stands below it."""
    return "\n" not in text[start:end] and (_is_heading(text, start, end) or _is_question(text[start:end]))


def gap(before: str, after: str) -> str:
    """What stands between two sentences of an answer: rows, lists and their items are set apart."""
    apart = "\n" in before + after or any(_is_row(one) or is_item(one) for one in (before, after))
    return "\n" if apart else " "


def _goes_on(text: str, first: int, last: int, start: int, end: int) -> bool:
    """Whether a sentence is announced by the one before it, or is the next line of what that announced, or of verse.

    A line of verse says nothing by itself: between two of them may stand who did it.
    """
    if _ends_with_colon(text[first:last]) or (
        text[last - 1] == "," and len(text[first:last].split("\n\n")) < _MOST_VERSES
    ):
        return True
    announced = len(text[first:last].rpartition(":\n")[2].strip().splitlines()) if ":\n" in text[first:last] else 0
    return 0 < announced < _MOST_LINES and text[last:start] == "\n" and text[end - 1] not in ".!?"


def _is_question(line: str) -> bool:
    """Whether a line has one sentence, and that asks; with quotation marks, it tells what somebody asks."""
    return line.endswith("?") and len(_SENTENCE_ENDS.findall(unmarked(line))) == 1 and not _QUOTED.search(line)


def _ends_as_sentence(line: str) -> bool:
    return line.rstrip(_CLOSING + "` ")[-1:] in tuple(_STOPS)


def _ends_with_colon(sentence: str) -> bool:
    """Whether a sentence announces something; older books print a dash behind the colon."""
    return sentence.rstrip("—–-").endswith(":")


def _lines(text: str) -> list[Span]:
    return [match.span() for match in re.finditer(r"\S[^\n]*", text)]


def _next(text: str, offset: int) -> int:
    """Where the next word begins."""
    return len(text) - len(text[offset:].lstrip())


def _line_at(text: str, offset: int) -> str:
    """The line around an offset."""
    end = text.find("\n", offset)
    return text[text.rfind("\n", 0, offset) + 1 : end if end >= 0 else len(text)]


def _is_heading(text: str, start: int, end: int) -> bool:
    """A few words on a line of their own, without a stop at the end, and more text below."""
    line = text[start:end]
    alone = text[:start].rstrip(" ")[-1:] in ("", "\n") and text[end:].lstrip(" ").startswith("\n")
    alone = alone and not text.endswith(KEPT_BREAK, 0, start)
    return (
        alone
        and line.rstrip(_CLOSING)[-1:].isalnum()
        and len(line.split()) <= _LONGEST_HEADING
        and not _is_row(line)
        and (not is_item(line) or is_numbered_heading(text, start, end))
    )


def _is_row(line: str) -> bool:
    return (_BAR.search(line) is not None and not _is_prose(line)) or _is_piped(line) or _is_rule(line)


def _is_prose(line: str) -> bool:
    """Whether a bar stands in a paragraph: one alone, among several sentences."""
    return len(_BAR.findall(line)) == 1 and len(_SENTENCE_ENDS.findall(line)) >= _SEVERAL


def _is_piped(line: str) -> bool:
    """Whether a line is a row as Markdown has them: `| Pro | 40 |`."""
    return len(line) > 1 and line.startswith("|") and line.rstrip().endswith("|")


def _is_rule(line: str) -> bool:
    """Whether a line stands between the head and the rows of a table in Markdown: `|---|---|`."""
    return "|" in line and "--" in line and not line.strip(" |:-")
