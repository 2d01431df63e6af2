"""What DOCX and PPTX draw with the same parts: DrawingML text, charts as tables, and SmartArt as lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.ooxml import Element, Package, attribute, child, children, descendants, walk, whole
from chapterverse.ingest.formats.ooxml_math import linear
from chapterverse.ingest.formats.ooxml_text import public, table_text
from chapterverse.ingest.formats.powers import raise_power

GRAPHICS = frozenset({"c:chart", "cx:chart", "dgm:relIds"})
"""Elements that stand for a chart or a diagram whose content lies in another part."""

_CLOSED = frozenset({"a:pPr", "a:rPr", "a:endParaRPr", "m:oMath"})
_CHANGING_FIELDS = ("slidenum", "datetime")
_NUMERIC_CACHES = frozenset({"c:numCache", "c:numLit"})
_CACHES = _NUMERIC_CACHES | {"c:strCache", "c:strLit"}
_FORMAT_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_DAY_ZERO = {False: date(1899, 12, 30), True: date(1904, 1, 1)}


def paragraph_text(paragraph: Element) -> str:
    """The text of an `a:p`; line breaks stay, page-like fields and their changing values go."""
    pieces: list[str] = []
    for start, name, element in walk(paragraph, _closed):
        if not start:
            continue
        if name == "a:t":
            run = child(element.getparent(), "a:rPr")
            if _own(run, "strike") in ("sngStrike", "dblStrike"):
                continue
            pieces.append(public(element.text or "", _symbol_font(run)))
            if whole((_own(run, "baseline") or "").rstrip("%"), 0) > 0:
                raise_power(pieces, len(pieces) - 1)
        elif name == "a:br":
            pieces.append("\n")
        elif name == "m:oMath":
            pieces.append(linear(element))
    return "".join(pieces)


def _closed(name: str, element: Element) -> bool:
    changing = name == "a:fld" and (attribute(element, "type") or "").startswith(_CHANGING_FIELDS)
    return changing or name in _CLOSED


def _own(run: Element | None, name: str) -> str | None:
    return None if run is None else attribute(run, name)


def _symbol_font(properties: Element | None) -> str | None:
    for name in ("a:sym", "a:latin"):
        font = child(properties, name)
        if font is not None:
            return attribute(font, "typeface")
    return None


def body_text(body: Element | None) -> str:
    """All paragraphs of a text body on one line."""
    return "" if body is None else " ".join(paragraph_text(item) for item in children(body, "a:p")).strip()


def add_graphic(element: Element, package: Package, part: str, composer: Composer) -> None:
    """Add what an element of `GRAPHICS` inside `part` stands for."""
    name = element.tag.rpartition("}")[2]
    if name == "relIds":
        root = package.part(package.target(part, attribute(element, "r:dm")))
        for item in diagram_items(root) if root is not None else []:
            composer.add("list", f"- {item}")
        return
    root = package.part(package.target(part, attribute(element, "r:id")))
    if root is None:
        return
    table = chart_table(root)
    if not table:
        composer.warn("A chart was left out: the file does not hold its values in a form that is read.")
    composer.add("table", table)


def diagram_items(root: Element) -> list[str]:
    """The texts of a SmartArt diagram, parents before children, in the order of the diagram."""
    points = {attribute(item, "modelId") or "": item for item in children(child(root, "dgm:ptLst"), "dgm:pt")}
    shown = {key for key, item in points.items() if attribute(item, "type") in (None, "node", "asst", "doc")}
    below: dict[str, list[tuple[int, str]]] = {}
    for link in children(child(root, "dgm:cxnLst"), "dgm:cxn"):
        if attribute(link, "type") in (None, "parOf"):
            order = whole(attribute(link, "srcOrd"), 0)
            below.setdefault(attribute(link, "srcId") or "", []).append((order, attribute(link, "destId") or ""))
    roots = [key for key in points if attribute(points[key], "type") == "doc"]
    waiting = [*reversed(points), *reversed(roots)]  # points that nothing leads to come last, in the file's order
    items: list[str] = []
    while waiting:
        key = waiting.pop()
        if key not in shown:
            continue
        shown.remove(key)
        items.append(" ".join(body_text(child(points[key], "dgm:t")).split()))
        waiting.extend(target for _, target in sorted(below.get(key, []), reverse=True))
    return [item for item in items if item]


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    categories: dict[int, str]
    values: dict[int, str]


def chart_table(root: Element) -> str:
    """A chart as a table: its title, a row of series names, and a row for each category."""
    leap = child(root, "c:date1904")
    since = _DAY_ZERO[leap is not None and attribute(leap, "val") != "0"]
    series = [_series(item, since) for item in descendants(root, "c:ser")]
    series = [item for item in series if item.values]
    if not series:
        return ""
    rows = [[_title(child(root, "c:chart"))]]
    if all(item.categories == series[0].categories for item in series):
        rows.append([_axis_title(root), *(item.name for item in series)])
        for index in sorted(set(series[0].categories).union(*(item.values for item in series))):
            rows.append([series[0].categories.get(index, ""), *(item.values.get(index, "") for item in series)])
    else:
        for item in series:
            for index in sorted(set(item.categories) | set(item.values)):
                rows.append([item.name, item.categories.get(index, ""), item.values.get(index, "")])
    return table_text(rows)


def _series(element: Element, since: date) -> _Series:
    categories = child(element, "c:cat") if child(element, "c:cat") is not None else child(element, "c:xVal")
    values = child(element, "c:val") if child(element, "c:val") is not None else child(element, "c:yVal")
    name = " ".join(_points(child(element, "c:tx"), since).values())
    return _Series(name, _points(categories, since), _points(values, since))


def _points(holder: Element | None, since: date) -> dict[int, str]:
    """The cached texts or numbers by index; categories on several levels read from the outermost in."""
    if holder is None:
        return {}
    literal = child(holder, "c:v")
    if literal is not None:
        return {0: literal.text or ""}
    levels = descendants(holder, "c:lvl")
    if not levels:
        return _cached(holder, since)
    inner, *outer = (_cached(level, since) for level in levels)
    for level in outer:
        current = ""
        for index in sorted(inner):
            current = level.get(index, current)
            inner[index] = f"{current} / {inner[index]}" if current else inner[index]
    return inner


def _cached(holder: Element, since: date) -> dict[int, str]:
    points: dict[int, str] = {}
    code = ""
    numeric = False
    for start, name, element in walk(holder):
        if not start:
            continue
        if name in _CACHES:
            numeric = name in _NUMERIC_CACHES
        elif name == "c:formatCode":
            code = element.text or ""
        elif name == "c:pt":
            content = child(element, "c:v")
            text = "" if content is None else (content.text or "").strip()
            shown = _shown(text, attribute(element, "formatCode") or code, since) if numeric else text
            points[whole(attribute(element, "idx"), 0)] = shown
    return points


def _shown(text: str, code: str, since: date) -> str:
    """A number as the chart shows it, as far as percentages, dates and binary rounding go."""
    try:
        number = float(text)
        if "%" in code:
            return f"{number * 100:.10g}%"
        plain = _FORMAT_LITERAL.sub("", code).lower()
        if "yy" in plain or "d" in plain:
            return (since + timedelta(days=int(number))).isoformat()
        return f"{number:.15g}"
    except (ValueError, OverflowError):
        return text


def _title(holder: Element | None) -> str:
    text = child(holder, "c:title", "c:tx")
    if text is None:
        return ""
    rich = child(text, "c:rich")
    return body_text(rich) if rich is not None else " ".join(_points(text, _DAY_ZERO[False]).values())


def _axis_title(root: Element) -> str:
    plot = child(root, "c:chart", "c:plotArea")
    axes = [axis for name in ("c:catAx", "c:dateAx") for axis in children(plot, name)]
    return next((title for title in map(_title, axes) if title), "")
