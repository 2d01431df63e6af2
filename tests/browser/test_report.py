"""The report of an evaluation in a real browser: it loads nothing, runs nothing, and fits a telephone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from chapterverse.evaluation import compare, report
from tests.evaluation.cases import a_run, case, cited, outcome, question
from tests.evaluation.test_measures import ALL

EVIL = (
    "<script>document.title='harmed'</script><img src=http://x.test/a.png onerror=\"document.title='harmed'\"></style>"
)


@pytest.mark.parametrize("width", [360, 1200])
def test_a_report_fits_the_screen_and_loads_nothing(browser: Browser, tmp_path: Path, width: int) -> None:
    key = EVIL + "W" * 200
    evil = case(question(key, question=f"{key}?", note=key), outcome(key, cited(500, 540)))
    made = a_run(*ALL.cases, evil)
    made = made.model_copy(update={"about": {**made.about, "name": key}})
    file = tmp_path / "report.html"
    file.write_text(report.html(made, compare.compare(ALL, made)), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    page.goto(file.as_uri())
    for one in page.locator("summary").all():
        one.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert loaded == [file.as_uri()]
    assert page.title().startswith("Evaluation of <script>")
    page.close()
