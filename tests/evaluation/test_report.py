"""The report stands alone, and nothing from a book or a question gets into it unescaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from chapterverse.evaluation import compare, report
from chapterverse.evaluation.charts import histogram, risk_coverage_chart
from chapterverse.evaluation.curves import Point
from chapterverse.evaluation.run import Said
from tests.evaluation.cases import a_run, case, cited, outcome, question
from tests.evaluation.test_measures import ALL, BOLD, ELSEWHERE, SHY

EVIL = "<script>alert('x')</script>\"&"


class Tags(HTMLParser):
    """Which elements a page has, which attributes, and whether they are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("p", "td", "th", "tr", "dt", "dd") and self.open[-1] != tag:
            return
        assert self.open.pop() == tag


def test_the_page_needs_nothing_but_itself() -> None:
    page = report.html(ALL, compare.compare(ALL, ALL))
    tags = Tags(page)
    assert tags.open == []
    assert {"svg", "table", "details"} <= set(tags.seen)
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.seen)
    assert not [name for name, _ in tags.attributes if name in ("src", "href") or name.startswith("on")]
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_every_wrong_case_is_shown_with_its_evidence() -> None:
    page = report.html(ALL)
    shown = re.findall(r"<details class=([\w-]+)>", page)
    assert sorted(shown) == ["failed", "should-answer", "should-refuse", "wrong"]
    assert "What went wrong: 4 of 8" in page
    assert "The store cannot be reached." in page
    assert report.fault(SHY) == "should-answer"
    assert report.fault(BOLD) == "should-refuse"
    assert report.fault(ELSEWHERE) == "wrong"


def test_what_the_book_does_not_say_comes_first() -> None:
    bad = Said(text="Invented.", kind="quote", citations=[0], verdict="unsupported")
    faulty = case(question("faulty"), outcome("Invented.", cited(100, 140), sentences=[bad]))
    page = report.html(a_run(SHY, faulty))
    assert re.findall(r"<details class=([\w-]+)>", page) == ["unsupported", "should-answer"]


def test_books_and_questions_are_escaped() -> None:
    quote = cited(500, 540).model_copy(update={"quote": EVIL, "place": EVIL})
    said = outcome(EVIL, quote, passages=[EVIL])
    cases = [
        case(question("evil", question=EVIL, answer=EVIL, quotes=[EVIL], note=EVIL), said),
        case(question(EVIL, "selection", selection=EVIL, answerable=False), said),
        case(question("refused", question=EVIL), outcome(EVIL, passages=[EVIL]), bolder=said),
        case(question("failed"), None, error=EVIL),
    ]
    made = a_run(*cases)
    made = made.model_copy(update={"about": {**made.about, "name": EVIL, "model": EVIL}})
    page = report.html(made)
    assert "script" not in Tags(page).seen
    assert "alert(&#x27;x&#x27;)" in page


def ticks(chart: str) -> list[str]:
    return re.findall(r'<text class="tick"[^>]*>([^<]*)</text>', chart)


@pytest.mark.parametrize(
    ("seconds", "answers", "times"),
    [
        ([0.02, 0.08, 0.08], ["0", "1", "2", "3", "4"], ["0", "0.02", "0.04", "0.06", "0.08"]),
        ([1.0] * 17, ["0", "5", "10", "15", "20"], ["0", "0.25", "0.5", "0.75", "1"]),
    ],
)
def test_the_axes_of_the_histogram_say_where_they_are(
    seconds: list[float], answers: list[str], times: list[str]
) -> None:
    found = ticks(histogram(seconds, 0.1, 0.1))
    assert (found[::2], found[1::2]) == (answers, times)


def test_notes_stay_within_their_chart() -> None:
    chart = risk_coverage_chart([], Point(0.61, 10, 1, 0.97))
    assert 'text-anchor="end">in use: 0.61' in chart
    chart = risk_coverage_chart([], Point(0.61, 10, 1, 0.1))
    assert 'text-anchor="start">in use: 0.61' in chart


def test_a_run_without_a_single_answer_has_a_report() -> None:
    assert "None." in report.html(a_run(case(question("x", "absent"), outcome("No"))))
    assert "What went wrong: 1 of 1" in report.html(a_run(case(question("x"), None, error="gone")))
