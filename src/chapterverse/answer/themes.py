"""Themes: the sentences of several passages that stand for all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chapterverse.answer.bearing import evidence
from chapterverse.answer.centrality import most_central, stands_apart, states_purpose
from chapterverse.answer.layout import SHORTEST_PROSE, Layout
from chapterverse.answer.questions import content
from chapterverse.protocols import Reader


def central(
    question: str, sheets: Sequence[Layout], labels: Sequence[str], reader: Reader, count: int
) -> list[tuple[int, int, int]]:
    """Sheet, start and end of the sentences that have most in common with all others and bear on the question.

    They come in the book's order; the label of a sheet ends with its last heading.
    """
    readings = reader.read(question, [sheet.text for sheet in sheets])
    places = [(n, i) for n, sheet in enumerate(sheets) for i in sheet.prose]
    places = [(n, i) for n, i in places if not _stands_apart(sheets[n], i, labels[n])] or places
    places = [(n, i) for n, i in places if sheets[n].is_whole(i)] or places
    if not places:
        return [(n, *line) for n, sheet in enumerate(sheets) for line in _told_without_stop(sheet)][:count]
    while True:
        weights = [evidence(sheets[n].sentences[i], readings[n]) for n, i in places]
        texts = [sheets[n].sentence(i) for n, i in places]
        chosen = [places[k] for k in sorted(most_central(texts, weights, count))]
        adrift = [(n, i) for n, i in chosen if _leans(sheets[n], i) and (n, i - 1) not in chosen]
        if not adrift or len(places) - len(adrift) < count:
            return [(n, *sheets[n].sentences[i]) for n, i in chosen]
        places = [place for place in places if place not in adrift]


def _told_without_stop(sheet: Layout) -> list[tuple[int, int]]:
    """Lines that look like headings and stand below one: all that a short section of a plan or a form may have."""
    below = (line for line in sheet.lines[1:] if sheet.is_heading(*line))
    return [line for line in below if len(content(sheet.text[slice(*line)])) >= SHORTEST_PROSE]


def _leans(sheet: Layout, i: int) -> bool:
    """Whether a sentence speaks of nobody without the one before it; "This guide explains …" needs none."""
    return sheet.leans(i) and not states_purpose(sheet.sentence(i))


def _stands_apart(sheet: Layout, i: int, label: str) -> bool:
    """Whether a sentence is a caption, code or the like."""
    start = sheet.sentences[i][0]
    heading = sheet.heading_above(start) or re.split(r"[(›,]\s?", label)[-1]
    return stands_apart(sheet.text[slice(*sheet.line(start))], heading)
