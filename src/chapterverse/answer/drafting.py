"""Drafting: an answer written by quoting. No word of it is ours.

The sentence that holds the answer comes first to mind, and brings along what it needs to be understood: the sentence
that names what it speaks of, the head of its table, the rest of its list. More is quoted for another part, or where the
reader thinks that other sentences of the passage are likely to answer too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chapterverse.answer.centrality import forms
from chapterverse.answer.entries import steps_named
from chapterverse.answer.fences import Brief
from chapterverse.answer.gate import DEFAULT, PLAIN, sentence_count
from chapterverse.answer.layout import lay_out, listed
from chapterverse.answer.neighbours import (
    antecedents,
    explanation,
    is_other_term,
    is_strange,
    named_before,
    opens_row,
    says_little,
)
from chapterverse.answer.odds import weighed
from chapterverse.answer.places import Place, places
from chapterverse.answer.prompts import SOURCE_SELECTION
from chapterverse.answer.questions import (
    Part,
    asked_count,
    asks_for_list,
    asks_for_one,
    asks_for_steps,
    asks_for_theme,
    content,
    defined_subject,
    parts,
    points_at_text,
    queries,
)
from chapterverse.answer.rivals import numbered_otherwise, speaks_of_rival
from chapterverse.answer.tables import Row, has_column, row_asked_for, row_in_range, row_told, rows_asked_for
from chapterverse.answer.themes import central
from chapterverse.answer.titlepage import may_name_author, title_line
from chapterverse.answer.wholes import most_sentences, told_below, whole
from chapterverse.protocols import Reader
from chapterverse.types import DraftSentence, Reading

Sentences = Callable[[str], Sequence[tuple[int, int]]]

_PRESENT = 0.5
"""The chance from which a part of a question counts as answered at the least."""

_THEME_SENTENCES = 3
_DEICTIC_SENTENCES = 2
_MOST_ITEMS = 12
"""How long a list may be that is quoted though it was not asked for."""

_LIST_AHEAD = 2
"""How many sentences after the answer may lead into the list that was asked for."""


class Missing(NamedTuple):
    """A part that no passage answers: as the question words it, and as it can be searched for."""

    part: str
    query: str


@dataclass(frozen=True, slots=True)
class Composed:
    """What can be quoted, and what cannot be answered."""

    sentences: tuple[DraftSentence, ...]
    missing: tuple[Missing, ...] = ()


class _Quote(NamedTuple):
    sheet: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Pick:
    """The best answer to one part."""

    quotes: tuple[_Quote, ...]
    span: str
    beside: tuple[_Quote, ...] = ()
    """Other sentences that are likely to answer it too."""


_NOTHING = _Pick((), "")


def compose(brief: Brief, reader: Reader, sentences: Sentences, threshold: float = 0.0) -> Composed:
    """Answer by quoting; `threshold` is the chance from which a passage counts as an answer to the question."""
    return _Composer(brief, reader, sentences, threshold).compose()


class _Composer:
    def __init__(self, brief: Brief, reader: Reader, sentences: Sentences, threshold: float) -> None:
        self._question = brief.question
        self._threshold = threshold
        self._passages = brief.passages
        self._reader = reader
        self._split = sentences
        self._sheets = [lay_out(passage.text, sentences(passage.text)) for passage in brief.passages]

    def compose(self) -> Composed:
        if not self._sheets:
            return Composed(())
        selected = all(passage.label == SOURCE_SELECTION for passage in self._passages)
        if selected and points_at_text(self._question):
            return self._written(self._definition(None) or self._central(_DEICTIC_SENTENCES))
        if asks_for_theme(self._question):
            return self._written(self._central(_THEME_SENTENCES))
        if line := self._title_line():
            return self._written([line])
        asked = parts(self._question)
        if len(asked) > 1:
            composed = self._part_by_part(asked)
            if composed.sentences:
                return composed
        pick = self._pick(self._question, self._threshold)
        return self._written([one for one in self._in_order(pick) if may_name_author(self._question, self._text(one))])

    def _title_line(self) -> _Quote | None:
        lines = ((n, title_line(self._question, sheet.text)) for n, sheet in enumerate(self._sheets))
        return next((_Quote(n, *line) for n, line in lines if line), None)

    def _in_order(self, pick: _Pick) -> list[_Quote]:
        """The answer first, but for what stands right before it; then the others, in the book's order."""
        quotes, others = list(pick.quotes), list[_Quote]()
        for quote in sorted(pick.beside, reverse=True):
            (quotes if self._adjoin(quote, quotes[0]) else others).insert(0, quote)
        return [*quotes, *others]

    def _adjoin(self, one: _Quote, other: _Quote) -> bool:
        """Whether nothing stands between one and another that follows it."""
        between = _Quote(one.sheet, one.end, other.start)
        return one.sheet == other.sheet and one.end <= other.start and not self._text(between).strip()

    def _part_by_part(self, asked: Sequence[Part]) -> Composed:
        quotes: list[_Quote] = []
        missing: list[Missing] = []
        threshold = max(self._threshold, _PRESENT)
        person = thing = ""  # what "she" and "it" of a later part stand for
        for part, searched in zip(asked, queries(self._question), strict=True):
            if any(has_column(part.asked, self._sheets[one.sheet], one.start, one.end) for one in quotes):
                continue  # "…, and what is the remedy?" is told by the row that is quoted
            subject = person if part.means_person and person else thing or person
            query = part.about(subject) if searched != part.asked and subject else part.asked
            pick = self._pick(query, threshold)
            if not pick.quotes and searched != query:
                pick = self._within(self._pick(searched, threshold), quotes)
            if pick.quotes:
                quotes += [quote for quote in pick.quotes if quote not in quotes]
            else:
                missing.append(Missing(part.text, query))
            if part.wants_name and pick.quotes and not defined_subject(part.asked):
                person, thing = (pick.span, thing) if part.asks_for_person else (person, pick.span)
            person, thing = person or part.person, thing or part.thing or part.subject
        absent = [one for one in missing if not self._may_be_told(one.query, quotes, threshold / 2)]
        return self._written(quotes[: DEFAULT.sentences], absent)

    def _may_be_told(self, query: str, quotes: Sequence[_Quote], threshold: float) -> bool:
        """Whether what is quoted already is the likeliest answer to a part: then it is not said to be absent."""
        likeliest = self._pick(query, threshold).quotes
        return bool(likeliest) and all(any(_overlap(one, quote) for quote in quotes) for one in likeliest)

    @staticmethod
    def _within(pick: _Pick, quotes: Sequence[_Quote]) -> _Pick:
        """A pick if it is from a passage that is quoted already: what was quoted for one part may answer the next."""
        return pick if {one.sheet for one in pick.quotes} <= {one.sheet for one in quotes} else _NOTHING

    def _pick(self, query: str, threshold: float) -> _Pick:
        """The best answer, from the place that most probably holds it and speaks of what is asked about.

        Where one passage at least answers, a row that the question points at and a sentence of the form "A … is" are
        answers whatever the reader thinks of them. The row of a range is, and one that is surely named is where no
        passage does.
        """
        if held := row_in_range(query, self._sheets):
            return self._row(held, query)
        texts = [sheet.text for sheet in self._sheets]
        readings = weighed(query, texts, self._reader.read(query, texts))
        if max(reading.answerable for reading in readings) < threshold:
            named = row_told(query, self._sheets)
            return self._row(named, query) if named else _NOTHING
        ranked = sorted(places(query, self._sheets, readings), key=lambda place: -place.score)
        if told := self._told_below(query, readings, ranked):
            return _Pick(told, "")
        if defined := self._definition(defined_subject(query), [place.sheet for place in ranked], query):
            return _Pick(defined, "")
        if steps := self._steps_named(query):
            return _Pick(steps, "")
        if rows := self._rows(query, readings, threshold):
            return _Pick(rows, "")
        row = row_asked_for(query, self._sheets)
        likely = [place for place in ranked if place.chance >= threshold]
        if (named := row_told(query, self._sheets)) and likely and self._is_row_elsewhere(likely[0], named):
            return self._row(named, query)
        sure = row is not None and (not likely or readings[row.sheet].answerable >= threshold)
        best, quotes = self._first([Place(*row, score=0.0), *likely] if row and sure else likely, query, threshold)
        if best is None:
            return self._headed(query, readings, threshold)
        sheet = self._sheets[best.sheet]
        if spans := whole(query, sheet, (best.start, best.end), self._split):
            quotes = [_Quote(best.sheet, *span) for span in spans]
        if asks_for_list(query):
            quotes = sorted((*quotes, *self._further(best.sheet, readings[best.sheet], quotes)))
        most = most_sentences(query)
        beside = (
            () if sheet.table_at(best.start) else self._beside(best.sheet, readings[best.sheet], quotes, most, query)
        )
        pick = self._with_whole_lists(_Pick(tuple(quotes), sheet.text[best.start : best.end], tuple(beside)))
        return self._complete(pick, *asked_count(query))

    def _is_row_elsewhere(self, place: Place, row: Row) -> bool:
        """Whether a place is in another table than a row: that one does not speak of all that the question does."""
        sheet = self._sheets[place.sheet]
        table = sheet.table_at(place.start)
        return table is not None and (place.sheet, table) != (row.sheet, self._sheets[row.sheet].table_at(row.start))

    def _row(self, row: Row, query: str) -> _Pick:
        covering = self._sheets[row.sheet].covering(row.start, row.end)
        return _Pick(tuple(self._whole(row.sheet, *covering, query)), "")

    def _told_below(self, query: str, readings: Sequence[Reading], places: Sequence[Place]) -> tuple[_Quote, ...]:
        """What the likeliest passage says under the question itself."""
        n = max(range(len(readings)), key=lambda n: readings[n].answerable)
        best = next(((place.start, place.end) for place in places if place.sheet == n), None)
        return tuple(_Quote(n, *span) for span in told_below(query, self._sheets[n], best, self._split))

    def _steps_named(self, query: str) -> tuple[_Quote, ...]:
        """The list under a heading that names what is to be done, where one passage alone has such."""
        found = ((n, steps_named(query, sheet, self._passages[n].label)) for n, sheet in enumerate(self._sheets))
        lists = [_Quote(n, entry.start, entry.end) for n, entry in found if entry]
        return tuple(lists) if len(lists) == 1 else ()

    def _rows(self, query: str, readings: Sequence[Reading], threshold: float) -> tuple[_Quote, ...]:
        """The head of a table and all rows that have the name or value in a question, if so many can be quoted."""
        rows = [_Quote(*row) for row in rows_asked_for(query, self._sheets)]
        table = self._sheets[rows[0].sheet].table_at(rows[0].start) if rows else None
        if table is None or readings[rows[0].sheet].answerable < threshold:
            return ()
        runs = [_Quote(rows[0].sheet, *table.header)] if table.header else []
        for row in rows:
            if runs and self._adjoin(runs[-1], row):
                runs[-1] = runs[-1]._replace(end=row.end)
            else:
                runs.append(row)
        return tuple(runs) if len(runs) <= PLAIN.sentences else ()

    def _first(self, places: Sequence[Place], query: str, threshold: float) -> tuple[Place | None, list[_Quote]]:
        """The first place that is not about a rival of what is asked about, and the sentences around it.

        A passage may owe its chance to the rival: once that is left out, another place in it must be likely by itself.
        """
        missed: set[int] = set()
        for place in places:
            if place.sheet in missed and place.alone < threshold:
                continue
            sheet = self._sheets[place.sheet]
            quotes = list(self._whole(place.sheet, *sheet.covering(place.start, place.end), query))
            said = "\n".join(map(self._text, quotes))
            under = f"{sheet.heading_above(quotes[0].start)}\n{said}" if quotes[0].sheet == place.sheet else said
            if not speaks_of_rival(query, said, sheet.text) and not numbered_otherwise(query, under):
                return place, quotes
            missed.add(place.sheet)
        return None, []

    def _with_whole_lists(self, pick: _Pick) -> _Pick:
        """A pick with all of each list of which it has several items: they would look like all of it."""
        n = pick.quotes[-1].sheet
        for one in self._sheets[n].lists:
            whole = _Quote(n, one.start, one.end)
            picked = [q for q in (*pick.quotes, *pick.beside) if _overlap(q, whole) and not _covers(q, whole)]
            touched = sum(any(_overlap(quote, _Quote(n, *item)) for quote in picked) for item in one.items)
            if touched > 1 and len(one.items) <= _MOST_ITEMS:
                quotes = dict.fromkeys(whole if quote in picked else quote for quote in pick.quotes)
                beside = dict.fromkeys(whole if quote in picked else quote for quote in pick.beside)
                pick = _Pick(tuple(quotes), pick.span, tuple(quote for quote in beside if quote not in quotes))
        return pick

    def _complete(self, pick: _Pick, count: int, counted: frozenset[str]) -> _Pick:
        """A pick that lists as many things as were asked for, if need be with its neighbours that speak of them too.

        Some of the four would look like all of them, so that a list which cannot be quoted whole is none.
        """
        quotes = sorted((*pick.quotes, *pick.beside))
        n = pick.quotes[0].sheet
        sheet = self._sheets[n]
        while sum(listed(self._text(quote)) for quote in quotes) < count:
            touched = [i for i, one in enumerate(sheet.sentences) if any(_overlap(_Quote(n, *one), q) for q in quotes)]
            beside = [i for i in (touched[0] - 1, touched[-1] + 1) if 0 <= i < len(sheet.sentences)] if touched else []
            more = next((i for i in beside if counted & content(sheet.sentence(i))), None)
            if more is None or len(quotes) == DEFAULT.sentences:
                return _NOTHING
            quotes = sorted((*quotes, _Quote(n, *sheet.sentences[more])))
            pick = _Pick(tuple(quotes), pick.span)
        return pick

    def _headed(self, query: str, readings: Sequence[Reading], threshold: float) -> _Pick:
        """An answer that only a heading or a title page has: its line, if that says more than the bare answer.

        A heading that answers a question for a list points at the one below it.
        """
        for reading, n in sorted(zip(readings, range(len(readings)), strict=True), key=lambda one: -one[0].answerable):
            sheet, spans = self._sheets[n], reading.spans[:1]
            if reading.answerable < threshold or not spans or not sheet.is_heading(spans[0].start, spans[0].end):
                continue
            below = sheet.list_below(spans[0].end) if asks_for_list(query) else None
            if below:
                return _Pick((_Quote(n, below.start, below.end),), "")
            line = sheet.line(spans[0].start)
            answer = sheet.text[spans[0].start : spans[0].end]
            if spans[0].end <= line[1] and content(sheet.text[slice(*line)]) - content(answer):
                return _Pick((_Quote(n, *line),), answer)
        return _NOTHING

    def _whole(self, n: int, first: int, last: int, query: str) -> Iterator[_Quote]:
        """The sentences with all that they need to be understood."""
        sheet = self._sheets[n]
        start, end = sheet.range(first, last)
        if (table := sheet.table_at(start)) and not opens_row(sheet, first, last):
            start, end = sheet.line(start)[0], sheet.line(end - 1)[1]
            header = table.header
            if header is None:
                n, start, end, header = self._same_row(sheet.text[start:end]) or (n, start, end, None)
            if header == (start, end):
                end = table.end
            elif header is not None:
                yield _Quote(n, *header)
        elif not table and (
            around := sheet.list_from(first, _LIST_AHEAD if asks_for_list(query) else 0, asks_for_steps(query))
        ):
            if start < around.start:
                yield _Quote(n, start, min(end, around.start))
            else:
                yield from (_Quote(n, *sheet.sentences[before]) for before in named_before(sheet, around, query))
            start, end = around.start, around.end
        elif not table and (bound := sheet.bound(first)) and len(bound.items) <= _MOST_ITEMS:
            start, end = bound.start, bound.end
        elif not table:
            for before in antecedents(sheet, first, last, query):
                yield _Quote(n, *sheet.sentences[before])
        yield _Quote(n, start, end)
        behind = (_Quote(n, *sheet.sentences[after]) for after in explanation(sheet, first, last, query))
        yield from (quote for quote in behind if quote.start >= end)

    def _same_row(self, row: str) -> tuple[int, int, int, tuple[int, int]] | None:
        """The row in another passage that has the head of its table too."""
        for n, sheet in enumerate(self._sheets):
            start = sheet.text.find(row)
            table = sheet.table_at(start) if start >= 0 else None
            if table and table.header:
                return n, start, start + len(row), table.header
        return None

    def _further(self, n: int, reading: Reading, quotes: Sequence[_Quote]) -> Iterator[_Quote]:
        """Other answers in the same passage, for a question that asks for several."""
        sheet = self._sheets[n]
        for span in reading.spans[1:]:
            first, last = sheet.covering(span.start, span.end)
            quote = _Quote(n, *sheet.range(first, last))
            if sheet.leads(last) or is_strange(sheet, first, _spans(quotes)):
                continue
            if span.score >= reading.spans[0].score / 2 and not any(_overlap(quote, other) for other in quotes):
                yield quote

    def _beside(self, n: int, reading: Reading, quotes: Sequence[_Quote], most: int, query: str) -> Iterator[_Quote]:
        """Other sentences that the reader would quote: the best of them, in the book's order, up to so many in all.

        One that opens with "he" or "it" follows the sentence before it, or is left out: behind another it would speak
        of something else. So is an item of another list than the one that is quoted, which would seem to belong to it,
        and any item where one thing is asked for, or one that is about another term than the one asked about.
        """
        sheet = self._sheets[n]
        own = [_Quote(n, *sentence) for sentence in sheet.sentences]
        size = [sentence_count(sheet.sentence(i), self._split) for i in range(len(own))]
        quoted = [i for i, one in enumerate(own) if any(_overlap(one, quote) for quote in quotes)]
        chosen: list[int] = []
        for i in (i for one in reading.cited for i in sheet.within(one.start, one.end)):
            leans = sheet.leans(i) and i - 1 not in (*quoted[-1:], *chosen)
            if leans and (i == 0 or sheet.leans(i - 1)):
                continue
            new = [i - 1, i] if leans else [i]
            one_wanted = asks_for_one(query) and any(map(sheet.opens_item, new))
            barred = any(k in quoted or k in chosen or says_little(sheet, k, _spans(quotes)) for k in new)
            barred = barred or any(is_other_term(sheet, k, _spans(quotes), query) for k in new)
            if not barred and not one_wanted and sum(size[k] for k in quoted + chosen + new) <= most:
                chosen += new
        yield from (own[i] for i in sorted(chosen))

    def _definition(
        self, subject: str | None, order: Sequence[int] | None = None, query: str = ""
    ) -> tuple[_Quote, ...]:
        """The sentence that says what something is: this subject, or (None, without an order) the first of all."""
        if subject is None and order is not None:
            return ()
        sheets = order if order is not None else range(len(self._sheets))
        places = [_Quote(n, *sentence) for n in dict.fromkeys(sheets) for sentence in self._sheets[n].sentences]
        for says in forms(query):
            for place in places:
                if says(self._text(place), subject):
                    return (place,)
        return ()

    def _central(self, count: int) -> list[_Quote]:
        labels = [passage.label for passage in self._passages]
        return [_Quote(*one) for one in central(self._question, self._sheets, labels, self._reader, count)]

    def _written(self, quotes: Sequence[_Quote], missing: Sequence[Missing] = ()) -> Composed:
        return Composed(tuple(self._sentence(quote) for quote in quotes), tuple(missing))

    def _sentence(self, quote: _Quote) -> DraftSentence:
        text = self._text(quote)
        return DraftSentence(text, (self._passages[quote.sheet].id,), text, "quote")

    def _text(self, quote: _Quote) -> str:
        return self._sheets[quote.sheet].text[quote.start : quote.end]


def _overlap(one: _Quote, other: _Quote) -> bool:
    return one.sheet == other.sheet and one.start < other.end and other.start < one.end


def _covers(one: _Quote, other: _Quote) -> bool:
    return one.sheet == other.sheet and one.start <= other.start and other.end <= one.end


def _spans(quotes: Sequence[_Quote]) -> list[tuple[int, int]]:
    return [(quote.start, quote.end) for quote in quotes]
