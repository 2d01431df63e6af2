"""The report: one HTML page that needs nothing but itself. Whatever comes from books or questions is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from chapterverse.evaluation.calibrate import at
from chapterverse.evaluation.charts import histogram, reliability_chart, risk_coverage_chart
from chapterverse.evaluation.compare import Change, Comparison
from chapterverse.evaluation.curves import calibration_error, reliability, risk_coverage
from chapterverse.evaluation.measures import Figure, Group, cost, figures, latencies
from chapterverse.evaluation.run import Case, Outcome, Run
from chapterverse.evaluation.worth import doubts, unsupported, wrong

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_LEADING: tuple[tuple[Group, str], ...] = (
    ("Support", "supported sentences"), ("Answers", "right when answered"), ("Answers", "coverage"),
    ("Refusals", "recall"), ("Retrieval", "hit@5"),
)  # fmt: skip
_FAULTS = {
    "unsupported": "says what the book does not",
    "should-refuse": "answered, should refuse",
    "wrong": "answered otherwise",
    "should-answer": "refused, has an answer",
    "failed": "failed",
}
"""Why a case is shown, worst first."""


def html(run: Run, comparison: Comparison | None = None) -> str:
    """The whole page."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8") + _filter_rules()
    parts = [
        _head(run),
        _cards(figures(run)),
        _charts(run),
        _comparison(comparison) if comparison else "",
        _figures(figures(run)),
        _latency(run),
        _cases(run),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Evaluation of {escape(run.about['name'])}</title><style>{style}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def fault(case: Case) -> str | None:
    """The key in `_FAULTS` of what is wrong with a case."""
    if case.outcome is None:
        return "failed"
    if unsupported(case):
        return "unsupported"
    if not wrong(case):
        return None
    if case.outcome.refused:
        return "should-answer"
    return "wrong" if case.question.has_answer else "should-refuse"


def _head(run: Run) -> str:
    about = run.about
    details = [
        f"{len(run.cases)} questions", f"answered by {about['model']}", f"embedded by {about['embedding']}",
        f"threshold {run.threshold:.2f}{' (calibrated)' if about['calibrated'] else ''}",
        f"reader {about['reader']}", f"Chapterverse {about['chapterverse']}", about["machine"], about["time"],
    ]  # fmt: skip
    return (
        f"<h1>{escape(about['name'])}</h1><p class=lead>How often its answers are right, supported by the book, and"
        f" rightly refused.</p><p class=about>{escape(' · '.join(details))}</p>"
    )


def _cards(found: Sequence[Figure]) -> str:
    leading = {(one.group, one.name): one for one in found}
    cards = (
        f"<div class=card><b>{one.value:.1%}</b>{escape(one.group)}: {escape(one.name)}<br>"
        f"<span class=small>{one.low:.1%} to {one.high:.1%}, of {one.count}</span></div>"
        for key in _LEADING
        if (one := leading.get(key))
    )
    return f"<section class=cards>{''.join(cards)}</section>"


def _charts(run: Run) -> str:
    points = risk_coverage(run.cases)
    bins = reliability(run.cases)
    took = [case.outcome.seconds for case in run.cases if case.outcome]
    whole = latencies(run)[0] if took else None
    bold = any(case.bolder for case in run.cases)
    held = "What the threshold held back is included." if bold else "What the threshold held back was not asked for."
    drawn = [
        (
            "Risk and coverage",
            risk_coverage_chart(points, at(points, run.threshold)),
            "Lowering the threshold answers more questions (to the right) and more of them wrongly (up). Questions on"
            " selections are left out.",
        ),
        (
            "Calibration",
            reliability_chart(bins),
            "Answers are right as often as they claim on the dashed line. Expected error"
            f" {calibration_error(bins):.3f}; whiskers are 95 % intervals. {held}",
        ),
    ]
    if whole:
        drawn.append(("Latency", histogram(took, whole.p50, whole.p95), "Whole answers and refusals, one at a time."))
    figure = "<figure><h3>{}</h3>{}<figcaption>{}</figcaption></figure>"
    return f"<section class=charts>{''.join(figure.format(*one) for one in drawn)}</section>"


def _figures(found: Sequence[Figure]) -> str:
    rows = (
        (group, escape(one.name), f"{one.value:.1%}", _range(one), f"{one.low:.1%} – {one.high:.1%}",
         str(one.count), escape(one.meaning))
        for group, one in zip(_once(found), found, strict=True)
    )  # fmt: skip
    return (
        "<h2>All figures</h2><p class=lead>With 95 % intervals: Wilson’s for shares and for few cases, the bootstrap’s"
        " for other means.</p>" + _table(("", "", ">value", "", ">95 % interval", ">cases", "what it is"), rows)
    )


def _range(one: Figure) -> str:
    low, high, value = (round(4 + 132 * share, 1) for share in (one.low, one.high, one.value))
    return (
        '<svg class="range" viewBox="0 0 140 14"><line class="track" x1="4" x2="136" y1="7" y2="7"/>'
        f'<line class="span" x1="{low}" x2="{high}" y1="7" y2="7"/>'
        f'<circle class="value" cx="{value}" cy="7" r="4"/></svg>'
    )


def _latency(run: Run) -> str:
    rows = (
        (escape(one.stage), f"{one.p50:.3f}", f"{one.p95:.3f}", f"{one.highest:.3f}", str(one.count))
        for one in latencies(run)
    )
    spent = cost(run)
    dollars = "at a price that is not known" if spent.dollars is None else f"${spent.dollars:.4f}"
    return f"<h2>Time and cost</h2><p class=lead>Seconds. In all {spent.tokens:,} tokens, {dollars}.</p>" + _table(
        ("stage", ">p50", ">p95", ">highest", ">cases"), rows
    )


def _comparison(made: Comparison) -> str:
    sides = f"{len(made.mended)} questions went right that were wrong before, {len(made.broken)} the other way."
    if made.left_out:
        sides += f" {made.left_out} are left out: only one run has them, or they were changed in between."
    lists = "".join(
        f"<p class=small>{name}: {escape(', '.join(ids))}</p>"
        for name, ids in (("Mended", made.mended), ("Broken", made.broken))
        if ids
    )
    return (
        "<h2>Against the earlier run</h2><p class=lead>Figures over the questions that both runs have, changes marked"
        f" where the 95 % interval of the difference leaves out zero. {sides}</p>"
        + _table(("", "", ">before", ">now", ">difference", ""), map(_change, _once(made.changes), made.changes))
        + lists
    )


def _change(group: str, one: Change) -> tuple[str, ...]:
    colour, word = ("good", "better") if one.better else ("bad", "worse")
    return (
        group,
        escape(one.name),
        f"{one.before:.1%}",
        f"{one.after:.1%}",
        f"{one.after - one.before:+.1%} ({one.low:+.1%} to {one.high:+.1%})",
        f"<b class={colour}>{word}</b>" if one.matters else "",
    )


def _once(found: Sequence[Figure | Change]) -> list[str]:
    """The groups of figures, each named at its first."""
    before = ["", *(one.group for one in found)]
    return [one.group if one.group != last else "" for one, last in zip(found, before, strict=False)]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already; columns that begin with > hold numbers."""
    kinds = [" class=number" if column.startswith(">") else "" for column in columns]
    head = "".join(f"<th{kind}>{column.lstrip('>')}</th>" for kind, column in zip(kinds, columns, strict=True))
    lines = ("".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row, strict=True)) for row in rows)
    rows_of = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<div class=scroll tabindex=0><table><tr>{head}</tr>{rows_of}</table></div>"


def _cases(run: Run) -> str:
    faulty = [(key, case) for key in _FAULTS for case in run.cases if fault(case) == key]
    counts = {key: sum(one == key for one, _ in faulty) for key in _FAULTS}
    buttons = [("all", "all", len(faulty)), *((key, _FAULTS[key], n) for key, n in counts.items() if n)]
    filters = "".join(
        f"<input type=radio name=f id=f-{key}{' checked' if key == 'all' else ''}>"
        f"<label for=f-{key}>{name} · {n}</label>"
        for key, name, n in buttons
    )
    shown = "".join(_case(key, case) for key, case in faulty) or "<p>None.</p>"
    return (
        f"<h2>What went wrong: {len(faulty)} of {len(run.cases)}</h2><p class=lead>Every case, with what the book"
        f" says and what was made of it.</p><div class=filters>{filters}</div>{shown}"
    )


def _filter_rules() -> str:
    return "".join(f"main:has(#f-{key}:checked) details:not(.{key}) {{ display: none; }}\n" for key in _FAULTS)


def _case(key: str, case: Case) -> str:
    question = case.question
    about = (question.id, question.kind, question.note)
    kind = "warn" if key == "should-answer" else "bad"
    rows = [("Should be", _gold(case))]
    if question.selection is not None:
        rows.append(("Selection", _quotes([question.selection])))
    if case.outcome is None:
        rows.append(("Failed", escape(case.error)))
    else:
        rows += _outcome("Was", case.outcome)
    if case.bolder is not None and not case.bolder.refused:
        rows += _outcome("Without a threshold", case.bolder)
    if case.gold and question.selection is None:
        rows.append(("Found by search", f"at rank {case.rank}" if case.rank else "not among the first ten"))
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    return (
        f"<details class={key}><summary><span class='badge {kind}'>{_FAULTS[key]}</span>{escape(question.question)}"
        f" <span class=about>{escape(' · '.join(filter(None, about)))}</span></summary><dl>{listed}</dl></details>"
    )


def _gold(case: Case) -> str:
    if not case.question.has_answer:
        return "a refusal"
    answers = escape(" / ".join(case.question.answers)) or "answered"
    odd = "".join(f"<p class=warn>{escape(doubt)}.</p>" for doubt in doubts(case))
    return f"<p>{answers}</p>{_quotes(case.question.quotes)}{odd}"


def _outcome(name: str, said: Outcome) -> list[tuple[str, str]]:
    sentences = "".join(
        f"<blockquote class='{'bad' if one.verdict == 'unsupported' else ''}'>{escape(one.text)}</blockquote>"
        for one in said.sentences
    )
    certain = f"confidence {said.confidence:.2f}, answer present {said.answerable:.2f}"
    rows = [(name, f"<p class=about>{said.status} {said.reason or ''} · {certain}</p>{sentences}")]
    if said.citations:
        cited = "".join(f"<p>{escape(one.place)}</p>{_quotes([one.quote])}" for one in said.citations)
        rows.append(("Cited", cited))
    elif said.passages:
        rows.append(("Nearest", _quotes([text[:500] for text in said.passages[:2]])))
    return rows


def _quotes(texts: Iterable[str]) -> str:
    return "".join(f"<blockquote>{escape(text)}</blockquote>" for text in texts)
